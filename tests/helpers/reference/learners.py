"""Weak learners: the cost of cells, the possible cells of a feature, and the best of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from helpers.reference.bins import FeatureBins
from helpers.reference.cells import Statistics

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from helpers.reference.bins import Array
    from helpers.reference.settings import Training

Response = Literal["real", "sign", "newton", "exact", "conditional"]


def cell_cost(stats: Statistics, response: Response, l2: float) -> Array:
    """Return the cost of the cells under a response: a sum over them, in the unit of weights.

    real, exact and conditional: sum sqrt(W+ W-); sign: minus sum |W+ - W-|; newton: minus the sum
    of (W+ - W-)^2 / (curvature + l2).
    """
    slope = stats.plus - stats.minus
    if response == "newton":
        curvature = stats.curvature + l2
        gain = np.divide(slope**2, curvature, out=np.zeros_like(slope), where=curvature > 0)
        return -gain.sum(axis=-1)
    if response == "sign":
        return -np.abs(slope).sum(axis=-1)
    return (np.sqrt(stats.plus) * np.sqrt(stats.minus)).sum(axis=-1)


def cell_score(stats: Statistics, response: Response, l2: float) -> Array:
    """Return the score that the papers print; `first_best` has its direction."""
    cost = cell_cost(stats, response, l2)
    if response == "newton":
        return -cost
    share = cost / (stats.plus.sum(axis=-1) + stats.minus.sum(axis=-1))
    return -share if response == "sign" else share


def first_best(scores: Sequence[float], response: Response, tie: float) -> int:
    """Return the first score within `tie`, relative, of the best.

    The best score is the least for real, exact and conditional, and the largest for sign and
    newton.
    """
    s = np.asarray(scores)
    return first_least(-s if response in ("sign", "newton") else s, tie)


def first_least(costs: ArrayLike, tie: float) -> int:
    """Return the first cost within `tie`, relative, of the least."""
    c = np.asarray(costs)
    least = c.min()
    return int(np.flatnonzero(c <= least + tie * abs(least))[0])


@dataclass(frozen=True)
class Candidate:
    """Way to cut a feature: the cell of each bin (-1: the bin's value is 0) and its score."""

    cells: NDArray[np.int64]
    n_cells: int
    score: float
    within_chance: bool = False
    """Whether evidence for several cells is lacking, and for a constant as well."""


def table_candidates(
    stats: Statistics, bins: FeatureBins, response: Response, l2: float, _direction: int = 0
) -> list[Candidate]:
    """Return the only candidate, in which every bin is a cell."""
    return [Candidate(np.arange(bins.n_bins), bins.n_bins, cell_score(stats, response, l2))]


def stump_candidates(
    stats: Statistics, bins: FeatureBins, response: Response, l2: float, direction: int = 0
) -> list[Candidate]:
    """Return the candidates of two cells, in the order in which ties are decided.

    The first one is no cut: every row is on the left.  A constant feature has no other.

    Ordered feature of B ordered bins: the cell on the left takes bins 0 ... b, b = 0 ... B - 2.
    Bins without rows go with their position.  Missing rows, if any, are tried on the left for every
    b, then on the right for every b and for b = B - 1 (missing against the rest); a missing bin
    without rows has the value 0.

    Categorical feature: the bins with rows (missing is another category) are ordered by
    W+ / (W+ + W-), or by sum y w / sum curvature under newton, ties by bin number; the left cell
    takes the first 1, 2, ... of them, never all.  Bins without rows have the value 0.  A bin whose
    weights have all underflowed to 0 counts as 1/2, or as 0 under newton.

    With a direction the cell on the right is not less positive than that on the left (more, for
    -1).
    """
    cuts = stump_cuts(stats, bins, response, direction)
    scores = cell_score(stats.gathered(cuts, 2), response, l2)
    return [Candidate(cells, 2, score) for cells, score in zip(cuts, scores, strict=True)]


def stump_cuts(
    stats: Statistics,
    bins: FeatureBins,
    response: Response,
    direction: int = 0,
    in_cell: NDArray[np.bool_] | None = None,
) -> NDArray[np.int64]:
    """Return the cells of each cut, a row per cut; with `in_cell`, between its bins only."""
    cuts = _list_cuts(stats, bins, response, in_cell)
    share = positive_share(stats.gathered(cuts, 2), response)
    allowed = ~(direction * (share[:, 1] - share[:, 0]) < 0)
    allowed[0] = True
    return cuts[allowed]


def _list_cuts(
    stats: Statistics, bins: FeatureBins, response: Response, in_cell: NDArray[np.bool_] | None
) -> NDArray[np.int64]:
    if bins.n_ordered == 0:
        present = np.flatnonzero(stats.rows > 0)
        order = np.argsort(positive_share(stats, response)[present], kind="stable")
        return cuts_along(present[order], bins.n_bins)
    last = bins.n_ordered - 1
    places = np.arange(last + 1) if in_cell is None else np.flatnonzero(in_cell[: last + 1])
    between = [*range(places[0], places[-1])] if len(places) else []
    left = [last, *between]
    missing, side = bins.missing, [-1] * len(left)
    if missing is not None and stats.rows[missing] > 0:
        left, side = [*left, *between, last], [0] * len(left) + [1] * len(left)
    cuts = (np.arange(bins.n_bins) > np.array(left)[:, None]).astype(int)
    cuts[:, bins.n_ordered :] = -1
    if missing is not None:
        cuts[:, missing] = side
    return cuts


def cuts_along(order: NDArray[np.int64], n_bins: int) -> NDArray[np.int64]:
    """Return cuts with the first bins of an order on the left: all of them, one, two, ..."""
    n = len(order)
    cuts = np.full((max(n, 1), n_bins), -1)
    cuts[:, order] = np.arange(n) >= np.array([n, *range(1, n)])[:, None]
    return cuts


def positive_share(stats: Statistics, response: Response) -> Array:
    """Return how positive each bin or cell is: W+ / (W+ + W-), or slope over curvature (newton)."""
    if response == "newton":
        over, under, empty = stats.plus - stats.minus, stats.curvature, 0.0
    else:
        over, under, empty = stats.plus, stats.plus + stats.minus, 0.5
    return np.divide(over, under, out=np.full(over.shape, empty), where=under > 0)


def best_cells(
    stats: Statistics, bins: FeatureBins, t: Training, direction: int,
    least_saving: Callable[[Statistics], float] | None,
) -> Candidate:  # fmt: skip
    """Return the best cells, at most `t.max_cells`: of the best cut, then of cuts of one cell each.

    A cell is cut as if its bins were the whole feature; among its cuts of equal cost the first is
    the best. Among cells whose best cuts leave equal costs, the first is cut. A cut must save
    something, and as much as its cell requires.
    """

    def find_cut(in_cell: NDArray[np.bool_]) -> tuple[NDArray[np.int64], float]:
        """Return the best cut of a cell, and its saving beyond the required one."""
        seen = stats.of(in_cell)
        cuts = stump_cuts(seen, bins, t.response, direction, in_cell)
        costs = cell_cost(seen.gathered(cuts, 2), t.response, t.l2)
        best = first_least(costs, t.tie)
        must = least_saving(seen) if least_saving else 0.0
        return cuts[best], float(costs[0] - costs[best]) - must

    def score(cells: NDArray[np.int64], n: int) -> Candidate:
        return Candidate(cells, n, cell_score(stats.gathered(cells, n), t.response, t.l2))

    cells, beyond = find_cut(np.ones(bins.n_bins, bool))
    if least_saving and not beyond > 0.0:
        return score(np.zeros(bins.n_bins, int), 1)
    assert t.max_cells is not None
    n_cells = 2
    while n_cells < t.max_cells:
        cost = float(cell_cost(stats.gathered(cells, n_cells), t.response, t.l2))
        cuts_of_cells = [find_cut(cells == cell) for cell in range(n_cells)]
        best = first_least([cost, *(cost - beyond for _, beyond in cuts_of_cells)], t.tie)
        if best == 0:
            break
        cells = np.where((cells == best - 1) & (cuts_of_cells[best - 1][0] == 1), n_cells, cells)
        n_cells += 1
    return score(cells, n_cells)


Grid = tuple[int, int, int, int]
"""Numbers of rows and columns, and how many of the first of each are in order."""


def crossed_cells(
    stats: Statistics, grid: Grid, response: Response, l2: float, tie: float
) -> Candidate:
    """Return at most four cells of a grid: a cut of one feature, and of the other on either side.

    Among equal ones the rows' first one is taken, and no cut where none is better. Ordered levels
    are cut between neighbours, with the missing one on the left, then on the right, and then alone.
    Others are taken out one by one, and on either side of the other feature's cut make two sets.
    """
    n_rows, n_columns, *ordered = grid
    codes = np.arange(n_rows * n_columns).reshape(n_rows, n_columns)
    assignments = [np.where(np.arange(len(stats.rows)) < codes.size, 0, -1)]
    for of, n_ordered, other in ((codes, *ordered), (codes.T, *ordered[::-1])):
        occupied = stats.rows[of] > 0
        has_missing = len(of) > n_ordered > 0 and occupied[n_ordered].any()
        rows = np.arange(len(of))
        if n_ordered == 0:
            sides = [np.where(rows == i, 0, 1) for i in rows[occupied.any(axis=1)]]
            known = occupied.any(axis=1)
        else:
            cuts = [(i, left) for i in range(1, n_ordered) for left in (True, False)]
            sides = [
                np.where((rows < i) | (left & (rows == n_ordered)), 0, 1)
                for i, left in [*cuts, (n_ordered, False)]
                if has_missing or (not left and i < n_ordered)
            ]
            known = (rows < n_ordered) | (has_missing & (rows == n_ordered))
        inner = FeatureBins.categorical(of.shape[1])
        if other > 0:
            inner = FeatureBins.numeric(np.arange(other - 1.0))
        for side in sides:
            cells = np.full(len(stats.rows), -1)
            for k in (0, 1):
                of_side = of[known & (side == k)]

                def add_up(
                    a: Array, of_side: NDArray[np.int64] = of_side, n: int = inner.n_bins
                ) -> Array:
                    return np.pad(a[of_side].sum(axis=0), (0, 2))[:n]

                sums = Statistics(
                    *map(add_up, (stats.plus, stats.minus, stats.curvature, stats.rows))
                )
                cuts = stump_cuts(sums, inner, response)
                costs = cell_cost(sums.gathered(cuts, 2), response, l2)
                cut = cuts[first_least(costs, tie)][: of.shape[1]]
                cells[of_side] = np.where(cut < 0, -1, 2 * k + cut)
            assignments.append(cells)
    costs = cell_cost(stats.gathered(np.array(assignments), 4), response, l2)
    best = assignments[first_least(costs, tie)]
    return Candidate(best, 4, cell_score(stats.gathered(best, 4), response, l2))


CANDIDATES: dict[str, Callable[..., list[Candidate]]] = {
    "table": table_candidates,
    "stump": stump_candidates,
}
