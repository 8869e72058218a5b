"""When boosting is over: none of some scores of rows held out improves any more."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.parameters.kinds import Wait

__all__ = ["Patience", "make_patience"]

FEWEST = 20
"""With "auto" boosting goes on for so many estimators after the last improvement, at least ..."""

SHARE = 0.5
"""... and for this share of those it had then: slow learners get more time."""


class Patience:
    """Sees when none of the scores improves any more; more is better.

    While a score that sees only labels stands still, the log loss can keep boosting going.  Where
    no score was defined so far (NaN, or -inf), nothing can have improved, and it waits.
    """

    def __init__(self, n_scores: int, n_iter_no_change: Wait, tol: float) -> None:
        self._scores = [_Best(tol) for _ in range(n_scores)]
        self._wait = n_iter_no_change

    @property
    def best(self) -> float:
        """The best of the first score."""
        return self._scores[0].best

    def see(self, before: int, values: NDArray[np.float64]) -> None:
        """Take every score, (n_scores, n), after the estimators that follow so many."""
        for score, own in zip(self._scores, values, strict=True):
            for k, value in enumerate(own):
                score.see(before + k + 1, value)

    def is_over(self, at: int) -> bool:
        """Whether boosting may end after so many estimators."""
        last = max(score.at for score in self._scores)
        if last == 0 or self._wait is None:
            return False
        wait = max(FEWEST, SHARE * last) if isinstance(self._wait, str) else self._wait
        return at - last >= wait


def make_patience(stopping: Any) -> Callable[[int], Patience]:
    """Return a maker of patience with the fields of an `EarlyStopping`, or of a search."""
    return partial(Patience, n_iter_no_change=stopping.n_iter_no_change, tol=stopping.tol)


class _Best:
    """The last value that was better, by the tolerance, than the one before; NaN never is."""

    def __init__(self, tol: float) -> None:
        self.best = -np.inf
        self.at = 0
        self._tol = tol

    def see(self, at: int, value: float) -> None:
        margin = self._tol * abs(self.best) if np.isfinite(self.best) else 0.0
        if value > self.best + margin:
            self.best, self.at = float(value), at
