"""A race between the candidates of a search: which of them cannot be the best any more."""

from collections.abc import Callable, Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

__all__ = ["Race"]

Array = NDArray[np.float64]


class Race:
    """Sees which candidates cannot be the best any more.

    A candidate that goes on learns less and less by the logarithm of its estimators, but for the
    first few of them.  One that would not reach the best so far even if it went on at its present
    pace, and half as fast again, is dropped.  So is one that differs from a candidate known before
    in one step, and would not even if it had half as much again left to learn as that one had then.
    """

    FIRST = 64
    """The share of the estimators from which on paces are judged, as a divisor."""
    PACE = 1.5
    """What a pace is multiplied by, and the factor of estimators that it is measured over."""

    def __init__(self, is_over: Callable[[], bool], *, drops: bool = True) -> None:
        """Take what says that the time is up, and whether any candidate may be dropped before."""
        self.is_over = is_over
        self._drops = drops
        self.best: Array | None = None
        self._seen: dict[int, list[tuple[int, Array]]] = {}
        self.dropped: set[int] = set()
        self._known: Array | None = None
        self._speeds: Sequence[float] = ()

    def see(self, candidate: int, at: int, means: Array) -> None:
        """Take the mean scores of a candidate after so many estimators."""
        self._seen.setdefault(candidate, []).append((at, means))
        if not np.isnan(means).any():
            self.best = means if self.best is None else np.maximum(self.best, means)

    def is_lost(self, candidate: int, most: int) -> bool:
        """Whether a candidate cannot be the best after `most` estimators."""
        at, last = self._seen[candidate][-1]
        earlier = [own for own in self._seen[candidate] if own[0] * self.PACE <= at]
        if not self._drops or self.best is None or at < most / self.FIRST or not earlier:
            return False
        before, then = earlier[-1]
        pace = np.maximum((last - then) / np.log(at / before), 0.0)
        reached = np.max([own for _, own in self._seen[candidate]], axis=0)
        more = pace * np.log(most / at)
        if self._known is not None:
            then = min(max(round(at * self._speeds[candidate]), 1), self._known.shape[1]) - 1
            more = np.minimum(more, self._known.max(axis=1) - self._known[:, then])
        hoped = np.maximum(reached, last + self.PACE * more)
        return bool((hoped < self.best).all())

    def begin(self, known: Array | None = None, speeds: Sequence[float] = ()) -> None:
        """Forget the candidates, but for what the best has reached: others come.

        `known` are the mean scores after each estimator, (n_scores, n_estimators), of one that they
        are a step from, and `speeds` how many times as fast as that one each learns.
        """
        self._seen, self.dropped = {}, set()
        self._known, self._speeds = None, speeds
        if known is not None and not np.isnan(known[:, 0]).any():
            places = np.where(np.isnan(known[0]), 0, np.arange(known.shape[1]))
            self._known = known[:, np.maximum.accumulate(places)]  # what was known last

    def alone(self, candidate: int) -> "Race":
        """Return a race of one candidate, number 0 there, against the best so far."""
        own = copy(self)
        own._seen, own.dropped = {}, set()
        own._speeds = self._speeds[candidate : candidate + 1]
        return own

    def take(self, candidate: int, alone: "Race") -> None:
        """Take what a candidate's own race has seen."""
        if alone.best is not None:
            self.best = alone.best if self.best is None else np.maximum(self.best, alone.best)
        if alone.dropped:
            self.dropped.add(candidate)
