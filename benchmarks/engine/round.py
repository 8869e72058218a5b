"""A whole boosting round against a plain histogram, in nanoseconds a row and feature.

    python -m benchmarks.engine.round                           # 1,000,000 x 50, some minutes
    python -m benchmarks.engine.round --bins 255 --threads 1
    python -m benchmarks.engine.round --rows 20000 --repeats 1  # a quick look

A round makes every feature's histogram, searches all of them, moves the margins of all rows and
makes their new weights.  Its time is that of the rounds after the first ten: a fit of 100 less one
of 10, over the same codes.  There are two kinds: tables with the real response (guarded steps), and
stumps with Newton's (two sums a cell).

It is compared with the least work that a round could consist of: for each feature
`h[code[i]] += w[i]` in float32 over the same rows and codes, compiled by numba, with the features
shared among the same number of threads.  The ratio is within a turn.  Below 1 a whole round is
faster than the plain histograms alone.

All numbers of bins and threads take turns in one race, see `lib/race.py`.  Run it on an idle
machine, see `peers/fit.py`.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.lib import engine
from benchmarks.lib.cli import blocks, make_parser, print_heading, start
from benchmarks.lib.kernels import Shared
from benchmarks.lib.libraries import Setting, make_properboost
from benchmarks.lib.race import (
    WORK,
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

PASSES = 5  # of the plain histograms in a turn
PLAIN = "histogram"
KINDS: dict[str, dict[str, Any]] = {
    "table, real": {"weak_learner": "table", "response": "real"},
    "stump, newton": {"weak_learner": "stump", "response": "newton"},
}


def boost(parameters: dict[str, Any], setting: Setting, training: Any, clock: Clock) -> None:
    """Time a round."""
    model = make_properboost(setting, **parameters)
    boosting = engine.start(model, training, threads=setting.threads)
    engine.clock_rounds(clock, boosting, setting.rounds)


def add_up(
    shared: Shared, codes: NDArray[np.uint8], weight: NDArray[np.float32], clock: Clock
) -> None:
    """Time the plain histograms of all features."""
    with clock("passes"):
        for _ in range(PASSES):
            shared.histograms(codes, weight)
    clock.note(WORK, clock["passes"] / PASSES)


def name_contestant(kind: str, bins: int, threads: int) -> str:
    """Return the name of a contestant."""
    return f"{kind}, {bins} bins, {threads} threads"


def make_contestants(setting: Setting, training: Any, n_rows: int) -> list[Contestant]:
    """Return the contestants of one number of bins and threads."""
    weight = np.random.default_rng(0).random(n_rows, dtype=np.float32)
    turns = {
        kind: partial(boost, parameters, setting, training) for kind, parameters in KINDS.items()
    }
    turns[PLAIN] = partial(add_up, Shared(setting.threads), training.codes, weight)
    return [
        Contestant(name_contestant(k, setting.bins, setting.threads), t) for k, t in turns.items()
    ]


def report(results: Results, settings: list[Setting], n_rows: int) -> None:
    """Print a line for each kind of round, and for the plain histograms, in each setting."""
    lines = []
    for setting in settings:
        bins, threads = setting.bins, setting.threads
        plain = results.get(name_contestant(PLAIN, bins, threads))
        for kind in (*KINDS, PLAIN):
            turns = results.get(name_contestant(kind, bins, threads))
            if turns is None:
                continue
            alone = results.get(name_contestant(kind, bins, 1))
            lines.append([kind, f"{bins}", f"{threads}"])
            lines[-1].append(spread(turns.seconds(WORK), 1e-9 * n_rows * setting.columns))
            lines[-1].append(spread(ratios(turns, plain, WORK)))
            lines[-1].append(spread(ratios(alone, turns, WORK)))
    head = ["", "bins", "threads", "ns (min-max)", "times the histogram", "times one thread"]
    print_table(head, lines)
    print("ns: of a round, a row and feature; times one thread: as fast as with one")
    print_failures(results)
    print_others(results)


def main() -> None:
    """Race all numbers of bins and threads."""
    parser = make_parser(__doc__, repeats=7)
    parser.set_defaults(bins=[64, 255], threads=[1, 2])
    arguments, record = start(parser, "numba")
    settings = blocks(Setting(rows=1_000_000), arguments)
    problem = settings[0].load()
    contestants, trainings = [], {}
    for setting in settings:
        if setting.bins not in trainings:
            model = make_properboost(replace(setting, threads=max(arguments.threads)))
            trainings[setting.bins] = engine.prepare(model, *problem)
        contestants += make_contestants(setting, trainings[setting.bins], len(problem.y))
    chosen = find({"": lambda: contestants}, arguments.only)
    table = f"{setting.rows:,} x {setting.columns}"
    print_heading(f"{table}, {setting.rounds} rounds", repeats=arguments.repeats)
    results = race(chosen, arguments.repeats)
    report(results, settings, len(problem.y))
    record.add("round", settings, results)


if __name__ == "__main__":
    main()
