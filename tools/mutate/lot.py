"""A lot: mutations in the order in which a seed draws them, and the results of their trials."""

import json
import random
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import cpp_edits
import python_edits
from edits import Edit

__all__ = ["FOLDERS", "Lot", "draw", "list_sources", "read_equivalent"]

FOLDERS = {
    "python": ("losses", "engine", "models", "fitting", "model_selection", "data", "export"),
    "cpp": ("losses", "margins", "planning", "rounds", "data"),
}
"""The default folders of mutations."""

ROOTS = {
    "python": (("python/properboost", ".py"),),
    "cpp": (("cpp/include/properboost", ".hpp"), ("cpp/src", ".cpp")),
}

DRAWN = 3
"""The size of a lot, as a multiple of the wanted mutations.

C++ that does not compile is skipped.
"""

UNCOUNTED = ("not built", "gone")
"""The results of mutations without a trial."""

Record: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[str, str, str]


def list_sources(root: Path, language: str, folders: Iterable[str]) -> list[Path]:
    """Return the source files of these folders."""
    return sorted(
        path
        for top, suffix in ROOTS[language]
        for folder in folders
        for path in (root / top / folder).rglob(f"*{suffix}")
    )


def draw(root: Path, language: str, folders: Iterable[str], seed: int, count: int) -> list[Edit]:
    """Draw mutations of the folders' files at random, each of another place, in the lot's order."""
    list_edits = {"python": python_edits, "cpp": cpp_edits}[language].list_edits
    places: dict[tuple[str, int, int, int], list[Edit]] = {}
    for path in list_sources(root, language, folders):
        for edit in list_edits(path.relative_to(root).as_posix(), path.read_bytes()):
            at = (edit.path, edit.line, edit.column, edit.length)
            places.setdefault(at, []).append(edit)
    lot = random.Random(seed)
    order = sorted(places)
    chosen = lot.sample(order, min(DRAWN * count, len(order)))
    return [lot.choice(places[place]) for place in chosen]


def read_equivalent(path: Path) -> dict[Key, str]:
    """Return the mutations that no test can notice, by `Edit.key`, with the reasons.

    Each has four lines in the file: the source, ``- `` and the line before, ``+ `` and the line
    after, and the reason.  Blank lines separate them.
    """
    reasons = {}
    for entry in path.read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in entry.splitlines() if not line.startswith("#")]
        if not lines:
            continue
        source, *rest = lines
        old = "\n".join(line[2:] for line in rest if line.startswith("- "))
        new = "\n".join(line[2:] for line in rest if line.startswith("+ "))
        why = " ".join(line for line in rest if line[:2] not in ("- ", "+ "))
        if not (source and old and new and why):
            raise ValueError(f"{path} must have a source, a change and a reason; got {entry!r}")
        reasons[source, old, new] = why
    return reasons


class Lot:
    """A lot in a folder of files, with which later runs continue.

    ``lot.jsonl`` has the mutations.  ``results.jsonl`` has a line for each trial; of the trials of
    one mutation the first and the last count.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.edits: list[Edit] = []
        self.trials: dict[int, list[Record]] = {}
        if (folder / "lot.jsonl").is_file():
            self.edits = [Edit(**record) for record in _read(folder / "lot.jsonl")]
        if (folder / "results.jsonl").is_file():
            for record in _read(folder / "results.jsonl"):
                self.trials.setdefault(record["number"], []).append(record)

    def begin(self, edits: Sequence[Edit]) -> None:
        """Store the drawn mutations."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(asdict(edit)) + "\n" for edit in edits)
        (self.folder / "lot.jsonl").write_text(text, encoding="utf-8")
        self.edits = list(edits)

    def add(self, record: Record) -> None:
        """Store the result of a trial."""
        self.trials.setdefault(record["number"], []).append(record)
        with (self.folder / "results.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def list_counted(self, count: int) -> list[int]:
        """Return the numbers of the first mutations with a trial."""
        tried = [n for n in sorted(self.trials) if self.trials[n][-1]["result"] not in UNCOUNTED]
        return tried[:count]

    def list_unnoticed(self, count: int, equivalent: Container[Key]) -> list[int]:
        """Return the numbers of mutations that no test noticed although one could."""
        return [
            number
            for number in self.list_counted(count)
            if self.trials[number][-1]["result"] != "noticed"
            and self.edits[number].key not in equivalent
        ]


def _read(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)
