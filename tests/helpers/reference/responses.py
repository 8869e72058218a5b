"""Responses: the values of a round's cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from helpers.reference.steps import doubling_grid, first_stationary

if TYPE_CHECKING:
    from helpers.reference.bins import Array
    from helpers.reference.search import Cut
    from helpers.reference.settings import Training


Weigh = Callable[["Array", float], "Array"]
"""Function that returns the weights of some rows after a move of their raw prediction."""


def cell_values(t: Training, weigh: Weigh, cut: Cut) -> Array:
    """Return the value of each cell of the chosen feature, before the step."""
    stats = cut.response_stats
    plus, minus = stats.plus, stats.minus
    if t.response == "sign":
        tied = np.abs(plus - minus) <= t.tie * (plus + minus)
        return np.where(tied, 0.0, np.sign(plus - minus))
    if t.response == "newton":
        slope, curvature = plus - minus, stats.curvature + t.l2
        # A slope whose curvature underflowed would make an infinite value: it gets the cap.
        value = np.divide(slope, curvature, out=np.sign(slope) * t.cap, where=curvature > 0)
        return np.clip(value, -t.cap, t.cap)
    e = t.prior_share(int(np.count_nonzero(cut.stats.rows)))
    if t.response == "real":
        total = plus.sum() + minus.sum()
        return (np.log(plus / total + e) - np.log(minus / total + e)) / 2
    if t.response == "conditional":
        share_plus, share_minus = (
            w / (2 * w.sum()) if w.sum() > 0 else 0.0 * w for w in (plus, minus)
        )
        return (np.log(share_plus + e) - np.log(share_minus + e)) / 2
    return _exact_values(t, weigh, cut, e * t.total)


def _exact_values(t: Training, weigh: Weigh, cut: Cut, pseudo: float) -> Array:
    """Return each cell's minimiser of its risk, with two pseudo-rows of this weight at margin 0.

    For a loss that is not convex it is the first stationary point on the way down from 0. Smoothing
    acts as it does on class weights: a row counts (1 - 2h) in its own bin and h in each neighbour.
    A cell without any weight has the value 0.
    """
    cell_of_row = cut.candidate.cells[cut.codes]
    values = np.zeros(cut.candidate.n_cells)
    for b in range(cut.candidate.n_cells):
        share = cut.row_share(b)[cut.codes] if cut.h else (cell_of_row == b).astype(float)
        rows = share > 0
        if not rows.any():
            continue
        y, s = t.y[rows], t.weight[rows] * share[rows]

        def downhill(z: float, y: Array = y, rows: Array = rows, s: Array = s) -> float:
            """Return minus the derivative of the cell's risk at z."""
            real_rows = (s * y * weigh(rows, z)).sum()
            return float(real_rows + pseudo * (t.loss.weight(z) - t.loss.weight(-z)))

        slope = downhill(0.0)
        is_rounding = abs(slope) <= 1e-14 * (s * weigh(rows, 0.0)).sum()
        direction = 0.0 if is_rounding else float(np.sign(slope))
        if direction:
            grid = doubling_grid(t.loss.gain / 16, t.cap)
            values[b] = direction * first_stationary(
                lambda a, d=direction, g=downhill: d * g(d * a), grid
            )
    return values
