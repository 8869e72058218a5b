"""Faults of a loss, and the margins nearest to 0 where they show."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.losses.table import FARTHEST, KNOTS, LossTable, find_negative, find_size

__all__ = ["LossProblem", "LossReport", "check"]

Array = NDArray[np.float64]

_KINKS = 16  # the most that are examined closely
_FINE = (np.arange(4096) + 0.5) / 4096
_SURE = 1e-4  # the distance from 1 below which a probability need not rise any more
_BINDING_LINK = "w(-v) / (w(v) + w(-v))"
_SIMPSON = ((0.0, 1.0 / 6.0), (0.5, 4.0 / 6.0), (1.0, 1.0 / 6.0))


@dataclass(frozen=True)
class LossProblem:
    """A fault of a loss.

    Attributes
    ----------
    what : str
        The fault, in words.
    margin : float
        v, the margin nearest to 0 with the fault.
    value : float
        The value there of the quantity that `what` names first.
    """

    what: str
    margin: float
    value: float

    def __str__(self) -> str:
        return f"{self.what} at margin {self.margin:.6g} (it is {self.value:.6g})"


@dataclass(frozen=True)
class LossReport:
    """The result of `check`; true, and without problems, if the loss is sound.

    Attributes
    ----------
    name : str
        The name of the loss.
    problems : tuple of LossProblem
        The faults, in the order of the checks.
    """

    name: str
    problems: tuple[LossProblem, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no problem."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            return f"loss {self.name!r}: nothing wrong was found"
        return f"loss {self.name!r}: " + "; ".join(str(problem) for problem in self.problems)


def check(loss: Any) -> LossReport:
    """Check whether a margin loss can be boosted with.

    It evaluates margins up to 30 units from 0: 128 of them up to the first unit, and as many from
    each power of two (less 1) to the next.  A unit is the gain, times the scale of the loss table
    if there is one.  Tolerances are relative to the largest value between 0 and the margin.

    - ``phi`` and its weight are finite, the weight is at least 0, so that phi decreases (checked
      up to 2^24 units);
    - the weight is -phi', and the curvature phi'', to 1e-3 (their integrals are compared);
    - phi is convex, if its attribute ``convex`` is true (BoostLR, eq. 57 [1]_);
    - the loss is proper: its inverse link w(-F) / (w(F) + w(-F)) rises strictly from 1/2 on,
      until it is within 1e-4 of 1, and falls nowhere (up to 2^24 units).  Even weights fail;
    - ``probability`` rises likewise, lies in [0, 1] and is odd: probability(-F) = 1 -
      probability(F);
    - link and weight belong together: p w(F) = (1 - p) w(-F) at p = probability(F).  They do
      unless the binding function is not odd, the minimum risk is not symmetric, or the link is
      another loss's.

    Parameters
    ----------
    loss : MarginLoss or object
        A loss, or any object with the methods ``loss`` and ``weight`` of arrays of margins.  Its
        ``curvature``, ``probability``, ``convex``, ``gain`` and ``name`` are checked too, if it has
        them.

    Returns
    -------
    LossReport
        Its `str` is a sentence; it is true if nothing is wrong.

    References
    ----------
    .. [1] Masnadi-Shirazi and Vasconcelos (2015). A view of margin losses as regularizers of
       probability estimates. JMLR 16, 2751-2795.

    Examples
    --------
    >>> import numpy as np
    >>> from properboost import losses
    >>> raw = losses.from_functions(
    ...     lambda u: 4.0 * (1.0 - 2.0 * np.arctan(u)) / (1.0 + u * u),
    ...     lambda u: (2.0 * np.arctan(u) - 1.0) ** 2,
    ...     name="raw tangent",
    ...     validate=False,
    ... )
    >>> print(losses.check(raw))  # doctest: +ELLIPSIS
    loss 'raw tangent': phi does not decrease: its weight is below 0 at margin 0.546302 (it is ...)
    """
    if isinstance(loss, type):
        raise TypeError(f"loss must be an object, not a class: {loss.__name__}(...)")
    for method in ("loss", "weight"):
        if not callable(getattr(loss, method, None)):
            raise TypeError(f"loss must have the method {method!r}; got {loss!r}")
    unit = float(getattr(loss, "gain", 1.0))
    table = getattr(loss, "table", None)
    if isinstance(table, LossTable):
        unit *= table.scale
    every = unit * np.concatenate([-KNOTS[:0:-1], KNOTS])
    near = np.abs(every) <= FARTHEST * unit
    v = every[near]
    problems: list[LossProblem] = []

    def look(what: str, at: Array, value: Array, wrong: Array) -> bool:
        """Record the fault that is nearest to 0; return whether there is one."""
        if not wrong.any():
            return False
        order = np.argsort(np.abs(at), kind="stable")
        first = int(order[np.argmax(wrong[order])])
        problems.append(LossProblem(what, float(at[first]), float(value[first])))
        return True

    def of(method: str, u: Array) -> Array:
        with np.errstate(all="ignore"):
            values: Array = np.asarray(getattr(loss, method)(u), dtype=np.float64)
        return values

    def report() -> LossReport:
        return LossReport(str(getattr(loss, "name", type(loss).__name__)), tuple(problems))

    phi, weight = of("loss", v), of("weight", every)
    broken = [
        look(f"{what} is not finite", v, values, ~np.isfinite(values))
        for what, values in (("phi", phi), ("the weight", weight[near]))
    ]
    if any(broken):
        return report()
    negative = find_negative(lambda u: of("weight", u), weight, unit)
    if negative is not None:
        problems.append(LossProblem("phi does not decrease: its weight is below 0", *negative))
        return report()
    if not weight[near].any():
        problems.append(LossProblem("the weight is 0 everywhere, and so", 0.0, 0.0))
        return report()
    _compare(look, of, v, "loss", "weight", "the weight is not -phi'")
    if callable(getattr(loss, "curvature", None)):
        _check_curvature(loss, look, of, v)
    with np.errstate(all="ignore"):
        total = weight + weight[::-1]
        binding_link = np.where(np.isfinite(total), weight[::-1] / total, np.nan)
    rises = _rises(look, f"the inverse link {_BINDING_LINK}", every, binding_link, near)
    if rises and callable(getattr(loss, "probability", None)):
        _check_link(look, of("probability", every), every, binding_link, near)
    return report()


def _compare(look: Any, of: Any, v: Array, falling: str, slope: str, what: str) -> None:
    """Compare differences with integrals, from one margin to the next."""
    value, minus_slope = of(falling, v), of(slope, v)
    width = np.diff(v)
    rise = -np.diff(value) / width
    size = np.maximum(np.abs(minus_slope[1:]), np.abs(minus_slope[:-1]))
    # Rounding of single precision, which native functions may have.
    noise = 3e-6 * np.maximum(np.abs(value[1:]), np.abs(value[:-1])) / width
    allowed = 1e-3 * (size + np.abs(rise)) + noise
    local = find_size(minus_slope)
    allowed += 1e-6 * np.minimum(local[1:], local[:-1])
    total = sum(share * of(slope, v[:-1] + place * width) for place, share in _SIMPSON)
    bad = ~(np.abs(total - rise) <= allowed)
    # A kink between two margins is no fault.
    for k in np.flatnonzero(bad)[np.argsort(np.abs(v[:-1][bad]))][:_KINKS]:
        total[k] = of(slope, v[k] + width[k] * _FINE).mean()
        bad[k] = not abs(total[k] - rise[k]) <= allowed[k]
    middle = 0.5 * (v[1:] + v[:-1])
    look(f"{what}: on average between two margins it has another value", middle, total, bad)


def _check_curvature(loss: Any, look: Any, of: Any, v: Array) -> None:
    curvature = of("curvature", v)
    if look("the curvature is not finite", v, curvature, ~np.isfinite(curvature)):
        return
    _compare(look, of, v, "weight", "curvature", "the curvature is not phi''")
    if getattr(loss, "convex", False):
        least = -1e-6 * find_size(curvature)
        what = "phi is claimed to be convex, but its curvature is below 0"
        look(what, v, curvature, curvature < least)


def _rises(look: Any, what: str, every: Array, p: Array, near: NDArray[np.bool_]) -> bool:
    """Check that probabilities fall nowhere, and rise strictly until they are near 1."""
    right = every[1:] > 0.0
    ends = np.where(right, every[1:], every[:-1]), np.where(right, p[1:], p[:-1])
    if look(f"{what} falls", *ends, np.diff(p) < -1e-6):
        return False
    half = len(every) // 2
    tail = 1.0 - p[half:][near[half:]]
    flat = ~(tail[1:] < tail[:-1] * (1.0 - 1e-9)) & ~(tail[:-1] <= _SURE)
    at = every[half:][: len(tail)][1:]
    fault = f"{what} does not rise strictly, as a proper loss's does,"
    return not look(fault, at, 1.0 - tail[1:], flat)


def _check_link(
    look: Any, p: Array, every: Array, binding_link: Array, near: NDArray[np.bool_]
) -> None:
    v, inside = every[near], p[near]
    if look("the probability is not in [0, 1]", v, inside, ~((inside >= 0.0) & (inside <= 1.0))):
        return
    _rises(look, "the probability", every, p, near)
    odd = np.abs(inside + inside[::-1] - 1.0) > 1e-6
    look("the link is not odd: p(v) + p(-v) differs from 1; p(v)", v, inside, odd)
    apart = np.abs(binding_link[near] - inside) > 1e-4
    look(
        "link and weight do not belong together (the binding is not odd, or the link another "
        f"loss's): {_BINDING_LINK} is not the probability",
        v, binding_link[near], apart,
    )  # fmt: skip
