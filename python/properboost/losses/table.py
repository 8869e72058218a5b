"""Loss tables: the weights from which the engine computes a custom loss.

A loss table holds the weight -phi' and its slope at knots on either half of the axis.  The engine
interpolates them by cubics.  Loss, curvature, probability and link follow from the weights alone;
the probability p follows from p w(u) = (1 - p) w(-u).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.cached import cached_property

__all__ = [
    "FARTHEST",
    "KNOTS",
    "LossTable",
    "central_difference",
    "check_name",
    "differentiate",
    "evaluate",
    "find_name",
    "find_negative",
    "find_size",
    "tabulate",
]

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

KNOTS: Array = _core.loss_knots()
"""The values of |u| / scale of a table's entries: 128 from each power of two (less 1) on."""
KNOTS.flags.writeable = False

FARTHEST = 30.0
"""The largest |u| / scale where functions must be finite; beyond, they may overflow."""

_TRIED = 16  # entries, of a function that may raise at all of them
_ROUNDING = 1e-9  # share of a weight's size (`find_size`) by which it may be below 0
_LARGEST = math.exp(64.0)  # of a weight, as in the built-in losses: sums of rows stay finite
_ACCURACY = 1e-4  # of a table, as a share of the largest weight up to |u| = 4 scale
_SLOWEST = 1.01  # power of 1/u by which a weight must fall for its integral, the loss, to be finite


@dataclass(frozen=True, eq=False)
class LossTable:
    """The weights of a loss at gain 1 at the knots; everything else follows from them.

    Tables are values: immutable, equal when they hold the same numbers, hashable and picklable.
    Weights are at least 0: ValueError otherwise.

    Attributes
    ----------
    scale : float
        The margin that counts as 1: knots are at ``|u| = scale * z``, z from 0 to 2^24 - 1.
    beyond : float
        The loss at the last knot.
    right, left : ndarray of shape (3073,)
        The weight at ``u = scale * z`` and at ``u = -scale * z``.
    right_slope, left_slope : ndarray of shape (3073,)
        Their derivatives by z.
    """

    scale: float
    beyond: float
    right: Array
    right_slope: Array
    left: Array
    left_slope: Array

    def __post_init__(self) -> None:
        for name in ("right", "right_slope", "left", "left_slope"):
            values = np.array(getattr(self, name), dtype=np.float64)
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        for name in ("right", "left"):
            if np.any(getattr(self, name) < 0.0):
                raise ValueError(f"{name} must hold no number below 0: they are weights")

    def find_fall(self) -> float | None:
        """Return the margin nearest to 0 at which the inverse link falls; None if it does not."""
        with np.errstate(all="ignore"):
            tail = self.right / (self.right + self.left)
        falls = np.diff(tail) > 1e-6
        return self.scale * float(KNOTS[1 + np.argmax(falls)]) if falls.any() else None

    def make_native(self, name: str) -> _core.Loss:
        """Return the engine's loss; ValueError if the numbers are not those of a loss."""
        return _core.Loss.tabulated(name, **dict(self._items()))

    def _items(self) -> list[tuple[str, Any]]:
        return [(field.name, getattr(self, field.name)) for field in fields(self)]

    @cached_property
    def key(self) -> tuple[object, ...]:
        """The contents of the table, by which tables compare."""
        return tuple(v.tobytes() if isinstance(v, np.ndarray) else v for _, v in self._items())

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, LossTable) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"LossTable(scale={self.scale!r}, ...)"

    def __reduce__(self) -> tuple[type["LossTable"], tuple[Any, ...]]:
        return LossTable, tuple(value for _, value in self._items())


def check_name(name: object) -> None:
    """Check the name of a custom loss."""
    if not isinstance(name, str) or not name.isprintable() or not name.strip():
        raise ValueError(f"name must be a printable string; got {name!r}")


def find_name(named: Any, otherwise: str) -> str:
    """Return the name of a distribution or a function, if it is an identifier."""
    for owner in (getattr(named, "dist", None), named):
        name = getattr(owner, "name", None) or getattr(owner, "__name__", None)
        if isinstance(name, str) and name.isidentifier():
            return name
    return otherwise


