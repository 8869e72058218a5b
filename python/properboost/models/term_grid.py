"""The cells of a term's table, and the training weight of each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.cached import cached_property
from properboost.data.whole_sums import add_up_by

__all__ = [
    "MOST_TERM_CELLS",
    "TermGrid",
    "coarsen",
    "find_parts",
    "merge_neighbours",
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
        return count_levels(self.levels)

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
        counts = _core.count_cells([grid.native for grid in grids], codes, n_threads)
        return [of_grid.astype(np.float64) for of_grid in counts]
    return [
        add_up_by(grid.native.find_cells(codes, n_threads), weight, int(np.prod(grid.shape)))
        for grid in grids
    ]


def count_levels(levels: Sequence[LevelOfCode]) -> tuple[int, ...]:
    """Return the number of levels of each feature."""
    return tuple(int(level.max()) + 1 for level in levels)


def refine(levels: Sequence[LevelOfCode]) -> LevelOfCode:
    """Return the levels that separate what any of these separate, in order of their first codes."""
    rows = np.stack(levels, axis=1)
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.uint8)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[inverse.ravel()]


def coarsen(
    levels: Sequence[LevelOfCode],
    kinds: Sequence[tuple[int, bool]],
    weights: Sequence[Array],
    most: int = MOST_TERM_CELLS,
) -> tuple[LevelOfCode, ...]:
    """Return levels that make at most `most` cells.

    Neighbouring bins of numbers share a level, and so do rare categories; missing and unseen values
    keep theirs.  `kinds` has each feature's number of bins, and whether these are in order;
    `weights` has the training weight of each code.
    """
    sizes = list(count_levels(levels))
    limits = list(sizes)
    while np.prod(limits, dtype=np.int64) > most:  # the largest gives way
        limits[limits.index(max(limits))] -= 1
    return tuple(
        level if limit == size else _join_levels(level, *kind, weight, limit)
        for level, size, limit, kind, weight in zip(
            levels, sizes, limits, kinds, weights, strict=True
        )
    )


def _join_levels(
    level: LevelOfCode, n_bins: int, ordered: bool, weight: Array, most: int
) -> LevelOfCode:
    n_levels, n_others = int(level[:n_bins].max()) + 1, len(level) - n_bins
    most = max(1, most - n_others)
    heaviness = np.bincount(level[:n_bins], weight[:n_bins], n_levels).astype(np.float64)
    joined = np.zeros(n_levels, dtype=np.uint8)
    if ordered:
        # A level without weight would be no neighbour.
        heaviness += 1e-9 * (heaviness.sum() or 1.0) / n_levels
        for k, members in enumerate(merge_neighbours(heaviness, most)):
            joined[members] = k
    else:
        rank = np.empty(n_levels, dtype=np.int64)
        rank[np.argsort(-heaviness, kind="stable")] = np.arange(n_levels)
        joined = np.minimum(rank, most - 1).astype(np.uint8)
    others = joined.max() + 1 + np.arange(n_others)
    return np.concatenate([joined[level[:n_bins]], others]).astype(np.uint8)


def merge_neighbours(weight: Array, most: int) -> list[NDArray[np.intp]]:
    """Merge the neighbours with the least joint weight until at most `most` levels are left.

    Returns the members of each level.
    """
    starts = np.flatnonzero(weight)
    starts[0] = 0
    weights = np.add.reduceat(weight, starts).tolist()
    first = starts.tolist()
    while len(weights) > most:
        together = np.add(weights[:-1], weights[1:])
        k = int(together.argmin())
        weights[k : k + 2] = [float(together[k])]
        del first[k + 1]
    return np.split(np.arange(len(weight)), first[1:])


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
