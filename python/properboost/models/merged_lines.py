"""Lines in leaves of merged models: each goes by the means of its model's bins."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import Binning, NumericBins
from properboost.data.distinct import find_distinct
from properboost.models.ensemble import Rounds
from properboost.models.joined_bins import (
    find_exponent,
    find_heaviest,
    group_values,
    join_neighbours,
    number_groups,
)
from properboost.models.merged_bins import MOST_BINS, UnitedBins
from properboost.models.tree_ensemble import TreeEnsemble

__all__ = ["JoinedBins", "LineMeans", "find_line_changes", "join_line_bins", "list_line_means"]

LARGE = 1000
"""The exponent of two beyond which means are scaled, so that no sum of them overflows."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LineMeans:
    """The means of a model's bins by which lines go, and the rounds that have these lines.

    `model` is the position of the model in the merge, `factor` that of its rounds there, and
    `features` are those of the lines.
    """

    model: int
    factor: float
    binning: Binning
    rounds: list[Rounds]
    features: set[int]

    def find_curve(self, j: int, united: UnitedBins) -> Array:
        """Return the means of a feature by united bin; they ascend."""
        bins = self.binning.features[j]
        assert isinstance(bins, NumericBins)
        assert bins.means is not None
        return bins.means[united.codes[self.model][: united.bins.n_bins]]

    def find_slopes(self, j: int, united: UnitedBins) -> Array:
        """Return the most that lines rise and fall along a feature by united bin, (2, n_bins).

        They do between the smallest mean and the largest.
        """
        by_code = np.max([_measure_slopes(rounds, j) for rounds in self.rounds], axis=0)
        slopes: Array = self.factor * by_code[:, united.codes[self.model][: united.bins.n_bins]]
        return slopes


@dataclass(frozen=True, eq=False)
class JoinedBins:
    """The bins of a feature in a merged model of trees.

    `group` has the code of each united code.  `means` are those of each bin, by position of the
    `LineMeans` whose lines have the feature.  `moved` is a bound on the change of a raw prediction.
    """

    united: UnitedBins
    group: NDArray[np.intp]
    means: dict[int, Array]
    moved: float = 0.0


def list_line_means(ensembles: Sequence[TreeEnsemble], factors: Sequence[float]) -> list[LineMeans]:
    """Return the means by which lines of models go, in the order of models and their origins."""
    listed = []
    for i, (ensemble, factor) in enumerate(zip(ensembles, factors, strict=True)):
        if any(rounds.lines is not None for rounds in ensemble.models):
            for k, binning in enumerate(ensemble.origins or (ensemble.binning,)):
                models = [rounds.of_origin(k) for rounds in ensemble.models]
                lines = [rounds.lines.feature for rounds in models if rounds.lines is not None]
                features = {j for of_model in lines for j in find_distinct(of_model).tolist()}
                listed.append(LineMeans(i, factor, binning, models, features))
    return listed


def _measure_slopes(rounds: Rounds, j: int) -> Array:
    """Return the most that all trees rise and fall along a feature, by code."""
    most = np.zeros((2, len(rounds), 256))
    if rounds.lines is not None and rounds.trees is not None:
        tree = np.repeat(np.arange(len(rounds)), np.diff(rounds.offsets))[rounds.lines.node]
        is_of_feature = rounds.lines.feature == j
        slopes = (rounds.lines.slope * rounds.step[tree])[is_of_feature, None]
        comes = rounds.trees.find_codes(j, rounds.offsets)[rounds.lines.node[is_of_feature]]
        for sign, of_trees in zip((1.0, -1.0), most, strict=True):
            np.maximum.at(of_trees, tree[is_of_feature], sign * slopes * comes)
    sums: Array = most.sum(axis=1)
    return sums


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
) -> JoinedBins:
    """Return a feature's bins; of more than `MOST_BINS`, those that lines distinguish least join.

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
    JoinedBins
        The united bins themselves if these are few enough, or if splits use too many edges.
    """
    curves = {
        k: of_model.find_curve(j, united)
        for k, of_model in enumerate(means)
        if j in of_model.features
    }
    n_bins = united.bins.n_bins
    whole = JoinedBins(united, np.arange(united.bins.width), curves)
    if not curves or n_bins <= MOST_BINS:
        return whole
    assert isinstance(united.bins, NumericBins)
    stays = np.concatenate([[True], used])
    stays[[1, -1]] = True  # the outer means are the ends of positions
    if stays.sum() > MOST_BINS:
        return whole
    exponents = [[max(0, find_exponent(curve) - LARGE)] for curve in curves.values()]
    stacked = np.ldexp(np.stack(list(curves.values())), -np.array(exponents))
    spans = stacked[:, -1:] - stacked[:, :1]
    rise, fall = np.stack([means[k].find_slopes(j, united) for k in curves], axis=1)
    reach = np.maximum(rise, fall).max(axis=1, keepdims=True)
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
    joined = np.ldexp(joined, exponents)
    return JoinedBins(
        thinned, group, dict(zip(curves, joined, strict=True)), float(np.maximum(up, down).max())
    )
