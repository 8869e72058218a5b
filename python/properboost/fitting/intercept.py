"""The intercept: a constant on F that makes mean probabilities of training rows their shares.

The mean rises with the constant, so that there is one root.  In a joint model the means are the
gradient of a convex function of the classes' constants, the loss of a canonical link.  Only the
differences of the constants matter, so their sum is fixed at 0.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from properboost.data.entries import ROWS
from properboost.losses.builtin import MarginLoss
from properboost.losses.probabilities import Link
from properboost.models.ensemble import LARGEST_RAW

__all__ = ["add_intercepts", "find_intercepts", "is_known", "needs_intercept"]

Array = NDArray[np.float64]

DIGITS = 12
"""Decimal digits of an intercept, in units of the gain, that are the same on any processor."""

BITS = 60
"""Bits of a sum of probabilities as whole numbers, so that their order does not matter."""

FARTHEST = 2.0**40
"""The largest intercept that is tried, in units of the gain."""

LONGEST = 4.0
"""The longest Newton step, in units of the gain."""

MOST_STEPS = 200

SHORTEST = 10.0 ** -(DIGITS + 1)
"""The shortest step, in units of the gain: below the last digit."""

LEAST_PIVOT = 1e-5
"""The least pivot of a matrix of full rank but for one, relative to the root of the mean slope."""

SLOPES_FOR_PROBABILITIES = 256
"""The number of classes whose slopes take about as long per row as their probabilities."""

ENOUGH_ROWS = 10.0
"""The least sum of p (1 - p) over the rows at which "auto" fits an intercept.

