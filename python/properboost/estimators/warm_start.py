"""The checks of `warm_start`, which refuses by name the models that it cannot continue."""

import math
from collections.abc import Iterator
from typing import Any

from properboost.data.binning import Binning
from properboost.data.sorted_rows import Rows
from properboost.engine.options import find_coupling
from properboost.engine.protocols import RowSource
from properboost.losses.builtin import MarginLoss
from properboost.losses.registry import get_loss
from properboost.models.ensemble import Ensemble, Rounds
from properboost.models.merged_bins import merge_bins
from properboost.models.table_ensemble import TableEnsemble
from properboost.parameters.declare import read_parameter
from properboost.parameters.kinds import NEW_BINS, SOLVED
from properboost.parameters.learners import Learner
from properboost.parameters.rows import BinningOptions
from properboost.parameters.stages import Calibration

__all__ = ["check_warm_start", "read_earlier_fit"]


def check_warm_start(model: Any, loss: MarginLoss, *, begins_with_scores: bool) -> MarginLoss:
    """Refuse a model that a fit cannot go on from, and return the loss of the earlier fit.

    `model` is a fitted `ProperBoostClassifier`, `loss` is the loss by its present parameters, and
    `begins_with_scores` if there is an `init_score`.
    """
    model._check_complete("warm_start")
    before = model.loss_
    if model.gain is None and isinstance(model.loss, str):
        loss = get_loss(model.loss, before.gain)
        before = before.known_by(math.inf)  # `loss` has the certainty of all rows, too
    if loss != before:
        raise ValueError(f"loss and gain must stay {model.loss_!r} with warm_start; got {loss!r}")
    for obstacle in _list_obstacles(model, model.ensemble_, begins_with_scores):
        raise ValueError(f"warm_start must be False {obstacle}")
    if len(model.classes_) > 2:
        coupling = find_coupling(model.multiclass, loss, model.step, model.response)
        if coupling != model.multiclass_:
            raise ValueError(
                f"multiclass must stay {model.multiclass_!r} with warm_start; got {coupling!r}"
            )
    _check_rounds(model, model.ensemble_)
    return loss


def _list_obstacles(model: Any, ensemble: Ensemble, begins_with_scores: bool) -> Iterator[str]:
    """Yield the obstacles to a warm start: the words after "warm_start must be False"."""
    yield from _list_refused_parameters(model, ensemble)
    yield from _list_mismatches(model, ensemble, begins_with_scores)


def _list_refused_parameters(model: Any, ensemble: Ensemble) -> Iterator[str]:
    """Yield the obstacles that no warm start allows: pairs, and values of parameters."""
    if _has_pairs(ensemble) or read_parameter(model, "interactions").are_wanted:
        yield "with interactions"
    learner: Learner = read_parameter(model, "weak_learner")
    if learner.is_grown and learner.n_draws > 1:
        yield "with n_draws above 1"
    if read_parameter(model, "outer_bags").n_bags > 0:
        yield "with outer_bags"
    if model.step in SOLVED:
        yield f"with step={model.step!r}: its steps are solved for"
    if _is_scaled_by_number(model):
        yield (
            "with a slope, intercept or temperature that is a number: it belongs to the rounds it "
            "was found for"
        )


def _list_mismatches(model: Any, ensemble: Ensemble, begins_with_scores: bool) -> Iterator[str]:
    """Yield the mismatches between the fitted model and the new fit."""
    if model.warm_start == NEW_BINS and any(rounds.lines is not None for rounds in ensemble.models):
        yield "or True, and not 'new_bins', for trees whose leaves have lines"
    if model.begins_with_scores_ != begins_with_scores:
        yield (
            "unless init_score is given, as it was before"
            if model.begins_with_scores_
            else "with init_score, which was not given before"
        )
    if any(rounds.moves is None for rounds in ensemble.models):
        yield (
            "for a model whose file has no state to go on from, that is the mean of several fits, "
            "or that was made monotone afterwards"
        )


def _has_pairs(ensemble: Ensemble) -> bool:
    return isinstance(ensemble, TableEnsemble) and len(ensemble.pairs) > 0


def _is_scaled_by_number(model: Any) -> bool:
    """Return whether a user set a number for the slope, the intercept or the temperature."""
    calibration: Calibration = read_parameter(model, "calibration")
    slope = not isinstance(calibration.slope, str) and calibration.slope != 1.0
    intercept = calibration.intercept is not None and not isinstance(calibration.intercept, str)
    return slope or intercept or calibration.temperature is not None


def _check_rounds(model: Any, ensemble: Ensemble) -> None:
    """Check that more rounds can follow the fitted ones."""
    before = ensemble.n_estimators
    if model.n_estimators is not None and model.n_estimators < before:
        raise ValueError(
            f"n_estimators must be at least the {before} estimators of the model that warm_start "
            f"goes on from; got {model.n_estimators!r}"
        )
    if before == 0:
        return
    trees = any(rounds.trees is not None for rounds in ensemble.models)
    if trees != read_parameter(model, "weak_learner").is_grown:
        raise ValueError(
            "weak_learner must stay with warm_start: trees and rules cannot follow look-up tables, "
            "nor these them"
        )
    if (model.selection == "cyclic") != (ensemble.selection == "cyclic"):
        raise ValueError(
            "selection must stay with warm_start: it cannot change between 'cyclic' and another; "
            f"the fitted model has {ensemble.selection!r}"
        )


def read_earlier_fit(
    model: Any, source: RowSource, options: BinningOptions, rows: Rows
) -> tuple[Binning, list[Rounds]]:
    """Return the bins and rounds from which a fit to other rows goes on."""
    ensemble = model.ensemble_
    rounds = [of_model.without_slope() for of_model in ensemble.models]
    if model.warm_start != NEW_BINS:
        return ensemble.binning, rounds
    return merge_bins(ensemble.binning, rounds, source.find_binning(options, rows).features)
