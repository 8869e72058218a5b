"""Documents that models are kept in: values of JSON that say where they stand, and what all hold.

Nothing in them is ever executed.  Numbers are written with the digits that give the same float64
back; infinite ones are strings.
"""

import math
import re
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from properboost.data.table import Category

__all__ = [
    "FORMAT",
    "INFINITE",
    "VERSION",
    "Node",
    "build_category",
    "build_classes",
    "check_categorical",
    "check_format",
    "name_type",
    "plain",
    "write_category",
]

FORMAT = "properboost model"

# 1 knew greedy selection only, 2 neither trees nor pairs, 3 neither losses of one's own nor votes
# nor rados.
VERSION = 4

INFINITE = {"inf": math.inf, "-inf": -math.inf}

_LABEL_TYPES = re.compile(r"bool|u?int(8|16|32|64)|float(16|32|64)|str|object")


class Node:
    """A value of the document and where it stands; its methods check what it is."""

    def __init__(self, value: Any, file: str, place: str = "") -> None:
        self.value = value
        self.file = file
        self.place = place

    def fail(self, problem: str) -> NoReturn:
        """Refuse the document, naming this place."""
        raise ValueError(f"{self.file}: {self.place or 'the document'} {problem}")

    def entry(self, key: str | int, value: Any) -> "Node":
        """Return what a value holds at a key or position."""
        if isinstance(key, int):
            return Node(value, self.file, f"{self.place}[{key}]")
        return Node(value, self.file, f"{self.place}.{key}" if self.place else key)

    def mapping(self) -> dict[str, "Node"]:
        """Return the entries of an object."""
        if not isinstance(self.value, dict):
            self.fail("must be an object")
        return {key: self.entry(key, value) for key, value in self.value.items()}

    def fields(self, *names: str) -> dict[str, "Node"]:
        """Return the entries of an object that has exactly these."""
        entries = self.mapping()
        for name in names:
            if name not in entries:
                self.fail(f"lacks the field {name!r}")
        for name in entries:
            if name not in names:
                self.fail(f"has an unknown field {name!r}")
        return entries

    def sequence(self, length: int | None = None) -> list[Any]:
        """Return a list, of this length if one is given."""
        if not isinstance(self.value, list):
            self.fail("must be a list")
        if length is not None and len(self.value) != length:
            self.fail(f"must have {length} entries; it has {len(self.value)}")
        return self.value

    def entries(self, length: int | None = None) -> list["Node"]:
        """Return the entries of a list, of this length if one is given."""
        return [self.entry(k, value) for k, value in enumerate(self.sequence(length))]

    def string(self) -> str:
        """Return a string."""
        if not isinstance(self.value, str):
            self.fail("must be a string")
        return self.value

    def boolean(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            self.fail("must be true or false")
        return self.value

    def integer(self, low: int, high: int) -> int:
        """Return an integer in [low, high]."""
        if type(self.value) is not int or not low <= self.value <= high:
            self.fail(f"must be an integer from {low} to {high}")
        return self.value

    def integers(self, low: int, high: int) -> NDArray[np.int64]:
        """Return a list of integers in [low, high]."""
        values = self.sequence()
        if not all(type(value) is int and low <= value <= high for value in values):
            self.fail(f"must hold integers from {low} to {high}")
        return np.array(values, dtype=np.int64)

    def reals(self, length: int | None = None) -> NDArray[np.float64]:
        """Return a list of finite numbers."""
        values = self.sequence(length)
        if not set(map(type, values)) <= {int, float}:
            self.fail("must hold numbers")
        try:
            array = np.array(values, dtype=np.float64)
        except OverflowError:
            array = np.array([math.inf])
        if not np.all(np.isfinite(array)):
            self.fail("must hold finite numbers")
        return array


def check_format(document: Node) -> int:
    """Return the version of the format."""
    if not isinstance(document.value, dict) or document.value.get("format") != FORMAT:
        document.fail(f"is not a properboost model: its format must be {FORMAT!r}")
    fields = document.mapping()
    if "format_version" not in fields:
        document.fail("lacks the field 'format_version'")
    version = fields["format_version"].integer(1, 2**31)
    if version > VERSION:
        fields["format_version"].fail(f"is {version}: this library reads up to {VERSION}")
    return version


def name_type(labels: NDArray[Any]) -> str:
    """Return the name of the type of labels."""
    return "str" if labels.dtype.kind == "U" else labels.dtype.name


def build_classes(node: Node) -> NDArray[Any]:
    """Return the labels of the classes."""
    fields = node.fields("dtype", "labels")
    dtype, labels = fields["dtype"].string(), fields["labels"].sequence()
    if not _LABEL_TYPES.fullmatch(dtype):
        fields["dtype"].fail(f"is not a type of labels: {dtype!r}")
    plain = {"b": bool, "i": int, "u": int, "f": float}.get(np.dtype(dtype).kind, str)
    if len(labels) < 2 or not all(type(label) is plain for label in labels):
        fields["labels"].fail(f"must hold at least two labels of type {dtype}")
    ascending = all(a < b for a, b in pairwise(labels))
    if not ascending or math.inf in labels or -math.inf in labels:
        fields["labels"].fail("must be finite, different and in ascending order")
    try:
        with np.errstate(over="ignore"):
            classes = np.array(labels, dtype=dtype)
    except OverflowError:
        classes = np.empty(0, dtype=dtype)
    if classes.tolist() != labels:  # rounded or cut off
        fields["labels"].fail(f"must hold labels that fit into {dtype}")
    return classes


def write_category(category: Category) -> Category | dict[str, str]:
    """Return what stands for a category."""
    # An object, since the string 'inf' may be a category too.
    if isinstance(category, float) and math.isinf(category):
        return {"number": str(category)}
    return category


def build_category(node: Node) -> Category:
    """Return the category that a value stands for."""
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


def check_categorical(node: Node) -> None:
    """Check the parameter that says which features are categorical."""
    if isinstance(node.value, list):
        for entry in node.entries():
            if not isinstance(entry.value, str | int):
                entry.fail("must be a position, a name or a boolean")
    elif node.value is not None and node.string() != "from_dtype":
        node.fail("must be 'from_dtype', null or a list")


def plain(value: Any) -> Any:
    """Return a number of numpy as one of Python."""
    return value.item() if isinstance(value, np.generic) else value
