"""Fits over codes in a file against codes in memory: seconds, and the same model.

    python -m benchmarks.engine.mapped                      # 4,000,000 x 20, from the disk
    python -m benchmarks.engine.mapped --rows 20000000 --share 0.25     # as root: a control group

The fits take turns, each in a new process.  Before a fit over mapped codes the file leaves the page
cache, so that all of it is read from the disk.  With `--share` a control group limits the memory of
such a process: to the need of a fit besides codes, and this share of the codes.  That takes Linux
and root's rights.  The last column has the MB that it read from the disk.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.engine.streams import find_peak, find_status, make_file

SELECTIONS = ("cyclic", "greedy")
WAYS = ("memory", "mapped")
SLACK = 8.0  # MB, of the kernel for a process
V1, V2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")


def fit(way: str, selection: str, path: str, args: argparse.Namespace) -> dict[str, Any]:
    """Fit in this process; return times, memory and a digest of the model."""
    import properboost as pb

    table = pb.QuantizedTable.open(path, mmap=way == "mapped")
    model = pb.ProperBoostClassifier(
        weak_learner="stump", selection=selection, n_jobs=args.threads, learning_rate=0.3,
        # A cycle is a round per feature.
        n_estimators=args.cycles * (1 if selection == "cyclic" else table.shape[1]),
    )  # fmt: skip
    before_anonymous, before_resident = find_status("RssAnon"), find_status("VmRSS")
    before, begin, read = time.process_time(), time.perf_counter(), _count_read()
    model.fit(table)
    cpu, seconds = time.process_time() - before, time.perf_counter() - begin
    measures = {"cpu": cpu, "seconds": seconds, "read": _count_read() - read, "peak": find_peak()}
    # Without libraries, which lie in the page cache.
    measures["anonymous"] = before_anonymous + find_peak() - before_resident
    with tempfile.TemporaryDirectory() as folder:
        model.save_model(Path(folder) / "model.json")
        content = (Path(folder) / "model.json").read_bytes()
    return {
        **measures,
        "codes": table.nbytes / 2**20,
        "digest": hashlib.sha256(content).hexdigest(),
    }


def _count_read() -> float:
    """Return the MB that this process has read from the disk."""
    for line in Path("/proc/self/io").read_text().splitlines():
        if line.startswith("read_bytes:"):
            return int(line.split()[1]) / 2**20
    return float("nan")


def drop(path: Path) -> None:
    """Drop a file from the page cache."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@contextmanager
def limited(megabytes: float | None) -> Iterator[Path | None]:
    """Make a control group with a limit of memory; None is no limit."""
    if megabytes is None:
        yield None
        return
    first = V1.is_dir()
    group = (V1 if first else V2) / f"properboost-{os.getpid()}"
    group.mkdir()
    try:
        limit = group / ("memory.limit_in_bytes" if first else "memory.max")
        limit.write_text(str(int(megabytes * 2**20)))
        yield group / "cgroup.procs"
    finally:
        group.rmdir()


def main() -> int:
    """Run both ways in turns, and print their medians."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--cycles", type=int, default=2, help="rounds per feature")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--share", type=float, help="of the codes that memory may hold")
    parser.add_argument("--selections", nargs="+", choices=SELECTIONS, default=SELECTIONS)
    parser.add_argument("--file", help="rows in Parquet, or a table that was saved (.codes)")
    parser.add_argument("--fit", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.fit:
        print(json.dumps(fit(*args.fit, args)))
        return 0
    import properboost as pb

    out = Path("out")  # a temporary folder of the system may be in memory
    out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as folder:
        rows, codes = Path(args.file or Path(folder) / "rows.parquet"), Path(folder) / "rows.codes"
        if not rows.exists():
            make_file(rows, args.rows, args.columns, 0.0)
        if rows.suffix == ".codes":
            codes = rows
        else:
            pb.QuantizedTable.from_batches(rows, "y").save(codes)
        runs_of: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for _ in range(args.repeats):
            for selection in args.selections:
                limit = None
                for way in WAYS:
                    drop(codes)
                    with limited(limit) as group:
                        command = [sys.executable, "-m", "benchmarks.engine.mapped"]
                        command += ["--threads", str(args.threads), "--cycles", str(args.cycles)]
                        command += ["--fit", way, selection, str(codes)]
                        enter = f"echo $$ > {group}; exec" if group else "exec"
                        done = subprocess.run(
                            ["sh", "-c", f'{enter} "$@"', "sh", *command],
                            check=True, stdout=subprocess.PIPE, text=True,
                        )  # fmt: skip
                    measures = json.loads(done.stdout)
                    runs_of.setdefault((selection, way), []).append(measures)
                    if args.share is not None and way == "memory":
                        limit = (
                            measures["anonymous"] - (1.0 - args.share) * measures["codes"] + SLACK
                        )
    print(f"{'':16} {'CPU, s':>8} {'s':>8} {'peak, MB':>9} {'read, MB':>9}")
    for (selection, way), runs in runs_of.items():
        of = {name: median(run[name] for run in runs) for name in runs[0] if name != "digest"}
        print(
            f"{selection:8} {way:7} {of['cpu']:8.2f} {of['seconds']:8.2f} {of['peak']:9.0f} "
            f"{of['read']:9.0f}"
        )
    same = True
    for selection in args.selections:
        both = [runs_of[selection, way] for way in WAYS]
        ratios = [b["seconds"] / a["seconds"] for a, b in zip(*both, strict=True)]
        print(
            f"{selection}: mapped takes {median(ratios):.2f} times as long "
            f"({min(ratios):.2f} to {max(ratios):.2f})"
        )
        same &= len({run["digest"] for runs in both for run in runs}) == 1
    print("the same models" if same else "DIFFERENT MODELS")
    return not same


if __name__ == "__main__":
    sys.exit(main())
