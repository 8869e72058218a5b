"""Write the measurements of calibration into docs/evidence/calibration.md.

    python tools/write_calibration.py

It replaces the text between ``<!-- calibration: NAME -->`` and ``<!-- end -->``, from the records
of `benchmarks.peers.calibration` and of the panel's lines of code, both in benchmarks/peers: a
summary by contestant, slopes by table, and the slopes of the panel.
"""

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import beta, gmean

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/evidence/calibration.md"
PEERS = ROOT / "benchmarks/peers"
BLOCK = re.compile(r"(<!-- calibration: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
LEVEL, NORMAL = 0.95, 1.959964

OURS = {
    "search": "properboost: the default search",
    "plain": "properboost: a plain fit",
    "tables": "properboost: look-up tables",
    "trees": "properboost: trees",
}
OF_PANEL = {
    "search, effort 3": "properboost: the default search",
    "search, effort 1": "properboost: the search of least effort",
    "search, readable": "properboost: the readable search",
    "LightGBM, random": "LightGBM, searched at random",
    "EBM, no pairs": "EBM without pairs",
    "random forest": "random forest, 500 trees",
    "logistic regression": "logistic regression, penalty chosen",
    "ChimeraBoost, quality 3": "ChimeraBoost, quality 3",
    "Perpetual": "Perpetual",
}
SEARCH = "search"

Record = Mapping[str, Any]


def read(path: Path) -> list[Record]:
    """Return the records of a file, the last one for each set, contestant and seed."""
    records = {}
    for line in path.read_text("utf-8").splitlines():
        record = json.loads(line)
        records[record["set"], record["contestant"], record.get("seed", 0)] = record
    return list(records.values())


def misses(record: Record) -> tuple[int, int, float]:
    """Return bins whose interval misses the mean prediction, bins, and the mean miss in points."""
    n, predicted, positive = np.array(record["bins"], dtype=np.float64).T
    tail = (1.0 - LEVEL) / 2.0
    low = np.where(positive > 0, beta.ppf(tail, positive, n - positive + 1), 0.0)
    high = np.where(positive < n, beta.ppf(1.0 - tail, positive + 1, n - positive), 1.0)
    outside = (predicted / n < low) | (predicted / n > high)
    return int(outside.sum()), len(n), 100.0 * float(np.abs(positive - predicted).sum() / n.sum())


def ends(record: Record) -> tuple[float, float]:
    """Return the interval of the calibration slope."""
    reach = NORMAL * record["slope_error"]
    return record["slope"] - reach, record["slope"] + reach


def holds_one(record: Record) -> bool:
    """Whether the interval of the slope holds 1."""
    low, high = ends(record)
    return bool(low <= 1.0 <= high)


def by_contestant(records: Iterable[Record]) -> dict[str, dict[str, Record]]:
    """Return records by contestant and set, ours first."""
    by_name: dict[str, dict[str, Record]] = {name: {} for name in OURS}
    for record in sorted(records, key=lambda record: record["contestant"].lower()):
        by_name.setdefault(record["contestant"], {})[record["set"]] = record
    return by_name


def write_summary(records: Sequence[Record]) -> list[list[str]]:
    """Return a line for each contestant, over all its tables."""
    by_name = by_contestant(records)
    lines = [[
        "", "tables", "slopes whose interval holds 1", "mean of abs(log slope)",
        "bins missed by their interval", "mean miss, points", "log loss over the search's",
    ]]  # fmt: skip
    for contestant, by_set in by_name.items():
        missed = [misses(record) for record in by_set.values()]
        ratios = [by_set[name]["loss"] / by_name[SEARCH][name]["loss"] for name in by_set]
        lines.append([
            OURS.get(contestant, contestant),
            str(len(by_set)),
            str(sum(map(holds_one, by_set.values()))),
            f"{np.mean([abs(np.log(record['slope'])) for record in by_set.values()]):.2f}",
            f"{sum(k for k, _, _ in missed)} of {sum(n for _, n, _ in missed)}",
            f"{np.mean([miss for _, _, miss in missed]):.2f}",
            f"{gmean(ratios):.3f}",
        ])  # fmt: skip
    return lines


def write_slopes(records: Sequence[Record]) -> list[list[str]]:
    """Return the slopes with their intervals, a column for each table."""
    by_name = by_contestant(records)
    names = sorted(by_name[SEARCH], key=lambda name: -by_name[SEARCH][name]["rows"])
    rows = [by_name[SEARCH][name]["rows"] for name in names]
    lines = [["", *(f"{name}, {n:,} rows" for name, n in zip(names, rows, strict=True))]]
    for contestant, by_set in by_name.items():
        cells = []
        for name in names:
            if name not in by_set:
                cells.append("")
                continue
            low, high = ends(by_set[name])
            text = f"{by_set[name]['slope']:.2f} ({low:.2f} to {high:.2f})"
            cells.append(f"**{text}**" if holds_one(by_set[name]) else text)
        lines.append([OURS.get(contestant, contestant), *cells])
    return lines


def write_panel(records: Sequence[Record]) -> list[list[str]]:
    """Return mean absolute log slopes over the panel's larger and smaller tables."""
    sys.path.insert(0, str(ROOT))
    from benchmarks.peers.panel import LARGER, SMALL

    lines = [["", "1,000 training rows and more", "tables", "fewer", "tables"]]
    for contestant, title in OF_PANEL.items():
        line = [title]
        for names in (LARGER, SMALL):
            slopes: dict[str, list[float]] = {}
            for record in records:
                if record["contestant"] == contestant and record["set"] in names:
                    slope = abs(np.log(max(record["slope"], 0.05)))
                    slopes.setdefault(record["set"], []).append(float(slope))
            means = [float(np.mean(of_set)) for of_set in slopes.values()]
            line += [f"{np.median(means):.2f}", str(len(means))]
        lines.append(line)
    return lines


def draw_table(lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    head, *rows = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([head, "|" + "---|" * len(lines[0]), *rows, ""])


def fill(text: str) -> str:
    """Return the page with its blocks replaced."""
    measured = read(PEERS / "calibration.jsonl")
    tables = {
        "summary": lambda: write_summary(measured),
        "slopes": lambda: write_slopes(measured),
        "panel": lambda: write_panel(read(PEERS / "lines.jsonl")),
    }
    return BLOCK.sub(lambda m: f"{m[1]}{draw_table(tables[m[2]]())}{m[3]}", text)


def main() -> None:
    """Write the page."""
    PAGE.write_text(fill(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
