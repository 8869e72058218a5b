"""Scores and calibration of predicted probabilities, with intervals."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, logit

from properboost.losses.probabilities import log_losses, square_errors
from properboost.report.content import (
    Array,
    Estimate,
    Evaluation,
    Limit,
    Reliability,
    ReliabilityBin,
    Score,
)
from properboost.report.proportions import estimate_proportion

__all__ = ["evaluate"]

Statistic: TypeAlias = Callable[[Array], float]
"""Function that takes the weight of each row and returns a number."""

MOST_RESAMPLES, FEWEST_RESAMPLES = 999, 199
WORK = 2e7
"""Rows times classes times resamples above which there are fewer resamples."""

AT_ONCE = 1e6
"""Rows that are drawn at once."""

N_BINS = 10
_NEWTON_STEPS, _HALVINGS = 50, 30
_EXACT, _NEAR = 1e-8, 1e-2
"""Newton's last steps: for the rows, and for resamples, which need fewer digits."""

_FARTHEST = 100.0
"""A slope, in units of the spread of log-odds, beyond which classes are separated."""


def evaluate(
    probability: Array,
    codes: NDArray[np.intp],
    predicted: NDArray[np.intp],
    weight: Array | None = None,
    *,
    confidence_level: float = 0.9,
    random_state: int = 0,
) -> Evaluation:
    """Evaluate probabilities by labels.

    Parameters
    ----------
    probability : ndarray of shape (n_rows, n_classes)
        The predicted probabilities.
    codes, predicted : ndarray of shape (n_rows,)
        The position of each row's class, and of the one that was predicted.
    weight : ndarray of shape (n_rows,), optional
        How often each row counts.
    confidence_level : float, default=0.9
        The confidence level of intervals.  Those of scores and of the
        calibration are percentiles of a bootstrap over rows.
    random_state : int, default=0
        The seed by which rows are drawn.
    """
    n_rows, n_classes = probability.shape
    weights = np.ones(n_rows) if weight is None else weight
    shares = np.bincount(codes, weights, n_classes) / weights.sum()
    model_scores = _list_scores(probability, codes, predicted)
    model_scores["auc"] = _make_mean_auc(probability, codes)
    guess = np.full(n_rows, shares.argmax())
    constant_scores = _list_scores(np.tile(shares, (n_rows, 1)), codes, guess)
    constant_scores["auc"] = lambda _: 0.5
    calibrate = _make_calibration(probability, codes, weights)
    expected, observed = probability[:, 1], codes == 1
    if n_classes > 2:
        expected, observed = probability[np.arange(n_rows), predicted], predicted == codes

    def score_resample(counts: Array) -> Array:
        numbers = []
        for name, score in model_scores.items():
            value = score(counts)
            saving = constant_scores[name](counts) - value
            numbers += [value, -saving if name == "auc" else saving]
        bias = float(np.average(expected - observed, weights=counts))
        return np.array([*numbers, bias, *calibrate(counts)])

    n_resamples = int(np.clip(WORK / probability.size, FEWEST_RESAMPLES, MOST_RESAMPLES))
    estimates = _bootstrap(score_resample, weights, confidence_level, n_resamples, random_state)
    scores = {
        name: Score(estimates[2 * k], constant_scores[name](weights), estimates[2 * k + 1])
        for k, name in enumerate(model_scores)
    }
    bias, slope, *intercepts = estimates[2 * len(model_scores) :]
    taken = np.bincount(n_classes * codes + predicted, weights, n_classes**2).astype(np.float64)
    return Evaluation(
        scores=scores,
        confusion=taken.reshape(n_classes, n_classes),
        shares=shares,
        missed=tuple(
            estimate_proportion((predicted != codes)[in_class], weights[in_class], confidence_level)
            for in_class in (codes == k for k in range(n_classes))
        ),
        precision=tuple(
            estimate_proportion((predicted == codes)[in_class], weights[in_class], confidence_level)
            for in_class in (predicted == k for k in range(n_classes))
        ),
        reliability=Reliability(
            bins=_bin(expected, observed, weights, confidence_level),
            predicted=float(np.average(expected, weights=weights)),
            observed=float(np.average(observed, weights=weights)),
            bias=bias,
            slope=slope,
            intercept=intercepts[0] if intercepts else None,
        ),
        limits=_list_limits(expected, observed, predicted == 1, weights) if n_classes == 2 else (),
        n_resamples=n_resamples,
    )


def _list_limits(
    probability: Array, is_second: NDArray[np.bool_], predicted: NDArray[np.bool_], weight: Array
) -> tuple[Limit, ...]:
    """Return error rates at limits in steps of a tenth; `predicted` is for the limit of 50%."""

    def find_share(these: NDArray[np.bool_], among: NDArray[np.bool_]) -> float:
        total = weight[among].sum()
        return float(weight[these & among].sum() / total) if total > 0.0 else np.nan

    limits, everyone = [], np.ones(len(probability), dtype=bool)
    for tenths in range(1, N_BINS):
        called = predicted if 2 * tenths == N_BINS else probability > tenths / N_BINS
        limits.append(
            Limit(
                at=tenths / N_BINS,
                called=find_share(called, everyone),
                missed=find_share(~called, is_second),
                false_alarms=find_share(called, ~is_second),
                wrong=find_share(called != is_second, everyone),
            )
        )
    return tuple(limits)


