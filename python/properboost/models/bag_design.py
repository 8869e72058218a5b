"""The design of bags: fits to shares of the rows, whose mean is the model.

The bags' deviations from their mean estimate its standard errors.  Rows are dealt into parts,
stratified by class, and each bag leaves out one of every four neighbouring parts.  An orthogonal
array chooses this part: in any two quadruples all combinations of parts are left out equally often.
So the errors of the parts add up to the squared deviations of the bags from their mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FEWEST_BAGS",
    "LEVELS",
    "MOST_BAGS",
    "BagDesign",
    "BagPlan",
    "TermNoise",
    "design",
    "design_for_terms",
    "find_independent_shares",
    "find_p_values",
    "find_ratio",
    "find_size",
    "find_standard_error",
]

Array = NDArray[np.float64]

FEWEST_BAGS, MOST_BAGS = 4, 64
"""The fewest and the most bags that a design has."""

LEVELS = 4
"""Neighbouring parts of which a bag leaves out one."""

_TIMES = np.array([[0, 0, 0, 0], [0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2]])
"""Products in the field of four elements, whose sums are exclusive ors."""


@dataclass(frozen=True, eq=False)
class BagDesign:
    """The parts of the rows that each bag learns from: ``in_bag`` is (n_bags, n_parts)."""

    in_bag: NDArray[np.bool_]

    @property
    def n_parts(self) -> int:
        """The number of parts, at most 256."""
        return int(self.in_bag.shape[1])

    @property
    def share(self) -> float:
        """The share of the rows that a bag learns from."""
        return float(self.in_bag.mean())

    @property
    def variance_factor(self) -> float:
        """The factor by which the sum of squared deviations from the bags' mean is a variance.

        The product estimates the variance of a fit to all rows.  It has no bias where the estimate
        is a mean over the rows: parts of n rows have errors of variance 1 / n.
        """
        return float(1.0 / (self.n_parts * np.sum(self._deviations**2)))

    @property
    def degrees(self) -> float:
        """The degrees of freedom of that estimate, after Satterthwaite."""
        products = self._deviations @ self._deviations.T
        return float(np.trace(products) ** 2 / np.sum(products**2))

    @property
    def noise_degrees(self) -> int:
        """The differences between bags that parts of their own do not explain; else 0.

        It is 0 unless every two parts of different quadruples are left out together equally often.
        """
        n_bags, n_parts = self.in_bag.shape
        left_out = (~self.in_bag).astype(int)
        quadruple = np.arange(n_parts) // LEVELS
        together = (left_out.T @ left_out)[quadruple[:, None] != quadruple]
        if np.any(together * LEVELS**2 != n_bags):
            return 0
        return int(n_bags - 1 - (LEVELS - 1) * (n_parts // LEVELS))

    @property
    def _deviations(self) -> NDArray[np.float64]:
        """The weight of each part in a bag's deviation from the mean, (n_bags, n_parts)."""
        weight = self.in_bag / self.in_bag.sum(axis=1, keepdims=True)
        deviations: NDArray[np.float64] = weight - weight.mean(axis=0)
        return deviations


@dataclass(frozen=True, eq=False)
class BagPlan:
    """Bags of a fit: the design, and the segments that each bag learns from."""

    design: BagDesign
    segments: NDArray[np.bool_]
    """(n_bags, n_segments)"""


@cache
def design(n_bags: int, n_parts: int | None = None) -> BagDesign:
    """Return the design of `n_bags` bags, 4 to 64; by default with as many parts as there can be.

    It is an orthogonal array of 4, 16 or 64 runs, four levels and strength 2 [1]_, or its first
    runs: a column for each line through the origin of the space over the field of four elements,
    and a run for each point.  Fewer parts are those of the first columns.

    References
    ----------
    .. [1] Rao (1947). Factorial experiments derivable from combinatorial arrangements of arrays.
       Supplement to the Journal of the Royal Statistical Society 9.
    """
    n_digits = next(n for n in range(1, 4) if LEVELS**n >= n_bags)
    points = np.indices((LEVELS,) * n_digits).reshape(n_digits, -1)
    lines = points[:, [point[point != 0][:1].tolist() == [1] for point in points.T]]
    if n_bags < points.shape[1]:  # without columns that are the same in four neighbouring runs
        lines = lines[:, lines[-1] != 0]
    left_out = np.bitwise_xor.reduce(_TIMES[points[:, :n_bags, None], lines[:, None, :]], axis=0)
    in_bag: NDArray[np.bool_] = left_out[:, :, None] != np.arange(LEVELS)
    return BagDesign(in_bag.reshape(n_bags, -1)[:, :n_parts])


