"""Faults drawn at random during fits of Dask collections: the same bits, or an error in time?

    python -m benchmarks.engine.fault_lot                  # 200 faults, most of an hour
    python -m benchmarks.engine.fault_lot --faults 20 --kinds frozen paused --seed 3

Three workers have a process and a thread each.  A trial draws a kind of fault, a model, and a
moment, which is one of the steps of an undisturbed fit: its calls of all workers, and its waits.
In three trials of ten it is one of the first few, in which rows are read and placed.  Kinds:

- *killed*: SIGKILL; the worker comes back at another address;
- *same address*: the same, and it comes back at its old address;
- *frozen*: SIGSTOP until the fit has ended;
- *thawed*: SIGSTOP, and SIGCONT after up to two deadlines;
- *paused*: its memory counts as short, and Dask pauses it, until the fit has ended;
- *retired*: `Client.retire_workers`, which closes it;
- *scaled*: `cluster.adapt` between one worker and three, from that moment on;
- *held*: a task of another client holds the GIL for longer than the deadline.

A second client meanwhile has tasks of half a second on all workers.  Each task must return its
number, and must have run once, unless it ran on a worker that was hit, or closed by `scaled`.

The model file must be that of a fit in memory, byte for byte; or there is an error, at most the
deadline and five seconds after the fault (for a fault that lasts, after the end of its start).  A
fit without a step for `--limit` seconds, or without an end after ten times as long, counts as hung.
Another load on the machine makes fits slow without bound, so the report has the longest wait of a
thread for a processor.
"""

import contextlib
import faulthandler
import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.engine.faults import in_time, make_bytes, send
from benchmarks.lib.cli import make_plain_parser, print_machine
from benchmarks.lib.race import print_table
from properboost import Tree

WORKERS, CHUNKS = 3, 6
FIRST = 6
"""Steps in which rows are read and placed."""

GRACE = 5.0
"""Seconds after the deadline in which there must be a model or an error."""

PORTS = "45870:45889"
"""The ports of workers that come back at their address."""

MODELS: dict[str, dict[str, Any]] = {
    "tables": {"weak_learner": "table", "n_estimators": 80},
    "cyclic": {"selection": "cyclic", "n_estimators": 8},
    "trees": {"weak_learner": "tree", "response": "newton", "n_estimators": 4},
    "lines": {"weak_learner": Tree(linear_leaves=True), "response": "newton", "n_estimators": 3},
    "pairs": {"interactions": 2, "n_estimators": 20},
    "bags": {"weak_learner": "table", "outer_bags": 4, "n_estimators": 15},
    "classes": {"weak_learner": "table", "n_estimators": 30},
    "search": {"space": {"gain": [0.5, 1.0], "n_estimators": 6}, "effort": None, "cv": 2},
}  # fmt: skip


# -- the cluster -----------------------------------------------------------------------------------


@dataclass
class Cluster:
    """Workers in processes, and two clients."""

    same_address: bool = False
    local: Any = None
    client: Any = None
    other: Any = None

    def open(self) -> None:
        """Start the cluster."""
        from distributed import Client, LocalCluster
        from distributed.utils import get_mp_context

        import dask

        more = {"worker_port": PORTS} if self.same_address else {}
        # Processes are forked from one with the imports done: they start sooner.
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
        get_mp_context().set_forkserver_preload(["distributed", "properboost.dask"])
        self.local = LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0", silence_logs=60,
            memory_limit="1 GB", **more,
        )  # fmt: skip
        self.client, self.other = Client(self.local), Client(self.local, set_as_default=False)
        self.client.wait_for_workers(WORKERS, timeout=60)

    def ready(self) -> bool:
        """Whether all workers are there and answer soon."""
        return self.local is not None and in_time(20.0, self._mend) == [True]

    def _mend(self) -> bool:
        from distributed import Status

        closed = [k for k, worker in self.local.workers.items() if worker.status == Status.closed]
        if closed:
            self.local.scale_down(closed)
        self.local.scale(WORKERS)
        self.client.wait_for_workers(WORKERS, timeout=15)
        return len(self.client.run(os.getpid)) == WORKERS

    def close(self) -> None:
        """Close the cluster, in any state."""
        if self.local is None:
            return
        local, clients = self.local, [self.client, self.other]
        nannies = [getattr(worker, "pid", None) for worker in local.workers.values()]
        self.local = self.client = self.other = None
        done = in_time(15.0, lambda: ([client.close(timeout=5) for client in clients],
                                      local.close(timeout=5)))  # fmt: skip
        if done is None:
            for pid in nannies:
                if pid:
                    send(pid, signal.SIGKILL)


