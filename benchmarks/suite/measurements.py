"""The benchmarks of every data set; asv leaves abstract classes out.

Parameters are the same on all machines, so that results can be compared; a benchmark that a machine
cannot run is skipped.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, ClassVar

from benchmarks.lib import engine
from benchmarks.lib.data import Problem, log_loss
from benchmarks.lib.memory import PeakMemory
from benchmarks.lib.race import WORK, Clock
from properboost import ProperBoostClassifier, Tree

THREADS = [1, 2]
WEAK_LEARNERS = ["table", "stump"]
BINS = [64, 255]


def skip_too_many(threads: int) -> None:
    """Skip a benchmark of more threads than there are processors."""
    if threads > (os.cpu_count() or 1):
        raise NotImplementedError("more threads than processors")


@contextmanager
def skipped_where_missing() -> Iterator[None]:
    """Skip a benchmark of stages that a version of properboost does not have under these names."""
    try:
        yield
    except (ImportError, AttributeError, TypeError) as error:
        raise NotImplementedError(str(error)) from error


class Benchmark(ABC):
    """A data set and the settings it is fitted with."""

    timeout = 600.0
    settings: ClassVar[dict[str, Any]] = {}

    @classmethod
    @abstractmethod
    def load(cls, *, test: bool = False) -> Problem:
        """Return the training rows or those held out; NotImplementedError where they are not."""

    @classmethod
    @lru_cache(maxsize=2)  # asv sets up anew for every sample
    def cached(cls, *, test: bool = False) -> Problem:
        """Return the rows of `load`."""
        return cls.load(test=test)

    def make(self, weak_learner: str, threads: int = 1, bins: int = 255) -> ProperBoostClassifier:
        """Make an unfitted model."""
        skip_too_many(threads)
        named = {"max_bins": bins, "n_jobs": threads, "weak_learner": weak_learner}
        return ProperBoostClassifier(**named, **self.settings)


class Fit(Benchmark):
    params: ClassVar[Any] = [BINS, WEAK_LEARNERS, THREADS]
    param_names: ClassVar[Any] = ["bins", "weak_learner", "threads"]

    def setup(self, bins: int, weak_learner: str, threads: int) -> None:
        self.problem = self.cached()
        self.model = self.make(weak_learner, threads, bins)

    def time_fit(self, *_: Any) -> None:
        self.model.fit(*self.problem)


class Rounds(Benchmark):
    """A round by itself, over codes that are made once."""

    params: ClassVar[Any] = [BINS, THREADS]
    param_names: ClassVar[Any] = ["bins", "threads"]
    n_rounds = 40

    def setup(self, bins: int, threads: int) -> None:
        model = self.make("table", threads, bins)
        with skipped_where_missing():
            self.training = engine.prepare(model, *self.cached())  # the boosting borrows it
            self.boosting = engine.start(model, self.training)

    def track_round_nanoseconds(self, *_: Any) -> float:
        clock = Clock()
        engine.clock_rounds(clock, self.boosting, self.n_rounds)
        return 1e9 * clock[WORK] / self.cached().X.size

    track_round_nanoseconds.unit = "ns/row/feature"  # type: ignore[attr-defined]


class Predict(Benchmark):
    # A model's tables have one form, whichever weak learner they are from.
    params: ClassVar[Any] = [THREADS]
    param_names: ClassVar[Any] = ["threads"]

    @classmethod
    def load_fitting_rows(cls) -> Problem:
        """Return the rows the model is fitted on, which prediction does not depend on."""
        return cls.load()

    @classmethod
    @lru_cache(maxsize=1)
    def fitted(cls) -> ProperBoostClassifier:
        """Return the model."""
        model = ProperBoostClassifier(weak_learner="table", **cls.settings)
        return model.fit(*cls.load_fitting_rows())

    def setup(self, threads: int) -> None:
        self.make("table", threads)  # skips where there are too few processors
        self.model = self.fitted().set_params(n_jobs=threads)
        self.X = self.cached(test=True).X

    def time_decision_function(self, *_: Any) -> None:
        self.model.decision_function(self.X)

    def time_predict_proba(self, *_: Any) -> None:
        self.model.predict_proba(self.X)

    def peakmem_predict_proba(self, *_: Any) -> None:
        self.model.predict_proba(self.X)


class Contributions(Benchmark):
    """Terms of trees, and contributions with and without them."""

    params: ClassVar[Any] = [[3, None]]
    param_names: ClassVar[Any] = ["interaction_cst"]

    def setup(self, interaction_cst: int | None) -> None:
        with skipped_where_missing():
            tree = Tree(interaction_cst=interaction_cst)
        self.model = ProperBoostClassifier(weak_learner=tree, n_jobs=1).fit(*self.cached())
        self.rows = self.cached(test=True).X.iloc[:1000]
        self.model.contributions(self.rows)  # terms are computed once

    def time_contributions(self, *_: Any) -> None:
        self.model.contributions(self.rows)

    def time_terms(self, interaction_cst: int | None) -> None:
        if interaction_cst is None:
            raise NotImplementedError("trees without a limit have no terms")
        self.model.ensemble_.__dict__.pop("terms", None)
        _ = self.model.terms_


class Quality(Benchmark):
    params: ClassVar[Any] = [WEAK_LEARNERS]
    param_names: ClassVar[Any] = ["weak_learner"]

    def setup(self, weak_learner: str) -> None:
        self.model = self.make(weak_learner).fit(*self.cached())

    def track_test_log_loss(self, *_: Any) -> float:
        X, y = self.cached(test=True)
        return log_loss(y, self.model.predict_proba(X)[:, 1])

    track_test_log_loss.unit = "nats"  # type: ignore[attr-defined]


class Memory(Benchmark):
    """The peak of a fit: the process's, and that beyond the table and the libraries, a row."""

    params: ClassVar[Any] = [BINS]
    param_names: ClassVar[Any] = ["bins"]

    def setup(self, bins: int) -> None:
        if not PeakMemory.supported:
            raise NotImplementedError("the peak cannot be measured here")
        self.problem = self.cached()
        self.model = self.make("table", bins=bins)

    def peakmem_fit(self, *_: Any) -> None:
        self.model.fit(*self.problem)

    def track_fit_bytes_per_row(self, *_: Any) -> float:
        with PeakMemory() as memory:
            self.model.fit(*self.problem)
        return memory.extra / len(self.problem.y)

    track_fit_bytes_per_row.unit = "bytes"  # type: ignore[attr-defined]
