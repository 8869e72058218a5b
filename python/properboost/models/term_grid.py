"""The cells of a term's table, and the training weight of each."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.cached import cached_property
from properboost.data.whole_sums import add_up_by

__all__ = [
    "MOST_TERM_CELLS",
    "GridAxis",
    "Spread",
    "TermGrid",
    "coarsen",
    "count_levels",
    "find_parts",
    "find_way",
    "refine",
    "weigh_cells",
]

MOST_TERM_CELLS = 2**12
"""The most cells of a term's table; a finer one is shown coarser."""

Array = NDArray[np.float64]
LevelOfCode = NDArray[np.uint8]
"""The level of each code of a feature."""


@dataclass(frozen=True, eq=False)
class TermGrid:
    """A grid over the features of a term; each feature's codes are joined into levels.

    `weights` holds the training weight of each cell, a level of the first feature in each row.
    """

    features: tuple[int, ...]
    levels: tuple[LevelOfCode, ...]
    weights: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of levels of each feature."""
        return self.native.shape

    @cached_property
    def native(self) -> _core.TermGrid:
        """The engine's grid."""
        return _core.TermGrid(list(self.features), list(self.levels))

    def over(self, features: Sequence[int]) -> Self:
        """Return the same grid over features at other positions, in the same order."""
        return replace(self, features=tuple(features))

    def __getstate__(self) -> dict[str, object]:
        state = self.__dict__.copy()
        state.pop("native", None)
        return state


def weigh_cells(
    grids: Sequence[TermGrid], codes: NDArray[np.uint8], weight: Array | None, n_threads: int
) -> list[Array]:
    """Return the weight of each cell of grids, by the rows' codes, (n_features, n_rows).

    `weight` is that of each row; None stands for ones.
    """
    if weight is None:
        return _core.count_cells([grid.native for grid in grids], codes, n_threads)
    return [
        add_up_by(grid.native.find_cells(codes, n_threads), weight, int(np.prod(grid.shape)))
        for grid in grids
    ]


def count_levels(levels: Sequence[LevelOfCode]) -> tuple[int, ...]:
    """Return the number of levels of each feature."""
    return tuple(int(level.max()) + 1 for level in levels)


def refine(levels: Sequence[LevelOfCode]) -> LevelOfCode:
    """Return the levels that separate what any of these separate, in order of their first codes."""
    different = [*{level.tobytes(): level for level in levels}.values()]
    if len(different) == 1:
        return different[0]
    stacked = np.stack(different).astype(np.int16)
    steps = np.diff(stacked, axis=1)
    if (steps >= 0).all():  # runs of codes, as of numbers
        return np.concatenate([[0], np.cumsum(steps.any(axis=0))]).astype(np.uint8)
    _, first, inverse = np.unique(stacked, axis=1, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.uint8)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[inverse.ravel()]


@dataclass(frozen=True, eq=False)
class GridAxis:
    """A feature of grids: its number of bins, whether these are in order, and each code's weight.

    Many grids need the same levels of a feature, which are joined once.
    """

    n_bins: int
    is_ordered: bool
    weight: Array
    _joined: dict[tuple[bytes, int], LevelOfCode] = field(
        default_factory=dict, init=False, repr=False
    )

    def join(self, level: LevelOfCode, most: int) -> LevelOfCode:
        """Return coarser levels, `most` at the most."""
        key = level.tobytes(), most
        if key not in self._joined:
            self._joined[key] = _join_levels(level, self.n_bins, self.is_ordered, self.weight, most)
        return self._joined[key]


def coarsen(grid: TermGrid, axes: Sequence[GridAxis], most: int = MOST_TERM_CELLS) -> TermGrid:
    """Return a grid of at most `most` cells, without their weights.

    Neighbouring bins of numbers share a level, and so do rare categories; missing and unseen values
    keep theirs.
    """
    limits = _share_cells(grid.shape, most)
    if tuple(limits) == grid.shape:
        return grid
    levels = tuple(
        level if limit == size else axis.join(level, limit)
        for level, size, limit, axis in zip(grid.levels, grid.shape, limits, axes, strict=True)
    )
    return replace(grid, levels=levels)


