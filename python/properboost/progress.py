"""The progress of a fit: a bar where tqdm is installed, plain lines otherwise."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from properboost.notices import find_stderr, tell

__all__ = ["Begin", "Report", "show_progress", "show_together"]

Report = Callable[[int, float], None]
"""A function of the rounds done so far, over all models, and of the value to show with them."""

Begin = Callable[[str, int, str], Report]
"""A function that begins a stage: it takes the task, its rounds, and the name of the value."""

_TOGETHER: ContextVar[Begin | None] = ContextVar("_TOGETHER", default=None)

_SECONDS_BETWEEN_LINES = 2.0


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
    """Open a display of `total` rounds on stderr, and yield the function that updates it.

    It is None if not verbose, or without a stderr.  A display of all stages takes precedence.
    """
    begin = _TOGETHER.get()
    if begin is not None:
        report_stage = begin(task, total, shown)
        yield report_stage
        report_stage(total, math.nan)
        return
    stream = find_stderr()
    if verbose <= 0 or stream is None:
        yield None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield _print_lines(total, task, shown, unit)
        return
    with tqdm(total=total, unit=unit, desc=task, file=stream) as bar:

        def report(done: int, value: float) -> None:
            if not math.isnan(value):  # there is no value inside the first cycle
                bar.set_postfix_str(f"{shown} {value:.6g}", refresh=False)
            bar.update(done - bar.n)

        yield report
        bar.refresh()


def _print_lines(total: int, task: str, shown: str, unit: str) -> Report:
    last = -_SECONDS_BETWEEN_LINES

    def report(done: int, value: float) -> None:
        nonlocal last
        now = time.monotonic()
        if done >= total or now - last >= _SECONDS_BETWEEN_LINES:
            last = now
            known = "" if math.isnan(value) else f", {shown} {value:.6g}"
            tell(f"{task}: {unit} {done}/{total}{known}")

    return report
