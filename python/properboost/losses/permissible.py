"""Permissible functions: the ULS paper's source of canonical losses, impurities and a bound.

References
----------
.. [1] Nock and Nielsen (2009). Bregman divergences and surrogates for learning. IEEE TPAMI 31,
   2048-2059.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.parameters import checks

__all__ = ["PermissibleFunction"]

Array = NDArray[np.float64]

_KNOWN = ("matsushita", "gini", "entropy", "mu", "zeta")


@dataclass(frozen=True)
class PermissibleFunction:
    """A convex function of p, symmetric about 1/2, that is -a <= 0 at 0 and 1 (ULS [1]_).

    Its slope is a link, its conjugate a canonical loss (`Permissible` makes the losses themselves),
    and its negative an impurity (`UDTClassifier`).  Methods take numbers or arrays.

    Parameters
    ----------
    phi : str, default="matsushita"
        ``"matsushita"``, -sqrt(p(1-p)); ``"gini"``, -p(1-p); ``"entropy"``, p log p + (1-p)
        log(1-p); ``"mu"``, -(mu + (1-mu) sqrt(p(1-p))); ``"zeta"``, 2/abs(zeta) log cosh(zeta/2
        (p - 1/2)) less its value at 0 (eqs. 20 to 24).
    mu : float, default=0.5
        The parameter of ``"mu"``, from 0 and below 1.
    zeta : float, default=-4.0
        The parameter of ``"zeta"``, below 0: near 0 the function is Gini's, scaled, and far below
        it is -min(p, 1-p).

    References
    ----------
    .. [1] Nock and Nielsen (2009). Bregman divergences and surrogates for learning. IEEE TPAMI 31,
       2048-2059; section 3.

    Examples
    --------
    >>> from properboost.losses import PermissibleFunction
    >>> entropy = PermissibleFunction("entropy")
    >>> float(entropy.surrogate(0.0)), round(float(entropy.dual(1.5, 0.3)), 4)
    (1.0, 0.6576)
    """

    phi: str = "matsushita"
    mu: float = 0.5
    zeta: float = -4.0

    def __post_init__(self) -> None:
        checks.choice("phi", self.phi, _KNOWN)
        mu = checks.between("mu", self.mu, 0.0, 1.0)
        if mu == 1.0:
            raise ValueError("mu must be below 1; got 1.0")
        zeta = checks.between("zeta", self.zeta, -1e6, 0.0)
        if zeta == 0.0:
            raise ValueError("zeta must be below 0; got 0.0")
        object.__setattr__(self, "mu", mu)
        object.__setattr__(self, "zeta", zeta)

    @property
    def _factor(self) -> float:
        """The factor on the square root, in functions with one."""
        return 1.0 - self.mu if self.phi == "mu" else 1.0

    @property
    def at_ends(self) -> float:
        """Minus the function at 0 and at 1, a_phi: above 0 for ``"mu"`` only."""
        return self.mu if self.phi == "mu" else 0.0

    @property
    def depth(self) -> float:
        """The fall of the function from its ends to 1/2, b_phi."""
        return float(-self.value(0.5)) - self.at_ends

    @property
    def least_curvature(self) -> float:
        """The least second derivative, the a_varphi of Theorem 2."""
        if self.phi == "zeta":
            return float(-self.zeta / 2.0 / np.cosh(self.zeta / 4.0) ** 2)
        return {"gini": 2.0, "entropy": 4.0}.get(self.phi, 2.0 * self._factor)

    def value(self, p: ArrayLike) -> Array:
        """Return the function at probabilities.

        Parameters
        ----------
        p : array_like
            Probabilities, from 0 to 1.

        Returns
        -------
        ndarray or float
            At most 0.
        """
        p = checks.probabilities("p", p)
        if self.phi == "gini":
            return -p * (1.0 - p)
        if self.phi == "entropy":
            from scipy.special import xlogy  # on use, because its import takes long

            return np.asarray(xlogy(p, p) + xlogy(1.0 - p, 1.0 - p), dtype=np.float64)[()]
        if self.phi == "zeta":
            above = _log_cosh(self.zeta / 2.0 * (p - 0.5)) - _log_cosh(self.zeta / 4.0)
            return above * 2.0 / -self.zeta
        return -self.at_ends - self._factor * np.sqrt(p * (1.0 - p))

    def slope(self, p: ArrayLike) -> Array:
        """Return the derivative, the link of the loss.

        Parameters
        ----------
        p : array_like
            Probabilities, from 0 to 1.

        Returns
        -------
        ndarray or float
            It rises, and slope(1 - p) = -slope(p).  It is infinite at 0 and 1, except for
            ``"gini"`` and ``"zeta"``.
        """
        p = checks.probabilities("p", p)
        if self.phi == "gini":
            return 2.0 * p - 1.0
        if self.phi == "zeta":
            slope: Array = np.tanh(-self.zeta / 2.0 * (p - 0.5))
            return slope
        with np.errstate(divide="ignore"):
            if self.phi == "entropy":
                return np.log(p) - np.log1p(-p)
            return self._factor * (p - 0.5) / np.sqrt(p * (1.0 - p))

    def inverse_slope(self, x: ArrayLike) -> Array:
        """Return the probability that matches a raw prediction (eq. 26).

        Parameters
        ----------
        x : array_like
            Raw predictions; those outside the slope's range map to 0 or 1.

        Returns
        -------
        ndarray or float
            Probabilities.
        """
        x = np.asarray(x, dtype=np.float64)
        if self.phi == "gini":
            return np.clip(0.5 * (1.0 + x), 0.0, 1.0)
        if self.phi == "entropy":
            from scipy.special import expit

            p: Array = expit(x)
            return p
        if self.phi == "zeta":
            end = math.tanh(-self.zeta / 4.0)
            with np.errstate(divide="ignore"):
                inside: Array = np.arctanh(np.clip(x, -end, end)) * 2.0 / -self.zeta
            return np.clip(0.5 + inside, 0.0, 1.0)
        # x / sqrt(factor^2 + x^2), also of infinite x.
        sine: Array = np.sin(np.arctan2(x, self._factor))
        return 0.5 * (1.0 + sine)

    def conjugate(self, x: ArrayLike) -> Array:
        """Return the convex conjugate, the largest x p - phi(p) (eq. 9).

        Parameters
        ----------
        x : array_like
            Finite numbers.

        Returns
        -------
        ndarray or float
            It is a at -infinity, and conjugate(x) = conjugate(-x) + x (eqs. 13 to 15).
        """
        p = self.inverse_slope(x)
        return np.asarray(x, dtype=np.float64) * p - self.value(p)

    def surrogate(self, v: ArrayLike) -> Array:
        """Return the paper's loss of a row of margin v, F(v) = (conjugate(-v) - a) / b (eq. 16).

        Parameters
        ----------
        v : array_like
            Margins.

        Returns
        -------
        ndarray or float
            It is 1 at 0, falls to 0, and is nowhere below the 0/1 loss (eq. 18).
        """
        return (self.conjugate(-np.asarray(v, dtype=np.float64)) - self.at_ends) / self.depth

    def divergence(self, p: ArrayLike, q: ArrayLike) -> Array:
        """Return the Bregman divergence D(p || q) (eq. 8).

        With p = 1 or 0 it is the loss of a row of that class, for which q is predicted (Lemma 1).

        Parameters
        ----------
        p, q : array_like
            Probabilities, from 0 to 1.

        Returns
        -------
        ndarray or float
            At least 0; infinite where the slope is, at q = 0 or 1.
        """
        p, q = checks.probabilities("p", p), checks.probabilities("q", q)
        with np.errstate(invalid="ignore"):
            apart = self.value(p) - self.value(q) - (p - q) * self.slope(q)
        return np.where(p == q, 0.0, np.maximum(apart, 0.0))[()]  # but for rounding

    def dual(self, x: ArrayLike, p: ArrayLike) -> Array:
        """Return the Legendre dual of (x, p): the p' with the largest x p' - D(p' || p) (eq. 28).

        It is where the slope is x + slope(p) (eq. 29): the weight of a row after a step that takes
        x from its margin, where p was its weight before.

        Parameters
        ----------
        x : array_like
            Finite numbers.
        p : array_like
            Probabilities, from 0 to 1.

        Returns
        -------
        ndarray or float
            Probabilities; dual(x, dual(x', p)) = dual(x + x', p) (eq. 30).
        """
        return self.inverse_slope(np.asarray(x, dtype=np.float64) + self.slope(p))

    def least_fall(self, edge: float, weight_sum: float, feature_norm: float) -> float:
        """Return the least fall of the sum of surrogates in a round of ULS (eq. 47).

        Parameters
        ----------
        edge : float
            gamma, above 0: the mean edge of the features whose steps are found in this round, each
            divided by the sum of weights (eq. 42).
        weight_sum : float
            Z, above 0: the sum of all rows' weights, each between 0 and 1, before the round.
        feature_norm : float
            The largest length of a feature as a vector over the rows, above 0; features of -1 and 1
            have the root of the number of rows.

        Returns
        -------
        float
            least_curvature (Z gamma / (2 feature_norm))^2 / depth.

        Raises
        ------
        ValueError
            If the slope is bounded (``"gini"``, ``"zeta"``), or a number is out of range.
        """
        if self.phi in ("gini", "zeta"):
            raise ValueError(
                f"the theorem needs a slope that takes all numbers, which phi={self.phi!r} has not"
            )
        share = checks.positive("edge", edge) * checks.positive("weight_sum", weight_sum)
        share /= 2.0 * checks.positive("feature_norm", feature_norm)
        return self.least_curvature * share**2 / self.depth

    def most_rounds(
        self,
        n_rows: int,
        edge: float,
        weight_sum: float,
        feature_norm: float,
        surrogate: float = 0.0,
    ) -> int:
        """Return the most rounds that ULS needs to lower the surrogates that far (Theorem 2).

        Their sum starts at the number of rows, and every round lowers it by `least_fall` or more.

        Parameters
        ----------
        n_rows : int
            The number of rows.
        edge : float
            a_gamma, above 0: the mean over the rounds of the `edge` of `least_fall`.
        weight_sum : float
            a_Z, above 0: the least over the rounds.
        feature_norm : float
            As in `least_fall`.
        surrogate : float, default=0.0
            The sum of surrogates that is to be reached, from 0 to `n_rows`.  At 0 this is eq. 43:
            by then ULS has reached its minimum, wherever that is.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            In the cases of `least_fall`.
        """
        rows = checks.integer("n_rows", n_rows, 1)
        left = rows - checks.between("surrogate", surrogate, 0.0, float(rows))
        return math.ceil(left / self.least_fall(edge, weight_sum, feature_norm))


def _log_cosh(x: ArrayLike) -> Array:
    size = np.abs(np.asarray(x, dtype=np.float64))
    value: Array = size + np.log1p(np.exp(-2.0 * size)) - math.log(2.0)
    return value
