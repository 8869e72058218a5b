"""Parameters of a `ProperBoostClassifier` in files of earlier formats.

Parameters were flat up to format 11: those of the weak learner, of pairs, bags and calibration
stood beside the others.  A parameter without an effect was ignored; it is left out here.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from properboost.engine.options import find_coupling
from properboost.losses.registry import get_loss
from properboost.parameters.declare import ComponentSupport, Parameter, declared
from properboost.parameters.flat import PLACES, find_learners, nest
from properboost.parameters.learners import LEARNERS, RENAMED, make_learner
from properboost.parameters.stages import make_calibration
from properboost.persistence.parameters import Forms

__all__ = ["BEFORE", "NESTED_SINCE", "find_earlier_forms", "make_earlier", "rename"]

Model = TypeVar("Model", bound=ComponentSupport)

NESTED_SINCE = 12
"""The format version from which on parameters are nested."""

Flat = Mapping[str, Any]

BEFORE: Flat = {
    "intercept": None,
    "linear_leaves": False,
    "max_cells": None,
    "min_saving": 0.0,
    "outer_bags": 0,
    "screening": None,
    "slope": 1.0,
}
"""The values of parameters that came after a file was written; today's defaults differ."""

_RENAMED = {"max_literals": "max_conditions"}


def find_earlier_forms(classifier: type) -> Forms:
    """Return the flat names, and the forms of their values in files."""
    forms = {name: entry.form for name, entry in _list_flat(classifier).items()}
    return {**forms, "max_literals": None, "warm_start_bins": None}


def _list_flat(classifier: type) -> dict[str, Parameter]:
    """Return the parameters, and the fields of objects, by flat names."""
    return {**declared(classifier), **{name: place.entry for name, place in PLACES.items()}}


def _is_grown(flat: Flat) -> bool:
    return LEARNERS[flat["weak_learner"]].is_grown


def _draws(flat: Flat) -> bool:
    return not flat["outer_bags"] and flat["max_features"] * flat["subsample"] < 1.0


def _is_joint(flat: Flat) -> bool:
    loss = get_loss(flat["loss"], flat["gain"])
    coupling = find_coupling(flat["multiclass"], loss, flat["step"], flat["response"])
    return coupling != "one_vs_rest"


def _has_pairs(flat: Flat) -> bool:
    return bool(flat["interactions"])


_EFFECTIVE: Mapping[str, Callable[[Flat], bool]] = {
    "selection": lambda flat: flat["selection"] != "cyclic" or not _is_grown(flat),
    "screening": lambda flat: flat["subsample"] == 1.0 or not _is_grown(flat),
    "min_saving": lambda flat: flat["max_cells"] is not None and flat["response"] != "sign",
    "n_draws": _draws,
    "multi_strategy": _is_joint,
    "interaction_estimators": _has_pairs,
    "interaction_rate": _has_pairs,
    "interaction_smoothing": _has_pairs,
    "validation_fraction": lambda flat: flat["early_stopping"] is True,
    "n_iter_no_change": lambda flat: flat["early_stopping"] is not False,
    "tol": lambda flat: flat["early_stopping"] is not False,
    "bag_tables": lambda flat: flat["outer_bags"] and not _is_grown(flat),
    "temperature": lambda flat: not _is_joint(flat),
}
"""The conditions on which parameters have an effect, besides those of their declarations."""


def make_earlier(classifier: type[Model], /, **flat: Any) -> Model:
    """Return the classifier of parameters by flat names."""
    flat, known = {"weak_learner": "table", **rename(flat)}, _list_flat(classifier)
    every = {name: entry.default for name, entry in known.items()} | flat
    make_learner(every["weak_learner"])  # refuses unknown names
    chosen = {
        name: value
        for name, value in flat.items()
        if value != known[name].default and _has_effect(known[name], name, every)
    }
    model = classifier()
    model.set_params(**nest(chosen))
    if vars(model)["calibration"] == make_calibration(None):
        model.set_params(calibration=None)
    return model


def rename(flat: Flat) -> dict[str, Any]:
    """Return parameters with today's names and values."""
    flat = {_RENAMED.get(name, name): value for name, value in flat.items()}
    learner = flat.get("weak_learner")
    if isinstance(learner, str):
        flat["weak_learner"] = RENAMED.get(learner, learner)
    if flat.pop("warm_start_bins", "old") == "new" and flat["warm_start"]:
        flat["warm_start"] = "new_bins"
    return flat


def _has_effect(entry: Parameter, name: str, flat: Flat) -> bool:
    learners = find_learners(name)
    if learners and flat["weak_learner"] not in learners:
        return False
    if entry.find_obstacle(flat.__getitem__) is not None:
        return False
    return name not in _EFFECTIVE or _EFFECTIVE[name](flat)
