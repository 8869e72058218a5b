"""Vega-Lite's renderer, with a guard against texts and conditions that end the process.

The renderer is a JavaScript engine in this process.  A text with a character that XML lacks, or a
refusal of memory, makes it end the process, and no handler of errors runs.
"""

import os
import re
import sys
from collections.abc import Mapping
from typing import Any, TypeAlias

from properboost.extras import import_extra
from properboost.report.wording import shorten
from properboost.visible import NO_WIDTH, make_visible

if sys.platform != "win32":
    import resource

__all__ = ["Spec", "draw_spec", "shorten_middle"]

Spec: TypeAlias = dict[str, Any]

MOST_DRAWN = 100
"""The most letters of a drawn text: axes show at most 75 narrow ones, and to set 20,000 takes a
minute."""

MOST_READ_OUT = 600
"""The most letters of a text to read out."""

READ_OUT = "t"
"""The field of texts that are read out, and not drawn."""

ADDRESSES = 68 * 2**30
"""Bytes of address space that the engine reserves at its start; it uses few of them."""

_EXPRESSIONS = {"filter", "labelExpr", "test"}
"""Fields of expressions that Vega computes: none of them may hold foreign text."""

_INHERITED = {
    "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__",
    "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString",
    "toString", "valueOf",
}  # fmt: skip
"""Members of every JavaScript object: Vega would take a title of such a name for a signal."""

_BEYOND = re.compile("[\U00010000-\U0010ffff]")
"""Characters of more than 16 bits, among them emoji."""

_started_in: list[int] = []
"""The process in which the engine runs, if any; a forked process has only a copy."""


def draw_spec(spec: Spec) -> str:
    """Return the SVG of a spec of Vega-Lite.

    Raises
    ------
    ImportError
        If vl-convert is missing.
    MemoryError, RuntimeError
        If the engine cannot start here, or runs in the process that this one was forked from.
    """
    draw = import_extra("vl_convert", "reports need", "report").vegalite_to_svg
    _check_process()
    try:
        drawn: str = draw(make_drawable(spec))
    except ValueError:
        # Vega counts in units of 16 bits, and stumbles where it cuts a name within a character.
        drawn = draw(make_drawable(spec, bits=16))
    return drawn


def _check_process() -> None:
    """Raise an error where the engine would end the process or hang."""
    if not _started_in:
        if sys.platform == "linux":
            limit = resource.getrlimit(resource.RLIMIT_AS)[0]
            if limit != resource.RLIM_INFINITY and limit < ADDRESSES:
                raise MemoryError(
                    f"pictures need {ADDRESSES / 2**30:.0f} GiB of address space, which are "
                    f"reserved and not used, and the limit (RLIMIT_AS) is {limit / 2**30:.3g} GiB: "
                    "lift it by ulimit -v unlimited"
                )
        _started_in.append(os.getpid())
    elif _started_in[0] != os.getpid():
        raise RuntimeError(
            "pictures cannot be drawn in a process that was forked from one which had drawn some: "
            "start processes by 'spawn' or 'forkserver' (multiprocessing.set_start_method)"
        )


def make_drawable(spec: Spec, bits: int = 32) -> Spec:
    """Return a spec with drawable texts; different texts stay different.

    Characters of more than so many bits are replaced.
    """
    drawn: dict[str, str] = {}
    taken: set[str] = set()

    def fit(text: str) -> str:
        if text not in drawn:
            short = shorten(make_visible(text), MOST_DRAWN)
            if bits == 16:
                short = _BEYOND.sub("\ufffd", short)
            while short in taken or short in _INHERITED:
                short += NO_WIDTH
            drawn[text] = short
            taken.add(short)
        return drawn[text]

    def walk(part: Any, name: str = "") -> Any:
        if isinstance(part, str):
            return shorten_middle(part) if name == READ_OUT else fit(part)
        if isinstance(part, Mapping):
            return {
                key: value if key in _EXPRESSIONS else walk(value, key)
                for key, value in part.items()
            }
        return [walk(value, name) for value in part] if isinstance(part, list) else part

    whole: Spec = walk(spec)
    return whole


def shorten_middle(text: str) -> str:
    """Return a text without its middle if it is long: its numbers come last."""
    half = MOST_READ_OUT // 2
    if len(text) > MOST_READ_OUT:
        text = f"{text[: half - 1]}\u2026{text[-half:]}"
    return make_visible(text)
