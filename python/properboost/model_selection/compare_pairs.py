"""The comparison of pairs of features, and of their parameters, on top of an additive candidate."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.model_selection.cv_scores import CVScores, find_best, mean_known, mean_scores
from properboost.model_selection.race import Race
from properboost.model_selection.search_space import Candidate, for_pairs
from properboost.model_selection.space import FEWEST_PAIRS, Space
from properboost.model_selection.split_rows import SplitRows
from properboost.parameters import checks
from properboost.parameters.stages import Interactions

__all__ = ["PairComparison", "PairTrial", "Winner", "compare_pairs", "list_trials", "wants_pairs"]

PAIRS_OF_EFFORT = {3: (3,), 4: (3, 10), 5: (1, 3, 10)}
"""Numbers of pairs for each feature that are tried besides `FEWEST_PAIRS`, by effort."""

MOST_PAIRS, MOST_CODES_OF_PAIRS = 500, 20_000_000
"""The most pairs that are tried, and the most codes of pairs, a byte each in every split."""

RATES, SMOOTHINGS = (1.0, 0.25), (0.0, 0.2)
"""The learning rates and the smoothings of tables of pairs that are tried."""

Evaluate = Callable[[Sequence[Candidate], Sequence[SplitRows], int, int | None], CVScores]
"""Function that takes candidates, their rows, and the numbers of pairs and, if fixed, of
estimators; it returns scores."""


@dataclass(frozen=True, eq=False)
class Winner:
    """A candidate that may be taken."""

    index: int
    """The candidate's number; with pairs, that of the candidate they are added to."""
    candidate: Candidate
    n_estimators: int
    """The number of its estimators; with pairs, of theirs."""
    split_rows: Sequence[SplitRows]
    """The rows on which these are boosted."""
    scores: NDArray[np.float64]
    """Its score on each split."""
    score: float
    """Their mean."""

    @property
    def params(self) -> dict[str, Any]:
        """The classifier's parameters."""
        return {**self.candidate.params, "n_estimators": self.n_estimators}

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes that a search has of its winner."""
        return {
            "best_index_": self.index,
            "best_score_": self.score,
            "n_estimators_": self.n_estimators,
            "family_": self.candidate.family,
            "gain_": self.candidate.loss.gain,
        }


@dataclass(frozen=True, eq=False)
class PairTrial:
    """Pairs to compare; `is_open` if the search chooses their number of estimators."""

    interactions: Interactions
    is_open: bool

    @property
    def are_listed(self) -> bool:
        """Whether the pairs are listed, and not their number alone."""
        return not checks.is_integer(self.interactions.pairs)

    @property
    def n_pairs(self) -> int:
        """The number of pairs."""
        pairs: Any = self.interactions.pairs
        return len(pairs) if self.are_listed else int(pairs)


Take = Callable[[PairTrial], Sequence[SplitRows]]
"""Function that returns the rows of each split with the codes of pairs."""


def wants_pairs(space: Space, effort: int | None) -> bool:
    """Whether pairs are compared."""
    if space.excludes_pairs:
        return False
    return space.pins_pairs or (effort or 0) in PAIRS_OF_EFFORT


def list_trials(space: Space, effort: int | None, n_rows: int, n_features: int) -> list[PairTrial]:
    """Return the pairs to compare, fewest first, with the product of their fields for each number.

    The search chooses numbers and fields that the space lacks.
    """
    most = max(FEWEST_PAIRS, min(MOST_PAIRS, MOST_CODES_OF_PAIRS // n_rows))
    pairs_a_feature = PAIRS_OF_EFFORT.get(effort or 0, ())
    numbers = [FEWEST_PAIRS, *(min(k * n_features, most) for k in pairs_a_feature)]
    fields = {"learning_rate": RATES, "smoothing": SMOOTHINGS}
    trials = {
        f"{vars(pairs)} {is_open}": PairTrial(pairs, is_open)
        for pairs, is_open in space.list_pairs(numbers, fields)
    }
    return sorted(trials.values(), key=lambda trial: trial.n_pairs)


@dataclass
class PairComparison:
    """Scores of each trial, no pairs at all first."""

    tried: list[Winner] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    """The parameters of each in the results."""
    dropped: int = 0

    def find_best(self) -> int:
        """Return the first of those with the best mean score."""
        return max(range(len(self.tried)), key=lambda k: self.tried[k].score)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """Parameters and mean scores, a column each; NaN where there is none."""
        entries = [
            {**row, "mean_test_score": tried.score if tried.score > -np.inf else None}
            for row, tried in zip(self.rows, self.tried, strict=True)
        ]
        return {
            name: np.array([_or_nan(entry.get(name)) for entry in entries]) for name in entries[-1]
        }

    def add(self, row: dict[str, Any], tried: Winner) -> None:
        """Add one more."""
        self.rows.append(row)
        self.tried.append(tried)


def compare_pairs(
    base: Winner,
    trials: Sequence[PairTrial],
    take: Take,
    evaluate: Evaluate,
    *,
    may_have_none: bool,
    fixed_number: bool,
    is_over: Callable[[], bool],
    race: Race | None,
) -> PairComparison:
    """Compare pairs on top of `base`, and with `base` alone if it may have none.

    With a `fixed_number` of estimators all of them are used.
    """
    compared = PairComparison()
    if may_have_none:
        compared.add(_describe(base, None), base)
    for group in _group(trials):
        if compared.tried and is_over():
            break
        if race is not None:
            race.begin()
        first = group[0]
        rows = take(first)
        fixed = None if first.is_open else first.interactions.n_estimators or base.n_estimators
        candidates = [for_pairs(base.candidate, trial.interactions) for trial in group]
        scores = evaluate(candidates, rows, first.n_pairs, fixed)
        compared.dropped += 0 if race is None else len(race.dropped)
        means = mean_scores(scores.values[0])
        known_means = map(mean_known, scores.values)
        for k, (mean, *known_mean) in enumerate(zip(means, *known_means, strict=True)):
            at = len(mean) - 1 if fixed_number or fixed else find_best(*known_mean)
            tuned = candidates[k].with_temperature(scores.temperatures[k, at])
            if first.is_open:
                tuned = tuned.with_pairs(group[k].interactions.replace(n_estimators=at + 1))
            by_split = scores.values[0, k, :, at]
            tried = Winner(base.index, tuned, at + 1, rows, by_split, float(mean[at]))
            compared.add(_describe(tried, group[k]), tried)
    return compared


def _group(trials: Sequence[PairTrial]) -> Iterator[list[PairTrial]]:
    """Yield trials that are boosted together: those of the same pairs and number of estimators."""
    for _, group in groupby(
        trials,
        key=lambda trial: (
            repr(trial.interactions.pairs), trial.is_open, trial.interactions.n_estimators
        ),
    ):  # fmt: skip
        yield list(group)


def _describe(tried: Winner, trial: PairTrial | None) -> dict[str, Any]:
    """Return the parameters of pairs, or of none, in the results."""
    row: dict[str, Any] = {"interactions": 0}
    if trial is not None:
        row = {
            "interactions": trial.n_pairs,
            "interactions__learning_rate": trial.interactions.learning_rate,
            "interactions__smoothing": trial.interactions.smoothing,
            "interactions__n_estimators": tried.n_estimators,
        }
    if tried.candidate.seeks_temperature:
        row["calibration__temperature"] = tried.candidate.calibration.temperature
    return row


def _or_nan(value: Any) -> Any:
    return np.nan if value is None else value
