"""The distinct values of an array, in ascending order."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["find_distinct"]


def find_distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct values of an array without NaN, in ascending order.

    This is ``np.unique(values)``.  But NumPy 2.4 puts them into a table without the interpreter's
    lock, and ends the process if Python ends while a daemon thread does so.
    """
    ordered = np.sort(values, axis=None)
    is_first = np.ones(len(ordered), dtype=bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_first]
