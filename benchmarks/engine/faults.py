"""Workers that die or freeze in a fit of a Dask collection: are the bits the same, and the time?

    python -m benchmarks.engine.faults                     # 20 trials of each kind, half an hour
    python -m benchmarks.engine.faults --trials 3 --kinds during freeze --models tree
    python -m benchmarks.engine.faults --peers 5           # xgboost.dask and lightgbm.dask as well

A trial fits a small table on three workers.  A worker drawn at random gets a signal at a moment
drawn at random, uniformly over the calls of the fit:

- *before*, *after*: SIGKILL right before or right after a call to all workers;
- *during*: SIGKILL while such a call runs;
- *freeze*: SIGSTOP at a like moment; no connection breaks, so that only the deadline detects it;
- *two*: a second SIGKILL, to another worker, within the 12 calls after the first, so that it often
  hits the recovery;
- *reading*: SIGKILL before there are calls, while the fit finds bins.

The model file must then be that of a fit in memory, byte for byte.  Seconds lost are those beyond
the median of undisturbed fits on the same cluster.  Workers that were killed come back, and trials
wait for them; if one does not, a new cluster is started.  A fit that has not ended after `--limit`
seconds counts as hung.

Peers are killed once, at a moment drawn uniformly over the time of a fit, each on a new cluster.
"""

import contextlib
import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.lib.cli import make_plain_parser, print_machine
from benchmarks.lib.data import Problem, make_synthetic
from benchmarks.lib.race import print_table

KINDS = ("before", "during", "after", "freeze", "two", "reading")
MODELS: dict[str, dict[str, Any]] = {
    "table": {"weak_learner": "table"},
    "cyclic": {"selection": "cyclic", "n_estimators": 20},
    "tree": {"weak_learner": "tree", "response": "newton", "n_estimators": 30},
    "pairs": {"interactions": 3},
}
WORKERS, CHUNKS, SOON = 3, 8, 12
FIRST = 5  # fits without a fault


@dataclass
class Cluster:
    """Workers in processes, and a client; a new one replaces it if a worker does not come back."""

    client: Any = None
    local: Any = None
    pids: dict[str, int] = field(default_factory=dict)

    def ready(self) -> None:
        """Wait until all workers are there and answer, on a new cluster if need be."""
        from distributed import Client, LocalCluster

        if self.client is not None:
            try:
                self.client.wait_for_workers(WORKERS, timeout=20)
                self.pids = self.client.run(os.getpid)
                self.client.run(_import)
                return
            except Exception as error:  # some worker does not come back
                print(f"a new cluster ({type(error).__name__}: {error})", flush=True)
                self.close()
        self.local = LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        )
        self.client = Client(self.local)
        self.pids = self.client.run(os.getpid)
        self.client.run(_import)

    def close(self) -> None:
        """Close the cluster, in any state."""
        for pid in self.pids.values():
            send(pid, signal.SIGCONT)
        ended = in_time(10.0, lambda: (self.client.close(timeout=5), self.local.close(timeout=5)))
        if ended is None:
            for pid in self.pids.values():
                send(pid, signal.SIGKILL)
        self.client, self.local = None, None


def _import() -> None:
    import properboost.dask  # noqa: F401  # as a first fit would


