"""What lanes cost: models boosted together against one model alone.

    python benchmarks/lanes.py                      # 1,000,000 x 50, some minutes
    python benchmarks/lanes.py --rows 50000         # a quick look

Boosting only, on codes that are made once: GLog, real response, guarded steps, 255 bins.  The
models differ in their gains, from 2 to 16; with "small gains" from 1/4, where steps are shortened
and need a search for their minimiser.  As in a search, lanes keep no rounds; the model alone keeps
its own.  The contestants take turns; ratios to the model alone are medians of the turns' ratios.
Run it on an idle machine, see `peers.py`.
"""

import argparse
import statistics
import time

import numpy as np

from benchmarks.data import make_synthetic
from peers import machine_time, processor
from properboost import ProperBoostClassifier
from properboost.losses import GLog
from properboost.rows import read_rows
from properboost.table import open_table
from properboost.training import Training, find_sides, prepare, start

CONTESTANTS = {  # gains (first, last, how many), selection
    "1 model": ((4.0, 4.0, 1), "greedy"),
    "4 lanes": ((2.0, 16.0, 4), "greedy"),
    "8 lanes": ((2.0, 16.0, 8), "greedy"),
    "16 lanes": ((2.0, 16.0, 16), "greedy"),
    "16 lanes, small gains": ((0.25, 16.0, 16), "greedy"),
    "1 model, cyclic": ((4.0, 4.0, 1), "cyclic"),
    "16 lanes, cyclic": ((2.0, 16.0, 16), "cyclic"),
}


def boost(
    training: Training, gains: tuple[float, float, int], selection: str, rounds: int
) -> float:
    """Return the seconds one table takes; `rounds` of them, or a cycle, are boosted."""
    n = gains[2]
    boosting = start(
        ProperBoostClassifier(),
        training,
        np.repeat(find_sides(training.class_of, 2), n, axis=0),
        [GLog(gain) for gain in np.geomspace(*gains)],
        [None] * n,
        [0.0] * n,
        selection=selection,
        keep_rounds=n == 1,
    )
    tables = rounds if selection == "greedy" else len(training.binning.features)
    begin = time.perf_counter()
    boosting.advance(rounds if selection == "greedy" else 1)
    return (time.perf_counter() - begin) / tables


def main() -> None:
    """Run the race and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    problem = make_synthetic(arguments.rows, arguments.features)
    model = ProperBoostClassifier(n_jobs=arguments.threads)
    table = open_table(model, problem.X, reset=True)
    rows = read_rows(problem.y, table.n_rows, None, None)
    training = prepare(model, table, rows, rows.sort())
    print(f"{processor()}; {arguments.rows:,} x {arguments.features}, {arguments.threads} threads")
    seconds: dict[str, list[float]] = {name: [] for name in CONTESTANTS}
    before = machine_time()
    for turn in range(arguments.repeats + 1):
        for name, contestant in CONTESTANTS.items():
            taken = boost(training, *contestant, 2 if turn == 0 else arguments.rounds)
            if turn > 0:
                seconds[name].append(taken)
    for name, own in seconds.items():
        alone = seconds["1 model, cyclic" if name.endswith("cyclic") else "1 model"]
        ratios = [a / b for a, b in zip(own, alone, strict=True)]
        print(
            f"{name:<24}{1e3 * statistics.median(own):8.2f} ms a table"
            f"{statistics.median(ratios):8.2f} times ({min(ratios):.2f} to {max(ratios):.2f})"
        )
    print(f"processor time of the whole machine meanwhile: {machine_time() - before:.0f} s")


if __name__ == "__main__":
    main()
