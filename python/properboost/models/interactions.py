"""Pairs of features that interact: the coarse grid that makes a pair one feature.

The look-up tables of pairs are fitted after those of single features, to what these leave
unexplained.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.cached import cached_property
from properboost.data.binning import Binning, FeatureBins, NumericBins
from properboost.data.entries import find_entries

__all__ = [
    "MOST_CELLS",
    "RANKING_LEVELS",
    "PairBins",
    "find_levels",
    "look_up",
    "make_pair",
    "purify",
]

MOST_CELLS = 254
"""The most cells of a pair: two of the 256 codes are for rows without a cell."""

RANKING_LEVELS = 16
"""Levels per feature when pairs are compared: as many as the engine takes."""

_UNSEEN = 256


@dataclass(frozen=True, eq=False)
class PairBins:
    """Two features taken as one: a grid of ``n_first x n_second`` cells.

    ``first_level[c]`` is the level of the first feature's code `c`, or -1 if training had no row
    of that kind; the cell of two levels is ``level_1 * n_second + level_2``.
    """

    first: int
    second: int
    first_level: NDArray[np.int16]
    second_level: NDArray[np.int16]
    ordered: tuple[int, int]
    """The number of each feature's first levels that are in order."""

    @property
    def n_first(self) -> int:
        """Levels of the first feature."""
        return int(self.first_level.max()) + 1

    @property
    def n_second(self) -> int:
        """Levels of the second feature."""
        return int(self.second_level.max()) + 1

    @property
    def n_cells(self) -> int:
        """Cells of the grid."""
        return self.n_first * self.n_second

    @property
    def width(self) -> int:
        """The number of codes: the cells', then missing (which no row has), then unseen."""
        return self.n_cells + 2

    @property
    def grid(self) -> tuple[int, int, int, int]:
        """The shape of the grid, as the engine takes it."""
        return self.n_first, self.n_second, *self.ordered

    @cached_property
    def native(self) -> _core.Pair:
        """The engine's pair."""
        levels = []
        for level, factor in ((self.first_level, self.n_second), (self.second_level, 1)):
            cells = np.full(256, _UNSEEN, dtype=np.uint16)
            cells[: len(level)] = np.where(level < 0, _UNSEEN, level.astype(np.int64) * factor)
            levels.append(cells)
        return _core.Pair(self.first, self.second, self.n_cells, *levels)

    def __getstate__(self) -> dict[str, object]:
        state = self.__dict__.copy()
        state.pop("native", None)
        return state


