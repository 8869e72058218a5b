"""What may be wrong with a loss, and at which margin it shows first."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost import _core

__all__ = ["LossProblem", "LossReport", "check"]

Array = NDArray[np.float64]

_FARTHEST = 30.0  # gains
_KNOTS = _core.loss_knots()
_KINKS = 16  # looked at closely
_FINE = (np.arange(4096) + 0.5) / 4096
_SIMPSON = ((0.0, 1.0 / 6.0), (0.5, 4.0 / 6.0), (1.0, 1.0 / 6.0))


@dataclass(frozen=True)
class LossProblem:
    """Something that is wrong with a loss.

    Attributes
    ----------
    what : str
        In words.
    margin : float
        v, the margin nearest to 0 at which it was seen.
    value : float
        The offending value there: of what `what` begins with.
    """

    what: str
    margin: float
    value: float

    def __str__(self) -> str:
        return f"{self.what} at margin {self.margin:.6g} (it is {self.value:.6g})"


@dataclass(frozen=True)
class LossReport:
    """What `check` found; true, and without problems, if the loss is sound.

    Attributes
    ----------
    name : str
        The loss's.
    problems : tuple of LossProblem
        In the order in which they were looked for.
    """

    name: str
    problems: tuple[LossProblem, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            return f"loss {self.name!r}: nothing wrong was found"
        return f"loss {self.name!r}: " + "; ".join(str(problem) for problem in self.problems)


def check(loss: Any) -> LossReport:
    """Look for what makes a margin loss unfit to be boosted with.

    Looked at are margins up to 30 gains from 0, 128 of them up to the first gain and half as many
    a gain from one power of two to the next.

    - ``phi`` and its weight are finite, the weight is at least 0, so that phi decreases;
    - the weight is -phi', and the curvature phi'', to 1e-3 (their integrals are compared);
    - phi is convex, if its attribute ``convex`` says so (BoostLR, eq. 57 [1]_);
    - the inverse link does not fall, lies in [0, 1] and is odd: probability(-F) = 1 -
      probability(F);
    - link and weight belong together: p w(F) = (1 - p) w(-F) at p = probability(F).  They do
      unless the binding function is not odd, the minimum risk is not symmetric, or the link is
      another loss's.

    Parameters
    ----------
    loss : MarginLoss or object
        A loss; any object does that has the methods ``loss`` and ``weight`` of arrays of margins.
        What it has of ``curvature``, ``probability``, ``convex``, ``gain`` and ``name`` is looked
        at too.

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
    for method in ("loss", "weight"):
        if not callable(getattr(loss, method, None)):
            raise TypeError(f"loss must have the method {method!r}; got {loss!r}")
    gain = float(getattr(loss, "gain", 1.0))
    z = _KNOTS[_KNOTS <= _FARTHEST]
    v = gain * np.concatenate([-z[:0:-1], z])
    problems: list[LossProblem] = []

    def look(
        what: str, at: Array, value: Array, wrong: Array, find: Callable[[float], float] | None
    ) -> bool:
        """Note the wrong place that is nearest to 0; return whether there is one."""
        if not wrong.any():
            return False
        order = np.argsort(np.abs(at), kind="stable")
        first = int(order[np.argmax(wrong[order])])
        margin, found = float(at[first]), float(value[first])
        if find is not None and margin != 0.0:
            margin, found = _narrow(find, margin, gain)
        problems.append(LossProblem(what, margin, found))
        return True

    def of(method: str, u: Array) -> Array:
        with np.errstate(all="ignore"):
            values: Array = np.asarray(getattr(loss, method)(u), dtype=np.float64)
        return values

    phi, weight = of("loss", v), of("weight", v)
    broken = [
        look(f"{what} is not finite", v, values, ~np.isfinite(values), None)
        for what, values in (("phi", phi), ("the weight", weight))
    ]
    if not any(broken) and not _falls(look, of, gain):
        _compare(look, of, v, "loss", "weight", "the weight is not -phi'")
        if callable(getattr(loss, "curvature", None)):
            _check_curvature(loss, look, of, v)
        if callable(getattr(loss, "probability", None)):
            _check_link(look, v, of("probability", v), weight)
    return LossReport(str(getattr(loss, "name", type(loss).__name__)), tuple(problems))


