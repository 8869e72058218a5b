"""A race between the candidates of a search, which drops those that cannot win."""

from collections.abc import Callable, Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

__all__ = ["Race"]

Array = NDArray[np.float64]


class Race:
    """A race that drops candidates that cannot become the best.

    After its first few estimators, a candidate improves less and less by the logarithm of their
    number.  It is dropped if one and a half times its present pace would not take it to the best so
    far.  A candidate that is one step from an earlier one should improve as that one did.  It is
    also dropped if one and a half times that improvement would not take it to the best.

    Candidates run on the first splits first, unless they are steps, which differ by too little.  A
    candidate that trails there by more than the split-to-split variation is dropped.  The best of a
    group stays if none has run on all splits.
    """

    FIRST = 64
    """The divisor of all estimators that gives the first number at which paces are judged."""
    PACE = 1.5
    """The factor on a pace, and the ratio of estimators over which a pace is measured."""
    FIRST_SPLITS = 0.4
    """The share of the splits that candidates run on first, ..."""
    FEWEST_SPLITS = 2
    """... which are at least so many, with at least as many others."""
    ERRORS = 0.5
    """Standard errors by which a candidate may be behind at the end of the first splits, ..."""
    ERRORS_BEFORE = 0.25
    """... and by which it may remain behind there, at the pace that it has."""

    def __init__(
        self,
        is_over: Callable[..., bool],
        *,
        drops: bool = True,
        in_parts: bool = True,
        limit_group: Callable[[], Callable[..., bool]] | None = None,
    ) -> None:
        """Take the check whether seconds are lacking, and how candidates are dropped before.

        `drops` allows dropping; `in_parts` allows it after the first splits, too.  `limit_group`
        returns the check of a group that begins, whose candidates pause when its time is up.
        """
        self._lacks_time, self._is_over = is_over, False
        self._limit_group = limit_group
        self._group_lacks_time: Callable[..., bool] | None = None
        self._group_is_over = False
        self._drops = drops
        self._in_parts = drops and in_parts
        self.leaders: Array | None = None
        """The values of the candidate with the best mean of each score, (n_scores, n_splits)."""
        self.dropped: set[int] = set()
        self._seen: dict[int, list[tuple[int, Array]]] = {}
        self._columns: Sequence[int] = ()
        self._best: Array | None = None
        self._known: Array | None = None
        self._speeds: Sequence[float] = ()
        self._apart: list[tuple[float, Array]] = []
        self._margin: Array | float = 0.0
        self._are_steps = self._has_any = False
        self._n_before = 0

    def begin(
        self, known: Array | None = None, speeds: Sequence[float] = (), *, is_last: bool = False
    ) -> None:
        """Forget the candidates, except the best scores so far, before others come.

        `known` are the scores after each estimator, (n_scores, n_splits, n_estimators), of the
        candidate that they are one step from.  `speeds` is each one's pace, relative to that
        candidate's.  The last candidates have no time limit of their own.
        """
        self.learn_spread()
        self.dropped = set()
        self._known, self._speeds = None, speeds
        self._are_steps, self._has_any = known is not None, False
        self._group_is_over = False
        self._group_lacks_time = None
        if self._limit_group is not None and not is_last:
            self._group_lacks_time = self._limit_group()
        if known is not None and not np.isnan(known[..., 0]).any():
            places = np.where(np.isnan(known[0]).any(axis=0), 0, np.arange(known.shape[2]))
            self._known = known[..., np.maximum.accumulate(places)]  # what was known last

    def is_over(self, needed: float = 0.0) -> bool:
        """Whether the time is up, or was too short for `needed` seconds now or before."""
        self._is_over = self._is_over or (
            self._lacks_time(needed) if needed else self._lacks_time()
        )
        return self._is_over

    def ends_group(self, needed: float = 0.0) -> bool:
        """Whether the time of the present candidates is up, or that of all; else as `is_over`."""
        if self._group_lacks_time is not None and not self._group_is_over:
            self._group_is_over = self._group_lacks_time(needed)
        return self._group_is_over or self.is_over(needed)

    def choose_first(self, n_splits: int) -> int:
        """Return the number of first splits, 0 if candidates run on all at once."""
        n = max(self.FEWEST_SPLITS, round(self.FIRST_SPLITS * n_splits))
        may = self._in_parts and self.leaders is not None and not self._are_steps
        return n if may and n + self.FEWEST_SPLITS <= n_splits else 0

    def enter(self, columns: Sequence[int]) -> None:
        """Set the splits that candidates run on, as columns of all scores."""
        self.learn_spread()
        self._columns = columns
        self._best = None if self.leaders is None else self.leaders[:, columns].mean(axis=1)
        self._margin = self._find_margin(self.ERRORS_BEFORE)

    def see(self, candidate: int, at: int, scores: Array) -> None:
        """Record every score of a candidate after `at` estimators, on the present splits."""
        self._seen.setdefault(candidate, []).append((at, scores))
        if np.isnan(scores).any():
            return
        means = scores.mean(axis=1)
        self._best = means if self._best is None else np.maximum(self._best, means)
        if self.leaders is None or self.leaders.shape == scores.shape:  # on all splits
            self._lead(scores)

    def _lead(self, scores: Array) -> None:
        """Replace leaders by scores that are better in the mean over all splits."""
        if self.leaders is None:
            self.leaders = scores
            return
        better = scores.mean(axis=1) > self.leaders.mean(axis=1)
        self.leaders = np.where(better[:, None], scores, self.leaders)

    def is_lost(self, candidate: int, most: int) -> bool:
        """Whether a candidate cannot be the best after `most` estimators."""
        seen = [(at, scores.mean(axis=1)) for at, scores in self._seen[candidate]]
        at, last = seen[-1]
        earlier = [look for look in seen if look[0] * self.PACE <= at]
        if not self._drops or self._best is None or at < most / self.FIRST or not earlier:
            return False
        before, then = earlier[-1]
        pace = np.maximum((last - then) / np.log(at / before), 0.0)
        reached = np.max([means for _, means in seen], axis=0)
        more = pace * np.log(most / at)
        if self._known is not None:
            known = self._known[:, self._columns].mean(axis=1)
            then = min(max(round(at * self._speeds[candidate]), 1), known.shape[1]) - 1
            more = np.minimum(more, known.max(axis=1) - known[:, then])
        hoped = np.maximum(reached, last + self.PACE * more)
        return bool((hoped < self._best - self._margin).all())

    def find_first(self, candidates: Sequence[int]) -> int:
        """Return the best candidate so far."""
        return max(candidates, key=lambda c: tuple(self._find_best(c).mean(axis=1)))

    def drop_behind(self, candidates: Sequence[int]) -> None:
        """Drop candidates that trail too far on the first splits."""
        assert self._best is not None
        with np.errstate(invalid="ignore"):  # scores may be infinite
            behind = {c: self._best - self._find_best(c).mean(axis=1) for c in candidates}
        self.learn_spread()
        margin = self._find_margin(self.ERRORS)
        lost = {c for c in candidates if c in self.dropped or bool((behind[c] > margin).all())}
        if not self._has_any and lost.issuperset(candidates):
            lost.remove(min(candidates, key=lambda c: behind[c][0]))
        self._has_any = True
        self.dropped = (self.dropped - {*candidates}) | lost

    def _find_best(self, candidate: int) -> Array:
        """Return the values with the best mean of each score, (n_scores, n_splits); NaN is best."""
        seen = np.stack([scores for _, scores in self._seen[candidate]])
        at = np.argmax(seen.mean(axis=2), axis=0)
        best: Array = seen[at, np.arange(len(at))]
        return best

    def learn_spread(self) -> None:
        """Estimate how much candidates' distances vary between splits, and drop the distances."""
        n = len(self._columns)
        if self.leaders is not None and n > 1:
            # A variance of few values is skewed: its median is too small.
            skewed = chi2.ppf(0.5, n - 1) / (n - 1)
            for candidate in self._seen:
                with np.errstate(invalid="ignore"):  # scores may be infinite
                    apart = self.leaders[:, self._columns] - self._find_best(candidate)
                    variances = apart.var(axis=1, ddof=1)
                if (variances > 0.0).all():  # it is no leader
                    self._apart.append((abs(float(apart[0].mean())), variances / skewed))
        self._seen = {}

    def _find_margin(self, errors: float) -> Array | float:
        """Return the margin by which equally good candidates may trail on these splits."""
        n = len(self._columns)
        n_splits = n if self.leaders is None else self.leaders.shape[1]
        if n == n_splits:
            return 0.0
        if not self._apart:
            return np.inf
        # Candidates that trail far do so by very different amounts.
        near = sorted(self._apart, key=lambda candidate: candidate[0])[: -(-len(self._apart) // 4)]
        typical = np.median([variances for _, variances in near], axis=0)
        margin: Array = errors * np.sqrt(typical * (1.0 / n - 1.0 / n_splits))
        return margin

    def alone(self, candidate: int) -> "Race":
        """Return a race of one candidate, number 0 there, against the best so far."""
        race = copy(self)
        race.isolate(candidate)
        return race

    def isolate(self, candidate: int) -> None:
        """Forget all candidates but one, which gets number 0."""
        self._seen, self.dropped, self._apart = {}, set(), [*self._apart]
        self._n_before = len(self._apart)
        self._speeds = self._speeds[candidate : candidate + 1]

    def list_new_distances(self) -> list[tuple[float, Array]]:
        """Return the distances of candidates that came since the race has been of one alone."""
        return self._apart[self._n_before :]

    def take(self, candidate: int, alone: "Race") -> None:
        """Take the results of a candidate's race alone."""
        alone.learn_spread()
        if alone.leaders is not None:
            self._lead(alone.leaders)
        if alone.dropped:
            self.dropped.add(candidate)
        self._apart += alone.list_new_distances()
