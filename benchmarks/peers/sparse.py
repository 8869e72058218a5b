"""Fit and predict a wide sparse matrix: CPU seconds and peak memory, compared with peers.

    python -m benchmarks.peers.sparse                          # 200,000 x 20,000, 50 entries a row
    python -m benchmarks.peers.sparse --values counts          # columns of few values
    python -m benchmarks.peers.sparse --ways properboost lightgbm --repeats 3

A twentieth of the columns have an effect on the label.  All libraries fit the same CSR matrix with
100 rounds and their other defaults, and predict the training rows.  They take turns, each in a new
process.  Peaks are of the process, with Python, its libraries and the matrix; "at start" is the
memory of these alone.  Losses are of other rows.  A missing library is left out.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.engine.streams import find_peak
from benchmarks.lib.cli import make_plain_parser

ROUNDS = 100


def make_files(
    folder: Path, n_rows: int, n_columns: int, entries: int, values: str, n_test: int = 20_000
) -> None:
    """Write a matrix and its labels, and those of test rows."""
    random = np.random.default_rng(0)
    effects = np.where(random.random(n_columns) < 0.05, 1.5 * random.normal(size=n_columns), 0.0)
    for name, n in (("train", n_rows), ("test", n_test)):
        columns = random.integers(0, n_columns, n * entries)
        drawn = random.exponential(size=n * entries)
        numbers = drawn if values == "reals" else np.floor(1.0 + 2.0 * drawn)
        rows = np.repeat(np.arange(n), entries)
        X = sparse.csr_matrix((numbers, (rows, columns)), shape=(n, n_columns))
        y = (X @ effects + random.logistic(size=n) > 0.0).astype(int)
        sparse.save_npz(folder / f"{name}.npz", X, compressed=False)
        np.save(folder / f"{name}.npy", y)


def make_ours(threads: int) -> Any:
    """Return our classifier at its defaults."""
    import properboost as pb

    return pb.ProperBoostClassifier(n_estimators=ROUNDS, n_jobs=threads, weak_learner="table")


def make_our_trees(threads: int) -> Any:
    """Return our classifier with trees."""
    import properboost as pb

    return pb.ProperBoostClassifier(weak_learner="tree", n_estimators=ROUNDS, n_jobs=threads)


def make_lightgbm(threads: int) -> Any:
    """Return LightGBM's classifier."""
    import lightgbm as lgb

    return lgb.LGBMClassifier(n_estimators=ROUNDS, n_jobs=threads, verbosity=-1)


def make_xgboost(threads: int) -> Any:
    """Return XGBoost's classifier."""
    import xgboost as xgb

    return xgb.XGBClassifier(n_estimators=ROUNDS, n_jobs=threads)


WAYS: dict[str, Callable[[int], Any]] = {
    "properboost": make_ours,
    "properboost, trees": make_our_trees,
    "lightgbm": make_lightgbm,
    "xgboost": make_xgboost,
}


def find_log_loss(model: Any, X: Any, y: NDArray[np.int64]) -> float:
    """Return the mean log loss of rows."""
    return -float(np.mean(np.log(model.predict_proba(X)[np.arange(len(y)), y])))


def measure(way: str, folder: Path, threads: int) -> dict[str, float]:
    """Fit and predict in this process; return times, memory and the loss of test rows."""
    X, y = sparse.load_npz(folder / "train.npz"), np.load(folder / "train.npy")
    model = WAYS[way](threads)
    start, before = find_peak(), time.process_time()
    model.fit(X, y)
    fitted = time.process_time()
    model.predict_proba(X)
    times = {"fit": fitted - before, "predict": time.process_time() - fitted}
    memory = {"start": start, "peak": find_peak()}
    loss = find_log_loss(model, sparse.load_npz(folder / "test.npz"), np.load(folder / "test.npy"))
    return {**times, **memory, "log loss": loss}


def run_child(way: str, folder: Path, threads: int) -> dict[str, float] | None:
    """Measure a way in a new process; None where it fails."""
    command = [sys.executable, "-m", "benchmarks.peers.sparse", "--way", way]
    command += ["--folder", str(folder), "--threads", str(threads)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        reasons = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        print(f"{way}: {reasons[-1]}")
        return None
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    print(way, {name: round(value, 3) for name, value in measured.items()}, flush=True)
    return measured


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the script's options."""
    parser = make_plain_parser(__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=20_000)
    parser.add_argument("--entries", type=int, default=50, help="of a row")
    parser.add_argument("--values", choices=["reals", "counts"], default="reals")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=[*WAYS])
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser


def main() -> None:
    """Run all ways in turns, and print their medians."""
    args = make_parser().parse_args()
    if args.way:
        print(json.dumps(measure(args.way, args.folder, args.threads)))
        return
    runs_of: dict[str, list[dict[str, float]]] = {way: [] for way in args.ways}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder, args.rows, args.columns, args.entries, args.values)
        for way in args.ways * args.repeats:
            measured = run_child(way, folder, args.threads)
            if measured is not None:
                runs_of[way].append(measured)
    columns = ("fit", "predict", "start", "peak", "log loss")
    print(f"\n{'':18} " + " ".join(f"{column:>9}" for column in columns))
    for way, runs in runs_of.items():
        if runs:
            medians = (median(run[column] for run in runs) for column in columns)
            print(f"{way:18} " + " ".join(f"{value:9.3f}" for value in medians))


if __name__ == "__main__":
    main()
