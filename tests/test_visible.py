"""Text of strangers: what a document cannot hold or a terminal would obey is spelled."""

from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from properboost.visible import make_lines_printable, make_printable, make_visible, tell_apart

TEXTS = st.text(st.characters(codec=None, categories=None))  # half pairs and controls, too


class Words(HTMLParser):
    """The words of a piece of HTML."""

    def __init__(self, text):
        super().__init__()
        self.text = ""
        self.feed(text)
        self.close()

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\x0bb", r"a\x0bb"),
        ("\x00\x1b[31m\x7f\x9b", r"\x00\x1b[31m\x7f\x9b"),
        ("\ud83d", r"\ud83d"),
        ("\ufffe\uffff\ufdd0\U0001fffe\U0010ffff", r"\ufffe\uffff\ufdd0\U0001fffe\U0010ffff"),
        ("\u202eabc\u2069", r"\u202eabc\u2069"),
        ("tab\tline\nreturn\r", "tab\tline\nreturn\r"),
        ("Größe 年 \u2066", "Größe 年 \\u2066"),
        ("👩\u200d🌾 \u05d0\u200f می\u200cروم", "👩\u200d🌾 \u05d0\u200f می\u200cروم"),
        ("", ""),
    ],
)
def test_what_no_document_holds_is_spelled(text, seen):
    assert make_visible(text) == seen


@given(TEXTS)
def test_any_text_can_be_written_and_read(text):
    seen = make_visible(text)
    assert make_visible(seen) == seen
    element = ElementTree.Element("text", {"name": seen})
    element.text = seen
    read = ElementTree.fromstring(ElementTree.tostring(element, encoding="utf-8"))
    assert read.attrib["name"] == seen
    assert (read.text or "") == seen.replace("\r\n", "\n").replace("\r", "\n")
    if not {"<", "&"} & {*seen}:
        assert Words(seen).text == seen


@given(TEXTS)
def test_a_terminal_gets_nothing_to_obey(text):
    assert make_printable(text).encode().decode().isprintable()
    lines = make_lines_printable(text).split("\n")
    assert lines == [make_printable(line) for line in text.split("\n")]


@given(st.lists(st.sampled_from(["a", "a\u200b", "b", ""])))
def test_equal_names_are_told_apart(names):
    apart = tell_apart(names)
    assert len(set(apart)) == len(apart) == len(names)
    assert [name.rstrip("\u200b") for name in apart] == [name.rstrip("\u200b") for name in names]
    assert tell_apart(apart) == apart
