"""Merging models of trees: their rounds follow each other, over bins that all may use."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import MAX_CATEGORIES, Binning, FeatureBins, NumericBins
from properboost.models.ensemble import Rounds
from properboost.models.merged_bins import (
    MOST_BINS,
    MergedEnsemble,
    UnitedBins,
    find_changes,
    recode,
)
from properboost.models.merged_lines import (
    JoinedBins,
    LineMeans,
    join_line_bins,
    list_line_means,
)
from properboost.models.term_grid import TermGrid, find_parts
from properboost.models.tree_ensemble import TreeEnsemble

__all__ = ["merge_trees"]

Array = NDArray[np.float64]


def merge_trees(
    ensembles: Sequence[TreeEnsemble],
    factors: Sequence[float],
    united: Sequence[UnitedBins],
    labels: Sequence[str],
) -> MergedEnsemble:
    """Return trees side by side, over fewer bins where lines distinguish more than is allowed.

    Raises
    ------
    ValueError
        If trees separate more bins of a feature than a model may have.
    """
    means = list_line_means(ensembles, factors)
    joined = _join_bins(ensembles, united, means)
    _check_bins([feature.united.bins for feature in joined], labels)
    merged = TreeEnsemble(
        Binning(tuple(feature.united.bins for feature in joined), ensembles[0].binning.from_dtype),
        _chain_rounds(ensembles, factors, joined, means),
        tuple(np.sum(feature.united.weights, axis=0) for feature in joined),
        joint=ensembles[0].joint,
    )
    merged = _set_means(merged, joined, len(means))
    if all(ensemble.terms is not None for ensemble in ensembles):
        grids = [{g.features: g for g in ensemble.grids or ()} for ensemble in ensembles]
        groups = [feature.group for feature in joined]
        merged = merged.with_grids(
            lambda new: [_merge_cells(grid, grids, united, groups) for grid in new]
        )
    lost: dict[tuple[int, ...], float] = {
        (j,): feature.moved for j, feature in enumerate(joined) if feature.moved > 0.0
    }
    return MergedEnsemble(merged, lost)


def _check_bins(bins_of_features: Sequence[FeatureBins], labels: Sequence[str]) -> None:
    for bins, label in zip(bins_of_features, labels, strict=True):
        most = MOST_BINS if isinstance(bins, NumericBins) else MAX_CATEGORIES
        if bins.n_bins > most:
            raise ValueError(
                f"models of trees must separate at most {most} bins of {label} in all, and not "
                f"{bins.n_bins}: fit them with fewer max_bins"
            )


def _chain_rounds(
    ensembles: Sequence[TreeEnsemble],
    factors: Sequence[float],
    joined: Sequence[JoinedBins],
    means: Sequence[LineMeans],
) -> tuple[Rounds, ...]:
    """Return all rounds of each model, by the codes of the merged bins."""
    origins = [of_lines.model for of_lines in means]
    # Trees without lines have no origin, and any number will do.
    firsts = [origins.index(i) if i in origins else 0 for i in range(len(ensembles))]
    codes = [[feature.united.codes[i] for feature in joined] for i in range(len(ensembles))]

    def move(rounds: Rounds, i: int) -> Rounds:
        scaled = replace(rounds, step=factors[i] * rounds.step, bag=None)
        return recode(scaled.from_origin(firsts[i]), codes[i])

    return tuple(
        Rounds.chain([move(rounds, i) for i, rounds in enumerate(of_model)])
        for of_model in zip(*(ensemble.models for ensemble in ensembles), strict=True)
    )


def _set_means(merged: TreeEnsemble, joined: Sequence[JoinedBins], n_origins: int) -> TreeEnsemble:
    """Return the trees with the means of bins by which lines go, a set of them per origin."""
    origins = tuple(
        merged.binning.set_means({j: feature.means.get(k) for j, feature in enumerate(joined)})
        for k in range(n_origins)
    )
    if len(origins) > 1:
        return replace(merged, origins=origins)
    models = tuple(replace(rounds, origin=None) for rounds in merged.models)
    return replace(merged, models=models, binning=origins[0] if origins else merged.binning)


def _join_bins(
    ensembles: Sequence[TreeEnsemble], united: Sequence[UnitedBins], means: Sequence[LineMeans]
) -> list[JoinedBins]:
    """Return bins that a model may have; the edges of splits stay."""
    joined = []
    for j, feature in enumerate(united):
        used = np.zeros(max(0, feature.bins.n_bins - 1), dtype=bool)
        if isinstance(feature.bins, NumericBins):
            for ensemble in ensembles:
                bins = ensemble.binning.features[j]
                assert isinstance(bins, NumericBins)
                changes = find_changes(ensemble.models, j, bins.n_bins)
                used |= np.isin(feature.bins.edges, bins.edges[changes])
        joined.append(join_line_bins(j, feature, used, means))
    return joined


def _merge_cells(
    grid: TermGrid,
    grids_of_models: Sequence[dict[tuple[int, ...], TermGrid]],
    united: Sequence[UnitedBins],
    groups: Sequence[NDArray[np.intp]],
) -> Array:
    """Return the training weight of each cell of a term, of the models that have the term.

    `groups` have the grid's code of each united one.  Where a model had one level for several, its
    weight is assumed to be in all of them by the weights of their codes.
    """
    total = np.zeros(grid.shape)
    for i, grids in enumerate(grids_of_models):
        if grid.features not in grids:
            continue
        former = grids[grid.features]
        weights = former.weights
        for axis, j in enumerate(grid.features):
            feature = united[j]
            parts = find_parts(
                former.levels[axis][feature.codes[i]],
                grid.levels[axis][groups[j]],
                feature.weights[i],
            )
            weights = np.moveaxis(weights, axis, 0)[: len(parts)]
            weights = (
                (parts[:, :, None] * weights.reshape(len(parts), 1, -1))
                .sum(axis=0)
                .reshape(parts.shape[1], *weights.shape[1:])
            )
            weights = np.moveaxis(weights, 0, axis)
        total += weights
    return total
