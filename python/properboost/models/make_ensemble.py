"""The choice of the ensemble class for fitted rounds: tables, trees or damped."""

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import Binning
from properboost.models.damped_ensemble import DampedEnsemble
from properboost.models.ensemble import Ensemble, Rounds
from properboost.models.interactions import PairBins
from properboost.models.table_ensemble import TableEnsemble
from properboost.models.tree_ensemble import TreeEnsemble

__all__ = ["make_ensemble"]


def make_ensemble(
    binning: Binning,
    models: tuple[Rounds, ...],
    bin_weights: tuple[NDArray[np.float64], ...],
    selection: str,
    pairs: tuple[PairBins, ...] = (),
    pair_weights: tuple[NDArray[np.float64], ...] = (),
    damping: float = 0.0,
    joint: bool = False,
    intercepts: tuple[float, ...] = (),
    slopes: tuple[float, ...] = (),
) -> Ensemble:
    """Return the ensemble of these rounds: damped, of trees, or of look-up tables."""
    shared = (binning, models, bin_weights, selection, joint, intercepts, slopes)
    if damping > 0.0:
        return DampedEnsemble(*shared, damping=damping)
    if any(rounds.trees is not None for rounds in models):
        return TreeEnsemble(*shared)
    return TableEnsemble(*shared, pairs=pairs, pair_weights=pair_weights)
