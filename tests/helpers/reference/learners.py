"""Weak learners: what cells cost, which cells a feature may have, and the best of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from helpers.reference.bins import Array, FeatureBins
    from helpers.reference.cells import Statistics
    from helpers.reference.settings import Training

Response = Literal["real", "sign", "newton", "exact"]


def cell_cost(stats: Statistics, response: Response, l2: float) -> float:
    """How bad the cells are under a response: a sum over them, in the weights' own unit.

    real and exact: sum sqrt(W+ W-); sign: minus sum |W+ - W-|; newton: minus the sum of
    (W+ - W-)^2 / (curvature + l2).
    """
    slope = stats.plus - stats.minus
    if response == "newton":
        curvature = stats.curvature + l2
        gain = np.divide(slope**2, curvature, out=np.zeros_like(slope), where=curvature > 0)
        return -float(gain.sum())
    if response == "sign":
        return -float(np.abs(slope).sum())
    return float((np.sqrt(stats.plus) * np.sqrt(stats.minus)).sum())


def cell_score(stats: Statistics, response: Response, l2: float) -> float:
    """The same as the papers print it; `first_best` knows which direction is good."""
    cost = cell_cost(stats, response, l2)
    if response == "newton":
        return -cost
    share = cost / float(stats.plus.sum() + stats.minus.sum())
    return -share if response == "sign" else share


def first_best(scores: Sequence[float], response: Response, tie: float) -> int:
    """The first score within `tie`, relative, of the best.

    real and exact want the least sum_b sqrt(W+ W-), sign and newton the largest.
    """
    s = np.asarray(scores)
    return first_least(s if response in ("real", "exact") else -s, tie)


def first_least(costs: ArrayLike, tie: float) -> int:
    """The first cost within `tie`, relative, of the least."""
    c = np.asarray(costs)
    least = c.min()
    return int(np.flatnonzero(c <= least + tie * abs(least))[0])


@dataclass(frozen=True)
class Candidate:
    """One way to cut a feature: the cell of each bin (-1: the bin's value is 0) and its score."""

    cells: NDArray[np.int64]
    n_cells: int
    score: float


def histogram_candidates(
    stats: Statistics, bins: FeatureBins, response: Response, l2: float, _direction: int = 0
) -> Iterator[Candidate]:
    """Every bin is a cell."""
    yield Candidate(np.arange(bins.n_bins), bins.n_bins, cell_score(stats, response, l2))


def stump_candidates(
    stats: Statistics, bins: FeatureBins, response: Response, l2: float, direction: int = 0
) -> Iterator[Candidate]:
    """Two cells; candidates in the order in which ties are decided.

    First of all no cut: every row on the left, which is all that a constant feature has.

    Ordered feature of B ordered bins: the cell on the left takes bins 0 ... b, b = 0 ... B - 2.
    Bins without rows go with their position.  Missing rows, if any, are tried on the left for every
    b, then on the right for every b and for b = B - 1 (missing against the rest); a missing bin
    without rows has the value 0.

    Categorical feature: the bins with rows (missing is one more category) are ordered by
    W+ / (W+ + W-), or by sum y w / sum curvature under newton, ties by bin number; the left cell
    takes the first 1, 2, ... of them, never all.  Bins without rows have the value 0.  A bin whose
    weights have all underflowed to 0 counts as 1/2, or as 0 under newton.

    With a direction the cell on the right is not less positive than that on the left (more, for
    -1).
    """
    for cells in stump_cuts(stats, bins, response, direction):
        yield Candidate(cells, 2, cell_score(stats.gathered(cells, 2), response, l2))


def stump_cuts(
    stats: Statistics, bins: FeatureBins, response: Response, direction: int = 0
) -> Iterator[NDArray[np.int64]]:
    for i, cells in enumerate(_list_cuts(stats, bins, response)):
        share = positive_share(stats.gathered(cells, 2), response)
        if i == 0 or not direction * (share[1] - share[0]) < 0:
            yield cells


def _list_cuts(
    stats: Statistics, bins: FeatureBins, response: Response
) -> Iterator[NDArray[np.int64]]:
    if bins.n_ordered:
        missing = bins.missing
        has_missing = missing is not None and stats.rows[missing] > 0
        last = bins.n_ordered - 1
        sides = [(0, [last, *range(last)]), (1, range(last + 1))]
        for side, cuts in sides if has_missing else [(-1, sides[0][1])]:
            for b in cuts:
                cells = np.full(bins.n_bins, -1)
                cells[: bins.n_ordered] = np.arange(bins.n_ordered) > b
                if missing is not None:
                    cells[missing] = side
                yield cells
        return
    present = np.flatnonzero(stats.rows > 0)
    order = present[np.argsort(positive_share(stats, response)[present], kind="stable")]
    for size in [len(order), *range(1, len(order))]:
        cells = np.full(bins.n_bins, -1)
        cells[order[:size]] = 0
        cells[order[size:]] = 1
        yield cells


def positive_share(stats: Statistics, response: Response) -> Array:
    """How positive each bin or cell is: W+ / (W+ + W-), or under newton slope over curvature."""
    if response == "newton":
        over, under, empty = stats.plus - stats.minus, stats.curvature, 0.0
    else:
        over, under, empty = stats.plus, stats.plus + stats.minus, 0.5
    return np.divide(over, under, out=np.full(len(over), empty), where=under > 0)


def best_cells(
    stats: Statistics, bins: FeatureBins, t: Training, direction: int,
    least_saving: Callable[[Statistics], float] | None,
) -> Candidate:  # fmt: skip
    """At most so many cells: the best cut in two, then the best of all cuts of one cell, ...

    A cell is cut as if it were the whole feature.  Among equal cuts the first cell's is taken; a
    cut that saves nothing is not made, nor one that does not save what its cell's must.
    """

    def score(cells: NDArray[np.int64], n: int) -> Candidate:
        return Candidate(cells, n, cell_score(stats.gathered(cells, n), t.response, t.l2))

    cells, n_cells = None, 1
    assert t.max_cells is not None
    for _ in range(t.max_cells - 1):
        found: list[NDArray[np.int64]] = []
        costs: list[float] = []
        for cell in range(n_cells):
            own = np.ones(bins.n_bins, bool) if cells is None else cells == cell
            charge = least_saving(stats.of(own)) if least_saving else 0.0
            for cut in stump_cuts(stats.of(own), bins, t.response, direction):
                after = np.where(own & (cut == 1), n_cells, cut if cells is None else cells)
                cost = cell_cost(stats.gathered(after, n_cells + 1), t.response, t.l2)
                found.append(after)
                costs.append(cost + (charge if (after == n_cells).any() else 0.0))
        if cells is None and least_saving:
            whole = np.zeros(bins.n_bins, int)
            found.insert(0, whole)
            costs.insert(0, cell_cost(stats.gathered(whole, 1), t.response, t.l2))
        best = found[first_least(costs, t.tie)]
        if not (best == n_cells).any() and (cells is not None or not best.any()):
            return score(best, n_cells)
        cells, n_cells = best, n_cells + 1
    assert cells is not None
    return score(cells, n_cells)


CANDIDATES: dict[str, Callable[..., Iterator[Candidate]]] = {
    "histogram": histogram_candidates,
    "stump": stump_candidates,
}
