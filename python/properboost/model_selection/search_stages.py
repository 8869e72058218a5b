"""The stages of a search, and about what share of its time each takes, for its progress bar."""

from collections.abc import Mapping
from typing import Any

from properboost.model_selection.families import design_search, find_rung
from properboost.model_selection.search_space import SearchParameters
from properboost.whole_progress import FINAL, PAIRS, STEPS, Stage

__all__ = ["list_stages"]

WEIGHTS: Mapping[str, float] = {
    "tables": 1.0,
    "smooth tables": 1.0,
    "stumps": 1.0,
    "readable symmetric trees": 10.0,
    "readable trees": 11.0,
    "trees": 5.0,
    "symmetric trees": 8.0,
    "trees with lines": 6.0,
    "symmetric trees with lines": 15.0,
}
"""The time of each family's first candidates, compared with that of tables, on ADULT."""

OF_STEPS, OF_PAIRS, OF_FINAL = 130.0, 2.0, 15.0
"""The times of steps from the best, of pairs and of the final fit, in the same unit."""

STEPS_FROM = 3
"""The least effort at which a search takes steps, and tries pairs."""


def list_stages(model: Any, *, again: bool = False) -> list[Stage]:
    """Return the stages of a fit; twice if it is fitted `again` without held-out rows."""
    stages = [Stage(FINAL, OF_FINAL)]
    if isinstance(model, SearchParameters):
        stages = [*_list_comparisons(model), *stages]
    return stages * (2 if again else 1)


def _list_comparisons(search: SearchParameters) -> list[Stage]:
    design = design_search(search)
    names = list(design.families)
    if not design.by_family:
        return [Stage("searching", OF_STEPS)]
    names = sorted(names, key=find_rung) if search.time_limit is not None else names[::-1]
    stages = [Stage(name, WEIGHTS.get(name, 10.0)) for name in names]
    if (search.effort or 0) >= STEPS_FROM:
        stages += [Stage(STEPS, OF_STEPS), Stage(PAIRS, OF_PAIRS)]
    return stages
