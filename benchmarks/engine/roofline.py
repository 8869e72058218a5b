"""Each phase of a fit against the limits of this machine.

    python -m benchmarks.engine.roofline                           # 1,000,000 x 50, some minutes
    python -m benchmarks.engine.roofline --bins 255 --threads 2
    python -m benchmarks.engine.roofline --rows 50000 --repeats 1  # a quick look

Three limits are measured, with each number of threads (the loops are in `lib/kernels.py`):

- *memory*: the bytes a second that are read from a large array;
- *adds*: the histogram adds a second with codes, weights and sums all in the first cache, by the
  fastest of three loops: a feature at a time and four, in float32, and one in whole numbers of 64
  bits that reads eight codes as a word, as the engine does;
- *look-ups*: the entries of tables that are added up a second, likewise (two loops again).

A phase must move bytes and make adds or look-ups: `count_phases` has the least numbers of each.  A
byte that is written without a read before counts twice, because its line is read first.  The limit
of a phase is the largest of its three times, and the share reached is the limit by the time taken.
The time of a boosting round is split by a line over the number of features: its intercept is the
row pass (margins moved, new weights), its slope the histogram and the search of one feature.

The limits and the phases take turns, see `lib/race.py`; medians are compared.  Run it on an
idle machine, see `peers/fit.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.lib import engine
from benchmarks.lib.cli import blocks, make_parser, print_heading, start
from benchmarks.lib.data import Problem
from benchmarks.lib.kernels import (
    CODES,
    Shared,
    add_four_histograms,
    add_histograms,
    add_words,
    look_up,
    look_up_four,
    over_and_over,
    read,
)
from benchmarks.lib.libraries import Setting, make_properboost, properboost_way
from benchmarks.lib.race import (
    OURS,
    WORK,
    Clock,
    Contestant,
    Results,
    number,
    print_failures,
    print_others,
    print_table,
    race,
    spread,
)

READ_BYTES = 2**29  # many times the size of caches
CACHED_ROWS = 1_024  # of 4 features: 4 KB of codes, 4 or 8 of weights and of sums
CACHED_FEATURES = 4
CACHED_TIMES = 20_000
FEATURES = (0.2, 0.4, 0.6, 0.8, 1.0)  # of all, of which a round is timed
CYCLES = 2  # of the model for prediction: every feature has a table of all bins

ADDS = {
    "adds, one feature": (add_histograms, np.float32),
    "adds, four features": (add_four_histograms, np.float32),
    "adds, words of codes": (add_words, np.int64),
}
LOOK_UPS = {"look-ups, one feature": look_up, "look-ups, four features": look_up_four}


# -- the limits ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Limits:
    """The rates of the machine, a second."""

    bytes: float
    adds: float
    look_ups: float


def limit_contestants(threads: int) -> list[Contestant]:
    """Return the contestants that measure the limits."""
    shared = Shared(threads)
    words = np.ones(READ_BYTES // 8, dtype=np.uint64)
    made = [_timed("memory", lambda: shared(len(words), lambda share: read(words[share])))]
    made += [_timed(name, _in_cache(shared, *of_adds)) for name, of_adds in ADDS.items()]
    for name, kernel in LOOK_UPS.items():
        made.append(_timed(name, _in_cache(shared, kernel, tables_first=True)))
    return made


def _timed(name: str, work: Callable[[], Any]) -> Contestant:
    def turn(clock: Clock) -> None:
        with clock(WORK):
            work()

    return Contestant(name, turn)


def _in_cache(
    shared: Shared, kernel: Any, dtype: Any = np.float32, *, tables_first: bool = False
) -> Callable[[], None]:
    """Return work on separate arrays for each thread, which fit its first cache."""
    random = np.random.default_rng(0)
    repeat = over_and_over(kernel)
    arrays = []
    for _ in range(shared.threads):
        codes = random.integers(0, CODES, (CACHED_FEATURES, CACHED_ROWS), dtype=np.uint8)
        of_row = (1_000 * random.random(CACHED_ROWS)).astype(dtype)
        of_code = np.zeros((CACHED_FEATURES, CODES), dtype=dtype)
        arrays.append((codes, of_code, of_row) if tables_first else (codes, of_row, of_code))
    return lambda: shared(shared.threads, lambda share: repeat(CACHED_TIMES, *arrays[share.start]))


def find_limits(results: Results, threads: int) -> Limits:
    """Turn the medians into rates."""
    cached = CACHED_ROWS * CACHED_FEATURES * CACHED_TIMES * threads
    return Limits(
        bytes=READ_BYTES / results["memory"].median(WORK),
        adds=cached / min(results[name].median(WORK) for name in ADDS),
        look_ups=cached / min(results[name].median(WORK) for name in LOOK_UPS),
    )


# -- the phases ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Phase:
    """The least work of a phase; `seconds` reads its time from the results."""

    name: str
    bytes: float
    adds: float
    look_ups: float
    seconds: Callable[[Results], float]


def count_phases(n: int, d: int, s: int) -> list[Phase]:
    """Return the least work for n rows of d float32 columns, with edges from s rows."""
    return [
        # The sample is read, and sorted by three digits: each value counted and put somewhere.
        Phase("edges", 4 * s * d, 2 * 3 * s * d, 0, _seconds("edges")),
        # Values and the rows' order are read, codes written; a value is looked up at least once.
        Phase("encode", n * (4 * d + 8) + 2 * n * d, 0, n * d, _seconds("encode")),
        Phase("counting of codes", n * d, n * d, 0, _seconds("count")),
        # The code of one feature, the margin there and back, the new weight.
        Phase("row pass", n * (1 + 4 + 4 + 2 * 4), 0, n, _row_pass),
        # Codes, and the weights once for four features.
        Phase("histogram and search", 2 * n * d, n * d, 0, partial(_histograms, d)),
        # Values are read, scores written; a value is looked up, and its code in the table.
        Phase("prediction", n * (4 * d + 2 * 8), 0, 2 * n * d, _seconds("prediction")),
    ]


def _seconds(part: str) -> Callable[[Results], float]:
    return lambda results: results[f"{OURS}: {part}"].median(WORK)


def _fit_rounds(results: Results) -> tuple[float, float]:
    """Return slope and intercept of a round's seconds over the number of features."""
    points = [
        (turns.outcome, turns.median(WORK))
        for turns in results.values()
        if turns.outcome is not None
    ]
    slope, intercept = np.polyfit(*zip(*points, strict=True), 1)
    return float(slope), float(intercept)


