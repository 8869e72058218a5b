"""The search by cross-validation, cyclic selection, and as many classes as there are letters.

A search is 16 gains x 5 folds, without the final fit.  `settings` are those of the models, in a
search and alone.  A benchmark of something that a version lacks is skipped.
"""

from typing import Any, ClassVar

import numpy as np

import properboost
from benchmarks.lib.data import Problem, make_synthetic
from properboost import datasets

from . import measurements
from .bench_adult import _Adult
from .bench_letter import _Letter

SELECTIONS = ["greedy", "cyclic"]
GAINS = np.geomspace(0.25, 64, 16).tolist()
ROWS, COLUMNS = 50_000, 50


class Search(measurements.Benchmark):
    params: ClassVar[Any] = [SELECTIONS, measurements.THREADS]
    param_names: ClassVar[Any] = ["selection", "threads"]
    settings: ClassVar[dict[str, Any]] = {"n_estimators": 20}

    def setup(self, selection: str, threads: int) -> None:
        self.make("table", threads)  # skips where there are too few processors
        self.problem = self.cached()
        space = {"gain": GAINS, "selection": selection, **self.settings}
        with measurements.skipped_where_missing():
            self.model = properboost.ProperBoostClassifierCV(
                space=space, effort=None, refit=False, n_jobs=threads
            )

    def time_search(self, *_: Any) -> None:
        self.model.fit(*self.problem)

    def peakmem_search(self, *_: Any) -> None:
        self.model.fit(*self.problem)


class CyclicFit(measurements.Benchmark):
    params: ClassVar[Any] = [measurements.THREADS]
    param_names: ClassVar[Any] = ["threads"]
    settings: ClassVar[dict[str, Any]] = {"n_estimators": 20}

    def setup(self, threads: int) -> None:
        self.model = self.make("table", threads)
        if "selection" not in self.model.get_params():
            raise NotImplementedError("there is no cyclic selection")
        self.model.set_params(selection="cyclic")
        self.problem = self.cached()

    def time_fit(self, *_: Any) -> None:
        self.model.fit(*self.problem)

    def peakmem_fit(self, *_: Any) -> None:
        self.model.fit(*self.problem)


class _Tall:
    @classmethod
    def load(cls, *, test: bool = False) -> Problem:
        return make_synthetic(ROWS, COLUMNS, test=test)


class _Letters:
    """LETTER with its 26 classes."""

    @classmethod
    def load(cls, *, test: bool = False) -> Problem:
        subset = "test" if test else "train"
        X, y = datasets.load_letter(subset=subset, return_X_y=True)
        return Problem(X, y.astype(np.int8))


class LetterSearch(_Letter, Search):
    pass


class LetterCyclicFit(_Letter, CyclicFit):
    pass


class AdultSearch(_Adult, Search):
    pass


class AdultCyclicFit(_Adult, CyclicFit):
    pass


class TallSearch(_Tall, Search):
    pass


class TallCyclicFit(_Tall, CyclicFit):
    pass


class LettersFit(_Letters, measurements.Fit):
    params: ClassVar[Any] = [[255], measurements.WEAK_LEARNERS, measurements.THREADS]
    settings: ClassVar[dict[str, Any]] = {"n_estimators": 20}
