"""Invariants of parameters: names and objects, in any order, copied, and searched."""

import copy
import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import properboost as pb
from fuzz.invariants.registry import Fit, assert_same, can_predict, invariant
from properboost.losses.registry import get_loss
from properboost.parameters.declare import Component, Parameter, declared
from properboost.parameters.learners import LEARNERS
from properboost.parameters.stages import Interactions, make_interactions


@invariant("a clone has the same parameters", share=0.1)
def _clones(fit: Fit) -> None:
    """Their printed forms must be equal, too, because scikit-learn's searches compare these."""
    other = clone(fit.model)
    assert _show(fit.model) == _show(other)
    for name, part in _list_objects(fit.model).items():
        twin = getattr(other, name)
        assert twin == part
        assert twin is not part


@invariant("copies and pickles of objects are equal to them", share=0.2)
def _copies(fit: Fit) -> None:
    for part in _list_objects(fit.model).values():
        for other in (clone(part), copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
            assert type(other) is type(part)
            assert other == part
            assert _show(other) == _show(part)
        with pytest.raises(TypeError, match="unhashable"):
            hash(part)
        for name, entry in declared(type(part)).items():
            other = part.replace(**{name: entry.default})
            assert (other == part) == _is_equal(getattr(part, name), entry.default)


@invariant("a name and its object make the same bits", share=0.15)
def _names(fit: Fit) -> None:
    """Names, and other plain values, stand for objects with all other fields at their defaults."""
    changes: dict[str, Any] = {}
    for name, entry in declared(type(fit.model)).items():
        value = getattr(fit.model, name)
        if entry.component is None:
            continue
        if not isinstance(value, Component):
            changes[name] = entry.component(value)
        elif name == "weak_learner" and value == LEARNERS[value.name]():
            changes[name] = value.name
    if changes:
        assert_same(fit.model, fit.again(fit.X, fit.y, fit.weight, **changes), fit.X)


@invariant("parameters may be set in any order", share=0.3)
def _any_order(fit: Fit) -> None:
    """Names become objects first, and an estimator that shares an object keeps it."""
    params = fit.model.get_params()
    for name, part in _list_objects(fit.model).items():
        is_named = name == "weak_learner" and declared(type(fit.model))[name].component is not None
        if is_named and declared(type(part)):
            params[name] = part.name  # the fields are parameters, too
    names = [str(name) for name in fit.rng.permutation(list(params))]
    expected = _show(fit.model)
    model = type(fit.model)().set_params(**{name: params[name] for name in names})
    assert _show(model) == expected
    for owner, part in _list_objects(fit.model).items():
        known = declared(type(part))
        defaults = {f"{owner}__{field}": entry.default for field, entry in known.items()}
        shared = copy.copy(fit.model).set_params(**defaults)
        assert getattr(shared, owner) == type(part)()
    assert _show(fit.model) == expected


@invariant("values of a space are in the best parameters")
def _space(fit: Fit) -> None:
    """Each value is the written one, or one of the list."""
    if not isinstance(fit.model, pb.ProperBoostClassifierCV):
        return
    space, best = fit.get("space") or {}, fit.model.best_params_
    for name, written in space.items():
        owner, _, field = name.partition("__")
        assert owner in best, f"{owner} is not among the best parameters"
        entry, value = declared(pb.ProperBoostClassifier)[owner], best[owner]
        if entry.component is not None:
            value = entry.component(value)
        if field and not hasattr(value, field):
            continue  # some learners of the list lack this field
        if isinstance(value, Interactions) and not value.are_wanted and _may_have_no_pairs(fit):
            continue
        fields = {other.partition("__")[2] for other in space if other.startswith(f"{owner}__")}
        choices = written if isinstance(written, list) else [written]
        assert any(
            _is_equal(getattr(value, field), choice)
            if field
            else _is_of(value, choice, entry, fields)
            for choice in choices
        ), f"{name}={written!r}, but it is {best[owner]!r}"
    if can_predict(fit.model):
        assert _show_all(best).items() <= _show(fit.model.best_estimator_).items()


def _may_have_no_pairs(fit: Fit) -> bool:
    """Return whether the space may choose no pairs, or the table has none."""
    values = fit.list_values("interactions", 0)
    return fit.model.n_features_in_ == 1 or not all(make_interactions(v).are_wanted for v in values)


def _is_of(value: Any, choice: Any, entry: Parameter, fields: set[str]) -> bool:
    """Return whether a value matches a choice; nested names set its `fields`."""
    if entry.name == "loss":
        return _without_gain(value) == _without_gain(choice)
    if entry.component is None:  # a large integer becomes the nearest float
        return _is_equal(value, choice) or _is_equal(value, entry.read(choice))
    part = entry.component(choice)
    if type(part) is not type(value):
        return False
    if choice is not part and entry.name == "weak_learner":
        return True  # a name leaves the fields to the search
    if choice is not part and entry.name == "interactions":
        return _is_equal(value.pairs, part.pairs)
    shared = {name: getattr(value, name) for name in fields if hasattr(value, name)}
    return part.replace(**shared) == value


def _is_equal(value: Any, other: Any) -> bool:
    """Return whether two values are equal, whatever the types of numbers."""
    if repr(value) == repr(other):
        return True
    booleans = {isinstance(v, bool | np.bool_) for v in (value, other)}
    return len(booleans) == 1 and bool(np.all(value == other))


def _without_gain(loss: Any) -> Any:
    return dataclasses.replace(get_loss(loss), gain=1.0)


def _list_objects(model: Any) -> dict[str, Component]:
    """Return the parameters that are objects."""
    params = model.get_params(deep=False)
    return {name: value for name, value in params.items() if isinstance(value, Component)}


def _show(model: Any) -> dict[str, str]:
    return _show_all(model.get_params())


def _show_all(params: dict[str, Any]) -> dict[str, str]:
    return {name: repr(value) for name, value in params.items()}
