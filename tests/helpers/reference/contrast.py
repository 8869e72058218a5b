"""How unlikely the cells of a feature are if it is independent of the class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from helpers.reference.order import freedom_in_order, pool_by_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helpers.reference.bins import Array
    from helpers.reference.cells import Statistics
    from helpers.reference.learners import Candidate, Response
    from helpers.reference.settings import Training


def effective_rows(t: Training, w: Array) -> Array:
    """Return (sum s b)^2 / sum s b^2 of the positive and of the negative class; w is s b."""
    counts = []
    for of_class in (t.y > 0, t.y < 0):
        squares = (w[of_class] ** 2 / t.weight[of_class]).sum()
        counts.append(w[of_class].sum() ** 2 / squares if squares > 0 else 0.0)
    return np.array(counts)


def contrast(
    candidate: Candidate, plain: Statistics, n_ordered: int, most: int | None, rows: Array,
    direction: int = 0, response: Response = "real",
) -> tuple[float, float]:  # fmt: skip
    """Return the statistic of the cells that a learner would choose, and its mean by chance.

    It is Pearson's statistic of the two classes' shares, or, if that is smaller, eight times the
    squared Hellinger distance over the same variance. A table of every bin has as many degrees of
    freedom as bins with rows, less one. The best cut of them has fewer, but more than one, and each
    further one finds the same share of the rest. Cells that must be in order are pooled first.
    """
    ordered = n_ordered > 0
    if direction:
        pools = pool_by_share(candidate.cells, plain, n_ordered, direction, response)
        candidate = replace(candidate, cells=pools)
    n = int((plain.rows > 0).sum())
    every = most is None and not direction
    cells = plain if every else plain.gathered(candidate.cells, candidate.n_cells)
    p, q = cells.plus / cells.plus.sum(), cells.minus / cells.minus.sum()
    pooled = (rows[0] * p + rows[1] * q) / rows.sum()
    occupied = pooled > 0
    pearson = ((p - q)[occupied] ** 2 / pooled[occupied]).sum()
    hellinger = 8 * (1 - np.sqrt(p * q).sum())
    chi_square = min(pearson, hellinger) / (1 / rows).sum()
    if direction:
        return chi_square, freedom_in_order(plain.rows, n_ordered, most)
    if most is None or n < 2:
        return chi_square, n - 1.0
    one = 1 + (np.log(n - 1) * (0.9 - 0.027 * np.log(n - 1)) if ordered else 0.6366 * (n - 2))
    if most == 2 or n < 3:
        return chi_square, one
    cuts = most - 1 if ordered else (most - 1) ** 0.6
    return chi_square, (n - 1) * (1 - (1 - one / (n - 1)) ** cuts)


def sum_of_squares(t: Training, w: Array, rows: Array) -> float:
    """Return the sum of s b^2, where w is s b."""
    return float((w[rows] ** 2 / t.weight[rows]).sum())


def saving_by_chance(
    whole: Statistics, squares: Sequence[float], t: Training, categories: float = 0.0
) -> float:
    """Return the mean saving of a cut of a cell by chance, from the bend of its cost.

    For categories, the bend is that of steps as large as one category's scatter.
    """
    p, q = float(whole.plus[0]), float(whole.minus[0])
    if t.response == "sign":
        return 0.0
    if t.response == "newton":
        curvature = float(whole.curvature[0]) + t.l2
        return sum(squares) / curvature if whole.curvature[0] > 0 else 0.0
    if not (p > 0 and q > 0):
        return 0.0
    scatters = squares[0] / p**2, squares[1] / q**2  # variances of the relative sums
    return float(np.sqrt(p * q) / 8 * sum(v * _bend_of_root(categories * v) for v in scatters))


def _bend_of_root(square: float) -> float:
    """Return the bend of a root at 1 for steps of this square, over that of small ones.

    No step goes below 0.
    """
    if square < 1e-6:
        return 1.0
    step = min(1.0, np.sqrt(square))
    return float(4 * (2 - np.sqrt(1 - step) - np.sqrt(1 + step)) / step**2)


def charge_for_chance(
    plain: Statistics, ordered: bool, freedom: float = 1.0, nodes: float = 1.0
) -> float:
    """Return twice the mean, by chance, of the best cut's statistic, in units of one cut's.

    Where several nodes are cut alike, it is the statistic of their sum.
    """
    n = int((plain.plus + plain.minus > 0).sum())
    return 2 * mean_of_best_cut(n, ordered, freedom, nodes)


def mean_of_best_cut(n: int, ordered: bool, freedom: float = 1.0, nodes: float = 1.0) -> float:
    """Return the mean, by chance, of the best cut's statistic of n codes, in units of one cut's."""
    if n < 2:
        return 0.0
    cuts = n - 1
    beyond_one = np.log(cuts) * (0.9 - 0.027 * np.log(cuts)) if ordered else 0.6366 * (cuts - 1)
    beyond_one *= freedom ** (-2 / 3) * nodes ** (-0.55 if ordered else -0.9)
    return float(1 + beyond_one)


def least_saving(
    stats: Statistics, whole: Statistics, ordered: bool, rows: Array, t: Training
) -> float:
    """Return the least saving of a cell's best cut; squares are in proportion to sums."""
    if t.min_saving == 0 or not np.all(rows > 0):
        return 0.0
    sums = stats.gathered(np.zeros(len(stats.plus), int), 1)
    squares = [
        float(sums.plus[0] * whole.plus.sum() / rows[0]),
        float(sums.minus[0] * whole.minus.sum() / rows[1]),
    ]
    n = int((stats.rows > 0).sum())
    return (
        t.min_saving * max(0.0, saving_by_chance(sums, squares, t)) * mean_of_best_cut(n, ordered)
    )


def constant_is_within_chance(whole: Statistics, rows: Array) -> bool:
    """Return whether the classes' sums differ little, in relation to them and to chance."""
    p, q = whole.plus.sum(), whole.minus.sum()
    of_chance = (p - q) ** 2 < 0.1 * (p**2 / rows[0] + q**2 / rows[1])
    return bool(of_chance and abs(p - q) < 0.01 * (p + q))


def normal_deviate(chi_square: float, freedom: float) -> float:
    """Return the normal deviate of nearly this chi-square's tail probability (r* formula)."""
    if freedom <= 0:
        return -1e300
    mean = freedom / 2
    ratio = max(chi_square / freedom, 1e-12)
    r = np.copysign(np.sqrt(max(0.0, 2 * mean * (ratio - 1 - np.log(ratio)))), ratio - 1)
    if abs(ratio - 1) < 1e-3:
        return float(r + 1 / (3 * np.sqrt(mean)))
    return float(r + np.log((ratio - 1) * np.sqrt(mean) / r) / r)
