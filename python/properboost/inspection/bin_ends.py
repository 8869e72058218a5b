"""Ends of a numeric feature's bins in a picture."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["find_bin_ends"]


def find_bin_ends(edges: NDArray[np.float64]) -> tuple[NDArray[np.float64], slice]:
    """Return both ends of every bin that a picture can show, and a slice of these bins.

    The outermost bins have no end; pictures show them a little way beyond the last edge.
    """
    # The edge below infinite values is the largest number.
    finite = np.flatnonzero(np.abs(edges) < np.finfo(np.float64).max)
    if len(finite) == 0:
        return np.array([0.0, 1.0]), slice(0, 1)
    first, last = finite[0], finite[-1]
    inner = edges[first : last + 1]
    margin = 0.04 * (inner[-1] - inner[0]) or 0.5
    ends = np.concatenate([[inner[0] - margin], inner, [inner[-1] + margin]])
    return ends, slice(first, last + 2)
