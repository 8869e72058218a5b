"""Sums of floats that depend on nothing but the numbers: not on their order."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["add_up", "add_up_by", "mean"]

LEVELS = 3
"""Digits that a number is cut into, of 53 bits less those of the number of rows."""

Array = NDArray[np.float64]


def add_up(values: NDArray[Any]) -> float:
    """Return the sum of numbers."""
    return float(_add_up(values, None, 1)[0])


def add_up_by(codes: NDArray[np.integer[Any]], values: NDArray[Any], n_codes: int) -> Array:
    """Return the sum of the numbers of each code; larger codes are left out."""
    return _add_up(values, codes, n_codes)


def mean(values: NDArray[Any], weight: Array | None = None) -> float:
    """Return the mean of numbers."""
    if weight is None:
        return add_up(values) / len(values)
    return add_up(weight * values) / add_up(weight)


def _add_up(values: NDArray[Any], codes: NDArray[np.integer[Any]] | None, n: int) -> Array:
    """Add up whole digits, largest first: such sums are exact, as no partial one reaches 2^53."""
    rest = np.asarray(values, dtype=np.float64)
    most = float(np.abs(rest).max(initial=0.0))
    if not 0.0 < most < np.inf:
        return _count(rest, codes, n)
    exponent = int(np.frexp(most)[1])
    bits = 52 - len(rest).bit_length()
    rest = np.ldexp(rest, -exponent)
    sums = []
    for _ in range(LEVELS):
        rest = np.ldexp(rest, bits)
        digits = np.rint(rest)
        rest -= digits
        sums.append(_count(digits, codes, n))
    total = np.zeros(n)
    for own in reversed(sums):
        total = np.ldexp(total + own, -bits)
    return np.ldexp(total, exponent)


def _count(digits: Array, codes: NDArray[np.integer[Any]] | None, n: int) -> Array:
    if codes is None:
        return np.array([digits.sum()])
    return np.bincount(codes, digits, minlength=n)[:n].astype(np.float64, copy=False)
