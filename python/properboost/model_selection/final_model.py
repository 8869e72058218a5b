"""The model that is fitted to all rows: its draws, its bags and its rounds."""

from collections.abc import Callable, Mapping
from typing import Any

from properboost.data.sorted_rows import Rows, SortedRows
from properboost.fitting.bag_assignment import deal_to_bags, design_for
from properboost.model_selection.cv_splits import are_representative
from properboost.model_selection.search_results import SearchResults
from properboost.model_selection.search_space import BAGS_FROM, DRAWS_OF_EFFORT, Candidate
from properboost.model_selection.space import Space
from properboost.models.bag_design import BagPlan
from properboost.parameters import checks
from properboost.parameters.learners import Tree
from properboost.parameters.stages import make_bags

__all__ = ["FinalModel"]

AUTO_BAGS = 16
"""The bags of readable models from `BAGS_FROM` on."""

MORE_OF_MEANS = 1.25
"""The factor on the rounds of trees whose draws or bags are averaged, where rows are enough.

Their number was chosen for single draws on fewer rows, which overfit earlier.
"""

SLOWER_FROM, SLOWER = 4, 0.5
"""The least effort at which averaged trees learn at a slower rate, and the factor.

They have as many times more rounds.
"""


class FinalModel:
    """The draws, bags and rounds of the model of a search's winner."""

    def __init__(
        self,
        search: Any,
        space: Space,
        rows: Rows,
        groups: Any,
        most: Mapping[str, int],
        afford_bags: Callable[[int], int],
    ) -> None:
        """Take the most estimators, by selection.

        `afford_bags` returns as many of some bags as the time allows.
        """
        self._search, self._space, self._rows, self._groups = search, space, rows, groups
        self._most, self._afford_bags = most, afford_bags

    def average(self, chosen: Candidate, results: SearchResults) -> float:
        """Choose the draws of a winner, and its rounds if it has several models.

        Return how many times more rounds these are.
        """
        self._take_draws(chosen, results.best_params)
        return self._take_more_rounds(chosen, results)

    def _take_draws(self, chosen: Candidate, params: dict[str, Any]) -> None:
        """Average draws of readable trees, and no bags, where rows are enough.

        Bags leave out rows, which costs more where labels have little noise.  A search for readable
        models alone keeps them, because they have standard errors.
        """
        learner, space = params["weak_learner"], self._space
        are_open = not chosen.keeps_learner and "weak_learner__n_draws" not in space
        if self._search.readable or not are_open or "outer_bags" in params:
            return
        effort, is_one = self._search.effort or 0, isinstance(learner, Tree) and learner.draws
        if is_one and effort >= BAGS_FROM and are_representative(self._rows):
            params["weak_learner"] = learner.replace(n_draws=DRAWS_OF_EFFORT[effort])

    def _take_more_rounds(self, chosen: Candidate, results: SearchResults) -> float:
        """Give trees that are averaged more rounds than single draws."""
        params, n_before = results.best_params, results.of_winner["n_estimators_"]
        is_mean = getattr(params["weak_learner"], "n_draws", 1) > 1 or self._count_bags(params)
        is_open = self._space.n_estimators is None and chosen.options.weak_learner.is_grown
        if not is_mean or not is_open or not are_representative(self._rows):
            return 1.0
        most = self._most[chosen.selection]
        n_estimators = max(min(round(MORE_OF_MEANS * n_before), most), n_before)
        if self._learns_slowly and n_estimators <= SLOWER * most:
            params["learning_rate"] = SLOWER * chosen.options.find_rate(chosen.loss.rate_factor)
            n_estimators = round(n_estimators / SLOWER)
        params["n_estimators"] = results.of_winner["n_estimators_"] = n_estimators
        return float(n_estimators / n_before)

    @property
    def _learns_slowly(self) -> bool:
        """Whether trees may learn more slowly: the rate is open, and so is the time."""
        search = self._search
        is_open = "learning_rate" not in self._space and search.time_limit is None
        return is_open and (search.effort or 0) >= SLOWER_FROM

    def deal_to_bags(self, results: SearchResults) -> tuple[SortedRows, BagPlan] | None:
        """Deal the rows to the bags of the model that was chosen, if it has any."""
        params = results.best_params
        are_pinned, n_bags = "outer_bags" in params, self._count_bags(params)
        if not n_bags:
            return None
        try:
            design = design_for(params["weak_learner"], n_bags)
            seed = checks.seed(self._search.random_state)
            order, bags = deal_to_bags(self._rows, design, seed, self._groups)
        except ValueError:
            if are_pinned:
                raise
            return None
        params.setdefault("outer_bags", n_bags)
        return order, bags

    def _count_bags(self, params: Mapping[str, Any]) -> int:
        """Return the bags of a model with these parameters."""
        learner = params["weak_learner"]
        if "outer_bags" in params:
            return make_bags(params["outer_bags"]).n_bags
        if (self._search.effort or 0) < BAGS_FROM or not learner.is_readable:
            return 0
        return self._afford_bags(AUTO_BAGS if getattr(learner, "n_draws", 1) == 1 else 0)
