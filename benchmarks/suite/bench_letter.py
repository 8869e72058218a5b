"""LETTER.p2: 4,000 rows x 16, where the cost of a fit besides its loops shows."""

from benchmarks.lib.data import Problem, load_letter

from . import measurements


class _Letter:
    @classmethod
    def load(cls, *, test: bool = False) -> Problem:
        return load_letter(test=test)


class LetterFit(_Letter, measurements.Fit):
    pass


class LetterMemory(_Letter, measurements.Memory):
    pass


class LetterPredict(_Letter, measurements.Predict):
    pass


class LetterQuality(_Letter, measurements.Quality):
    pass
