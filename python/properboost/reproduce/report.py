"""What is said of an item: as text, as data for JSON, and as a table for a page."""

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from properboost.reproduce.catalogue import PAPERS
from properboost.reproduce.item import Item, Reading, Seed
from properboost.reproduce.verdict import Judged, count, count_near, judge

if TYPE_CHECKING:
    from properboost.reproduce.published import Place

__all__ = [
    "Outcome",
    "describe",
    "judge_item",
    "make_table",
    "summarize",
    "title_of",
    "to_json",
]

_NEAR = {True: "yes", False: "no", None: ""}
_KINDS = {"table": "Table", "fig": "Figure", "claim": "claim"}


@dataclass(frozen=True)
class Outcome:
    """An item under one reading."""

    reading: Reading
    judged: Sequence[Judged]
    seeds: Sequence[Seed]
    seconds: float
    """Processor time of its experiment."""


def judge_item(item: Item, reading: Reading, seeds: Sequence[Seed], seconds: float) -> Outcome:
    """Tabulate the repetitions of an item's experiment, and compare them with the paper."""
    ours: dict[Place, list[float]] = {}
    for seed in filter(None, seeds):  # of some no part could be had
        for place, value in item.tabulate(seed, reading.name).items():
            if math.isfinite(value):
                ours.setdefault(place, []).append(float(value))
    judged = judge(item.published, ours, item.compared, random=reading.random)
    return Outcome(reading, judged, seeds, seconds)


def title_of(name: str) -> str:
    """Return an item's title in words: ``"boostlr/table4"`` is "boostlr, Table 4"."""
    paper, _, own = name.partition("/")
    kind = next(kind for kind in _KINDS if own.startswith(kind))
    rest = own.removeprefix(kind).replace("_", " ").strip()
    return f"{paper}, {_KINDS[kind]} {rest}".strip()


def summarize(judged: Iterable[Judged]) -> str:
    """Say how many numbers have each verdict, and how many means are within 10%, in a line."""
    judged = list(judged)
    found = count(judged)
    total = sum(found.values())
    if total == 0:
        return "no published number could be compared"
    shares = ", ".join(f"{n} {verdict}" for verdict, n in found.items() if n)
    near, told = count_near(one.mean_near for one in judged)
    means = f"; {near} of {told} means within 10%" if told else ""
    return f"{total} published numbers: {shares}{means}"


def describe(name: str, item: Item, outcomes: Sequence[Outcome], missing: Sequence[str]) -> str:
    """Return the report of an item for a terminal.

    Parameters
    ----------
    name : str
        ``"boostlr/table4"``.
    item : Item
        The item.
    outcomes : sequence of Outcome
        One for each reading.
    missing : sequence of str
        The data sets that could not be had.
    """
    lines = [f"{title_of(name)}: {item.title}", f"Source: {PAPERS[name.partition('/')[0]]}"]
    lines += textwrap.wrap(f"{item.protocol}  Numbers are {item.units}.", 100)
    for what, reason in (item.missing or {}).items():
        lines += textwrap.wrap(f"Left out: {what}: {reason}", 100)
    if missing:
        lines += textwrap.wrap(f"Data sets that could not be had: {', '.join(missing)}", 100)
    for outcome in outcomes:
        if len(item.readings) > 1:
            lines += ["", f"Reading: {outcome.reading.name}"]
            lines += textwrap.wrap(outcome.reading.reason, 100)
        lines += ["", *_align(make_table(outcome.judged)), "", summarize(outcome.judged) + "."]
        n = len(outcome.seeds)
        repeated = f"{n} repetitions" if outcome.reading.random else "nothing is random"
        lines += [f"{repeated}, {outcome.seconds:.0f} s of processor time."]
    return "\n".join(lines) + "\n"


def make_table(judged: Sequence[Judged]) -> list[list[str]]:
    """Return a header and a line of texts for each published number."""
    head = ["", "", "published", "ours", "spread", "difference", "verdict", "mean within 10%"]
    lines = [head]
    for one in judged:
        digits = _digits(one)
        spread = "" if math.isnan(one.spread) else f"{one.spread:.{digits}f}"
        difference = "" if one.published.is_claim else f"{one.difference:+.{digits}f}"
        ours = f"{one.mean:.{digits}f}"
        near = _NEAR[one.mean_near]
        numbers = [one.published.text, ours, spread, difference]
        lines.append([*one.place, *numbers, one.verdict.value, near])
    return lines


def to_json(
    name: str, item: Item, outcomes: Sequence[Outcome], left_out: Mapping[str, str]
) -> dict[str, Any]:
    """Return the report of an item as data."""
    return {
        "item": name,
        "title": item.title,
        "units": item.units,
        "protocol": item.protocol,
        "left_out": {**(item.missing or {}), **left_out},
        "readings": [
            {
                "reading": outcome.reading.name,
                "reason": outcome.reading.reason,
                "random": outcome.reading.random,
                "seeds": len(outcome.seeds),
                "seconds": round(outcome.seconds, 1),
                "verdicts": {str(k): n for k, n in count(outcome.judged).items()},
                "means within 10%": list(count_near(one.mean_near for one in outcome.judged)),
                "numbers": [_number_to_json(one) for one in outcome.judged],
            }
            for outcome in outcomes
        ],
    }


def _number_to_json(one: Judged) -> dict[str, Any]:
    def finite(value: float) -> float | None:
        return float(f"{value:.6g}") if math.isfinite(value) else None

    return {
        "row": one.place[0],
        "column": one.place[1],
        "published": one.published.text,
        "low": finite(one.published.low),
        "high": finite(one.published.high),
        "ours": finite(one.mean),
        "spread": finite(one.spread),
        "difference": finite(one.difference),
        "verdict": one.verdict.value,
        "mean within 10%": one.mean_near,
    }


def _digits(one: Judged) -> int:
    """Return how many decimals to show: one more than the paper has, or three figures, to 6."""
    text = one.published.text
    if not one.published.is_claim and text.count(".") == 1 and " " not in text:
        return len(text.partition(".")[2]) + 1
    size = abs(one.mean)
    return 1 if size >= 100 else min(6, 2 - math.floor(math.log10(size))) if size > 0 else 2


def _align(table: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    left = (0, 1, 6, 7)  # names and verdicts
    return [
        "  ".join(
            text.ljust(width) if k in left else text.rjust(width)
            for k, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in table
    ]
