"""LETTER.p2: 4,000 rows x 16, where what a fit costs besides its loops shows."""

from . import suite
from .data import Problem, load_letter


class _Letter:
    @classmethod
    def load(cls, *, test: bool = False) -> Problem:
        return load_letter(test=test)


class LetterFit(_Letter, suite.Fit):
    pass


class LetterMemory(_Letter, suite.Memory):
    pass


class LetterPredict(_Letter, suite.Predict):
    pass


class LetterQuality(_Letter, suite.Quality):
    pass