def _row_pass(results: Results) -> float:
    return _fit_rounds(results)[1]


def _histograms(features: int, results: Results) -> float:
    return features * _fit_rounds(results)[0]


def phase_contestants(setting: Setting, problem: Problem) -> tuple[list[Contestant], int]:
    """Return the contestants that measure the phases, and the sample size for edges."""
    X, y = problem
    model = make_properboost(setting)
    stages = engine.Stages(model, X, y)
    way = properboost_way("prediction", selection="cyclic", n_estimators=CYCLES)
    fitted = way.fit(setting, problem)
    made = [
        _timed(f"{OURS}: edges", partial(stages.find_edges, setting.threads)),
        _timed(f"{OURS}: encode", partial(stages.encode, setting.threads)),
        _timed(f"{OURS}: count", partial(stages.count, setting.threads)),
        _timed(f"{OURS}: prediction", partial(way.score, setting, fitted, X)),
    ]
    for share in FEATURES:
        features = max(1, round(share * setting.columns))
        training = engine.prepare(model, np.ascontiguousarray(X[:, :features]), y)
        turn = partial(boost, model, training, setting.rounds, features)
        made.append(Contestant(f"{OURS}: round of {features} features", turn))
    return made, stages.sampled_rows


def boost(model: Any, training: Any, rounds: int, features: int, clock: Clock) -> Callable[[], int]:
    """Time a round over this number of features."""
    engine.clock_rounds(clock, engine.start(model, training), rounds)
    return lambda: features


# -- the report ------------------------------------------------------------------------------------


def report(results: Results, setting: Setting, phases: list[Phase]) -> None:
    """Print the limits, and a line for each phase."""
    limits = find_limits(results, setting.threads)
    print(f"memory {limits.bytes / 1e9:.1f} GB, {limits.adds / 1e9:.2f} G adds, ", end="")
    print(f"{limits.look_ups / 1e9:.2f} G look-ups a second\n")
    lines = []
    for phase in phases:
        allowed = {
            "memory": phase.bytes / limits.bytes,
            "adds": phase.adds / limits.adds,
            "look-ups": phase.look_ups / limits.look_ups,
        }
        bound = max(allowed, key=allowed.__getitem__)
        try:
            taken = phase.seconds(results)
        except (KeyError, TypeError, ValueError):  # the contestant failed, and is named below
            continue
        work = (phase.bytes, phase.adds, phase.look_ups)
        lines.append([phase.name, *(number(w / 1e6) if w else "" for w in work)])
        lines[-1] += [number(1e3 * allowed[bound]), bound, number(1e3 * taken)]
        lines[-1].append(f"{allowed[bound] / taken:.0%}")
    head = ["phase", "MB", "M adds", "M look-ups", "limit, ms", "by", "taken, ms", "share reached"]
    print_table(head, lines)
    print("\na round, by the number of features:")
    rounds = [(turns.outcome, turns) for turns in results.values() if turns.outcome is not None]
    print_table(
        ["features", "ms (min-max)"], [[f"{f}", spread(t.seconds(WORK), 1e-3)] for f, t in rounds]
    )
    print_failures(results)
    print_others(results)


def main() -> None:
    """Race limits and phases, for each number of bins and threads."""
    parser = make_parser(__doc__, repeats=7)
    parser.set_defaults(threads=[1, 2])
    arguments, record = start(parser, "numba")
    for setting in blocks(Setting(rows=1_000_000, rounds=40), arguments):
        table = f"{setting.rows:,} x {setting.columns} float32, {setting.bins} bins"
        print_heading(f"{table}, {setting.threads} threads", repeats=arguments.repeats)
        problem = setting.load()
        contestants, sampled_rows = phase_contestants(setting, problem)
        results = race([*limit_contestants(setting.threads), *contestants], arguments.repeats)
        report(results, setting, count_phases(*problem.X.shape, sampled_rows))
        record.add("roofline", setting, results)


if __name__ == "__main__":
    main()
