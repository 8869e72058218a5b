"""Raw predictions: properboost's tables against the peers' stumps, and trees.

    python -m benchmarks.peers.prediction                           # 1,000,000 x 50, a minute
    python -m benchmarks.peers.prediction --setting trees5 trees6   # 100 trees of 32 and 64 leaves
    python -m benchmarks.peers.prediction --threads 1 2
    python -m benchmarks.peers.prediction --instruction-sets avx512 avx2 baseline
    python -m benchmarks.peers.prediction --rows 20000 --repeats 1  # a quick look

A model that leaves columns out need not read them, which is fast.  So here the labels depend on all
columns alike; the script checks that the raw predictions do, too.  For `tables`, properboost has a
shape function over all bins for every column (cyclic selection, two cycles); a peer has 100 stumps,
about two per column.  More rounds would cost the peers more and properboost nothing, because its
rounds add up to one shape function per column.  For `trees5` and `trees6` all have 100 trees, which
split whole levels or the best leaf; bonsai returns probabilities, and its time includes a few
milliseconds to turn them into raw predictions.

- *table*: the raw predictions of `--rows` rows, in one call.
- *one row*: those of a single row, the median of many calls; most of it is Python's share.

With `--instruction-sets`, the script runs itself once for each, in a process with
PROPERBOOST_INSTRUCTION_SET set; the peers take part each time.

"x" is the speedup over the fastest peer.  Contestants take turns, see `lib/race.py`.
Run it on an idle machine, see `peers/fit.py`.
"""

import os
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.lib.cli import Record, blocks, make_parser, parse, print_heading, print_machine
from benchmarks.lib.data import Problem, make_synthetic
from benchmarks.lib.libraries import LIBRARIES, Setting, Way, probability, properboost_way
from benchmarks.lib.race import (
    OURS,
    Clock,
    Contestant,
    Results,
    fastest_peer,
    find,
    print_failures,
    print_greedy,
    print_others,
    print_table,
    race,
    ratios,
    spread,
)

FITTING_ROWS = 200_000
SINGLE_ROWS = 200
STRENGTH = 0.5  # of each column's effect on the log-odds
CYCLES = 2
INSTRUCTION_SET = "PROPERBOOST_INSTRUCTION_SET"


def properboost() -> list[Way]:
    """Return the way with a table for every column."""
    LIBRARIES[OURS]()  # raises ImportError where it is missing
    return [properboost_way("tables of all bins", selection="cyclic", n_estimators=CYCLES)]


# The ways of a library score alike: one of each is enough.
PEERS = [
    "lightgbm: by column", "xgboost: Quantile*", "catboost: its*", "scikit-learn: *", "bonsai: *",
]  # fmt: skip

TABLES = Setting(rows=1_000_000)
SETTINGS = {
    "tables": TABLES,
    "trees5": replace(TABLES, leaves=32, levels=5, learning_rate=0.1),
    "trees6": replace(TABLES, leaves=64, levels=6, learning_rate=0.1),
}


def find_ways(name: str, setting: Setting, only: list[str] | None) -> list[Way]:
    """Return the ways that take part."""
    libraries = {**LIBRARIES, OURS: properboost} if name == "tables" else LIBRARIES
    ways = find(libraries, only or [f"{OURS}: *", *PEERS])
    return [way for way in ways if way.takes_part(setting)]


def make_problem(n_rows: int, n_columns: int) -> Problem:
    """Draw normal columns, and labels that depend on all of them alike."""
    X, _ = make_synthetic(n_rows, n_columns)
    log_odds = STRENGTH * X.sum(axis=1)
    return Problem(X, (np.random.default_rng(0).random(n_rows) < probability(log_odds)).view("i1"))


def count_used(way: Way, setting: Setting, model: Any, X: NDArray[Any]) -> int:
    """Count the columns that the score depends on: a shuffle of such a column changes it."""
    rows = X[:1_000]
    before = np.asarray(way.score(setting, model, rows))
    used = 0
    for j in range(rows.shape[1]):
        shuffled = rows.copy()
        shuffled[:, j] = np.roll(rows[:, j], 1)
        used += not np.array_equal(before, way.score(setting, model, shuffled))
    return used


