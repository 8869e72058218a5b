"""Checks of combinations of options that need no data."""

from properboost.losses.builtin import MarginLoss
from properboost.parameters.kinds import CONDITIONAL, SOLVED, Coupling, Multiclass

__all__ = [
    "CONDITIONAL",
    "check_loss_of_step",
    "find_coupling",
    "gain_is_free",
    "list_couplings",
]


def check_loss_of_step(loss: MarginLoss, step: str) -> None:
    """Check that a step that is solved for has one solution."""
    if step in SOLVED and not loss.native.convex:
        raise ValueError(f"step must not be {step!r} with loss={loss.name!r}, which is not convex")


def list_couplings(loss: MarginLoss, step: str, response: str) -> tuple[Coupling, ...]:
    """Return the possible couplings of the models of more than two classes, the default first."""
    if step in SOLVED or response == CONDITIONAL:
        return ("one_vs_rest",)
    return (*loss.joint_forms, "one_vs_rest")


def find_coupling(multiclass: Multiclass, loss: MarginLoss, step: str, response: str) -> Coupling:
    """Return the coupling of the models of more than two classes; refuse an impossible one."""
    known = list_couplings(loss, step, response)
    if multiclass == "auto":
        return known[0]
    if multiclass in known:
        return multiclass
    allowed = " or ".join(map(repr, ["auto", *known]))
    if step in SOLVED:
        setting, reason = f"step={step!r}", "which is solved for in each class alone"
    elif response == CONDITIONAL:
        setting, reason = f"response={response!r}", "which compares a class with the rest"
    else:
        kind = "the logistic loss" if multiclass == "softmax" else "a canonical loss in the engine"
        setting, reason = f"loss={loss.name!r}", f"which is not {kind}"
    raise ValueError(
        f"multiclass must not be {multiclass!r} with {setting}, {reason}: use {allowed}; "
        f"got {multiclass!r}"
    )


def gain_is_free(response: str, step: str, l2: float) -> bool:
    """Return whether the gain scales the raw prediction and changes nothing else.

    F / sigma is then the same for every gain: the value or the length of a step is a minimiser of
    the risk, which scales with the loss.  The values of a Newton response with l2 do not scale,
    whatever the step.
    """
    if response == "newton":
        return l2 == 0.0
    return response == "exact" or step == "line_search" or step in SOLVED
