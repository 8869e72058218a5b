"""Bins that separate what any of several models separates, for merging them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import CategoricalBins, NumericBins
from properboost.data.distinct import find_distinct
from properboost.models.ensemble import Ensemble
from properboost.models.merged_bins import (
    UnitedBins,
    find_categorical_codes,
    find_changes,
    find_numeric_codes,
    join_spans,
)
from properboost.models.merged_lines import find_line_changes
from properboost.models.table_ensemble import TableEnsemble
from properboost.models.tree_ensemble import TreeEnsemble

__all__ = ["unite_bins"]

Array = NDArray[np.float64]


def unite_bins(ensembles: Sequence[Ensemble], j: int, label: str) -> UnitedBins:
    """Return the bins that separate what any model separates, however many these are."""
    bins_of_models = [ensemble.binning.features[j] for ensemble in ensembles]
    weights = [ensemble.bin_weights[j] for ensemble in ensembles]
    numeric = [bins for bins in bins_of_models if isinstance(bins, NumericBins)]
    categorical = [bins for bins in bins_of_models if isinstance(bins, CategoricalBins)]
    if len(numeric) == len(bins_of_models):
        changes = [_find_cuts(ensemble, j) for ensemble in ensembles]
        return _unite_edges(numeric, changes, weights)
    if len(categorical) == len(bins_of_models):
        kinds = {isinstance(c, str) for bins in categorical for c in bins.categories}
        if len(kinds) < 2:
            return _unite_categories(categorical, weights)
    raise ValueError(
        f"models must have {label} of one kind: numbers in all, or categories in all that are all "
        "strings or all numbers"
    )


def _find_cuts(ensemble: Ensemble, j: int) -> NDArray[np.bool_]:
    """Return whether a model separates a bin of a numeric feature from the next one."""
    n_bins = ensemble.binning.features[j].n_bins
    changes = find_changes(ensemble.models, j, n_bins)
    if isinstance(ensemble, TreeEnsemble):
        changes |= find_line_changes(ensemble, j, n_bins)
    for pair in ensemble.pairs if isinstance(ensemble, TableEnsemble) else ():
        for feature, level in ((pair.first, pair.first_level), (pair.second, pair.second_level)):
            if feature == j:
                changes |= np.diff(level[:n_bins]) != 0
    return changes


def _unite_edges(
    numeric: Sequence[NumericBins],
    changes: Sequence[NDArray[np.bool_]],
    weights: Sequence[Array],
) -> UnitedBins:
    edges = find_distinct(
        np.concatenate([bins.edges[used] for bins, used in zip(numeric, changes, strict=True)])
    )
    united = NumericBins(edges, span=join_spans(numeric))
    return UnitedBins(
        united,
        [find_numeric_codes(bins, united) for bins in numeric],
        [
            _spread_weight(bins, edges, weight, united.span)
            for bins, weight in zip(numeric, weights, strict=True)
        ],
    )


def _spread_weight(
    bins: NumericBins, edges: Array, weight: Array, span: tuple[float, float] | None
) -> Array:
    """Return the training weight of bins between other edges."""
    low, high = span or (-np.inf, np.inf)
    inner = bins.edges[np.isfinite(bins.edges)]
    first, last = (inner[0], inner[-1]) if len(inner) else (0.0, 0.0)
    low, high = (low if low < first else first - 1.0), (high if high > last else last + 1.0)
    ends = np.clip(np.concatenate([[-np.inf], bins.edges, [np.inf]]), low, high)
    cumulative = np.concatenate([[0.0], np.cumsum(weight[: bins.n_bins])])
    at = np.clip(np.concatenate([[-np.inf], edges, [np.inf]]), low, high)
    place = np.clip(np.searchsorted(ends, at, side="right") - 1, 0, bins.n_bins - 1)
    # Weights over narrow widths overflow, and so do wide widths; shares of halves do not.
    lower, upper = 0.5 * ends[place], 0.5 * ends[place + 1]
    with np.errstate(invalid="ignore"):
        share = (0.5 * at - lower) / (upper - lower)
    share = np.where(np.isnan(share), np.isinf(lower), share)  # all weight is at infinite ends
    at_edges = cumulative[place] + share * weight[place]
    at_edges[0], at_edges[-1] = 0.0, cumulative[-1]
    return np.append(np.maximum(np.diff(at_edges), 0.0), weight[bins.n_bins])


def _unite_categories(
    categorical: Sequence[CategoricalBins], weights: Sequence[Array]
) -> UnitedBins:
    categories = tuple(dict.fromkeys(c for bins in categorical for c in bins.categories))
    united = CategoricalBins(categories, any(bins.has_rare for bins in categorical))
    united_weights = []
    for bins, weight in zip(categorical, weights, strict=True):
        place = {c: k for k, c in enumerate(bins.categories)}
        united_weight = np.zeros(united.width)
        united_weight[: len(categories)] = [
            weight[place[c]] if c in place else 0.0 for c in categories
        ]
        if bins.has_rare:
            united_weight[united.n_bins - 1] += weight[len(place)]
        united_weight[united.n_bins] = weight[bins.n_bins]
        united_weights.append(united_weight)
    return UnitedBins(
        united, [find_categorical_codes(bins, united) for bins in categorical], united_weights
    )