Where a model is sure of nearly all training rows, a single wrong one moves the intercept far.
"""


def needs_intercept(loss: MarginLoss) -> bool:
    """Return whether boosting leaves the mean probability of training rows off their share.

    Under canonical losses alone the risk's derivative along a constant is the mean of y - p, which
    boosting itself brings near 0.  Losses that reach certainty at finite raw predictions are left
    out: many rows do not move the mean, and a constant takes more of them to certainty.
    """
    return not loss.canonical and not np.isfinite(loss.link(1.0))


def is_known(loss: MarginLoss, raw: Array, weight: Array | None) -> bool:
    """Return whether enough training rows are undecided in every model, (n_rows, n_models)."""
    p = loss.probability(raw)
    weighed = p * (1.0 - p)
    if weight is not None:
        weighed *= weight[:, None]
    return bool(weighed.sum(axis=0).min() >= ENOUGH_ROWS)


def find_intercepts(
    link: Link, raw: Array, class_of_row: NDArray[np.intp], weight: Array | None
) -> tuple[float, ...]:
    """Return the intercept of each model.

    Parameters
    ----------
    link : Link
        The link to probabilities.
    raw : ndarray of shape (n_rows, n_models)
        Raw predictions; one model of two classes, or one a class.
    class_of_row : ndarray of shape (n_rows,)
        The class of each row, by position.
    weight : ndarray of shape (n_rows,), optional
        The weight of each row.

    Returns
    -------
    tuple of float
        The constants, 0 where no constant makes the mean the share.  One-vs-rest models whose
        probabilities are divided by their sum are fitted to the share of their class, one by one.
    """
    n_models = raw.shape[1]
    if n_models > 1 and link.knows_logs:
        return _solve_jointly(_ProbabilityExcess(link, raw, class_of_row, weight), link.loss.gain)
    alone = Link(link.loss)
    intercepts = []
    for m in range(n_models):
        is_positive = class_of_row == (1 if n_models == 1 else m)
        means = _ProbabilityExcess(alone, raw[:, m], is_positive.astype(np.intp), weight)
        intercepts.append(
            _round(_find_root(means.excess_of_second, link.loss.gain), link.loss.gain)
        )
    return tuple(intercepts)


def add_intercepts(
    link: Link, raw: Array, class_of_row: NDArray[np.integer[Any]], weight: Array | None
) -> Array:
    """Return raw predictions of held-out rows with the intercepts fitted to these rows.

    The class-conditional response leaves the level of raw predictions open, so that without an
    intercept their scores mean nothing.

    Parameters
    ----------
    link : Link
        The link to probabilities.
    raw : ndarray of shape (n_rows,) or (n_rows, n_models)
        Raw predictions.
    class_of_row : ndarray of shape (n_rows,)
        The class of each row, by position.
    weight : ndarray of shape (n_rows,), optional
        The weight of each row.

    Returns
    -------
    ndarray
        The shape of `raw`.
    """
    of_models = raw[:, None] if raw.ndim == 1 else raw
    intercepts = find_intercepts(link, of_models, class_of_row.astype(np.intp), weight)
    added: Array = raw + (intercepts[0] if raw.ndim == 1 else np.array(intercepts))
    return added


def _round(intercept: float, gain: float) -> float:
    return float(np.round(intercept / gain, DIGITS)) * gain


class _ProbabilityExcess:
    """The excess of the classes' sums of probabilities over their numbers of rows."""

    def __init__(
        self, link: Link, raw: Array, class_of_row: NDArray[np.intp], weight: Array | None
    ) -> None:
        self._link, self._raw = link, raw
        self._n_classes = 2 if raw.ndim == 1 else raw.shape[1]
        weight = np.ones(len(raw)) if weight is None else weight / weight.max()
        self._weight = np.ldexp(weight, BITS - len(raw).bit_length())
        counts = np.rint(self._weight).astype(np.int64)
        self._of_classes = np.array(
            [counts[class_of_row == k].sum() for k in range(self._n_classes)], dtype=np.int64
        )

    def _blocks(
        self, intercept: float | Array, fewest: int = 1, every: int = 1
    ) -> Iterator[tuple[Array, Array, Array]]:
        """Yield raw predictions, probabilities and weights by blocks of rows."""
        size = max(fewest, ROWS // self._n_classes)
        rows, weight = self._raw[::every], self._weight[::every]
        for k in range(0, len(rows), size):
            shifted = rows[k : k + size] + intercept
            yield shifted, self._link.probabilities(shifted), weight[k : k + size, None]

    def excess(self, intercept: float | Array) -> NDArray[np.int64]:
        """Return the excess of each class's sum of probabilities over its rows, as integers."""
        total = -self._of_classes
        for _, p, weight in self._blocks(intercept):
            total += np.rint(weight * p).astype(np.int64).sum(axis=0)
        return total

    def excess_of_second(self, intercept: float) -> int:
        """Return the excess of the second of two classes."""
        total = -int(self._of_classes[1])
        size = ROWS // self._n_classes
        for k in range(0, len(self._raw), size):
            p = self._link.second_probability(self._raw[k : k + size] + intercept)
            total += int(np.rint(self._weight[k : k + size] * p).astype(np.int64).sum())
        return total

    def differentiate(self, intercept: Array) -> Array:
        """Return the derivative of the excess by the intercepts, (n_classes, n_classes).

        With many classes it is estimated from evenly spaced rows.
        """
        every = max(1, self._n_classes // SLOPES_FOR_PROBABILITIES)
        total = np.zeros((self._n_classes, self._n_classes))
        diagonal = np.zeros(self._n_classes)
        # Blocks are large, so that the squares of classes cost little compared with the rows.
        for raw, p, weight in self._blocks(intercept, fewest=self._n_classes, every=every):
            q = self._link.densities(raw, p)
            all_q = q.sum(axis=1, keepdims=True)
            share = np.divide(q, all_q, out=np.zeros_like(q), where=all_q > 0.0)
            weighed = weight * q
            diagonal += weighed.sum(axis=0)
            total -= weighed.T @ share
        np.fill_diagonal(total, np.diagonal(total) + diagonal)
        total *= every
        return total


def _find_root(excess: Callable[[float], int], gain: float) -> float:
    """Return the root of an ascending function, by the Illinois rule and bisection."""
    at = excess(0.0)
    if at == 0:
        return 0.0
    ends, values = [0.0, 0.0], [float(at), float(at)]  # below and above the root
    outer, inner = (0, 1) if at > 0 else (1, 0)
    step, farthest = 2.0**-6 * gain, min(FARTHEST * gain, LARGEST_RAW)
    while 0.0 < step <= farthest:  # at the least of gains a step is 0
        ends[outer] = -step if at > 0 else step
        values[outer] = float(excess(ends[outer]))
        if values[outer] == 0.0:
            return ends[outer]
        if (values[outer] > 0.0) != (at > 0):
            break
        ends[inner], values[inner] = ends[outer], values[outer]
        step *= 4.0
    else:
        return 0.0
    (low, high), (below, above) = ends, values
    last = 0  # the end that moved last: where it moves twice, the other's value is halved
    for k in range(MOST_STEPS):
        if high - low < SHORTEST * gain:
            break
        middle = low - below * ((high - low) / (above - below))
        if k % 4 == 3 or not low < middle < high:
            middle = 0.5 * (low + high)
        value = float(excess(middle))
        if value == 0.0:
            return middle
        if value < 0.0:
            above *= 0.5 if last < 0 else 1.0
            low, below, last = middle, value, -1
        else:
            below *= 0.5 if last > 0 else 1.0
            high, above, last = middle, value, 1
    return 0.5 * (low + high)


def _solve(slopes: Array, excess: Array) -> Array:
    """Return the least x with slopes @ x = excess; the kernel of slopes has the ones at least."""
    diagonal = np.diagonal(slopes).mean()
    try:  # a triangular factor takes a fraction of the time of eigenvectors
        factor = cho_factor(slopes + diagonal / len(slopes), check_finite=False)
        is_whole = np.diagonal(factor[0]).min() >= LEAST_PIVOT * np.sqrt(diagonal)
    except np.linalg.LinAlgError:
        is_whole = False
    solution: Array
    if is_whole:
        solution = cho_solve(factor, excess, check_finite=False)
        solution -= solution.mean()
    else:
        solution = np.linalg.pinv(slopes, hermitian=True) @ excess
    return solution


def _solve_jointly(sums: _ProbabilityExcess, gain: float) -> tuple[float, ...]:
    """Return the intercepts of all classes, by Newton's steps, each halved until it helps."""
    excess = sums.excess(0.0).astype(np.float64)
    at = np.zeros(len(excess))
    for _ in range(MOST_STEPS):
        with np.errstate(all="ignore"):
            slopes = sums.differentiate(at)
            if not np.isfinite(slopes).all():
                break
            step = -_solve(slopes, excess)
        if not np.isfinite(step).all():
            break
        step *= min(1.0, LONGEST * gain / max(np.abs(step).max(), 1e-300))
        while np.abs(step).max() > SHORTEST * gain:
            tried = at + step
            tried -= tried.mean()
            value = sums.excess(tried).astype(np.float64)
            if np.linalg.norm(value) < np.linalg.norm(excess):
                break
            step *= 0.5
        else:
            break
        at, excess = tried, value
    return tuple(_round(b, gain) for b in at)