def make_contestant(way: Way, setting: Setting, problem: Problem) -> Contestant:
    """Fit the model, and print a warning if it does not use all columns."""
    with way.limit(setting):
        few = problem.rows(slice(FITTING_ROWS))
        takes_bins = way.takes_bins and way.bin is not None
        model = way.fit(setting, way.bin(setting, few) if takes_bins else few)
        used = count_used(way, setting, model, problem.X)
    if used < setting.columns:
        print(f"{way.name} uses {used} of {setting.columns} columns: its time means little")
    return Contestant(way.name, partial(take_turn, way, model))


def take_turn(way: Way, model: Any, clock: Clock, setting: Setting, X: NDArray[Any]) -> None:
    """Score all rows at once, and then single rows."""
    with way.limit(setting):
        with clock("table"):
            way.score(setting, model, X)
        calls = []
        for i in range(SINGLE_ROWS):
            row = X[i : i + 1]
            start = time.perf_counter()
            way.score(setting, model, row)
            calls.append(time.perf_counter() - start)
        clock.note("one row", statistics.median(calls))


def report(results: Results, setting: Setting) -> None:
    """Print a line for each contestant."""
    cells = setting.rows * setting.columns
    fastest = {part: fastest_peer(results, part) for part in ("table", "one row")}
    lines = []
    for name, turns in results.items():
        if turns.failure:
            continue
        times = {
            part: spread(ratios(results.get(peer or ""), turns, part))
            for part, peer in fastest.items()
        }
        seconds, one = turns.seconds("table"), turns.seconds("one row")
        lines.append([name, spread(seconds, 1e-3), times["table"], spread(seconds, 1e-9 * cells)])
        lines[-1] += [spread(one, 1e-6), times["one row"], f"{turns.processors('table'):.2f}"]
    head = ["", "table, ms (min-max)", "x", "ns a row and column", "one row, us (min-max)", "x"]
    print_table([*head, "CPUs"], lines)
    print_greedy(results, "table", setting.threads)
    print_failures(results)
    print_others(results)


def run_with(instruction_set: str) -> None:
    """Run this script in a new process with this instruction set."""
    words = sys.argv[1:]
    at = words.index("--instruction-sets")
    end = next((i for i in range(at + 1, len(words)) if words[i].startswith("-")), len(words))
    print(f"\n== {instruction_set} ==", flush=True)
    subprocess.run(
        [sys.executable, "-m", "benchmarks.peers.prediction", *words[:at], *words[end:]],
        env={**os.environ, INSTRUCTION_SET: instruction_set},
        check=True,
    )


def main() -> None:
    """Race, or run a process for each instruction set."""
    parser = make_parser(__doc__, settings=SETTINGS, default=["tables"], repeats=9)
    parser.add_argument("--instruction-sets", nargs="+", metavar="SET", help="a process for each")
    arguments = parse(parser)
    if arguments.instruction_sets and arguments.json:
        parser.error("--json takes one instruction set: set the variable yourself")
    if arguments.instruction_sets:
        for instruction_set in arguments.instruction_sets:
            run_with(instruction_set)
        return
    machine = print_machine(*LIBRARIES)
    record = Record(arguments.json, {**machine, INSTRUCTION_SET: os.environ.get(INSTRUCTION_SET)})
    for name in arguments.setting:
        for setting in blocks(SETTINGS[name], arguments):
            table = f"{name}: {setting.rows:,} x {setting.columns} float32"
            print_heading(table, f"{setting.threads} threads", repeats=arguments.repeats)
            problem = make_problem(setting.rows, setting.columns)
            ways = find_ways(name, setting, arguments.only)
            contestants = [make_contestant(way, setting, problem) for way in ways]
            results = race(contestants, arguments.repeats, setting, problem.X)
            report(results, setting)
            record.add(f"prediction, {name}", setting, results)


if __name__ == "__main__":
    main()
