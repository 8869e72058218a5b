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

    def choose(self, raw: Array) -> NDArray[np.intp]:
        """Return the place of the most probable class of each row, the lowest of equals."""
        places: NDArray[np.intp] = self.probabilities(raw).argmax(axis=1)
        return places

    def find_cuts(self) -> Array:
        """Return the raw predictions between the classes, (n_classes - 1,).

        From the j-th on a class above the j-th is the most probable one.  A class that never is has
        two equal cuts.

        Raises
        ------
        ValueError
            If the most probable class falls somewhere as the raw prediction rises.
        """
        reach = self.loss.gain + np.ptp(self.thresholds)
        low, high = self.thresholds[0] - reach, self.thresholds[-1] + reach
        while self.choose(np.array([low]))[0] > 0:
            low -= high - low
        while self.choose(np.array([high]))[0] < len(self.thresholds):
            high += high - low
        if np.any(np.diff(self.choose(np.linspace(low, high, 4096))) < 0):
            raise ValueError(
                "the most probable of ordered classes must rise with F for changes, which it does "
                f"not under {self.loss!r}: fit with loss='glog'"
            )
        lows, highs = np.full(len(self.thresholds), low), np.full(len(self.thresholds), high)
        above = np.arange(len(self.thresholds))
        for _ in range(64):
            middle = 0.5 * (lows + highs)
            is_above = self.choose(middle) > above
            lows, highs = np.where(is_above, lows, middle), np.where(is_above, middle, highs)
        return highs

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
