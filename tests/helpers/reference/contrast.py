"""How unlikely the cells of a feature are if it says nothing about the class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from helpers.reference.bins import Array
    from helpers.reference.cells import Statistics
    from helpers.reference.learners import Candidate
    from helpers.reference.settings import Training


def effective_rows(t: Training, w: Array) -> Array:
    """(sum s b)^2 / sum s b^2 of the positive and of the negative class; w is s b."""
    found = []
    for own in (t.y > 0, t.y < 0):
        squares = (w[own] ** 2 / t.weight[own]).sum()
        found.append(w[own].sum() ** 2 / squares if squares > 0 else 0.0)
    return np.array(found)


def contrast(
    candidate: Candidate, plain: Statistics, ordered: bool, every_bin: bool, rows: Array
) -> tuple[float, float]:
    """The statistic of the cells that a learner would choose, and its mean by chance.

    Pearson's statistic of the two classes' shares; where it is larger, eight times the squared
    Hellinger distance over the same variance.  A table has as many degrees of freedom as bins with
    rows, less one; the best cut of them has fewer, but more than one.
    """
    n = int((plain.rows > 0).sum())
    cells = plain if every_bin else plain.gathered(candidate.cells, candidate.n_cells)
    p, q = cells.plus / cells.plus.sum(), cells.minus / cells.minus.sum()
    pooled = (rows[0] * p + rows[1] * q) / rows.sum()
    some = pooled > 0
    pearson = ((p - q)[some] ** 2 / pooled[some]).sum()
    hellinger = 8 * (1 - np.sqrt(p * q).sum())
    chi_square = min(pearson, hellinger) / (1 / rows).sum()
    if every_bin or n < 2:
        return chi_square, n - 1.0
    if not ordered:
        return chi_square, 1 + 0.6366 * (n - 2)
    return chi_square, 1 + np.log(n - 1) * (0.9 - 0.027 * np.log(n - 1))


def normal_deviate(chi_square: float, freedom: float) -> float:
    """The normal deviate with the tail probability of this chi-square, nearly (the r* formula)."""
    if freedom <= 0:
        return -1e300
    mean = freedom / 2
    ratio = max(chi_square / freedom, 1e-12)
    r = np.copysign(np.sqrt(max(0.0, 2 * mean * (ratio - 1 - np.log(ratio)))), ratio - 1)
    if abs(ratio - 1) < 1e-3:
        return float(r + 1 / (3 * np.sqrt(mean)))
    return float(r + np.log((ratio - 1) * np.sqrt(mean) / r) / r)
