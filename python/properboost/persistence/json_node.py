"""JSON values with their place in the document, so that errors can name it."""

import math
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

__all__ = ["INFINITE", "NOT_FINITE", "UNKNOWN", "Node", "plain", "write_real", "write_reals"]

INFINITE = {"inf": math.inf, "-inf": -math.inf}
UNKNOWN = {"nan": math.nan}
NOT_FINITE = {**INFINITE, **UNKNOWN}
"""The strings that stand for numbers without a JSON form."""

_NUMBERS = {int, float}  # without booleans


class Node:
    """A value of a document, and its place.

    Parameters
    ----------
    value : object
        The parsed JSON value.
    file : str
        The document's file.
    key : str or int
        Its key or position in the parent.
    parent : Node, optional
        The object or list that holds it.
    """

    __slots__ = ("_key", "_parent", "file", "value")

    def __init__(
        self, value: Any, file: str, key: str | int = "", parent: "Node | None" = None
    ) -> None:
        self.value = value
        self.file = file
        self._parent = parent
        self._key = key

    @property
    def place(self) -> str:
        """Keys and positions from the document on."""
        before = "" if self._parent is None else self._parent.place
        if isinstance(self._key, int):
            return f"{before}[{self._key}]"
        return f"{before}.{self._key}" if before else self._key

    def fail(self, problem: str) -> NoReturn:
        """Raise ValueError with this place."""
        raise ValueError(f"{self.file}: {self.place or 'the document'} {problem}")

    def entry(self, key: str | int, value: Any) -> "Node":
        """Return the entry of a value at a key or position."""
        return Node(value, self.file, key, self)

    def mapping(self) -> dict[str, "Node"]:
        """Return the entries of an object."""
        return {key: self.entry(key, value) for key, value in self.object().items()}

    def object(self) -> dict[str, Any]:
        """Return the values of an object."""
        if not isinstance(self.value, dict):
            self.fail("must be an object")
        return self.value

    def fields(self, *names: str) -> dict[str, "Node"]:
        """Return the entries of an object that has exactly these keys."""
        values = self.object()
        for name in names:
            if name not in values:
                self.fail(f"lacks the field {name!r}")
        for name in values:
            if name not in names:
                self.fail(f"has an unknown field {name!r}")
        return self.mapping()

    def sequence(self, length: int | None = None) -> list[Any]:
        """Return a list, of this length if there is one."""
        if not isinstance(self.value, list):
            self.fail("must be a list")
        if length is not None and len(self.value) != length:
            self.fail(f"must have {length} entries; it has {len(self.value)}")
        return self.value

    def entries(self, length: int | None = None) -> Iterator["Node"]:
        """Return the entries of a list, of this length if there is one."""
        values = self.sequence(length)
        # One at a time, because nodes take more memory than their bytes in a file.
        return (self.entry(k, value) for k, value in enumerate(values))

    def string(self) -> str:
        """Return a string."""
        if not isinstance(self.value, str):
            self.fail("must be a string")
        return self.value

    def choice(self, known: Collection[str]) -> str:
        """Return one of the known names."""
        if self.string() not in known:
            self.fail(f"must be one of {list(known)}; it is {self.value!r}")
        return self.string()

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
        numbers = np.empty(0, dtype=np.int64)
        if set(map(type, values)) <= {int}:
            with suppress(OverflowError):
                numbers = np.array(values, dtype=np.int64)
        outside = len(numbers) > 0 and not (low <= min(values) and max(values) <= high)
        if len(numbers) < len(values) or outside:
            self.fail(f"must hold integers from {low} to {high}")
        return numbers

    def real(self) -> float:
        """Return a number, which may be infinite or NaN."""
        value = self.value
        if type(value) is str and value in NOT_FINITE:
            return NOT_FINITE[value]
        if type(value) not in (int, float) or abs(value) > sys.float_info.max:
            self.fail(f"must be a number or one of {list(NOT_FINITE)}")
        return float(value)

    def reals(
        self, length: int | None = None, *, also: Collection[str] = ()
    ) -> NDArray[np.float64]:
        """Return a list of finite numbers, and of the numbers that strings of `also` stand for."""
        values = self.sequence(length)
        numbers = _as_reals(values)
        if numbers is not None:
            return numbers
        others = [value for value in values if not (type(value) is str and value in also)]
        if not set(map(type, others)) <= _NUMBERS:
            *kinds, last = ["numbers", *(repr(name) for name in also)]
            self.fail(f"must hold {', '.join(kinds)} or {last}" if kinds else "must hold numbers")
        if _as_reals(others) is None:
            self.fail("must hold finite numbers")
        known = [NOT_FINITE[value] if type(value) is str else value for value in values]
        return np.array(known, dtype=np.float64)

    def matrix(self, n_rows: int, n_columns: int) -> NDArray[np.float64]:
        """Return a list of `n_rows` lists of `n_columns` finite numbers as a matrix."""
        rows = self.sequence(n_rows)
        if set(map(type, rows)) <= {list} and set(map(len, rows)) <= {n_columns}:
            numbers = _as_reals([*chain.from_iterable(rows)])
            if numbers is not None:
                return numbers.reshape(n_rows, n_columns)
        for row in self.entries():
            row.reals(n_columns)  # one of them raises
        raise AssertionError


def _as_reals(values: list[Any]) -> NDArray[np.float64] | None:
    """Return a list of finite numbers as an array, or None if there is any other value."""
    if not set(map(type, values)) <= _NUMBERS:
        return None
    try:
        numbers = np.array(values, dtype=np.float64)
    except OverflowError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def write_real(x: float) -> float | str:
    """Return the JSON form of a number: itself, or a string if it is not finite."""
    return x if math.isfinite(x) else str(x)


def write_reals(values: NDArray[np.floating[Any]]) -> list[float | str]:
    """Return the JSON form of numbers: a list, with strings for those that are not finite."""
    return [write_real(x) for x in values.tolist()]


def plain(value: Any) -> Any:
    """Return a number of NumPy as one of Python."""
    if isinstance(value, np.longdouble):  # its item is a longdouble again
        return float(value)
    return value.item() if isinstance(value, np.generic) else value
