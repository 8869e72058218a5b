"""A synthetic table of 20,000 x 2,000 float32: edges cost as much as codes, rows little."""

from benchmarks.lib.data import Problem, make_synthetic

from . import measurements

ROWS, COLUMNS = 20_000, 2_000


class _Wide:
    @classmethod
    def load(cls, *, test: bool = False) -> Problem:
        return make_synthetic(ROWS, COLUMNS, test=test)


class WideFit(_Wide, measurements.Fit):
    pass


class WideMemory(_Wide, measurements.Memory):
    pass


class WideRounds(_Wide, measurements.Rounds):
    pass


class WidePredict(_Wide, measurements.Predict):
    pass
