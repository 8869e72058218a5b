"""Bags: fits to shares of the rows that are averaged, and whose spread says how sure the mean is.

Rows are dealt into parts, stratified by class, and each bag leaves out one of every four
neighbouring parts.  Which one, an orthogonal array says: every two quadruples of parts combine
equally often, so that their errors add up to the squared deviations of the bags from their mean.
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
    """Which parts of the rows each bag learns from: ``kept`` has the shape (n_bags, n_parts)."""

    kept: NDArray[np.bool_]

    @property
    def n_parts(self) -> int:
        """How many parts there are, at most 256."""
        return int(self.kept.shape[1])

    @property
    def share(self) -> float:
        """The share of the rows that a bag learns from."""
        return float(self.kept.mean())

    @property
    def variance_factor(self) -> float:
        """What the squared deviations from the bags' mean are multiplied by, and added up.

        That estimates the variance of a fit to all rows, without bias where what is estimated is a
        mean over the rows: parts of n rows have errors of variance 1 / n.
        """
        return float(1.0 / (self.n_parts * np.sum(self._deviations**2)))

    @property
    def degrees(self) -> float:
        """The degrees of freedom of that estimate, after Satterthwaite."""
        products = self._deviations @ self._deviations.T
        return float(np.trace(products) ** 2 / np.sum(products**2))

    @cached_property
    def _deviations(self) -> NDArray[np.float64]:
        """What each part has to do with a bag's deviation from the mean, (n_bags, n_parts)."""
        weight = self.kept / self.kept.sum(axis=1, keepdims=True)
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
    """Return the design of so many bags of look-up tables, 4 to 64.

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
    kept: NDArray[np.bool_] = left_out[:, :, None] != np.arange(LEVELS)
    return BagDesign(kept.reshape(n_bags, -1))
