"""Estimates: numbers of rows, with confidence intervals over other rows."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

__all__ = ["Estimate", "Sample", "Statistic"]

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A number, and the ends of an interval for it; NaN is unknown."""

    value: float
    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """Whether the number and both ends are known."""
        return bool(np.isfinite([self.value, self.low, self.high]).all())

    def is_off(self, right: float, least: float = 0.0) -> bool:
        """Whether the number is off by more than `least`, and by more than chance explains."""
        beyond = not self.low <= right <= self.high
        return self.is_known and beyond and abs(self.value - right) >= least


@dataclass(frozen=True, eq=False)
class Statistic:
    """A number of weighted rows, and the influence of each row on it.

    An influence is the derivative by the row's share in the weight, so that influences have a mean
    of 0: of a mean they are the rows' values less the mean.
    """

    value: float
    influences: Array

    @classmethod
    def of_mean(cls, values: Array, weight: Array) -> "Statistic":
        """Return the mean of the rows' values."""
        mean = float(np.average(values, weights=weight))
        return cls(mean, values - mean)

    def __sub__(self, other: "Statistic") -> "Statistic":
        return Statistic(self.value - other.value, self.influences - other.influences)


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows from which numbers are estimated.

    Attributes
    ----------
    weight : ndarray of shape (n_rows,)
        How often each row counts.
    units : ndarray of shape (n_rows,)
        The number of the independent unit of each row: the row itself, or its group.
    confidence_level : float
        The confidence level of intervals.
    """

    weight: Array
    units: NDArray[np.intp]
    confidence_level: float

    def estimate(self, statistic: Statistic) -> Estimate:
        """Return a number with a symmetric interval, by Student's t over the units.

        The standard error is that of the sum of influences (of an AUC it is DeLong's, and with
        groups Obuchowski's).
        """
        shares = self.weight / self.weight.sum()
        sums = np.bincount(self.units, shares * statistic.influences)
        n = len(sums)
        if n < 2:
            return Estimate(statistic.value, np.nan, np.nan)
        error = float(np.sqrt(n / (n - 1) * np.sum(sums**2)))
        reach = float(stdtrit(n - 1, 0.5 + 0.5 * self.confidence_level)) * error
        return Estimate(statistic.value, statistic.value - reach, statistic.value + reach)
