"""Models of candidates on splits, with the methods that every search implements."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from properboost.losses.probabilities import Link
from properboost.progress import Report
from properboost.scoring import HeldOutRows, Score

__all__ = ["Fits", "ModelOf", "Progress", "SplitFits"]

Array = NDArray[np.float64]

ModelOf = tuple[int, int]
"""A candidate and a split."""


class Progress:
    """The progress of a search, and its best mean score so far."""

    def __init__(self, report: Report | None) -> None:
        self.report = report
        self.done = 0
        self.best = -np.inf

    def from_here(self) -> Report | None:
        """Return the engine's callback; None where there is nothing to show."""
        report, done, best = self.report, self.done, self.best
        if report is None or best == -np.inf:
            return None
        return lambda more, _: report(done + more, best)

    def show(self) -> None:
        """Report the progress now."""
        if self.report is not None and self.best > -np.inf:
            self.report(self.done, self.best)


class Fits(ABC):
    """Models of some candidates on some splits, fitted together.

    Candidates and splits have their numbers in the whole search.
    """

    candidates: range
    splits: range
    n_estimators: int
    """Estimators of each model, at most."""
    models_each: int
    """Models of a candidate: one or more for each split."""
    in_steps: bool
    """Whether fits can pause for scores, and go on."""
    measured: frozenset[Score]
    """Scores that fitting measures after every estimator."""

    @abstractmethod
    def advance(self, models: Sequence[ModelOf], before: int, at: int, progress: Progress) -> None:
        """Fit models from `before` estimators to `at`."""

    @abstractmethod
    def held_out(self, split: int) -> HeldOutRows:
        """Return the rows that a split holds out."""

    @abstractmethod
    def link(self, candidate: int) -> Link:
        """Return the link of a candidate."""

    def seeks_temperature(self, candidate: int) -> bool:
        """Whether a candidate's probabilities may be a softmax whose temperature is fitted."""
        return self.link(candidate).multiclass == "one_vs_rest"

    @abstractmethod
    def raw(self, candidate: int, split: int) -> Array:
        """Return a model's raw predictions of the rows held out, in their order."""

    def curves(self, candidate: int, split: int, scores: Sequence[Score]) -> Array:
        """Return measured scores after each estimator, (n_scores, n); n is 0 without any."""
        raise NotImplementedError

    def goes_on(self, models: Sequence[ModelOf], at: int) -> bool:
        """Whether any of the models with `at` estimators can still learn."""
        raise NotImplementedError


class SplitFits(Fits):
    """Models of all candidates on one split, each fitted from beginning to end."""

    models_each = 1
    in_steps = False
    measured = frozenset()

    def __init__(
        self,
        split: int,
        held_out: HeldOutRows,
        links: Sequence[Link],
        n_estimators: int,
        fit: Callable[[int], Array],
    ) -> None:
        """Take the link of each candidate; `fit` returns its raw predictions of `held_out`."""
        self.candidates = range(len(links))
        self.splits = range(split, split + 1)
        self.n_estimators = n_estimators
        self._held_out = {split: held_out}
        self._links = links
        self._fit = fit
        self._raw: dict[tuple[int, int], Array] = {}

    def advance(self, models: Sequence[ModelOf], before: int, at: int, progress: Progress) -> None:
        """Fit some candidates."""
        for candidate, _ in models:
            self._raw[candidate, self.splits.start] = self._fit(candidate)
            progress.done += at - before
            progress.show()

    def held_out(self, split: int) -> HeldOutRows:
        """Return the rows that the split holds out."""
        return self._held_out[split]

    def link(self, candidate: int) -> Link:
        """Return a candidate's link."""
        return self._links[candidate]

    def raw(self, candidate: int, split: int) -> Array:
        """Return a fitted candidate's raw predictions."""
        return self._raw[candidate, split]
