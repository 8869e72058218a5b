"""Shares of rows, with intervals."""

import numpy as np
from numpy.typing import NDArray

from properboost.report.found import Array, Estimate

__all__ = ["estimate_share"]

UNKNOWN = Estimate(np.nan, np.nan, np.nan)


def estimate_share(hits: NDArray[np.bool_], weight: Array, confidence_level: float) -> Estimate:
    """Return the share of the weight where something holds, with Wilson's interval.

    Rows of unequal weights count as so many of equal ones as would have the same precision.
    """
    from scipy.stats import binomtest  # a while to import

    total = float(weight.sum())
    if total == 0.0:
        return UNKNOWN
    share = float(weight @ hits / total)
    n = count_effective(weight)
    low, high = binomtest(min(n, round(share * n)), n).proportion_ci(confidence_level, "wilson")
    return Estimate(share, min(low, share), max(high, share))


def count_effective(weight: Array) -> int:
    """Return how many rows of equal weights have a mean as precise as these."""
    return max(1, round(float(weight.sum()) ** 2 / float(np.sum(weight**2))))
