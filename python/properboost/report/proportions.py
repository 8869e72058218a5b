"""Proportions of rows, with intervals and as log-odds."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from properboost.report.content import Array, Estimate

__all__ = ["estimate_proportion", "find_log_odds"]

UNKNOWN = Estimate(np.nan, np.nan, np.nan)


def estimate_proportion(
    hits: NDArray[np.bool_], weight: Array, confidence_level: float
) -> Estimate:
    """Return the share of the weight where something holds, with Wilson's interval.

    Rows of unequal weights count as the number of equal ones with the same precision.
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
    """Return the number of rows of equal weights whose mean is as precise."""
    return max(1, round(float(weight.sum()) ** 2 / float(np.sum(weight**2))))


_INSIDE = 1e-15
"""Distance of shares from 0 and 1, where they have no log-odds."""


def find_log_odds(share: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Return the log-odds of shares, which are finite."""
    log_odds: NDArray[np.float64] = logit(np.clip(share, _INSIDE, 1.0 - _INSIDE))
    return log_odds
