"""The thresholds of ordered classes: where they start, where they end, and what a row weighs.

A row is compared with every threshold, so it counts several times, and its comparisons depend on
each other.  Their sum of losses is a composite likelihood: its score has another variance than
its curvature.  Rows are weighted so that both agree where nothing is known, as they do for two
classes (Pauli, Racugno and Ventura 2011, Statistica Sinica 21).  Then tests of chance, which choose
features and end boosting, hold for ordered classes, too.
"""

import numpy as np
from numpy.typing import NDArray

from properboost.data.whole_sums import add_up_by
from properboost.fitting.intercept import find_intercepts
from properboost.losses.builtin import MarginLoss
from properboost.losses.probabilities import Link

__all__ = ["find_shares_above", "find_thresholds", "start_thresholds", "weigh_comparison"]

Array = NDArray[np.float64]


def find_shares_above(
    class_of_row: NDArray[np.integer], weight: Array | None, n_classes: int
) -> Array:
    """Return the share of the rows above each of the first classes, (n_classes - 1,)."""
    of_class = add_up_by(class_of_row, weight, n_classes)
    above = np.cumsum(of_class[::-1])[::-1]
    shares: Array = above[1:] / above[0]
    return shares


def weigh_comparison(shares_above: Array) -> float:
    """Return the weight of a row's comparison with one threshold, at most 1.

    It is the sum of the comparisons' variances over the variance of their sum, for rows with these
    shares above the thresholds.
    """
    variances = shares_above * (1.0 - shares_above)
    # The rows above both of two thresholds are those above the larger, which are fewer.
    both = np.minimum.outer(shares_above, shares_above)
    covariances = both - np.outer(shares_above, shares_above)
    return float(variances.sum() / covariances.sum())


def start_thresholds(loss: MarginLoss, shares_above: Array) -> Array:
    """Return the thresholds that have these shares of the rows above them where F is 0."""
    return -loss.link(shares_above)


def find_thresholds(
    loss: MarginLoss, raw: Array, class_of_row: NDArray[np.integer], weight: Array | None
) -> Array:
    """Return the thresholds at which mean probabilities are shares, given F of the rows.

    `raw` is F, (n_rows,), or F less the moves of each threshold, (n_rows, n_thresholds).
    Under canonical losses they minimise the risk.  They ascend, because shares fall.
    """
    n_classes = int(class_of_row.max()) + 1
    link = Link(loss)
    columns = raw[:, None] if raw.ndim == 1 else raw.T[..., None]
    by_threshold = np.broadcast_to(columns, (n_classes - 1, len(raw), 1))
    levels = [
        find_intercepts(link, by_threshold[j], (class_of_row > j).astype(np.intp), weight)[0]
        for j in range(n_classes - 1)
    ]
    return np.maximum.accumulate(-np.array(levels))
