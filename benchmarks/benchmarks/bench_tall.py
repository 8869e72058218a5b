"""A synthetic table of 1,000,000 x 50 float32, where nothing but the loops shows."""

import os
from typing import Any, ClassVar

import numpy as np

from properboost import _core

from . import suite
from .data import Problem, make_synthetic

ROWS, COLUMNS = 1_000_000, 50


class _Tall:
    @classmethod
    def load(cls, *, test: bool = False) -> Problem:
        return make_synthetic(ROWS, COLUMNS, test=test)


class TallFit(_Tall, suite.Fit):
    pass


class TallPredict(_Tall, suite.Predict):
    @classmethod
    def load_fitting_rows(cls) -> Problem:
        return make_synthetic(ROWS // 20, COLUMNS)


class TallQuality(_Tall, suite.Quality):
    pass


class TallMemory(_Tall, suite.Memory):
    pass


class TallBinning:
    """Binning alone: where the columns are cut, and the codes of the values.

    In a `mixed` table three columns in four are skewed, heavy-tailed or of few values.
    """

    timeout = 600.0
    params: ClassVar[Any] = [[False, True], suite.THREADS]
    param_names: ClassVar[Any] = ["mixed", "threads"]

    def setup(self, mixed: bool, threads: int) -> None:
        if threads > (os.cpu_count() or 1):
            raise NotImplementedError("more threads than processors")
        if not hasattr(self, "X"):
            self.X = make_synthetic(ROWS, COLUMNS, mixed=mixed).X
            self.bins = _core.Bins(_core.find_edges(self.X, max_bins=255))
            self.order = np.arange(ROWS)

    def time_find_edges(self, mixed: bool, threads: int) -> None:  # noqa: ARG002
        _core.find_edges(self.X, max_bins=255, n_threads=threads)

    def time_encode(self, mixed: bool, threads: int) -> None:  # noqa: ARG002
        self.bins.encode(self.X, self.order, n_threads=threads)
