"""The JSON form of parameters of estimators.

A name means the same in every estimator, and so does the form of its value.
"""

import math
import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from properboost.losses.builtin import MarginLoss
from properboost.parameters import checks
from properboost.parameters.declare import Component, Form, declared
from properboost.parameters.flat import COMPONENTS, take_apart
from properboost.persistence.json_node import Node, plain

__all__ = [
    "Forms",
    "NotSaved",
    "build_estimator",
    "describe_parameters",
    "find_forms",
    "has_parameter",
]

Model = TypeVar("Model")

Forms: TypeAlias = Mapping[str, Form | None]
"""The form of each parameter in files; None is the value itself."""

DROPPED = ("exact_sums",)
"""The parameters of earlier formats that changed no prediction."""

_MOST_SHOWN = 200  # characters of an object's description


@dataclass(frozen=True)
class NotSaved:
    """The value in a loaded estimator of a parameter that files cannot have.

    Files have no code: to fit again, a user must set a splitter, ready-made splits or a scoring
    function anew.

    Attributes
    ----------
    what : str
        A description of the value.
    """

    what: str

    def __repr__(self) -> str:
        return f"<not saved: {self.what}>"


def describe_parameters(
    model: BaseEstimator,
    estimator: type[BaseEstimator],
    seed: int | None,
    refer: Callable[[MarginLoss], Mapping[str, Any] | int] | None = None,
) -> dict[str, Any]:
    """Return the JSON form of the parameters of a model.

    Parameters
    ----------
    model : estimator
        The model; it may be of a class derived from `estimator`.
    estimator : type
        The class as which it is saved; other parameters are left out.
    seed : int or None
        The seed that the fit drew from a `RandomState`, which replaces it.
    refer : callable, optional
        A function that returns the JSON form of a loss object.
    """
    writer, forms = _Writer(seed, refer), find_forms(estimator)
    return {name: writer.write(name, getattr(model, name), forms[name]) for name in sorted(forms)}


@dataclass(frozen=True)
class _Writer:
    """A writer of values, with `seed` for a `RandomState`, and `refer` for losses."""

    seed: int | None
    refer: Callable[[MarginLoss], Mapping[str, Any] | int] | None

    def write(self, name: str, value: Any, form: Form | None = None) -> Any:
        """Return the JSON form of a value; the error for a value without one has the `name`."""
        if isinstance(value, MarginLoss) and self.refer is not None:
            return self.refer(value)
        if isinstance(value, Component):
            kind, fields = take_apart(value)
            forms = find_forms(COMPONENTS[kind])
            return {kind: {name: self.write(name, fields[name], forms[name]) for name in forms}}
        if isinstance(value, np.random.RandomState):
            return self.seed
        if form == "not saved" and not _is_plain_choice(value):
            return {"not saved": _name_code(value)}
        if isinstance(value, Mapping):
            return _describe_mapping(value, form)
        if form == "matrix" and value is not None:
            return np.asarray(value, dtype=np.float64).tolist()
        entries = _list_entries(value)
        if entries is not None:
            return [self.write("", entry) for entry in entries]
        return _write_plain(name, plain(value))


