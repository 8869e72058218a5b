"""Shape functions, pairs and contributions as small pieces of HTML, for notebooks.

They need no network, no script and no style of the page.  Every name is escaped, and so are
characters that no page can hold.  Colours suit a light and a dark page.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.inspection.bin_ends import find_bin_ends
from properboost.inspection.plot_data import ContributionData, GridData, ShapeData
from properboost.visible import make_visible

__all__ = ["draw_contributions", "draw_grid", "draw_shape"]

_MOST_ROWS = 5
_MOST_TERMS = 10
_MOST_BARS = 20
_MOST_LEVELS = 20

_MORE = "#3f8fc4"
_LESS = "#dd7a3a"
_TABLE = "border-collapse:collapse;font-size:0.9em"
_CELL = "padding:2px 8px;text-align:left;border:none"
_NUMBER = "padding:2px 8px;text-align:right;border:none;font-variant-numeric:tabular-nums"
_BAR = "padding:2px 8px;border:none;width:220px"

_WIDTH, _HEIGHT = 420, 170

_Line: TypeAlias = tuple[tuple[str, ...], float]
"""The words and the value of a line."""


def draw_shape(shape: ShapeData) -> str:
    """Return a picture of a shape function: a line of a numeric feature, bars of categories."""
    parts = [_head(shape.label, shape.axis_label, shape.within_noise)]
    bars = [("missing", shape.missing_value)] if shape.missing_weight > 0.0 else []
    if shape.kind == "numeric" and shape.edges is not None and len(shape.edges) > 0:
        parts.append(_draw_line(shape, shape.edges))
    else:
        order = np.argsort(-shape.weights[: len(shape.labels)], kind="stable")[:_MOST_BARS]
        shown = order[np.argsort(-shape.values[order], kind="stable")]
        bars = [*((shape.labels[k], float(shape.values[k])) for k in shown), *bars]
        left_out = len(shape.labels) - len(order)
        if left_out > 0:
            parts.append(f"<div>{left_out} categories of fewest rows are left out</div>")
    if bars:
        parts.append(_draw_bars([((name,), value) for name, value in bars], shape.average))
    return _wrap(parts)


def draw_grid(function: GridData) -> str:
    """Return a picture of a function of several features: a field for each cell, with its value.

    A function of three has a table for each range of one of them.
    """
    maps = function.to_maps(most_levels=_MOST_LEVELS)
    changes = [np.where(m.weights > 0.0, m.values - function.average, np.nan) for m in maps]
    largest = max(float(np.nanmax(np.abs(change), initial=0.0)) for change in changes) or 1.0
    first, second = (escape(function.labels[axis]) for axis in maps[0].axes)
    parts = [
        _head(function.label, function.axis_label, function.within_noise),
        f"<div>{first} upwards, {second} to the right; the strongest colour is {largest:.3g}</div>",
    ]
    for one in maps:
        if one.title is not None:
            parts.append(f"<div style='margin-top:6px'>{escape(one.title)}</div>")
        parts.append(_draw_map(function, one, largest))
    return _wrap(parts)


def _draw_map(function: GridData, one: Any, largest: float) -> str:
    first, second = one.levels
    heads = "".join(
        f"<th style='{_CELL};font-weight:normal'>{_short(label)}</th>" for label in second
    )
    lines = [f"<tr><th style='{_CELL}'></th>{heads}</tr>"]
    for level, values, filled in zip(
        reversed(first), one.values[::-1], one.weights[::-1] > 0.0, strict=True
    ):
        cells = []
        for value, has_rows, label in zip(values.tolist(), filled.tolist(), second, strict=True):
            hint = escape(f"{level}, {label}: " + (f"{value:.4g}" if has_rows else "no rows"))
            share = (value - function.average) / largest
            colour = _shade(share) if has_rows else "transparent"
            cells.append(f"<td title='{hint}' style='border:none;background:{colour}'>&nbsp;</td>")
        head = f"<th style='{_CELL};font-weight:normal'>{_short(level)}</th>"
        lines.append(f"<tr>{head}{''.join(cells)}</tr>")
    return f"<table style='{_TABLE}'>{''.join(lines)}</table>"


def draw_contributions(contributions: ContributionData) -> str:
    """Return a picture of the first rows: their baselines and their largest contributions."""
    n_rows = len(contributions.values)
    parts = [_head("contributions", contributions.axis_label, None)]
    for row in range(min(n_rows, _MOST_ROWS)):
        values = contributions.values[row]
        order = np.argsort(-np.abs(values), kind="stable")
        shown, rest = order[:_MOST_TERMS], order[_MOST_TERMS:]
        noise = np.broadcast_to(False, values.shape)
        if contributions.within_noise is not None:
            noise = np.broadcast_to(contributions.within_noise, contributions.values.shape)[row]
        lines: list[_Line] = [
            (
                (
                    contributions.names[j] + (" (within noise)" if noise[j] else ""),
                    contributions.describe_value(row, j),
                ),
                float(values[j]),
            )
            for j in shown.tolist()
        ]
        if len(rest) > 0 and contributions.additive:
            lines.append(((f"{len(rest)} more", ""), float(values[rest].sum())))
        baseline = float(np.broadcast_to(contributions.baseline, n_rows)[row])
        several = isinstance(contributions.baseline, np.ndarray)
        label = contributions.class_label[row] if several else contributions.class_label
        title = f"row {row}, class {label}: from {baseline:.3g} to {contributions.total[row]:.3g}"
        parts.append(f"<div style='margin-top:6px'>{escape(title)}</div>{_draw_bars(lines, 0.0)}")
    if n_rows > _MOST_ROWS:
        parts.append(f"<div>and {n_rows - _MOST_ROWS:,} more rows</div>")
    return _wrap(parts)


def _wrap(parts: Sequence[str]) -> str:
    return make_visible(f"<div style='font-family:sans-serif'>{''.join(parts)}</div>")


def _head(label: str, axis_label: str, within_noise: bool | None) -> str:
    noise = " (within noise)" if within_noise else ""
    words = " ".join(axis_label.split())
    return f"<div><b>{escape(label)}</b>: {escape(words)}{noise}</div>"


def _short(words: str, most: int = 24) -> str:
    shown = words if len(words) <= most else f"{words[: most - 1]}\u2026"
    return f"<span title='{escape(words)}'>{escape(shown)}</span>"


def _draw_bars(lines: Sequence[_Line], average: float) -> str:
    """Return a table of words, values, and bars from the average to the values."""
    changes = [value - average for _, value in lines]
    low, high = min(0.0, *changes), max(0.0, *changes)
    unit = 100.0 / (high - low) if high > low else 0.0
    rows = []
    for (words, value), change in zip(lines, changes, strict=True):
        begin, length = unit * (min(change, 0.0) - low), unit * abs(change)
        colour = _MORE if change >= 0.0 else _LESS
        bar = (
            f"<div style='margin-left:{begin:.2f}%;width:{length:.2f}%;height:0.9em;"
            f"background:{colour}'></div>"
        )
        cells = "".join(f"<td style='{_CELL}'>{_short(word, 40)}</td>" for word in words)
        number = f"<td style='{_NUMBER}'>{value:.3g}</td>"
        rows.append(f"<tr>{cells}{number}<td style='{_BAR}'>{bar}</td></tr>")
    return f"<table style='{_TABLE}'>{''.join(rows)}</table>"


def _draw_line(shape: ShapeData, edges: NDArray[np.float64]) -> str:
    """Return the steps of a numeric feature, their interval if any, and the ends of both axes."""
    ends, bins = find_bin_ends(edges)
    values = shape.values[bins]
    bands = [] if shape.n_bags == 0 else [end[bins] for end in shape.interval()]
    low = min(shape.average, *(float(line.min()) for line in (values, *bands)))
    high = max(shape.average, *(float(line.max()) for line in (values, *bands)))
    x = _WIDTH * (ends - ends[0]) / (ends[-1] - ends[0])

    def place(heights: Any) -> Any:
        return _HEIGHT * (1.0 - (np.asarray(heights) - low) / ((high - low) or 1.0))

    def trace(heights: NDArray[np.float64]) -> str:
        points = zip(np.repeat(x, 2)[1:-1], np.repeat(place(heights), 2), strict=True)
        return " ".join(f"{a:.1f},{b:.1f}" for a, b in points)

    level = f"{place(shape.average):.1f}"
    dots = "stroke='gray' stroke-dasharray='2 3'"
    parts = [f"<line x1='0' x2='{_WIDTH}' y1='{level}' y2='{level}' {dots}/>"]
    if bands:
        back = " ".join(reversed(trace(bands[1]).split()))
        parts.append(f"<polygon points='{trace(bands[0])} {back}' fill='{_MORE}' opacity='0.25'/>")
    parts.append(
        f"<polyline points='{trace(values)}' fill='none' stroke='{_MORE}' stroke-width='1.5'/>"
    )
    picture = (
        f"<svg width='{_WIDTH}' height='{_HEIGHT}' viewBox='0 -2 {_WIDTH} {_HEIGHT + 4}' "
        f"role='img'>{''.join(parts)}</svg>"
    )
    left = f"<td style='{_NUMBER};vertical-align:top'>{high:.3g}</td>"
    below = f"<td style='{_NUMBER};vertical-align:bottom'>{low:.3g}</td>"
    first, last = shape.labels[0], shape.labels[-1]
    axis = (
        f"<tr><td></td><td style='{_CELL}'>{escape(first)}"
        f"<span style='float:right'>{escape(last)}</span></td></tr>"
    )
    return (
        f"<table style='{_TABLE}'><tr>{left}<td rowspan='2' style='padding:0;border:none'>{picture}"
        f"</td></tr><tr>{below}</tr>{axis}</table>"
    )


def _shade(share: float) -> str:
    """Return the colour of a change, as a share of the largest."""
    red, green, blue = (int(digits, 16) for digits in _pairs(_MORE if share >= 0.0 else _LESS))
    return f"rgba({red},{green},{blue},{abs(share):.2f})"


def _pairs(colour: str) -> tuple[str, str, str]:
    return colour[1:3], colour[3:5], colour[5:7]
