"""Probabilities from raw predictions, as formulas that every format writes in its language."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import accumulate
from operator import mul
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray
from scipy.special import erfcx

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
from properboost.losses.ordered_link import OrderedLink
from properboost.losses.probabilities import Link, Votes
from properboost.losses.table import KNOTS
from properboost.losses.tangent import CERTAIN, Tangent
from properboost.models.ensemble import LARGEST_RAW

__all__ = [
    "CELLS_PER_OCTAVE",
    "OCTAVES",
    "Value",
    "fit_tail",
    "ordered_probabilities",
    "probabilities",
]

CELLS_PER_OCTAVE, OCTAVES = 128, 24
"""Cells of a loss table, by the powers of two of 1 + |u| / scale."""

_LEAST = -708.0
"""The least exponent of e: smaller powers are practically 0; some databases refuse underflow."""

_FARTHEST, _NEAREST = 1e150, 1e-150
"""The limits of squared numbers; adding the least square leaves 1 and 4 unchanged."""

_FAR_BELOW = -1e15
"""A class whose scaled raw prediction falls further below the largest is practically impossible."""

_NOTHING = 1e-300
"""One-against-the-rest probabilities with a smaller sum count as equal."""

_STEPS = 10
"""Newton steps that suffice for a row's shift: see the tests."""


Array: TypeAlias = NDArray[np.float64]


class Value(ABC):
    """An expression for numbers of a row, one or one per class.

    A single number combines with each of several.
    """

    @abstractmethod
    def _combine(self, operator: str, other: Self | float) -> Self:
        """Return the sum, difference, product, quotient, or the larger, by ``+ - * / max``."""

    @abstractmethod
    def apply(self, function: str) -> Self:
        """Return one of ``abs exp ln sqrt``; exponents are from -708 to 0."""

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
    def is_top(self) -> Self:
        """Return 1 for the first class of the largest, and 0 for the others."""

    @abstractmethod
    def beside(self, other: Self) -> Self:
        """Return the numbers of this and of `other`."""

    @abstractmethod
    def less_each(self, numbers: NDArray[np.float64]) -> Self:
        """Return this, which is one number, less each of `numbers`."""

    @abstractmethod
    def take(self, places: NDArray[np.intp]) -> Self:
        """Return the numbers at these places."""

    @abstractmethod
    def keep(self) -> Self:
        """Return the same numbers, computed once for several uses."""

    @abstractmethod
    def look_up_cubic(self, cells: NDArray[np.float64]) -> Self:
        """Return the cubics of `cells`, (n_cells, 4), at this number, which is 1 + |u| / scale."""

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

    def logarithm(self) -> Self:
        """Return the natural logarithm of this, which is above 0."""
        return self.apply("ln")

    def size(self) -> Self:
        """Return the distance from 0."""
        return self.apply("abs")

    def root(self) -> Self:
        """Return the square root."""
        return self.apply("sqrt")

    def exponential(self) -> Self:
        """Return e to the power of this, which is at most 0."""
        return self.at_least(_LEAST).apply("exp")


def probabilities(link: Link, raw: Any) -> Any:
    """Return the probabilities of all classes; `raw` holds one number, or one per class.

    Raises
    ------
    ValueError
        If the link has no formula; the message names the loss.
    """
    loss = link.loss
    if link.temperature is not None:
        return _softmax(_divide(raw, loss.gain, link.temperature, in_order=True) / 2.0)
    if link.joint_loss == "softmax":
        return _softmax(_divide(raw, loss.gain) / 2.0)
    if link.joint_loss:
        return _canonical(loss, raw)
    if raw.n > 1 and isinstance(loss, Votes):
        return _softmax(raw)
    tail = _tail(loss, _divide(raw, loss.gain).size().keep()).keep()
    other = (tail * -1.0 + 1.0).keep()
    if raw.n == 1:
        return raw.where_positive(tail, other).beside(raw.where_positive(other, tail))
    against_rest = raw.where_positive(other, tail).keep()
    total = against_rest.total().keep()
    # After an underflow the sum is meaningless.
    return (total - _NOTHING).where_positive(against_rest / total.at_least(_NOTHING), 1.0 / raw.n)


def ordered_probabilities(link: OrderedLink, raw: Any, n_moves: int = 0) -> Any:
    """Return the probabilities of ordered classes, in ascending order.

    `raw` is F, and then has the numbers of `Description.n_moves` thresholds that move.

    Raises
    ------
    ValueError
        If the link has no formula; the message names the loss.
    """
    loss, n = link.loss, len(link.thresholds)
    f = raw.take(np.array([0])) if n_moves else raw
    distance = f.less_each(link.thresholds).keep()
    if n_moves:
        moves, nearer = (
            raw.take(np.arange(*ends)) for ends in ((1, n_moves + 1), (n_moves + 1, 2 * n_moves))
        )
        distance = (distance - moves / nearer.largest().at_least(1.0).keep()).keep()
    tail = _tail(loss, _divide(distance, loss.gain).size().keep()).keep()
    other = (tail * -1.0 + 1.0).keep()
    above = distance.where_positive(other, tail).keep()
    below = distance.where_positive(tail, other).keep()
    first, last = below.take(np.array([0])), above.take(np.array([n - 1]))
    if n == 1:
        return first.beside(last)
    lower, upper = np.arange(n - 1), np.arange(1, n)
    # Both differences are the same number.  The one of the smaller terms keeps its digits.
    between = (above.take(lower) - 0.5).where_positive(
        below.take(upper) - below.take(lower), above.take(lower) - above.take(upper)
    )
    return first.beside(between.at_least(0.0)).beside(last)


