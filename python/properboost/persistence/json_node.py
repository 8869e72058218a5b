"""JSON values that know their place in the document, so that errors can name it."""

import math
import sys
from collections.abc import Collection
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

__all__ = ["INFINITE", "NOT_FINITE", "Node", "plain", "write_real", "write_reals"]

INFINITE = {"inf": math.inf, "-inf": -math.inf}
NOT_FINITE = {**INFINITE, "nan": math.nan}
"""What stands for numbers that JSON does not have."""


class Node:
    """A value of a document, and where it stands.

    Parameters
    ----------
    value : object
        What JSON gave.
    file : str
        The document's file.
    place : str
        Keys and positions from the document on.
    """

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
        if not all(type(value) is int and low <= value <= high for value in values):
            self.fail(f"must hold integers from {low} to {high}")
        return np.array(values, dtype=np.int64)

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
        """Return a list of finite numbers, or also of those that these strings stand for."""
        values = self.sequence(length)
        others = [value for value in values if not (type(value) is str and value in also)]
        if not set(map(type, others)) <= {int, float}:
            *some, last = ["numbers", *(repr(name) for name in also)]
            self.fail(f"must hold {', '.join(some)} or {last}" if some else "must hold numbers")
        try:
            finite = bool(np.all(np.isfinite(np.array(others, dtype=np.float64))))
        except OverflowError:
            finite = False
        if not finite:
            self.fail("must hold finite numbers")
        numbers = [NOT_FINITE[value] if type(value) is str else value for value in values]
        return np.array(numbers, dtype=np.float64)


def write_real(x: float) -> float | str:
    """Return a number, or the string that stands for one that JSON does not have."""
    return x if math.isfinite(x) else str(x)


def write_reals(values: NDArray[np.floating[Any]]) -> list[float | str]:
    """Return a list of numbers, of which those that JSON does not have are strings."""
    return [write_real(x) for x in values.tolist()]


def plain(value: Any) -> Any:
    """Return a number of numpy as one of Python."""
    return value.item() if isinstance(value, np.generic) else value
