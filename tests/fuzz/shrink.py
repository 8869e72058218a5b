"""Make a failing case smaller while it fails in the same way."""

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

__all__ = ["shrink"]

Case = TypeVar("Case")


def shrink(
    case: Case,
    smaller: Callable[[Case], Iterator[Case]],
    fails: Callable[[Case], bool],
    seconds: float = 60.0,
) -> Case:
    """Return the smallest failing case that is found in this time.

    Parameters
    ----------
    case : Case
        A case that fails.
    smaller : callable
        Yields simpler cases of one, those that save most first.
    fails : callable
        Whether a case fails in the same way.
    seconds : float, default=60
        When to stop.

    Returns
    -------
    Case
        One none of whose simpler cases fails, if there was time.
    """
    end = time.monotonic() + seconds
    shrunk = True
    while shrunk:
        shrunk = False
        for candidate in smaller(case):
            if time.monotonic() > end:
                return case
            if fails(candidate):
                case, shrunk = candidate, True
                break
    return case
