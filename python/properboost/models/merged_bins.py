"""Bins for a model that goes on over other rows: its own where it uses them, and the rows'."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import (
    MAX_CATEGORIES,
    Binning,
    CategoricalBins,
    FeatureBins,
    NumericBins,
)
from properboost.models.ensemble import Rounds
from properboost.models.tree import Tree

__all__ = [
    "MOST_BINS",
    "Codes",
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
"""For each code of a feature's merged bins, the code that the same values had before."""


def merge_bins(
    binning: Binning, models: Sequence[Rounds], found: Sequence[FeatureBins]
) -> tuple[Binning, list[Rounds]]:
    """Return bins in which these rounds say what they said, and cut like `found` for all else.

    Parameters
    ----------
    binning : Binning
        The bins of the rounds.
    models : sequence of Rounds
        Rounds without lines.
    found : sequence of FeatureBins
        The bins of other rows.

    Returns
    -------
    Binning
        The edges of numeric features across which any round changes stay, and as many of the
        others' join them as there is room for.  Categories stay, and new ones join them.
    list of Rounds
        The rounds over these bins.
    """
    merged, codes = [], []
    for j, (own, other) in enumerate(zip(binning.features, found, strict=True)):
        if isinstance(own, NumericBins) and isinstance(other, NumericBins):
            bins, own_codes = _merge_edges(own, other, find_changes(models, j, own.n_bins))
        elif isinstance(own, CategoricalBins) and isinstance(other, CategoricalBins):
            bins, own_codes = _merge_categories(own, other)
        else:
            raise ValueError(
                f"X: column {j} must be categorical where it was when the model was fitted"
            )
        merged.append(bins)
        codes.append(own_codes)
    return Binning(tuple(merged), binning.from_dtype), [recode(own, codes) for own in models]


def find_changes(models: Sequence[Rounds], j: int, n_bins: int) -> NDArray[np.bool_]:
    """Return whether any round tells a bin of a feature from the next one."""
    changes = np.zeros(n_bins - 1, dtype=bool)
    for rounds in models:
        for t in np.flatnonzero(rounds.feature == j):
            changes |= np.diff(rounds.values[rounds.offsets[t] :][:n_bins]) != 0.0
        if rounds.trees is not None:
            branches = rounds.trees.branches[rounds.trees.feature == j, :n_bins]
            changes |= (branches[:, 1:] != branches[:, :-1]).any(axis=0)
    return changes


def _merge_edges(
    own: NumericBins, other: NumericBins, used: NDArray[np.bool_]
) -> tuple[FeatureBins, Codes]:
    kept = own.edges[used]
    new = np.setdiff1d(other.edges, kept)
    room = MOST_BINS - 1 - len(kept)
    if len(new) > room:  # the others are quantiles: some of them, evenly
        new = new[np.linspace(0, len(new) - 1, room).round().astype(np.intp)] if room else new[:0]
    merged = NumericBins(np.union1d(kept, new), span=join_spans([own, other]))
    return merged, find_numeric_codes(own, merged)


def join_spans(some: Sequence[NumericBins]) -> tuple[float, float] | None:
    """Return the smallest and the largest training value of all; None if one does not know."""
    spans = [bins.span for bins in some if bins.span is not None]
    if len(spans) < len(some):
        return None
    low, high = np.array(spans).T
    return float(low.min()), float(high.max())


def find_numeric_codes(own: NumericBins, merged: NumericBins) -> Codes:
    """Return the code before of each merged one: of its largest value, and of missing ones."""
    before = np.searchsorted(own.edges, merged.edges, side="left")
    return np.array([*before, own.n_bins - 1, own.n_bins], dtype=np.intp)


def find_categorical_codes(own: CategoricalBins, merged: CategoricalBins) -> Codes:
    """Return the code before of each merged one: of a category, of missing and of unseen ones."""
    place = {category: k for k, category in enumerate(own.categories)}
    # What was not seen was in the bin of rare ones, or in none.
    unseen = len(place) if own.has_rare else own.n_bins + 1
    before = [place.get(category, unseen) for category in merged.categories]
    before += [unseen] * merged.has_rare
    before += [0] * (merged.n_bins - len(before))  # the one bin of a feature without categories
    return np.array([*before, own.n_bins, unseen], dtype=np.intp)


def _merge_categories(own: CategoricalBins, other: CategoricalBins) -> tuple[FeatureBins, Codes]:
    known = set(own.categories)
    new = [category for category in other.categories if category not in known]
    room = MAX_CATEGORIES - len(known)
    has_rare = own.has_rare or (room > 0 and (other.has_rare or len(new) > room))
    new = new[: room - has_rare]
    merged = CategoricalBins((*own.categories, *new), has_rare)
    return merged, find_categorical_codes(own, merged)


def recode(rounds: Rounds, codes: Sequence[Codes]) -> Rounds:
    """Return rounds over other codes of their features."""
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


def _recode_trees(trees: Tree, codes: Sequence[Codes]) -> Tree:
    left, right = trees.goes_left.copy(), trees.goes_right.copy()
    for sets in (left, right):
        for node in np.flatnonzero(~trees.is_leaf):
            own = codes[trees.feature[node]]
            bits = np.unpackbits(sets[node].view(np.uint8), bitorder="little")
            moved = np.zeros(256, dtype=np.uint8)
            moved[: len(own)] = bits[own]
            sets[node] = np.packbits(moved, bitorder="little").view(np.uint64)
    return replace(trees, goes_left=left, goes_right=right)
