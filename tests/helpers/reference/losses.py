"""The losses in plain numpy, double precision, written the way the formulas read.

Nothing here imports the package.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfc, erfcinv, erfcx, expit, logit, xlog1py, xlogy

if TYPE_CHECKING:
    from collections.abc import Callable

Array = NDArray[np.float64]


class Loss(ABC):
    """Margin loss phi_sigma(v) = sigma phi(v / sigma); subclasses implement sigma = 1.

    Subclasses implement the underscored methods of u = v / sigma, each in a form that keeps its
    relative accuracy where the value is tiny.
    """

    name: str
    convex = True

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = float(gain)

    def loss(self, v: ArrayLike) -> Array:
        return self.gain * self._loss(self._scaled(v))

    def weight(self, v: ArrayLike) -> Array:
        """Return -phi'(v)."""
        return self._weight(self._scaled(v))

    def curvature(self, v: ArrayLike) -> Array:
        """Return phi''(v)."""
        return self._curvature(self._scaled(v)) / self.gain

    def probability(self, raw: ArrayLike) -> Array:
        """Return the inverse link of a raw prediction."""
        return self._probability(self._scaled(raw))

    def link(self, p: ArrayLike) -> Array:
        with np.errstate(divide="ignore"):  # the link of 0 or 1 is infinite by definition
            return self.gain * self._link(np.asarray(p, dtype=np.float64))

    def minimum_risk(self, p: ArrayLike) -> Array:
        return self.gain * self._minimum_risk(np.asarray(p, dtype=np.float64))

    def newton_curvature(self, y: Array, raw: Array) -> Array:
        """Return the curvature that a Newton response divides by.

        A loss that is not convex uses its expected value under its own probability instead, which
        is positive: p phi''(F) + (1 - p) phi''(-F).
        """
        if self.convex:
            return self.curvature(y * raw)
        p = self.probability(raw)
        return p * self.curvature(raw) + (1 - p) * self.curvature(-raw)

    @property
    def loss_margin(self) -> float:
        return float(self.weight(0.0) / self.curvature(0.0))

    def _scaled(self, v: ArrayLike) -> Array:
        return np.asarray(v, dtype=np.float64) / self.gain

    @abstractmethod
    def _loss(self, u: Array) -> Array: ...
    @abstractmethod
    def _weight(self, u: Array) -> Array: ...
    @abstractmethod
    def _curvature(self, u: Array) -> Array: ...
    @abstractmethod
    def _probability(self, u: Array) -> Array: ...
    @abstractmethod
    def _link(self, p: Array) -> Array: ...
    @abstractmethod
    def _minimum_risk(self, p: Array) -> Array: ...


class GLog(Loss):
    name = "glog"

    def _loss(self, u: Array) -> Array:
        return np.logaddexp(0.0, -u)

    def _weight(self, u: Array) -> Array:
        return expit(-u)

    def _curvature(self, u: Array) -> Array:
        return expit(u) * expit(-u)

    def _probability(self, u: Array) -> Array:
        return expit(u)

    def _link(self, p: Array) -> Array:
        return logit(p)

    def _minimum_risk(self, p: Array) -> Array:
        return -xlogy(p, p) - xlog1py(1 - p, -p)


class GGauss(Loss):
    name = "ggauss"
    k = np.sqrt(np.pi) / 4

    def _loss(self, u: Array) -> Array:
        # On the right both terms of the printed formula carry e^-x^2; pulled out, their difference
        # no longer cancels against an erf of 1.  On the left phi(u) = phi(-u) - u.
        x = self.k * np.abs(u)
        right = (2 / np.pi) * np.exp(-x * x) * (1 - np.sqrt(np.pi) * x * erfcx(x))
        return right + np.maximum(-u, 0.0)

    def _weight(self, u: Array) -> Array:
        return erfc(self.k * u) / 2

    def _curvature(self, u: Array) -> Array:
        return np.exp(-((self.k * u) ** 2)) / 4

    def _probability(self, u: Array) -> Array:
        return erfc(-self.k * u) / 2

    def _link(self, p: Array) -> Array:
        # erfcinv keeps its accuracy near 0 only, so each half uses its own tail.
        tail = erfcinv(2 * np.minimum(p, 1 - p)) / self.k
        return np.where(p < 0.5, -tail, tail)

    def _minimum_risk(self, p: Array) -> Array:
        return (2 / np.pi) * np.exp(-(erfcinv(2 * np.minimum(p, 1 - p)) ** 2))


class GLaplacian(Loss):
    name = "glaplacian"

    def _loss(self, u: Array) -> Array:
        return np.exp(-np.abs(u) / 2) + np.maximum(-u, 0.0)

    def _weight(self, u: Array) -> Array:
        return self._probability(-u)

    def _curvature(self, u: Array) -> Array:
        return np.exp(-np.abs(u) / 2) / 4

    def _probability(self, u: Array) -> Array:
        tail = np.exp(-np.abs(u) / 2) / 2
        return np.where(u < 0, tail, 1 - tail)

    def _link(self, p: Array) -> Array:
        tail = -2 * np.log(2 * np.minimum(p, 1 - p))
        return np.where(p < 0.5, -tail, tail)

    def _minimum_risk(self, p: Array) -> Array:
        r = 2 * np.minimum(p, 1 - p)  # 1 - |2p - 1|
        return r - xlogy(r, r)