def _falls(look: Any, of: Any, gain: float) -> bool:
    """Look for weights below 0, beyond the other checks' margins too."""
    v = gain * np.concatenate([-_KNOTS[:0:-1], _KNOTS])
    weight = of("weight", v)
    least = -1e-9 * np.abs(weight[np.abs(v) <= _FARTHEST * gain]).max()
    negative: bool = look(
        "phi does not decrease: its weight is below 0",
        v, weight, weight < least, lambda x: float(of("weight", np.array([x]))[0]),
    )  # fmt: skip
    return negative


def _narrow(value: Callable[[float], float], wrong: float, gain: float) -> tuple[float, float]:
    """Return where between 0 and a margin of negative value that begins, and the value there."""
    right = 0.0
    if value(right) < 0.0:
        return 0.0, value(0.0)
    for _ in range(60):
        middle = 0.5 * (right + wrong)
        if value(middle) < 0.0:
            wrong = middle
        else:
            right = middle
        if abs(wrong - right) < 1e-9 * gain:
            break
    return wrong, value(wrong)


def _compare(look: Any, of: Any, v: Array, falling: str, slope: str, what: str) -> None:
    """Compare differences with integrals, from one margin to the next."""
    value, minus_slope = of(falling, v), of(slope, v)
    width = np.diff(v)
    rise = -np.diff(value) / width
    size = np.maximum(np.abs(minus_slope[1:]), np.abs(minus_slope[:-1]))
    # Rounding of single precision, which native functions may have.
    noise = 3e-6 * np.maximum(np.abs(value[1:]), np.abs(value[:-1])) / width
    allowed = 1e-3 * (size + np.abs(rise)) + noise + 1e-6 * np.abs(minus_slope).max()
    total = sum(share * of(slope, v[:-1] + place * width) for place, share in _SIMPSON)
    bad = ~(np.abs(total - rise) <= allowed)
    # A kink between two margins is no fault.
    for k in np.flatnonzero(bad)[np.argsort(np.abs(v[:-1][bad]))][:_KINKS]:
        total[k] = of(slope, v[k] + width[k] * _FINE).mean()
        bad[k] = not abs(total[k] - rise[k]) <= allowed[k]
    middle = 0.5 * (v[1:] + v[:-1])
    look(f"{what}: on average between two margins it has another value", middle, total, bad, None)


def _check_curvature(loss: Any, look: Any, of: Any, v: Array) -> None:
    curvature = of("curvature", v)
    if look("the curvature is not finite", v, curvature, ~np.isfinite(curvature), None):
        return
    _compare(look, of, v, "weight", "curvature", "the curvature is not phi''")
    if getattr(loss, "convex", False):
        least = -1e-6 * np.abs(curvature).max()
        what = "phi is claimed to be convex, but its curvature is below 0"
        look(what, v, curvature, curvature < least, None)


def _check_link(look: Any, v: Array, p: Array, weight: Array) -> None:
    if look("the probability is not in [0, 1]", v, p, ~((p >= 0.0) & (p <= 1.0)), None):
        return
    look("the probability falls", v[1:], p[1:], np.diff(p) < -1e-6, None)
    odd = np.abs(p + p[::-1] - 1.0) > 1e-6
    look("the link is not odd: p(v) + p(-v) differs from 1; p(v)", v, p, odd, None)
    own = weight[::-1] / np.where(weight + weight[::-1] > 0.0, weight + weight[::-1], np.nan)
    apart = np.abs(own - p) > 1e-4
    look(
        "link and weight do not belong together (the binding is not odd, or the link another "
        "loss's): w(-v) / (w(v) + w(-v)) is not the probability",
        v, own, apart, None,
    )  # fmt: skip