def send(pid: int, sign: int) -> None:
    """Send a signal to a process, if it exists."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, sign)


def in_time(limit: float, run: Callable[[], Any]) -> list[Any] | None:
    """Return the value or the error of `run`, in a list; None if it exceeds the limit."""
    outcome: list[Any] = []

    def work() -> None:
        try:
            outcome.append(run())
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(limit)
    return None if thread.is_alive() else outcome


# -- striking --------------------------------------------------------------------------------------


@dataclass
class Strike:
    """A count of the calls to all workers, which sends signals at some of them."""

    kind: str = ""
    at: int = -1
    chance: random.Random = field(default_factory=random.Random)
    pids: dict[str, int] = field(default_factory=dict)
    calls: int = 0
    lost: dict[str, int] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        """Replace the function that calls all workers."""
        from properboost.dask import all_reduce, shards

        call_all = all_reduce.call

        def call(known: Any, lines: Any, *arguments: Any) -> Any:
            self.calls += 1
            workers = [line.worker.address for line in lines]
            here = self.calls == self.at
            if self.kind in ("before", "two") and here:
                self.strike(workers)
            if self.kind in ("during", "freeze") and here:
                median_time = statistics.median(self.times or [0.01])
                threading.Timer(self.chance.uniform(0, median_time), self.strike, [workers]).start()
            if self.kind == "two" and self.calls == self.at + self.second:
                self.strike(workers)
            started = time.perf_counter()
            result = call_all(known, lines, *arguments)
            self.times.append(time.perf_counter() - started)
            if self.kind == "after" and here:
                self.strike(workers)
            return result

        self.second = self.chance.randint(1, SOON)
        with patch.object(all_reduce, "call", call), patch.object(shards, "call", call):
            yield

    def strike(self, workers: list[str]) -> None:
        """Send the signal to one of these workers, drawn at random."""
        left = [w for w in workers if w not in self.lost and w in self.pids]
        if left:
            worker = self.chance.choice(sorted(left))
            self.lost[worker] = self.pids[worker]
            send(self.pids[worker], signal.SIGSTOP if self.kind == "freeze" else signal.SIGKILL)


# -- trials ----------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """The outcome of a trial."""

    seconds: float
    same: bool
    text: str = ""
    """The error, if there was one."""
    lost: int = 0


def make_bytes(model: Any) -> bytes:
    """Return a model's file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(path)
        return path.read_bytes()


def try_once(
    cluster: Cluster, fit: Callable[[Any], Any], expected: bytes, strike: Strike, limit: float
) -> Outcome:
    """Fit once, while the strike watches."""
    strike.pids = dict(cluster.pids)
    started = time.perf_counter()
    if strike.kind == "reading":
        delay = strike.chance.uniform(0, strike.at / 1000)
        threading.Timer(delay, strike.strike, [list(strike.pids)]).start()
    with strike.watch():
        fitted = in_time(limit, lambda: fit(cluster.client))
    seconds = time.perf_counter() - started
    if strike.kind == "freeze":  # the fit has given it up, and it can do no more work
        for pid in strike.lost.values():
            send(pid, signal.SIGKILL)
    if fitted is None:
        cluster.close()
        return Outcome(seconds, False, "hung", len(strike.lost))
    if isinstance(fitted[0], BaseException):
        error = f"{type(fitted[0]).__name__}: {fitted[0]}"
        return Outcome(seconds, False, error, len(strike.lost))
    same = make_bytes(fitted[0].to_local()) == expected
    return Outcome(seconds, same, "" if same else "another model", len(strike.lost))


