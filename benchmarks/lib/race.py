"""The race: contestants take turns, and the report compares times within a round of turns.

A contestant's turn does its work once and times the parts with a clock.  It may return a function
that computes the outcome; the race calls it once, outside the timing:

    def turn(clock, problem):
        with clock("fit"):
            model = Model().fit(*problem)
        with clock("predict"):
            p = model.predict_proba(test.X)[:, 1]
        return lambda: log_loss(test.y, p)

    results = race([Contestant("model", turn), ...], repeats, problem)

After a warm-up turn each there are `repeats` rounds in which each has one turn.  So a disturbance
of the machine falls on all, and each round gives one ratio of times; medians are reported, with the
smallest and the largest.  A contestant that fails is out, and the race goes on.
"""

import gc
import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Protocol, TypeVar

OURS = "properboost"
WORK = "work"  # the only part of a contestant that has one
PAUSE = 0.1  # seconds before a lap: an OpenMP runtime's threads spin for a while after their work
TOO_MUCH = 0.05  # of the machine, taken by other processes

PROC = Path("/proc")
HAS_PROC = (PROC / "self" / "stat").exists()  # else other processes cannot be measured


class Named(Protocol):
    @property
    def name(self) -> str: ...


NamedContestant = TypeVar("NamedContestant", bound=Named)
Library = TypeVar("Library", bound=Callable[..., Any])


@dataclass(frozen=True)
class Contestant:
    """One way to do the work; `turn` gets a clock and the task of `race`."""

    name: str
    turn: Callable[..., Callable[[], Any] | None]


def in_one(
    name: str,
    run: Callable[..., Any],
    judge: Callable[..., Any] = lambda result, *_: result,
) -> Contestant:
    """Return a contestant that is timed as one part, `WORK`.

    `run` gets the task.  `judge` gets the result and the task, and returns the outcome, untimed.
    """

    def turn(clock: Clock, *task: Any) -> Callable[[], Any]:
        with clock(WORK):
            result = run(*task)
        return lambda: judge(result, *task)

    return Contestant(name, turn)


# -- the clock -------------------------------------------------------------------------------------


@dataclass
class Lap:
    """The time of one part of a turn."""

    seconds: float
    processors: float | None = None  # busy on average
    others: float | None = None  # processor time of other processes, in seconds


class Clock:
    """A clock for the parts of a turn: ``with clock("fit"): ...``.

    A part may have parts.  Only the outer one has a pause before it and measures other processes,
    because both take a while.
    """

    def __init__(self) -> None:
        self.laps: dict[str, Lap] = {}
        self._running = False

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        if self._running:
            start = time.perf_counter()
            yield
            self.note(part, time.perf_counter() - start)
            return
        gc.collect()
        time.sleep(PAUSE)
        self._running = True
        # Slow reads come first here and last below, so that they are in nobody's time.
        below, machine, process = _time_below(), _machine_time(), time.process_time()
        start = time.perf_counter()
        yield
        seconds = time.perf_counter() - start
        process, machine = time.process_time() - process, _machine_time() - machine
        process += _time_below() - below
        self._running = False
        self.laps[part] = Lap(seconds, process / seconds, machine - process if HAS_PROC else None)

    def note(self, part: str, seconds: float) -> None:
        """Record a part whose time was computed elsewhere."""
        self.laps[part] = Lap(seconds)

    def __getitem__(self, part: str) -> float:
        return self.laps[part].seconds


