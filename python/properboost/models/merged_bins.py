"""Bins for a warm start on other rows, and for merged models: all that models use, and more."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import (
    MAX_CATEGORIES,
    Binning,
    CategoricalBins,
    FeatureBins,
    NumericBins,
)
from properboost.models.ensemble import Ensemble, Rounds
from properboost.models.tree import TreeNodes, pack_codes

__all__ = [
    "MOST_BINS",
    "Codes",
    "MergedEnsemble",
    "UnitedBins",
    "find_categorical_codes",
    "find_changes",
    "find_numeric_codes",
    "join_spans",
    "merge_bins",
    "recode",
]

MOST_BINS = 255
"""Bins of a numeric feature: of 256 codes, missing values take one."""

Codes = NDArray[np.intp]
"""The former code of each code of a feature's merged bins."""


@dataclass(frozen=True, eq=False)
class UnitedBins:
    """The united bins of a feature in several models.

    ``codes[i][c]`` is the code in model `i` of the united code `c`, and ``weights[i][c]`` the
    training weight that the model had there.  Where the model had one bin for several united
    ones, its numbers are assumed to lie evenly between its edges.
    """

    bins: FeatureBins
    codes: list[Codes]
    weights: list[NDArray[np.float64]]


@dataclass(frozen=True)
class MergedEnsemble:
    """The merged ensemble, and how far it is from the exact mean of the models.

    A feature or pair may have more bins or cells in all than a model may have.  Then those that
    differ least are joined.  `lost` has the largest change of a raw prediction by that, by term.
    """

    ensemble: Ensemble
    lost: dict[tuple[int, ...], float]


def merge_bins(
    binning: Binning, models: Sequence[Rounds], new_features: Sequence[FeatureBins]
) -> tuple[Binning, list[Rounds]]:
    """Return bins in which the rounds keep their values, with `new_features`' cuts besides.

    Parameters
    ----------
    binning : Binning
        The bins of the rounds.
    models : sequence of Rounds
        Rounds without lines.
    new_features : sequence of FeatureBins
        The bins of other rows.

    Returns
    -------
    Binning
        Numeric features keep the edges across which any round changes, and get as many of the
        others' edges as there is room for.  Categories stay, and new ones join them.
    list of Rounds
        The rounds over these bins.
    """
    merged, codes = [], []
    for j, (fitted_bins, new_bins) in enumerate(zip(binning.features, new_features, strict=True)):
        if isinstance(fitted_bins, NumericBins) and isinstance(new_bins, NumericBins):
            bins, former_codes = _merge_edges(
                fitted_bins, new_bins, find_changes(models, j, fitted_bins.n_bins)
            )
        elif isinstance(fitted_bins, CategoricalBins) and isinstance(new_bins, CategoricalBins):
            bins, former_codes = _merge_categories(fitted_bins, new_bins)
        else:
            raise ValueError(
                f"X: column {j} must be categorical where it was when the model was fitted"
            )
        merged.append(bins)
        codes.append(former_codes)
    return Binning(tuple(merged), binning.from_dtype), [recode(rounds, codes) for rounds in models]


def find_changes(models: Sequence[Rounds], j: int, n_bins: int) -> NDArray[np.bool_]:
    """Return whether any round has different values in a feature's bin and the next one."""
    changes = np.zeros(n_bins - 1, dtype=bool)
    for rounds in models:
        for t in np.flatnonzero(rounds.feature == j):
            changes |= np.diff(rounds.values[rounds.offsets[t] :][:n_bins]) != 0.0
        if rounds.trees is not None:
            nodes = np.flatnonzero(rounds.trees.feature == j)
            branches = rounds.trees.take(nodes).branches[:, :n_bins]
            changes |= (branches[:, 1:] != branches[:, :-1]).any(axis=0)
    return changes


def _merge_edges(
    fitted: NumericBins, new_bins: NumericBins, used: NDArray[np.bool_]
) -> tuple[FeatureBins, Codes]:
    edges = fitted.edges[used]
    new = np.setdiff1d(new_bins.edges, edges)
    room = MOST_BINS - 1 - len(edges)
    if len(new) > room:  # the others are quantiles: an even choice of them
        new = new[np.linspace(0, len(new) - 1, room).round().astype(np.intp)] if room else new[:0]
    merged = NumericBins(np.union1d(edges, new), span=join_spans([fitted, new_bins]))
    return merged, find_numeric_codes(fitted, merged)


def join_spans(features: Sequence[NumericBins]) -> tuple[float, float] | None:
    """Return the smallest and the largest training value, or None if any feature has no span."""
    spans = [bins.span for bins in features if bins.span is not None]
    if len(spans) < len(features):
        return None
    low, high = np.array(spans).T
    return float(low.min()), float(high.max())


def find_numeric_codes(bins: NumericBins, merged: NumericBins) -> Codes:
    """Return the former code of each merged one: of its largest value, and of missing values."""
    before = np.searchsorted(bins.edges, merged.edges, side="left")
    return np.array([*before, bins.n_bins - 1, bins.n_bins], dtype=np.intp)


def find_categorical_codes(bins: CategoricalBins, merged: CategoricalBins) -> Codes:
    """Return the former code of each merged one: of a category, of missing and unseen values."""
    place = {category: k for k, category in enumerate(bins.categories)}
    # Unseen categories were in the bin of rare ones, or in none.
    unseen = len(place) if bins.has_rare else bins.n_bins + 1
    before = [place.get(category, unseen) for category in merged.categories]
    before += [unseen] * merged.has_rare
    before += [0] * (merged.n_bins - len(before))  # the only bin of a feature without categories
    return np.array([*before, bins.n_bins, unseen], dtype=np.intp)


def _merge_categories(
    fitted: CategoricalBins, new_bins: CategoricalBins
) -> tuple[FeatureBins, Codes]:
    known = set(fitted.categories)
    new = [category for category in new_bins.categories if category not in known]
    room = MAX_CATEGORIES - len(known)
    has_rare = fitted.has_rare or (room > 0 and (new_bins.has_rare or len(new) > room))
    new = new[: room - has_rare]
    merged = CategoricalBins((*fitted.categories, *new), has_rare)
    return merged, find_categorical_codes(fitted, merged)


def recode(rounds: Rounds, codes: Sequence[Codes]) -> Rounds:
    """Return the rounds over other codes of their features."""
    if rounds.trees is not None:
        return replace(rounds, trees=_recode_trees(rounds.trees, codes))
    tables = [
        rounds.values[rounds.offsets[t] : rounds.offsets[t + 1]][codes[j]]
        for t, j in enumerate(rounds.feature)
    ]
    return replace(
        rounds,
        offsets=np.cumsum([0, *map(len, tables)], dtype=np.int64),
        values=np.concatenate([np.empty(0), *tables]),
    )


def _recode_trees(trees: TreeNodes, codes: Sequence[Codes]) -> TreeNodes:
    left, right = trees.goes_left.copy(), trees.goes_right.copy()
    for sets in (left, right):
        for node in np.flatnonzero(~trees.is_leaf):
            former_codes = codes[trees.feature[node]]
            bits = np.unpackbits(sets[node].view(np.uint8), bitorder="little")
            sets[node] = pack_codes(bits[former_codes] > 0)
    return replace(trees, goes_left=left, goes_right=right)
