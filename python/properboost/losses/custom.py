"""Losses of the user's functions, and the class of all custom losses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any
from weakref import WeakValueDictionary, ref

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import LowLevelCallable

from properboost import _core
from properboost.losses import table as tables
from properboost.losses.builtin import MarginLoss
from properboost.losses.check import check
from properboost.losses.table import LossTable, check_name, evaluate, find_name
from properboost.parameters.checks import between, non_negative, positive
from properboost.parameters.kinds import Coupling

__all__ = ["CustomLoss", "from_functions"]

Array = NDArray[np.float64]

_STEP_OF_SINGLES = 0.03  # for differences of values with errors of 6e-8


class _Function:
    """A user's function; equal only to itself, and always hashable.

    It owns the compiled losses that call it, which losses of all gains share, so that they are
    freed with it.
    """

    def __init__(self, function: Any) -> None:
        self.function = function
        self._compiled: dict[Any, _core.Loss] = {}

    def __reduce__(self) -> tuple[Any, tuple[Any]]:
        return _wrap, (self.function,)

    def compile(self, name: str, table: LossTable, loss: _Function | None) -> _core.Loss:
        """Return the compiled loss with this function as its weight."""
        key = (name, table, loss)
        if key not in self._compiled:
            functions = (self.lend(), None if loss is None else loss.lend())
            made = _core.Loss.called(_make_native(name, table), *functions)
            return self._compiled.setdefault(key, made)  # another thread's, if that was first
        return self._compiled[key]

    def lend(self) -> Any:
        """Return the callable for the engine."""
        if self.native:
            return self.function  # its memory must live as long as the engine's loss
        # Python's collector cannot see into a compiled loss.  If that held the function itself, a
        # function that refers to its loss, as a method of the loss's owner, would never be freed.
        borrowed = ref(self)

        def call(u: Array) -> Any:
            lender = borrowed()
            if lender is None:
                raise ReferenceError("the loss that the function belongs to is there no more")
            return lender.function(u)

        return call

    @property
    def native(self) -> bool:
        return isinstance(self.function, LowLevelCallable)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Function) and self.function is other.function

    def __hash__(self) -> int:
        return id(self.function)


_known: WeakValueDictionary[int, _Function] = WeakValueDictionary()
"""The wrapper of each function, by the function's id, which is unique while the wrapper lives."""


def _wrap(function: Any) -> _Function | None:
    if function is None or isinstance(function, _Function):
        return function
    return _known.setdefault(id(function), _Function(function))


@dataclass(frozen=True, repr=False)
class CustomLoss(MarginLoss):
    """A custom loss; `from_pdf`, `from_risk` and `from_functions` make it.

    With a loss table it trains at about the speed of a built-in loss; with functions, the engine
    calls them for every row.  Like every loss it is a value, and picklable if its functions are.
    Methods read the table, accurate to about 1e-9 of the largest weight for a smooth loss, or call
    the functions.  Weights stop growing at e^64 = 6e27: in a loss table, and in training where
    functions are called.

    Attributes
    ----------
    name : str
        Its name in error messages, plots and searches.
    table : LossTable
        Its weights at gain 1.
    gain : float
        sigma, above 0.
    functions : tuple or None
        The weight function, and the loss function or None, if the engine calls them; each is in the
        attribute ``function`` of an object that is equal where it holds the same function.
    alpha : float or None
        The alpha of an alpha-tunable loss, see `from_pdf`.
    """

    name: str  # type: ignore[misc]  # of the object, not of its class
    table: LossTable
    gain: float = 1.0
    functions: tuple[Any, Any] | None = None
    alpha: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name(self.name)
        if self.functions is not None:
            weight, loss = (_wrap(function) for function in self.functions)
            object.__setattr__(self, "functions", (weight, loss))
        if self.alpha is not None:
            object.__setattr__(self, "alpha", non_negative("alpha", self.alpha))

    @property
    def parameters(self) -> Mapping[str, float]:
        """Alpha, if it has one."""
        return {} if self.alpha is None else {"alpha": self.alpha}

    @property
    def native(self) -> _core.Loss:
        """The compiled loss at gain 1, which the engine trains with."""
        if self.functions is None:
            return _make_native(self.name, self.table)
        weight, loss = self.functions
        compiled: _core.Loss = weight.compile(self.name, self.table, loss)
        return compiled

    @property
    def joint_forms(self) -> tuple[Coupling, ...]:
        """The canonical form, if the loss is canonical and a table defines it."""
        return super().joint_forms if self.functions is None else ()

    def _of_margin(self, function: str, v: ArrayLike, power: int) -> Array:
        called = dict(zip(("weight", "loss"), self.functions or (), strict=False)).get(function)
        if called is None:
            return super()._of_margin(function, v, power)
        u = np.asarray(v, dtype=np.float64) / self.gain
        values = _read(called, u, self.name, function) * self.gain**power
        return values if values.ndim else values[()]

    def __repr__(self) -> str:
        alpha = "" if self.alpha is None else f" alpha={self.alpha!r},"
        return f"CustomLoss({self.name!r},{alpha} gain={self.gain!r})"

    def __copy__(self) -> CustomLoss:
        return self

    def __deepcopy__(self, memo: object) -> CustomLoss:
        return self  # a value, and native functions cannot be copied

    def __reduce__(self) -> tuple[type[CustomLoss], tuple[Any, ...]]:
        if any(function is not None and function.native for function in self.functions or ()):
            raise TypeError(
                f"loss {self.name!r} calls a native function, which cannot be pickled: make the "
                "loss anew in each process, or with tabulate=True"
            )
        return CustomLoss, (self.name, self.table, self.gain, self.functions, self.alpha)


