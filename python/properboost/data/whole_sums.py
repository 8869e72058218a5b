"""Sums of floats that depend on nothing but the numbers: not on their order."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["add_up", "add_up_by", "mean"]

LEVELS = 3
"""Digits that a number is cut into, of 53 bits less those of the number of rows."""

BLOCK = 2**15
"""Numbers that are cut at a time."""

Array = NDArray[np.float64]


def add_up(values: NDArray[Any]) -> float:
    """Return the sum of numbers."""
    return float(_add_up(values, None, 1)[0])


def add_up_by(codes: NDArray[np.integer[Any]], values: NDArray[Any] | None, n_codes: int) -> Array:
    """Return the sum of the numbers of each code, None being ones; larger codes are left out.

    What is nothing beside the numbers of another code still counts in its own.
    """
    if values is None:
        return np.bincount(codes, minlength=n_codes)[:n_codes].astype(np.float64)
    return _add_up(values, np.minimum(codes, n_codes), n_codes + 1)[:n_codes]


def mean(values: NDArray[Any], weight: Array | None = None) -> float:
    """Return the mean of numbers."""
    if weight is None:
        return add_up(values) / len(values)
    return add_up(weight * values) / add_up(weight)


def _add_up(values: NDArray[Any], codes: NDArray[np.integer[Any]] | None, n: int) -> Array:
    """Add up whole digits, largest first: such sums are exact, as no partial one reaches 2^53."""
    if len(values) == 0:
        return np.zeros(n)
    most = _find_largest(values, codes, n)
    if not np.all(most < np.inf):
        return _count(values, codes, n)
    exponent = np.frexp(most)[1]
    bits = 52 - len(values).bit_length()
    scale = 2.0**bits
    sums = np.zeros((LEVELS, n))
    for k in range(0, len(values), BLOCK):
        some = slice(k, k + BLOCK)
        own_codes = None if codes is None else codes[some]
        own_exponent = exponent[0] if own_codes is None else exponent[own_codes]
        rest = np.ldexp(values[some].astype(np.float64), -own_exponent)
        for own in sums:
            rest *= scale
            digits = np.rint(rest)
            rest -= digits
            own += _count(digits, own_codes, n)
    total = np.zeros(n)
    for own in sums[::-1]:
        total = (total + own) / scale
    return np.ldexp(total, exponent)


def _find_largest(values: NDArray[Any], codes: NDArray[np.integer[Any]] | None, n: int) -> Array:
    if codes is None:
        return np.array([max(float(values.max()), -float(values.min()))])
    most = np.zeros(n)
    np.maximum.at(most, codes, np.abs(values.astype(np.float64, copy=False)))
    return most


def _count(digits: NDArray[Any], codes: NDArray[np.integer[Any]] | None, n: int) -> Array:
    if codes is None:
        return np.array([digits.sum(dtype=np.float64)])
    return np.bincount(codes, digits, minlength=n)[:n].astype(np.float64, copy=False)
