"""The scale of ordered classes: an ensemble without the rounds that moved thresholds."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from properboost.models.ensemble import Ensemble, Rounds
from properboost.models.interactions import PairBins
from properboost.models.make_ensemble import make_ensemble
from properboost.models.table_ensemble import TableEnsemble

__all__ = ["take_scale"]

CodeWeights = tuple[NDArray[np.float64], ...]


def take_scale(
    ensemble: Ensemble,
    bin_weights: CodeWeights,
    weigh_pairs: Callable[[tuple[PairBins, ...]], CodeWeights],
) -> Ensemble:
    """Return an ensemble without its last feature, the threshold's number, and without intercept.

    Parameters
    ----------
    ensemble : Ensemble
        The ensemble of one model of comparisons, each of whose rounds is of the threshold's number
        or of other features.
    bin_weights : tuple of ndarray
        The training weight of each code of the other features.
    weigh_pairs : callable
        A function that returns the same of pairs of features.
    """
    (rounds,) = ensemble.models
    n_features = len(bin_weights)
    pairs = ensemble.pairs if isinstance(ensemble, TableEnsemble) else ()
    return make_ensemble(
        ensemble.binning.first(n_features),
        (_take_rounds(rounds, n_features),),
        bin_weights,
        ensemble.selection,
        pairs,
        weigh_pairs(pairs) if pairs else (),
        slopes=ensemble.slopes,
    )


def _take_rounds(rounds: Rounds, last: int) -> Rounds:
    """Return the rounds of other features than the last, and those of pairs after them."""
    if rounds.trees is None:
        taken = rounds.where(rounds.feature != last)
        feature = np.where(taken.feature > last, taken.feature - 1, taken.feature)
        return replace(taken, feature=feature.astype(np.int32))
    return rounds.where(rounds.trees.feature[rounds.offsets[:-1]] != last)
