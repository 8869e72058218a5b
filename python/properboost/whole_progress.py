"""One progress bar for all stages of a search or a command."""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, TextIO

from properboost.progress import LineTimes, Report, find_stream, is_together, show_together

__all__ = ["FINAL", "PAIRS", "STEPS", "Stage", "WholeProgress", "show_whole"]

FINAL, PAIRS, STEPS = "boosting", "pairs", "steps"
"""Stages that no family is named for: the final fit, pairs of features, and steps from the best."""


class Stage(NamedTuple):
    """A stage: the task that begins it, and its share of the time, in any unit."""

    name: str
    weight: float


class Bar(Protocol):
    """A display of a percentage."""

    def show(self, percent: float, text: str) -> None:
        """Show how much is done, and what goes on."""


class WholeProgress:
    """The progress of all stages together.

    Stages that are left out count as done once a later one begins.  With a `limit` in seconds, at
    least the share of the time that has passed is shown.
    """

    def __init__(self, stages: Sequence[Stage], bar: Bar, limit: float | None = None) -> None:
        self._stages, self._bar, self._limit = stages, bar, limit
        self._ends = self._add_up(stages)
        self._begin = time.monotonic()
        self._at, self._done = -1, 0.0

    @staticmethod
    def _add_up(stages: Sequence[Stage]) -> list[float]:
        total, sums = sum(stage.weight for stage in stages), [0.0]
        for stage in stages:
            sums.append(sums[-1] + 100.0 * stage.weight / total)
        return sums

    def begin(self, task: str, total: int, shown: str) -> Report:
        """Begin a stage, and return the function that reports its rounds."""
        at = self._find(task)
        again = at == self._at
        self._at = at
        start = max(self._done, self._ends[at])
        # A stage may have several tasks, of an unknown number: each takes half of the rest.
        part = (self._ends[at + 1] - start) * (
            0.5 if again or self._stages[at].name == STEPS else 1
        )

        def report(done: int, value: float) -> None:
            self._done = max(self._done, start + part * min(done / max(total, 1), 1.0))
            self._bar.show(self._find_percent(), f"{task}{_write_value(shown, value)}")

        report(0, math.nan)
        return report

    def _find(self, task: str) -> int:
        """Return the stage of a task: the next of its name, else the steps, else the present."""
        rest = range(self._at + 1, len(self._stages))
        names = [self._stages[k].name for k in rest]
        names = names[: names.index(FINAL) + 1] if FINAL in names else names
        for name in (PAIRS if task.endswith(f" {PAIRS}") else task, STEPS):
            if name in names:
                return rest[names.index(name)]
        return max(self._at, 0)

    def _find_percent(self) -> float:
        if self._limit is None:
            return self._done
        passed = (time.monotonic() - self._begin) / self._limit
        return max(self._done, min(100.0 * passed, 99.0))


def _write_value(shown: str, value: float) -> str:
    """Return the value of a stage: of log losses the loss itself, as elsewhere."""
    if not shown or not math.isfinite(value):
        return ""
    name, number = shown, value
    if shown == "best neg_log_loss":
        name, number = "best log loss", -value
    return f", {name} {number:.4f}"


@contextmanager
def show_whole(
    stages: Sequence[Stage],
    limit: float | None = None,
    *,
    visible: bool = True,
    leave: bool = False,
) -> Iterator[None]:
    """Show the progress of everything within as one bar, where tqdm is installed, or as lines.

    A display around this one takes precedence.  `leave` keeps the bar in sight at its end.
    """
    stream = find_stream() if visible and not is_together() else None
    if stream is None:
        yield
        return
    try:
        from tqdm import tqdm
    except ImportError:
        lines = _Lines(stream)
        with show_together(WholeProgress(stages, lines, limit).begin):
            yield
            lines.end()
        return
    form = "{percentage:3.0f}% |{bar:24}| {elapsed}<{remaining}  {desc}"
    with (
        tqdm(total=100.0, bar_format=form, file=stream, smoothing=0, leave=leave) as tqdm_bar,
        show_together(WholeProgress(stages, bar := _TqdmBar(tqdm_bar), limit).begin),
    ):
        yield
        bar.end()


class _TqdmBar:
    """A bar of tqdm."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def show(self, percent: float, text: str) -> None:
        self._bar.set_description_str(text, refresh=False)
        self._bar.update(percent - self._bar.n)

    def end(self) -> None:
        self._bar.set_description_str("done", refresh=False)
        self._bar.update(100.0 - self._bar.n)
        self._bar.refresh()


class _Lines:
    """A line every few seconds."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._times = stream, LineTimes()
        self._begin = time.monotonic()

    def show(self, percent: float, text: str) -> None:
        if self._times.is_due():
            left = self._describe_rest(percent)
            print(f"{percent:3.0f}%  {text}{left}", file=self._stream, flush=True)

    def _describe_rest(self, percent: float) -> str:
        """Return a text: the seconds that the rest takes at the pace so far."""
        passed = time.monotonic() - self._begin
        if percent < 1.0 or passed < 1.0:
            return ""
        return f", {passed * (100.0 - percent) / percent:.0f} s left"

    def end(self) -> None:
        print("100%  done", file=self._stream, flush=True)
