"""Charts: what is drawn is what was given, and can be read out."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

pytest.importorskip("vl_convert")

from properboost.report.charts import (
    Bar,
    Dot,
    Point,
    draw_bars,
    draw_dots,
    draw_grid,
    draw_reliability,
    draw_steps,
    draw_walk,
    is_crowded,
)

HOSTILE = "<script>alert('&')</script>"


def read(drawn):
    """Return the root of a chart and the texts that are read out, in their order."""
    root = ElementTree.fromstring(drawn)
    assert root.attrib["role"] == "img"
    assert root.attrib["tabindex"] == "0"
    assert not root.findall(".//*[@id]")  # several charts are in one page
    return root, [e.attrib["data-t"] for e in root.iter() if "data-t" in e.attrib]


def words_of(root):
    return ["".join(e.itertext()) for e in root.iter() if e.tag.endswith("text")]


def test_bars_have_names_notes_and_lengths():
    bars = [
        Bar("a", 2.0, "a: 2", 1.0, 3.0, "7 rows"),
        Bar(HOSTILE, -1.0, HOSTILE),
        Bar("a", 0.5, "b"),
    ]
    root, texts = read(draw_bars(bars, "points", HOSTILE))
    assert texts == ["a: 2", HOSTILE, "b"]
    assert root.attrib["aria-label"] == HOSTILE
    words = words_of(root)
    assert {"points", "7 rows"} <= {*words}
    assert sum(word.rstrip("\u200b") == "a" for word in words) == 2
    widths = [
        float(re.search(r"h(-?[\d.]+)v", e.attrib["d"])[1])
        for e in root.iter()
        if e.attrib.get("fill") in ("var(--for)", "var(--against)")
    ]
    assert np.abs(widths) == pytest.approx(np.abs(widths[0]) * np.array([1.0, 0.5, 0.25]), rel=0.01)


def test_notes_have_a_heading():
    root, _ = read(draw_bars([Bar("a", 2.0, "a", note="7")], "points", "x", note="training rows"))
    assert "training rows" in words_of(root)


def test_a_walk_goes_on_where_it_was_and_says_probabilities():
    at = [-2.0, 1.0, 0.5]
    bars = [
        Bar("up", at[1], "first", 0.5, 1.5, "+3", at[0]),
        Bar(HOSTILE, at[2], HOSTILE, note="-0.5", origin=at[1]),
    ]
    root, texts = read(draw_walk(bars, "probability", "walk", note="so far"))
    assert texts == ["first", HOSTILE]
    words = words_of(root)
    assert {"25%", "50%", "so far", "+3"} <= {*words}
    boxes = [
        np.array(re.match(r"M(-?[\d.]+),[-\d.]+h(-?[\d.]+)v", e.attrib["d"]).groups(), float)
        for e in root.iter()
        if e.attrib.get("fill") in ("var(--for)", "var(--against)")
    ]
    (first, width), (second, back) = boxes
    assert abs(width) == pytest.approx(6.0 * abs(back), rel=0.02)
    assert max(first, first + width) == pytest.approx(max(second, second + back), abs=0.2)


def test_dots_are_in_lines_of_their_names():
    dots = [
        Dot("f", 0, 0.1, 0.05, 0.2, "f: false alarms"),
        Dot("f", 1, 0.4, 0.3, 0.5, HOSTILE),
        Dot("m", 1, 0.2, 0.1, 0.3, "m: missed"),
    ]
    root, texts = read(draw_dots(dots, "share", "errors"))
    assert texts == ["f: false alarms", HOSTILE, "m: missed"]
    places = np.array([
        re.match(r"translate\(([\d.]+),([\d.]+)\)", e.attrib["transform"]).groups()
        for e in root.iter()
        if e.attrib.get("fill") in ("var(--for)", "var(--against)") and "transform" in e.attrib
    ], float)  # fmt: skip
    x, y = places.T
    assert x[1] - x[2] == pytest.approx(2.0 * (x[2] - x[0]), rel=0.02)
    assert y[0] < y[1] < y[2]


def test_steps_are_where_the_bounds_are():
    bounds, values = np.array([0.0, 1.0, 3.0, 4.0]), np.array([1.0, -1.0, 2.0])
    drawn = draw_steps(
        bounds, values, np.ones(3), ["one", HOSTILE, "three"], ("x", "y"), "f",
        ends=(values - 0.5, values + 0.5),
    )  # fmt: skip
    root, texts = read(drawn)
    assert texts == ["one", HOSTILE, "three"]
    boxes = [e.attrib["d"] for e in root.iter() if "data-t" in e.attrib]
    starts, widths = np.array(
        [re.match(r"M([\d.]+),[\d.]+h([\d.]+)", d).groups() for d in boxes], float
    ).T
    assert starts == pytest.approx([0.0, 75.0, 225.0])
    assert widths == pytest.approx([75.0, 150.0, 75.0])


def test_crowded_rows_get_steps_of_equal_width():
    bounds = np.array([0.0, 1.0, 2.0, 1000.0])
    assert is_crowded(bounds, np.array([50.0, 50.0, 1.0]))
    assert not is_crowded(bounds, np.array([5.0, 5.0, 50.0]))
    drawn = draw_steps(
        bounds, np.arange(3.0), np.array([50.0, 50.0, 1.0]), list("abc"), ("x", "y"), "f"
    )
    words = words_of(read(drawn)[0])
    assert "x (not to scale)" in words
    assert {"0", "1", "2", "1000"} <= {*words}


def test_grids_have_the_cells_with_rows():
    values, weights = np.array([[1.0, -2.0], [0.5, 0.0]]), np.array([[1.0, 2.0], [0.0, 3.0]])
    levels = (["low", HOSTILE], ["left", "right"])
    texts = [["a", "b"], ["c", HOSTILE]]
    root, told = read(draw_grid(values, weights, levels, ("up", "across"), texts, "pair"))
    assert told == ["a", "b", HOSTILE]
    cells = [e for e in root.iter() if "data-t" in e.attrib]
    assert [e.attrib["fill"] for e in cells] == ["var(--for)", "var(--against)", "var(--for)"]
    shown = [float(e.attrib["opacity"]) for e in cells]
    assert shown == pytest.approx([0.52, 1.0, 0.04], abs=0.01)


def test_reliability_has_a_point_for_each_bin():
    points = [Point(0.1, 0.2, 0.1, 0.3, 10, "ten"), Point(0.8, 0.7, 0.6, 0.8, 30, "thirty")]
    root, texts = read(draw_reliability(points, ("said", "so"), "reliability"))
    assert texts == ["ten", "thirty"]
    places = [
        re.match(r"translate\(([\d.]+),([\d.]+)\)", e.attrib["transform"]).groups()
        for e in root.iter()
        if "data-t" in e.attrib
    ]
    assert np.array(places, float) == pytest.approx(np.array([[30.0, 240.0], [240.0, 90.0]]))


def test_charts_are_the_same_every_time():
    bars = [Bar("a", 1.0, "a")]
    assert draw_bars(bars, "x", "y") == draw_bars(bars, "x", "y")
