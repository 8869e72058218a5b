"""A synthetic table of 20,000 x 2,000 float32: edges cost as much as codes, rows little."""

from . import suite
from .data import Problem, make_synthetic

ROWS, COLUMNS = 20_000, 2_000


class _Wide:
    @classmethod
    def load(cls, *, test: bool = False) -> Problem:
        return make_synthetic(ROWS, COLUMNS, test=test)


class WideFit(_Wide, suite.Fit):
    pass


class WideMemory(_Wide, suite.Memory):
    pass


class WideRounds(_Wide, suite.Rounds):
    pass


class WidePredict(_Wide, suite.Predict):
    pass
