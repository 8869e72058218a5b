"""The temperature of a softmax, fitted to scores of rows held out.

Probabilities are softmax(z / T), as in temperature scaling [1]_.  Their log loss is convex in 1 / T
and has one minimum, where its derivative is 0.

References
----------
.. [1] Guo, Pleiss, Sun and Weinberger (2017). On calibration of modern neural networks. ICML.
.. [2] Platt (1999). Probabilistic outputs for support vector machines and comparisons to
   regularized likelihood methods. Advances in large margin classifiers.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["fit_temperature"]

Array = NDArray[np.float64]

DIGITS = 4
"""Digits of a temperature.  More would move no log loss by 1e-7, and would depend on the processor,
as the last bits of exponentials do."""

ENOUGH = 1e-4
"""A change of log T that ends the search, whose error is then about the square of that."""

LONGEST = 2.0
"""The largest change of log T: far from the minimum, derivatives are poor guides to it."""

MOST_STEPS = 100

WIDEST = 200.0
"""The largest size of log T: with rows without an error, a heavy one draws it ever lower."""

FARTHEST = 1e150
"""The largest size of scores: differences, times any tried 1 / T, stay finite."""

BLOCK = 2**15
"""Scores of a block of rows."""


def fit_temperature(
    scores: Array,
    codes: NDArray[np.integer[Any]],
    weight: Array | None = None,
    start: float = 1.0,
) -> float | None:
    """Return the temperature of least log loss.

    An error of 0 counts as half a row, much as in Platt scaling [2]_.  Each row also counts, by
    1/(2S) of its weight, as one of that other class whose score is largest; S is the weight of all
    rows, at least 1.  So scores that are always right have a temperature, too.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        The z.  A class of score -inf has probability 0 at every temperature; rows of such a class
        do not count.
    codes : ndarray of shape (n_rows,)
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
    positions = np.arange(len(codes))
    counts = scores[positions, codes.astype(np.intp)] > -np.inf
    weight = np.ones(len(codes)) if weight is None else weight
    counts &= weight > 0.0
    if not counts.any():
        return None
    if not counts.all():
        scores, codes, weight = scores[counts], codes[counts], weight[counts]
    loss = _LogLoss(scores, codes.astype(np.intp), weight)
    if loss.slope_at_none >= 0.0:
        return None
    at, low, high = -np.log(start), -WIDEST, WIDEST  # log(1 / T)
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
    """The mean log loss of softmax(b z), with half a row of errors, as a function of b.

    Its derivatives are those of the sum over blocks of rows, which stay in the cache.
    """

    def __init__(self, scores: Array, codes: NDArray[np.intp], weight: Array) -> None:
        total = float(weight.sum())
        half_row = 0.5 / max(total, 1.0)
        size = max(1, BLOCK // scores.shape[1])
        self._blocks = [
            _Block(scores[k : k + size], codes[k : k + size], weight[k : k + size] / total)
            for k in range(0, len(scores), size)
        ]
        self._counted = 1.0 + half_row
        self._target = math.fsum(block.find_target(half_row) for block in self._blocks)

    @property
    def slope_at_none(self) -> float:
        """The derivative at b = 0, where probabilities are equal."""
        return self._counted * math.fsum(block.mean for block in self._blocks) - self._target

    def differentiate(self, b: float) -> tuple[float, float]:
        """Return b times the derivative, and b^2 times the second."""
        moments = [block.find_moments(b) for block in self._blocks]
        first, second = (math.fsum(values) for values in zip(*moments, strict=True))
        return self._counted * first - b * self._target, self._counted * second


class _Block:
    """A block of rows: the distances of their scores below each row's largest, classes first."""

    def __init__(self, scores: Array, codes: NDArray[np.intp], weight: Array) -> None:
        below = np.minimum(scores.T, FARTHEST, order="C")
        below -= below.max(axis=0)
        known = below > -np.inf
        self._unknown = None if known.all() else ~known
        below[~known] = 0.0
        np.maximum(below, -FARTHEST, out=below)
        self._below = below
        self._codes, self._weight = codes, weight
        self._n_known = known.sum(axis=0)

    @property
    def mean(self) -> float:
        """The weighted sum of the rows' means over the classes."""
        return float((self._weight * (self._below.sum(axis=0) / self._n_known)).sum())

    def find_target(self, half_row: float) -> float:
        """Return the weighted sum of the scores of the rows' classes, and of a share of others."""
        in_class = self._codes, np.arange(len(self._codes))
        others = self._below.copy()
        others[in_class] = -np.inf
        if self._unknown is not None:
            others[self._unknown] = -np.inf
        second = np.where(self._n_known > 1, others.max(axis=0), 0.0)
        return float((self._weight * (self._below[in_class] + half_row * second)).sum())

    def find_moments(self, b: float) -> tuple[float, float]:
        """Return the weighted sums of the means and variances of b z under softmax(b z)."""
        scaled = self._below * b
        power = np.exp(scaled)
        if self._unknown is not None:
            power[self._unknown] = 0.0
        total = power.sum(axis=0)
        power *= scaled
        first = power.sum(axis=0) / total
        power *= scaled
        second = power.sum(axis=0) / total - first**2
        return float((self._weight * first).sum()), float((self._weight * second).sum())
