"""Lines for the user, without control characters: on stdout, and notes on stderr.

Commands show their first line before anything heavy is imported, so this module imports little.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from properboost.notices import find_stderr, tell
from properboost.visible import make_lines_printable, make_printable

__all__ = ["announce", "has_terminal", "list_files", "note", "show"]


def show(text: str) -> None:
    """Print lines at once, without control characters, as names are foreign texts."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    line = make_lines_printable(text).encode(encoding, "backslashreplace").decode(encoding)
    print(line, flush=True)


def note(message: str) -> None:
    """Show the user a note that is not an error."""
    tell(f"properboost: note: {make_printable(message)}")


def has_terminal() -> bool:
    """Whether a person may watch stderr."""
    stream = find_stderr()
    return stream is not None and stream.isatty()


def announce(argv: Sequence[str]) -> bool:
    """Name the file of `fit` where progress is shown, before it is read: imports take a second.

    Returns whether it is shown.
    """
    files = list_files(argv[1:])
    is_watched = "--quiet" not in argv and ("--verbose" in argv or has_terminal())
    if argv[:1] != ["fit"] or not files or not is_watched:
        return False
    size = Path(files[0]).stat().st_size
    tell(f"Reading {make_printable(files[0])} ({_write_bytes(size)}) ...")
    return True


def list_files(arguments: Sequence[str]) -> list[str]:
    """Return the arguments that are files; some are too long for a name of one."""
    return [argument for argument in arguments if os.path.isfile(argument)]  # noqa: PTH113


def _write_bytes(size: int) -> str:
    for power, unit in enumerate(("bytes", "kB", "MB")):
        if size < 1000 ** (power + 1):
            return f"{size / 1000**power:.3g} {unit}"
    return f"{size / 1e9:,.1f} GB"
