"""Charts as SVG: Vega-Lite draws numbers.

Colours are variables of the page's style, so that a chart follows its theme.  A mark with details
has a text in the attribute ``data-t``, which the page's script shows.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from properboost.report.renderer import Spec, draw_spec, shorten_middle
from properboost.visible import tell_apart

__all__ = [
    "Bar",
    "Dot",
    "Point",
    "draw_bars",
    "draw_dots",
    "draw_grid",
    "draw_reliability",
    "draw_steps",
    "draw_waterfall",
]

WIDTH = 300
"""Width of a chart's plane in pixels: with its axis it fits a phone."""

_PLANE = 190
"""Width for bars, which have names and notes beside them."""

HEIGHT = 190
_SVG = "http://www.w3.org/2000/svg"
_INK, _FAINT, _RULE = "var(--ink)", "var(--faint)", "var(--rule)"
_FOR, _AGAINST, _BAND = "var(--for)", "var(--against)", "var(--band)"
_ROOM = 8
_WIDER = 14
"""Room between names and the title of their axis, as a reader's font may be wider."""

_LOG_ODDS = {
    p: math.log(p / (1.0 - p))
    for p in (
        1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99, 0.999, 0.9999,
        0.99999, 0.999999,
    )
}  # fmt: skip
"""Probabilities on a scale of log-odds, with their places."""

MOST_NAMED_RANGES = 10
"""The most ranges of a number that an axis of a map names."""

_DENSITY_SHARE = 0.2
"""Height of the density of rows, as a share of the chart's."""


@dataclass(frozen=True)
class Bar:
    """A bar, the ends of its error bar if it has one, and its text to read out.

    It begins at the chart's origin, or at one of its own.
    """

    name: str
    value: float
    text: str
    low: float | None = None
    high: float | None = None
    note: str = ""
    origin: float | None = None


@dataclass(frozen=True)
class Dot:
    """A dot in the line of a name, with the ends of its interval and its text to read out.

    `kind` is 0 or 1; dots of the same name and of both kinds are beside each other.
    """

    name: str
    kind: int
    value: float
    low: float
    high: float
    text: str


@dataclass(frozen=True)
class Point:
    """A point with the ends of its interval, its number of rows, and its text to read out."""

    x: float
    y: float
    low: float
    high: float
    rows: float
    text: str


def draw_bars(
    bars: Sequence[Bar],
    title: str,
    label: str,
    *,
    origin: float = 0.0,
    percent: bool = False,
    wide_names: bool = False,
    note: str = "",
) -> str:
    """Draw horizontal bars from an origin, the first at the top, with their notes beside them.

    `note` is the heading of the notes.
    """
    widths = (_PLANE - 40, 165) if wide_names else (_PLANE, 125)
    return _render(_list_bars(bars, title, origin, _format(percent), widths, note), label)


