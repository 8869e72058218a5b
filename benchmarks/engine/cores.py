"""The gain of more threads: the same fits, searches and scores with 1, 2, 4, 8 and 16 of them.

    python -m benchmarks.engine.cores                                  # up to all processors
    python -m benchmarks.engine.cores --setting tall wide --threads 1 4 16
    python -m benchmarks.engine.cores --rows 100000 --repeats 1        # a quick look

A fit starts at the user's array and ends at a model, binning included; scores are the raw
predictions of as many held-out rows.  "x" is the speedup over the fewest threads, turn by turn.
The script checks that all numbers of threads give the same scores, to the bit.
More threads than the machine has processors are left out.

Contestants take turns, see `lib/race.py`.  Run it on an idle machine, see `peers/fit.py`.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.lib.cli import blocks, make_parser, print_heading, start
from benchmarks.lib.data import Problem
from benchmarks.lib.libraries import Setting, make_properboost
from benchmarks.lib.race import (
    OURS,
    Clock,
    Contestant,
    Results,
    find,
    print_failures,
    print_others,
    print_table,
    race,
    ratios,
    spread,
)

TALL = Setting(rows=1_000_000)
SETTINGS = {
    "tall": TALL,
    "wide": replace(TALL, rows=20_000, columns=2_000),
    "small": Setting(rows=4_000, columns=16),
}
PARTS = ("fit", "scores")


def _search(setting: Setting) -> Any:
    from properboost import ProperBoostClassifierCV

    return ProperBoostClassifierCV(
        {
            "gain": [0.25, 1.0, 4.0, 16.0],
            "n_estimators": setting.rounds // 4,
            "selection": "greedy",
        },
        effort=None,
        cv=5,
        max_bins=setting.bins,
        n_jobs=setting.threads,
    )


WAYS: dict[str, Callable[[Setting], Any]] = {
    "table, real": partial(make_properboost, weak_learner="table", response="real"),
    "stump, newton": partial(make_properboost, weak_learner="stump", response="newton"),
    "tree, newton": lambda setting: make_properboost(
        replace(setting, leaves=31, learning_rate=0.1), weak_learner="tree", response="newton"
    ),
    "levels, newton": lambda setting: make_properboost(
        replace(setting, levels=6, learning_rate=0.1),
        weak_learner="tree", weak_learner__grow_policy="symmetric", response="newton",
    ),
    "search": _search,
}  # fmt: skip


def make_contestants(setting: Setting, threads: list[int]) -> Iterator[Contestant]:
    """Yield every way with every number of threads."""

    def turn(
        way: Callable[[Setting], Any], n: int, clock: Clock, train: Problem, test: Problem
    ) -> Callable[[], bytes]:
        model = way(replace(setting, threads=n))
        with clock("fit"):
            model.fit(*train)
        with clock("scores"):
            raw = model.decision_function(test.X)
        return raw.tobytes

    for name, way in WAYS.items():
        for n in threads:
            yield Contestant(f"{OURS}: {name}, {n}", partial(turn, way, n))


def report(results: Results, threads: list[int]) -> None:
    """Print a line for each way and part."""
    lines = []
    for name in WAYS:
        there = {n: results.get(f"{OURS}: {name}, {n}") for n in threads}
        done = {n: turns for n, turns in there.items() if turns is not None and not turns.failure}
        if not done:
            continue
        base = done[min(done)]
        same = all(turns.outcome == base.outcome for turns in done.values())
        for part in PARTS:
            line = [f"{name}: {part}"]
            for n in threads:
                turns = done.get(n)
                line.append("" if turns is None else spread(turns.seconds(part)))
            line += [spread(ratios(base, done.get(n), part)) for n in threads[1:]]
            lines.append([*line, "yes" if same else "NO"])
    head = [f"{n}, s (min-max)" for n in threads] + [f"x {n}" for n in threads[1:]]
    print_table(["threads", *head, "same bits"], lines)
    print_failures(results)
    print_others(results)


def main() -> None:
    """Race, for each setting."""
    parser = make_parser(__doc__, settings=SETTINGS, default=["tall"])
    arguments, record = start(parser)
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    counts = sorted(arguments.threads or [1, 2, 4, 8, 16])
    threads = [n for n in counts if n <= here] or [1]
    arguments.threads = None
    for name in arguments.setting:
        for setting in blocks(SETTINGS[name], arguments):
            contestants = find({OURS: partial(make_contestants, setting, threads)}, arguments.only)
            train, test = setting.load(), setting.load(test=True)
            rows, columns = train.X.shape
            print_heading(
                f"{name}: {rows:,} x {columns}, {setting.bins} bins, {setting.rounds} rounds",
                repeats=arguments.repeats,
            )
            results = race(contestants, arguments.repeats, train, test)
            report(results, threads)
            record.add(name, setting, results)


if __name__ == "__main__":
    main()
