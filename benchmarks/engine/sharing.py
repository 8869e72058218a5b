"""Two fits at a time on one machine: do they get into each other's way?

    python -m benchmarks.engine.sharing                                 # three tables, some minutes
    python -m benchmarks.engine.sharing --setting small
    python -m benchmarks.engine.sharing --rows 20000 --repeats 1 --setting tall  # a quick look

Two processes have two threads each, as joblib starts them for a search with `n_jobs=2` over
estimators with threads: four threads on two processors.  Threads that spin while they wait take the
processor from those they wait for, which can make this many times slower than one fit after the
other.  Both ways take turns; the workers are warm and have the table already:

- *one after the other*: two fits in this process;
- *at a time*: the same two, one in each of two loky workers.

A small table is fitted many times over, so that the time to hand out the work does not count.  The
ratio is within a turn; below 1 the workers are faster.  Run it on an idle machine, see
`peers/fit.py`.
"""

import os
from dataclasses import dataclass
from functools import partial
from typing import Any

from joblib import Parallel, delayed

from benchmarks.lib.cli import blocks, make_parser, start
from benchmarks.lib.data import Problem, load_once
from benchmarks.lib.libraries import Setting, make_properboost
from benchmarks.lib.race import (
    OURS,
    WORK,
    Clock,
    Contestant,
    Results,
    print_failures,
    print_others,
    print_table,
    race,
    ratios,
    spread,
)

FITS = 2  # at a time, or one after the other
ATTEMPTS = 20


@dataclass(frozen=True)
class SharingSetting(Setting):
    """A table, and the number of times it is fitted."""

    times: int = 1


SETTINGS = {
    "small": SharingSetting("letter", times=50),
    "middle": SharingSetting(rows=50_000, columns=20, times=10),
    "tall": SharingSetting(rows=1_000_000),
}


def load(setting: SharingSetting) -> Problem:
    """Return the table, which each process makes once (workers reuse their modules)."""
    return load_once(setting.data, setting.rows, setting.columns)


def fit(setting: SharingSetting) -> int:
    """Fit the same table several times; returns the process's id."""
    for _ in range(setting.times):
        make_properboost(setting).fit(*load(setting))
    return os.getpid()


def one_after_the_other(clock: Clock, setting: SharingSetting) -> None:
    """Fit in this process."""
    load(setting)
    with clock(WORK):
        for _ in range(FITS):
            fit(setting)


def at_a_time(workers: Any, clock: Clock, setting: SharingSetting) -> None:
    """Fit in the workers, each once."""
    for _ in range(ATTEMPTS):
        with clock(WORK):
            processes = workers(delayed(fit)(setting) for _ in range(FITS))
        if len(set(processes)) == FITS:
            return
    raise RuntimeError("one worker took all the work: the table is too small")


def report(by_setting: dict[str, tuple[SharingSetting, Results]]) -> None:
    """Print a line for each table."""
    lines = []
    for name, (setting, results) in by_setting.items():
        alone, together = results.values()
        rows, columns = load(setting).X.shape
        line = [f"{name}, {rows:,} x {columns}", f"{setting.threads}"]
        line += [spread(turns.seconds(WORK)) for turns in (alone, together)]
        line.append(spread(ratios(together, alone, WORK)))
        lines.append(line)
    head = ["", "threads", "one after the other, s (min-max)", "at a time, s (min-max)", "ratio"]
    print_table(head, lines)
    for name, (_, results) in by_setting.items():
        print_failures(results)
        print(f"{name}: ", end="")
        print_others(results)


def main() -> None:
    """Race, for each table."""
    parser = make_parser(__doc__, settings=SETTINGS, default=list(SETTINGS), repeats=7)
    arguments, record = start(parser, "joblib")
    by_setting = {}
    with Parallel(n_jobs=FITS, backend="loky", pre_dispatch="all", batch_size=1) as workers:
        contestants = [
            Contestant(f"{OURS}: one after the other", one_after_the_other),
            Contestant(f"{OURS}: at a time", partial(at_a_time, workers)),
        ]
        for name in arguments.setting:
            for setting in blocks(SETTINGS[name], arguments):
                results = race(contestants, arguments.repeats, setting)
                by_setting[f"{name}, {setting.bins} bins"] = setting, results
                record.add(name, setting, results)
    print(f"\nmedian of {arguments.repeats} interleaved turns\n")
    report(by_setting)


if __name__ == "__main__":
    main()
