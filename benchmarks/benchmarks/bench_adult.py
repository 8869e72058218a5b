"""ADULT: 30,162 rows x 14 in a DataFrame, 8 of its columns categorical."""

from . import suite
from .data import Problem, load_adult


class _Adult:
    @classmethod
    def load(cls, *, test: bool = False) -> Problem:
        try:
            return load_adult(test=test)
        except (FileNotFoundError, ImportError) as error:
            raise NotImplementedError(str(error)) from error


class AdultFit(_Adult, suite.Fit):
    pass


class AdultMemory(_Adult, suite.Memory):
    pass


class AdultPredict(_Adult, suite.Predict):
    pass


class AdultQuality(_Adult, suite.Quality):
    pass
