"""The renderer raises errors where it would otherwise end or hang the process."""

import os

import pytest

pytest.importorskip("vl_convert")

from properboost.report import renderer
from properboost.report.renderer import draw_spec, make_drawable, shorten_middle

SPEC = {"mark": "point", "data": {"values": [{"k": "a"}]}, "encoding": {"x": {"field": "k"}}}


def test_texts_that_differ_are_drawn_as_texts_that_differ():
    names = ["\x0b", r"\x0b", "x" * 200 + "1", "x" * 200 + "2", "a", "a\u200b", "constructor"]
    values = [{"k": name, "t": name} for name in names]
    spec = make_drawable({"data": {"values": values}, "title": names[0], "axis": [names]})
    drawn = [row["k"] for row in spec["data"]["values"]]
    assert len(set(drawn)) == len(names)
    assert spec["title"] == drawn[0]
    assert spec["axis"] == [drawn]
    seen = [name.rstrip("\u200b") for name in drawn]
    assert seen[:2] == [r"\x0b"] * 2
    assert seen[2] == seen[3] == "x" * 99 + "\u2026"
    assert seen[4:] == ["a", "a", "constructor"]
    assert [row["t"] for row in spec["data"]["values"]] == [shorten_middle(name) for name in names]


def test_what_vega_computes_is_left_alone():
    long = "datum.value + " * 50 + "1"
    spec = {"axis": {"labelExpr": long}, "condition": {"test": long}, "n": 3, "o": None}
    assert make_drawable(spec) == spec


def test_characters_beyond_16_bits_are_replaced_where_vega_stumbles():
    spec = {"title": "\U0001f600\u5e74"}
    assert make_drawable(spec) == spec
    assert make_drawable(spec, bits=16) == {"title": "\ufffd\u5e74"}


def test_long_texts_keep_both_ends():
    text = shorten_middle("a" * 900 + "\x0b: 7 rows")
    assert text.startswith("aaa")
    assert text.endswith(r"\x0b: 7 rows")
    assert "\u2026" in text
    assert shorten_middle("short") == "short"


def test_a_forked_process_gets_an_error(monkeypatch):
    """A forked child would wait for ever, because the engine's threads are not copied."""
    monkeypatch.setattr(renderer, "_started_in", [os.getpid() + 1])
    with pytest.raises(RuntimeError, match=r"forked .* start processes by 'spawn' or 'forkserver'"):
        draw_spec(SPEC)


def test_little_address_space_is_an_error(monkeypatch):
    """Otherwise the engine would end the process."""
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(renderer.sys, "platform", "linux")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (2**34, 2**34))
    monkeypatch.setattr(renderer, "_started_in", [])
    with pytest.raises(MemoryError, match=r"need 68 GiB of address space.*is 16 GiB: lift it"):
        draw_spec(SPEC)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    assert draw_spec(SPEC).startswith("<svg")
    assert renderer._started_in == [os.getpid()]
