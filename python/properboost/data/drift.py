"""Drift: how many values of new rows the training rows did not have."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import CategoricalBins, FeatureBins, NumericBins
from properboost.data.table import InputTable

__all__ = ["Weights", "count_drift", "describe_drift"]

Weights: TypeAlias = Sequence[NDArray[np.float64]]
"""The training weight of each code, by feature."""


def describe_drift(
    model: Any, table: InputTable, features: Sequence[FeatureBins], weights: Weights | None
) -> dict[str, NDArray[Any]]:
    """Return `count_drift`, and the names of the model's features, or their positions."""
    names = getattr(model, "feature_names_in_", np.arange(len(features)))
    return {"feature": names.copy(), **count_drift(table, features, weights)}


def count_drift(
    table: InputTable, features: Sequence[FeatureBins], weights: Weights | None
) -> dict[str, NDArray[np.float64]]:
    """Count the rows of `table` with values that training did not have, feature by feature.

    See `TableClassifier.count_drift`.
    """
    counts = {
        name: np.zeros(len(features)) for name in ("unseen", "rare", "below", "above", "missing")
    }
    for j, bins in enumerate(features):
        if isinstance(bins, NumericBins):
            values: NDArray[Any] = table.numeric(j)
            counts["below"][j], counts["above"][j] = _count_beyond(values, bins.span)
            missing = int(np.count_nonzero(values != values))
        else:
            values = bins.read(table, j)
            counts["unseen"][j], counts["rare"][j] = _count_unseen(values, bins)
            missing = int(np.count_nonzero(values == -1))
        if missing > 0:
            counts["missing"][j] = _count_new(
                missing, None if weights is None else weights[j], bins
            )
    return counts


def _count_beyond(values: NDArray[Any], span: tuple[float, float] | None) -> tuple[float, float]:
    """Return how many numbers are below the training ones, and how many above."""
    if span is None:
        return np.nan, np.nan
    # Bounds are Python's floats, so that single values are compared in single precision: those of
    # training are then within bounds that were found in double precision.
    low, high = span
    return float(np.count_nonzero(values < low)), float(np.count_nonzero(values > high))


def _count_unseen(values: NDArray[Any], bins: CategoricalBins) -> tuple[float, float]:
    """Return how many rows have unseen categories, and how many those of the rare ones' bin."""
    if bins.has_rare:
        return np.nan, float(np.count_nonzero(values == len(bins.categories)))
    return float(np.count_nonzero(values == -2)), 0.0


def _count_new(missing: int, weight: NDArray[np.float64] | None, bins: FeatureBins) -> float:
    """Return how many missing values are new: all, or none if training had some."""
    if weight is None:
        return np.nan
    return float(missing) if weight[bins.n_bins] == 0.0 else 0.0
