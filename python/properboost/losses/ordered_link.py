"""From the raw prediction of ordered classes and its thresholds to probabilities."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from properboost.losses.builtin import MarginLoss

__all__ = ["OrderedLink"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OrderedLink:
    """A link with P(class > j) = psi(F - thresholds[j]), for the inverse link psi of a loss.

    Because psi rises and the thresholds ascend, no probability is negative.
    """

    loss: MarginLoss
    thresholds: Array
    """The thresholds, (n_classes - 1,), in ascending order; or those of each row, a row each."""

    def probabilities(self, raw: Array) -> Array:
        """Return the probabilities of the classes in ascending order, (n_rows, n_classes)."""
        above = self.loss.probability(raw[:, None] - self.thresholds)
        below = self.loss.probability(self.thresholds - raw[:, None])
        none, all_ = np.zeros((len(raw), 1)), np.ones((len(raw), 1))
        from_above = np.hstack([all_, above]) - np.hstack([above, none])
        from_below = np.hstack([below, all_]) - np.hstack([none, below])
        # Both differences are the same number.  The one of the smaller terms keeps its digits.
        is_right = np.hstack([none, above]) > 0.5
        return np.maximum(np.where(is_right, from_below, from_above), 0.0)
