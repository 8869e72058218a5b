"""Plateaus of shape functions, and jumps between them that few training rows support."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from properboost.inspection.shape_functions import ShapeFunction
from properboost.inspection.words import describe, label_range
from properboost.report.content import Array, Caution, Effect
from properboost.report.wording import count, list_words, precise

__all__ = [
    "Plateau",
    "count_few",
    "describe_jump",
    "describe_largest_jump",
    "list_discontinuities",
    "list_plateaus",
]

LARGE = 2.0
"""The least distance of neighbouring ranges in log-odds: seven times the odds."""

VAGUE = 1.0
"""The least half-width of a distance's 90% interval, in log-odds, that is vague."""

FEW = 100.0
"""Training rows below which a range has few."""

WORTH_A_WORD = 0.25
"""The least jump between neighbouring ranges in a note: 1.3 times the odds."""

MOST_LINES = 5

_Z = 1.645
"""Standard errors to the end of an interval of 90%."""


def list_discontinuities(effects: Sequence[Effect]) -> list[Caution]:
    """Return the caution on neighbouring ranges that differ by more than their rows support.

    Ranges of the same points are one.

    The log-odds of n rows, of which the share p is of the class, have the variance ``1 / (n p (1 -
    p))``.  Here p is the model's probability of an otherwise average row, which regularisation has
    drawn away from 0 and 1.  It stays at least half a row from these, the most that rows of one
    class can show.  A jump is listed if it is large, if its size is vague by these variances, and
    if one of the ranges has few rows.  So steps that many rows support are not listed, nor small
    moves between ranges of few rows.
    """
    jumps = []
    for effect in effects:
        shape = effect.log_odds
        if shape.kind != "numeric":
            continue
        sides = list_plateaus(shape)
        rows, value = (
            np.array([side.rows for side in sides]),
            np.array([side.value for side in sides]),
        )
        share = _find_shares(effect, sides)
        variance = _find_variance(rows, share)
        few = rows < FEW
        jump = np.abs(np.diff(value))
        vague = _Z * np.sqrt(variance[:-1] + variance[1:]) > VAGUE
        for k in np.flatnonzero((jump > LARGE) & vague & (few[:-1] | few[1:])).tolist():
            ranges = [
                f"{precise(of_side)} at “{side.label}” ({count(side.rows, 'row', 'rows')})"
                for side, of_side in zip(sides[k : k + 2], share[k : k + 2].tolist(), strict=True)
            ]
            line = (
                f"{effect.term.name}: {ranges[0]}, and {ranges[1]}; the odds there are "
                f"{_format_times(float(value[k + 1] - value[k]))}"
            )
            jumps.append((float(jump[k]), effect.term.name, line))
    if not jumps:
        return []
    jumps.sort(key=lambda entry: -entry[0])
    lines = [line for *_, line in jumps[:MOST_LINES]]
    if rest := jumps[MOST_LINES:]:
        names = list_words([*dict.fromkeys(name for _, name, _ in rest)], 3)
        lines.append(f"and {count(len(rest), 'smaller jump', 'smaller jumps')} of {names}")
    return [
        Caution(
            "Jumps between ranges of few rows",
            "From one range of a number to the next, the odds jump by a factor of more than "
            f"seven.  One of the two ranges had fewer than {FEW:g} training rows, too few to "
            "estimate the jump.  Two cases that hardly differ get very different answers.",
            tuple(lines),
        )
    ]


def describe_jump(effect: Effect) -> str:
    """Return a sentence on the largest jump of a number's curve; "" if there is none to mention."""
    jump = _find_jump(effect)
    if jump is None:
        return ""
    return f"The largest jump is {jump.words}, with at least {jump.rows} on each side."


def describe_largest_jump(effects: Sequence[Effect]) -> str:
    """Return a sentence on the largest jump of all curves; "" if there is none to mention."""
    jumps = [(effect.term.name, _find_jump(effect)) for effect in effects]
    known = [(jump.size, name, jump.words) for name, jump in jumps if jump is not None]
    if not known:
        return ""
    _, name, words = max(known)
    return f"The largest jump of all curves, by its odds, is that of {name}: {words}."


class _Jump(NamedTuple):
    """A jump of a curve: its size in log-odds, in words, and the rows of the range with fewer."""

    size: float
    words: str
    rows: str


def _find_jump(effect: Effect) -> _Jump | None:
    shape, sides = effect.log_odds, list_plateaus(effect.log_odds)
    if shape.kind != "numeric" or len(sides) < 3:
        return None
    jumps = np.abs(np.diff([side.value for side in sides]))
    k = int(jumps.argmax())
    if jumps[k] < WORTH_A_WORD:
        return None
    assert shape.edges is not None
    where = describe(float(shape.edges[sides[k + 1].first - 1]))
    before, after = map(precise, _find_shares(effect, sides[k : k + 2]).tolist())
    rows = count(min(side.rows for side in sides[k : k + 2]), "training row", "training rows")
    return _Jump(float(jumps[k]), f"from {before} to {after} above {where}", rows)


def _find_shares(effect: Effect, sides: Sequence["Plateau"]) -> Array:
    """Return the probability of an otherwise average row on each plateau."""
    shares: Array = effect.probability.values[[side.first for side in sides]]
    return shares


def _format_times(jump: float) -> str:
    """Return the factor on the odds of so many log-odds, in words."""
    most = 1e9
    times = float(f"{min(math.exp(min(abs(jump), 100.0)), most):.2g}")
    how = "about" if times < most else "more than"
    return f"{how} {times:,.0f} times as {'high' if jump > 0.0 else 'low'}"


def _find_variance(rows: Array, probability: Array) -> Array:
    """Return the variance of the log-odds of so many rows."""
    least = 0.5 / (rows + 1.0)
    p = np.clip(probability, least, 1.0 - least)
    variance: Array = 1.0 / (rows * p * (1.0 - p))
    return variance


@dataclass(frozen=True)
class Plateau:
    """Bins from the first to the last, the points of each, and the training rows of all."""

    first: int
    last: int
    value: float
    rows: float
    label: str


def list_plateaus(shape: ShapeFunction) -> list[Plateau]:
    """Return the plateaus with training rows; of categories, each by itself."""
    filled = np.flatnonzero(shape.weights > 0.0)
    if shape.kind != "numeric":
        return [
            Plateau(k, k, float(shape.values[k]), float(shape.weights[k]), shape.labels[k])
            for k in filled.tolist()
        ]
    assert shape.edges is not None
    begins = np.flatnonzero(np.diff(shape.values[filled], prepend=np.nan) != 0.0)
    return [
        Plateau(
            first := int(filled[a]),
            last := int(filled[b - 1]),
            float(shape.values[first]),
            float(shape.weights[filled[a:b]].sum()),
            label_range(shape.edges, first, last),
        )
        for a, b in pairwise([*begins.tolist(), len(filled)])
    ]


def count_few(shape: ShapeFunction, few: float) -> tuple[int, int]:
    """Return the number of plateaus with fewer training rows than so many, and of all."""
    plateaus = list_plateaus(shape)
    return sum(plateau.rows < few for plateau in plateaus), len(plateaus)