class GBoost(Loss):
    name = "gboost"

    def _loss(self, u: Array) -> Array:
        return 2 / (np.hypot(2.0, u) + np.abs(u)) + np.maximum(-u, 0.0)

    def _weight(self, u: Array) -> Array:
        return self._probability(-u)

    def _curvature(self, u: Array) -> Array:
        return 2 * (1 / np.hypot(2.0, u)) ** 3

    def _probability(self, u: Array) -> Array:
        h = np.hypot(2.0, u)
        tail = 2 / h / (h + np.abs(u))
        return np.where(u < 0, tail, 1 - tail)

    def _link(self, p: Array) -> Array:
        return (2 * p - 1) / np.sqrt(p * (1 - p))

    def _minimum_risk(self, p: Array) -> Array:
        return 2 * np.sqrt(p * (1 - p))


class Exponential(Loss):
    name = "exponential"

    def _loss(self, u: Array) -> Array:
        return np.exp(-u)

    def _weight(self, u: Array) -> Array:
        return np.exp(-u)

    def _curvature(self, u: Array) -> Array:
        return np.exp(-u)

    def _probability(self, u: Array) -> Array:
        return expit(2 * u)

    def _link(self, p: Array) -> Array:
        return logit(p) / 2

    def _minimum_risk(self, p: Array) -> Array:
        return 2 * np.sqrt(p * (1 - p))


class Savage(Loss):
    name = "savage"
    convex = False

    def _loss(self, u: Array) -> Array:
        return expit(-2 * u) ** 2

    def _weight(self, u: Array) -> Array:
        p, q = expit(2 * u), expit(-2 * u)
        return 4 * p * q * q

    def _curvature(self, u: Array) -> Array:
        p, q = expit(2 * u), expit(-2 * u)
        return 8 * p * q * q * (3 * p - 1)

    def _probability(self, u: Array) -> Array:
        return expit(2 * u)

    def _link(self, p: Array) -> Array:
        return logit(p) / 2

    def _minimum_risk(self, p: Array) -> Array:
        return p * (1 - p)

    def newton_curvature(self, y: Array, raw: Array) -> Array:
        # The general formula cancels in the tails; for savage it has this closed form.
        p, q = expit(2 * raw / self.gain), expit(-2 * raw / self.gain)
        return 8 * (p * q) ** 2 / self.gain


class Alpha(Loss):
    """Loss of weight c (e^(-a u) + e^(a u)) / (1 + e^u), c = (1 - a) / (2 - 3 a), 0 <= a <= 1/2."""

    name = "alpha"

    def __init__(self, gain: float = 1.0, alpha: float = 0.25) -> None:
        super().__init__(gain)
        self.alpha = float(alpha)
        self.c = (1 - self.alpha) / (2 - 3 * self.alpha)

    def _loss(self, u: Array) -> Array:
        # For u >= 0, 1 / (1 + e^t) = sum_k (-1)^k e^(-(k+1) t) integrated term by term from u on.
        # For u < 0, w(t) + w(-t) = 2 c cosh(a t) gives phi(u) = phi(-u) + 2 c sinh(a |u|) / a.
        a, right = self.alpha, np.abs(u)

        def term(k: int) -> Array:
            low, high = k + 1 - a, k + 1 + a
            return np.exp(-low * right) / low + np.exp(-high * right) / high

        return self.c * _alternating_sum(term) + np.where(u < 0, self._sinh_term(right), 0.0)

    def _sinh_term(self, u: Array) -> Array:
        """Return 2 c sinh(a u) / a, which is 2 c u at a = 0, and also -beta(u)."""
        a = self.alpha
        return 2 * self.c * (np.sinh(a * u) / a if a > 0 else u)

    def _weight(self, u: Array) -> Array:
        # Each term e^(+-a u) / (1 + e^u) with the growing exponential divided out on each side.
        a, t = self.alpha, np.exp(-np.abs(u))
        right = (np.exp(-(1 + a) * np.abs(u)) + np.exp(-(1 - a) * np.abs(u))) / (1 + t)
        left = 2 * np.cosh(a * np.minimum(u, 0)) / (1 + t)
        return self.c * np.where(u < 0, left, right)

    def _curvature(self, u: Array) -> Array:
        # -w' = w (expit(u) - a tanh(a u)), a positive factor as a <= 1/2.
        return self._weight(u) * (expit(u) - self.alpha * np.tanh(self.alpha * u))

    def _probability(self, u: Array) -> Array:
        return expit(u)

    def _link(self, p: Array) -> Array:
        return logit(p)

    def _minimum_risk(self, p: Array) -> Array:
        # Symmetric in p; taken at the smaller of p and 1 - p, where v <= 0, it would multiply two
        # large numbers, so the larger is used: phi(v) - (1 - p) beta(v) with v >= 0.
        q = np.minimum(p, 1 - p)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            v = -logit(q)
            risk = self._loss(v) + q * self._sinh_term(v)
        return np.where(q > 0, risk, 0.0)


def _alternating_sum(term: Callable[[int], Array], n: int = 26) -> Array:
    """Return sum_k (-1)^k term(k) by Cohen, Rodriguez Villegas and Zagier's algorithm 1.

    It is valid for moment sequences, as here; the error is below 5.8^-n of the sum.
    """
    d = (3 + np.sqrt(8)) ** n
    d = (d + 1 / d) / 2
    b, c, total = -1.0, -d, 0.0
    for k in range(n):
        c = b - c
        total = total + c * term(k)
        b *= (k + n) * (k - n) / ((k + 0.5) * (k + 1))
    return np.asarray(total / d)


LOSSES: dict[str, type[Loss]] = {
    kind.name: kind for kind in (GLog, GGauss, GLaplacian, GBoost, Exponential, Savage, Alpha)
}


def make_loss(name: str, gain: float = 1.0, **parameters: float) -> Loss:
    return LOSSES[name](gain, **parameters)
