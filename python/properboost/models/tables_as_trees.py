"""Look-up tables as trees, for models that are merged with models of trees."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from properboost.models.ensemble import Rounds
from properboost.models.table_ensemble import TableEnsemble
from properboost.models.table_trees import TableAxis, make_table_trees
from properboost.models.term_grid import TermGrid
from properboost.models.tree import TreeNodes
from properboost.models.tree_ensemble import TreeEnsemble

__all__ = ["convert_tables"]


def convert_tables(ensemble: TableEnsemble) -> TreeEnsemble:
    """Return the same sum as compact trees, without standard errors."""
    axes = [
        TableAxis.of(j, bins, np.arange(bins.width, dtype=np.uint8), weight)
        for j, (bins, weight) in enumerate(
            zip(ensemble.binning.features, ensemble.bin_weights, strict=True)
        )
    ]
    grids = [_lay_grid(ensemble, p) for p in range(len(ensemble.pairs))]
    models = []
    for m in range(len(ensemble.models)):
        sums, trees = ensemble.sums_of(m), []
        for axis in axes:
            table = ensemble.part(sums, axis.feature)
            trees += make_table_trees([axis], table) if table.any() else []
        for p, grid in enumerate(grids):
            cells = _fill(ensemble.cells_of(sums, p), grid.shape)
            of_pair = [
                replace(axes[j], level=level)
                for j, level in zip(grid.features, grid.levels, strict=True)
            ]
            trees += make_table_trees(of_pair, cells) if cells.any() else []
        models.append(Rounds.chain([_NO_TREE, *(Rounds.of_tree(*tree) for tree in trees)]))
    return TreeEnsemble(
        ensemble.binning,
        tuple(models),
        ensemble.bin_weights,
        joint=ensemble.joint,
        intercepts=ensemble.intercepts,
        compact_from=ensemble.n_estimators,
        grids=tuple(sorted(grids, key=lambda grid: grid.features)),
    )


def _lay_grid(ensemble: TableEnsemble, p: int) -> TermGrid:
    """Return the grid of a pair; the codes without a level share one of their own, after all."""
    pair = ensemble.pairs[p]
    weights = ensemble.cells_of(ensemble.pair_weights[p], p, 0)
    levels = []
    for level, n_levels in ((pair.first_level, pair.n_first), (pair.second_level, pair.n_second)):
        levels.append(np.where(level < 0, n_levels, level).astype(np.uint8))
    shape = (int(levels[0].max()) + 1, int(levels[1].max()) + 1)
    return TermGrid((pair.first, pair.second), (levels[0], levels[1]), _fill(weights, shape))


def _fill(cells: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return cells in a grid of a larger shape, with zeros beyond them."""
    filled = np.zeros(shape)
    filled[: cells.shape[0], : cells.shape[1]] = cells
    return filled


_NO_TREE = Rounds.of_tree(TreeNodes.without_nodes(), np.empty(0)).part(0, 0)