def _share_cells(sizes: Sequence[int], most: int) -> Sequence[int]:
    """Return the most levels of each feature: as many for either, unless one needs fewer."""
    if math.prod(sizes) <= most:
        return sizes
    limits, room = list(sizes), most
    ascending = sorted(range(len(sizes)), key=sizes.__getitem__)
    for n_left, at in zip(range(len(sizes), 0, -1), ascending, strict=True):
        side = int(round(room ** (1.0 / n_left), 9))
        limits[at] = min(sizes[at], max(side, 1))
        room //= limits[at]
    return limits


def _join_levels(
    level: LevelOfCode, n_bins: int, ordered: bool, weight: Array, most: int
) -> LevelOfCode:
    of_bins = level[:n_bins]
    n_levels, n_others = int(of_bins.max()) + 1, len(level) - n_bins
    most = max(1, most - n_others)
    heaviness = np.bincount(of_bins, weight[:n_bins], n_levels).astype(np.float64, copy=False)
    if ordered:  # runs of about the same weight, of at least a level each
        heaviness += 1e-9 * (heaviness.sum() or 1.0) / n_levels
        middles = np.cumsum(heaviness) - 0.5 * heaviness
        runs = np.minimum(most * middles / heaviness.sum(), most - 1).astype(np.uint8)
        joined = np.zeros(n_levels, dtype=np.int64)
        np.cumsum(runs[1:] != runs[:-1], out=joined[1:])  # runs without a level have no number
    else:
        rank = np.empty(n_levels, dtype=np.int64)
        rank[np.argsort(-heaviness, kind="stable")] = np.arange(n_levels)
        joined = np.minimum(rank, most - 1)
    coarser = np.empty(len(level), dtype=np.uint8)
    coarser[:n_bins] = joined[of_bins]
    coarser[n_bins:] = joined.max() + 1 + np.arange(n_others)
    return coarser


def find_parts(level: LevelOfCode, coarser: LevelOfCode, weight: Array) -> Array:
    """Return the share of each level that is in each level of another grid, (n_levels, n_others).

    Shares are by training weight, or by the number of codes where a level has no weight.
    """
    shape = (int(level.max()) + 1, int(coarser.max()) + 1)
    by_weight, by_codes = np.zeros(shape), np.zeros(shape)
    np.add.at(by_weight, (level, coarser), weight)
    np.add.at(by_codes, (level, coarser), 1.0)
    totals = by_weight.sum(axis=1, keepdims=True)
    parts = np.where(totals > 0.0, by_weight, by_codes)
    within = np.count_nonzero(by_codes, axis=1) == 1
    parts[within] = by_codes[within] > 0.0  # exactly
    totals = parts.sum(axis=1, keepdims=True)
    shares: Array = np.divide(parts, totals, out=np.zeros_like(parts), where=totals > 0.0)
    return shares


@dataclass(frozen=True, eq=False)
class Spread:
    """The levels of a part, by axis, in each level of the term to which it moves.

    An axis has the level that each level is in, or the share of each that is in every other.
    """

    ways: tuple[NDArray[np.intp] | Array, ...]

    def apply(self, part: Array) -> Array:
        """Return a part in the cells of the term to which it moves."""
        for axis, way in enumerate(self.ways):
            if way.ndim == 1:
                part = part.take(way.astype(np.intp, copy=False), axis=axis)
            else:
                moved = np.moveaxis(part, axis, 0)
                moved = (way.reshape(*way.shape, *[1] * (part.ndim - 1)) * moved[None]).sum(axis=1)
                part = np.moveaxis(moved, 0, axis)
        return part


def find_way(level: LevelOfCode, coarser: LevelOfCode, weight: Array) -> NDArray[np.intp] | Array:
    """Return the level of another grid that each level is in, or its share in each of them.

    Shares are by training weight; none are needed where every level is within one.
    """
    shares = find_parts(level, coarser, weight)
    is_within = bool((shares.max(axis=1) == 1.0).all())
    return shares.argmax(axis=1) if is_within else shares
