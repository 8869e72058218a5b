"""The scale of ordered classes: an ensemble without the rounds that moved thresholds, and these."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from properboost.models.ensemble import Ensemble, Rounds
from properboost.models.interactions import PairBins
from properboost.models.make_ensemble import make_ensemble
from properboost.models.table_ensemble import TableEnsemble
from properboost.models.threshold_moves import ThresholdMoves

__all__ = ["take_moves", "take_scale"]

CodeWeights = tuple[NDArray[np.float64], ...]


def take_scale(
    ensemble: Ensemble,
    bin_weights: CodeWeights,
    weigh_pairs: Callable[[tuple[PairBins, ...]], CodeWeights],
) -> Ensemble:
    """Return an ensemble without its last feature, the threshold's number, and without intercept.

    Pairs of a feature with the threshold's number are left out, too.

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
    if any(pair.second == n_features for pair in pairs):
        pairs, rounds = (), rounds.where(rounds.feature <= n_features)
    return make_ensemble(
        ensemble.binning.first(n_features),
        (_take_rounds(rounds, n_features),),
        bin_weights,
        ensemble.selection,
        pairs,
        weigh_pairs(pairs) if pairs else (),
        slopes=ensemble.slopes,
    )


def take_moves(ensemble: TableEnsemble, bin_weights: CodeWeights) -> ThresholdMoves | None:
    """Return the moves of thresholds by pairs of a feature with the threshold's number, if any.

    `bin_weights` has the training weight of each code, by which the mean of each move is 0.
    """
    *_, numbers = ensemble.binning.features
    last = len(ensemble.binning.features) - 1
    sums, offsets = ensemble.sums_of(0), ensemble.offsets
    moves: dict[int, NDArray[np.float64]] = {}
    for k, pair in enumerate(ensemble.pairs):
        start = offsets[last + 1 + k]
        cells = sums[start : start + pair.n_cells].reshape(pair.n_first, pair.n_second)
        if pair.second == last and cells.any():
            level = pair.first_level
            # F less a threshold rises by the value of a cell, so that the threshold falls.
            table = -cells[level][:, pair.second_level[: numbers.n_bins]]
            table[level < 0] = 0.0
            moves[pair.first] = table - np.average(table, axis=0, weights=bin_weights[pair.first])
    return ThresholdMoves(tuple(moves), tuple(moves.values())) if moves else None


def _take_rounds(rounds: Rounds, last: int) -> Rounds:
    """Return the rounds of other features than the last, and those of pairs after them."""
    if rounds.trees is None:
        taken = rounds.where(rounds.feature != last)
        feature = np.where(taken.feature > last, taken.feature - 1, taken.feature)
        return replace(taken, feature=feature.astype(np.int32))
    return rounds.where(rounds.trees.feature[rounds.offsets[:-1]] != last)
