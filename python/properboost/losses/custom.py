"""Losses given by functions of one's own, and what all that are not built in have in common."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import LowLevelCallable

from properboost import _core
from properboost.losses import table as tables
from properboost.losses.builtin import MarginLoss
from properboost.losses.check import check
from properboost.losses.table import LossTable, check_name, evaluate, find_name
from properboost.parameters import between, positive

__all__ = ["CustomLoss", "from_functions"]

Array = NDArray[np.float64]

_STEP_OF_SINGLES = 0.03  # for differences of what is known to 6e-8


class _Native:
    """A native function: equal to itself alone, and hashable, which scipy's object is not."""

    def __init__(self, function: LowLevelCallable) -> None:
        self.function = function


@dataclass(frozen=True, repr=False)
class CustomLoss(MarginLoss):
    """A loss of one's own; `from_pdf`, `from_risk` and `from_functions` make it.

    It is a table of its weights, and then runs at the speed of a built-in loss, or it has functions
    that are called for every row.  It is a value as every loss is, and picklable unless its
    functions are not.  Methods read the table, accurate to about 1e-9 of the largest weight for a
    smooth loss, or call the functions.  Weights stop growing at e^64 = 6e27.

    Attributes
    ----------
    name : str
        What error messages, plots and searches call it.
    table : LossTable
        Its weights at gain 1.
    gain : float
        sigma, above 0.
    functions : tuple or None
        The weight function, and the loss function or None, if they are to be called.
    """

    name: str  # type: ignore[misc]  # of the object, not of its class
    table: LossTable
    gain: float = 1.0
    functions: tuple[Any, Any] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name(self.name)

    @property
    def native(self) -> _core.Loss:
        """The compiled loss at gain 1, which the engine trains with."""
        return _make_native(self.name, self.table, self.functions)

    def _of_margin(self, function: str, v: ArrayLike, power: int) -> Array:
        called = dict(zip(("weight", "loss"), self.functions or (), strict=False)).get(function)
        if called is None:
            return super()._of_margin(function, v, power)
        u = np.asarray(v, dtype=np.float64) / self.gain
        values = _read(called, u, self.name, function) * self.gain**power
        return values if values.ndim else values[()]

    def __repr__(self) -> str:
        return f"CustomLoss({self.name!r}, gain={self.gain!r})"

    def __copy__(self) -> "CustomLoss":
        return self

    def __deepcopy__(self, memo: object) -> "CustomLoss":
        return self  # a value, and native functions cannot be copied

    def __reduce__(self) -> tuple[type["CustomLoss"], tuple[Any, ...]]:
        if any(isinstance(function, _Native) for function in self.functions or ()):
            raise TypeError(
                f"loss {self.name!r} calls a native function, which cannot be pickled: make the "
                "loss anew in each process, or with tabulate=True"
            )
        return CustomLoss, (self.name, self.table, self.gain, self.functions)


@lru_cache(maxsize=256)
def _make_native(name: str, table: LossTable, functions: tuple[Any, Any] | None) -> _core.Loss:
    base = table.make_native(name)
    if functions is None:
        return base
    return _core.Loss.called(base, *(_unwrap(function) for function in functions))


def _unwrap(function: Any) -> Any:
    return function.function if isinstance(function, _Native) else function


def _read(function: Any, u: Array, name: str, what: str, *, forgiving: bool = False) -> Array:
    if not isinstance(function, _Native):
        return evaluate(function, u, name, what, forgiving=forgiving)
    with np.errstate(over="ignore"):
        single = u.astype(np.float32)
    values = _core.call_margin_function(function.function, name, what, single)
    return np.asarray(values, dtype=np.float64)


