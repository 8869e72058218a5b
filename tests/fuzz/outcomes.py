"""Outcomes of cases."""

from dataclasses import dataclass

__all__ = ["BrokenInvariant", "Outcome"]


@dataclass(frozen=True)
class Outcome:
    """Outcome of a case that broke nothing: a word to count, and the reason."""

    kind: str
    why: str = ""


class BrokenInvariant(Exception):  # noqa: N818 -- an outcome, not an error of ours
    """Failure of an invariant.

    `signature` distinguishes causes: failures of one cause share it.
    """

    def __init__(self, invariant: str, signature: str, message: str) -> None:
        super().__init__(invariant, signature, message)
        self.invariant, self.signature, self.message = invariant, signature, message
