"""What is timed on every data set; asv leaves abstract classes out.

Parameters are the same on all machines, so that results can be compared; what a machine cannot do
is skipped.
"""

import os
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Any, ClassVar

from properboost import ProperBoostClassifier

from .data import Problem, log_loss
from .memory import PeakMemory

THREADS = [1, 2]
WEAK_LEARNERS = ["histogram", "stump"]


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
        """Return what `load` does."""
        return cls.load(test=test)

    def make(self, weak_learner: str, threads: int = 1) -> ProperBoostClassifier:
        """Make an unfitted model."""
        if threads > (os.cpu_count() or 1):
            raise NotImplementedError("more threads than processors")
        return ProperBoostClassifier(weak_learner=weak_learner, n_jobs=threads, **self.settings)


class Fit(Benchmark):
    params: ClassVar[Any] = [WEAK_LEARNERS, THREADS]
    param_names: ClassVar[Any] = ["weak_learner", "threads"]

    def setup(self, weak_learner: str, threads: int) -> None:
        self.problem = self.cached()
        self.model = self.make(weak_learner, threads)

    def time_fit(self, *_: Any) -> None:
        self.model.fit(*self.problem)

    def peakmem_fit(self, *_: Any) -> None:
        self.model.fit(*self.problem)


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
        return ProperBoostClassifier(**cls.settings).fit(*cls.load_fitting_rows())

    def setup(self, threads: int) -> None:
        self.make("histogram", threads)  # skips where there are too few processors
        self.model = self.fitted().set_params(n_jobs=threads)
        self.X = self.cached(test=True).X

    def time_decision_function(self, *_: Any) -> None:
        self.model.decision_function(self.X)

    def time_predict_proba(self, *_: Any) -> None:
        self.model.predict_proba(self.X)

    def peakmem_predict_proba(self, *_: Any) -> None:
        self.model.predict_proba(self.X)


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
    """The peak beyond the table, a row: asv's own peak counts the table and the libraries too."""

    params: ClassVar[Any] = [WEAK_LEARNERS]
    param_names: ClassVar[Any] = ["weak_learner"]

    def setup(self, weak_learner: str) -> None:
        if not PeakMemory.supported:
            raise NotImplementedError("the peak cannot be measured here")
        self.problem = self.cached()
        self.model = self.make(weak_learner)

    def track_fit_bytes_per_row(self, *_: Any) -> float:
        with PeakMemory() as memory:
            self.model.fit(*self.problem)
        return memory.extra / len(self.problem.y)

    track_fit_bytes_per_row.unit = "bytes"  # type: ignore[attr-defined]