def from_functions(
    weight: Callable[[Any], Any] | LowLevelCallable | None = None,
    loss: Callable[[Any], Any] | LowLevelCallable | None = None,
    *,
    name: str | None = None,
    curvature: Callable[[Any], Any] | None = None,
    scale: float = 1.0,
    tabulate: bool | None = None,
    validate: bool = True,
    gain: float = 1.0,
) -> CustomLoss:
    """Return the loss that functions of the margin u = v / gain define.

    The weight is all the engine needs: the loss is its integral and the inverse link follows from
    p w(u) = (1 - p) w(-u).

    Parameters
    ----------
    weight : callable, LowLevelCallable or None
        -phi'(u), at least 0.  A Python callable takes a float64 array and returns one of its shape
        (one that only takes numbers is called with numbers, if it is to be tabulated).  A native
        one has one of the signatures

        - ``void (const float *u, float *out, intptr_t n, void *user_data)``, which fills `out`,
        - ``double (double)``, ``double (double, void *user_data)``, a call a row.

        None stands for the differences of `loss`.
    loss : callable, LowLevelCallable or None, default=None
        phi(u).  None stands for the integral of the weight up to infinity.
    name : str or None, default=None
        The loss's name; None takes the function's.
    curvature : callable or None, default=None
        phi''(u), of arrays.  None takes differences of the weight.
    scale : float, default=1.0
        The natural size of a margin, from 1e-6 to 1e6.  Tables are finest within it; if the
        functions have a kink, or reach 0, at ``-scale`` or ``scale`` (or 0), that costs nothing.
    tabulate : bool or None, default=None
        Whether to read the functions once into a table: then the loss trains at the speed of a
        built-in one, and can be pickled.  False has them called for every block of rows: native
        ones by the engine's threads without the GIL, Python ones by one thread at a time.  None
        tabulates Python functions and calls native ones.
    validate : bool, default=True
        Whether to refuse a loss that `check` finds fault with.  Without it the functions are
        called, not tabulated, and a fit stops where a weight is not finite or below 0.
    gain : float, default=1.0
        sigma, above 0.

    Returns
    -------
    CustomLoss

    Raises
    ------
    ValueError
        If something is wrong with the loss: the message names it and the margin.

    Examples
    --------
    >>> import numpy as np
    >>> from properboost.losses import from_functions
    >>> loss = from_functions(lambda u: 1.0 / (1.0 + np.exp(u)), name="logistic")
    >>> bool(abs(loss.loss(0.0) - np.log(2.0)) < 1e-9)
    True
    """
    scale = between("scale", scale, 1e-6, 1e6)
    gain = positive("gain", gain)
    name = find_name(loss if weight is None else weight, "custom") if name is None else name
    given: dict[str, Any] = {"weight": weight, "loss": loss, "curvature": curvature}
    for what, function in given.items():
        if isinstance(function, LowLevelCallable):
            given[what] = _Native(function)
        elif function is not None and not callable(function):
            raise TypeError(
                f"{what} must be a callable, a scipy.LowLevelCallable or None; got {function!r}"
            )
    if weight is None and loss is None:
        raise ValueError("weight and loss must not both be None")
    native = any(isinstance(function, _Native) for function in given.values())
    calls = not validate or (native if tabulate is None else not tabulate)
    if weight is None and (calls or native):
        raise ValueError("weight must not be None where functions are native, or to be called")
    table = _tabulate(name, given, scale, native=native, validate=validate, calls=calls)
    functions = (given["weight"] or _differences(loss, scale), given["loss"])
    if validate:
        _refuse(CustomLoss(name, table, functions=functions), given["curvature"])
    return CustomLoss(name, table, gain, functions if calls else None)


def _refuse(candidate: CustomLoss, curvature: Any) -> None:
    looked_at = SimpleNamespace(
        name=candidate.name,
        convex=candidate.convex,
        loss=candidate.loss,
        weight=candidate.weight,
        probability=candidate.probability,
    )
    if curvature is not None:  # that of a table agrees with its weights in any case
        looked_at.curvature = lambda u: _read(curvature, u, candidate.name, "curvature")
    report = check(looked_at)
    if not report.ok:
        raise ValueError(str(report))


def _differences(loss: Any, scale: float) -> Callable[[Array], Array]:
    """Return minus the derivative of a Python function, by central differences of sixth order."""

    def weight(u: Array) -> Array:
        u = np.asarray(u, dtype=np.float64)
        h = 0.01 * (scale + np.abs(u))
        total = np.zeros_like(u)
        for shift, factor in ((1.0, 45.0), (2.0, -9.0), (3.0, 1.0)):
            total += factor * (loss(u - shift * h) - loss(u + shift * h))
        return total / (60.0 * h)

    return weight


def _tabulate(
    name: str, given: dict[str, Any], scale: float, *, native: bool, validate: bool, calls: bool
) -> LossTable:
    def read(what: str) -> Callable[[Array], Array]:
        def values(u: Array) -> Array:
            found = _read(given[what], u, name, what, forgiving=not validate)
            # What is wrong is found by a fit.
            return found if validate else np.nan_to_num(np.clip(found, 0.0, None), posinf=0.0)

        return values

    return tables.tabulate(
        name,
        _differences(read("loss"), scale) if given["weight"] is None else read("weight"),
        scale,
        curvature=None if given["curvature"] is None else read("curvature"),
        step=_STEP_OF_SINGLES if native else 1e-3,
        accuracy=None if calls else 1e-4,
    )
