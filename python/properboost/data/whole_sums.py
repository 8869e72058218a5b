"""Sums of floats that depend only on the numbers, not on their order."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["add_up", "add_up_by", "add_up_segments", "mean"]

LEVELS = 3
"""Digits per number, each of 53 bits less those of the number of rows."""

BLOCK = 2**15
"""Numbers that are cut into digits at a time."""

Array = NDArray[np.float64]


def add_up(values: NDArray[Any]) -> float:
    """Return the sum of numbers."""
    return float(_add_up(values, None, 1)[0])


def add_up_by(codes: NDArray[np.integer[Any]], values: NDArray[Any] | None, n_codes: int) -> Array:
    """Return the sum of the numbers of each code; None stands for ones.  Larger codes are left out.

    Numbers that are tiny compared with those of another code still count in their own.
    """
    if values is None:
        return np.bincount(codes, minlength=n_codes)[:n_codes].astype(np.float64)
    return _add_up(values, np.minimum(codes, n_codes), n_codes + 1)[:n_codes]


def add_up_segments(
    values: NDArray[Any], segments: NDArray[np.int64], codes: NDArray[np.integer[Any]], n_codes: int
) -> Array:
    """Return the sum of the numbers of each code; segments of numbers have one code each.

    The sums are those of `add_up_by`, which has a code for each number and takes longer.
    """
    parts = [values[start:stop] for start, stop in pairwise(segments.tolist())]
    most = np.zeros(n_codes)
    for code, part in zip(codes, parts, strict=True):
        most[code] = max(most[code], _find_largest(part, None, 1)[0])
    if not np.all(most < np.inf):
        return add_up_by(np.repeat(codes, np.diff(segments)), values, n_codes)
    exponent, scale = np.frexp(most)[1], _find_scale(values)
    sums = np.zeros((LEVELS, n_codes))
    for code, part in zip(codes, parts, strict=True):
        sums[:, code] += _sum_digits(part, None, exponent[code : code + 1], scale)[:, 0]
    return _combine(sums, exponent, scale)


def mean(values: NDArray[Any], weight: Array | None = None) -> float:
    """Return the mean of numbers."""
    if weight is None:
        return add_up(values) / len(values)
    return add_up(weight * values) / add_up(weight)


def _add_up(values: NDArray[Any], codes: NDArray[np.integer[Any]] | None, n: int) -> Array:
    """Add up whole digits, largest first: these sums are exact, as no partial sum reaches 2^53."""
    if len(values) == 0:
        return np.zeros(n)
    most = _find_largest(values, codes, n)
    if not np.all(most < np.inf):
        return _count(values, codes, n)
    exponent, scale = np.frexp(most)[1], _find_scale(values)
    return _combine(_sum_digits(values, codes, exponent, scale), exponent, scale)


def _find_scale(values: NDArray[Any]) -> float:
    """Return the number of values of a digit, so that sums of so many digits are exact."""
    return float(2.0 ** (52 - len(values).bit_length()))


def _sum_digits(
    values: NDArray[Any],
    codes: NDArray[np.integer[Any]] | None,
    exponent: NDArray[np.integer[Any]],
    scale: float,
) -> Array:
    """Return the sums of digits by level and code, (LEVELS, n_codes)."""
    n = len(exponent)
    sums = np.zeros((LEVELS, n))
    for k in range(0, len(values), BLOCK):
        block = slice(k, k + BLOCK)
        block_codes = None if codes is None else codes[block]
        block_exponent = exponent[0] if block_codes is None else exponent[block_codes]
        rest = np.ldexp(values[block].astype(np.float64), -block_exponent)
        for level_sums in sums:
            rest *= scale
            digits = np.rint(rest)
            rest -= digits
            level_sums += _count(digits, block_codes, n)
    return sums


def _combine(sums: Array, exponent: NDArray[np.integer[Any]], scale: float) -> Array:
    """Return the numbers whose digits are these sums."""
    total = np.zeros(sums.shape[1])
    for level_sums in sums[::-1]:
        total = (total + level_sums) / scale
    scaled: Array = np.ldexp(total, exponent)
    return scaled


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
