"""The progress of a fit: a bar where tqdm is installed, plain lines otherwise."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO

from properboost.notebook_line import open_notebook_line
from properboost.notices import find_stderr

__all__ = ["Begin", "LineTimes", "Report", "find_stream", "is_together", "show_progress",
           "show_together"]  # fmt: skip

Report = Callable[[int, float], None]
"""A function of the rounds done so far, over all models, and of the value to show with them."""

Begin = Callable[[str, int, str], Report]
"""A function that begins a stage: it takes the task, its rounds, and the name of the value."""

_TOGETHER: ContextVar[Begin | None] = ContextVar("_TOGETHER", default=None)

_SECONDS_BETWEEN_LINES = 2.0

_LONGER_BY = 0.1
"""The least time between two lines, as a share of the time so far, so that logs stay short."""


class LineTimes:
    """The times of lines: two seconds apart at first, and a tenth of the time so far later."""

    def __init__(self) -> None:
        self._first: float | None = None
        self._last = -math.inf

    def is_due(self) -> bool:
        """Whether the next line is due, which then counts as shown."""
        now = time.monotonic()
        self._first = now if self._first is None else self._first
        is_due = now - self._last >= max(_SECONDS_BETWEEN_LINES, _LONGER_BY * (now - self._first))
        self._last = now if is_due else self._last
        return is_due


def find_stream() -> TextIO | None:
    """Return the stream of a display: a line of a notebook, stderr, or None without either."""
    return open_notebook_line() or find_stderr()


def is_together() -> bool:
    """Whether one display shows all progress."""
    return _TOGETHER.get() is not None


@contextmanager
def show_together(begin: Begin) -> Iterator[None]:
    """Pass all progress within to one display, which shows it whatever `verbose` is."""
    token = _TOGETHER.set(begin)
    try:
        yield
    finally:
        _TOGETHER.reset(token)


@contextmanager
def show_progress(
    verbose: int,
    total: int,
    task: str = "boosting",
    shown: str = "training risk",
    unit: str = "round",
) -> Iterator[Report | None]:
    """Open a display of `total` rounds, and yield the function that updates it.

    It is None if not verbose, or without a stderr.  A display of all stages takes precedence.
    """
    begin = _TOGETHER.get()
    if begin is not None:
        report_stage = begin(task, total, shown)
        yield report_stage
        report_stage(total, math.nan)
        return
    stream = find_stream() if verbose > 0 else None
    if stream is None:
        yield None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield _print_lines(total, task, shown, unit, stream)
        return
    with tqdm(total=total, unit=unit, desc=task, file=stream) as bar:

        def report(done: int, value: float) -> None:
            if not math.isnan(value):  # there is no value inside the first cycle
                bar.set_postfix_str(f"{shown} {value:.6g}", refresh=False)
            bar.update(done - bar.n)

        yield report
        bar.refresh()


def _print_lines(total: int, task: str, shown: str, unit: str, stream: TextIO) -> Report:
    times = LineTimes()

    def report(done: int, value: float) -> None:
        if times.is_due() or done >= total:
            known = "" if math.isnan(value) else f", {shown} {value:.6g}"
            print(f"{task}: {unit} {done}/{total}{known}", file=stream, flush=True)

    return report
