"""A slope and an intercept on F, fitted to raw predictions of rows held out.

F becomes s F + b: with two classes two numbers, as in Platt scaling [1]_; with several one slope
for all classes and an intercept for each, as in temperature scaling [2]_ with intercepts.  They
maximise the likelihood under the model's own link.  One-vs-rest models have the softmax of a
temperature instead, which is 1 / s.

References
----------
.. [1] Platt (1999). Probabilistic outputs for support vector machines and comparisons to
   regularized likelihood methods. Advances in large margin classifiers.
.. [2] Guo, Pleiss, Sun and Weinberger (2017). On calibration of modern neural networks. ICML.
.. [3] Akaike (1973). Information theory and an extension of the maximum likelihood principle.
   Second international symposium on information theory.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from properboost.data.entries import ROWS, find_entries
from properboost.losses.probabilities import Link
from properboost.scoring import HeldOutRows

__all__ = ["FittedCalibration", "calibrate", "make_scaled"]

Array = NDArray[np.float64]

PRIOR_ROWS = 20.0
"""Strength of the prior, in pseudo-rows whose labels agree with the model."""

DIGITS = 4
"""Digits of a slope, and decimals of an intercept in units of the gain: more would move no log loss
by 1e-7, and these do not depend on the processor, as the last bits of exponentials do."""

LEAST = float(np.log(np.finfo(np.float64).eps))
"""The least logarithm of a probability, as in the score."""

ENOUGH = 1e-6
"""A change of log s, or of an intercept in units of the gain, that ends the search."""

NEAR, LEAST_STEP = 1e-4, 1e-12
"""The lengths of steps between which gradients lead to the maximum by themselves."""

LONGEST = 1.0
"""The largest change of log s in a step: far from the maximum curvature says little."""

MOST_STEPS = 100


@dataclass(frozen=True)
class FittedCalibration:
    """A slope and intercepts, and their gain in log loss.

    `gain` is the fall in log loss, and `error` its standard error over the held-out rows.  The same
    rows were fitted to, so the gain is reduced by one over their number for each fitted number, by
    which other rows gain less (Akaike [3]_).  To fit on some splits and judge by the others would
    underrate it: their models have learnt each other's rows.
    """

    slope: float
    intercepts: tuple[float, ...]
    gain: float
    error: float

    @property
    def helps(self) -> bool:
        """Whether the gain is beyond one standard error."""
        return self.gain > self.error

    def apply(self, raw: Array) -> Array:
        """Return s F + b."""
        offset = self.intercepts[0] if raw.ndim == 1 else np.array(self.intercepts)
        calibrated: Array = self.slope * raw + offset
        return calibrated


def make_scaled(link: Link) -> Link:
    """Return the link of calibrated raw predictions: that of F, except with one-vs-rest models."""
    return replace(link, temperature=1.0) if link.multiclass == "one_vs_rest" else link


def calibrate(
    link: Link,
    held_out: Sequence[HeldOutRows],
    raws: Sequence[Array],
    training_weight: Array | None,
    prior_rows: float = PRIOR_ROWS,
) -> FittedCalibration | None:
    """Fit a slope and intercepts to the raw predictions of held-out rows.

    Parameters
    ----------
    link : Link
        The link of the model.
    held_out : sequence of HeldOutRows
        The rows of each split.
    raws : sequence of ndarray
        Their raw predictions.
    training_weight : ndarray of shape (n_rows,), optional
        The weight of each row of `Rows`, times its class's factor.
    prior_rows : float
        The pseudo-rows of the prior, for slope 1 and intercept 0.

    Returns
    -------
    FittedCalibration or None
        None if no row that counts has a probability.
    """
    positions = np.concatenate([rows.rows for rows in held_out])
    raw, codes = np.concatenate(raws), np.concatenate([rows.codes for rows in held_out])
    weight = np.ones(len(raw)) if training_weight is None else training_weight[positions]
    weight = weight / np.bincount(positions)[positions]  # of rows that several splits hold out
    counts = weight > 0.0
    if raw.ndim == 2:  # a class that a split does not train on has no probability there
        counts &= raw[np.arange(len(raw)), codes.astype(np.intp)] > -np.inf
    if not counts.any():
        return None
    raw, codes, weight = raw[counts], codes[counts].astype(np.intp), weight[counts]
    before = np.maximum(link.log_probabilities(raw), LEAST)
    likelihood = _Likelihood(make_scaled(link), raw, codes, weight, before, prior_rows)
    start = np.zeros(1 + likelihood.n_intercepts)
    if link.temperature is not None:
        start[0] = -np.log(link.temperature)
    at = likelihood.maximise(start)
    slope, intercepts = likelihood.round(at)
    gains = likelihood.log_probabilities(at) - _take(before, codes)
    total = float(weight.sum())
    gain = float((weight * gains).sum() / total)
    variance = float((weight * (gains - gain) ** 2).sum() / total)
    error = (variance / (total - 1.0)) ** 0.5 if total > 1.0 else np.inf
    n_fitted = max(2, likelihood.n_intercepts)  # of several intercepts one follows
    gain -= n_fitted / total
    return FittedCalibration(slope, intercepts, float(f"{gain:.6g}"), float(f"{error:.6g}"))


class _Likelihood:
    """The log likelihood of a slope and intercepts, as a function of log s and b / gain.

    The pseudo-rows of the prior have the features of the others, and as labels the model's
    probabilities.  On these alone, slope 1 and intercept 0 are best, or the nearest values.
    """

    def __init__(
        self,
        link: Link,
        raw: Array,
        codes: NDArray[np.intp],
        weight: Array,
        before: Array,
        prior_rows: float,
    ) -> None:
        self._link, self._raw, self._codes, self._weight = link, raw, codes, weight
        self._before = before
        self.n_intercepts = 1 if raw.ndim == 1 else raw.shape[1]
        self._total = float(weight.sum())
        self._share = prior_rows / max(self._total, 1.0)  # of each row

    def round(self, at: Array) -> tuple[float, tuple[float, ...]]:
        """Return the slope and the intercepts of raw predictions, rounded."""
        gain = self._link.loss.gain
        offsets = np.round(at[1:], DIGITS) * gain + 0.0
        return float(f"{np.exp(at[0]):.{DIGITS}g}"), tuple(offsets.tolist())

    def maximise(self, at: Array) -> Array:
        """Return the point of the largest likelihood, by Fisher's scoring with helpful steps."""
        value = self._value(at)
        for _ in range(MOST_STEPS):
            step = self._find_step(at)
            if not np.isfinite(step).all():
                break
            step *= min(1.0, LONGEST / max(np.abs(step).max(), ENOUGH))
            while np.abs(step).max() > ENOUGH:
                tried = at + step
                if self.n_intercepts > 1:
                    tried[1:] -= tried[1:].mean()
                new = self._value(tried)
                if new > value:
                    break
                step *= 0.5
            else:
                break
            at, value = tried, new
        return self._refine(at)

    def _refine(self, at: Array) -> Array:
        """Return a point nearer to the maximum than values of the likelihood can resolve.

        The rest of the way would be rounded up on one processor and down on another now and then,
        so gradients alone lead to the end.
        """
        last = NEAR
        for _ in range(MOST_STEPS):
            step = self._find_step(at)
            size = float(np.abs(step).max())
            if not LEAST_STEP < size < last:  # NaN is neither
                break
            at, last = at + step, size
            if self.n_intercepts > 1:
                at[1:] -= at[1:].mean()
        return at

    def _find_step(self, at: Array) -> Array:
        """Return a step of Fisher's scoring; NaN where there is none."""
        gradient, information = self._differentiate(at)
        if not np.isfinite(information).all():
            return np.full_like(at, np.nan)
        step: Array = np.linalg.pinv(information, hermitian=True) @ gradient
        return step

    def log_probabilities(self, at: Array) -> Array:
        """Return the logarithm of the probability of each row's class."""
        return np.concatenate([_take(logs, codes) for _, logs, codes, _, _ in self._blocks(at)])

    def _blocks(self, at: Array) -> Iterator[tuple[Array, Array, NDArray[np.intp], Array, Array]]:
        """Yield s F + b, logarithms, classes, weights and targets of a block of rows at a time."""
        slope, offset = float(np.exp(at[0])), at[1:] * self._link.loss.gain
        offset = offset[0] if self.n_intercepts == 1 else offset
        size = max(1, ROWS // (self.n_intercepts + 1))
        for k in range(0, len(self._raw), size):
            rows = slice(k, k + size)
            scaled = slope * self._raw[rows] + offset
            logs = np.maximum(self._link.log_probabilities(scaled), LEAST)
            codes, weight = self._codes[rows], self._weight[rows] / self._total
            target = self._share * np.exp(self._before[rows])
            target[np.arange(len(codes)), codes] += 1.0
            yield scaled, logs, codes, weight, target

    def _value(self, at: Array) -> float:
        return sum(
            float((weight[:, None] * target * logs).sum())
            for _, logs, _, weight, target in self._blocks(at)
        )

    # Densities of a gain next to 0 are infinite; no step that they lead to is taken.
    @np.errstate(invalid="ignore", over="ignore")
    def _differentiate(self, at: Array) -> tuple[Array, Array]:
        """Return the gradient, and the information: its expected change."""
        n = 1 + self.n_intercepts
        gradient, information = np.zeros(n), np.zeros((n, n))
        # In these units, a power of two, the largest of gains has a square.
        unit = float(np.ldexp(1.0, np.frexp(self._link.loss.gain)[1] - 1))
        gain = self._link.loss.gain / unit
        for scaled, logs, _, weight, target in self._blocks(at):
            p, known = np.exp(logs), logs > LEAST
            q = self._link.densities(scaled, p) * unit
            of_one = np.where(known, q / p, 0.0)  # dlog p / dF, before the row's shift
            offset = at[1:] * self._link.loss.gain
            moved = scaled - (offset[0] if n == 2 else offset)  # dF / dlog s
            moved = np.where(np.isfinite(moved), moved, 0.0) / unit
            if n == 2:
                slopes = (target * of_one) @ np.array([-1.0, 1.0])
                expected = (of_one * q).sum(axis=1)
                columns = np.stack([moved, np.full(len(moved), gain)], axis=1)
                gradient += columns.T @ (weight * slopes)
                information += columns.T @ ((weight * expected)[:, None] * columns)
                continue
            all_q = q.sum(axis=1, keepdims=True)
            share = np.divide(q, all_q, out=np.zeros_like(q), where=all_q > 0.0)
            first = target * of_one
            slopes = first - first.sum(axis=1, keepdims=True) * share
            r = of_one * q
            all_r = r.sum(axis=1, keepdims=True)
            by_q = (share * moved).sum(axis=1, keepdims=True)
            by_r = (r * moved).sum(axis=1, keepdims=True)
            along = r * (moved - by_q) - share * (by_r - all_r * by_q)
            w = weight[:, None]
            gradient[0] += float((w * slopes * moved).sum())
            gradient[1:] += gain * (w * slopes).sum(axis=0)
            information[0, 0] += float((w * along * moved).sum())
            cross = gain * (w * along).sum(axis=0)
            information[0, 1:] += cross
            information[1:, 0] += cross
            mixed = (w * r).T @ share
            block = np.diag((w * r).sum(axis=0)) - mixed - mixed.T
            information[1:, 1:] += gain**2 * (block + (w * all_r * share).T @ share)
        return gradient, information


def _take(logs: Array, codes: NDArray[np.intp]) -> Array:
    return find_entries(logs, np.arange(len(codes)), codes)
