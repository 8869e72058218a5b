"""What comes of a case."""

from dataclasses import dataclass

__all__ = ["Broken", "Outcome"]


@dataclass(frozen=True)
class Outcome:
    """How a case ended that broke nothing: a word to count, and why."""

    kind: str
    why: str = ""


class Broken(Exception):  # noqa: N818 -- an outcome, not an error of ours
    """An invariant that does not hold.

    `signature` is what failures of one cause have in common: it is told from others by it.
    """

    def __init__(self, invariant: str, signature: str, message: str) -> None:
        super().__init__(invariant, signature, message)
        self.invariant, self.signature, self.message = invariant, signature, message