def _list_scores(
    probability: Array, codes: NDArray[np.intp], predicted: NDArray[np.intp]
) -> dict[str, Statistic]:
    """Return the scores by name; each is a function of the rows' weights."""
    loss = log_losses(probability, codes)
    wrong = (predicted != codes).astype(np.float64)
    squares = square_errors(probability, codes)
    return {
        "error": lambda counts: float(counts @ wrong / counts.sum()),
        "log_loss": lambda counts: float(counts @ loss / counts.sum()),
        "brier": lambda counts: float(counts @ squares / counts.sum()),
    }


def _make_mean_auc(probability: Array, codes: NDArray[np.intp]) -> Statistic:
    """Return the function of the mean AUC over the classes that have rows."""
    first = 1 if probability.shape[1] == 2 else 0
    ranks = [_make_auc(score, codes == k) for k, score in enumerate(probability.T) if k >= first]

    def mean(counts: Array) -> float:
        known = [value for value in (rank(counts) for rank in ranks) if value == value]
        return sum(known) / len(known) if known else np.nan

    return mean


def _make_auc(score: Array, is_positive: NDArray[np.bool_]) -> Statistic:
    """Return the function of the area under the ROC curve; NaN where a class has no rows."""
    _, place = np.unique(score, return_inverse=True)
    positive = is_positive.astype(np.float64)

    def auc(counts: Array) -> float:
        ours = np.bincount(place, counts * positive)
        others = np.bincount(place, counts) - ours
        below = np.cumsum(others) - 0.5 * others
        total = ours.sum() * others.sum()
        return float(ours @ below / total) if total > 0.0 else np.nan

    return auc


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


def _make_calibration(
    probability: Array, codes: NDArray[np.intp], weight: Array
) -> Callable[[Array], tuple[float, ...]]:
    """Return the function of the calibration slope and, for two classes, the intercept.

    They maximise the likelihood of the labels.  The optimum for these weights comes first: those of
    resamples are near, and start from there.
    """
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
    units = np.array([scale, 1.0][: len(start)])
    best = _maximize(evaluate, weight, start, evaluate(np.array(start)), _EXACT)
    if not np.isfinite(best).all():
        return lambda _: best
    there = evaluate(np.array(best))
    return lambda counts: tuple(_maximize(evaluate, counts, best, there, _NEAR) / units)


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


def _bootstrap(
    evaluate: Callable[[Array], Array],
    weight: Array,
    confidence_level: float,
    n_resamples: int,
    random_state: int,
) -> list[Estimate]:
    """Return statistics of rows, with the ends of intervals."""
    from scipy.stats import DegenerateDataWarning, bootstrap  # a while to import

    n_rows = len(weight)

    def of_draws(rows: NDArray[Any], axis: int) -> Array:  # noqa: ARG001 (it is the last)
        drawn = rows.astype(np.intp).reshape(-1, n_rows)
        values = [evaluate(weight * np.bincount(lot, minlength=n_rows)) for lot in drawn]
        return np.stack(values, axis=-1).reshape(-1, *rows.shape[:-1])

    values = evaluate(weight)
    if n_rows < 2:
        return [Estimate(value, np.nan, np.nan) for value in values.tolist()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)  # of numbers that are not known
        drawn = bootstrap(
            (np.arange(n_rows),),
            of_draws,
            vectorized=True,
            n_resamples=n_resamples,
            batch=max(1, int(AT_ONCE / n_rows)),
            confidence_level=confidence_level,
            method="percentile",
            random_state=random_state,
        )
    # A resample may lack a class; the others still show the spread of the number.
    tail = 50.0 * (1.0 - confidence_level)
    known = np.isfinite(drawn.bootstrap_distribution)
    enough = known.mean(axis=-1) > 1.0 - tail / 100.0
    ends = np.full((2, len(values)), np.nan)
    for k in np.flatnonzero(enough & np.isfinite(values)):
        finite = drawn.bootstrap_distribution[k, known[k]]
        ends[:, k] = np.percentile(finite, [tail, 100.0 - tail])
    return [Estimate(*numbers) for numbers in zip(values.tolist(), *ends.tolist(), strict=True)]


def _bin(
    expected: Array, observed: NDArray[np.bool_], weight: Array, confidence_level: float
) -> tuple[ReliabilityBin, ...]:
    """Return the rows by tenths of their probability, without tenths that have none."""
    place = np.minimum((expected * N_BINS).astype(np.intp), N_BINS - 1)
    bins = []
    for k in range(N_BINS):
        in_bin = place == k
        total = float(weight[in_bin].sum())
        if total == 0.0:
            continue
        share = estimate_proportion(observed[in_bin], weight[in_bin], confidence_level)
        mean = float(weight[in_bin] @ expected[in_bin] / total)
        bins.append(ReliabilityBin(k / N_BINS, (k + 1) / N_BINS, mean, share, total))
    return tuple(bins)
