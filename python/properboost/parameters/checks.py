"""Checks of the values that users pass; errors name the allowed values."""

import math
import numbers
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "LARGEST_INT",
    "auto_or_list",
    "between",
    "boolean",
    "check_class_weight",
    "check_random_state",
    "check_threads",
    "choice",
    "companion",
    "count_threads",
    "count_threads_of",
    "either",
    "entries",
    "finite",
    "integer",
    "is_integer",
    "is_list",
    "non_negative",
    "numbers_of",
    "one_of",
    "or_else",
    "positive",
    "probabilities",
    "seed",
    "share",
    "smoothing",
    "verbosity",
]

T = TypeVar("T")
U = TypeVar("U")

LARGEST_INT = 2**31 - 1
"""The largest value of the engine's int."""

FEW_ROWS = 64
"""Rows that one thread predicts in less time than a count of CPUs takes."""


def positive(name: str, value: object) -> float:
    """Return `value` as a float above zero."""
    number = _finite(name, value, "a finite number above 0")
    if number <= 0.0:
        raise ValueError(f"{name} must be above 0; got {value!r}")
    return number


def finite(name: str, value: object) -> float:
    """Return `value` as a finite float."""
    return _finite(name, value, "a finite number")


def non_negative(name: str, value: object) -> float:
    """Return `value` as a float of at least zero."""
    return between(name, value, 0.0, math.inf)


def between(name: str, value: object, low: float, high: float) -> float:
    """Return `value` as a finite float in [low, high]."""
    allowed = f"at least {low:g}" if high == math.inf else f"between {low:g} and {high:g}"
    number = _finite(name, value, f"a finite number {allowed}")
    if not low <= number <= high:
        raise ValueError(f"{name} must be {allowed}; got {value!r}")
    return number


def integer(name: str, value: object, low: int, high: int | None = None) -> int:
    """Return `value` as an int in [low, high]."""
    allowed = f"at least {low}" if high is None else f"between {low} and {high}"
    if not is_integer(value):
        raise TypeError(f"{name} must be an integer {allowed}; got {_describe(value)}")
    number: int = int(value)  # type: ignore[call-overload]
    if number < low or (high is not None and number > high):
        raise ValueError(f"{name} must be {allowed}; got {value!r}")
    return number


def verbosity(name: str, value: object) -> int:
    """Return the reports of a fit as an int of at least 0: booleans and -1 mean 1 and 0."""
    if isinstance(value, bool):
        return int(value)
    return max(integer(name, value, -1), 0)


def is_integer(value: object) -> bool:
    """Return whether a value is an integer, which booleans are not."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def numbers_of(name: str, values: Any, allowed: str = "an array of numbers") -> NDArray[np.float64]:
    """Return integers, booleans or floats of any shape as an array of float64."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be {allowed}; got rows of different lengths") from error
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be {allowed}; got an array of type {array.dtype}")
    converted: NDArray[np.float64] = np.ascontiguousarray(array, dtype=np.float64)
    return converted.reshape(array.shape)


