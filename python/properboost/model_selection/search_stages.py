"""The stages of a search, and about what share of its time each takes, for its progress bar."""

from collections.abc import Mapping
from typing import Any

from properboost.model_selection.families import design_search, find_rung
from properboost.model_selection.search_space import SearchParameters
from properboost.whole_progress import FINAL, PAIRS, STEPS, Stage

__all__ = ["list_stages"]

WEIGHTS: Mapping[str, float] = {
    "tables": 1.0,
    "smooth tables": 0.3,
    "stumps": 0.4,
    "readable symmetric trees": 1.6,
    "readable trees": 1.2,
    "trees": 0.7,
    "symmetric trees": 2.8,
    "trees with lines": 0.9,
    "symmetric trees with lines": 2.4,
}
"""The time of each family's first candidates, compared with that of tables, on ADULT."""

OF_STEPS: Mapping[int, float] = {3: 5.0, 4: 10.0, 5: 20.0}
"""The time of steps from the best by effort, in the same unit."""

OF_PAIRS, OF_FINAL, OF_GRID = 6.0, 9.0, 100.0
"""The times of pairs, of the final fit and of a grid, in the same unit."""


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
        return [Stage("searching", OF_GRID)]
    names = sorted(names, key=find_rung) if search.time_limit is not None else names[::-1]
    stages = [Stage(name, WEIGHTS.get(name, 10.0)) for name in names]
    of_steps = OF_STEPS.get(search.effort or 0)
    if of_steps is not None:
        stages += [Stage(STEPS, of_steps), Stage(PAIRS, OF_PAIRS)]
    return stages
