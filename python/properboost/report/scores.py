"""Scores and calibration of predicted probabilities, with intervals."""

import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.comparison.recalibration import Recalibration
from properboost.losses.probabilities import log_losses, square_errors
from properboost.report.content import (
    Array,
    Estimate,
    Evaluation,
    Reliability,
    ReliabilityBin,
    Score,
)
from properboost.report.costs import N_AVERAGES, CostedWays
from properboost.report.limits import Limits
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


def evaluate(
    probability: Array,
    codes: NDArray[np.intp],
    predicted: NDArray[np.intp],
    weight: Array | None = None,
    *,
    costs: Array | None = None,
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
    costs : ndarray of shape (n_classes, n_classes), optional
        The cost of each decision (column) for a row of each class (row).
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
    constant_scores = _list_constant_scores(shares, codes)
    ways = None if costs is None else CostedWays.of(costs, probability, codes, predicted)
    recalibration = Recalibration.of(probability, codes, weights)
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
        of_ways = () if ways is None else ways.average(counts)
        return np.array([*numbers, *of_ways, bias, *recalibration.fit(counts)])

    n_resamples = int(np.clip(WORK / probability.size, FEWEST_RESAMPLES, MOST_RESAMPLES))
    estimates = _bootstrap(score_resample, weights, confidence_level, n_resamples, random_state)
    scores = {
        name: Score(estimates[2 * k], constant_scores[name](weights), estimates[2 * k + 1])
        for k, name in enumerate(model_scores)
    }
    others = estimates[2 * len(model_scores) :]
    of_ways = [others.pop(0) for _ in range(0 if ways is None else N_AVERAGES)]
    bias, slope, *intercepts = others
    limits = Limits(expected, observed, predicted == 1, weights) if n_classes == 2 else None
    least = None if limits is None or costs is None else limits.find_least(costs)
    taken = np.bincount(n_classes * codes + predicted, weights, n_classes**2).astype(np.float64)
    return Evaluation(
        scores=scores,
        confusion=taken.reshape(n_classes, n_classes),
        shares=shares,
        missed=_estimate_by_class(predicted != codes, codes, n_classes, weights, confidence_level),
        precision=_estimate_by_class(
            predicted == codes, predicted, n_classes, weights, confidence_level
        ),
        reliability=Reliability(
            bins=_bin(expected, observed, weights, confidence_level),
            predicted=float(np.average(expected, weights=weights)),
            observed=float(np.average(observed, weights=weights)),
            bias=bias,
            slope=slope,
            intercept=intercepts[0] if intercepts else None,
        ),
        limits=() if limits is None else limits.list_tenths(costs),
        ratios=() if limits is None or costs is not None else limits.list_ratios(),
        costs=None if ways is None else ways.sum_up(of_ways, shares, least),
        n_resamples=n_resamples,
    )


def _estimate_by_class(
    happened: NDArray[np.bool_],
    class_of_row: NDArray[np.intp],
    n_classes: int,
    weights: Array,
    confidence_level: float,
) -> tuple[Estimate, ...]:
    """Return the share of each class's rows in which something happened."""
    return tuple(
        estimate_proportion(happened[in_class], weights[in_class], confidence_level)
        for in_class in (class_of_row == k for k in range(n_classes))
    )


def _list_constant_scores(shares: Array, codes: NDArray[np.intp]) -> dict[str, Statistic]:
    """Return the scores of a prediction of every row by the shares of the classes."""
    guess = np.full(len(codes), shares.argmax())
    scores = _list_scores(np.tile(shares, (len(codes), 1)), codes, guess)
    return scores | {"auc": lambda _: 0.5}


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
        "auc": _make_mean_auc(probability, codes),
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