# -- another client's tasks ------------------------------------------------------------------------


def _work(folder: str, number: int) -> int:
    """Record the process that runs this, and work for a while."""
    with (Path(folder) / str(number)).open("a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(0.5)
    return number


def hold(seconds: float) -> str:
    """Sleep with the GIL, as many extensions work."""
    import ctypes

    ctypes.PyDLL(None).usleep(int(seconds * 1e6))
    return "done"


@dataclass
class Tasks:
    """Another client's tasks, a few at a time on each worker, until `stop`."""

    client: Any
    futures: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._submit, daemon=True)
        self._thread.start()

    def _submit(self) -> None:
        while not self._stop.wait(0.4):
            if sum(future.status == "pending" for future in self.futures) < WORKERS:
                number = len(self.futures)
                self.futures.append(self.client.submit(_work, self.folder.name, number, pure=False))

    def stop(self) -> None:
        """Submit no more."""
        self._stop.set()
        self._thread.join()

    def find_wrong(self, struck: set[int], limit: float, *, scaled: bool) -> list[str]:
        """Return the errors of tasks: those without an end, or with two runs and no worker hit.

        A cluster that is `scaled` has also closed workers that it had started in the meantime.
        """
        wrong, end = [], time.monotonic() + limit
        for number, future in enumerate(self.futures):
            try:
                if future.result(timeout=max(0.1, end - time.monotonic())) != number:
                    wrong.append(f"task {number} returned something else")
            except Exception as error:
                wrong.append(f"task {number}: {type(error).__name__} {error}")
        there = set(self.client.run_on_scheduler(_find_processes))
        for number in range(len(self.futures)):
            path = Path(self.folder.name) / str(number)
            pids = [int(pid) for pid in path.read_text().split()] if path.exists() else []
            hit = struck | (set(pids) - there) if scaled else struck
            if len(pids) > 1 and hit.isdisjoint(pids):
                wrong.append(f"task {number} ran in the processes {pids}; there are {there}")
        return wrong


def _find_processes(dask_scheduler: Any = None) -> list[int]:
    """Return the processes of the present workers."""
    return [worker.pid for worker in dask_scheduler.workers.values()]


# -- faults ----------------------------------------------------------------------------------------


