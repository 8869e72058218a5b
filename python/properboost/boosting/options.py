"""What the engine is told.

`properboost.parameters.declare.read` makes these of an estimator or a search, here and nowhere
else: every value is checked, and those that have no meaning beside the others are inert.
"""

from properboost.parameters.checks import positive
from properboost.parameters.declare import Options, group, parameter, read
from properboost.parameters.groups import (
    SOLVED,
    BinningParameters,
    BoostingParameters,
    RegularizerParameters,
    RunParameters,
    SizeParameters,
    VotingParameters,
)
from properboost.parameters.kinds import Selection

__all__ = ["BinningOptions", "BoostingOptions", "VotingOptions", "for_pairs", "gain_is_free"]


@group
class BinningOptions(Options, BinningParameters, SizeParameters, RunParameters):
    """How a table becomes codes."""


@group
class BoostingOptions(Options, BoostingParameters[float, int, Selection], RegularizerParameters):
    """How rounds are made."""


@group
class VotingOptions(Options, VotingParameters):
    """How weak classifiers vote."""

    rho: float = parameter(default=1.0, check=positive)


def for_pairs(options: BoostingOptions, rate: float, smoothing: float) -> BoostingOptions:
    """Return the options with which pairs are boosted."""
    return read(
        BoostingOptions, options, learning_rate=options.learning_rate * rate, smoothing=smoothing
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
