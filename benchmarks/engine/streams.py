"""Fit rows of a Parquet file in batches and in memory: CPU seconds, peak memory, the same model.

    python -m benchmarks.engine.streams                     # 2,000,000 x 20 float64
    python -m benchmarks.engine.streams --rows 20000000 --missing 0.1 --repeats 3

The ways take turns, each in a new process, and write a model file; the exit status is 1 if the
files differ.  "To codes" is the time of `QuantizedTable.from_batches`.  Peaks are of the process,
with Python and its libraries; "at start" is the memory of these alone.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

WAYS = ("batches", "memory")
BLOCK = 500_000  # rows made at a time, and of a row group


def make_file(path: Path, n_rows: int, n_columns: int, missing: float) -> None:
    """Write rows whose labels follow the first columns."""
    random = np.random.default_rng(0)
    schema = pa.schema([(f"x{j}", pa.float64()) for j in range(n_columns)] + [("y", pa.int32())])
    with pq.ParquetWriter(path, schema) as writer:
        for begin in range(0, n_rows, BLOCK):
            n = min(BLOCK, n_rows - begin)
            X = random.standard_normal((n_columns, n))
            score = X[0] + 0.5 * np.abs(X[1]) - 0.3 * X[2] + random.standard_normal(n)
            hidden = [random.random(n) < missing if missing else None for _ in X]
            columns = [
                pa.array(x, mask=is_missing) for x, is_missing in zip(X, hidden, strict=True)
            ]
            columns.append(pa.array((score > 0).astype(np.int32)))
            writer.write_table(pa.table(columns, schema=schema))


def fit(way: str, path: str, threads: int, model_path: str) -> dict[str, Any]:
    """Fit in this process; return times, memory and a digest of the model."""
    import properboost as pb

    import_module("pyarrow.dataset")
    start = find_peak()
    model = pb.ProperBoostClassifier(
        weak_learner="stump", n_estimators=20, n_jobs=threads, learning_rate=0.3,
        screening=None,  # a quantized table always has all rows, as rows in memory get here
    )  # fmt: skip
    before, begin = time.process_time(), time.perf_counter()
    if way == "batches":
        table = pb.QuantizedTable.from_batches(path, "y", n_jobs=threads)
        codes, codes_peak = time.process_time() - before, find_peak()
        model.fit(table)
    else:
        whole = pq.read_table(path)
        codes, codes_peak = float("nan"), float("nan")
        model.fit(whole.drop_columns(["y"]), whole["y"].to_numpy())
    cpu, seconds = time.process_time() - before, time.perf_counter() - begin
    model.save_model(model_path)
    digest = hashlib.sha256(Path(model_path).read_bytes()).hexdigest()
    return {
        "codes": codes,
        "cpu": cpu,
        "seconds": seconds,
        "start": start,
        "codes_peak": codes_peak,
        "peak": find_peak(),
        "digest": digest,
    }


def find_peak() -> float:
    """Return the peak memory of this process, in MB.

    getrusage would include the parent's memory at the fork.
    """
    return find_status("VmHWM")


def find_status(name: str) -> float:
    """Return an entry of this process's memory status, in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{name}:")[2].split()[0]) / 1024


def main() -> int:
    """Run both ways in turns, and print their medians."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--missing", type=float, default=0.0, help="the share of missing values")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--file", help="write the rows here, or read them if the file exists")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model.json")
        if args.way:
            print(json.dumps(fit(args.way, args.file, args.threads, model)))
            return 0
        path = Path(args.file or Path(folder) / "rows.parquet")
        if not path.exists():
            make_file(path, args.rows, args.columns, args.missing)
        runs_of: dict[str, list[dict[str, Any]]] = {way: [] for way in WAYS}
        for way in WAYS * args.repeats:
            command = [sys.executable, "-m", "benchmarks.engine.streams", "--way", way]
            command += ["--file", str(path), "--threads", str(args.threads)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            runs_of[way].append(json.loads(done.stdout))
    print(
        f"{'':8} {'to codes, s':>12} {'CPU, s':>8} {'s':>8} {'at start':>9} {'to codes':>9} MB peak"
    )
    for way, runs in runs_of.items():
        of = {name: median(run[name] for run in runs) for name in runs[0] if name != "digest"}
        print(
            f"{way:8} {of['codes']:12.2f} {of['cpu']:8.2f} {of['seconds']:8.2f} "
            f"{of['start']:9.0f} {of['codes_peak']:9.0f} {of['peak']:7.0f}"
        )
    digests = {run["digest"] for runs in runs_of.values() for run in runs}
    print("the same model" if len(digests) == 1 else f"{len(digests)} DIFFERENT MODELS")
    return len(digests) != 1


if __name__ == "__main__":
    sys.exit(main())
