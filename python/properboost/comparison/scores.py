"""Scores and calibration of predictions as statistics: numbers with the influence of each row."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.comparison.estimates import Statistic
from properboost.comparison.recalibration import Recalibration
from properboost.losses.probabilities import log_losses, square_errors

__all__ = ["GREATER_IS_BETTER", "Predictions", "calibrate", "score"]

Array: TypeAlias = NDArray[np.float64]

GREATER_IS_BETTER = frozenset({"roc_auc"})
"""The scores of which more is better."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """A model's predictions of rows.

    Attributes
    ----------
    probability : ndarray of shape (n_rows, n_classes)
        The probabilities.
    predicted : ndarray of shape (n_rows,)
        The position of each row's predicted class.
    """

    probability: Array
    predicted: NDArray[np.intp]


def score(predictions: Predictions, codes: NDArray[np.intp], weight: Array) -> dict[str, Statistic]:
    """Return the log loss, the Brier score, the error rate and the AUC, by name.

    The AUC of several classes is the mean of each against the rest, of those with rows.
    """
    of_rows = {
        "log_loss": log_losses(predictions.probability, codes),
        "brier_score": square_errors(predictions.probability, codes),
        "error_rate": (predictions.predicted != codes).astype(np.float64),
    }
    means = {name: Statistic.of_mean(values, weight) for name, values in of_rows.items()}
    return {**means, "roc_auc": _find_auc(predictions.probability, codes, weight)}


def calibrate(
    predictions: Predictions, codes: NDArray[np.intp], weight: Array
) -> dict[str, Statistic]:
    """Return the calibration of probabilities.

    "bias" is the mean probability less the share of rows: of the second of two classes, or else of
    the predicted class.  "slope" and, of two classes, "intercept" are those of the regression of
    the labels on the log-odds; 1 and 0 are perfect.
    """
    probability, predicted = predictions.probability, predictions.predicted
    expected, observed = probability[:, 1], codes == 1
    if probability.shape[1] > 2:
        expected = probability[np.arange(len(codes)), predicted]
        observed = predicted == codes
    bias = Statistic.of_mean(expected - observed, weight)
    values, influences = Recalibration.of(probability, codes, weight).find_influences()
    of_line = {
        name: Statistic(float(value), influence)
        for name, value, influence in zip(
            ("slope", "intercept"), values, influences.T, strict=False
        )
    }
    return {"bias": bias, **of_line}


def _find_auc(probability: Array, codes: NDArray[np.intp], weight: Array) -> Statistic:
    first = 1 if probability.shape[1] == 2 else 0
    areas = [
        _find_area(probability[:, k], codes == k, weight)
        for k in range(first, probability.shape[1])
    ]
    known = [area for area in areas if np.isfinite(area.value)] or areas[:1]
    return Statistic(
        float(np.mean([area.value for area in known])),
        np.mean([area.influences for area in known], axis=0),
    )


def _find_area(values: Array, is_positive: NDArray[np.bool_], weight: Array) -> Statistic:
    """Return the area under the ROC curve; NaN where a class has no rows.

    A positive row's placement is the share of the others below it, of ties a half (DeLong et al.
    1988); that of any other row is the share of the positive ones above it.
    """
    _, place = np.unique(values, return_inverse=True)
    positive = np.bincount(place, weight * is_positive)
    negative = np.bincount(place, weight * ~is_positive)
    totals = positive.sum(), negative.sum()
    if min(totals) == 0.0:
        return Statistic(np.nan, np.full(len(values), np.nan))
    below = (np.cumsum(negative) - 0.5 * negative) / totals[1]
    above = 1.0 - (np.cumsum(positive) - 0.5 * positive) / totals[0]
    area = float(positive @ below / totals[0])
    placements = np.where(is_positive, below[place], above[place])
    shares = np.where(is_positive, *totals) / weight.sum()
    return Statistic(area, (placements - area) / shares)
