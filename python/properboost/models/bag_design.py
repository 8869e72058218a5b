"""The design of bags: fits to shares of the rows, whose mean is the model.

The bags' deviations from their mean estimate its standard errors.  Rows are dealt into parts,
stratified by class, and each bag leaves out one of every four neighbouring parts.  An orthogonal
array chooses this part: in any two quadruples all combinations of parts are left out equally often.
So the errors of the parts add up to the squared deviations of the bags from their mean.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from properboost.cached import cached_property

__all__ = ["LEVELS", "BagDesign", "BagPlan", "design"]

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

    @cached_property
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
