"""Early stopping: the rule that ends boosting once no validation score improves any more."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.parameters.kinds import Wait

__all__ = ["Patience", "make_patience"]

LEAST_WAIT = 20
"""The least number of estimators that "auto" waits for an improvement."""

WAIT_SHARE = 0.5
"""The share of the estimators so far that "auto" waits for, so that slow learners get more time."""


class Patience:
    """The rule that ends boosting `n_iter_no_change` estimators after the last improvement.

    Larger scores are better.  Where there are several, boosting goes on while any of them improves:
    the log loss often still falls when a score of labels stands still.
    """

    def __init__(self, n_scores: int, n_iter_no_change: Wait, tol: float) -> None:
        self._scores = [_BestScore(tol) for _ in range(n_scores)]
        self._n_iter_no_change = n_iter_no_change

    @property
    def best(self) -> float:
        """The best value of the first score."""
        return self._scores[0].best

    def add(self, n_before: int, values: NDArray[np.float64]) -> None:
        """Add the scores, (n_scores, n), of `n` estimators after the first `n_before`."""
        for score, values_of_score in zip(self._scores, values, strict=True):
            for n_estimators, value in enumerate(values_of_score, start=n_before + 1):
                score.add(n_estimators, value)

    def is_over(self, n_estimators: int) -> bool:
        """Return whether boosting ends after so many estimators."""
        improved_at = max(score.improved_at for score in self._scores)
        if self._n_iter_no_change is None or improved_at == 0:  # no score was defined so far
            return False
        if isinstance(self._n_iter_no_change, int):
            wait: float = self._n_iter_no_change
        else:  # "auto"
            wait = max(LEAST_WAIT, WAIT_SHARE * improved_at)
        return n_estimators - improved_at >= wait


def make_patience(stopping: Any) -> Callable[[int], Patience]:
    """Return a maker of patience with the fields of an `EarlyStopping`, or of a search."""
    return partial(Patience, n_iter_no_change=stopping.n_iter_no_change, tol=stopping.tol)


class _BestScore:
    """The best value of a score, and the number of estimators that reached it.

    A value is better if it exceeds the best by `tol` times the size of the best.  An undefined
    value (NaN or -inf) never is.
    """

    def __init__(self, tol: float) -> None:
        self.best = -np.inf
        self.improved_at = 0
        self._tol = tol

    def add(self, n_estimators: int, value: float) -> None:
        least_rise = self._tol * abs(self.best) if np.isfinite(self.best) else 0.0
        if value > self.best + least_rise:
            self.best, self.improved_at = float(value), n_estimators
