"""Bins and values in words, for titles, ticks and tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import CategoricalBins, FeatureBins, NumericBins

__all__ = ["MISSING", "describe", "label_bins", "label_level", "label_range"]

MISSING = "missing"

_FEWEST_DIGITS = 4
_MOST_DIGITS = 17


def describe(value: Any) -> str:
    """Return a value of a table in words: ``37``, ``0.25``, ``Private``, ``missing``."""
    if value is None:
        return MISSING
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        words = str(value)
        return words if words.strip() else repr(words)
    if np.isnan(value):
        return MISSING
    if not np.isfinite(value):
        return str(float(value))
    return _write(float(value), 6)


def label_bins(bins: FeatureBins) -> tuple[str, ...]:
    """Return each bin in words, without the feature's name and without the bin of missing values.

    Numeric bins are named by their edges, in the fewest digits that distinguish these.
    """
    if isinstance(bins, NumericBins):
        edges = _write_edges(bins.edges)
        return tuple(_label_range(edges, k, k) for k in range(bins.n_bins))
    rare = ["rare and unseen"] if bins.has_rare else []
    return (*map(describe, bins.categories), *rare)


def label_range(edges: NDArray[np.float64], first: int, last: int) -> str:
    """Return a range of neighbouring numeric bins in words, in the digits of `label_bins`."""
    return _label_range(_write_edges(edges), first, last)


def label_level(bins: FeatureBins, codes: Sequence[int]) -> str:
    """Return a level of a pair in words: the bins of these codes, which ascend."""
    known = [code for code in codes if code < bins.n_bins]
    missing = len(known) < len(codes)
    if not known:
        return MISSING
    if isinstance(bins, NumericBins):
        words = _label_range(_write_edges(bins.edges), known[0], known[-1])
    else:
        words = _list_categories(bins, known)
    return f"{words} or {MISSING}" if missing else words


def _list_categories(bins: CategoricalBins, codes: Sequence[int]) -> str:
    named = [describe(bins.categories[code]) for code in codes if code < len(bins.categories)]
    return ", ".join([*named, *(["others"] if len(named) < len(codes) else [])])


def _label_range(edges: Sequence[str], first: int, last: int) -> str:
    if first == 0 and last == len(edges):
        return "any"
    if first == 0:
        return f"<= {edges[last]}"
    return f"> {edges[first - 1]}" if last == len(edges) else f"{edges[first - 1]} to {edges[last]}"


def _write_edges(edges: NDArray[np.float64]) -> tuple[str, ...]:
    return _write_numbers(tuple(edges.tolist()))


@lru_cache(maxsize=64)
def _write_numbers(edges: tuple[float, ...]) -> tuple[str, ...]:
    """Return the numbers in words; a map has many levels with the same edges."""
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS + 1):
        words = tuple(_write(edge, digits) for edge in edges)
        if len(set(words)) == len(words):
            break
    return words


def _write(number: float, digits: int) -> str:
    """Write a number in `digits` digits, without an exponent unless it is tiny or huge."""
    if 1e-4 <= abs(number) < 1e15:
        # All digits before the point stay: 51,195 rounded to 51,200 would be wrong.
        whole = len(f"{abs(number):.0f}")
        return np.format_float_positional(
            number, precision=max(digits, whole), fractional=False, trim="-"
        )
    return f"{number:.{digits}g}"
