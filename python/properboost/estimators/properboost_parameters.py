"""Parameters of `ProperBoostClassifier`: which go together, and what some stand for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.engine.options import (
    check_depth_of_policy,
    check_directions_of_lines,
    check_loss_of_step,
    check_smoothing_of_response,
    find_coupling,
)
from properboost.fitting.plan import OF_PAIRS, wants_pairs
from properboost.losses.builtin import MarginLoss
from properboost.losses.probabilities import Link
from properboost.losses.registry import get_loss
from properboost.parameters import checks
from properboost.parameters.declare import check_declared
from properboost.parameters.shared import gain_of, rows_known_of

__all__ = ["check_intercept", "check_parameters", "find_loss", "make_link"]


def check_parameters(model: Any) -> MarginLoss:
    """Check what parameters of a `ProperBoostClassifier` hold without data; returns the loss."""
    check_declared(model)
    loss = get_loss(model.loss, model.gain)
    check_loss_of_step(loss, model.step)
    check_smoothing_of_response("smoothing", model.smoothing, model.weak_learner, model.response)
    if wants_pairs(model.interactions):
        h = model.interaction_smoothing
        check_smoothing_of_response("interaction_smoothing", h, OF_PAIRS, model.response)
    check_depth_of_policy("max_depth", model.max_depth, model.weak_learner, [model.grow_policy])
    find_coupling(model.multiclass, loss, model.step, model.response)
    check_directions_of_lines(model.monotonic_cst, [model.linear_leaves])
    return loss


def check_intercept(name: str, value: object) -> object:
    """Check how the intercept is found, or its numbers; how many is checked with the data."""
    if checks.is_list(value):
        checks.entries(name, value, checks.finite)
        return value
    return checks.either(checks.finite, "auto", "share", None)(name, value)


def find_loss(
    model: Any, loss: MarginLoss, class_weights: NDArray[np.float64], *, keeps_gain: bool
) -> MarginLoss:
    """Return the loss of a fit: where no gain is named, with the gain that suits the rows.

    `class_weights` are the weights of the classes' training rows.  A fit that goes on from another
    one keeps its gain.
    """
    if model.gain is not None or not isinstance(model.loss, str):
        return loss
    gain = loss.gain
    if not keeps_gain:
        gain = gain_of(model.weak_learner, class_weights, loss.gain_unit)
    return get_loss(model.loss, gain).known_by(rows_known_of(class_weights))


def make_link(model: Any, loss: MarginLoss, n_classes: int, n_threads: int) -> Link:
    """Return what makes probabilities of the raw predictions of a model with these parameters."""
    if n_classes == 2:
        return Link(loss, None, n_threads)
    coupling = find_coupling(model.multiclass, loss, model.step, model.response)
    temperature = None
    if coupling == "one_vs_rest" and model.temperature is not None:
        temperature = checks.positive("temperature", model.temperature)
    return Link(loss, coupling, n_threads, temperature)
