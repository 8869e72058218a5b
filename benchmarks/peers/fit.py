"""Fit and score the same table with properboost and its peers.

    python -m benchmarks.peers.fit                              # 1,000,000 x 50, a few minutes
    python -m benchmarks.peers.fit --setting wide small adult   # other tables
    python -m benchmarks.peers.fit --setting trees              # 31 leaves a tree
    python -m benchmarks.peers.fit --setting levels5 levels6    # whole levels, and lines in leaves
    python -m benchmarks.peers.fit --setting trees levels5 --sample 0.13    # of the rows a tree
    python -m benchmarks.peers.fit --bins 64 255 --threads 1 2  # a block for each of the four
    python -m benchmarks.peers.fit --memory                     # and the memory of each fit
    python -m benchmarks.peers.fit --rows 100000 --only 'xgboost*' 'properboost*'

All have 100 rounds of depth 1 (two leaves a tree) or of 31 leaves, the same number of bins and
threads, the same learning rate, all rows and columns, no early stopping and no minimum leaf size
(see `lib/libraries.py`).  With `--sample`, all libraries that can do it grow each tree from a share
of the rows, drawn for it, and compute the leaves' values from these rows.  Each peer runs at its
fastest setting that does this work; where that depends on the table all its ways take part, and
"the fastest peer" is the fastest of everything that is not properboost.

- *fit* starts at the user's array or DataFrame (float32 in row-major order; LETTER is float64,
  ADULT a frame with its categories declared, or `adult-numeric`, numbers only) and ends at a fitted
  model, whatever formats a library makes in between.
- *binning* is the part of it before the first round.  A library with a format of binned data is
  timed inside the fit; the others bin once more, alone.  XGBoost bins a DMatrix only in training.
- *boosting* is the rest: fit less binning, turn by turn.
- *scores* are the raw predictions of as many held-out rows.
- *memory*, with `--memory`, is the peak of a fit beyond the memory before it (input and libraries),
  after a fit of a few rows; each contestant has a new process.
- *log loss* is on held-out rows.  Stumps with Newton's response are the algorithm of the peers, so
  they have to reach the same.  The other two are different models, with `learning_rate=1`: real is
  another value in the leaves, and a table is not a stump.  It has a value for every bin, so the
  same rounds fit far more, and can overfit more.

"x" is the speedup over the fastest peer: the median of the rounds' ratios.  Contestants take turns,
see `lib/race.py`.  If the processor time of a fit shows that a library used more threads than
allowed, the report names it.

Run it on an idle machine.  The OpenMP threads of the peers spin while they wait, and on a busy
machine they wait for each other's turn on a processor.  They lose far more by it than properboost,
whose threads sleep, so that the ratios flatter it.  The report has the share of the machine that
other processes took, with a warning if it is large.
"""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from benchmarks.lib.cli import blocks, make_parser, print_heading, start
from benchmarks.lib.data import Problem, log_loss
from benchmarks.lib.libraries import LIBRARIES, Setting, Way, find_way, probability
from benchmarks.lib.memory import PeakMemory
from benchmarks.lib.race import (
    Clock,
    Contestant,
    Results,
    fastest_peer,
    find,
    number,
    print_failures,
    print_greedy,
    print_others,
    print_table,
    progress,
    race,
    ratios,
    spread,
)

WARM_UP_ROWS = 1_000  # of the fit before the one whose memory is measured

TALL = Setting(rows=1_000_000)
SETTINGS = {
    "tall": TALL,
    "wide": replace(TALL, rows=20_000, columns=2_000),
    "small": Setting("letter"),
    "adult": Setting("adult"),
    "adult-numeric": Setting("adult-numeric"),
    "mixed": replace(TALL, data="mixed"),
    "trees": replace(TALL, leaves=31, learning_rate=0.1),
    "levels5": replace(TALL, leaves=32, levels=5, learning_rate=0.1),
    "levels6": replace(TALL, leaves=64, levels=6, learning_rate=0.1),
}

PARTS = {"fit": ("s", 1.0), "binning": ("s", 1.0), "boosting": ("s", 1.0), "scores": ("ms", 1e-3)}


@dataclass
class FitOutcome:
    """The log loss of a contestant's fit, and its memory."""

    log_loss: float
    memory: float | None = None  # bytes


