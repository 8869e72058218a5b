"""The design of bags: fits to shares of the rows, whose mean is the model.

The bags' deviations from their mean estimate its standard errors.  Rows are dealt into parts,
stratified by class, and each bag leaves out one of every four neighbouring parts.  An orthogonal
array chooses this part: in any two quadruples all combinations of parts are left out equally often.
So the errors of the parts add up to the squared deviations of the bags from their mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FEWEST_BAGS",
    "LEVELS",
    "MOST_BAGS",
    "BagDesign",
    "BagPlan",
    "design",
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
def design(n_bags: int) -> BagDesign:
    """Return the design of `n_bags` bags of look-up tables, 4 to 64.

    It is an orthogonal array of 4, 16 or 64 runs, four levels and strength 2 [1]_, or its first
    runs: a column for each line through the origin of the space over the field of four elements,
    and a run for each point.

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
    return BagDesign(in_bag.reshape(n_bags, -1))


def find_standard_error(values: Sequence[Array]) -> Array:
    """Return the standard error of the mean of the bags' values."""
    stacked = np.stack(values)
    deviations = stacked - stacked.mean(axis=0)
    size = find_size(deviations)
    variance = design(len(values)).variance_factor * np.square(deviations / size).sum(axis=0)
    error: Array = size * np.sqrt(variance)
    return error


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
