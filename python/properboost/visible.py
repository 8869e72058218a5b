r"""Text that strangers chose, made fit to be seen.

Names, categories and classes are whatever a table has.  A character that no document may hold ends
the parser that meets it, one that turns the direction of writing moves the words around it, and a
terminal obeys what it should show.  Such characters are spelled as Python spells them: ``\x0b``.
"""

import re
from collections.abc import Iterable

__all__ = ["NO_WIDTH", "make_lines_printable", "make_printable", "make_visible", "tell_apart"]

NO_WIDTH = "\u200b"
"""A space that nobody sees."""

_NONCHARACTERS = "\ufdd0-\ufdef" + "".join(
    f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
)
_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_SURROGATES = "\ud800-\udfff"
_TURNS = "\u202a-\u202e\u2066-\u2069"
"""What turns the direction of all that follows; marks within a script do not."""

_UNFIT = re.compile(f"[{_CONTROLS}{_SURROGATES}{_NONCHARACTERS}{_TURNS}]")


def make_visible(text: str) -> str:
    """Return a text that HTML, XML and UTF-8 can hold, and that keeps its place on a page.

    Line breaks and tabs stay, as do the characters that scripts and emoji are made of.
    """
    return _UNFIT.sub(lambda match: _spell(match[0]), text)


def make_printable(text: str) -> str:
    """Return a text of one line that a terminal shows and does not obey."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _spell(char) for char in text)


def make_lines_printable(text: str) -> str:
    """Return lines that a terminal shows and does not obey."""
    return "\n".join(map(make_printable, text.split("\n")))


def tell_apart(texts: Iterable[str]) -> list[str]:
    """Return texts of which no two are equal: spaces of no width make the difference."""
    apart: dict[str, None] = {}
    for text in texts:
        while text in apart:
            text += NO_WIDTH
        apart[text] = None
    return list(apart)


def _spell(char: str) -> str:
    return char.encode("unicode_escape").decode()
