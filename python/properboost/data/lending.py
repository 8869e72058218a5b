"""What functions of others are lent: they see it, and cannot change what it was made from."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.libraries import is_a, is_missing

__all__ = ["Loan", "lend"]


def lend(values: Any) -> Any:
    """Return an array that cannot be written to, or a copy of a frame; anything else as it is.

    Arrow's tables never change.
    """
    if isinstance(values, np.ndarray):
        lent = values.view()
        lent.flags.writeable = False
        return lent
    if is_a(values, "pandas", "DataFrame") or is_a(values, "pandas", "Series"):
        # From 3 on pandas copies where one of two frames is written to.
        return values.copy(deep=int(sys.modules["pandas"].__version__.split(".")[0]) < 3)
    if is_a(values, "polars", "DataFrame") or is_a(values, "polars", "Series"):
        return values.clone()
    return values


class Loan:
    """Rows as a function of others gets them, and whether they come back so.

    `take` returns them anew at each call.
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
                lent = lent.astype(asked.dtype)  # single precision is no other row
        return np.array_equal(asked, lent, equal_nan=True)
    return all(map(_are_equal, asked.ravel().tolist(), lent.ravel().tolist()))


def _are_equal(a: Any, b: Any) -> bool:
    if is_missing(a) or is_missing(b):
        return is_missing(a) and is_missing(b)
    return a is b or bool(a == b)
