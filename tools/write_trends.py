"""Write the trends of the times of fits into docs/evidence/trends.md.

    python tools/write_trends.py

It replaces the text between ``<!-- trends -->`` and ``<!-- end -->``, from
benchmarks/releases.jsonl, the records of `benchmarks.engine.commits`: a line compares a release
with the one before it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/evidence/trends.md"
RECORDS = ROOT / "benchmarks/releases.jsonl"
BLOCK = re.compile(r"(<!-- trends -->\n).*?(<!-- end -->)", re.DOTALL)

Record = Mapping[str, Any]


def read(text: str) -> list[Record]:
    """Return the records, which must follow each other."""
    records: list[Record] = [json.loads(line) for line in text.splitlines()]
    for before, after in pairwise(records):
        if before["commits"][1] != after["commits"][0]:
            raise ValueError(
                f"{after['base']} must be what the record before it ends with; got {before['head']}"
            )
    return records


def _rows(record: Record, speeds: Mapping[str, float]) -> list[tuple[str, ...]]:
    """Return a line for each task; `speeds` are those of the release before, if it had any."""
    lines = []
    for task, result in record["tasks"].items():
        if "ratios" not in result:
            lines.append((task, "", "", "", f"missing in {result['missing'].partition(':')[0]}"))
            continue
        ratios = result["ratios"]
        first, second = (f"{loss:.4f}" for loss in result["log loss"])
        lines.append(
            (
                task,
                f"{result['seconds'][1]:.3f}",
                f"{median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})",
                f"{speeds.get(task, 1.0) / median(ratios):.2f}",
                first if first == second else f"{first} to {second}",
            )
        )
    return lines


def write(records: Sequence[Record]) -> str:
    """Return the page's tables, the newest release first."""
    blocks: list[str] = []
    speeds: dict[str, float] = {}
    for record in records:
        machine = record["machine"]
        measured = (
            f"{record['date']}; {machine['processor']}, {machine['processors']} processors, "
            f"Python {machine['python']}."
        )
        lines = [
            f"### {record['head']}, compared with {record['base']}",
            "",
            measured,
            "",
            "| task | seconds | ratio of times (min-max) | speed since the first | log loss |",
            "|---|---:|---:|---:|---:|",
            *(f"| {' | '.join(line)} |" for line in _rows(record, speeds)),
            "",
        ]
        blocks.append("\n".join(lines))
        for task, result in record["tasks"].items():
            if "ratios" in result:
                speeds[task] = speeds.get(task, 1.0) / median(result["ratios"])
    return "\n".join(reversed(blocks))


def fill(text: str) -> str:
    """Return the page with its tables replaced."""
    tables = write(read(RECORDS.read_text("utf-8")))
    return BLOCK.sub(lambda m: f"{m[1]}{tables}{m[2]}", text)


def main() -> None:
    """Write the page."""
    PAGE.write_text(fill(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
