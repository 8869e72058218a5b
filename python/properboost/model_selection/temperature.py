"""The temperature of a softmax, fitted to scores of rows held out.

Probabilities are softmax(z / T), as in temperature scaling [1]_.  Their log loss is convex in 1 / T
and has one minimum, where its derivative is 0.

References
----------
.. [1] Guo, Pleiss, Sun and Weinberger (2017). On calibration of modern neural networks. ICML.
.. [2] Platt (1999). Probabilistic outputs for support vector machines and comparisons to
   regularized likelihood methods. Advances in large margin classifiers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["fit_temperature"]

Array = NDArray[np.float64]

DIGITS = 4
"""Of a temperature: more would move no log loss by 1e-7, and these are the same everywhere."""

ENOUGH = 1e-5
"""A change of log T that ends the search, whose error is then about the square of that."""

LONGEST = 2.0
"""Change of log T at most: far from the minimum derivatives say little about where it is."""

MOST_STEPS = 100


def fit_temperature(
    scores: Array,
    own: NDArray[np.integer[Any]],
    weight: Array | None = None,
    start: float = 1.0,
) -> float | None:
    """Return the temperature of least log loss.

    An error of 0 counts as half a row, as Platt has it [2]_: each row also counts as one of the
    other classes, by 1/(2S) of its weight, S being the weight of all rows, at least 1.  So scores
    that are always right have a temperature, too.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        The z.  A class of score -inf has probability 0 at every temperature; rows of such a class
        do not count.
    own : ndarray of shape (n_rows,)
        The class of each row, by position.
    weight : ndarray of shape (n_rows,), optional
        How often each row counts.
    start : float, default=1.0
        Where to begin.

    Returns
    -------
    float or None
        T, to four digits; None if no temperature is better than equal probabilities.
    """
    positions = np.arange(len(own))
    counts = np.isfinite(scores[positions, own.astype(np.intp)])
    weight = np.ones(len(own)) if weight is None else weight
    counts &= weight > 0.0
    if not counts.any():
        return None
    if not counts.all():
        scores, own, weight = scores[counts], own[counts], weight[counts]
    loss = _LogLoss(scores, own.astype(np.intp), weight)
    if loss.slope_of_none >= 0.0:
        return None
    at, low, high = -np.log(start), -np.inf, np.inf  # log(1 / T)
    for _ in range(MOST_STEPS):
        slope, curvature = loss.differentiate(np.exp(at))
        low, high = (low, at) if slope > 0.0 else (at, high)
        # Newton's step for the root of the slope as a function of log(1 / T).
        longest = -np.copysign(LONGEST, slope)
        step = -slope / curvature if abs(slope) < LONGEST * curvature else longest
        after = at + step
        if not low < after < high:
            after = 0.5 * (low + high)
        done = abs(after - at) < ENOUGH
        at = after
        if done:
            break
    return float(f"{np.exp(-at):.{DIGITS}g}")


class _LogLoss:
    """The mean log loss of softmax(b z), and what it is of other classes, as a function of b."""

    def __init__(self, scores: Array, own: NDArray[np.intp], weight: Array) -> None:
        total = weight.sum()
        self._weight = weight / total
        half_row = 0.5 / max(total, 1.0)
        self._counted = 1.0 + half_row
        # Classes come first: sums over them are then sums of vectors.
        below = np.ascontiguousarray(scores.T)
        below -= below.max(axis=0)
        known = np.isfinite(below)
        self._unknown = None if known.all() else ~known
        if self._unknown is not None:
            below[self._unknown] = 0.0
        self._below = below
        n_known = known.sum(axis=0)
        sums = below.sum(axis=0)
        of_own = below[own, np.arange(len(own))]
        of_others = (sums - of_own) / np.maximum(n_known - 1, 1)
        self._target = self._mean(of_own + half_row * of_others)
        self.slope_of_none = self._counted * self._mean(sums / n_known) - self._target
        self._buffers = np.empty_like(below), np.empty_like(below)

    def differentiate(self, b: float) -> tuple[float, float]:
        """Return b times the derivative, and b^2 times the second."""
        scaled = np.multiply(self._below, b, out=self._buffers[0])
        power = np.exp(scaled, out=self._buffers[1])
        if self._unknown is not None:
            power[self._unknown] = 0.0
        total = power.sum(axis=0)
        power *= scaled
        first = power.sum(axis=0) / total
        power *= scaled
        second = power.sum(axis=0) / total
        slope = self._counted * self._mean(first) - b * self._target
        return slope, self._counted * self._mean(second - first**2)

    def _mean(self, values: Array) -> float:
        return float((self._weight * values).sum())
