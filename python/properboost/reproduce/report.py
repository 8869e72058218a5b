"""Reports of items: as text, as data for JSON, and as a table for a page."""

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from properboost.reproduce.catalogue import PAPERS
from properboost.reproduce.item import Item, Reading, Seed
from properboost.reproduce.verdict import Judgement, count, count_near, judge
from properboost.text_table import align

if TYPE_CHECKING:
    from properboost.reproduce.published import Place

__all__ = [
    "ReadingOutcome",
    "describe",
    "judge_item",
    "make_table",
    "summarize",
    "title_of",
    "to_json",
]

_NAMES_AND_VERDICTS = (0, 1, 6, 7)
_NEAR = {True: "yes", False: "no", None: ""}
_KINDS = {"table": "Table", "fig": "Figure", "claim": "claim"}


@dataclass(frozen=True)
class ReadingOutcome:
    """An item under one reading."""

    reading: Reading
    judgements: Sequence[Judgement]
    seeds: Sequence[Seed]
    seconds: float
    """Processor time of its experiment."""


def judge_item(
    item: Item, reading: Reading, seeds: Sequence[Seed], seconds: float
) -> ReadingOutcome:
    """Tabulate the repetitions of an item's experiment, and compare them with the paper."""
    ours: dict[Place, list[float]] = {}
    for seed in filter(None, seeds):  # empty where all data sets are missing
        for place, value in item.tabulate(seed, reading.name).items():
            if math.isfinite(value):
                ours.setdefault(place, []).append(float(value))
    judgements = judge(item.published, ours, item.compared, random=reading.random)
    return ReadingOutcome(reading, judgements, seeds, seconds)


def title_of(name: str) -> str:
    """Return an item's title in words: ``"boostlr/table4"`` is "boostlr, Table 4"."""
    paper, _, item_name = name.partition("/")
    kind = next(kind for kind in _KINDS if item_name.startswith(kind))
    rest = item_name.removeprefix(kind).replace("_", " ").strip()
    return f"{paper}, {_KINDS[kind]} {rest}".strip()


def summarize(judgements: Iterable[Judgement]) -> str:
    """Return in a line the number of each verdict, and of means within 10%."""
    judgements = list(judgements)
    counts = count(judgements)
    total = sum(counts.values())
    if total == 0:
        return "no published number could be compared"
    shares = ", ".join(f"{n} {verdict}" for verdict, n in counts.items() if n)
    near, compared = count_near(judgement.mean_near for judgement in judgements)
    means = f"; {near} of {compared} means within 10%" if compared else ""
    return f"{total} published numbers: {shares}{means}"


def describe(
    name: str, item: Item, outcomes: Sequence[ReadingOutcome], missing: Sequence[str]
) -> str:
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
        The data sets that could not be loaded.
    """
    lines = [f"{title_of(name)}: {item.title}", f"Source: {PAPERS[name.partition('/')[0]]}"]
    lines += textwrap.wrap(f"{item.protocol}  Numbers are {item.units}.", 100)
    for what, reason in (item.missing or {}).items():
        lines += textwrap.wrap(f"Left out: {what}: {reason}", 100)
    if missing:
        lines += textwrap.wrap(f"Missing data sets: {', '.join(missing)}", 100)
    for outcome in outcomes:
        if len(item.readings) > 1:
            lines += ["", f"Reading: {outcome.reading.name}"]
            lines += textwrap.wrap(outcome.reading.reason, 100)
        lines += [
            "",
            *align(make_table(outcome.judgements), _NAMES_AND_VERDICTS),
            "",
            summarize(outcome.judgements) + ".",
        ]
        n = len(outcome.seeds)
        repeated = f"{n} repetitions" if outcome.reading.random else "nothing is random"
        lines += [f"{repeated}, {outcome.seconds:.0f} s of processor time."]
    return "\n".join(lines) + "\n"


def make_table(judgements: Sequence[Judgement]) -> list[list[str]]:
    """Return a header and a line of texts for each published number."""
    head = ["", "", "published", "ours", "spread", "difference", "verdict", "mean within 10%"]
    lines = [head]
    for judgement in judgements:
        digits = _digits(judgement)
        spread = "" if math.isnan(judgement.spread) else f"{judgement.spread:.{digits}f}"
        difference = "" if judgement.published.is_claim else f"{judgement.difference:+.{digits}f}"
        ours = f"{judgement.mean:.{digits}f}"
        near = _NEAR[judgement.mean_near]
        numbers = [judgement.published.text, ours, spread, difference]
        lines.append([*judgement.place, *numbers, judgement.verdict.value, near])
    return lines


def to_json(
    name: str, item: Item, outcomes: Sequence[ReadingOutcome], left_out: Mapping[str, str]
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
                "verdicts": {str(k): n for k, n in count(outcome.judgements).items()},
                "means within 10%": list(
                    count_near(judgement.mean_near for judgement in outcome.judgements)
                ),
                "numbers": [_number_to_json(judgement) for judgement in outcome.judgements],
            }
            for outcome in outcomes
        ],
    }


def _number_to_json(judgement: Judgement) -> dict[str, Any]:
    def finite(value: float) -> float | None:
        return float(f"{value:.6g}") if math.isfinite(value) else None

    return {
        "row": judgement.place[0],
        "column": judgement.place[1],
        "published": judgement.published.text,
        "low": finite(judgement.published.low),
        "high": finite(judgement.published.high),
        "ours": finite(judgement.mean),
        "spread": finite(judgement.spread),
        "difference": finite(judgement.difference),
        "verdict": judgement.verdict.value,
        "mean within 10%": judgement.mean_near,
    }


def _digits(judgement: Judgement) -> int:
    """Return the number of decimals: one more than the paper's, or three figures, at most 6."""
    text = judgement.published.text
    if not judgement.published.is_claim and text.count(".") == 1 and " " not in text:
        return len(text.partition(".")[2]) + 1
    size = abs(judgement.mean)
    return 1 if size >= 100 else min(6, 2 - math.floor(math.log10(size))) if size > 0 else 2