def draw_waterfall(bars: Sequence[Bar], title: str, label: str, *, note: str = "") -> str:
    """Draw bars that begin at the end of the last one, on a log-odds scale with probabilities.

    Values and origins are log-odds.
    """
    ends = [end for bar in bars for end in (bar.value, bar.origin) if end is not None]
    low, high = min(ends), max(ends)
    names = {at: f"{100.0 * p:g}%" for p, at in _LOG_ODDS.items() if low - 1.0 <= at <= high + 1.0}
    wanted = sorted(names)[:: max(1, len(names) // 4)]
    axis = {
        "values": wanted,
        "labelExpr": f"({json.dumps({round(100.0 * at): names[at] for at in wanted})})"
        "[round(100 * datum.value)]",
    }
    origin = 0.0 if bars[0].origin is None else bars[0].origin
    spec = _list_bars(bars, title, origin, axis, (_PLANE - 75, 150), note)
    if low < 0.0 < high:
        line = _draw_line("x", 0.0)
        line["mark"] = {**line["mark"], "strokeDash": [3, 3]}
        spec["layer"].insert(-1, line)
    return _render(spec, label)


def _list_bars(
    bars: Sequence[Bar], title: str, origin: float, axis: Spec, widths: tuple[int, int], note: str
) -> Spec:
    """Return the spec of bars; `widths` are those of the plane and of names, at most."""
    plane, most = widths
    rows = [
        {
            "k": name,
            "v": bar.value,
            "o": origin if bar.origin is None else bar.origin,
            "lo": bar.low,
            "hi": bar.high,
            "n": bar.note,
            "t": bar.text,
        }
        for name, bar in zip(tell_apart([bar.name for bar in bars]), bars, strict=True)
    ]
    ends = [origin]
    ends += [
        end for bar in bars for end in (bar.value, bar.low, bar.high, bar.origin) if end is not None
    ]
    domain = _widen(min(ends), max(ends), 0.04)
    y = {
        "field": "k",
        "type": "nominal",
        "sort": None,
        "axis": {"title": None, "labelLimit": most, "ticks": False, "domain": False},
    }
    x = {
        "field": "v",
        "type": "quantitative",
        "scale": {"domain": domain, "nice": False},
        "axis": {"title": title, "tickCount": 4, "labelOverlap": True, **axis},
    }
    layers: list[Spec] = [
        {
            "mark": {"type": "bar", "height": {"band": 0.72}, "aria": False},
            "encoding": {
                "y": y,
                "x": x,
                "x2": {"field": "o"},
                "color": {
                    "condition": {"test": "datum.v < datum.o", "value": _AGAINST},
                    "value": _FOR,
                },
            },
        },
        {
            "transform": [{"filter": "isValid(datum.lo)"}],
            "mark": {"type": "rule", "color": _INK, "aria": False},
            "encoding": {"y": y, "x": {**x, "field": "lo"}, "x2": {"field": "hi"}},
        },
        _draw_line("x", origin),
    ]
    if any(bar.note for bar in bars):
        layers.append(
            {
                "mark": {
                    "type": "text", "align": "left", "fontSize": 10, "color": _FAINT, "aria": False
                },
                "encoding": {"y": y, "x": {"value": plane + 6}, "text": {"field": "n"}},
            }
        )  # fmt: skip
    if note:
        layers.append(
            {
                "data": {"values": [{}]},
                "mark": {
                    "type": "text", "align": "left", "fontSize": 10, "color": _FAINT, "aria": False
                },
                "encoding": {
                    "x": {"value": plane + 6}, "y": {"value": -7}, "text": {"value": note}
                },
            }
        )  # fmt: skip
    layers.append(
        {
            "mark": {"type": "rect", "opacity": 0, "height": {"band": 1.0}},
            "encoding": {
                "y": y,
                "x": {"datum": domain[0], "type": "quantitative"},
                "x2": {"datum": domain[1]},
                "description": {"field": "t"},
            },
        }
    )
    return {"width": plane, "height": {"step": 20}, "data": {"values": rows}, "layer": layers}


def draw_dots(dots: Sequence[Dot], title: str, label: str) -> str:
    """Draw shares as dots with intervals, a line for each name; the second kind is below."""
    rows = [
        {"k": dot.name, "s": dot.kind, "v": dot.value, "lo": dot.low, "hi": dot.high, "t": dot.text}
        for dot in dots
    ]
    domain = _widen(0.0, max(dot.high for dot in dots), 0.03)
    y = {
        "field": "k",
        "type": "nominal",
        "sort": None,
        "axis": {"title": None, "labelLimit": 125, "ticks": False, "domain": False},
    }
    x = {
        "field": "v",
        "type": "quantitative",
        "scale": {"domain": domain, "nice": False},
        "axis": {"title": title, "tickCount": 4, "labelOverlap": True, **_format(True)},
    }
    offset = {"field": "s", "type": "ordinal", "scale": {"domain": [0, 1]}}
    color = {"condition": {"test": "datum.s === 1", "value": _AGAINST}, "value": _FOR}
    row = {"y": y, "yOffset": offset, "color": color}
    layers: list[Spec] = [
        {
            "mark": {"type": "rule", "strokeWidth": 1.6, "aria": False},
            "encoding": {**row, "x": {**x, "field": "lo"}, "x2": {"field": "hi"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 45, "opacity": 1, "aria": False},
            "encoding": {**row, "x": x},
        },
        {
            "mark": {"type": "rect", "opacity": 0, "height": 13},
            "encoding": {
                "y": y,
                "yOffset": offset,
                "x": {"datum": domain[0], "type": "quantitative"},
                "x2": {"datum": domain[1]},
                "description": {"field": "t"},
            },
        },
    ]
    spec = {"width": _PLANE + 30, "height": {"step": 14, "for": "offset"}}
    return _render({**spec, "data": {"values": rows}, "layer": layers}, label)


def draw_steps(
    bounds: NDArray[np.float64],
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    texts: Sequence[str],
    titles: tuple[str, str],
    label: str,
    *,
    ends: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
    origin: float = 0.0,
    percent: bool = False,
) -> str:
    """Draw a function of steps above the density of rows, and the ends of its intervals if any.

    Step `k` is between ``bounds[k]`` and ``bounds[k + 1]``.  Where most rows are in a small part of
    the axis, every step has the same width.  The axis then shows the bounds and is not to scale.
    """
    n = len(values)
    low, high = (values, values) if ends is None else ends
    domain = _widen(float(min(low.min(), origin)), float(max(high.max(), origin)), 0.06)
    domain[0] -= _DENSITY_SHARE * (domain[1] - domain[0])
    x: NDArray[np.float64] = bounds
    axis: Spec = {"title": titles[0], "tickCount": 6, "labelOverlap": True}
    if is_crowded(bounds, weights):
        x = np.arange(n + 1.0)
        ticks = np.unique(np.linspace(0, n, min(n + 1, 6)).round().astype(int)).tolist()
        names = {str(k): f"{bounds[k]:.6g}" for k in ticks}
        axis |= {"values": ticks, "labelExpr": f"({json.dumps(names)})[datum.value]"}
        axis["title"] = f"{titles[0]} (not to scale)"
    density = weights / np.diff(x)
    # A narrow step of many rows, as of a frequent value, would dwarf all others.
    most = max(float(np.quantile(density, 0.95)), 1e-300)
    share = 0.9 * _DENSITY_SHARE * (domain[1] - domain[0])
    top = domain[0] + share * np.minimum(density / most, 1.0)

    def repeat(array: NDArray[np.float64]) -> list[float]:
        return [*array.tolist(), float(array[-1])]  # the last step needs its end

    rows = [
        {"x": a, "v": v, "lo": lo, "hi": hi, "d": d}
        for a, v, lo, hi, d in zip(x.tolist(), *map(repeat, (values, low, high, top)), strict=True)
    ]
    hits = [
        {"x": a, "x2": b, "t": text}
        for a, b, text in zip(x[:-1].tolist(), x[1:].tolist(), texts, strict=True)
    ]
    scale = {"domain": [float(x[0]), float(x[-1])], "nice": False}
    of_x = {"field": "x", "type": "quantitative", "scale": scale, "axis": axis}
    of_y = {
        "field": "v",
        "type": "quantitative",
        "scale": {"domain": domain, "nice": False},
        "axis": {"title": titles[1], "tickCount": 5, **_format(percent)},
    }
    stepped = {"interpolate": "step-after", "aria": False}
    layers: list[Spec] = [
        {
            "mark": {"type": "area", "color": _RULE, **stepped},
            "encoding": {"x": of_x, "y": {**of_y, "field": "d"}, "y2": {"datum": domain[0]}},
        }
    ]
    if ends is not None:
        layers.append(
            {
                "mark": {"type": "area", "color": _BAND, **stepped},
                "encoding": {"x": of_x, "y": {**of_y, "field": "lo"}, "y2": {"field": "hi"}},
            }
        )
    layers += [
        _draw_line("y", origin),
        {
            "mark": {"type": "line", "color": _FOR, "strokeWidth": 1.8, **stepped},
            "encoding": {"x": of_x, "y": of_y},
        },
        {
            "data": {"values": hits},
            "mark": {"type": "rect", "opacity": 0},
            "encoding": {
                "x": of_x,
                "x2": {"field": "x2"},
                "y": {"datum": domain[0], "type": "quantitative"},
                "y2": {"datum": domain[1]},
                "description": {"field": "t"},
            },
        },
    ]
    return _render({"height": HEIGHT, "data": {"values": rows}, "layer": layers}, label)


def is_crowded(bounds: NDArray[np.float64], weights: NDArray[np.float64]) -> bool:
    """Whether nine tenths of the rows are in less than an eighth of the axis."""
    reached = np.cumsum(weights) / max(weights.sum(), 1e-300)
    first = int(np.searchsorted(reached, 0.05))
    last = min(int(np.searchsorted(reached, 0.95)), len(weights) - 1)
    whole = float(bounds[-1] - bounds[0])
    return bool(bounds[last + 1] - bounds[first] < whole / 8.0)


def draw_grid(
    effects: NDArray[np.float64],
    weights: NDArray[np.float64],
    levels: tuple[Sequence[str], Sequence[str]],
    names: tuple[str, str],
    texts: Sequence[Sequence[str]],
    label: str,
    *,
    reach: float,
    are_numbers: tuple[bool, bool] = (False, False),
    few: float = 0.0,
) -> str:
    """Draw the cells of a map that have rows; the first feature goes upwards.

    Effects of `reach` and beyond have the strongest colours, and those beyond have a dot.  A stroke
    crosses cells of fewer than `few` rows.  A few of many ranges of a number are named.
    """
    labels = [*map(tell_apart, levels)]
    rows = [
        {
            "a": labels[0][i],
            "b": labels[1][j],
            "v": float(effects[i, j]),
            "s": min(abs(float(effects[i, j])) / reach, 1.0),
            "few": bool(weights[i, j] < few),
            "beyond": bool(abs(effects[i, j]) > reach),
            "t": texts[i][j],
        }
        for i in range(effects.shape[0])
        for j in range(effects.shape[1])
        if weights[i, j] > 0.0
    ]

    def place(field: str, order: Sequence[str], name: str, **axis: Any) -> Spec:
        return {
            "field": field,
            "type": "nominal",
            "sort": None,
            "scale": {"domain": list(order), "padding": 0},
            "axis": {"title": name, "labelLimit": 95,
                     "ticks": False, "domain": False, "grid": False, **axis},
        }  # fmt: skip

    named = [
        _choose_named(of_axis) if is_number else of_axis
        for of_axis, is_number in zip(labels, are_numbers, strict=True)
    ]
    size = (WIDTH - 30, min(HEIGHT + 70, 34 * max(effects.shape[0], 3)))
    side = min(size[0] / effects.shape[1], size[1] / effects.shape[0])
    cells: Spec = {
        "mark": {"type": "rect"},
        "encoding": {
            "color": {"condition": {"test": "datum.v < 0", "value": _AGAINST}, "value": _FOR},
            "opacity": {
                "field": "s",
                "type": "quantitative",
                "scale": {"domain": [0, 1], "range": [0.04, 1]},
                "legend": None,
            },
            "description": {"field": "t"},
        },
    }
    spec = {
        "width": size[0],
        "height": size[1],
        "data": {"values": rows},
        "encoding": {
            "y": place("a", labels[0][::-1], names[0], values=named[0], titlePadding=_WIDER),
            "x": place(
                "b", labels[1], names[1], values=named[1], labelAngle=-60, titlePadding=_WIDER
            ),
        },
        "layer": [
            cells,
            _mark("few", "M-1,1L1,-1", (0.7 * side) ** 2),
            _mark("beyond", "circle", min((0.2 * side) ** 2, 9.0)),
        ],
    }
    return _render(spec, label)


def _choose_named(labels: Sequence[str]) -> list[str]:
    """Return so few of the ranges of a number that names do not crowd; both ends are of them."""
    places = np.linspace(0, len(labels) - 1, min(len(labels), MOST_NAMED_RANGES))
    return [labels[k] for k in np.unique(np.round(places).astype(int))]


def _mark(field: str, shape: str, size: float) -> Spec:
    """Return the layer of marks of this shape in the cells whose field is true."""
    return {
        "transform": [{"filter": f"datum.{field}"}],
        "mark": {
            "type": "point", "shape": shape, "size": size, "strokeWidth": 1,
            "color": _INK, "opacity": 0.6, "aria": False,
        },
    }  # fmt: skip


def draw_reliability(points: Sequence[Point], titles: tuple[str, str], label: str) -> str:
    """Draw observed shares against predicted probabilities, above the density of rows."""
    most = max(point.rows for point in points)
    rows = [
        {"x": p.x, "y": p.y, "lo": p.low, "hi": p.high, "d": 0.18 * p.rows / most, "t": p.text}
        for p in points
    ]
    scale = {"domain": [0, 1], "nice": False, "padding": 0}
    axis = {"format": ".0%", "tickCount": 6}
    x = {"field": "x", "type": "quantitative", "scale": scale, "axis": {**axis, "title": titles[0]}}
    y = {"field": "y", "type": "quantitative", "scale": scale, "axis": {**axis, "title": titles[1]}}
    diagonal = {"values": [{"x": 0, "y": 0}, {"x": 1, "y": 1}]}
    layers: list[Spec] = [
        {
            "mark": {"type": "bar", "color": _RULE, "width": 20, "aria": False},
            "encoding": {"x": x, "y": {**y, "field": "d"}, "y2": {"datum": 0}},
        },
        {
            "data": diagonal,
            "mark": {"type": "line", "color": _FAINT, "strokeDash": [4, 4], "aria": False},
            "encoding": {"x": x, "y": y},
        },
        {
            "mark": {"type": "rule", "color": _INK, "strokeWidth": 1.6, "aria": False},
            "encoding": {"x": x, "y": {**y, "field": "lo"}, "y2": {"field": "hi"}},
        },
        {
            "mark": {"type": "line", "color": _FOR, "strokeWidth": 1, "aria": False},
            "encoding": {"x": x, "y": y},
        },
        {
            "mark": {"type": "point", "color": _FOR, "filled": True, "size": 50, "opacity": 1},
            "encoding": {"x": x, "y": y, "description": {"field": "t"}},
        },
    ]
    return _render({"height": WIDTH, "data": {"values": rows}, "layer": layers}, label)


def _draw_line(channel: str, at: float) -> Spec:
    """Return the layer of a line across the chart."""
    return {
        "data": {"values": [{}]},
        "mark": {"type": "rule", "color": _FAINT, "aria": False},
        "encoding": {channel: {"datum": at, "type": "quantitative"}},
    }


def _format(percent: bool) -> Spec:
    """Return the number format of an axis."""
    if not percent:
        return {}
    # The plane also has room below and above all probabilities.
    inside = "datum.value >= 0 && datum.value <= 1"
    return {"labelExpr": f"{inside} ? format(100 * datum.value, '.3~f') + '%' : ''"}


def _widen(low: float, high: float, share: float) -> list[float]:
    """Return ends that are a share of their distance farther apart."""
    room = (high - low) * share or abs(low) * share or 1.0
    return [low - room, high + room]


_CONFIG: Spec = {
    "background": None,
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": _INK,
        "titleColor": _INK,
        "gridColor": _RULE,
        "domainColor": _RULE,
        "tickColor": _RULE,
        "labelFontSize": 10,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "gridOpacity": 0.6,
    },
}


def _render(spec: Mapping[str, Any], label: str) -> str:
    """Return a chart as SVG for a page: a picture with a label, whose marks have texts."""
    whole = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": WIDTH,
        "config": _CONFIG,
        **spec,
    }
    drawn = draw_spec(whole)
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(drawn)
    for element in root.iter():
        _simplify(element)
    size = [float(root.attrib.pop(name)) for name in ("width", "height")]
    root.attrib |= {
        "role": "img",
        "aria-label": shorten_middle(label),
        "class": "marks",
        "tabindex": "0",
    }
    # Names begin at the edge, and the reader's font may be wider than the one they were set in.
    size[0] += _ROOM
    root.attrib["viewBox"] = f"{-_ROOM} 0 {size[0]:g} {size[1]:g}"
    root.attrib["style"] = f"max-width:{1.25 * size[0]:.0f}px"
    return ElementTree.tostring(root, encoding="unicode")


def _simplify(element: ElementTree.Element) -> None:
    """Keep, of Vega's texts for screen readers, only ours; and shorten numbers."""
    described = element.attrib.pop("aria-label", None)
    role = element.attrib.pop("aria-roledescription", "")
    for name in ("role", "aria-hidden", "class", "version"):
        element.attrib.pop(name, None)
    if described is not None and element.tag != f"{{{_SVG}}}g" and "axis" not in role:
        element.attrib["data-t"] = described
    for name in ("transform", "d", "x", "y", "x2", "y2"):
        if name in element.attrib:
            element.attrib[name] = re.sub(r"-?\d+\.\d{2,}(e-?\d+)?", _round, element.attrib[name])


def _round(number: re.Match[str]) -> str:
    return f"{round(float(number[0]), 1):g}"