def evaluate(
    function: Callable[[Any], Any], u: Array, name: str, what: str, *, forgiving: bool = False
) -> Array:
    """Return a user's function of an array of margins, or of its entries if it takes no array.

    An exception at an entry becomes a ValueError that names the margin.  If `forgiving` it becomes
    NaN, and so do all entries of a function that raises at every sampled one: trying all may take
    minutes.  Endless recursion is not forgiven.
    """
    with np.errstate(all="ignore"):
        try:
            # Copies: the function may compute in place, and keep its result.
            values = np.array(function(u.flatten()), dtype=np.float64)
            if values.shape == (u.size,):
                return values.reshape(u.shape)
        except Exception:  # the loop over entries finds the one
            pass
        every = u.ravel().tolist()
        raised = 0
        one = np.empty(1)

        def value(x: float) -> float:
            try:
                one[0] = function(x)
                return float(one[0])
            except OverflowError:
                return math.inf
            except Exception as error:
                nonlocal raised
                raised += 1
                if forgiving and not isinstance(error, RecursionError):
                    return math.nan
                raise ValueError(
                    f"loss {name!r}: its {what} function raised {type(error).__name__} at margin "
                    f"{x:g}: {error}"
                ) from error

        if forgiving and len(every) > _TRIED:
            tried = [value(x) for x in every[:: len(every) // _TRIED]]
            if raised == len(tried):
                return np.full(u.shape, math.nan)
        values = np.array([value(x) for x in every], dtype=np.float64)
    return values.reshape(u.shape)


def differentiate(function: Function, z: Array, step: float) -> Array:
    """Return the derivative at z >= 0 of a function of z >= 0 that may have a kink at 1.

    It uses differences of the fourth order, `step` (1 + z) apart, that do not reach across 0, where
    the function ends, nor across 1.
    """
    h = step * (1.0 + z)
    to_left = (z <= 1.0) & (z + 2.0 * h > 1.0)
    one_sided = to_left | (z < 2.0 * h) | ((z > 1.0) & (z - 2.0 * h < 1.0))
    sign = np.where(to_left, -1.0, 1.0)
    shifts = np.where(one_sided[:, None], [0.0, 1.0, 2.0, 3.0, 4.0], [-2.0, -1.0, 0.0, 1.0, 2.0])
    factors = np.where(
        one_sided[:, None], [-25.0, 48.0, -36.0, 16.0, -3.0], [1.0, -8.0, 0.0, 8.0, -1.0]
    )
    values = function(z[:, None] + (sign * h)[:, None] * shifts)
    # Subtract one value first, so that large equal values cancel exactly.
    with np.errstate(all="ignore"):
        rises = values - values[:, [0]]
        slope: Array = sign * np.sum(factors * rises, axis=1) / (12.0 * h)
    return slope


def central_difference(function: Function, u: Array, h: Array) -> Array:
    """Return the derivative of a function of all margins, of the sixth order, by steps of h."""
    total = np.zeros_like(u)
    with np.errstate(all="ignore"):
        for shift, factor in ((1.0, 45.0), (2.0, -9.0), (3.0, 1.0)):
            total += factor * (function(u + shift * h) - function(u - shift * h))
        slope: Array = total / (60.0 * h)
    return slope


def find_size(values: Array) -> Array:
    """Return the scale of values at the margins -KNOTS[:0:-1] and KNOTS, or fewer of both.

    It is the largest size between 0 and the margin, or within one unit of 0: for weights that grow
    exponentially, the overall largest would be too large a scale.
    """
    half = len(values) // 2
    size = np.abs(values)
    near = size[np.abs(np.arange(len(size)) - half) <= np.searchsorted(KNOTS, 1.0)].max()
    left = np.maximum.accumulate(size[half::-1])[::-1]
    right = np.maximum.accumulate(size[half:])
    sizes: Array = np.maximum(np.concatenate([left[:-1], right]), near)
    return sizes


def find_negative(weight: Function, values: Array, unit: float) -> tuple[float, float] | None:
    """Return the margin nearest to 0 where a weight is below 0, and the weight, or None.

    `values` are the weights at unit * -KNOTS[:0:-1] and unit * KNOTS.
    """
    v = unit * np.concatenate([-KNOTS[:0:-1], KNOTS])
    negative = np.flatnonzero(values < -_ROUNDING * find_size(values))
    if not len(negative):
        return None

    def value(at: float) -> float:
        with np.errstate(all="ignore"):
            return float(weight(np.array([at]))[0])

    right, wrong = 0.0, float(v[negative[np.argmin(np.abs(v[negative]))]])
    if value(right) < 0.0:
        return right, value(right)
    while abs(wrong - right) > 1e-9 * max(unit, abs(wrong)):
        middle = 0.5 * (right + wrong)
        right, wrong = (right, middle) if value(middle) < 0.0 else (middle, wrong)
    return wrong, value(wrong)


def tabulate(
    name: str,
    weight: Function,
    scale: float,
    *,
    curvature: Function | None = None,
    step: float = 1e-3,
    accuracy: float | None = _ACCURACY,
    advice: str = "",
) -> LossTable:
    """Return the table of a weight function of arrays of margins.

    Parameters
    ----------
    name : str
        The name of the loss, for messages.
    weight : callable
        -phi'(u).
    scale : float
        The loss's natural size: where it has a kink, or about where its weight changes most.
    curvature : callable or None, default=None
        phi''(u); None takes differences of the weight.
    step : float, default=1e-3
        Distance of these differences, as a share of scale + |u|.
    accuracy : float or None, default=1e-4
        The largest error of the loss table, as a share of the largest weight; None does not check.
    advice : str, default=""
        The remedy for a weight that is not smooth, for the message.

    Raises
    ------
    ValueError
        If the weight is not finite where it should be, is below 0 by more than rounding, falls too
        slowly for the loss to be finite, or is not smooth enough for a table.
    """
    check_name(name)
    values = {}
    for side, sign in (("right", 1.0), ("left", -1.0)):
        at = _on_side(weight, sign, scale)
        y = at(KNOTS)
        if curvature is None:
            slope = differentiate(at, KNOTS, step)
        else:
            # The weight's derivative by |u|, and that by z.
            slope = -sign * scale * _on_side(curvature, sign, scale)(KNOTS)
        y, slope = _limit(name, y, slope, sign * scale)
        values[side], values[f"{side}_slope"] = y, slope
    negative = find_negative(
        weight, np.concatenate([values["left"][:0:-1], values["right"]]), scale
    )
    if negative is not None:
        raise ValueError(
            f"loss {name!r}: phi does not decrease: its weight is below 0 at margin "
            f"{negative[0]:.6g} (it is {negative[1]:.6g})"
        )
    for side in ("right", "left"):
        below = values[side] < 0.0  # by rounding
        values[side] = np.where(below, 0.0, values[side])
        values[f"{side}_slope"] = np.where(below, 0.0, values[f"{side}_slope"])
    table = LossTable(scale, _integrate_tail(name, values, scale), **values)
    if accuracy is not None:
        _check_accuracy(name, table, weight, accuracy, advice)
    return table


def _on_side(function: Function, sign: float, scale: float) -> Function:
    def on_side(z: Array) -> Array:
        with np.errstate(all="ignore"):
            return function(sign * scale * z)

    return on_side


def _limit(name: str, y: Array, slope: Array, unit: float) -> tuple[Array, Array]:
    """Return values and slopes that stay constant from where they overflow."""
    usable = np.isfinite(y) & np.isfinite(slope) & (np.abs(y) <= _LARGEST)
    if usable.all():
        return y, slope
    end = int(np.argmin(usable))
    grows = end > 0 and (np.abs(y[end]) > _LARGEST or abs(y[end - 1]) > 1e20)
    vanished = end > 0 and unit > 0.0 and abs(y[end - 1]) <= 1e-9 * np.abs(y[:end]).max()
    if not grows and (KNOTS[end] <= FARTHEST or (unit > 0.0 and not vanished)):
        what, shown = "weight", y
        if _LARGEST < np.abs(y[end]) < math.inf:
            raise ValueError(
                f"loss {name!r}: its weight at margin {unit * KNOTS[end]:g} is {y[end]:g}; it must "
                f"be at most e^64 = {_LARGEST:.2g} there: use a larger unit"
            )
        if np.isfinite(y).all():
            what, shown = "curvature", -slope / unit
        k = int(np.argmin(np.isfinite(shown)))
        raise ValueError(
            f"loss {name!r}: its {what} at margin {unit * KNOTS[k]:g} is {shown[k]:g}; it must be "
            "finite"
        )
    y, slope = y.copy(), slope.copy()
    y[end:] = 0.0 if vanished else y[end - 1]
    slope[end:] = 0.0
    return y, slope


def _integrate_tail(name: str, values: dict[str, Array], scale: float) -> float:
    """Return the integral of the weight from the last knot on, where it is a power of u."""
    last, slope = float(values["right"][-1]), float(values["right_slope"][-1])
    if not last > 1e-30:
        return 0.0
    power = -slope * float(KNOTS[-1]) / last
    if power < _SLOWEST:
        power = power if power > 0.0 else 0.0
        raise ValueError(
            f"loss {name!r}: its weight falls like u^-{power:.3g} as the margin u grows, "
            "so that the loss is infinite; it must fall faster than 1/u (a density must have a "
            "finite mean of |V|)"
        )
    return scale * float(KNOTS[-1]) * last / (power - 1.0)


def _check_accuracy(
    name: str, table: LossTable, weight: Function, accuracy: float, advice: str
) -> None:
    if not (table.right.any() or table.left.any()):
        raise ValueError(f"loss {name!r}: its weight is 0 everywhere")
    z = 0.5 * (KNOTS[1:] + KNOTS[:-1])
    z = z[z < FARTHEST]
    u = table.scale * np.concatenate([z, -z])
    native = table.make_native(name)
    with np.errstate(all="ignore"):
        exact = weight(u)
        size = np.maximum(np.abs(exact), np.abs(exact[np.abs(u) <= 4.0 * table.scale]).max())
        error = np.abs(native.weight(u) - exact) / size
    if not error.max() <= accuracy:
        worst = u[int(np.argmax(error))]
        raise ValueError(
            f"loss {name!r}: its weight is not smooth at margin {worst:.3g}: a table errs by "
            f"{error.max():.1e} of it there{advice}"
        )
