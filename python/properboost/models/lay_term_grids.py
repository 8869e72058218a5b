"""The terms of trees, and a grid for each of them."""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.data.binning import Binning, NumericBins
from properboost.models.engine_terms import EngineTerms, JoinedTerms
from properboost.models.term_grid import GridAxis, TermGrid, coarsen, refine
from properboost.models.terms import Features

__all__ = ["WeighCells", "find_tree_terms", "lay_term_grids"]

Array = NDArray[np.float64]

WeighCells = Callable[[Sequence[TermGrid]], Sequence[Array]]
"""A function that returns the training weight of every cell of grids."""


def find_tree_terms(
    forests: Sequence[tuple[Binning, list[_core.Forest]]],
) -> EngineTerms | None:
    """Return the terms of forests by their bins, or None if a path has more than three features."""
    groups = [_core.find_terms(binning.native, of_bins) for binning, of_bins in forests]
    terms = [group for group in groups if group is not None]
    if len(terms) < len(groups):
        return None
    return terms[0] if len(terms) == 1 else JoinedTerms(terms)


def lay_term_grids(
    native: EngineTerms, binning: Binning, bin_weights: Sequence[Array], weigh: WeighCells
) -> tuple[TermGrid, ...]:
    """Return a grid for each term of several features, and for each pair within one of three."""
    levels: dict[Features, list[tuple[NDArray[np.uint8], ...]]] = {}
    for features, of_term in zip(native.features, native.find_levels(), strict=True):
        for size in (2, 3):
            for places in combinations(range(len(features)), size):
                subset = tuple(features[place] for place in places)
                levels.setdefault(subset, []).append(tuple(of_term[place] for place in places))
    axes = [
        GridAxis(bins.n_bins, isinstance(bins, NumericBins), weight)
        for bins, weight in zip(binning.features, bin_weights, strict=True)
    ]
    grids = []
    for features in sorted(levels, key=lambda features: (len(features), features)):
        refined = tuple(refine(of_axis) for of_axis in zip(*levels[features], strict=True))
        grid = TermGrid(features, refined, np.empty(0))
        grids.append(coarsen(grid, [axes[j] for j in features]))
    weights = weigh(grids)
    return tuple(
        TermGrid(grid.features, grid.levels, weight.reshape(grid.shape))
        for grid, weight in zip(grids, weights, strict=True)
    )
