"""Comparing numbers of pairs of features, and their parameters, on top of an additive candidate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.model_selection.cv_scores import CVScores, find_best, mean_known, mean_scores
from properboost.model_selection.race import Race
from properboost.model_selection.search_space import Candidate, for_pairs
from properboost.model_selection.split_rows import SplitRows

__all__ = ["ComparedPairs", "Winner", "compare_pairs"]

Evaluate = Callable[[Sequence[Candidate], Sequence[SplitRows], int], CVScores]
"""Takes candidates, the rows they are boosted on, and their number of pairs; returns scores."""


@dataclass(frozen=True, eq=False)
class Winner:
    """What may be taken."""

    index: int
    """The candidate's number, or with pairs that of the one they are added to."""
    candidate: Candidate
    n_estimators: int
    """Its estimators, those of pairs if it has any."""
    split_rows: Sequence[SplitRows]
    """The rows that these are boosted on."""
    scores: NDArray[np.float64]
    """Its score on each split."""
    score: float
    """Their mean."""


@dataclass
class ComparedPairs:
    """What is known of each number of pairs with each of their parameters, none at all first."""

    tried: list[Winner] = field(default_factory=list)
    params: list[dict[str, Any]] = field(default_factory=list)
    dropped: int = 0

    def find_best(self) -> int:
        """Return the first of those with the best mean score."""
        return max(range(len(self.tried)), key=lambda k: self.tried[k].score)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """Parameters and mean scores, a column each; NaN where there is none."""
        entries = [
            {**params, "mean_test_score": own.score if own.score > -np.inf else None}
            for params, own in zip(self.params, self.tried, strict=True)
        ]
        return {
            name: np.array([_or_nan(entry.get(name)) for entry in entries]) for name in entries[-1]
        }

    def add(self, params: dict[str, Any], tried: Winner) -> None:
        """Take one more."""
        self.params.append(params)
        self.tried.append(tried)


def compare_pairs(
    base: Winner,
    of_splits: Sequence[SplitRows],
    numbers: Sequence[int],
    grid: Sequence[tuple[float, float]],
    evaluate: Evaluate,
    *,
    fixed_number: bool,
    is_over: Callable[[], bool],
    race: Race | None,
) -> ComparedPairs:
    """Compare numbers of pairs, each with the rates and smoothings of the grid, on top of `base`.

    `of_splits` are each split's rows with as many pairs as the most, the strongest first: fewer
    are the first of them.  With a `fixed_number` of estimators all of them are used.
    """
    found = ComparedPairs()
    if not of_splits[0].training.pairs:  # one feature has no pairs
        numbers = [0]
    if 0 in numbers:
        known = {k: v for k, v in base.candidate.params.items() if k == "temperature"}
        found.add({"interactions": 0, **known}, base)
    for n in sorted({*numbers} - {0}):
        if found.tried and is_over():
            break
        if race is not None:
            race.begin()
        rows = [replace(own, training=own.training.first_pairs(n)) for own in of_splits]
        candidates = [for_pairs(base.candidate, n, *values) for values in grid]
        scores = evaluate(candidates, rows, n)
        found.dropped += 0 if race is None else len(race.dropped)
        means = mean_scores(scores.values[0])
        on_their_own = map(mean_known, scores.values)
        for k, (mean, *their_own) in enumerate(zip(means, *on_their_own, strict=True)):
            at = len(mean) - 1 if fixed_number else find_best(*their_own)
            own = candidates[k].with_temperature(scores.temperatures[k, at])
            by_split = scores.values[0, k, :, at]
            tried = Winner(base.index, own, at + 1, rows, by_split, float(mean[at]))
            found.add({**own.params, "interaction_estimators": at + 1}, tried)
    return found


def _or_nan(value: Any) -> Any:
    return np.nan if value is None else value