def _machine_time() -> float:
    """Return the processor time, in seconds, of all processes so far."""
    if not HAS_PROC:
        return 0.0
    fields = (PROC / "stat").read_text().split()
    user, nice, system, _, _, irq, softirq, steal = map(int, fields[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def _time_below() -> float:
    """Return the processor time of all descendants of this process."""
    if not HAS_PROC:
        return 0.0
    parents, times = {}, {}
    for path in PROC.glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(path.parent.name)] = int(fields[1])
        times[int(path.parent.name)] = sum(map(int, fields[11:15]))
    tree = {os.getpid()}
    while more := {p for p, parent in parents.items() if parent in tree} - tree:
        tree |= more
    ticks = sum(times.get(p, 0) for p in tree - {os.getpid()})
    return ticks / os.sysconf("SC_CLK_TCK")


# -- the race --------------------------------------------------------------------------------------


@dataclass
class Turns:
    """The turns of one contestant: a lap a turn for each part, and the outcome."""

    laps: dict[str, list[Lap]] = field(default_factory=dict)
    outcome: Any = None
    failure: str = ""

    def seconds(self, part: str) -> list[float]:
        """Return the part's seconds, turn by turn; nothing if there is no such part."""
        return [lap.seconds for lap in self.laps.get(part, [])]

    def median(self, part: str) -> float:
        """Return the median of the part's seconds, infinite if there is none."""
        return statistics.median(self.seconds(part) or [math.inf])

    def processors(self, part: str) -> float:
        """Return how many processors were busy."""
        known = [lap.processors for lap in self.laps[part] if lap.processors is not None]
        return statistics.median(known)


Results = dict[str, Turns]


def race(
    contestants: Sequence[Contestant],
    repeats: int,
    *task: Any,
    warm_up: tuple[Any, ...] | None = None,
) -> Results:
    """Let the contestants take turns at `task`, after one each at `warm_up` or the same."""
    results = {c.name: Turns() for c in contestants}
    for r in range(repeats + 1):
        for c in contestants:
            turns = results[c.name]
            if turns.failure:
                continue
            progress(f"{f'{r}/{repeats}' if r else 'warm-up'}: {c.name}")
            clock = Clock()
            try:
                read_outcome = c.turn(clock, *(task if r or warm_up is None else warm_up))
                if r == 1 and read_outcome is not None:
                    turns.outcome = read_outcome()
            except Exception as error:  # whatever the error, the others go on
                first_line = str(error).strip().partition("\n")[0]
                turns.failure = f"{type(error).__name__}: {first_line}"
                continue
            if r:
                for part, lap in clock.laps.items():
                    turns.laps.setdefault(part, []).append(lap)
    progress("")
    return results


def progress(text: str) -> None:
    """Print the state of the race on a terminal."""
    if sys.stderr.isatty():
        print(f"\r{text:70}\r", end="", file=sys.stderr, flush=True)


def by_name(*libraries: Library) -> dict[str, Library]:
    """Return functions that each list a library's contestants, by the libraries' names."""
    return {library.__name__.replace("_", "-"): library for library in libraries}


def find(
    libraries: Mapping[str, Callable[[], Iterable[NamedContestant]]], only: Sequence[str] = ()
) -> list[NamedContestant]:
    """Return the contestants of the installed libraries, and print which are missing.

    A library is a function that imports it and lists its contestants; `only` has patterns of names.
    """
    contestants: list[NamedContestant] = []
    for name, library in libraries.items():
        try:
            here = list(library())
        except ImportError as error:
            print(f"missing: {name} ({error})")
            continue
        contestants += [c for c in here if not only or any(fnmatch(c.name, p) for p in only)]
    if not contestants:
        sys.exit(f"no contestant matches {' '.join(only)}")
    return contestants


# -- the report ------------------------------------------------------------------------------------


def ratios(above: Turns | None, below: Turns | None, part: str) -> list[float]:
    """Return the ratios of two contestants' times, round by round; nothing if there are none."""
    if above is None or below is None or above.failure or below.failure:
        return []
    if not (above.seconds(part) and below.seconds(part)):
        return []
    pairs = zip(above.seconds(part), below.seconds(part), strict=True)
    return [a / b for a, b in pairs]


def fastest_peer(results: Results, part: str) -> str | None:
    """Return the name of the fastest contestant that is not ours, if there is any."""
    peers = [n for n, t in results.items() if not n.startswith(OURS) and not t.failure]
    peers = [name for name in peers if results[name].seconds(part)]
    return min(peers, key=lambda name: results[name].median(part), default=None)


def number(x: float) -> str:
    """Write a number with three digits, or all of those before the point."""
    if x == 0 or not math.isfinite(x):
        return f"{x:g}"
    return f"{x:.{max(0, 2 - math.floor(math.log10(abs(x))))}f}"


def spread(numbers: Sequence[float], unit: float = 1.0) -> str:
    """Write the median, the smallest and the largest; nothing if there are none."""
    if len(numbers) < 2:
        return "".join(number(x / unit) for x in numbers)
    median, low, high = (number(f(numbers) / unit) for f in (statistics.median, min, max))
    return f"{median} ({low}-{high})"


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a Markdown table, names to the left and numbers to the right."""
    table = [list(head), *map(list, rows)]
    widths = [max(3, *map(len, column)) for column in zip(*table, strict=True)]
    table.insert(1, ["-" * widths[0], *(f"{'-' * (w - 1)}:" for w in widths[1:])])
    for first, *rest in table:
        cells = [
            f"{first:{widths[0]}}",
            *(f"{c:>{w}}" for c, w in zip(rest, widths[1:], strict=True)),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


def print_against_ours(
    results: Results, threads: int, columns: Mapping[str, Callable[[Any], str]]
) -> None:
    """Print a line for each contestant of one part, with the ratio of its time to each of ours.

    `columns` turn the outcome into text.
    """
    names = [name for name, turns in results.items() if not turns.failure]
    peer = fastest_peer(results, WORK)
    against = [name for name in names if name.startswith(OURS)]
    if peer is not None and not against:
        against = [peer]
    lines = []
    for name in names:
        turns = results[name]
        lines.append([name, spread(turns.seconds(WORK))])
        lines[-1] += [spread(ratios(turns, results[base], WORK)) for base in against]
        lines[-1] += [f"{turns.processors(WORK):.2f}"]
        lines[-1] += [column(turns.outcome) for column in columns.values()]
    shorter = [f"/ {name.removeprefix(f'{OURS}: ')}" for name in against]
    print_table(["", "seconds (min-max)", *shorter, "CPUs", *columns], lines)
    if peer is not None:
        print(f"the fastest peer: {peer}")
    print_greedy(results, WORK, threads)
    print_failures(results)
    print_others(results)


def print_greedy(results: Results, part: str, threads: int) -> None:
    """Print which contestants used more threads than allowed."""
    for name, turns in results.items():
        used = [lap.processors for lap in turns.laps.get(part, ()) if lap.processors is not None]
        if used and min(used) > threads + 0.1:
            print(f"{name} uses more threads than it was given ({part})")


def print_failures(results: Results) -> None:
    """Print which contestants failed, and why."""
    for name, turns in results.items():
        if turns.failure:
            print(f"{name} failed: {turns.failure}")


def print_others(results: Results) -> None:
    """Print the share of the machine that other processes took while contestants were timed."""
    laps = [lap for turns in results.values() for of_part in turns.laps.values() for lap in of_part]
    known = [(lap.others, lap.seconds) for lap in laps if lap.others is not None]
    if not known:
        return
    others, seconds = map(sum, zip(*known, strict=True))
    if seconds < 1.0:  # the system counts in hundredths of a second
        print("too short to tell what other processes took")
        return
    share = max(0.0, others / (seconds * (os.cpu_count() or 1)))
    print(f"other processes took {share:.0%} of the machine", end="")
    print(": TOO MUCH, the ratios are not fair" if share > TOO_MUCH else "", flush=True)
