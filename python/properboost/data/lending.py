"""Loans of rows to user functions, which can read them and cannot change the originals."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.libraries import is_a, is_missing

__all__ = ["Loan", "lend"]


def lend(values: Any) -> Any:
    """Return a read-only view of an array, or a copy of a frame; anything else as it is.

    Arrow tables never change.
    """
    if isinstance(values, np.ndarray):
        lent = values.view()
        lent.flags.writeable = False
        return lent
    if is_a(values, "pandas", "DataFrame") or is_a(values, "pandas", "Series"):
        # From version 3 on pandas copies a frame when somebody writes to it.
        return values.copy(deep=int(sys.modules["pandas"].__version__.split(".")[0]) < 3)
    if is_a(values, "polars", "DataFrame") or is_a(values, "polars", "Series"):
        return values.clone()
    return values


class Loan:
    """Rows for a user function, and a check that it returns them unchanged.

    `take` makes the rows anew at each call.
    """

    def __init__(self, take: Callable[[], Any]) -> None:
        self._take = take
        self.rows = take()
        if isinstance(self.rows, np.ndarray):
            self.rows.flags.writeable = False

    def is_returned(self, X: Any) -> bool:
        """Whether `X` has the rows that were lent, in their order, and no others."""
        if X is self.rows and (isinstance(X, np.ndarray) or is_a(X, "pyarrow", "Table")):
            return True  # nobody can have changed them
        lent = self._take()
        if type(X) is type(lent) and hasattr(X, "equals") and X.equals(lent):
            return True
        return _are_same(np.asarray(X), np.asarray(lent))


def _are_same(asked: NDArray[Any], lent: NDArray[Any]) -> bool:
    """Whether all entries are equal; missing ones are."""
    if asked.shape != lent.shape:
        return False
    if asked.dtype.kind in "biuf" and lent.dtype.kind in "biuf":
        if asked.dtype.kind == "f":
            with np.errstate(all="ignore"):
                lent = lent.astype(asked.dtype)  # rounding to single precision changes no row
        return np.array_equal(asked, lent, equal_nan=True)
    return all(map(_are_equal, asked.ravel().tolist(), lent.ravel().tolist()))


def _are_equal(a: Any, b: Any) -> bool:
    if is_missing(a) or is_missing(b):
        return is_missing(a) and is_missing(b)
    return a is b or bool(a == b)
