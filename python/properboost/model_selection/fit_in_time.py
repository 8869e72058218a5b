"""The final fit of a search whose time is limited: as many rounds, draws and bags as it allows."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.cached import cached_property
from properboost.data.sorted_rows import LEARNS
from properboost.model_selection.cv_scores import CVScores, mean_scores
from properboost.model_selection.deadline import Deadline
from properboost.model_selection.race import Race
from properboost.model_selection.search_space import Candidate
from properboost.model_selection.space import Space
from properboost.model_selection.split_rows import SplitRows

__all__ = ["FinalFit"]

MORE_ROUNDS = 1.0 / 3.0
"""The power of the rows to which rounds of trees grow; on four tables it is .1 to .6."""

AFFORDABLE_ROUND = 0.02
"""The share of the time left up to which a round with all rows is timed."""

MOST_HASTE = 3.0
"""The most times by which the rate of trees rises where the time does not allow all rounds."""

FEWEST_BAGS = 4
"""The fewest bags by which a limited time replaces those of a readable model."""

Boost = Callable[[Candidate, Race], CVScores]
"""Function that returns the scores of a candidate, boosted until a race is over."""


class FinalFit:
    """The fit of a winner to all rows, in the time that is left."""

    def __init__(
        self,
        deadline: Deadline,
        space: Space,
        split_rows: Sequence[SplitRows],
        n_rows: int,
        most: Mapping[str, int],
    ) -> None:
        """Take the number of all rows, and the most estimators, by selection."""
        self._deadline, self._space = deadline, space
        self._split_rows, self._n_rows, self._most = split_rows, n_rows, most
        self._seconds_a_fit = 0.0

    @cached_property
    def row_ratio(self) -> float:
        """How many times more rows there are than those on which a split trains."""
        rows = self._split_rows[0]
        is_training = rows.segment_roles[0] == LEARNS
        return self._n_rows / int(np.diff(rows.order.segments)[is_training].sum())

    def leaves_time(self, best: Candidate, seconds: float) -> bool:
        """Whether the best candidate so far can still be fitted to all rows in time.

        With less time, its rounds are worth more than other candidates.  `seconds` are those of
        its fit to a split.
        """
        seconds *= self.row_ratio
        if best.options.weak_learner.is_grown:
            seconds *= self.row_ratio**MORE_ROUNDS
        return seconds < self._deadline.seconds_left

    def go_on(
        self, chosen: Candidate, n_estimators: int, curves: NDArray[np.float64], boost: Boost
    ) -> CVScores | None:
        """Return the scores of a candidate that had too little time, boosted on; None for others.

        `curves` are its scores so far, (n_splits, n_estimators).
        """
        (curve,) = mean_scores(curves[None])
        n_known = int(np.flatnonzero(np.isfinite(curve))[-1]) + 1
        if n_estimators < n_known or n_known == self._most[chosen.selection]:
            return None
        # The fit to all rows takes as many times longer as they are more.
        race = Race(self._deadline.share(1.0 / (1.0 + self.row_ratio)), drops=False)
        begin = time.perf_counter()
        scores = boost(chosen, race)
        self._seconds_a_fit = (time.perf_counter() - begin) / len(curves)
        return scores

    def learn_seconds(self, seconds: float) -> None:
        """Take the seconds of a fit to a split, unless they are known."""
        self._seconds_a_fit = self._seconds_a_fit or seconds

    def expect_rounds(self, more: float) -> None:
        """Expect so many times more rounds than those of a fit so far."""
        self._seconds_a_fit *= more

    def count_affordable(self) -> float:
        """Return how many fits to all rows the rest of the time allows."""
        if not self._deadline.is_limited:
            return np.inf
        seconds = self.row_ratio * max(self._seconds_a_fit, 1e-3)
        return 0.8 * max(self._deadline.seconds_left, 0.0) / seconds

    def fit_rounds_to_rows(
        self, chosen: Candidate, n_estimators: int, time_a_round: Callable[[Candidate], float]
    ) -> int:
        """Return the rounds that help with all rows, for trees that were compared on few.

        `time_a_round` returns the seconds of a round with all rows.
        """
        if self._space.n_estimators is not None or not chosen.options.weak_learner.is_grown:
            return n_estimators
        more = self.row_ratio**MORE_ROUNDS
        n_estimators = min(round(more * n_estimators), self._most[chosen.selection])
        # Some rounds are timed, if they cost little: a row of a sample costs less.
        self.expect_rounds(more)
        a_round = self.row_ratio * self._seconds_a_fit / n_estimators
        if a_round < AFFORDABLE_ROUND * self._deadline.seconds_left:
            self._seconds_a_fit = n_estimators * time_a_round(chosen) / self.row_ratio
        return n_estimators

    def take_fewer_draws(self, chosen: Candidate, learner: Any) -> Any:
        """Return a learner of fewer draws if the time does not allow all, unless these are pinned.

        A learner that is no tree stays as it is.
        """
        if isinstance(learner, str) or chosen.keeps_learner:
            return learner
        n_draws = getattr(learner, "n_draws", 1)
        affordable = max(1, int(min(self.count_affordable(), n_draws)))
        is_pinned = "weak_learner__n_draws" in self._space
        return (
            learner if affordable == n_draws or is_pinned else learner.replace(n_draws=affordable)
        )

    def hurry(self, chosen: Candidate, n_estimators: int) -> dict[str, Any]:
        """Return fewer rounds of trees and a greater rate if the time does not allow one fit.

        Rounds that the deadline cuts off would leave a model of too small steps.
        """
        options, share = chosen.options, self.count_affordable()
        rate = options.find_rate(chosen.loss.rate_factor)
        is_pinned = "learning_rate" in self._space or self._space.n_estimators is not None
        if share >= 1.0 or is_pinned or not options.weak_learner.is_grown:
            return {}
        faster = max(min(1.0 / share if share else np.inf, MOST_HASTE, 1.0 / rate), 1.0)
        fewer = math.ceil(n_estimators / faster)
        return {"learning_rate": rate * faster, "n_estimators": fewer}

    def count_bags(self, n_bags: int) -> int:
        """Return as many bags as the time allows, 0 if these are too few."""
        affordable = int(min(n_bags, self.count_affordable()))
        return affordable if affordable >= FEWEST_BAGS else 0