def probabilities(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return numbers from 0 to 1, or NaN, as an array."""
    p = np.asarray(values, dtype=np.float64)
    outside = (p < 0.0) | (p > 1.0)
    if np.any(outside):
        raise ValueError(f"{name} must be between 0 and 1; got {float(p[outside].flat[0])!r}")
    return p


def share(name: str, value: object) -> float:
    """Check a share above 0 and up to 1."""
    if between(name, value, 0.0, 1.0) == 0.0:
        raise ValueError(f"{name} must be above 0 and at most 1; got {value!r}")
    return positive(name, value)


def level(name: str, value: object) -> float:
    """Return a level above 0 and below 1."""
    number = finite(name, value)
    if not 0.0 < number < 1.0:
        raise ValueError(f"{name} must be above 0 and below 1; got {value!r}")
    return number


def smoothing(name: str, value: object) -> float:
    """Check the spread of sums, up to the engine's bound."""
    return between(name, value, 0.0, 10_000.0)


def choice(name: str, value: object, known: Sequence[str]) -> str:
    """Return `value`, which must be one of the `known` names."""
    names = ", ".join(repr(k) for k in known)
    if not isinstance(value, str):
        raise TypeError(f"{name} must be one of {names}; got {_describe(value)}")
    if value not in known:
        # By name, at an error only: servers start without the words.
        advice = import_module("properboost.parameters.words").advise_on_value(value, known)
        raise ValueError(f"{name} must be one of {names}; got {value!r}{advice}")
    return value


def one_of(names: Any) -> Callable[[str, object], str]:
    """Return the check of a `Literal` of names."""
    return partial(choice, known=get_args(names))


def entries(
    name: str, values: Any, read: Callable[[str, object], T], allowed: str = "a list"
) -> list[T]:
    """Return the distinct entries of a list or one-dimensional array, checked by `read`."""
    if not is_list(values):
        raise TypeError(f"{name} must be {allowed}; got {_describe(values)}")
    distinct = list(dict.fromkeys(read(f"{name}[{k}]", entry) for k, entry in enumerate(values)))
    if not distinct:
        raise ValueError(f"{name} must not be empty")
    return distinct


def is_list(value: object) -> bool:
    """Return whether a value is a list: a sequence other than text, or a one-dimensional array."""
    # A generator would be empty the second time, and a set has no fixed order.
    if isinstance(value, Sequence):
        return not isinstance(value, str | bytes | bytearray | memoryview)
    return getattr(value, "ndim", 0) == 1


def boolean(name: str, value: object) -> bool:
    """Return `value`, which must be True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False; got {value!r}")
    return bool(value)


def either(read: Callable[[str, object], T], *others: U) -> Callable[[str, object], T | U]:
    """Return a check that accepts the `others`, and passes any other value to `read`.

    Errors name these besides the values that `read` allows.
    """

    def check(name: str, value: object) -> T | U:
        for other in others:
            same_kind = isinstance(value, str) or (is_integer(value) and is_integer(other))
            if value is other or (same_kind and value == other):
                return other
        return or_else(read, " or ".join(map(repr, others)))(name, value)

    return check


def or_else(read: Callable[[str, object], T], allowed: str) -> Callable[[str, object], T]:
    """Return the check `read`, with errors that name the `allowed` values, too."""

    def check(name: str, value: object) -> T:
        try:
            return read(name, value)
        except (TypeError, ValueError) as error:
            # Errors of checks have this form; that of an entry, "name[0] must ...", stays as it is.
            rule, got, shown = str(error).partition("; got ")
            if not rule.startswith(f"{name} must "):
                raise
            raise type(error)(f"{rule}, or {allowed}{got}{shown}") from None

    return check


def auto_or_list(name: str, value: Any, read: Callable[[str, object], T]) -> list[T] | None:
    """Return the `entries` of a list of numbers; None if it is "auto"."""
    allowed = "'auto' or a list of numbers"
    if not isinstance(value, str):
        return entries(name, value, read, allowed)
    if value != "auto":
        raise ValueError(f"{name} must be {allowed}; got {value!r}")
    return None


def companion(needed: str, of_needed: object, **arguments: object) -> None:
    """Refuse arguments that have no meaning without another one."""
    for name, value in arguments.items():
        if value is not None and of_needed is None:
            raise ValueError(f"{name} must be given with {needed} only")


def check_class_weight(name: str, value: object) -> object:
    """Check factors by label; `read_rows` checks that the labels are classes."""
    if value is None or (isinstance(value, str) and value == "balanced"):
        return value
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} must be None, 'balanced' or a dict; got {value!r}")
    for label, weight in value.items():
        if not isinstance(label, str | int | float | np.generic):
            raise TypeError(f"{name} must have labels as keys; got {label!r}")
        if isinstance(label, float | np.floating) and not math.isfinite(label):
            raise ValueError(f"{name} must have finite labels as keys; got {label!r}")
        positive(f"{name}[{label!r}]", weight)
    return value


def seed(random_state: Any) -> int:
    """Return the seed of `random_state`; that of None is 0, so that fits repeat."""
    check_random_state(random_state)
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return int(random_state)


def check_random_state(random_state: object) -> None:
    """Check a `random_state` without drawing from it."""
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return
    allowed = "None, an integer from 0 to 4294967295 or a numpy.random.RandomState"
    if isinstance(random_state, bool) or not isinstance(random_state, numbers.Integral):
        raise TypeError(f"random_state must be {allowed}; got {_describe(random_state)}")
    if not 0 <= int(random_state) < 2**32:
        raise ValueError(f"random_state must be {allowed}; got {random_state!r}")


def check_threads(n_jobs: object) -> int | None:
    """Return `n_jobs` as an integer or None, without counting CPUs."""
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral):
        raise TypeError(f"n_jobs must be None or an integer; got {_describe(n_jobs)}")
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0: None or -1 use every CPU, 1 uses one")
    return int(n_jobs)


def count_threads(n_jobs: object) -> int:
    """Return the number of threads for `n_jobs`.

    None and -1 mean ``OMP_NUM_THREADS`` where it is set, else the CPUs this process may use (its
    affinity and its container's quota count); -2 one fewer, and so on.
    """
    n_threads = check_threads(n_jobs)
    if n_threads is None:
        return _available()
    return min(n_threads, LARGEST_INT) if n_threads > 0 else max(1, _available() + 1 + n_threads)


def count_threads_of(n_rows: int, n_jobs: object) -> int:
    """Return the number of threads that predict so many rows."""
    if n_rows <= FEW_ROWS:
        check_threads(n_jobs)
        return 1
    return count_threads(n_jobs)


def _available() -> int:
    # OpenMP allows a list, one number per nesting level; this is the outermost level.
    setting = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    digits = setting.lstrip("0")
    if setting.isascii() and setting.isdigit() and digits:
        # Python refuses to convert thousands of digits.
        return min(int(digits[: len(str(LARGEST_INT)) + 1]), LARGEST_INT)
    import joblib  # on use, as it takes as long as all else of a server's start

    try:
        return int(joblib.cpu_count())
    except ValueError as error:
        limit = os.environ.get("LOKY_MAX_CPU_COUNT")
        raise ValueError(f"LOKY_MAX_CPU_COUNT must be an integer; got {limit!r}") from error


def _finite(name: str, value: object, allowed: str) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be {allowed}; got {_describe(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be {allowed}; got {value!r}")
    return number


def _describe(value: object) -> str:
    return f"{value!r} ({type(value).__name__})"