@lru_cache(maxsize=256)
def _make_native(name: str, table: LossTable) -> _core.Loss:
    return table.make_native(name)


def _read(function: _Function, u: Array, name: str, what: str, *, forgiving: bool = False) -> Array:
    if not function.native:
        return evaluate(function.function, u, name, what, forgiving=forgiving)
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

    The engine needs only the weight: the loss is its integral, and the inverse link follows from
    p w(u) = (1 - p) w(-u).

    Parameters
    ----------
    weight : callable, LowLevelCallable or None
        -phi'(u), at least 0, and such that w(-u) / w(u) rises strictly with u: that makes the loss
        proper.  A Python callable takes a float64 array and returns one of its shape
        (one that only takes numbers is called with numbers, if it is to be tabulated).  A native
        one has one of the signatures

        - ``void (const float *u, float *out, intptr_t n, void *user_data)``, which fills `out`,
        - ``double (double)``, ``double (double, void *user_data)``, with one call per row.

        None computes the weight by differences of `loss`.
    loss : callable, LowLevelCallable or None, default=None
        phi(u).  None is the integral of the weight up to infinity.
    name : str or None, default=None
        The loss's name; None takes the function's.
    curvature : callable or None, default=None
        phi''(u), of arrays.  None takes differences of the weight.
    scale : float, default=1.0
        The natural size of a margin, from 1e-6 to 1e6.  Tables are finest within it; if the
        functions have a kink, or reach 0, at ``-scale`` or ``scale`` (or 0), that costs no
        accuracy.
    tabulate : bool or None, default=None
        Whether to read the functions once into a table: then the loss trains at the speed of a
        built-in one, and can be pickled.  With False the engine calls them for every block of rows:
        native ones from its threads without the GIL, Python ones from one thread at a time.  None
        tabulates Python functions and calls native ones.
    validate : bool, default=True
        Whether to refuse a loss with faults, by `check`.  Without it the functions are called, not
        tabulated, and a fit stops where a weight is not finite or below 0.
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
    functions = _wrap_all(weight=weight, loss=loss, curvature=curvature)
    if weight is None and loss is None:
        raise ValueError("weight and loss must not both be None")
    native = any(function is not None and function.native for function in functions.values())
    calls = not validate or (native if tabulate is None else not tabulate)
    if weight is None and (calls or native):
        raise ValueError("weight must not be None where functions are native, or to be called")
    with nullcontext() if weight is not None else _blame_differences():
        table = _tabulate(name, functions, scale, native=native, validate=validate, calls=calls)
        if validate:
            _refuse(name, table, functions)
    called = (functions["weight"], functions["loss"]) if calls else None
    return CustomLoss(name, table, gain, called)


def _wrap_all(**functions: Any) -> dict[str, _Function | None]:
    """Check the types of functions, and wrap them."""
    for argument, function in functions.items():
        if not (function is None or callable(function) or isinstance(function, LowLevelCallable)):
            raise TypeError(
                f"{argument} must be a callable, a scipy.LowLevelCallable or None; got {function!r}"
            )
    return {argument: _wrap(function) for argument, function in functions.items()}


@contextmanager
def _blame_differences() -> Iterator[None]:
    """Add to errors that the weight may be wrong although the loss is sound."""
    try:
        yield
    except ValueError as error:
        raise ValueError(
            f"{error} -- the weight was computed by differences of the loss, which lose values "
            "that are small compared with it: pass the weight if the loss is sound"
        ) from error


def _refuse(name: str, table: LossTable, functions: Mapping[str, _Function | None]) -> None:
    tabulated = CustomLoss(name, table)
    looked_at = SimpleNamespace(
        name=name,
        table=table,
        convex=tabulated.convex,
        loss=tabulated.loss,
        weight=tabulated.weight,
        probability=tabulated.probability,
    )
    for what, function in functions.items():
        if function is not None:  # the curvature of a table agrees with its weights in any case
            setattr(looked_at, what, partial(_read, function, name=name, what=what))
    report = check(looked_at)
    if not report.ok:
        raise ValueError(str(report))


def _differences(loss: Callable[[Array], Array], scale: float) -> Callable[[Array], Array]:
    """Return minus the derivative of a function of arrays of margins."""
    return lambda u: -tables.central_difference(loss, u, 0.01 * (scale + np.abs(u)))


def _tabulate(
    name: str,
    functions: Mapping[str, _Function | None],
    scale: float,
    *,
    native: bool,
    validate: bool,
    calls: bool,
) -> LossTable:
    def read(what: str) -> Callable[[Array], Array] | None:
        function = functions[what]
        if function is None:
            return None

        def values(u: Array) -> Array:
            read = _read(function, u, name, what, forgiving=not validate)
            # Without validation a fit finds the faults.
            return read if validate else np.nan_to_num(np.clip(read, 0.0, None), posinf=0.0)

        return values

    weight = read("weight")
    if weight is None:
        loss = read("loss")
        assert loss is not None
        weight = _differences(loss, scale)
    return tables.tabulate(
        name,
        weight,
        scale,
        curvature=read("curvature"),
        step=_STEP_OF_SINGLES if native else 1e-3,
        accuracy=None if calls else 1e-4,
        advice=". Give the place of a kink as scale=..., or have the functions called with "
        "tabulate=False",
    )
