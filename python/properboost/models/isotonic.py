"""Isotonic regression of a table by code."""

import numpy as np
from numpy.typing import NDArray

from properboost.models.bag_design import find_size

__all__ = ["regress_isotonic"]


def regress_isotonic(
    values: NDArray[np.float64], weight: NDArray[np.float64], direction: int
) -> NDArray[np.float64]:
    """Return the nearest values by weight that do not fall (1) or do not rise (-1).

    Values without weight lie between their neighbours'.
    """
    weighted = np.flatnonzero(weight > 0.0)
    if not len(weighted):
        return np.zeros_like(values)
    size, unit = find_size(values), find_size(weight)  # powers of two: products do not overflow
    from sklearn.isotonic import isotonic_regression  # on use, because its import takes long

    fitted = size * isotonic_regression(
        values[weighted] / size, sample_weight=weight[weighted] / unit, increasing=direction > 0
    )
    between = np.interp(np.arange(len(values)), weighted, fitted)
    in_order: NDArray[np.float64] = direction * np.maximum.accumulate(direction * between)
    return in_order
