"""Savage's two rewards, which need not treat the classes alike: no loss of margins has them.

References
----------
.. [1] Savage (1971). The elicitation of personal probabilities and expectations. JASA 66.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.losses.builtin import Elicitation
from properboost.parameters.checks import finite, positive, probabilities

__all__ = ["LogarithmicReward", "QuadraticReward"]

Array = NDArray[np.float64]


class _Admissible(Elicitation):
    """A reward J with the parameters k, l and m."""

    k: float
    l: float  # noqa: E741 -- the paper's name
    m: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", positive("k", self.k))
        for name in ("l", "m"):
            object.__setattr__(self, name, finite(name, getattr(self, name)))


@dataclass(frozen=True)
class QuadraticReward(_Admissible):
    """Savage's first reward, J(p) = k p^2 + l p + m, as curves only (SavageBoost [1]_, eq. 14).

    A forecast falls short by k (p - q)^2, the only divergence that depends on the difference alone.
    I_1(q) = -k (1 - q)^2 + k + l + m and I_-1(q) = -k q^2 + m (Table 2's "Savage 1").  The classes
    are treated alike where l = -k: k = 4, l = -4, m = 0 is `LeastSquares`.  Otherwise J(p) differs
    from J(1 - p), and there is no loss of margins (Theorem 1).

    Parameters
    ----------
    k : float, default=1.0
        Above 0: the curvature, by which J is strictly convex.
    l : float, default=-1.0
        The slope at 0: the extra payment for a positive row, whatever the forecast.
    m : float, default=0.0
        The payment in any case.

    References
    ----------
    .. [1] Masnadi-Shirazi and Vasconcelos (2008). On the design of loss functions for
       classification: theory, robustness to outliers, and SavageBoost. NIPS 21.

    Examples
    --------
    >>> from properboost.losses import QuadraticReward
    >>> pay = QuadraticReward(k=2.0, l=1.0)
    >>> float(pay.reward(0.5)), float(pay.reward(0.5, -1)), float(pay.divergence(0.75, 0.5))
    (2.5, -0.5, 0.125)
    """

    k: float = 1.0
    l: float = -1.0  # noqa: E741
    m: float = 0.0

    def divergence(self, p: ArrayLike, forecast: ArrayLike) -> Array:
        """Return the shortfall of a forecast, k (p - q)^2.

        Parameters
        ----------
        p : array_like
            Probabilities, from 0 to 1.
        forecast : array_like
            Forecasts q, from 0 to 1.

        Returns
        -------
        ndarray or float
            The shape that `p` and `forecast` have together.
        """
        p, q = probabilities("p", p), probabilities("forecast", forecast)
        short: Array = self.k * np.square(p - q)
        return short

    def _reward(self, q: Array, y: int) -> Array:
        if y > 0:
            return self.k + self.l + self.m - self.k * np.square(1.0 - q)
        return self.m - self.k * np.square(q)

    def _best_reward(self, p: Array) -> Array:
        return (self.k * p + self.l) * p + self.m


@dataclass(frozen=True)
class LogarithmicReward(_Admissible):
    """Savage's second reward, J(p) = m + l p - k log p, as curves only (SavageBoost [1]_, eq. 15).

    A forecast falls short by k (p/q - 1 - log(p/q)), the only divergence that depends on the ratio
    alone.  I_1(q) = -k (1/q + log q) + k + l + m and I_-1(q) = -k log q + k + m (Table 2's "Savage
    2").  It never treats the classes alike: J(p) is infinite at 0 and l + m at 1, and there is no
    loss of margins (Theorem 1).

    Parameters
    ----------
    k : float, default=1.0
        Above 0, by which J is strictly convex.
    l : float, default=0.0
        The extra payment for a positive row, whatever the forecast.
    m : float, default=0.0
        The payment in any case.

    References
    ----------
    .. [1] Masnadi-Shirazi and Vasconcelos (2008). On the design of loss functions for
       classification: theory, robustness to outliers, and SavageBoost. NIPS 21.

    Examples
    --------
    >>> from properboost.losses import LogarithmicReward
    >>> pay = LogarithmicReward()
    >>> bool(abs(pay.divergence(0.2, 0.1) - pay.divergence(0.8, 0.4)) < 1e-12)
    True
    """

    k: float = 1.0
    l: float = 0.0  # noqa: E741
    m: float = 0.0

    def expected_reward(self, p: ArrayLike, forecast: ArrayLike | None = None) -> Array:
        """Return the mean reward of a forecast, k + l p + m - k (p/q + log q).

        Parameters
        ----------
        p : array_like
            Probabilities, from 0 to 1.
        forecast : array_like, optional
            Forecasts q; None forecasts p itself, and returns J(p).

        Returns
        -------
        ndarray or float
            The shape that `p` and `forecast` have together; minus infinity where q is 0 and p is
            not, as the reciprocal outweighs the logarithm.
        """
        if forecast is None:
            return super().expected_reward(p)
        p, q = probabilities("p", p), probabilities("forecast", forecast)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = np.where(p == 0.0, 0.0, p / q)
            paid = self.k + self.l * p + self.m - self.k * (ratio + np.log(q))
        return np.where((q == 0.0) & (p > 0.0), -np.inf, paid)[()]

    def divergence(self, p: ArrayLike, forecast: ArrayLike) -> Array:
        """Return the shortfall of a forecast, k (p/q - 1 - log(p/q)).

        Parameters
        ----------
        p : array_like
            Probabilities, from 0 to 1.
        forecast : array_like
            Forecasts q, from 0 to 1.

        Returns
        -------
        ndarray or float
            The shape that `p` and `forecast` have together; infinite where one of them is 0, and
            the other is not.
        """
        p, q = probabilities("p", p), probabilities("forecast", forecast)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # p/q - 1 keeps its digits where the two are near.
            above = (p - q) / q
            short = np.where(above == np.inf, np.inf, above - np.log1p(above))
        return np.where(p == q, 0.0, self.k * np.maximum(short, 0.0))[()]

    def _reward(self, q: Array, y: int) -> Array:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            paid = self.k + self.m - self.k * np.log(q)
            if y < 0:
                return paid
            # At 0 the reciprocal outweighs the logarithm.
            return np.where(q == 0.0, -np.inf, paid + self.l - self.k / q)[()]

    def _best_reward(self, p: Array) -> Array:
        with np.errstate(divide="ignore"):
            best: Array = self.m + self.l * p - self.k * np.log(p)
        return best
