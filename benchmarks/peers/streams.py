"""From Parquet to a model of stumps, in batches: CPU seconds and peak memory.

    python -m benchmarks.peers.streams                      # 4,000,000 x 20 float64, one thread
    python -m benchmarks.peers.streams --rows 20000000 --repeats 1 --ways properboost lightgbm

Each library reads the same file in its documented way for rows beyond memory:
`QuantizedTable.from_batches`; LightGBM's `Sequence`, which decodes a row group at a time; XGBoost's
`DataIter`, into a QuantileDMatrix and, as "xgboost, disk", into an ExtMemQuantileDMatrix, whose
batches lie in files; ferrisboost's reader, which has no separate step for codes.  They take turns,
each in a new process.  "To codes" is the time before boosting.  Peaks are of the process, with
Python and its libraries; "at start" is the memory of these alone.  A missing library is left out.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from benchmarks.engine.streams import find_peak, make_file

ROUNDS, RATE = 20, 0.3
BATCH = 2**16  # rows, as ours

Stage = Callable[[], Any]


def fit_ours(path: str, threads: int) -> tuple[Stage, Callable[[Any], Any]]:
    """Return a function that makes codes, and one that boosts them."""
    import properboost as pb

    import_module("pyarrow.dataset")
    model = pb.ProperBoostClassifier(
        weak_learner="stump", n_estimators=ROUNDS, n_jobs=threads, learning_rate=RATE
    )
    return lambda: pb.QuantizedTable.from_batches(path, "y", n_jobs=threads), model.fit


def fit_lightgbm(path: str, threads: int) -> tuple[Stage, Callable[[Any], Any]]:
    """Return the same functions for LightGBM."""
    import lightgbm as lgb

    file = pq.ParquetFile(path)
    ends = np.cumsum([file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)])
    names = [name for name in file.schema_arrow.names if name != "y"]

    class Rows(lgb.Sequence):  # type: ignore[misc]
        batch_size = BATCH
        open_group: tuple[int, Any] = (-1, None)

        def __len__(self) -> int:
            return int(ends[-1])

        def __getitem__(self, index: Any) -> Any:
            if isinstance(index, slice):
                begin, stop = index.start, min(index.stop, len(self))
                parts = []
                while begin < stop:
                    group = self._open(begin)
                    first = ends[group] - len(self.open_group[1])
                    parts.append(self.open_group[1][begin - first : stop - first])
                    begin += len(parts[-1])
                return parts[0] if len(parts) == 1 else np.concatenate(parts)
            group = self._open(index)
            return self.open_group[1][index - ends[group]]

        def _open(self, row: int) -> int:
            group = int(np.searchsorted(ends, row, side="right"))
            if group != self.open_group[0]:
                self.open_group = (-1, None)
                read = file.read_row_group(group, names, use_threads=False)
                self.open_group = (group, np.column_stack([c.to_numpy() for c in read.columns]))
            return group

    parameters = {
        "objective": "binary", "num_leaves": 2, "max_bin": 255, "learning_rate": RATE,
        "num_threads": threads, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0.0,
        "verbosity": -1,
    }  # fmt: skip

    def make() -> Any:
        labels = file.read(["y"], use_threads=False)["y"].to_numpy()
        return lgb.Dataset(Rows(), labels, params=parameters).construct()

    return make, lambda made: lgb.train(parameters, made, ROUNDS)


def fit_xgboost(path: str, threads: int, *, on_disk: bool) -> tuple[Stage, Callable[[Any], Any]]:
    """Return the same functions for XGBoost."""
    import xgboost as xgb

    folder = tempfile.TemporaryDirectory()

    class Rows(xgb.DataIter):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(cache_prefix=str(Path(folder.name) / "rows") if on_disk else None)
            self.reset()

        def reset(self) -> None:
            file = pq.ParquetFile(path)
            # Batches on the disk are as many files, so these are larger.
            size = 500_000 if on_disk else BATCH
            self.batches = file.iter_batches(size, use_threads=False)

        def next(self, input_data: Any) -> bool:
            batch = next(self.batches, None)
            if batch is None:
                return False
            columns = [c.to_numpy() for c in batch.columns]
            input_data(
                data=np.column_stack(columns[:-1]).astype(np.float32, copy=False),
                label=columns[-1],
            )
            return True

    kind = xgb.ExtMemQuantileDMatrix if on_disk else xgb.QuantileDMatrix
    parameters = {
        "objective": "binary:logistic", "max_depth": 1, "max_bin": 256, "learning_rate": RATE,
        "nthread": threads, "min_child_weight": 0.0, "lambda": 0.0, "tree_method": "hist",
    }  # fmt: skip
    return (
        lambda: (kind(Rows(), max_bin=256, nthread=threads), folder),
        lambda made: xgb.train(parameters, made[0], ROUNDS),
    )


def fit_ferrisboost(path: str, threads: int) -> tuple[Stage | None, Callable[[Any], Any]]:
    """Return the same functions for ferrisboost, which has no separate step for codes."""
    import ferrisboost

    parameters = {
        "objective": "binary:logistic", "max_depth": 1, "max_bin": 255, "eta": RATE,
        "nthread": threads, "min_child_weight": 0.0, "lambda": 0.0,
    }  # fmt: skip
    return None, lambda _: ferrisboost.train(parameters, path, label="y", num_boost_round=ROUNDS)


WAYS: dict[str, Callable[[str, int], tuple[Stage | None, Callable[[Any], Any]]]] = {
    "properboost": fit_ours,
    "lightgbm": fit_lightgbm,
    "xgboost": lambda path, threads: fit_xgboost(path, threads, on_disk=False),
    "xgboost, disk": lambda path, threads: fit_xgboost(path, threads, on_disk=True),
    "ferrisboost": fit_ferrisboost,
}


def measure(way: str, path: str, threads: int) -> dict[str, float]:
    """Fit in this process; return times and memory."""
    make, boost = WAYS[way](path, threads)
    start, before = find_peak(), time.process_time()
    begin = time.perf_counter()
    made, codes = None, float("nan")
    if make is not None:
        made = make()
        codes = time.process_time() - before
    boost(made)
    return {
        "codes": codes,
        "cpu": time.process_time() - before,
        "seconds": time.perf_counter() - begin,
        "start": start,
        "peak": find_peak(),
    }


def main() -> None:
    """Run all ways in turns, and print their medians."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=[*WAYS])
    parser.add_argument("--file", help="write the rows here, or read them if the file exists")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.way:
        print(json.dumps(measure(args.way, args.file, args.threads)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(args.file or Path(folder) / "rows.parquet")
        if not path.exists():
            make_file(path, args.rows, args.columns, 0.0)
        runs_of: dict[str, list[dict[str, float]]] = {way: [] for way in args.ways}
        for way in args.ways * args.repeats:
            command = [sys.executable, "-m", "benchmarks.peers.streams", "--way", way]
            command += ["--file", str(path), "--threads", str(args.threads)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                print(f"{way}: {done.stderr.strip().splitlines()[-1]}")
                continue
            runs_of[way].append(json.loads(done.stdout.splitlines()[-1]))
            print(
                way, {name: round(value, 2) for name, value in runs_of[way][-1].items()}, flush=True
            )
    print(f"\n{'':14} {'to codes, s':>12} {'CPU, s':>8} {'s':>8} {'at start':>9} {'peak, MB':>9}")
    for way, runs in runs_of.items():
        if runs:
            of = {name: median(run[name] for run in runs) for name in runs[0]}
            print(
                f"{way:14} {of['codes']:12.2f} {of['cpu']:8.2f} {of['seconds']:8.2f} "
                f"{of['start']:9.0f} {of['peak']:9.0f}"
            )


if __name__ == "__main__":
    main()
