"""A synthetic table of 1,000,000 x 50 float32, where nothing but the loops shows."""

from benchmarks.lib.data import Problem, make_synthetic

from . import measurements

ROWS, COLUMNS = 1_000_000, 50


class _Tall:
    @classmethod
    def load(cls, *, test: bool = False) -> Problem:
        return make_synthetic(ROWS, COLUMNS, test=test)


class TallFit(_Tall, measurements.Fit):
    pass


class TallMemory(_Tall, measurements.Memory):
    pass


class TallRounds(_Tall, measurements.Rounds):
    pass


class TallPredict(_Tall, measurements.Predict):
    @classmethod
    def load_fitting_rows(cls) -> Problem:
        return make_synthetic(ROWS // 20, COLUMNS)


class TallQuality(_Tall, measurements.Quality):
    pass
