"""The kinds of input; a new one needs its line in `KINDS`, or in `COMMANDS`."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any, Protocol

from fuzz.fits import Fits
from fuzz.labels import Labels
from fuzz.outcomes import Outcome
from fuzz.pages import Pages
from fuzz.pairs import Pairs
from fuzz.queries import Queries
from fuzz.reference import Reference
from fuzz.row_files import RowFiles

__all__ = ["COMMANDS", "KINDS", "Command", "Kind"]


class Kind(Protocol):
    """Kind of input; its cases can be pickled, and are the same for the same number.

    A kind may have a method `serve` as well, for servers that all workers of a run share. The run
    is inside of the context that it returns.
    """

    name: str
    share: float
    """Its share of the time, relative to the other kinds'."""

    def draw(self, seed: int) -> Any:
        """Return the case of this number."""

    def check(self, case: Any, only: str | None = None) -> Outcome:
        """Return the outcome of a case, or raise `BrokenInvariant`; `only` names one invariant."""

    def digest(self, case: Any) -> str | None:
        """Return a hash that no instruction set may change; None if there is none."""

    def smaller(self, case: Any) -> Iterator[Any]:
        """Yield simpler cases, those that save most first."""

    def show(self, case: Any, broken: str) -> str:
        """Return lines of Python that break this invariant."""


@dataclass(frozen=True)
class Command:
    """Program that draws and shrinks by itself; its exit status is 0 if it found nothing.

    ``{minutes}`` in its words is its time, ``{jobs}`` the processes, ``{seed}`` the number of the
    run's first input and ``{folder}`` the folder of failures. Where a program or file of `needs` is
    missing, it is not tried.
    """

    name: str
    share: float
    command: Sequence[str]
    needs: Sequence[str] = ()

    def find_missing(self) -> list[str]:
        """Return the missing programs and files that it needs."""
        return [name for name in self.needs if not (which(name) or Path(name).exists())]

    def run(self, **values: object) -> bool:
        """Run the program; return whether it found nothing."""
        return subprocess.run([part.format(**values) for part in self.command]).returncode == 0


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (Fits(), Pairs(), Reference(), Labels(), Queries(), RowFiles(), Pages())
}

ROOT = Path(__file__).resolve().parents[2]
ENGINE = str(ROOT / "tools" / "fuzz_engine.sh")
MODEL_FILES = str(ROOT / "tests" / "fuzz" / "model_files.py")

COMMANDS: dict[str, Command] = {
    command.name: command
    for command in [
        Command(
            "files", 0.5,
            [sys.executable, MODEL_FILES, "--minutes", "{minutes}", "--inputs", "1000000000",
             "--seed", "{seed}", "--jobs", "{jobs}", "--failures", "{folder}/files"],
            [MODEL_FILES],
        ),
        Command("engine", 0.5, ["sh", ENGINE, "{minutes}"], [ENGINE, "cmake"]),
    ]
}  # fmt: skip
