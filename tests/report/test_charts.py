"""Charts show their data, and a screen reader can read them."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
    draw_waterfall,
    is_crowded,
)

HOSTILE = "<script>alert('&')</script>"
WORDS = st.text(
    st.one_of(
        st.characters(codec=None, categories=None),
        st.sampled_from("\x00\x0b\x1b\ufffe\ud83d\ude00\U0001f600\u0301\u200b\u202e\n<&$\\"),
    )
)
"""Any text, and often a harmful one."""


def read(drawn):
    """Return the root of a chart and the texts of its marks, in their order."""
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


def test_a_waterfall_continues_and_prints_probabilities():
    at = [-2.0, 1.0, 0.5]
    bars = [
        Bar("up", at[1], "first", 0.5, 1.5, "+3", at[0]),
        Bar(HOSTILE, at[2], HOSTILE, note="-0.5", origin=at[1]),
    ]
    root, texts = read(draw_waterfall(bars, "probability", "waterfall", note="so far"))
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
    root, tooltips = read(
        draw_grid(values, weights, levels, ("up", "across"), texts, "pair", reach=2.0)
    )
    assert tooltips == ["a", "b", HOSTILE]
    cells = [e for e in root.iter() if "data-t" in e.attrib]
    assert [e.attrib["fill"] for e in cells] == ["var(--for)", "var(--against)", "var(--for)"]
    shown = [float(e.attrib["opacity"]) for e in cells]
    assert shown == pytest.approx([0.52, 1.0, 0.04], abs=0.01)


def test_grids_strike_through_the_cells_of_few_rows():
    values, weights = np.ones((2, 3)), np.array([[9.0, 10.0, 0.0], [3.0, 11.0, 500.0]])
    texts = [["a", "b", "c"], ["d", "e", "f"]]
    levels = (["low", "high"], ["x", "y", "z"])
    for few, expected in ((10.0, 2), (0.0, 0), (600.0, 5)):
        root, tooltips = read(
            draw_grid(values, weights, levels, ("u", "v"), texts, "p", reach=1.0, few=few)
        )
        assert sorted(tooltips) == ["a", "b", "d", "e", "f"]
        strokes = [e for e in root.iter() if e.attrib.get("stroke") == "var(--ink)"]
        assert len(strokes) == expected


def test_cells_beyond_the_ends_of_the_colours_have_a_dot():
    effects, weights = np.array([[1.0, -2.0], [0.5, 3.0]]), np.ones((2, 2))
    drawn = draw_grid(
        effects, weights, (["low", "high"], ["x", "y"]), ("u", "v"), [["a", "b"], ["c", "d"]], "p",
        reach=1.0,
    )  # fmt: skip
    root, tooltips = read(drawn)
    shown = [float(e.attrib["opacity"]) for e in root.iter() if "data-t" in e.attrib]
    assert dict(zip(tooltips, shown, strict=True)) == pytest.approx(
        {"a": 1.0, "b": 1.0, "c": 0.52, "d": 1.0}, abs=0.01
    )
    dots = [e for e in root.iter() if e.attrib.get("stroke") == "var(--ink)"]
    assert len(dots) == 2


def test_of_many_ranges_a_few_are_named_and_of_categories_all():
    names = [f"range {k}" for k in range(20)]
    cells, texts = np.ones((20, 20)), [["t"] * 20] * 20
    for numbers, named in (((True, True), 10), ((False, False), 20)):
        drawn = draw_grid(
            cells, cells, (names, names), ("u", "v"), texts, "p", reach=1.0, are_numbers=numbers
        )
        shown = [text for text in words_of(read(drawn)[0]) if text.startswith("range ")]
        assert len(shown) == 2 * named
        assert shown.count(names[0]) == 2


def test_titles_of_grids_stand_apart_from_names_in_a_wider_font():
    """The renderer measures names in a font that may be narrower than the reader's."""
    name = "Married-spouse-absent"
    drawn = draw_grid(
        np.ones((1, 1)), np.ones((1, 1)), ([name], [name]), ("u", "v"), [["t"]], "l", reach=1.0
    )
    (title,) = [e for e in read(drawn)[0].iter() if e.text == "u"]
    shift = float(re.match(r"translate\((-[\d.]+),", title.attrib["transform"])[1])
    assert -shift - 14 > 6.5 * 14  # 15 letters of 10 pixels are shown


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


# -- any text, any number -------------------------------------------------------------------------