@dataclass
class Fault:
    """A fault of a worker; `ended` is the time at which its start is complete."""

    cluster: Cluster
    chance: random.Random
    deadline: float
    pids: dict[str, int] = field(default_factory=dict)
    struck: set[int] = field(default_factory=set)
    """Processes whose tasks may run again."""
    began: float | None = None
    ended: float = 0.0
    wrong: list[str] = field(default_factory=list)
    undo: list[Callable[[], Any]] = field(default_factory=list)

    def strike(self, kind: str) -> None:
        """Start the fault, on a worker drawn at random."""
        self.began = time.perf_counter()
        address = self.chance.choice(sorted(self.pids))
        try:
            getattr(self, f"_make_{kind.replace(' ', '_')}")(address, self.pids[address])
        except Exception as error:  # the cluster may have other faults
            self.wrong.append(f"the fault failed: {type(error).__name__} {error}")
        self.ended = time.perf_counter()

    def _make_killed(self, _: str, pid: int) -> None:
        self.struck.add(pid)
        send(pid, signal.SIGKILL)

    _make_same_address = _make_killed

    def _make_frozen(self, _: str, pid: int) -> None:
        send(pid, signal.SIGSTOP)
        self.undo.append(lambda: send(pid, signal.SIGCONT))

    def _make_thawed(self, _: str, pid: int) -> None:
        send(pid, signal.SIGSTOP)
        self.undo.append(lambda: send(pid, signal.SIGCONT))
        timer = threading.Timer(
            self.chance.uniform(0.5, 2.0 * self.deadline), send, [pid, signal.SIGCONT]
        )
        timer.start()

    def _make_paused(self, address: str, _: int) -> None:
        client = self.cluster.other
        before = client.run(_set_pause, 1e-9, workers=[address])[address]
        self.undo.append(lambda: client.run(_set_pause, before, workers=[address]))

    def _make_retired(self, address: str, pid: int) -> None:
        self.struck.add(pid)
        self.cluster.other.retire_workers([address], close_workers=True)

    def _make_scaled(self, _: str, __: int) -> None:
        self.struck |= set(self.pids.values())
        adaptive = self.cluster.local.adapt(
            minimum=1, maximum=WORKERS, interval="100 ms", wait_count=1
        )
        self.undo.append(adaptive.stop)

    def _make_held(self, address: str, _: int) -> None:
        seconds = self.chance.uniform(1.2, 2.0) * self.deadline
        future = self.cluster.other.submit(
            hold, seconds, workers=[address], pure=False, priority=100
        )

        def check() -> None:
            if future.result(timeout=60.0) != "done":
                self.wrong.append("the task that holds the GIL was disturbed")

        self.undo.append(check)


KINDS = ("killed", "same address", "frozen", "thawed", "paused", "retired", "scaled", "held")


def _set_pause(fraction: float, dask_worker: Any = None) -> float:
    """Set the fraction at which a worker's memory counts as short; return the former one."""
    before = dask_worker.memory_manager.memory_pause_fraction
    dask_worker.memory_manager.memory_pause_fraction = fraction
    return float(before)


# -- steps -----------------------------------------------------------------------------------------


@dataclass
class Steps:
    """A count of the steps of a fit, which calls a function at one of them."""

    at: int = -1
    begin: Callable[[], None] = lambda: None
    count: int = 0

    def run(self, fit: Callable[[], Any], limit: float) -> list[Any] | None:
        """Return the model or the error of a fit, in a list; None if it stands still too long."""
        outcome: list[Any] = []

        def work() -> None:
            try:
                outcome.append(fit())
            except BaseException as error:
                outcome.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        end = time.monotonic() + 10.0 * limit
        count, since = self.count, time.monotonic()
        while thread.is_alive():
            thread.join(0.2)
            if self.count != count:
                count, since = self.count, time.monotonic()
            if time.monotonic() > min(since + limit, end):
                return None
        return outcome

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        """Replace the functions that fits call and wait with."""
        from properboost.dask import all_reduce, shards
        from properboost.dask.worker_health import Workers

        def counted(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **more: Any) -> Any:
                self.count += 1
                if self.count == self.at:
                    self.begin()
                return function(*arguments, **more)

            return call

        call = counted(all_reduce.call)
        with (
            patch.object(all_reduce, "call", call),
            patch.object(shards, "call", call),
            patch.object(Workers, "wait_for", counted(Workers.wait_for)),
        ):
            yield


def find_waits(pids: Collection[int]) -> dict[str, float]:
    """Return the seconds that each thread of processes has waited for a processor, on Linux."""
    waits = {}
    for pid in pids:
        for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError):  # it has just ended
                waits[str(path)] = int(path.read_text().split()[1]) / 1e9
    return waits


# -- trials ----------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """The outcome of a trial, and its time after the fault."""

    kind: str
    model: str
    verdict: str
    seconds: float = 0.0
    lost: float = 0.0
    text: str = ""
    others: list[str] = field(default_factory=list)
    hit: bool = True
    """Whether the fault came before the fit's end."""
    waited: float = 0.0
    """Seconds that a thread waited for a processor while the fit ran."""


