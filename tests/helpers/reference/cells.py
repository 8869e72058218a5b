"""Sums over the training rows of each bin or cell, and their smoothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from helpers.reference.bins import Array, Codes


@dataclass(frozen=True)
class Statistics:
    """Sums over the training rows of each bin or cell, not normalised."""

    plus: Array
    minus: Array
    curvature: Array
    rows: NDArray[np.int64]

    def gathered(self, cells: NDArray[np.int64], n_cells: int) -> Statistics:
        """Return the sums of cells; a bin in cell -1 belongs to none.

        The last axis of `cells` is the bins, and that of the sums is the cells.
        """
        inside = (cells[..., None, :] == np.arange(n_cells)[:, None]).astype(float)
        rows = (inside @ self.rows).astype(np.int64)
        return Statistics(inside @ self.plus, inside @ self.minus, inside @ self.curvature, rows)

    def of(self, mask: NDArray[np.bool_]) -> Statistics:
        """Return the sums with 0 outside the masked bins."""
        return Statistics(
            self.plus * mask, self.minus * mask, self.curvature * mask, self.rows * mask
        )

    def smoothed(self, h: float, n_ordered: int) -> Statistics:
        def smooth(a: Array) -> Array:
            return smooth_ordered(a, h, n_ordered)

        return replace(
            self,
            plus=smooth(self.plus),
            minus=smooth(self.minus),
            curvature=smooth(self.curvature),
        )

    def shrunk(self, rows: Array) -> Statistics:
        """Return categories shrunk to their mean, given the effective rows of both classes.

        Categories are random effects. By the method of moments, their variance is the excess of
        chi-square over its mean by chance, here less three standard deviations. Few categories stay
        as they are.
        """
        p, q = self.plus / self.plus.sum(), self.minus / self.minus.sum()
        mean = (rows[0] * p + rows[1] * q) / rows.sum()
        occupied = mean > 0
        freedom = occupied.sum() - 1
        by_chance = freedom - 3 * np.sqrt(2 * freedom)
        if by_chance <= 0:
            return self
        n = 1 / (1 / rows).sum()
        chi_square = n * ((p - q)[occupied] ** 2 / mean[occupied]).sum()
        variance = max(0.0, chi_square - by_chance) / (n - n * (mean**2).sum())
        factor = 1 - 1 / (1 + n * mean * variance)
        p, q = mean + factor * (p - mean), mean + factor * (q - mean)
        return replace(
            self, plus=self.plus.sum() * p / p.sum(), minus=self.minus.sum() * q / q.sum()
        )


def smooth_ordered(a: Array, h: float, n_ordered: int) -> Array:
    """Return a_b <- (1 - 2h) a_b + h (a_(b-1) + a_(b+1)) over the ordered bins.

    Above h = 1/4 this is the solution s of s_b - h (s_(b-1) - 2 s_b + s_(b+1)) = a_b. Weight that
    would leave at either end stays there, so the sum is unchanged. Other bins are untouched.
    """
    if h == 0 or n_ordered < 2:
        return a
    if h > 0.25:
        out = a.copy()
        steps = np.diff(np.eye(n_ordered), axis=0)
        out[:n_ordered] = np.linalg.solve(np.eye(n_ordered) + h * steps.T @ steps, a[:n_ordered])
        return out
    inner = a[:n_ordered]
    padded = np.concatenate([inner[:1], inner, inner[-1:]])
    out = a.copy()
    out[:n_ordered] = (1 - 2 * h) * inner + h * (padded[:-2] + padded[2:])
    return out


def sum_statistics(parts: Sequence[Statistics]) -> Statistics:
    """Return the sums of the rows of all parts."""
    return Statistics(
        np.sum([part.plus for part in parts], axis=0),
        np.sum([part.minus for part in parts], axis=0),
        np.sum([part.curvature for part in parts], axis=0),
        np.sum([part.rows for part in parts], axis=0),
    )


def bin_statistics(codes: Codes, n_bins: int, y: Array, w: Array, curvature: Array) -> Statistics:
    of_classes = codes + np.where(y > 0, 0, n_bins)
    plus, minus = np.bincount(of_classes, weights=w, minlength=2 * n_bins).reshape(2, n_bins)
    return Statistics(
        plus,
        minus,
        np.bincount(codes, weights=curvature, minlength=n_bins),
        np.bincount(codes, minlength=n_bins),
    )