def _write_plain(name: str, value: Any) -> Any:
    """Return a number, a name or None as it is; the error for another value has the `name`."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{name or 'a parameter'} cannot be saved: it is {value!r}")


def _is_plain_choice(value: object) -> bool:
    """Return whether a value that may be code is a name, a number or None."""
    return value is None or isinstance(value, str | int | np.integer)


def _list_entries(value: Any) -> Any:
    """Return the entries of a list, a table or a set (sorted), or None."""
    if isinstance(value, Set):
        return sorted(value, key=str)
    is_table = isinstance(value, np.ndarray) and value.ndim > 1
    return value if checks.is_list(value) or is_table else None


def find_forms(owner: type) -> Forms:
    """Return the forms in files of an estimator's parameters, or of an object's fields."""
    return {name: entry.form for name, entry in declared(owner).items()}


def _describe_mapping(value: Mapping[Any, Any], form: Form | None) -> Any:
    if form is None:
        return {key: plain(entry) for key, entry in value.items()}
    pairs = [[plain(key), plain(entry)] for key, entry in value.items()]
    return {"of": pairs} if form == "by feature" else pairs


def _name_code(value: object) -> str:
    if isinstance(value, NotSaved):
        return value.what
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} of {len(value)} splits"
    if not hasattr(value, "__qualname__"):
        # Without addresses, so that the same model makes the same file.
        return re.sub(r" at 0x[0-9a-f]+", "", repr(value))[:_MOST_SHOWN]
    return f"{value.__module__}.{value.__qualname__}"


def build_estimator(
    node: Node,
    make: Callable[..., Model],
    check: Callable[[Model], object],
    resolve: Callable[[Node], MarginLoss] | None = None,
    forms: Forms | None = None,
) -> Model:
    """Return the estimator with these parameters, not fitted.

    A parameter that the file lacks has its default.  Those of `DROPPED` are left out.

    Parameters
    ----------
    node : Node
        The parameters.
    make : callable
        The class, or with `forms` a function of parameters by name that makes the estimator.
    check : callable
        A function that raises an error if the parameters are not allowed.
    resolve : callable, optional
        A function that returns the loss of a JSON object.
    forms : mapping, optional
        The names of the parameters of `make`, and their forms.
    """
    forms = find_forms(make) if forms is None else forms  # type: ignore[arg-type]
    values = _read_values(node, forms, resolve)
    try:
        model = make(**values)
        check(model)
    except (TypeError, ValueError) as error:
        node.fail(f"has a value that is not allowed: {error}")
    return model


def _read_values(
    node: Node, forms: Forms, resolve: Callable[[Node], MarginLoss] | None = None
) -> dict[str, Any]:
    values = {}
    for name, entry in node.mapping().items():
        if name in DROPPED:
            continue
        if name not in forms:
            node.fail(f"has an unknown field {name!r}")
        form = forms[name]
        if form == "losses" and resolve is not None:
            values[name] = _read_losses(entry, resolve)
        elif _is_object(entry):
            values[name] = _read_object(entry)
        else:
            values[name] = entry.value if form not in _READERS else _READERS[form](entry)
    return values


def _is_object(node: Node) -> bool:
    """Return whether a value is the JSON form of a component."""
    value = node.value
    return isinstance(value, dict) and len(value) == 1 and not COMPONENTS.keys().isdisjoint(value)


def _read_object(node: Node) -> Component:
    [(name, fields)] = node.mapping().items()
    kind = COMPONENTS[name]
    return kind(**_read_values(fields, find_forms(kind)))


def has_parameter(node: Node, name: str) -> bool:
    """Return whether an estimator's document has a parameter."""
    parameters = node.mapping().get("parameters")
    return parameters is not None and name in parameters.object()


def _read_losses(node: Node, resolve: Callable[[Node], MarginLoss]) -> Any:
    if not isinstance(node.value, list):
        return resolve(node) if isinstance(node.value, dict) else node.value
    return [
        resolve(node.entry(k, value)) if isinstance(value, dict) else value
        for k, value in enumerate(node.value)
    ]


def _read_class_weight(node: Node) -> Any:
    if not isinstance(node.value, list):
        return node.value
    weights = {}
    for pair in node.entries():
        label, weight = pair.sequence(2)
        if not isinstance(label, str | int | float):
            pair.fail("must begin with a label")
        if isinstance(label, float) and not math.isfinite(label):
            pair.fail("must begin with a finite label")
        if label in weights:
            pair.fail("must begin with another label than those before")
        weights[label] = weight
    return weights


def _read_categorical(node: Node) -> Any:
    if isinstance(node.value, list):
        for entry in node.entries():
            if not isinstance(entry.value, str | int):
                entry.fail("must be a position, a name or a boolean")
    elif node.value is not None and node.string() != "from_dtype":
        node.fail("must be 'from_dtype', null or a list")
    return node.value


def _read_constraints(node: Node) -> list[int] | dict[str | int, int] | None:
    if isinstance(node.value, dict):
        directions: dict[str | int, int] = {}
        for pair in node.fields("of")["of"].entries():
            key, direction = pair.entries(2)
            if type(key.value) not in (str, int):
                key.fail("must be a name or a position")
            if key.value in directions:
                key.fail("must be another name or position than those before")
            directions[key.value] = direction.integer(-1, 1)
        return directions
    return None if node.value is None else node.integers(-1, 1).tolist()


def _read_matrix(node: Node) -> Any:
    if node.value is None:
        return None
    n = len(node.sequence())
    return node.matrix(n, n)


def _read_code(node: Node) -> Any:
    if isinstance(node.value, dict):
        return NotSaved(node.fields("not saved")["not saved"].string())
    if node.value is not None and type(node.value) not in (str, int):
        node.fail("must be null, a string, an integer or a value that was not saved")
    return node.value


_READERS: Mapping[Form | None, Callable[[Node], Any]] = {
    "by label": _read_class_weight,
    "features": _read_categorical,
    "by feature": _read_constraints,
    "matrix": _read_matrix,
    "not saved": _read_code,
}
"""The readers of parameters by form; `build_estimator` checks the values of other forms."""
