"""A synthetic table of 1,000,000 x 50 float32, where nothing but the loops shows."""

from . import suite
from .data import Problem, make_synthetic

ROWS, COLUMNS = 1_000_000, 50


class _Tall:
    @classmethod
    def load(cls, *, test: bool = False) -> Problem:
        return make_synthetic(ROWS, COLUMNS, test=test)


class TallFit(_Tall, suite.Fit):
    pass


class TallMemory(_Tall, suite.Memory):
    pass


class TallRounds(_Tall, suite.Rounds):
    pass


class TallPredict(_Tall, suite.Predict):
    @classmethod
    def load_fitting_rows(cls) -> Problem:
        return make_synthetic(ROWS // 20, COLUMNS)


class TallQuality(_Tall, suite.Quality):
    pass
