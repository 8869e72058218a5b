"""Parameters of `ProperBoostClassifier`: which go together, and what some stand for."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from properboost.boosting.options import (
    OF_PAIRS,
    check_depth_of_policy,
    check_directions_of_lines,
    check_loss_of_step,
    check_smoothing_of_response,
    find_coupling,
)
from properboost.data.frames import find_feature
from properboost.losses.builtin import MarginLoss
from properboost.losses.registry import get_loss
from properboost.parameters import checks
from properboost.parameters.declare import check_declared

__all__ = ["check_intercept", "check_parameters", "read_intercept", "read_pairs"]


def check_parameters(model: Any) -> MarginLoss:
    """Check what parameters of a `ProperBoostClassifier` hold without data; returns the loss."""
    check_declared(model)
    loss = get_loss(model.loss, model.gain)
    check_loss_of_step(loss, model.step)
    check_smoothing_of_response("smoothing", model.smoothing, model.weak_learner, model.response)
    if model._wants_pairs():
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


def read_intercept(given: Any, n_models: int) -> str | tuple[float, ...] | None:
    """Return how the intercept is found, or what it is."""
    if given is None or isinstance(given, str):
        return given
    values = tuple(given) if checks.is_list(given) else (given,) * (1 if n_models == 1 else 0)
    if len(values) != n_models:
        wanted = "one number" if n_models == 1 else f"{n_models} numbers, one for each class"
        raise ValueError(f"intercept must be {wanted}, or a name; got {given!r}")
    return tuple(float(value) for value in values)


def read_pairs(
    given: Sequence[Sequence[int | str]] | NDArray[Any],
    n_features: int,
    names: Sequence[str] | None,
) -> list[tuple[int, int]]:
    """Return pairs of positions for the pairs of features the user names."""
    pairs = []
    for k, pair in enumerate(given):
        argument = f"interactions[{k}]"
        first, second = sorted(find_feature(f, names, n_features, argument) for f in pair)
        if first == second or (first, second) in pairs:
            raise ValueError(f"{argument} must be two different features, once; got {pair!r}")
        pairs.append((first, second))
    return pairs
