"""The plan of ``properboost fit``: what follows, and about how long it takes."""

from typing import Any

from properboost.estimators.learner_choice import read_learner
from properboost.estimators.properboost import ProperBoostClassifier
from properboost.model_selection.families import design_search
from properboost.model_selection.limited_time import estimate_families
from properboost.model_selection.search_space import SearchParameters
from properboost.parameters.boosting import LearnerChoice

__all__ = ["describe_plan", "estimate_seconds"]

ROUND_TIMES = (
    (8.0, "5 seconds"),
    (15.0, "10 seconds"),
    (25.0, "20 seconds"),
    (45.0, "half a minute"),
    (90.0, "a minute"),
    (210.0, "2 minutes"),
    (450.0, "5 minutes"),
    (900.0, "10 minutes"),
    (1800.0, "20 minutes"),
)
"""Times as they are shown, each for fewer seconds than its number."""


def estimate_seconds(search: SearchParameters, n_rows: int, n_classes: int) -> float | None:
    """Return about how many seconds a search takes; None where nothing is known."""
    if search.effort is None or not design_search(search).by_family:
        return None
    return estimate_families(search.effort, n_rows, n_classes, readable=search.readable)


def describe_plan(model: Any, n_rows: int, n_classes: int, limit: float | None) -> str:
    """Return lines on what follows, and about how long it takes; `limit` is that of the user."""
    if not isinstance(model, SearchParameters):
        if isinstance(model, ProperBoostClassifier) and isinstance(
            read_learner(model), LearnerChoice
        ):
            return "Compares look-up tables with readable trees, and fits one model."
        return "Fits one model."
    design = design_search(model)
    what = "the combinations of the parameters"
    if design.by_family:
        n = len(design.families)
        what = f"{n} families of models" if n > 1 else f"models of {next(iter(design.families))}"
    seconds = estimate_seconds(model, n_rows, n_classes)
    duration = "" if seconds is None else f" This takes {_round_time(seconds)}."
    if limit is not None:
        duration = f" This takes at most {limit:g} seconds."
    until = "Ctrl-C saves nothing."
    if design.by_family:
        first = "first family has" if len(design.families) > 1 else "first candidates have"
        until = f"Once the {first} been compared, Ctrl-C takes the best so far."
    return f"Compares {what} by cross-validation, and fits the best to all rows.{duration}\n{until}"


def _round_time(seconds: float) -> str:
    """Return a time that claims no more digits than are known."""
    if seconds < 3.0:
        return "a few seconds"
    shown = next((text for most, text in ROUND_TIMES if seconds < most), None)
    return f"about {shown or f'{round(seconds / 1800.0) / 2.0:g} hours'}"
