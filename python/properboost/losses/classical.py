"""The other losses of SavageBoost's Table 1: least squares, its modification, and the hinge."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from properboost.losses.builtin import LossCurve
from properboost.losses.custom import CustomLoss
from properboost.losses.table import LossTable, tabulate
from properboost.parameters.checks import positive

__all__ = ["Hinge", "LeastSquares", "ModifiedLeastSquares"]

Array = NDArray[np.float64]


class _LeastSquaresAtUnit:
    """The functions of `LeastSquares` at gain 1."""

    @staticmethod
    def loss(u: Array) -> Array:
        return np.square(1.0 - u)

    @staticmethod
    def weight(u: Array) -> Array:
        return 2.0 * (1.0 - u)

    @staticmethod
    def curvature(u: Array) -> Array:
        return np.where(np.isnan(u), u, 2.0)

    @staticmethod
    def probability(u: Array) -> Array:
        return np.where(np.abs(u) <= 1.0, 0.5 * (1.0 + u), np.nan)

    @staticmethod
    def density(u: Array) -> Array:
        return np.where(np.abs(u) <= 1.0, 0.5, np.nan)

    @staticmethod
    def link(p: Array) -> Array:
        return 2.0 * p - 1.0

    @staticmethod
    def minimum_risk(p: Array) -> Array:
        return 4.0 * p * (1.0 - p)


@dataclass(frozen=True)
class LeastSquares(LossCurve):
    """The squared loss (1 - u)^2, as curves only (SavageBoost [1]_, Table 1).

    Weight 2 (1 - u), link 2p - 1, minimum risk 4 p(1-p).  The weight is negative from u = 1 on: it
    would push correct rows back, so no model is trained with it; `ModifiedLeastSquares` has the
    same link and minimum risk, and can be.  The inverse link,
    (1 + u)/2, ends at -1 and 1; beyond, there is no probability (NaN).

    Parameters
    ----------
    gain : float, default=1.0
        sigma, above 0.

    References
    ----------
    .. [1] Masnadi-Shirazi and Vasconcelos (2008). On the design of loss functions for
       classification: theory, robustness to outliers, and SavageBoost. NIPS 21.
    """

    name: ClassVar[str] = "least_squares"
    gain: float = 1.0

    @property
    def _unit(self) -> Any:
        return _LeastSquaresAtUnit


class _HingeAtUnit:
    """The functions of `Hinge` at gain 1."""

    @staticmethod
    def loss(u: Array) -> Array:
        return np.maximum(1.0 - u, 0.0)

    @staticmethod
    def weight(u: Array) -> Array:
        return np.where(np.isnan(u), u, u < 1.0)

    @staticmethod
    def curvature(u: Array) -> Array:
        return np.where(np.isnan(u), u, 0.0)

    @staticmethod
    def probability(u: Array) -> Array:
        return np.full_like(u, np.nan)

    density = probability

    @staticmethod
    def link(p: Array) -> Array:
        return np.sign(2.0 * p - 1.0)

    @staticmethod
    def minimum_risk(p: Array) -> Array:
        return 1.0 - np.abs(2.0 * p - 1.0)


@dataclass(frozen=True)
class Hinge(LossCurve):
    """The hinge loss max(0, 1 - u) of support vector machines, as curves only.

    Weight 1 below u = 1 and 0 from there on, link sign(2p - 1), minimum risk 1 - abs(2p - 1)
    (SavageBoost, Table 1).  The link has no inverse: raw predictions imply no probabilities (NaN),
    so no model is trained with it.

    Parameters
    ----------
    gain : float, default=1.0
        sigma, above 0.
    """

    name: ClassVar[str] = "hinge"
    gain: float = 1.0

    @property
    def _unit(self) -> Any:
        return _HingeAtUnit


def ModifiedLeastSquares(gain: float = 1.0) -> CustomLoss:  # noqa: N802 -- stands beside the classes
    """Return the modified squared loss max(0, 1 - u)^2, which models can be trained with.

    Weight 2 max(0, 1 - u), inverse link (1 + u)/2 clipped to [0, 1], link 2p - 1, minimum risk
    4 p(1-p), loss margin sigma (SavageBoost [1]_, Tables 1 and 3).  Convex; the weight of a row
    grows with its distance from u = 1, and rows beyond have none.  Certainty is reached at finite
    raw predictions: probabilities are exactly 0 and 1 from -sigma and sigma on.

    It is a loss table like every custom loss, and the table is exact.

    Parameters
    ----------
    gain : float, default=1.0
        sigma, above 0; from 1/2 on a regulariser.

    Returns
    -------
    CustomLoss

    References
    ----------
    .. [1] Masnadi-Shirazi and Vasconcelos (2008). On the design of loss functions for
       classification: theory, robustness to outliers, and SavageBoost. NIPS 21.

    Examples
    --------
    >>> from properboost.losses import ModifiedLeastSquares
    >>> loss = ModifiedLeastSquares()
    >>> float(loss.loss(-1.0)), float(loss.probability(0.5))
    (4.0, 0.75)
    """
    return CustomLoss("modified_least_squares", _tabulate_modified(), positive("gain", gain))


@lru_cache(maxsize=1)
def _tabulate_modified() -> LossTable:
    return tabulate(
        "modified_least_squares",
        lambda u: 2.0 * np.maximum(1.0 - u, 0.0),
        1.0,
        curvature=lambda u: np.where(u <= 1.0, 2.0, 0.0),
    )