def run_model(
    name: str, kinds: list[str], trials: int, limit: float, settings: dict[str, Any], rows: Problem
) -> None:
    """Print a line for each kind."""
    import dask.array as da
    from distributed import wait

    import properboost as pb
    from properboost.dask import DaskProperBoostClassifier

    settings = settings | MODELS[name]
    expected = make_bytes(pb.ProperBoostClassifier(**settings).fit(*rows))
    size = -(-len(rows.y) // CHUNKS)

    def fit(client: Any) -> Any:
        X = da.from_array(rows.X, chunks=(size, -1)).persist()
        wait(X)
        model = DaskProperBoostClassifier(client=client, deadline=3.0, **settings)
        return model.fit(X, rows.y)

    cluster = Cluster()
    cluster.ready()
    undisturbed, n_calls, before_calls = [], 0, 0.0
    for k in range(FIRST + 1):
        strike = Strike()
        outcome = try_once(cluster, fit, expected, strike, limit)
        if outcome.text:
            sys.exit(f"{name}, undisturbed: {outcome.text}")
        if k:  # the first is a warm-up
            undisturbed.append(outcome.seconds)
            n_calls, before_calls = strike.calls, outcome.seconds - sum(strike.times)
    usual = statistics.median(undisturbed)
    print(f"\n{name}: undisturbed {usual:.2f} s, {n_calls} calls; {trials} trials of each\n")
    lines = []
    for kind in kinds:
        outcomes = []
        for trial in range(trials):
            cluster.ready()
            chance = random.Random(f"{name} {kind} {trial}")
            at = int(1000 * before_calls) if kind == "reading" else chance.randint(1, n_calls)
            outcome = try_once(cluster, fit, expected, Strike(kind, at, chance), limit)
            outcomes.append(outcome)
            if outcome.text:
                print(f"{kind}, trial {trial}, call {at}: {outcome.text}", flush=True)
        lost = [outcome.seconds - usual for outcome in outcomes]
        lines.append(
            [
                kind, str(trials), str(sum(outcome.lost for outcome in outcomes)),
                str(sum(outcome.same for outcome in outcomes)),
                f"{statistics.median(lost):.2f}", f"{max(lost):.2f}",
            ]
        )  # fmt: skip
        print(*lines[-1], flush=True)
    print_table(["", "trials", "workers lost", "same bits", "s lost, median", "largest"], lines)
    cluster.close()


# -- peers -----------------------------------------------------------------------------------------


def fit_xgboost(client: Any, X: Any, y: Any, rounds: int) -> Any:
    """Fit stumps."""
    from xgboost import dask as dxgb

    parameters = {"objective": "binary:logistic", "max_depth": 1, "tree_method": "hist"}
    return dxgb.train(client, parameters, dxgb.DaskDMatrix(client, X, y), rounds)


def fit_lightgbm(client: Any, X: Any, y: Any, rounds: int) -> Any:
    """Fit stumps."""
    from lightgbm import DaskLGBMClassifier

    return DaskLGBMClassifier(client=client, n_estimators=rounds, num_leaves=2, verbose=-1).fit(
        X, y
    )


def run_peers(trials: int, limit: float, rows: Problem, rounds: int) -> None:
    """Print the outcome of each trial of the peers."""
    import dask.array as da

    size = -(-len(rows.y) // CHUNKS)
    for name, fit in {"xgboost.dask": fit_xgboost, "lightgbm.dask": fit_lightgbm}.items():
        for trial in range(trials):
            cluster = Cluster()
            cluster.ready()
            X = da.from_array(rows.X, chunks=(size, -1)).persist()
            y = da.from_array(rows.y, chunks=size).persist()

            def run(cluster: Cluster = cluster, fit: Any = fit, X: Any = X, y: Any = y) -> Any:
                return fit(cluster.client, X, y, rounds)

            run()
            started = time.perf_counter()
            run()
            usual = time.perf_counter() - started
            chance = random.Random(f"{name} {trial}")
            moment, pid = chance.uniform(0.1, 0.9) * usual, chance.choice([*cluster.pids.values()])
            threading.Timer(moment, send, [pid, signal.SIGKILL]).start()
            started = time.perf_counter()
            model = in_time(limit, run)
            seconds = time.perf_counter() - started
            if model is None:
                ending = "hung"
            elif isinstance(model[0], BaseException):
                ending = f"{type(model[0]).__name__}: {str(model[0]).strip().splitlines()[0]}"
            else:
                ending = "a model"
            print(f"{name}, killed at {moment:.2f} of {usual:.2f} s: {ending}; {seconds:.1f} s",
                  flush=True)  # fmt: skip
            cluster.close()


def main() -> None:
    """Run the trials, and print their outcomes."""
    parser = make_plain_parser(__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=150, help="of tables and pairs")
    parser.add_argument("--trials", type=int, default=20, help="of each kind")
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=[*KINDS])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=["table"])
    parser.add_argument("--limit", type=float, default=100.0, help="seconds until a fit is hung")
    parser.add_argument("--peers", type=int, default=0, help="trials of each peer")
    arguments = parser.parse_args()
    print_machine("distributed", "xgboost", "lightgbm")
    rows = make_synthetic(arguments.rows, arguments.columns)
    if arguments.kinds:
        for name in arguments.models:
            run_model(
                name, arguments.kinds, arguments.trials, arguments.limit,
                {"n_estimators": arguments.rounds}, rows,
            )  # fmt: skip
    if arguments.peers:
        run_peers(arguments.peers, arguments.limit, rows, arguments.rounds)
    sys.stdout.flush()
    os._exit(0)  # threads of fits that hang would be waited for


if __name__ == "__main__":
    main()