def take_turn(
    way: Way, clock: Clock, setting: Setting, train: Problem, test: Problem
) -> Callable[[], FitOutcome]:
    """Fit and score once."""
    with way.limit(setting):
        with clock("fit"):
            data: Any = train
            if way.bin is not None and way.takes_bins:
                with clock("binning"):
                    data = way.bin(setting, train)
            model = way.fit(setting, data)
        del data
        if way.bin is not None and not way.takes_bins:
            with clock("binning"):
                way.bin(setting, train)
        if way.bin is not None:
            clock.note("boosting", clock["fit"] - clock["binning"])
        with clock("scores"):
            raw = way.score(setting, model, test.X)
    return lambda: FitOutcome(log_loss(test.y, probability(raw)))


# -- memory ----------------------------------------------------------------------------------------


def add_memory(results: Results, setting: Setting) -> None:
    """Measure the memory of each contestant's fit, each in a new process."""
    if not PeakMemory.supported:
        print("the peak of memory cannot be measured here")
        return
    context = multiprocessing.get_context("spawn")
    for name, turns in results.items():
        if turns.failure:
            continue
        progress(f"memory: {name}")
        try:
            with ProcessPoolExecutor(1, mp_context=context) as process:
                turns.outcome.memory = process.submit(measure_memory, name, setting).result()
        except Exception as error:  # such as too little memory
            print(f"the memory of {name} cannot be measured: {error}")
    progress("")


def measure_memory(name: str, setting: Setting) -> int:
    """Return the peak of a fit beyond the memory before it, in bytes."""
    way = find_way(name)
    train = setting.load()

    def fit(rows: Problem) -> Any:
        data = way.bin(setting, rows) if way.bin is not None and way.takes_bins else rows
        return way.fit(setting, data)

    with way.limit(setting):
        fit(train.rows(slice(WARM_UP_ROWS)))
        with PeakMemory() as memory:
            fit(train)
    return memory.extra


# -- the report ------------------------------------------------------------------------------------


def report(results: Results, setting: Setting) -> None:
    """Print a line for each contestant."""
    fastest = {part: fastest_peer(results, part) for part in PARTS}
    with_memory = any(
        t.outcome is not None and t.outcome.memory is not None for t in results.values()
    )
    head = [""]
    for part, (unit, _) in PARTS.items():
        head += [f"{part}, {unit} (min-max)", *(["x"] if fastest[part] else [])]
    head += ["log loss", *(["memory, MB"] if with_memory else []), "CPUs"]
    lines = []
    for name, turns in results.items():
        if turns.failure:
            continue
        line = [name]
        for part, (_, unit) in PARTS.items():
            line.append(spread(turns.seconds(part), unit))
            if fastest[part]:
                line.append(spread(ratios(results[fastest[part]], turns, part)))
        line.append(f"{turns.outcome.log_loss:.4f}")
        if with_memory:
            line.append("" if turns.outcome.memory is None else number(turns.outcome.memory / 1e6))
        line.append(f"{turns.processors('fit'):.2f}")
        lines.append(line)
    print_table(head, lines)
    if any(fastest.values()):
        print("x: times as fast as the fastest peer, ", end="")
        print("; ".join(f"{part}: {name}" for part, name in fastest.items() if name))
    print_greedy(results, "fit", setting.threads)
    print_failures(results)
    print_others(results)


def main() -> None:
    """Race, for each setting."""
    parser = make_parser(__doc__, settings=SETTINGS, default=["tall"])
    parser.add_argument("--learning-rate", type=float,
                        help="of all but real stumps and tables (default: 1, at which 100 "
                        "stumps fit best; times do not depend on it)")  # fmt: skip
    parser.add_argument("--sample", type=float, help="the share of the rows a tree is grown from")
    parser.add_argument("--memory", action="store_true", help="measure the memory of the fits too")
    arguments, record = start(parser, *LIBRARIES)
    ways = find(LIBRARIES, arguments.only)
    for name in arguments.setting:
        for setting in blocks(SETTINGS[name], arguments, "learning_rate", "sample"):
            train, test = setting.load(), setting.load(test=True)
            rows, columns = train.X.shape
            print_heading(
                f"{name}: {setting.data} {rows:,} x {columns}, {len(test.y):,} held out",
                f"{setting.bins} bins, {setting.threads} threads, {setting.rounds} rounds, "
                f"{setting.leaves} leaves, learning rate {setting.learning_rate:g}"
                + (f", {setting.sample:g} of the rows a tree" if setting.sample < 1.0 else ""),
                repeats=arguments.repeats,
            )
            contestants = [
                Contestant(way.name, partial(take_turn, way))
                for way in ways
                if way.takes_part(setting)
            ]
            results = race(contestants, arguments.repeats, setting, train, test)
            if arguments.memory:
                add_memory(results, setting)
            report(results, setting)
            record.add(name, setting, results)


if __name__ == "__main__":
    main()
