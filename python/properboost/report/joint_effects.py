"""Sentences on the function of two or three features, and the reach of its colours."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from properboost.inspection.shape_functions import InteractionFunction, InteractionMap
from properboost.report.content import FEW_ROWS, Array, PairEffect
from properboost.report.wording import count, name_bin, points, shorten, signed

__all__ = ["describe_cell", "describe_joint_effect", "find_reach", "make_maps", "name_cell"]

FEWEST_LEVELS, MOST_LEVELS = 4, 20
"""The fewest and the most levels of a feature in a map; neighbours are joined if it has more."""

MOST_MAPS = 4
"""The most maps of three features."""

ROWS_OF_CELL = 20.0
"""Training rows that cells should have on average, since fewer show nothing."""

WITHIN = 0.99
"""The share of the training rows whose effects are within the ends of the colours."""

ENOUGH = 100
"""The fewest training rows of a cell in a sentence, where it has no interval."""

TINY = 0.0005
"""The least effect on a probability that a sentence names: others print as 0.0."""

CLEAR = 0.3
"""Share of a map's variance that its four quarters explain, from which a sentence is on these."""


def make_maps(function: InteractionFunction, level: float) -> list[InteractionMap]:
    """Return the maps of a page, with intervals of this level; of few rows they are coarse."""
    n_maps = MOST_MAPS if len(function.labels) > 2 else 1
    n_levels = math.sqrt(float(function.weights.sum()) / (n_maps * ROWS_OF_CELL))
    most_levels = min(max(int(n_levels), FEWEST_LEVELS), MOST_LEVELS)
    return function.to_maps(MOST_MAPS, most_levels, level)


def find_reach(function: InteractionFunction, maps: Sequence[InteractionMap]) -> float:
    """Return the effect at the ends of the colours, which few training rows exceed.

    A cell of a few rows would otherwise make all others pale.
    """
    effect = np.abs(np.concatenate([shown.values.ravel() for shown in maps]) - function.average)
    weight = np.concatenate([shown.weights.ravel() for shown in maps])
    if np.any(effect[weight >= FEW_ROWS] > 0.0):
        weight = np.where(weight >= FEW_ROWS, weight, 0.0)
    order = np.argsort(effect, kind="stable")
    reached = np.cumsum(weight[order])
    k = int(np.searchsorted(reached, WITHIN * reached[-1]))
    return float(effect[order[k]]) or float(effect.max()) or 1.0


def describe_joint_effect(effect: PairEffect, level: float) -> list[str]:
    """Return sentences on the cells that make the class more probable, and on how sure they are."""
    function = effect.probability
    maps = make_maps(function, level)
    sentences = [_count_cells(maps, function.average)]
    if not effect.term.within_noise:
        strongest = _describe_strongest(function, maps, level)
        sentences = [_describe_quarters(effect), strongest, *sentences]
    return [sentence for sentence in sentences if sentence]


def _describe_quarters(effect: PairEffect) -> str:
    """Return the sentence on two numbers that are both low or high; "" if it explains little.

    Each number is divided where half of the training rows are below.
    """
    function = effect.log_odds
    if effect.are_numbers != (True, True):
        return ""
    weights = function.weights
    if min(weights.shape) < 2:
        return ""
    halves = [_find_middle(weights.sum(axis=1 - axis)) for axis in (0, 1)]
    mass, total = (
        np.add.reduceat(np.add.reduceat(cells, [0, halves[0]], axis=0), [0, halves[1]], axis=1)
        for cells in (weights, weights * function.values)
    )
    mean: Array = np.divide(total, mass, out=np.zeros((2, 2)), where=mass > 0.0)
    variance = float(np.sum(weights * np.square(function.values)))
    sign = np.sign(mean) * [[1, -1], [-1, 1]]
    if np.sum(mass * mean**2) < CLEAR * variance or abs(sign.sum()) < 4.0:
        return ""
    more, less = ("more", "less") if sign[0, 0] > 0.0 else ("less", "more")
    names = " and ".join(map(shorten, function.labels))
    return (
        f"By and large, “{function.class_label}” is {more} probable where {names} are both low or "
        f"both high, and {less} where only one is high."
    )


