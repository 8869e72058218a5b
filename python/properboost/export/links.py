"""Probabilities from raw predictions, as formulas that every format says in its own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray
from scipy.special import erfcx

from properboost.estimators.arboost import Votes
from properboost.losses.builtin import (
    Alpha,
    Exponential,
    GBoost,
    GGauss,
    GLaplacian,
    GLog,
    MarginLoss,
    Savage,
)
from properboost.losses.custom import CustomLoss
from properboost.losses.probabilities import Link
from properboost.losses.table import KNOTS
from properboost.losses.tangent import CERTAIN, Tangent

__all__ = ["CELLS_PER_OCTAVE", "OCTAVES", "Value", "fit_tail", "probabilities"]

CELLS_PER_OCTAVE, OCTAVES = 128, 24
"""Cells of a loss table, by the powers of two of 1 + |u| / scale."""

_LEAST = -745.0
"""e to the power of less is as good as 0; some databases refuse what underflows."""

_FARTHEST = 1e150
"""The largest number that is squared."""


Array: TypeAlias = NDArray[np.float64]


class Value(ABC):
    """Numbers of a row, one or one per class, that are still to be computed.

    A number beside several is taken with each of them.
    """

    @abstractmethod
    def _combine(self, operator: str, other: Self | float) -> Self:
        """Return the sum, difference, product, quotient, or the larger, by ``+ - * / max``."""

    @abstractmethod
    def _apply(self, function: str) -> Self:
        """Return one of ``abs exp sqrt``; exponents are from -745 to 0."""

    @abstractmethod
    def where_positive(self, yes: Self | float, no: Self | float) -> Self:
        """Return `yes` where this is above 0, and `no` elsewhere."""

    @abstractmethod
    def total(self) -> Self:
        """Return the sum over the classes."""

    @abstractmethod
    def largest(self) -> Self:
        """Return the largest of the classes."""

    @abstractmethod
    def beside(self, other: Self) -> Self:
        """Return this and `other` as the numbers of two classes."""

    @abstractmethod
    def keep(self) -> Self:
        """Return the same, to be computed once, as it is used several times."""

    @abstractmethod
    def look_up_cubic(self, cells: NDArray[np.float64]) -> Self:
        """Return the cubics of `cells`, (n_cells, 4), at the place of 1 + |u| / scale, this."""

    def __add__(self, other: Self | float) -> Self:
        return self._combine("+", other)

    def __sub__(self, other: Self | float) -> Self:
        return self._combine("-", other)

    def __mul__(self, other: Self | float) -> Self:
        return self._combine("*", other)

    def __truediv__(self, other: Self | float) -> Self:
        return self._combine("/", other)

    def at_least(self, other: Self | float) -> Self:
        """Return the larger one."""
        return self._combine("max", other)

    def at_most(self, other: float) -> Self:
        """Return the smaller one."""
        return (self * -1.0).at_least(-other) * -1.0

    def size(self) -> Self:
        """Return the distance from 0."""
        return self._apply("abs")

    def root(self) -> Self:
        """Return the square root."""
        return self._apply("sqrt")

    def exponential(self) -> Self:
        """Return e to the power of this, which is at most 0."""
        return self.at_least(_LEAST)._apply("exp")


def probabilities(link: Link, raw: Any) -> Any:
    """Return the probabilities of all classes; `raw` holds one number, or one per class.

    Raises
    ------
    ValueError
        If the link has no formula; the message names the loss.
    """
    loss = link.loss
    if link.temperature is not None:
        return _softmax(raw / loss.gain / link.temperature / 2.0)
    if link.joint_loss == "softmax":
        return _softmax(raw / loss.gain / 2.0)
    if link.joint_loss:
        raise ValueError(
            f"the probabilities of multiclass={link.joint_loss!r} under loss {loss.name!r} have no "
            "formula: they are the solution of an equation.  Export the raw predictions alone, "
            "outputs='raw'"
        )
    if raw.n > 1 and isinstance(loss, Votes):
        return _softmax(raw)
    scaled = raw / loss.gain
    tail = _tail(loss, scaled.size()).keep()
    other = (tail * -1.0 + 1.0).keep()
    if raw.n == 1:
        return raw.where_positive(tail, other).beside(raw.where_positive(other, tail))
    own = raw.where_positive(other, tail).keep()
    total = own.total().keep()
    return total.where_positive(own / total.at_least(np.finfo(np.float64).tiny), 1.0 / raw.n)


def _softmax(scores: Any) -> Any:
    kept = scores.keep()
    power = (kept - kept.largest()).exponential().keep()
    return power / power.total()


def _tail(loss: MarginLoss, t: Any) -> Any:
    """Return the probability of the less probable class, where raw predictions are gain times t."""
    if isinstance(loss, GLog | Alpha | Exponential | Savage):
        slope = 1.0 if isinstance(loss, GLog | Alpha) else 2.0
        power = (t * -slope).exponential().keep()
        return power / (power + 1.0)
    if isinstance(loss, GLaplacian):
        return (t * -0.5).exponential() * 0.5
    if isinstance(loss, GBoost):
        t = t.at_most(_FARTHEST).keep()
        root = (t * t + 4.0).root().keep()
        # 1/2 - t / (2 root), without the difference of neighbouring numbers.
        return (root * 0.0 + 2.0) / root / (root + t)
    if isinstance(loss, GGauss):
        return _gaussian_tail(t)
    scale = find_scale(loss)
    return (t / scale + 1.0).look_up_cubic(fit_tail(loss, scale)).at_least(0.0).at_most(1.0)


def _gaussian_tail(t: Any) -> Any:
    """Return erfc(k t) / 2, as e^-x^2 times a polynomial in (x - 3) / (x + 3), over 1 + 2 x."""
    x = (t * (np.sqrt(np.pi) / 4.0)).at_most(28.0).keep()
    w = ((x - 3.0) / (x + 3.0)).keep()
    coefficients = fit_gaussian_tail()
    value = w * coefficients[-1] + coefficients[-2]
    for c in coefficients[-3::-1]:
        value = value * w + float(c)
    return (x * x * -1.0).exponential() * value / (x * 2.0 + 1.0) * 0.5


def fit_gaussian_tail() -> list[float]:
    """Return the coefficients of erfcx(x) (1 + 2 x) in (x - 3) / (x + 3), x from 0 to 28."""

    def scaled(w: Array) -> Array:
        x = 3.0 * (1.0 + w) / (1.0 - w)
        return erfcx(x) * (1.0 + 2.0 * x)

    domain = [-1.0, 25.0 / 31.0]
    found = Chebyshev.interpolate(scaled, 20, domain=domain)
    coefficients: list[float] = found.convert(kind=Polynomial, domain=[-1, 1]).coef.tolist()
    return coefficients


def find_scale(loss: MarginLoss) -> float:
    """Return the scale of a loss that is a table, or refuse it by name."""
    if isinstance(loss, CustomLoss):
        return loss.table.scale
    if isinstance(loss, Tangent):
        return CERTAIN
    raise ValueError(
        f"the link of loss {loss.name!r} has no formula that could be exported: export the raw "
        "predictions alone, outputs='raw'"
    )


def fit_tail(loss: MarginLoss, scale: float) -> Array:
    """Return the cubics of the tail of a loss that is a table, (n_cells, 4)."""
    places = np.arange(4) / 4.0
    knots = KNOTS[:-1, None] + np.diff(KNOTS)[:, None] * places
    values = loss.native.probability(-scale * knots)
    # Through four values of a cubic goes no other.
    cubics: Array = np.linalg.solve(np.vander(places, increasing=True), values.T).T
    return cubics