def draw_all(a, b):
    """Return charts of every kind, with these two texts wherever a chart has texts."""
    cells = np.array([[1.0, -2.0], [3.0, 4.0]])
    return [
        draw_bars([Bar(a, 1.0, a, note=b), Bar(b, 2.0, b, note=a)], a, b, note=b),
        draw_waterfall([Bar(a, 1.0, b, 0.5, 1.5, b, 0.0), Bar(b, 2.0, a)], a, b, note=a),
        draw_dots([Dot(a, 0, 0.1, 0.1, 0.2, b), Dot(b, 1, 0.3, 0.1, 0.4, a)], b, a),
        draw_steps(np.arange(3.0), np.array([1.0, 2.0]), np.ones(2), [a, b], (a, b), a),
        draw_grid(cells, np.ones((2, 2)), ([a, b], [b, a]), (a, b), [[a, b], [b, a]], a, reach=4.0),
        draw_reliability([Point(0.1, 0.2, 0.1, 0.3, 5, a)], (a, b), b),
    ]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\x0bb", r"a\x0bb"),
        ("\x00\x1b[31m", r"\x00\x1b[31m"),
        ("\ufffe", r"\ufffe"),
        ("\ud800", r"\ud800"),
        ("\u202eabc", r"\u202eabc"),
        ("constructor", "constructor"),
        ("__proto__", "__proto__"),
        ("datum.v", "datum.v"),
        ("a[0].b", "a[0].b"),
        ("{{ 7 }} ${7} $x$ \\\\", "{{ 7 }} ${7} $x$ \\\\"),
        ("]]> --> <b>&lt;", "]]> --> <b>&lt;"),
        ("e\u0301\u0302", "e\u0301\u0302"),
        ("\U0001f469\u200d\U0001f33e", "\U0001f469\u200d\U0001f33e"),
        ("", ""),
    ],
)
def test_texts_are_drawn_as_they_are_or_spelled(text, seen):
    for drawn in draw_all(text, "b"):
        root, tooltips = read(drawn)
        texts = [word.rstrip("\u200b") for word in words_of(root)]
        assert seen in tooltips
        assert seen in texts or not seen
        assert root.attrib["aria-label"] in (seen, "b")


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@given(WORDS, WORDS)
def test_no_text_ends_the_process(first, second):
    for drawn in draw_all(first, second):
        read(drawn)


@pytest.mark.parametrize("text", ["W" * 20_000, "\U0001f600" * 20_000, "e" + "\u0301" * 20_000])
def test_long_texts_are_cut_before_they_are_drawn(text):
    for drawn in draw_all(text, f"{text}: 7 rows"):
        root, tooltips = read(drawn)
        assert len(drawn) < 60_000
        assert max(map(len, words_of(root))) <= 101  # and a mark that distinguishes two
        assert all(len(tooltip) <= 600 and "\u2026" in tooltip for tooltip in tooltips)
        assert any(tooltip.endswith("7 rows") for tooltip in tooltips) or len(tooltips) == 1


def test_names_that_are_equal_once_drawn_have_lines_of_their_own():
    names = [
        "x" * 300 + "1",
        "x" * 300 + "2",
        "\x0b",
        r"\x0b",
        "\U0001f600" * 90,
        "\U0001f601" * 90,
    ]
    root, tooltips = read(
        draw_bars([Bar(name, 1.0, str(k)) for k, name in enumerate(names)], "t", "l")
    )
    assert tooltips == [*"012345"]
    places = {e.attrib["d"] for e in root.iter() if "data-t" in e.attrib}
    assert len(places) == 6


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.floats(), min_size=4, max_size=4))
def test_no_number_ends_the_process(numbers):
    a, b, c, d = numbers
    with np.errstate(all="ignore"):
        charts = [
            draw_bars([Bar("x", a, "t", b, c), Bar("y", d, "t")], "t", "l", percent=True),
            draw_waterfall(
                [Bar("x", a, "t", b, c, origin=d), Bar("y", d, "t", origin=a)], "t", "l"
            ),
            draw_dots([Dot("x", 0, a, b, c, "t")], "t", "l"),
            draw_steps(
                np.array([0.0, 1.0, 2.0]), np.array([a, b]), np.abs([c, d]), ["a", "b"],
                ("x", "y"), "l", ends=(np.array([b, c]), np.array([a, d])),
            ),
            draw_grid(
                np.array([[a, b], [c, d]]), np.ones((2, 2)), (["a", "b"], ["c", "d"]), ("x", "y"),
                [["t"] * 2] * 2, "l", reach=abs(a) or 1.0,
            ),
        ]  # fmt: skip
    for chart in charts:
        read(chart)