@dataclass
class Lot:
    """Trials drawn at random."""

    deadline: float
    limit: float
    n_rows: int = 1500
    kinds: tuple[str, ...] = KINDS
    models: tuple[str, ...] = tuple(MODELS)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(0)
        self._X = rng.normal(size=(self.n_rows, 6))
        score = self._X[:, 0] + self._X[:, 1] * self._X[:, 2] + rng.normal(size=self.n_rows)
        self._labels = {2: (score > 0).astype(int), 3: np.searchsorted([-0.7, 0.7], score)}
        self._expected: dict[str, bytes] = {}
        self.usual: dict[str, float] = {}
        self._steps: dict[str, int] = {}
        self._clusters = {False: Cluster(False), True: Cluster(True)}

    def _fit(self, model: str, client: Any) -> Any:
        import dask.array as da

        from properboost.dask import DaskProperBoostClassifier, DaskProperBoostClassifierCV

        search = model == "search"
        kind = DaskProperBoostClassifierCV if search else DaskProperBoostClassifier
        X = da.from_array(self._X, chunks=(-(-self.n_rows // CHUNKS), -1))
        if model not in ("bags", "search"):  # these two make their rows anew for each reading
            X = client.persist(X)
        y = self._labels[3 if model == "classes" else 2]
        fitted = kind(client=client, deadline=self.deadline, **MODELS[model]).fit(X, y)
        return fitted.to_local().best_estimator_ if search else fitted.to_local()

    def prepare(self, model: str) -> bytes:
        """Return the bytes of the model in memory, and record the time of its fits with Dask."""
        import properboost as pb

        if model not in self._expected:
            search = model == "search"
            kind: Any = pb.ProperBoostClassifierCV if search else pb.ProperBoostClassifier
            y = self._labels[3 if model == "classes" else 2]
            fitted = kind(**MODELS[model]).fit(self._X, y)
            self._expected[model] = make_bytes(fitted.best_estimator_ if search else fitted)
            cluster = self._open(False)
            times = []
            for _ in range(3):
                started = time.perf_counter()
                steps = Steps()
                with steps.watch():
                    fitted_with_dask = self._fit(model, cluster.client)
                self._steps[model] = steps.count
                times.append(time.perf_counter() - started)
                if make_bytes(fitted_with_dask) != self._expected[model]:
                    sys.exit(f"{model}, undisturbed: other bits")
            self.usual[model] = statistics.median(times[1:])
        return self._expected[model]

    def _open(self, same_address: bool) -> Cluster:
        cluster = self._clusters[same_address]
        if not cluster.ready():
            cluster.close()
            cluster.open()
        return cluster

    def draw(self, seed: int, trial: int) -> Outcome:
        """Run a trial."""
        chance = random.Random(f"{seed} {trial}")
        kind, model = chance.choice(self.kinds), chance.choice(self.models)
        expected = self.prepare(model)
        cluster = self._open(kind == "same address")
        fault = Fault(cluster, chance, self.deadline, dict(cluster.client.run(os.getpid)))
        tasks = Tasks(cluster.other)
        last = FIRST if chance.random() < 0.3 else self._steps[model]
        timer = threading.Timer(chance.uniform(0.0, 0.05), fault.strike, [kind])
        pids = [os.getpid(), *fault.pids.values()]
        waits = find_waits(pids)
        started = time.perf_counter()
        steps = Steps(chance.randint(1, last), timer.start)
        with steps.watch():
            fitted = steps.run(lambda: self._fit(model, cluster.client), self.limit)
        end = time.perf_counter()
        waited = [seconds - waits.get(path, 0.0) for path, seconds in find_waits(pids).items()]
        if timer.ident is not None:
            timer.join()
        tasks.stop()
        outcome = Outcome(kind, model, "hung", lost=end - started - self.usual[model])
        if fitted is None:
            faulthandler.dump_traceback()
        outcome.waited = max(waited, default=0.0)
        outcome.hit = fault.began is not None
        outcome.seconds = end - (fault.ended or end)
        if fitted and isinstance(fitted[0], BaseException):
            outcome.text = f"{type(fitted[0]).__name__}: {fitted[0]}"
            in_time_ = outcome.seconds <= self.deadline + GRACE
            outcome.verdict = "error in time" if in_time_ else "error too late"
        elif fitted:
            outcome.verdict = "same bits" if make_bytes(fitted[0]) == expected else "other bits"
        for undo in fault.undo:
            undo_outcome = in_time(70.0, undo)
            if undo_outcome is None or isinstance(undo_outcome[0], BaseException):
                fault.wrong.append(f"not undone: {undo_outcome}")
        outcome.others = fault.wrong + tasks.find_wrong(fault.struck, 60.0, scaled=kind == "scaled")
        if kind not in ("killed", "same address", "retired", "scaled"):
            left = cluster.client.run(os.getpid)
            if left != fault.pids:
                outcome.others.append(f"workers were {fault.pids}, are {left}")
        if outcome.verdict == "hung":
            cluster.close()
        return outcome

    def close(self) -> None:
        """Close the clusters."""
        for cluster in self._clusters.values():
            cluster.close()


@contextlib.contextmanager
def open_lot(deadline: float, **settings: Any) -> Iterator[Lot]:
    """Yield a lot of trials, and close its clusters at the end."""
    lot = Lot(deadline, **settings)
    try:
        yield lot
    finally:
        lot.close()


OUTCOMES = ("same bits", "error in time", "error too late", "other bits", "hung")


def _describe(outcomes: list[Outcome]) -> None:
    """Print a line for each kind of fault, and one for each kind of model."""
    for name, kinds in (("kind", KINDS), ("model", tuple(MODELS))):
        lines = []
        for kind in (*kinds, "all"):
            group = [outcome for outcome in outcomes if kind in (getattr(outcome, name), "all")]
            if group:
                counts = Counter(outcome.verdict for outcome in group)
                lost = [outcome.lost for outcome in group]
                lines.append(
                    [kind, str(len(group)), str(sum(outcome.hit for outcome in group)),
                     *(str(counts[verdict]) for verdict in OUTCOMES),
                     str(sum(bool(outcome.others) for outcome in group)),
                     f"{statistics.median(lost):.1f}", f"{max(lost):.1f}",
                     f"{max(outcome.waited for outcome in group):.1f}"]
                )  # fmt: skip
        print_table(["", "trials", "in time to hit", *OUTCOMES, "others disturbed",
                     "s lost, median", "largest",
                     "s waited for a processor, largest"], lines)  # fmt: skip
        print()


def main() -> None:
    """Run the trials, and print their outcomes."""
    parser = make_plain_parser(__doc__)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first trial")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--deadline", type=float, default=6.0)
    parser.add_argument(
        "--limit", type=float, default=60.0, help="seconds without a step until a fit is hung"
    )
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[*KINDS])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=[*MODELS])
    arguments = parser.parse_args()
    print_machine("dask", "distributed")
    outcomes = []
    lot = Lot(
        arguments.deadline, arguments.limit, kinds=tuple(arguments.kinds),
        models=tuple(arguments.models),
    )  # fmt: skip
    for trial in range(arguments.first, arguments.first + arguments.faults):
        # A loop that is blocked would block this thread, too.
        faulthandler.dump_traceback_later(arguments.limit + 900.0)
        outcome = lot.draw(arguments.seed, trial)
        outcomes.append(outcome)
        print(
            f"{trial}: {outcome.kind}, {outcome.model}: {outcome.verdict}, "
            f"{outcome.seconds:.1f} s after it, {outcome.lost:.1f} s lost, "
            f"{outcome.waited:.1f} s waited for a processor"
            f"{'' if outcome.hit else ' (too late to hit)'} {outcome.text} "
            f"{'; '.join(outcome.others)}",
            flush=True,
        )
        if (trial + 1) % 50 == 0:
            _describe(outcomes)
    _describe(outcomes)
    print({name: round(seconds, 2) for name, seconds in lot.usual.items()})
    sys.stdout.flush()
    in_time(30.0, lot.close)
    os._exit(0)  # threads of fits that hang would be waited for


if __name__ == "__main__":
    main()
