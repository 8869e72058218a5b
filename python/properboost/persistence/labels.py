"""The JSON form of labels of classes, categories, and names of features."""

import math
import re
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.names import ColumnNames
from properboost.data.table import Category
from properboost.persistence.json_node import INFINITE, Node

__all__ = [
    "build_categories",
    "build_classes",
    "build_names",
    "build_two_classes",
    "describe_categories",
    "describe_classes",
    "describe_names",
]

_MOST_CHARACTERS = 2**24  # 64 MiB

_NO_TEXT = "no_text"
"""The field of names that are not strings."""

_LABEL_TYPES = re.compile(r"bool|u?int(8|16|32|64)|float(16|32|64)|str|object")


def describe_classes(labels: NDArray[Any]) -> dict[str, Any]:
    """Return the JSON form of the labels of the classes."""
    if labels.dtype.kind == "U" and labels.size * labels.itemsize > 4 * _MOST_CHARACTERS:
        raise ValueError(
            f"labels of more than {_MOST_CHARACTERS} characters cannot be saved, each taken as the "
            "longest: make them objects"
        )
    name = "str" if labels.dtype.kind == "U" else labels.dtype.name
    return {"dtype": name, "labels": labels.tolist()}


def build_classes(node: Node, *, least: int = 2) -> NDArray[Any]:
    """Return the labels of the classes, `least` or more; or of other values in ascending order."""
    fields = node.fields("dtype", "labels")
    dtype, labels = fields["dtype"].string(), fields["labels"].sequence()
    if not _LABEL_TYPES.fullmatch(dtype):
        fields["dtype"].fail(f"is not a type of labels: {dtype!r}")
    plain = {"b": bool, "i": int, "u": int, "f": float}.get(np.dtype(dtype).kind, str)
    if len(labels) < least or not all(type(label) is plain for label in labels):
        number = {1: "one label", 2: "two labels"}[least]
        fields["labels"].fail(f"must hold at least {number} of type {dtype}")
    ascending = all(a < b for a, b in pairwise(labels))
    if not ascending or math.inf in labels or -math.inf in labels:
        fields["labels"].fail("must be finite, different and in ascending order")
    if dtype == "str" and len(labels) * max(map(len, labels)) > _MOST_CHARACTERS:
        # An array has as many characters for each label as for the longest.
        fields["labels"].fail(
            f"must hold no more than {_MOST_CHARACTERS} characters, each label taken as the longest"
        )
    try:
        with np.errstate(over="ignore"):
            classes = np.array(labels, dtype=dtype)
    except OverflowError:
        classes = np.empty(0, dtype=dtype)
    if classes.tolist() != labels:  # rounded or cut off
        fields["labels"].fail(f"must hold labels that fit into {dtype}")
    return classes


def build_two_classes(node: Node) -> NDArray[Any]:
    """Return the labels of the classes of a model that has two."""
    classes = build_classes(node)
    if len(classes) != 2:
        node.fail("must hold two labels")
    return classes


def describe_categories(categories: tuple[Category, ...]) -> list[Any]:
    """Return the JSON form of the categories of a feature."""
    # Infinity is an object, because the string 'inf' may be a category, too.
    return [{"number": str(c)} if isinstance(c, float) and math.isinf(c) else c for c in categories]


def build_categories(node: Node, most: int | None = None) -> tuple[Category, ...]:
    """Return the distinct categories of a feature, `most` at most."""
    categories = tuple(_build_category(entry) for entry in node.entries())
    too_many = most is not None and len(categories) > most
    if too_many or len(set(categories)) < len(categories):
        limit = "" if most is None else f"at most {most} "
        node.fail(f"must hold {limit}categories, all different")
    return categories


def _build_category(node: Node) -> Category:
    value = node.value
    if isinstance(value, dict):
        number = node.fields("number")["number"].string()
        if number not in INFINITE:
            node.fail("must hold 'inf' or '-inf'")
        return INFINITE[number]
    if isinstance(value, float) and math.isfinite(value):
        return value
    if not isinstance(value, str | int):
        node.fail("must be a string, a finite number or a boolean")
    return value


def describe_names(names: ColumnNames | None) -> list[str] | dict[str, list[str]] | None:
    """Return the JSON form of the names of the features, or of None."""
    if names is None:
        return None
    return list(names.values) if names.are_text else {_NO_TEXT: list(names.values)}


def build_names(node: Node, n_features: int) -> ColumnNames | None:
    """Return the names of the features, or None if the file has none."""
    if node.value is None:
        return None
    are_text = not isinstance(node.value, dict)
    entries = (node if are_text else node.fields(_NO_TEXT)[_NO_TEXT]).entries(n_features)
    names = tuple(name.string() for name in entries)
    if len(set(names)) < len(names):
        node.fail("must hold names that are all different")
    return ColumnNames(names, are_text)
