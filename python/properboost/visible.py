r"""Text from users' tables, escaped for documents and terminals.

Names, categories and classes may hold any characters.  A character that documents forbid ends the
parser; one that changes the direction of writing moves the words around it; and a terminal obeys
control characters.  This module escapes such characters as Python does: ``\x0b``.
"""

import re
from collections.abc import Iterable

__all__ = ["NO_WIDTH", "make_lines_printable", "make_printable", "make_visible", "tell_apart"]

NO_WIDTH = "\u200b"
"""A space without width."""

_NONCHARACTERS = "\ufdd0-\ufdef" + "".join(
    f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
)
_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_SURROGATES = "\ud800-\udfff"
_TURNS = "\u202a-\u202e\u2066-\u2069"
"""Characters that change the direction of the text after them; marks within a script do not."""

_UNFIT = re.compile(f"[{_CONTROLS}{_SURROGATES}{_NONCHARACTERS}{_TURNS}]")


def make_visible(text: str) -> str:
    """Escape a text so that HTML, XML and UTF-8 can hold it, and that it keeps its place on a page.

    Line breaks and tabs stay, and so do the characters that make up scripts and emoji.
    """
    return _UNFIT.sub(lambda match: _spell(match[0]), text)


def make_printable(text: str) -> str:
    """Escape a text into one line that a terminal shows and does not obey."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _spell(char) for char in text)


def make_lines_printable(text: str) -> str:
    """Escape lines so that a terminal shows and does not obey them."""
    return "\n".join(map(make_printable, text.split("\n")))


def tell_apart(texts: Iterable[str]) -> list[str]:
    """Make texts distinct by spaces without width."""
    apart: dict[str, None] = {}
    for text in texts:
        while text in apart:
            text += NO_WIDTH
        apart[text] = None
    return list(apart)


def _spell(char: str) -> str:
    return char.encode("unicode_escape").decode()
