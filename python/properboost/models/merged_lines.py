"""Lines in leaves of merged models: each goes by the means of its model's bins."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import Binning, NumericBins
from properboost.models.ensemble import Rounds
from properboost.models.joined_bins import (
    find_heaviest,
    group_values,
    join_neighbours,
    number_groups,
)
from properboost.models.merged_bins import MOST_BINS, UnitedBins
from properboost.models.tree_ensemble import TreeEnsemble

__all__ = ["LineMeans", "find_line_changes", "join_line_bins", "list_line_means"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LineMeans:
    """The means of a model's bins by which lines go.

    `slopes` has, for each feature of such lines, the most that these rise and fall by code,
    (2, 256), between the smallest mean and the largest.  `model` is the position of the model in
    the merge.
    """

    model: int
    binning: Binning
    slopes: dict[int, Array]

    def find_curve(self, j: int, united: UnitedBins) -> Array:
        """Return the means of a feature by united bin; they ascend."""
        bins = self.binning.features[j]
        assert isinstance(bins, NumericBins)
        assert bins.means is not None
        return bins.means[united.codes[self.model][: united.bins.n_bins]]

    def find_slopes(self, j: int, united: UnitedBins) -> Array:
        """Return the most that lines rise and fall along a feature by united bin, (2, n_bins)."""
        return self.slopes[j][:, united.codes[self.model][: united.bins.n_bins]]


def list_line_means(ensembles: Sequence[TreeEnsemble], factors: Sequence[float]) -> list[LineMeans]:
    """Return the means by which lines of models go, in the order of models and their origins."""
    listed = []
    for i, (ensemble, factor) in enumerate(zip(ensembles, factors, strict=True)):
        if any(rounds.lines is not None for rounds in ensemble.models):
            for k, binning in enumerate(ensemble.origins or (ensemble.binning,)):
                slopes: dict[int, Array] = {}
                for rounds in ensemble.models:
                    for j, by_code in _measure_slopes(rounds.of_origin(k)):
                        slopes[j] = np.maximum(slopes.get(j, 0.0), factor * by_code)
                listed.append(LineMeans(i, binning, slopes))
    return listed


def _measure_slopes(rounds: Rounds) -> Iterator[tuple[int, Array]]:
    """Yield each feature of lines, and the most that all trees rise and fall along it, by code."""
    if rounds.lines is None or rounds.trees is None:
        return
    tree = np.repeat(np.arange(len(rounds)), np.diff(rounds.offsets))[rounds.lines.node]
    slopes = rounds.lines.slope * rounds.step[tree]
    for j in np.unique(rounds.lines.feature).tolist():
        is_of_feature = rounds.lines.feature == j
        nodes = rounds.lines.node[is_of_feature]
        comes = rounds.trees.find_codes(j, rounds.offsets)[nodes]
        most = np.zeros((2, len(rounds), comes.shape[1]))
        for sign, of_trees in zip((1.0, -1.0), most, strict=True):
            steepness = sign * slopes[is_of_feature, None] * comes
            np.maximum.at(of_trees, tree[is_of_feature], steepness)
        yield j, most.sum(axis=1)


def find_line_changes(ensemble: TreeEnsemble, j: int, n_bins: int) -> NDArray[np.bool_]:
    """Return whether lines distinguish a bin of a feature from the next one."""
    changes = np.zeros(n_bins - 1, dtype=bool)
    for k, binning in enumerate(ensemble.origins or (ensemble.binning,)):
        lines = [rounds.of_origin(k).lines for rounds in ensemble.models]
        if any(of_model is not None and j in of_model.feature for of_model in lines):
            changes |= np.diff(binning.find_positions(j)[:n_bins]) != 0.0
    return changes


def join_line_bins(
    j: int, united: UnitedBins, used: NDArray[np.bool_], means: Sequence[LineMeans]
) -> tuple[UnitedBins, dict[int, Array], float]:
    """Return a feature's bins, at most `MOST_BINS`, its means there, and what joining them moves.

    Parameters
    ----------
    j : int
        The feature.
    united : UnitedBins
        Its bins in all models.
    used : ndarray of bool
        Whether splits use each edge; such edges stay.
    means : sequence of LineMeans
        Those of all models' lines.

    Returns
    -------
    UnitedBins
        The bins; those that lines distinguish least are joined.
    dict
        The means of each bin, by position in `means`, of those whose lines have the feature.
    float
        A bound on the change of a raw prediction.
    """
    curves = {
        k: of_model.find_curve(j, united)
        for k, of_model in enumerate(means)
        if j in of_model.slopes
    }
    n_bins = united.bins.n_bins
    if not curves or n_bins <= MOST_BINS:
        return united, curves, 0.0
    assert isinstance(united.bins, NumericBins)
    stays = np.concatenate([[True], used])
    stays[[1, -1]] = True  # the outer means are the ends of positions
    if stays.sum() > MOST_BINS:
        return united, curves, 0.0
    spans = np.array([[curve[-1] - curve[0]] for curve in curves.values()])
    rise, fall = np.stack([means[k].find_slopes(j, united) for k in curves], axis=1)
    reach = np.maximum(rise, fall).max(axis=1, keepdims=True)
    stacked = np.stack(list(curves.values()))
    weight = np.sum(united.weights, axis=0)
    starts = join_neighbours(
        stacked / spans * reach, weight[:n_bins], np.arange(n_bins), MOST_BINS, stays
    )
    group = number_groups(starts, n_bins)
    joined, _ = group_values(stacked, weight[:n_bins], group[:n_bins])
    joined = np.maximum.accumulate(joined, axis=1)  # equal means may round to others
    moved = (joined[:, group[:n_bins]] - stacked) / spans
    up = np.where(moved > 0.0, moved * rise, -moved * fall).sum(axis=0)
    down = np.where(moved > 0.0, moved * fall, -moved * rise).sum(axis=0)
    heaviest = find_heaviest(group, weight)
    thinned = UnitedBins(
        replace(united.bins, edges=united.bins.edges[starts[1:] - 1]),
        [codes[heaviest] for codes in united.codes],
        [np.bincount(group, w, len(heaviest)).astype(np.float64) for w in united.weights],
    )
    return thinned, dict(zip(curves, joined, strict=True)), float(np.maximum(up, down).max())
