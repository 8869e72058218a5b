"""ADULT: 30,162 rows x 14 in a DataFrame, 8 of its columns categorical."""

from benchmarks.lib.data import Problem, load_adult

from . import measurements


class _Adult:
    @classmethod
    def load(cls, *, test: bool = False) -> Problem:
        try:
            return load_adult(test=test)
        except (FileNotFoundError, ImportError) as error:
            raise NotImplementedError(str(error)) from error


class AdultFit(_Adult, measurements.Fit):
    pass


class AdultMemory(_Adult, measurements.Memory):
    pass


class AdultPredict(_Adult, measurements.Predict):
    pass


class AdultContributions(_Adult, measurements.Contributions):
    pass


class AdultQuality(_Adult, measurements.Quality):
    pass
