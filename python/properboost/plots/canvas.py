"""Common parts of all plots: axes, colours, ticks that do not overlap."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from properboost.extras import import_extra
from properboost.visible import make_visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "BAND",
    "ERROR",
    "FAINT",
    "GUIDE",
    "LINE",
    "SECOND_LINE",
    "STYLES",
    "find_axes",
    "find_style",
    "import_matplotlib",
    "name_line",
    "set_words",
    "shorten",
    "write",
    "write_lines",
]

# Colours of the palette of Okabe and Ito, which colour-blind readers can distinguish.
LINE = "#0072B2"
SECOND_LINE = "#D55E00"
FAINT = "0.85"
GUIDE = "0.6"
ERROR = "0.25"
BAND: dict[str, Any] = {"alpha": 0.2, "linewidth": 0}

STYLES = ("-", "--", "-.", ":")

_PALETTE = (LINE, SECOND_LINE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

_LARGEST_FONT, _SMALLEST_FONT = 10.0, 6.0
_LINE_HEIGHT = 1.25
_MOST_WORDS = 60
"""The most letters of a name in a title, a legend or next to an axis that fit."""

_MOST_LINES = 4

_BREAKS = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})

_TEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        **{char: f"\\{char}" for char in "$&#%_{}"},
    }
)
"""TeX's special characters, and their escapes."""

_SHARE = 0.75
"""The approximate share of their room that axes keep next to titles, ticks and colour bars."""


def import_matplotlib(module: str) -> Any:
    """Import a module of matplotlib, or raise an error that names the package to install."""
    return import_extra(f"matplotlib.{module}", "plots need", "plots")


def find_axes(ax: "Axes | None") -> "Axes":
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    _, new = import_matplotlib("pyplot").subplots(layout="constrained")
    made: Axes = new
    return made


def find_style(k: int) -> dict[str, Any]:
    """Return the colour and the line of the class at a position."""
    style = STYLES[k // len(_PALETTE) % len(STYLES)]
    return {"color": _PALETTE[k % len(_PALETTE)], "linestyle": style}


def shorten(words: str, most: int = 28) -> str:
    """Return words, cut to `most` letters."""
    return words if len(words) <= most else f"{words[: most - 3]}..."


def write(words: str, most: int = _MOST_WORDS) -> str:
    """Escape words of a table or a model so that matplotlib draws them unchanged, on one line.

    Otherwise text between two ``$`` would be a formula, and all text TeX where TeX sets it.
    """
    plain = shorten(make_visible(words).translate(_BREAKS), most)
    if import_extra("matplotlib", "plots need", "plots").rcParams["text.usetex"]:
        return plain.translate(_TEX)
    return plain.replace("$", r"\$")


def write_lines(words: str) -> str:
    """Escape our words with names in them as `write` does, in a few lines."""
    return "\n".join(map(write, words.split("\n")[:_MOST_LINES]))


def name_line(name: str) -> str:
    """Return a name for a legend, which drops names that are empty or begin with an underscore."""
    words = write(name if name.strip() else repr(name))
    return f" {words}" if words.startswith("_") else words


def set_words(ax: "Axes", which: Literal["x", "y"], words: Sequence[str], most: int = 28) -> None:
    """Name the places 0, 1, ... of an axis; many names are smaller, and some are left out.

    matplotlib draws words unchanged, cut to `most` letters.  Along the horizontal axis they stand
    upright where they would not fit.
    """
    size = ax.bbox.width if which == "x" else ax.bbox.height
    room = _SHARE * 72.0 * size / ax.figure.dpi / max(1, len(words))
    font = float(np.clip(room / _LINE_HEIGHT, _SMALLEST_FONT, _LARGEST_FONT))
    step = max(1, int(np.ceil(_SMALLEST_FONT * _LINE_HEIGHT / room)))
    shown = range(0, len(words), step)
    axis = ax.xaxis if which == "x" else ax.yaxis
    short = [write(words[k], most) for k in shown]
    axis.set_ticks(shown, short, fontsize=font)
    if which == "x" and max(map(len, short), default=0) * 0.6 * _LARGEST_FONT > room * step:
        ax.tick_params(axis="x", rotation=90)
    elif which == "x":
        axis.set_ticks(shown, short, fontsize=_LARGEST_FONT)
