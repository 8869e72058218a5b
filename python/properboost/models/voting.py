"""The link of a fitted model of votes."""

from dataclasses import dataclass

from properboost.losses.builtin import Exponential
from properboost.losses.probabilities import Link, Votes

__all__ = ["Voting"]


@dataclass(frozen=True)
class Voting:
    """The parameters of a fitted model by which votes become probabilities."""

    rho: float = 1.0
    by_label: bool = False
    mistrust: float = 0.0
    damping: float = 0.0

    @property
    def link(self) -> Link:
        """The link from raw predictions to probabilities."""
        return Link(Exponential() if self.by_label else Votes())
