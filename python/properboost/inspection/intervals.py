"""Intervals of a model's effects, from the standard errors of its bags."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from properboost.models.bag_design import design
from properboost.parameters import checks

__all__ = ["NOISE_LEVEL", "IntervalMixin", "Precision", "count_errors"]

NOISE_LEVEL = 0.1
"""The p-value above which an effect is within noise."""


def count_errors(n_bags: int, confidence_level: float) -> float:
    """Return the half-width of an interval in standard errors: Student's t.

    Raises
    ------
    ValueError
        If the level is not between 0 and 1.
    """
    level = checks.level("confidence_level", confidence_level)
    return -float(stdtrit(design(n_bags).degrees, 0.5 - level / 2.0))  # finite for every level


@dataclass(frozen=True, eq=False)
class Precision:
    """The precision of one function of a model with bags.

    Attributes
    ----------
    errors : ndarray
        The standard error of each entry of the function's table, by code.
    p_value : float
        The probability of a function as large without any effect.
    n_bags : int
        The number of bags behind it.
    """

    errors: NDArray[np.float64]
    p_value: float
    n_bags: int


class IntervalMixin:
    """A mixin: intervals of `values`, for models with bags."""

    values: NDArray[np.float64]
    standard_errors: NDArray[np.float64] | None
    n_bags: int

    def interval(self, confidence_level: float = 0.9) -> tuple[NDArray[np.float64], ...]:
        """Return the ends of an interval for each of `values`.

        Parameters
        ----------
        confidence_level : float, default=0.9
            The share of such intervals that hold the mean of fits to other rows, in (0, 1).

        Returns
        -------
        low, high : ndarrays of the shape of `values`
            The ends of Student's t intervals, by standard errors of the class's raw prediction; on
            scales where effects do not add up, the ends are converted to the scale.

        Raises
        ------
        ValueError
            If the model has no bags, or the level is not between 0 and 1.
        """
        reach = self._count_errors(confidence_level)
        if self.standard_errors is None:
            return self._find_ends(reach)
        errors = reach * self.standard_errors
        return self.values - errors, self.values + errors

    def _count_errors(self, confidence_level: float) -> float:
        """Return the half-width of an interval in standard errors."""
        if self.n_bags == 0:
            raise ValueError("intervals need a model that was fitted with outer_bags")
        return count_errors(self.n_bags, confidence_level)

    def _find_ends(self, reach: float) -> tuple[NDArray[np.float64], ...]:
        """Return the ends where values have no standard errors."""
        raise NotImplementedError
