"""The kinds of input there are: a new one needs its line in `KINDS`, or in `COMMANDS`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fuzz.fits import Fits
from fuzz.outcomes import Outcome
from fuzz.reference import Reference

__all__ = ["COMMANDS", "KINDS", "Command", "Kind"]


class Kind(Protocol):
    """A kind of input.  Its cases can be pickled, and are the same for the same number."""

    name: str
    share: float
    """Its part of the time, beside the other kinds'."""

    def draw(self, seed: int) -> Any:
        """Return the case of this number."""

    def check(self, case: Any, only: str | None = None) -> Outcome:
        """Return how it ended, or raise `Broken`; `only` names the one invariant to be tried."""

    def digest(self, case: Any) -> str | None:
        """Return a hash that is the same under every instruction set; None if there is none."""

    def smaller(self, case: Any) -> Iterator[Any]:
        """Yield simpler cases, those that save most first."""

    def show(self, case: Any, broken: str) -> str:
        """Return lines of Python that break this invariant."""


@dataclass(frozen=True)
class Command:
    """A program that draws and shrinks by itself; ``{minutes}`` in it is the time it has.

    It ends with 0 if it found nothing, and with 77 if what it needs is missing.
    """

    name: str
    share: float
    command: Sequence[str]


KINDS: dict[str, Kind] = {kind.name: kind for kind in (Fits(), Reference())}

COMMANDS: dict[str, Command] = {}