def design_for_terms(n_bags: int) -> BagDesign:
    """Return the design of `n_bags` bags of trees with terms of several features.

    Whole arrays of 16 bags and more have three of five quadruples.  The differences between bags
    that these do not explain are noise, which the mean of the bags has hardly any of.
    """
    whole = design(n_bags)
    fewer = design(n_bags, LEVELS * max(3 * (whole.n_parts // LEVELS) // 5, 1))
    return fewer if fewer.noise_degrees > 0 else whole


def find_standard_error(values: Sequence[Array]) -> Array:
    """Return the standard error of the mean of the bags' values."""
    stacked = np.stack(values)
    deviations = stacked - stacked.mean(axis=0)
    size = find_size(deviations)
    variance = design(len(values)).variance_factor * np.square(deviations / size).sum(axis=0)
    error: Array = size * np.sqrt(variance)
    return error


@dataclass(frozen=True)
class TermNoise:
    """The part of the bags' differences in a term that is left in their mean.

    Which features trees take changes by jumps, so bags differ by more than their rows explain.  The
    mean of the bags has little of that noise.
    """

    factor: float
    """The factor by which the sum of squared deviations from the bags' mean is a variance."""
    typical: float
    """The root of the term's mean variance, of which a cell that few bags reached gets half."""

    @classmethod
    def of(cls, values: Sequence[Array], shares: Array, bags: BagDesign) -> Self:
        """Compute it from the bags' tables, and the share of each cell in the training weight."""
        deviations = np.stack(values) - np.mean(values, axis=0)
        size = find_size(deviations)
        deviations /= size
        # Most cells of three features have no training rows, and rows to come lie there, too.
        expected = find_independent_shares(shares)
        total = float(np.sum(expected * np.square(deviations).sum(axis=0)))
        if bags.noise_degrees == 0 or total == 0.0:
            return cls(bags.variance_factor, 0.0)
        explained = 0.0
        for left_out in ~bags.in_bag.T:
            of_part = np.square(deviations[left_out].sum(axis=0)) / left_out.sum()
            explained += float(np.sum(expected * of_part))
        n_bags, degrees = len(deviations), bags.noise_degrees
        noise = max(total - explained, 0.0) / degrees
        by_rows = bags.variance_factor * max(explained - (n_bags - 1 - degrees) * noise, 0.0)
        variance = min(by_rows + noise / n_bags, bags.variance_factor * total)
        return cls(variance / total, size * float(np.sqrt(variance)))

    def find_errors(self, values: Sequence[Array]) -> Array:
        """Return the standard errors of the mean of the bags' values."""
        stacked = np.stack(values)
        deviations = stacked - stacked.mean(axis=0)
        size = max(find_size(deviations), self.typical)
        variance = self.factor * np.square(deviations / size).sum(axis=0)
        least = 0.5 * (variance + (self.typical / size) ** 2)
        error: Array = size * np.sqrt(np.maximum(variance, least))
        return error


def find_independent_shares(shares: Array) -> Array:
    """Return the shares that the cells of a table would have if its features were independent."""
    expected = np.ones(shares.shape)
    for axis in range(shares.ndim):
        others = tuple(a for a in range(shares.ndim) if a != axis)
        expected *= shares.sum(axis=others, keepdims=True)
    return expected


def find_ratio(table: Array, deviations: Array, share: Array) -> tuple[float, float]:
    """Return the ratio of a table to its noise, and the ratio's degrees of freedom.

    The ratio is the table's mean square over the training rows, divided by that of its standard
    errors.  The numerator's degrees of freedom are those of a sum of squares whose covariances are
    the bags' (Satterthwaite).  The arrays are flat; `deviations` has a row for each bag.
    """
    size = max(find_size(table), find_size(deviations))
    square = float(np.sum(share * np.square(table / size)))
    factor = design(len(deviations)).variance_factor
    relative = deviations / size * np.sqrt(factor * share)
    products = np.sum(relative[:, None] * relative[None], axis=2)  # in a fixed order
    noise = float(np.trace(products))
    if noise > 0.0:
        return square / noise, 1.0 / float(np.square(products / noise).sum())
    return (np.inf if square > 0.0 else 0.0), 1.0


def find_p_values(ratios: Array, degrees: Array, n_bags: int) -> Array:
    """Return the p-values of ratios of tables to their noise, if the true tables are 0."""
    # The distribution's last bits differ between processors, so no file has p-values.
    among = degrees * design(n_bags).degrees
    from scipy.special import fdtrc  # on use, because its import takes long

    return np.asarray(fdtrc(degrees, among, ratios), dtype=np.float64)


def find_size(values: Array) -> float:
    """Return a power of two near the largest, by which squares neither over- nor underflow."""
    return float(np.ldexp(1.0, np.frexp(np.abs(values).max(initial=0.0))[1] - 1))