def _divide(raw: Any, *units: float, in_order: bool = False) -> Any:
    """Return raw predictions divided by these units, limited to finite numbers.

    Where only their order counts, the limit is on their distances from the largest; elsewhere it is
    on the numbers.
    """
    unit = min(accumulate(units, mul))
    if unit < LARGEST_RAW / np.finfo(np.float64).max:
        far = max(_FARTHEST * unit, float(np.finfo(np.float64).smallest_subnormal))
        raw = raw.keep()
        near = raw.at_most(far).at_least(-far)
        if in_order:
            below = (raw - raw.largest()).at_least(-far)
            near = (raw.size().largest() - far).where_positive(below, near)
        raw = near
    for divisor in units:
        raw = raw / divisor
    return raw


def _softmax(scores: Any) -> Any:
    scores = scores.keep()
    power = (scores - scores.largest()).exponential().keep()
    return power / power.total()


def _canonical(loss: MarginLoss, raw: Any) -> Any:
    """Return the probabilities of a joint model: p_k = c(z_k - shift), whose sum is 1.

    c is the inverse link.  Relative to the largest z, the shift solves sum of c(d_k - shift) =
    c(shift) over the other classes: together they have as much as the top one lacks.  It is at
    least d_2 / 2, of the second largest.
    """
    scaled = _divide(raw, loss.gain).keep()
    below = (scaled - scaled.largest()).at_least(_FAR_BELOW).keep()
    top = scaled.is_top().keep()
    others = (top * -1.0 + 1.0).keep()
    shift = (top.where_positive(_FAR_BELOW, below).largest() * 0.5).keep()
    farthest = float(loss.link(1.0 - 1.0 / raw.n)) / loss.gain

    def inverse(u: Any) -> tuple[Any, Any]:
        """Return the inverse link, and its slope."""
        size = u.size().keep()
        tail = _tail(loss, size).keep()
        return u.where_positive(tail * -1.0 + 1.0, tail).keep(), _density(loss, size, tail)

    for _ in range(_STEPS):
        lacking, slope = inverse(shift)
        class_probabilities, slopes = inverse((below - shift).keep())
        rest = (class_probabilities * others).total().keep()
        ratio = (rest / lacking).keep()
        step = ratio.logarithm() * rest / ((slopes * others).total() + slope * ratio)
        shift = (shift + step).at_most(farthest).keep()
    return inverse((below - shift).keep())[0]


def _tail(loss: MarginLoss, t: Any) -> Any:
    """Return the probability of the less probable class, for raw predictions of gain times t."""
    if isinstance(loss, GLog | Alpha | Exponential | Savage):
        slope = 1.0 if isinstance(loss, GLog | Alpha) else 2.0
        power = (t * -slope).exponential().keep()
        return power / (power + 1.0)
    if isinstance(loss, GLaplacian):
        return (t * -0.5).exponential() * 0.5
    if isinstance(loss, GBoost):
        t = t.at_most(_FARTHEST).at_least(_NEAREST).keep()
        root = (t * t + 4.0).root().keep()
        # 1/2 - t / (2 root), without the difference of neighbouring numbers.
        return (root * 0.0 + 2.0) / root / (root + t)
    if isinstance(loss, GGauss):
        return _gaussian_tail(t)
    scale = find_scale(loss)
    tail = (t / scale + 1.0).look_up_cubic(fit_tail(loss, scale))
    least = loss.parameters.get("least_probability", 0.0)
    return tail.at_least(max(least, np.finfo(np.float64).tiny))


def _density(loss: MarginLoss, t: Any, tail: Any) -> Any:
    """Return the slope of the inverse link at t >= 0; `tail` is its value."""
    if isinstance(loss, GLog | Alpha):
        return tail * (tail * -1.0 + 1.0)
    if isinstance(loss, GLaplacian):
        return tail * 0.5
    if isinstance(loss, GBoost):
        # The third power of the root overflows before t does.
        t = t.at_most(_FARTHEST**0.5).at_least(_NEAREST).keep()
        square = (t * t + 4.0).keep()
        return (square * 0.0 + 2.0) / (square * square.root())
    if isinstance(loss, GGauss):
        x = (t * (np.sqrt(np.pi) / 4.0)).at_most(28.0).at_least(_NEAREST).keep()
        return (x * x * -1.0).exponential() * 0.25
    scale = find_scale(loss)
    cubics = fit_tail(loss, scale)
    widths = scale * np.diff(KNOTS)[:, None]
    slopes: Array = np.pad(-np.arange(1.0, 4.0) * cubics[:, 1:] / widths, ((0, 0), (0, 1)))
    return (t / scale + 1.0).look_up_cubic(slopes).at_least(np.finfo(np.float64).tiny)


def _gaussian_tail(t: Any) -> Any:
    """Return erfc(k t) / 2, as e^-x^2 times a polynomial in (x - 3) / (x + 3), over 1 + 2 x."""
    x = (t * (np.sqrt(np.pi) / 4.0)).at_most(28.0).at_least(_NEAREST).keep()
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
        values: Array = erfcx(x) * (1.0 + 2.0 * x)
        return values

    domain = [-1.0, 25.0 / 31.0]
    polynomial = Chebyshev.interpolate(scaled, 20, domain=domain)
    coefficients: list[float] = polynomial.convert(kind=Polynomial, domain=[-1, 1]).coef.tolist()
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
    # Four values determine a cubic.
    cubics = np.linalg.solve(np.vander(places, increasing=True), values.T).T
    return cubics.astype(np.float64)
