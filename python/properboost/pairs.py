"""Pairs of features that interact: finding them, and the coarse grid that makes them one feature.

The tables of pairs are fitted after those of single features, to what these leave unexplained.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.binning import Binning, FeatureBins, NumericBins

__all__ = ["MOST_CELLS", "PairBins", "look_up", "make_pair", "purify", "rank_pairs"]

MOST_CELLS = 254
"""Cells of a pair: of 256 codes two are for rows of no cell."""

RANKING_LEVELS = 16
"""Levels of a feature where pairs are compared: as many as the engine takes."""

MOST_SWEEPS = 1000
"""Sweeps over rows and columns until a pair's table has no mean left along either."""

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
    """Of each feature: how many of its levels, the first ones, follow each other."""

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
        """Codes: the cells', then missing (which none is), then unseen."""
        return self.n_cells + 2

    @property
    def grid(self) -> tuple[int, int, int, int]:
        """What the engine is told of the cells."""
        return self.n_first, self.n_second, *self.ordered

    @cached_property
    def native(self) -> _core.Pair:
        """The engine's pair."""
        levels = []
        for own, factor in ((self.first_level, self.n_second), (self.second_level, 1)):
            level = np.full(256, _UNSEEN, dtype=np.uint16)
            level[: len(own)] = np.where(own < 0, _UNSEEN, own.astype(np.int64) * factor)
            levels.append(level)
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
    """Return the level of each code, at most `most`, and how many follow each other, if any do.

    Levels hold about the same weight.  Neighbouring bins of a numeric feature share a level, and so
    do rare categories.  Missing values that training had are a level of their own.  Codes without
    weight have none (-1), but for numeric bins, which join a neighbour.
    """
    level = np.full(len(weight), -1, dtype=np.int16)
    n_bins = bins.n_bins
    missing = weight[n_bins] > 0.0
    most = max(1, most - missing)
    if isinstance(bins, NumericBins):
        groups = _merge_neighbours(weight[:n_bins], most) if weight[:n_bins].any() else []
        for k, members in enumerate(groups):
            level[members] = k
        n = ordered = len(groups)
    else:
        seen = np.flatnonzero(weight[:n_bins])
        heaviest = seen[np.argsort(-weight[seen], kind="stable")]
        level[heaviest] = np.minimum(np.arange(len(seen)), most - 1)
        n, ordered = min(len(seen), most), 0
    if missing:
        level[n_bins] = n
    return level, ordered


def _merge_neighbours(weight: NDArray[np.float64], most: int) -> list[NDArray[np.intp]]:
    """Merge the neighbours that hold least together until there are at most `most` groups."""
    starts = np.flatnonzero(weight)
    starts[0] = 0
    held = np.add.reduceat(weight, starts).tolist()
    first = starts.tolist()
    while len(held) > most:
        together = np.add(held[:-1], held[1:])
        k = int(together.argmin())
        held[k : k + 2] = [float(together[k])]
        del first[k + 1]
    return np.split(np.arange(len(weight)), first[1:])


def rank_pairs(
    binning: Binning,
    codes: NDArray[np.uint8],
    weights: Sequence[NDArray[np.float64]],
    gradients: Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]],
    n_threads: int,
) -> list[tuple[int, int]]:
    """Return all pairs of features, those first that tell most of what the model so far does not.

    `gradients` holds, for each model, what each row adds to a cell's gradient and to its variance.
    A pair's score is the sum over the cells of a grid over both of gradient^2 / variance - 1: where
    the model is right, 0 on average, however many cells there are.
    """
    n_features = len(binning.features)
    if n_features < 2:
        return []
    levels = np.empty_like(codes)
    for j, (bins, weight) in enumerate(zip(binning.features, weights, strict=True)):
        level = np.zeros(256, dtype=np.uint8)
        level[: len(weight)] = np.maximum(find_levels(bins, weight, RANKING_LEVELS)[0], 0)
        np.take(level, codes[j], out=levels[j])
    score = sum(_core.score_pairs(levels, g, v, n_threads) for g, v in gradients)
    pairs = list(combinations(range(n_features), 2))
    return [pairs[k] for k in np.argsort(-np.asarray(score), kind="stable")]


def purify(
    grid: NDArray[np.float64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what a pair's table says of either feature alone, by level.

    Taken out of every row and every column of the grid, it leaves them the mean 0, by `weight`:
    what is left is an interaction and nothing else (Lengerich et al. 2020).
    """
    left = grid.copy()
    effects = np.zeros(grid.shape[0]), np.zeros(grid.shape[1])
    totals = weight.sum(axis=1), weight.sum(axis=0)
    scale = np.abs(grid).max(initial=0.0)
    for _ in range(MOST_SWEEPS):
        largest = 0.0
        for axis, (effect, total) in enumerate(zip(effects, totals, strict=True)):
            sums = (weight * left).sum(axis=1 - axis)
            mean = np.divide(sums, total, out=np.zeros_like(sums), where=total > 0.0)
            effect += mean
            left -= mean[:, None] if axis == 0 else mean[None, :]
            largest = max(largest, float(np.abs(mean).max(initial=0.0)))
        if largest <= 1e-12 * scale:
            break
    return effects


def look_up(
    grid: NDArray[np.float64],
    effects: tuple[NDArray[np.float64], NDArray[np.float64]],
    first: NDArray[np.int16],
    second: NDArray[np.int16],
) -> NDArray[np.float64]:
    """Return a purified table's entries at levels, of which those below 0 are of no cell.

    A pair says nothing of a row without a cell: its features' parts that have become theirs alone
    are taken back.
    """
    parts = [
        np.where(level < 0, 0.0, effect[level])
        for level, effect in zip((first, second), effects, strict=True)
    ]
    return np.where((first < 0) | (second < 0), -parts[0] - parts[1], grid[first, second])
