"""The search for the feature and the cells of a round, or for its tree, given rows' weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from helpers.reference.cells import Statistics, bin_statistics, smooth_ordered
from helpers.reference.contrast import (
    constant_is_within_chance,
    contrast,
    effective_rows,
    least_saving,
    normal_deviate,
)
from helpers.reference.learners import CANDIDATES, Candidate, best_cells, cell_score, first_best
from helpers.reference.order import pool_by_share
from helpers.reference.trees import Tree, grow_tree

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from helpers.reference.bins import Array, Codes
    from helpers.reference.settings import Training


@dataclass(frozen=True)
class Cut:
    """Chosen candidate, and the sums that its response uses.

    `codes` are the rows' of its feature; a tree counts as another feature, whose codes are its
    nodes.
    """

    feature: int
    codes: Codes
    candidate: Candidate
    stats: Statistics  # plain sums of the cells
    # Sums of the cells, shrunk and smoothed where the settings require it.
    response_stats: Statistics
    h: float
    n_ordered: int
    tree: Tree | None = None
    contrast: float = 0.0  # how the classes differ in the cells, if computed

    def row_share(self, cell: int) -> Array:
        """Return the share of each bin's rows that smoothing lends to a cell (of tables only)."""
        unit = (self.candidate.cells == cell).astype(float)
        return smooth_ordered(unit, self.h, self.n_ordered)  # the smoothing matrix is symmetric

    def with_cells(self, t: Training, w: Array, curvature: Array, cells: NDArray[np.int64]) -> Cut:
        """Return the same cut with other cells, some of them merged."""
        n = self.candidate.n_cells
        plain = bin_statistics(self.codes, len(cells), t.y, w, curvature)
        return replace(
            self,
            candidate=replace(self.candidate, cells=cells),
            stats=plain.gathered(cells, n),
            response_stats=plain.smoothed(self.h, self.n_ordered).gathered(cells, n),
        )


def choose(
    t: Training, w: Array, curvature: Array, features: Sequence[int],
    without: Collection[int] = (),
) -> Cut:  # fmt: skip
    """Return the best candidate of some features; ties go to the first of them.

    Features in `without` are never the least likely by chance.
    """
    chosen: list[tuple[int, Candidate, Statistics, Statistics]] = []
    free: list[Free] = []
    rows = effective_rows(t, w)
    allows_for_chance = t.selection == "unbiased" and t.response != "sign" and np.all(rows > 0)
    for j in features:
        b = t.bins[j]
        plain = bin_statistics(t.codes[j], b.n_bins, t.y, w, curvature)
        shrunk = plain.shrunk(rows) if allows_for_chance and b.n_ordered == 0 else plain
        if allows_for_chance:
            free.append(free_candidate(t, j, plain, rows))
        seen = _seen(t, j, shrunk)
        best = _best_of(t, j, seen, rows)
        if t.direction(j):
            cells = pool_by_share(best.cells, seen, b.n_ordered, t.direction(j), t.response)
            score = cell_score(seen.gathered(cells, best.n_cells), t.response, t.l2)
            best = replace(best, cells=cells, score=score)
        chosen.append((j, best, plain, shrunk))
    winner, differs = first_best([c.score for _, c, *_ in chosen], t.response, t.tie), 0.0
    if allows_for_chance:
        winner, differs = least_likely(t, free, rows, without)
    feature, candidate, plain, shrunk = chosen[winner]
    n_ordered = t.bins[feature].n_ordered
    return Cut(
        feature,
        t.codes[feature],
        candidate,
        plain.gathered(candidate.cells, candidate.n_cells),
        shrunk.smoothed(t.smoothing, n_ordered).gathered(candidate.cells, candidate.n_cells),
        t.smoothing,
        n_ordered,
        contrast=differs,
    )


Free = tuple[int, Candidate, Statistics, bool]
"""Feature, its best candidate with every cut that saves, its sums, and whether none saves."""


def free_candidate(t: Training, j: int, sums: Statistics, rows: Array) -> Free:
    """Return what a feature is compared by, if chance is allowed for."""
    uncut = t.min_saving > 0 and _best_of(t, j, _seen(t, j, sums), rows).n_cells == 1
    return j, _best_of(t, j, _seen(t, j, sums), None), sums, uncut


def _seen(t: Training, j: int, sums: Statistics) -> Statistics:
    return sums.smoothed(t.smoothing, t.bins[j].n_ordered) if t.smoothing_in_score else sums


def _best_of(t: Training, j: int, seen: Statistics, rows: Array | None) -> Candidate:
    """Return the best candidate of one feature; without `rows`, with every cut that saves."""
    b = t.bins[j]
    if t.max_cells is not None:
        least = None
        if t.min_saving > 0 and rows is not None and t.response != "sign":
            least = partial(least_saving, whole=seen, ordered=b.n_ordered > 0, rows=rows, t=t)
        best = best_cells(seen, b, t, t.direction(j), least)
        if least is None or best.n_cells > 1 or not np.all(rows > 0):
            return best
        return replace(best, within_chance=constant_is_within_chance(seen, rows))
    cuts = CANDIDATES[t.learner](seen, b, t.response, t.l2, t.direction(j))
    return cuts[first_best([c.score for c in cuts], t.response, t.tie)]


def _most(t: Training) -> int | None:
    return 2 if t.learner == "stump" else t.max_cells


def contrasts(t: Training, free: Sequence[Free], rows: Array) -> list[tuple[float, float]]:
    """Return how the classes differ in the cells of each feature, and the mean by chance."""
    pairs = []
    for j, c, plain, uncut in free:
        chi_square, freedom = contrast(
            c, plain, t.bins[j].n_ordered, _most(t), rows, t.direction(j), t.response
        )
        pairs.append((0.0 if uncut else chi_square, freedom))
    return pairs


def least_likely(
    t: Training, free: Sequence[Free], rows: Array, without: Collection[int] = ()
) -> tuple[int, float]:
    """Return the first feature whose cells are least likely by chance, and how classes differ.

    Affinities that differ by less than tied costs are ties.
    """
    pairs = [
        (0.0, 0.0) if j in without else pair
        for (j, *_), pair in zip(free, contrasts(t, free, rows), strict=True)
    ]
    best = max(normal_deviate(*pair) for pair in pairs)
    tie = 8 * t.tie / (1 / rows).sum()
    first = next(i for i, (chi, df) in enumerate(pairs) if normal_deviate(chi + tie, df) >= best)
    return first, pairs[first][0]


def plant(t: Training, w: Array, curvature: Array, round_: int, grown: Tree | None = None) -> Cut:
    """Return the cut of a tree, grown here or before; nodes are its bins, and leaves its cells."""
    tree = grow_tree(t, w, curvature, round_) if grown is None else grown
    leaves, nodes = tree.leaves, tree.find_nodes(t.codes)
    cells = np.full(len(tree.feature), -1)
    cells[leaves] = np.arange(len(leaves))
    drawn = tree.rows[0] & (cells[nodes] >= 0)
    of_nodes = bin_statistics(nodes[drawn], len(cells), t.y[drawn], w[drawn], curvature[drawn])
    stats = of_nodes.gathered(cells, len(leaves))
    candidate = Candidate(cells, len(leaves), cell_score(stats, t.response, t.l2))
    return Cut(-1, nodes, candidate, stats, stats, 0.0, 0, tree)
