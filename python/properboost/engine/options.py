"""Checks of which options go together, whatever the data."""

from collections.abc import Collection

from properboost.losses.builtin import MarginLoss
from properboost.parameters.kinds import Coupling, GrowPolicy, MonotonicConstraints, Multiclass
from properboost.parameters.shared import CONDITIONAL, MOST_LEVELS, SOLVED

__all__ = [
    "CONDITIONAL",
    "check_depth_of_policy",
    "check_directions_of_lines",
    "check_loss_of_step",
    "check_smoothing_of_response",
    "find_coupling",
    "gain_is_free",
    "list_couplings",
]


def check_loss_of_step(loss: MarginLoss, step: str) -> None:
    """Check that a step that is solved for has one solution."""
    if step in SOLVED and not loss.native.convex:
        raise ValueError(f"step must not be {step!r} with loss={loss.name!r}, which is not convex")


def check_depth_of_policy(
    name: str, max_depth: int | None, weak_learner: str, policies: Collection[GrowPolicy]
) -> None:
    """Check that a symmetric tree's nodes can be numbered."""
    if max_depth is None or weak_learner != "tree" or "symmetric" not in policies:
        return
    if max_depth > MOST_LEVELS:
        raise ValueError(
            f"{name} must be at most {MOST_LEVELS} with grow_policy='symmetric'; got {max_depth!r}"
        )


def check_smoothing_of_response(
    name: str, h: float | None, weak_learner: str, response: str
) -> None:
    """Check that a response that looks at rows knows in which cells they count."""
    if h is not None and h > 0.25 and weak_learner == "histogram" and response == "exact":
        raise ValueError(f"{name} must be at most 0.25 with response='exact'; got {h!r}")


def check_directions_of_lines(directions: MonotonicConstraints, linear: Collection[bool]) -> None:
    """Check that no leaf's line need be in order."""
    if directions is not None and True in linear:
        raise ValueError(
            "linear_leaves must be False with monotonic_cst: a line falls or rises by itself"
        )


def list_couplings(loss: MarginLoss, step: str, response: str) -> tuple[Coupling, ...]:
    """Return how the models of more than two classes may be coupled, the default first."""
    if step in SOLVED or response == CONDITIONAL:
        return ("one_vs_rest",)
    return (*loss.joint_forms, "one_vs_rest")


def find_coupling(multiclass: Multiclass, loss: MarginLoss, step: str, response: str) -> Coupling:
    """Return how the models of more than two classes are coupled; refuse what cannot be."""
    known = list_couplings(loss, step, response)
    if multiclass == "auto":
        return known[0]
    if multiclass in known:
        return multiclass
    allowed = " or ".join(map(repr, ["auto", *known]))
    if step in SOLVED:
        beside, why = f"step={step!r}", "which is solved for in each class alone"
    elif response == CONDITIONAL:
        beside, why = f"response={response!r}", "which compares a class with the rest"
    else:
        kind = "the logistic loss" if multiclass == "softmax" else "a canonical loss in the engine"
        beside, why = f"loss={loss.name!r}", f"which is not {kind}"
    raise ValueError(
        f"multiclass must not be {multiclass!r} with {beside}, {why}: use {allowed}; "
        f"got {multiclass!r}"
    )


def gain_is_free(response: str, step: str, l2: float) -> bool:
    """Whether the gain scales the raw prediction and changes nothing else.

    F / sigma is then the same for every gain: the value or the length of a step is a minimiser of
    the risk, which scales with the loss.  A Newton response with l2 has values that do not scale,
    whatever the step.
    """
    if response == "newton":
        return l2 == 0.0
    return response == "exact" or step == "line_search" or step in SOLVED