def _find_middle(weights: Array) -> int:
    """Return the first level of the upper half."""
    reached = np.cumsum(weights) / weights.sum()
    middle = int(np.abs(reached[:-1] - 0.5).argmin())
    return middle + 1


def _describe_strongest(
    function: InteractionFunction, maps: Sequence[InteractionMap], level: float
) -> str:
    """Return the sentence on the cells whose effects are surely the largest, up and down.

    By the end of the interval that is nearer to 0, since the strongest of many cells of few rows
    are so by chance.  Without intervals, only cells of many rows count.
    """
    words = []
    for sign in (1.0, -1.0):
        best = max(
            (_find_strongest(shown, sign, function.average) for shown in maps),
            key=lambda cell: cell.least,
        )
        if best.least >= TINY:
            size = points(float(best.shown.values[best.place]) - function.average)
            words.append(
                f"{size} where {name_cell(function, best.shown, *best.place)} "
                f"({describe_cell(function, best.shown, *best.place, level)})"
            )
    head = "Strongest" if maps[0].ends is None else "Strongest for sure"
    return f"{head}: {'; '.join(words)}." if words else ""


class _Cell(NamedTuple):
    """A cell of a map, and the least effect that it has, by its interval."""

    shown: InteractionMap
    place: tuple[int, int]
    least: float


def _find_strongest(shown: InteractionMap, sign: float, average: float) -> _Cell:
    """Return the cell with rows enough whose least effect is the largest, up or down."""
    ends = (shown.values, shown.values) if shown.ends is None else shown.ends
    least = sign * (ends[0 if sign > 0.0 else 1] - average)
    is_enough = shown.weights >= (ENOUGH if shown.ends is None else FEW_ROWS)
    least = np.where(is_enough, least, -np.inf)
    i, j = np.unravel_index(int(least.argmax()), least.shape)
    return _Cell(shown, (int(i), int(j)), float(least[i, j]))


def name_cell(function: InteractionFunction, shown: InteractionMap, i: int, j: int) -> str:
    """Return the ranges or categories of a cell of a map, with the names of their features."""
    words = [
        name_bin(shorten(function.labels[axis]), shorten(levels[k], 40))
        for axis, levels, k in zip(shown.axes, shown.levels, (i, j), strict=True)
    ]
    return ", ".join(words if shown.title is None else [*words, shown.title])


def describe_cell(
    function: InteractionFunction, shown: InteractionMap, i: int, j: int, level: float
) -> str:
    """Return the interval of a cell, if it is known, and its training rows."""
    rows = count(float(shown.weights[i, j]), "training row", "training rows")
    if shown.ends is None:
        return rows
    low, high = (float(end[i, j]) - function.average for end in shown.ends)
    unit = 100.0 if function.scale == "probability" else 1.0
    digits = 1 if function.scale == "probability" else 2
    ends = f"{signed(unit * low, digits)} to {signed(unit * high, digits)}"
    doubt = ", may be nothing" if low <= 0.0 <= high else ""
    return f"{level:.0%} interval {ends}{doubt}, {rows}"


def _count_cells(maps: Sequence[InteractionMap], average: float) -> str:
    """Return the sentence on the cells of few rows, and on those whose interval has 0."""
    n_cells = n_few = n_doubtful = 0
    for shown in maps:
        is_few = (shown.weights > 0.0) & (shown.weights < FEW_ROWS)
        n_cells += int(np.count_nonzero(shown.weights > 0.0))
        n_few += int(np.count_nonzero(is_few))
        if shown.ends is not None:
            is_doubtful = (shown.ends[0] <= average) & (shown.ends[1] >= average)
            n_doubtful += int(np.count_nonzero(is_doubtful & (shown.weights >= FEW_ROWS)))
    text = f"{n_few:,} of {count(n_cells, 'cell', 'cells')} had fewer than {FEW_ROWS} training rows"
    if maps[0].ends is not None:
        text += f"; {n_doubtful:,} of the others may be nothing, as their intervals have 0"
    return f"{text}."
