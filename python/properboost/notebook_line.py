"""A line in the output of a notebook's cell.

A bar of text on stderr would be a new output each time that it moves, on a red ground, and stay so
in the file.  A widget needs a package, and files that are opened again show its beginning.  A
display that is updated is one output, and files keep how it ended.
"""

import io
import sys
from importlib import import_module
from typing import Any, TextIO, cast

__all__ = ["open_notebook_line"]


def open_notebook_line() -> TextIO | None:
    """Return a stream whose last line a cell shows; None outside of notebooks."""
    ipython: Any = sys.modules.get("IPython")  # a notebook has imported it
    if ipython is None or not hasattr(ipython.get_ipython(), "kernel"):
        return None
    return cast("TextIO", _NotebookLine())


class _NotebookLine(io.TextIOBase):
    """A stream of text, each line of which takes the place of the one before."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self._handle: Any = None

    def write(self, text: str) -> int:
        """Show a line, unless it is blank: bars write blanks over what they leave."""
        line = text.strip("\r\n").rstrip()
        if line and self._handle is None:
            display = import_module("IPython.display").display
            self._handle = display({"text/plain": line}, raw=True, display_id=True)
        elif line:
            self._handle.update({"text/plain": line}, raw=True)
        return len(text)
