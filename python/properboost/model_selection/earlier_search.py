"""Searches in files of earlier formats, which had flat names of parameters and results.

Earlier searches had more parameters; the values that differ from the defaults go into the `space`.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sklearn.base import clone

from properboost.estimators.earlier_parameters import (
    BEFORE,
    find_earlier_forms,
    make_earlier,
    rename,
)
from properboost.estimators.properboost import ProperBoostClassifier
from properboost.losses.registry import get_loss
from properboost.model_selection.families import check_search
from properboost.model_selection.search_space import SearchParameters
from properboost.parameters.declare import declared
from properboost.parameters.flat import PLACES, find_learners, nest
from properboost.parameters.learners import LEARNERS, make_learner
from properboost.persistence.parameters import Forms, find_forms

__all__ = [
    "drop_ineffective",
    "find_forms_of_search",
    "make_earlier_search",
    "nest_chosen",
    "nest_columns",
]

Search = TypeVar("Search", bound=SearchParameters)

AUTO = "auto"

FULL = 3
"""The least effort at which searches look for pairs by themselves."""

Flat = Mapping[str, Any]

_DEFAULTS: Flat = {
    "loss": "glog",
    "gain": AUTO,
    "n_estimators": AUTO,
    "weak_learner": AUTO,
    "selection": AUTO,
    "response": AUTO,
    "multiclass": AUTO,
    "step": "guarded",
    "learning_rate": 1.0,
    "criterion": None,
    "prior": None,
    "l2": 0.0,
    "monotonic_cst": None,
    "max_cells": 10,
    "min_saving": 0.5,
    "smoothing": AUTO,
    "grow_policy": "best_first",
    "max_leaf_nodes": None,
    "max_depth": None,
    "max_conditions": 2,
    "linear_leaves": False,
    "linear_l2": 5.0,
    "multi_strategy": "multi_output_tree",
    "min_child_weight": 1.0,
    "max_features": 0.5,
    "subsample": 1.0,
    "n_draws": AUTO,
    "interactions": AUTO,
    "interaction_rate": [1.0, 0.25],
    "interaction_smoothing": [0.0, 0.2],
    "outer_bags": AUTO,
    "bag_tables": True,
    "screening": AUTO,
}
"""Former parameters of searches, with their defaults; parameters that others depend on come
first."""

_BEFORE: Flat = {name: value for name, value in BEFORE.items() if name in _DEFAULTS} | {
    "calibrate": False,
    "effort": None,
}
"""The values of searches whose files are too old to name them."""

_SINGULAR = {"gains": "gain", "smoothings": "smoothing", "priors": "prior"}

_OTHERS = ("alphas", *_SINGULAR, "max_literals")


def find_forms_of_search(search: type) -> Forms:
    """Return the flat names of a search's parameters, with their forms in files."""
    forms = find_earlier_forms(ProperBoostClassifier)
    return {
        **{name: forms.get(name) for name in (*_DEFAULTS, *_OTHERS)},
        **{name: form for name, form in find_forms(search).items() if name != "space"},
    }


def make_earlier_search(search: Callable[..., Search], fixed: Flat, /, **flat: Any) -> Search:
    """Return the search with parameters by flat names; the `fixed` ones are those of all searches.

    Its space has all written values, even those without effect.
    """
    flat = rename({**_BEFORE, **flat, **fixed})
    alphas, smoothings = flat.pop("alphas", None), flat.get("smoothings", AUTO)
    flat["smoothings"] = [0.1] if smoothings is None else smoothings
    flat = {_SINGULAR.get(name, name): value for name, value in flat.items()}
    flat["loss"] = _name_alphas(flat.get("loss", "glog"), alphas)
    every = {name: flat.pop(name, default) for name, default in _DEFAULTS.items()}
    effort, learner = flat["effort"] or 0, every["weak_learner"]
    if effort and learner == AUTO:
        learner = every["weak_learner"] = _find_learner(every, readable=bool(flat.get("readable")))
    elif learner == AUTO:
        learner = "table"
    if learner != AUTO and make_learner(learner).is_grown:
        flat["readable"] = False  # no family had both
    chosen = {
        name: _read_values(name, value)
        for name, value in every.items()
        if value != _DEFAULTS[name] and _has_effect(name, learner, every, effort)
    }
    return search(nest(chosen) or None, **flat)


def _has_effect(name: str, learner: str, flat: Flat, effort: int) -> bool:
    """Return whether a parameter has an effect with this weak learner."""
    if name.startswith("interaction_") and not _has_pairs(flat, effort):
        return False
    return learner in (find_learners(name) or [learner])


def _find_learner(flat: Flat, *, readable: bool) -> str:
    """Return the first weak learner that has all fields of unusual values, if there is one."""
    learners = [name for name, kind in LEARNERS.items() if not (readable and kind.is_grown)]
    owners = [find_learners(name) for name, value in flat.items() if value != _DEFAULTS[name]]
    for kinds in filter(None, owners):
        learners = [name for name in learners if name in kinds] or learners
    return AUTO if "stump" in learners else learners[0]


def _has_pairs(flat: Flat, effort: int) -> bool:
    wanted = flat["interactions"]
    return effort >= FULL if wanted == AUTO else any(_list(wanted))


def _read_values(name: str, value: Any) -> Any:
    """Return a value, or the values in a list, each of which is checked by itself."""
    if name == "monotonic_cst" and isinstance(value, list):
        return tuple(value)  # a value, and no choice
    entry = PLACES[name].entry if name in PLACES else declared(ProperBoostClassifier)[name]
    for choice in _list(value):
        if name == "loss":
            get_loss(choice)
        elif name != "gain" or value is not None:
            entry.read(choice)
    return value


def drop_ineffective(search: SearchParameters) -> None:
    """Leave in a search's space the compatible values: the others had no effect.

    Earlier ones are taken first.
    """
    trial: Any = clone(search)
    together: dict[str, Any] = {}
    for name, value in (search.space or {}).items():
        fitting = [v for v in _list(value) if _goes(trial.set_params(space={**together, name: v}))]
        if fitting:
            together[name] = fitting if isinstance(value, list) else fitting[0]
    search.space = together or None


def _goes(search: SearchParameters) -> bool:
    try:
        check_search(search)
    except (TypeError, ValueError):
        return False
    return True


def _name_alphas(loss: Any, alphas: Any) -> Any:
    """Return losses; the one with an alpha is repeated for each alpha."""
    if alphas is None:
        return loss
    losses = []
    for entry in _list(loss):
        has_alpha = isinstance(entry, str) and entry == "alpha"
        losses += [get_loss("alpha", alpha=alpha) for alpha in alphas] if has_alpha else [entry]
    return losses


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def nest_chosen(flat: Flat, search: SearchParameters) -> dict[str, Any]:
    """Return the chosen parameters of a search, with objects."""
    learner = (search.space or {}).get("weak_learner", "table")
    flat = rename({"weak_learner": learner, **flat})
    model = make_earlier(ProperBoostClassifier, **flat)
    owners = dict.fromkeys(PLACES[name].owner if name in PLACES else name for name in flat)
    return {name: getattr(model, name) for name in owners}


def nest_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return results whose columns and parameters have nested names."""
    nested = {}
    for name, column in columns.items():
        flat = name.removeprefix("param_")
        [called] = nest({flat: None})
        nested[name.removesuffix(flat) + called] = column
    if "params" in nested:
        nested["params"] = [nest(entry) for entry in nested["params"]]
    return nested