def make_pair(
    binning: Binning, weights: Sequence[NDArray[np.float64]], first: int, second: int, most: int
) -> PairBins:
    """Lay a grid of at most `most` cells over two features, finer where there is more weight.

    `weights` holds the training weight of each code of each feature.
    """
    sizes = [int(np.count_nonzero(weights[j])) for j in (first, second)]
    if sizes[0] * sizes[1] > most:
        # As many levels for either, unless one of them needs fewer.
        side = int((most + 2) ** 0.5)
        smaller = 0 if sizes[0] <= sizes[1] else 1
        sizes[smaller] = min(sizes[smaller], side)
        sizes[1 - smaller] = min(sizes[1 - smaller], most // sizes[smaller])
    (a, ordered_a), (b, ordered_b) = (
        find_levels(binning.features[j], weights[j], size)
        for j, size in zip((first, second), sizes, strict=True)
    )
    return PairBins(first, second, a, b, (ordered_a, ordered_b))


def find_levels(
    bins: FeatureBins, weight: NDArray[np.float64], most: int
) -> tuple[NDArray[np.int16], int]:
    """Return the level of each code, at most `most`, and the number of levels in order, if any.

    Levels have about the same weight.  Neighbouring bins of a numeric feature share a level, and so
    do rare categories.  Missing values that training had are a level of their own.  Codes without
    weight have no level (-1), except numeric bins, which join a neighbour.
    """
    level = np.full(len(weight), -1, dtype=np.int16)
    n_bins = bins.n_bins
    missing = weight[n_bins] > 0.0
    most = max(1, most - missing)
    if isinstance(bins, NumericBins):
        starts = _merge_neighbours(weight[:n_bins], most) if weight[:n_bins].any() else []
        n = ordered = len(starts)
        if n > 0:
            level[:n_bins] = np.repeat(np.arange(n), np.diff([*starts, n_bins]))
    else:
        seen = np.flatnonzero(weight[:n_bins])
        heaviest = seen[np.argsort(-weight[seen], kind="stable")]
        level[heaviest] = np.minimum(np.arange(len(seen)), most - 1)
        n, ordered = min(len(seen), most), 0
    if missing:
        level[n_bins] = n
    return level, ordered


def _merge_neighbours(weight: NDArray[np.float64], most: int) -> list[int]:
    """Merge the neighbours with the least joint weight until at most `most` levels are left.

    Returns the first bin of each level.
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
    return first


def purify(
    grid: NDArray[np.float64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the part of a pair's table that each feature has alone, by level.

    Without it every row and every column of the grid has the mean 0, by `weight`: the rest is an
    interaction and nothing else (Lengerich et al. 2020).
    """
    if len(grid) < len(grid.T):
        second, first = purify(grid.T, weight.T)
        return first, second
    weight = weight / weight.max(initial=np.finfo(np.float64).tiny)
    total = weight.sum(axis=1)
    # The levels of the first feature are eliminated, and those of the second linked instead: two
    # that share a level are linked by the difference of its entries.
    roots = weight / np.sqrt(np.where(total > 0.0, total, 1.0))[:, None]
    by_level = roots[:, :, None] * roots[:, None, :]
    links = by_level.sum(axis=0)
    steps = _divide((by_level * (grid[:, :, None] - grid[:, None, :])).sum(axis=0), links)
    # On use, because their import takes long.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n_parts, parts = connected_components(csr_array(links), directed=False)
    second = _find_potentials(links, steps)
    first = _divide((weight * (grid - second)).sum(axis=1), total)
    # In connected levels a constant may be in either part; the smallest solution is taken.
    of_first = np.where(total > 0.0, parts[weight.argmax(axis=1)], n_parts)
    of_all = np.concatenate([of_first, parts])
    sums = np.bincount(of_all, np.concatenate([first, -second]), n_parts + 1)
    middle = sums / np.maximum(np.bincount(of_all, minlength=n_parts + 1), 1)
    return first - middle[of_first], second + middle[parts]


def _find_potentials(links: NDArray[np.float64], steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return x of least squares, with steps[i, j] for x[i] - x[j] at the weight links[i, j].

    Points are eliminated one by one, and their neighbours linked instead.  That only adds weights
    and takes means, so that the lightest level is as exact as the heaviest.  The normal equations,
    which subtract, lose it.  The bits are the same on any processor, unlike LAPACK's.
    """
    n = len(links)
    for k in range(n - 1):
        rest = slice(k + 1, n)
        there, total = steps[rest, k], links[rest, k].sum()
        roots = links[rest, k] / np.sqrt(total if total > 0.0 else 1.0)
        by_way = roots[:, None] * roots
        links[rest, rest] += by_way
        share = _divide(by_way, links[rest, rest])
        steps[rest, rest] += share * (there[:, None] - there - steps[rest, rest])
    x = np.zeros(n)
    for k in reversed(range(n - 1)):
        to = links[k + 1 :, k]
        x[k] = _divide((to * (x[k + 1 :] - steps[k + 1 :, k])).sum(), to.sum())
    return x


def _divide(values: NDArray[np.float64], by: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide elementwise; a divisor of 0 gives 0."""
    return np.divide(values, by, out=np.zeros_like(values), where=by > 0.0)


def look_up(
    grid: NDArray[np.float64],
    effects: tuple[NDArray[np.float64], NDArray[np.float64]],
    first: NDArray[np.int16],
    second: NDArray[np.int16],
) -> NDArray[np.float64]:
    """Return a purified table's entries at levels; a level below 0 is in no cell.

    For a row without a cell the pair adds 0 in all, so the parts that were moved into its features'
    shape functions are subtracted again.
    """
    parts = [
        np.where(level < 0, 0.0, find_entries(effect, level))
        for level, effect in zip((first, second), effects, strict=True)
    ]
    return np.where(
        (first < 0) | (second < 0), -parts[0] - parts[1], find_entries(grid, first, second)
    )
