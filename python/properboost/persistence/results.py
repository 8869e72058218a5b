"""The JSON form of results of searches: columns, curves, and their values."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.losses.builtin import MarginLoss
from properboost.parameters.declare import Component, declared
from properboost.parameters.flat import COMPONENTS, take_apart
from properboost.persistence.json_node import NOT_FINITE, Node, plain, write_reals
from properboost.persistence.losses import LossList

__all__ = [
    "build_columns",
    "build_curves",
    "build_value",
    "describe_columns",
    "describe_curves",
    "describe_value",
]

_MANY = {"list": list, "tuple": tuple}
"""The types of sequences, by their names in files."""

_TYPES = re.compile(r"bool|u?int(8|16|32|64)|float(16|32|64)|object")


def describe_value(value: Any, losses: LossList) -> Any:
    """Return the JSON form of a number, a name, a loss, an object or None, or of several.

    An array becomes a tuple, which is one value of a search; a list has several values.
    """
    if isinstance(value, Mapping):
        return _describe_mapping(value, losses)
    if isinstance(value, Component):
        kind, fields = take_apart(value)
        return {kind: {name: describe_value(field, losses) for name, field in fields.items()}}
    if isinstance(value, list):
        return {"list": [describe_value(entry, losses) for entry in value]}
    if isinstance(value, tuple | np.ndarray):
        return {"tuple": [describe_value(entry, losses) for entry in value]}
    return losses.refer(value) if isinstance(value, MarginLoss) else _describe_plain(plain(value))


def _describe_mapping(value: Mapping[Any, Any], losses: LossList) -> Any:
    if all(isinstance(name, str) for name in value):
        return {"entries": {name: describe_value(v, losses) for name, v in value.items()}}
    return {"pairs": [describe_value([*pair], losses) for pair in value.items()]}


def _describe_plain(value: Any) -> Any:
    if isinstance(value, float) and not np.isfinite(value):
        return {"number": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"results of a search cannot be saved that hold {value!r}")


def build_value(node: Node, losses: LossList) -> Any:
    """Return the value that `describe_value` wrote."""
    if not isinstance(node.value, dict):
        if isinstance(node.value, list):
            node.fail("must not be a list")
        return node.real() if isinstance(node.value, float) else node.value
    if "entries" in node.value:
        entries = node.fields("entries")["entries"].mapping()
        return {name: build_value(entry, losses) for name, entry in entries.items()}
    for name, make in _MANY.items():
        if name in node.value:
            return make(build_value(v, losses) for v in node.fields(name)[name].entries())
    if "pairs" in node.value:
        return _build_pairs(node.fields("pairs")["pairs"], losses)
    for name in COMPONENTS.keys() & node.value.keys():
        return _build_object(node.fields(name)[name], COMPONENTS[name], losses)
    if "number" in node.value:
        return NOT_FINITE[node.fields("number")["number"].choice(NOT_FINITE)]
    return losses.resolve(node)


def _build_pairs(node: Node, losses: LossList) -> dict[Any, Any]:
    pairs: dict[Any, Any] = {}
    for entry in node.entries():
        pair = build_value(entry, losses)
        if not isinstance(pair, list) or len(pair) != 2 or type(pair[0]) not in (str, int):
            entry.fail("must be a list of a name or a position, and a value")
        if pair[0] in pairs:
            entry.fail("must begin with another name or position than those before")
        pairs[pair[0]] = pair[1]
    return pairs


def _build_object(node: Node, kind: type[Component], losses: LossList) -> Component:
    fields = node.mapping()
    for name in fields.keys() - declared(kind).keys():
        node.fail(f"has an unknown field {name!r}")
    return kind(**{name: build_value(entry, losses) for name, entry in fields.items()})


def describe_columns(columns: Mapping[str, Any], losses: LossList) -> dict[str, Any]:
    """Return the JSON form of scikit-learn's results of a search: lists and arrays by name."""
    return {name: _describe_column(column, losses) for name, column in columns.items()}


def _describe_column(column: Any, losses: LossList) -> dict[str, Any]:
    if isinstance(column, list):
        return {"list": [describe_value(entry, losses) for entry in column]}
    values = np.ma.getdata(column)
    if not _TYPES.fullmatch(values.dtype.name):
        raise TypeError(f"results of a search cannot be saved that have the type {values.dtype}")
    described: dict[str, Any] = {"dtype": values.dtype.name}
    if values.dtype.kind == "f":
        described["values"] = write_reals(values)
    else:
        described["values"] = [describe_value(entry, losses) for entry in values.tolist()]
    if isinstance(column, np.ma.MaskedArray):
        masked = column.mask is not np.ma.nomask
        described["mask"] = column.mask.tolist() if masked else None
    return described


def build_columns(node: Node, losses: LossList) -> dict[str, Any]:
    """Return the columns that `describe_columns` wrote: of one length, of at least one row."""
    columns = {name: _build_column(entry, losses) for name, entry in node.mapping().items()}
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1 or 0 in lengths:
        node.fail("must hold columns, all of one length, which is not 0")
    return columns


def _build_column(node: Node, losses: LossList) -> Any:
    if "list" in node.mapping():
        return [build_value(entry, losses) for entry in node.fields("list")["list"].entries()]
    fields = node.fields("dtype", "values", *(["mask"] if "mask" in node.mapping() else []))
    values = _build_array(fields["dtype"], fields["values"], losses)
    if "mask" not in fields:
        return values
    if fields["mask"].value is None:
        return np.ma.array(values)
    mask = [entry.boolean() for entry in fields["mask"].entries(len(values))]
    return np.ma.array(values, mask=mask)


def _build_array(dtype: Node, node: Node, losses: LossList) -> NDArray[Any]:
    name = dtype.string()
    if not _TYPES.fullmatch(name):
        dtype.fail(f"is not a type of results: {name!r}")
    kind = np.dtype(name).kind
    if kind == "O":
        values = np.empty(len(node.sequence()), dtype=object)
        values[:] = [build_value(entry, losses) for entry in node.entries()]
        return values
    if kind == "f":
        with np.errstate(over="ignore"):
            return node.reals(also=NOT_FINITE).astype(name)
    if kind == "b":
        return np.array([entry.boolean() for entry in node.entries()], dtype=bool)
    limits = np.iinfo(name)
    whole = [entry.integer(int(limits.min), int(limits.max)) for entry in node.entries()]
    return np.array(whole, dtype=name)


def describe_curves(curves: NDArray[np.float64]) -> dict[str, Any]:
    """Return the JSON form of an array of several dimensions."""
    return {"shape": list(curves.shape), "values": write_reals(curves.ravel())}


def build_curves(node: Node, n_dimensions: int) -> NDArray[np.float64]:
    """Return the array that `describe_curves` wrote."""
    fields = node.fields("shape", "values")
    shape = fields["shape"].integers(1, 2**31 - 1).tolist()
    if len(shape) != n_dimensions:
        fields["shape"].fail(f"must have {n_dimensions} entries; it has {len(shape)}")
    values = fields["values"].reals(also=NOT_FINITE)
    size = 1
    for n in shape:
        size *= n
    if size != len(values):
        fields["values"].fail(f"must have {size} entries; it has {len(values)}")
    return values.reshape(shape)
