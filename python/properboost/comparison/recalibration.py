"""The calibration slope and intercept: a regression of the labels on the predicted log-odds."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, logit

from properboost.cached import cached_property

__all__ = ["Recalibration"]

Array: TypeAlias = NDArray[np.float64]

_NEWTON_STEPS, _HALVINGS = 50, 30
_EXACT, _NEAR = 1e-8, 1e-2
"""Newton's last steps: for the rows, and for resamples, which need fewer digits."""

_FARTHEST = 100.0
"""A slope, in units of the spread of log-odds, beyond which classes are separated."""


@dataclass(frozen=True)
class _Derivatives:
    """Contributions of rows to a log-likelihood, its gradient and curvature, per unit of weight.

    The last two have shapes (n_rows, n) and (n_rows, n, n), flat.
    """

    value: Array
    gradient: Array
    curvature: Array

    def add_up(self, counts: Array) -> tuple[float, Array, Array]:
        """Return the sums over rows with these weights."""
        n = self.gradient.shape[1]
        curvature = counts @ self.curvature
        return float(counts @ self.value), counts @ self.gradient, curvature.reshape(n, n)


@dataclass(frozen=True)
class Recalibration:
    """The calibration slope and, for two classes, the intercept.

    They maximise the likelihood of the labels.  `units` are the scale of each; the others are in
    these units.
    """

    evaluate: Callable[[Array], _Derivatives]
    weight: Array
    units: Array
    best: tuple[float, ...]
    """The optimum; NaN if there is none."""

    @classmethod
    def of(cls, probability: Array, codes: NDArray[np.intp], weight: Array) -> "Recalibration":
        """Return the regression for rows of these probabilities, classes and weights."""
        tiny = np.finfo(np.float64).tiny
        evaluate: Callable[[Array], _Derivatives]
        if probability.shape[1] == 2:
            # The smaller of two probabilities keeps its digits where the other rounds to 1.
            smaller = np.maximum(probability.min(axis=1), tiny)
            sign = np.where(probability[:, 1] > probability[:, 0], -1.0, 1.0)
            z = sign * logit(smaller)
            scale = float(np.sqrt(np.average(z**2, weights=weight))) or 1.0
            start: tuple[float, ...] = (0.0, 0.0)
            evaluate = partial(_evaluate_two, np.stack([z / scale, np.ones(len(z))], axis=1), codes)
        else:
            logs = np.log(np.maximum(probability, tiny))
            logs -= logs.mean(axis=1, keepdims=True)
            scale = float(np.sqrt(np.average(np.mean(logs**2, axis=1), weights=weight))) or 1.0
            start = (0.0,)
            evaluate = partial(_evaluate_several, logs / scale, codes)
        best = _maximize(evaluate, weight, start, evaluate(np.array(start)), _EXACT)
        return cls(evaluate, weight, np.array([scale, 1.0][: len(start)]), best)

    @property
    def is_known(self) -> bool:
        """Whether there is an optimum; classes that are separated have none."""
        return bool(np.isfinite(self.best).all())

    @cached_property
    def _there(self) -> _Derivatives:
        """The derivatives at the optimum."""
        return self.evaluate(np.array(self.best))

    def fit(self, counts: Array) -> tuple[float, ...]:
        """Return slope and intercept for other weights of the rows.

        The optimum for the first weights is near those of resamples, which start from there.
        """
        if not self.is_known:
            return self.best
        return tuple(_maximize(self.evaluate, counts, self.best, self._there, _NEAR) / self.units)

    def find_influences(self) -> tuple[Array, Array]:
        """Return slope and intercept, (n,), and the influence of each row on them, (n_rows, n).

        An influence is the derivative by the row's share in the weight (Huber 1967: its variance
        holds for probabilities that are wrong, too).
        """
        if not self.is_known:
            return np.array(self.best), np.full((len(self.weight), len(self.best)), np.nan)
        _, _, curvature = self._there.add_up(self.weight / self.weight.sum())
        influences = np.linalg.solve(curvature, self._there.gradient.T).T
        return np.array(self.best) / self.units, influences / self.units


def _evaluate_two(z: Array, codes: NDArray[np.intp], b: Array) -> _Derivatives:
    """Return the rows' contributions to the log-likelihood of a logistic regression."""
    raw = z @ b
    p = expit(raw)
    value = log_expit(np.where(codes == 1, raw, -raw))
    squares = (z[:, :, None] * z[:, None, :]).reshape(len(z), -1)
    return _Derivatives(value, z * (codes - p)[:, None], squares * (p * (1.0 - p))[:, None])


def _evaluate_several(logs: Array, codes: NDArray[np.intp], b: Array) -> _Derivatives:
    """Return the rows' contributions to the log-likelihood of softmax(b logs)."""
    log_p = log_softmax(b[0] * logs, axis=1)
    p, rows = np.exp(log_p), np.arange(len(codes))
    mean = np.einsum("ij,ij->i", p, logs)
    spread = np.einsum("ij,ij,ij->i", p, logs, logs) - mean**2
    return _Derivatives(log_p[rows, codes], (logs[rows, codes] - mean)[:, None], spread[:, None])


def _maximize(
    evaluate: Callable[[Array], _Derivatives],
    counts: Array,
    start: tuple[float, ...],
    there: _Derivatives,
    tolerance: float,
) -> tuple[float, ...]:
    """Return the maximum of a concave likelihood, by Newton's method; NaN if there is none.

    It ends with a step of that size, whose square is about the error that is left.
    """
    b = np.array(start)
    value, gradient, curvature = there.add_up(counts)
    for _ in range(_NEWTON_STEPS):
        try:
            step = np.linalg.solve(curvature, gradient)
        except np.linalg.LinAlgError:
            break
        if np.abs(step).max() < tolerance * (1.0 + np.abs(b).max()):
            return tuple((b + step).tolist())
        for _ in range(_HALVINGS):
            after = evaluate(b + step).add_up(counts)
            if after[0] >= value - 1e-12 * abs(value):
                break
            step /= 2.0
        b = b + step
        value, gradient, curvature = after
        if np.abs(b).max() > _FARTHEST:
            break
    return (np.nan,) * len(start)
