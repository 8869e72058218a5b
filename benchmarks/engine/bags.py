"""The cost of bags: a model of 16 bags against one plain fit, from the array to the model.

    python -m benchmarks.engine.bags                              # minutes
    python -m benchmarks.engine.bags --setting greedy --rows 100000 --repeats 1   # a quick look

Both take turns at the same table and settings; a ratio is within a turn.  One more fit each, after
the race, measures memory: the peak beyond the memory before, so without the table itself.
Run it on an idle machine, see `peers/fit.py`.
"""

from typing import Any

from benchmarks.lib.cli import blocks, make_parser, start
from benchmarks.lib.data import Problem
from benchmarks.lib.libraries import Setting, make_properboost
from benchmarks.lib.memory import PeakMemory
from benchmarks.lib.race import (
    OURS,
    WORK,
    Results,
    in_one,
    print_failures,
    print_others,
    print_table,
    race,
    ratios,
    spread,
)

BAGS = 16
MEBI = 2**20


SETTINGS = {
    "greedy": Setting(rows=1_000_000),
    "cyclic": Setting(rows=1_000_000, parameters={"selection": "cyclic"}),
    "defaults": Setting(
        rows=1_000_000,
        parameters={
            "selection": "unbiased",
            "weak_learner__max_cells": "auto",
            "weak_learner__smoothing": None,
            "gain": None,
        },
    ),
    "adult": Setting("adult"),
    "wide": Setting(rows=20_000, columns=200),
}


def fit(setting: Setting, problem: Problem, outer_bags: int) -> Any:
    """Fit a model."""
    return make_properboost(setting, **setting.parameters, outer_bags=outer_bags).fit(*problem)


def weigh(setting: Setting, problem: Problem, outer_bags: int) -> str:
    """Return the peak memory of a fit, in MiB."""
    if not PeakMemory.supported:
        return ""
    with PeakMemory() as memory:
        fit(setting, problem, outer_bags)
    return f"{memory.extra / MEBI:,.0f}"


def report(name: str, setting: Setting, problem: Problem, results: Results) -> None:
    """Print a line for each number of bags."""
    alone, together = results.values()
    rows, columns = problem.X.shape
    lines = []
    for turns, n_bags in ((alone, 0), (together, BAGS)):
        lines.append([
            f"{name}, {rows:,} x {columns}, {n_bags} bags",
            spread(turns.seconds(WORK)),
            spread(ratios(turns, alone, WORK)),
            weigh(setting, problem, n_bags),
        ])  # fmt: skip
    print_table(["", "fit, s (min-max)", "plain fits", "memory, MiB"], lines)
    print_failures(results)
    print_others(results)


def main() -> None:
    """Race, for each setting."""
    parser = make_parser(__doc__, settings=SETTINGS, default=list(SETTINGS))
    arguments, record = start(parser)
    for name in arguments.setting:
        for setting in blocks(SETTINGS[name], arguments):
            problem = setting.load()
            contestants = [
                in_one(f"{OURS}: {n} bags", lambda setting, rows, n=n: fit(setting, rows, n))
                for n in (0, BAGS)
            ]
            results = race(contestants, arguments.repeats, setting, problem)
            record.add(name, setting, results)
            report(name, setting, problem, results)


if __name__ == "__main__":
    main()
