"""Warnings that point at the user's line, and lines on stderr where it exists."""

import sys
import warnings
from contextlib import suppress
from inspect import currentframe
from typing import Any, TextIO, cast

__all__ = ["find_stderr", "tell", "warn", "warn_once"]

INNER = ("properboost.", "sklearn.callback.")
"""Modules without a user's line; scikit-learn wraps methods that have callbacks."""


def warn(message: str) -> None:
    """Issue a `UserWarning` at the calling line outside the package."""
    frame, level = currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith(INNER):
        frame, level = frame.f_back, level + 1
    try:
        warnings.warn(message, UserWarning, stacklevel=level + 1)
    except ValueError:
        # Python's warnings expect a stderr that is full or None, but not a closed one.
        if not getattr(sys.stderr, "closed", False):
            raise


def warn_once(message: str) -> None:
    """Issue a `UserWarning` as `warn` does, once in a process and not for candidates of a search.

    Python's own filter would repeat it, because scikit-learn's searches reset what it has shown.
    """
    if message in _SHOWN or _is_candidate():
        return
    _SHOWN.add(message)
    warn(message)


_SHOWN: set[str] = set()


def _is_candidate() -> bool:
    """Whether a search of scikit-learn in this process scores the fit, which it then drops."""
    frame, callers = currentframe(), set()
    while frame is not None:
        callers.add(frame.f_globals.get("__name__", ""))
        frame = frame.f_back
    return {"sklearn.model_selection._search", "sklearn.model_selection._validation"} <= callers


def tell(text: str, end: str = "\n") -> None:
    """Write a line on stderr; without a writable one, the line is lost."""
    stream = find_stderr()
    if stream is not None:
        print(text, end=end, file=stream, flush=True)


def find_stderr() -> TextIO | None:
    """Return stderr as a stream that never raises; None where a process has none.

    Services and programs without a console have none, and a pipe or a disk behind it may go away
    while a fit runs.  Messages on the progress of a fit must not end it.
    """
    return None if sys.stderr is None else cast("TextIO", _QuietStream(sys.stderr))


# A stream that lacks a method, has failed, or has been closed raises these.
_FAILURES = (AttributeError, OSError, ValueError)


class _QuietStream:
    """A stream of text that drops text it cannot write."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(*_FAILURES):
            return self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(*_FAILURES):
            self._stream.flush()

    def isatty(self) -> bool:
        with suppress(*_FAILURES):
            return self._stream.isatty()
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
