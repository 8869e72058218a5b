"""Write the results of `properboost reproduce` into the papers' pages.

    python tools/write_papers.py [FOLDER]   # the --output-dir of a run; none: only write the pages

It stores the reports of a run, one line a number, in docs/papers/results.  In every page under
docs/ and in README.md it replaces the text between ``<!-- results: ITEM -->`` and ``<!-- end -->``:
by an item's table (``boostlr/table4``), the verdicts of a paper's items (``boostlr``), those of all
papers (``all``), or those of BoostLR's items under four readings (``boostlr:readings``).
"""

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from properboost.reproduce.boostlr.histograms import CONDITIONAL, CONDITIONAL_8, EVEN, SIGNS
from properboost.reproduce.catalogue import PAPERS, find_items
from properboost.reproduce.published import Published
from properboost.reproduce.report import title_of
from properboost.reproduce.verdict import Verdict, count_near, is_mean_near

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs/papers/results"
BLOCK = re.compile(r"(<!-- results: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
MARKS = {
    Verdict.ROUNDING: "",
    Verdict.NEAR: " ~",
    Verdict.ORDER: " (order)",
    Verdict.NOT: " **no**",
}

COMPARED = (EVEN, CONDITIONAL, CONDITIONAL_8, SIGNS)
"""The readings that a page compares."""

MEAN_NEAR = "mean within 10%"
NEAR_ALL_THE_SAME = " ≈"
"""The mark of a number that fails the rule, though the mean is within 10%."""

Report = Mapping[str, Any]


def keep(folder: Path) -> None:
    """Copy the reports of a run."""
    for name in find_items():
        path = folder / f"{name}.json"
        if path.exists():
            stored = RESULTS / f"{name}.json"
            stored.parent.mkdir(parents=True, exist_ok=True)
            stored.write_text(pack(json.loads(path.read_text("utf-8"))), "utf-8")


def pack(report: Report) -> str:
    """Return a report with a line for each number."""
    lines: list[str] = []

    def set_aside(number: Mapping[str, Any]) -> str:
        lines.append(json.dumps(number, ensure_ascii=False))
        return f"@{len(lines) - 1}"

    readings = [
        {**reading, "numbers": [set_aside(number) for number in reading["numbers"]]}
        for reading in report["readings"]
    ]
    text = json.dumps({**report, "readings": readings}, indent=1, ensure_ascii=False)
    return re.sub(r'"@(\d+)"', lambda m: lines[int(m[1])], text) + "\n"


def read(name: str) -> Report | None:
    """Return the stored report of an item."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else None


def fill(page: Path) -> str:
    """Return a page's text with its blocks replaced."""
    text = page.read_text("utf-8")
    reasons: set[str] = set()
    return BLOCK.sub(lambda m: f"{m[1]}{render(m[2], page, reasons)}{m[3]}", text)


def render(name: str, page: Path, reasons: set[str]) -> str:
    """Return the text of a block of a page; `reasons` has those that the page has so far."""
    if name == "all":
        return render_papers(page)
    if name == "boostlr:readings":
        return render_readings()
    if name in PAPERS:
        return render_items(name)
    report = read(name)
    return "" if report is None else render_item(report, reasons)


def render_item(report: Report, reasons: set[str]) -> str:
    """Return an item's table under the first reading, and the verdicts of all readings."""
    first, *others = report["readings"]
    numbers = {(number["row"], number["column"]): number for number in first["numbers"]}
    rows, columns = (list(dict.fromkeys(place[k] for place in numbers)) for k in (0, 1))
    if len(columns) > len(rows):
        numbers = {(column, row): number for (row, column), number in numbers.items()}
        rows, columns = columns, rows
    table = [["", *columns]]
    table += [[row, *(show(numbers.get((row, column))) for column in columns)] for row in rows]
    repeated = f"{first['seeds']} repetitions" if first["random"] else "nothing is random"
    lines = [
        f"This is *{report['title']}*.",
        f"The units are {report['units']}.",
        f"Numbers are computed here, with the published ones in brackets; {repeated}.",
        "",
        *draw_table(table),
        "",
    ]
    if others:
        lines += [*draw_table(list_readings(report["readings"], reasons)), ""]
    else:
        lines += [f"The numbers compare so: {write_shares(first['verdicts'])}.", ""]
    if report["left_out"]:
        lines += [
            "These are left out:",
            "",
            *(f"- {k}: {v}." for k, v in report["left_out"].items()),
            "",
        ]
    return "\n".join(lines)


def find_near(number: Mapping[str, Any]) -> bool | None:
    """Return whether a number's mean is within 10% of the published one; None of a claim."""
    if number["low"] is None or number["high"] is None:
        return None
    return is_mean_near(
        Published(number["published"], number["low"], number["high"]), number["ours"]
    )


def write_near(readings: Iterable[Report], *, percent: bool = False) -> str:
    """Return the number of means of these readings within 10%, and of all."""
    near, comparable = count_near(
        find_near(number) for reading in readings for number in reading["numbers"]
    )
    share = f" ({100 * near / comparable:.0f}%)" if percent and comparable else ""
    return f"{near} of {comparable}{share}" if comparable else ""


def list_readings(readings: Sequence[Report], reasons: set[str]) -> list[list[str]]:
    """Return the verdicts under all readings, with the reasons that are not in `reasons` yet."""
    table = [["reading", *map(str, Verdict), MEAN_NEAR]]
    table += [
        [r["reading"], *(str(r["verdicts"][v]) for v in Verdict), write_near([r])] for r in readings
    ]
    why = ["" if r["reason"] in reasons else r["reason"] for r in readings]
    reasons.update(r["reason"] for r in readings)
    if any(why):
        for line, reason in zip(table, ["why", *why], strict=True):
            line.append(reason)
    return table


def show(number: Mapping[str, Any] | None) -> str:
    """Return an entry of a table: ours, the published number, and the verdict's mark."""
    if number is None:
        return ""
    verdict = Verdict(number["verdict"])
    mark = MARKS[verdict]
    if verdict in (Verdict.ORDER, Verdict.NOT) and find_near(number):
        mark += NEAR_ALL_THE_SAME
    spread = "" if not number["spread"] else f" ± {number['spread']:.2g}"
    return f"{number['ours']:.4g}{spread} ({number['published']}){mark}"


def write_shares(verdicts: Mapping[str, int]) -> str:
    """Return the number of each verdict."""
    return ", ".join(f"{verdicts[v]} {v}" for v in Verdict if verdicts[v])


def render_items(paper: str) -> str:
    """Return the verdicts of a paper's items."""
    table = [["item", *map(str, Verdict), MEAN_NEAR, "what it shows"]]
    for name in find_items([paper]):
        report = read(name)
        if report is not None:
            first = report["readings"][0]
            item_name = title_of(name).partition(", ")[2]
            shares = [str(first["verdicts"][v]) for v in Verdict]
            near = write_near([first], percent=True) if first["random"] else ""
            table.append([item_name, *shares, near, report["title"]])
    return "\n".join([*draw_table(table), ""])


def render_readings() -> str:
    """Return the verdicts of BoostLR's items under the former first reading, and the new ones."""
    table = [["item", "reading", *map(str, Verdict), MEAN_NEAR]]
    chosen: dict[str, list[Report]] = {name: [] for name in COMPARED}
    for item in find_items(["boostlr"]):
        report = read(item)
        if report is None or not report["readings"][-1]["random"]:
            continue
        named = {reading["reading"]: reading for reading in report["readings"]}
        item_name = title_of(item).partition(", ")[2]
        for name in filter(named.__contains__, COMPARED):
            chosen[name].append(named[name])
            table.append([item_name, *count_reading([named[name]])])
    table += [["all", *count_reading(readings)] for readings in chosen.values() if readings]
    return "\n".join([*draw_table(table), ""])


def count_reading(readings: Sequence[Report]) -> list[str]:
    """Return the name of a reading of several items, its verdicts, and the number of near means."""
    shares = [str(sum(reading["verdicts"][v] for reading in readings)) for v in Verdict]
    return [readings[0]["reading"], *shares, write_near(readings, percent=True)]


def render_papers(page: Path) -> str:
    """Return the verdicts of all papers, with links from a page to theirs."""
    folder = os.path.relpath(RESULTS.parent, page.parent)
    counted = [*map(str, Verdict), MEAN_NEAR, "formulas that hold"]
    table = [["paper", "tables, figures and claims", *counted]]
    for paper in PAPERS:
        reports = [report for name in find_items([paper]) if (report := read(name)) is not None]
        measured: Counter[str] = Counter()
        derived: Counter[str] = Counter()
        random = [r["readings"][0] for r in reports if r["readings"][-1]["random"]]
        for report in reports:
            first = report["readings"][0]
            (measured if report["readings"][-1]["random"] else derived).update(first["verdicts"])
        link = f"[{paper}]({folder}/{paper}.md)".replace("(./", "(")
        shares = [str(measured[v]) for v in Verdict]
        formulas = f"{derived[Verdict.ROUNDING]} of {derived.total()}" if derived else ""
        near = write_near(random, percent=True)
        table.append([link, str(len(reports)), *shares, near, formulas])
    return "\n".join([*draw_table(table), ""])


def draw_table(table: Sequence[Iterable[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    head, *rows = [[text.replace("|", "\\|") for text in line] for line in table]
    return [
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
        *("| " + " | ".join(row) + " |" for row in rows),
    ]


def list_pages() -> list[Path]:
    """Return the pages that may have blocks."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def main() -> None:
    """Store the reports of a run, if one is named, and write the pages."""
    if len(sys.argv) > 1:
        keep(Path(sys.argv[1]))
    for page in list_pages():
        page.write_text(fill(page), "utf-8")


if __name__ == "__main__":
    main()
