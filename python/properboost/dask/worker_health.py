"""The health of a cluster's workers: which a fit may use, and which it has given up.

A cluster has other users.  So a fit gives up a worker that is silent or paused for itself alone:
other workers compute what the fit needs of it, and nothing else of the worker is touched.  A worker
is a process; one that comes back at its old address is another worker.
"""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from properboost.dask.on_scheduler import let_go, let_pass, look, take_away
from properboost.dask.on_worker import close_connections, make_import
from properboost.extras import import_extra

__all__ = ["LOOKS", "Worker", "Workers", "WorkersLost"]

LOOKS = 1.0
"""Seconds between two looks at the workers."""

SOON = 0.2
"""Seconds between two looks where a fit can do nothing without a worker."""

LATEST = 5.0
"""Seconds without a look after which the times of pauses are out of date."""

OPEN = ("pending", "lost")
"""Statuses of futures that have no result yet, or have lost it."""

MOST_MOVES = 5
"""Times that a task may be moved to another worker."""

MOST_READINGS = 10
"""Times that results are fetched."""

MOST_IMPORTS = 3
"""Times that a worker may fail to import this package."""

PATIENCE = 10
"""Deadlines within which at least one worker must have imported it."""

MEMORY = (
    "workers are paused because their memory is short: give them more of it (memory_limit), use "
    "more workers, or persist less of the collection"
)


@dataclass(frozen=True, order=True)
class Worker:
    """A worker: its address, and its process."""

    address: str
    process: str


class WorkersLost(Exception):  # noqa: N818  # no error: the fit goes on elsewhere
    """Workers that died, froze, or are paused where something new must begin."""

    def __init__(self, workers: Iterable[Worker]) -> None:
        self.workers = set(workers)
        super().__init__(f"lost the workers {sorted(worker.address for worker in self.workers)}")


@dataclass(frozen=True)
class _WorkerState:
    """A worker's status, the seconds since it was heard of, and since it stopped running."""

    status: str
    silence: float
    stopped: float

    @property
    def unusable(self) -> float:
        """Seconds since the worker could last be used."""
        return max(self.silence, self.stopped)


class Workers:
    """The workers of a cluster, for one fit."""

    def __init__(self, client: Any, deadline: float) -> None:
        self.client = client
        self.deadline = deadline
        self.only_queued = False
        """Whether the needed tasks are only in the scheduler's queue, and none is on a worker."""
        self._states: dict[Worker, _WorkerState] = {}
        self._looked = self._usable = time.monotonic()  # when one was last usable
        self._hopeless: float | None = None  # since when none has been usable for too long
        self._stopped: dict[Worker, float] = {}  # since when
        self._silent: dict[Worker, tuple[float, float]] = {}  # last heard of; noticed when
        self.given_up: set[Worker] = set()
        self._ready: set[Worker] = set()  # those that have imported this package
        self._imports: dict[Worker, asyncio.Task[Any]] = {}
        self._calls: set[asyncio.Task[Any]] = set()  # nobody waits for these
        self._failed: Counter[Worker] = Counter()  # imports

    # -- the state of workers ----------------------------------------------------------------------

    def look(self, keys: Sequence[Any] = ()) -> set[Worker]:
        """Look at the states of all workers; return those that hold what these keys still need."""
        states, holders, self.only_queued = self.client.run_on_scheduler(look, list(keys))
        now = time.monotonic()
        if now - self._looked > LATEST:
            self._stopped.clear()
        self._looked = now
        stopped, silent, self._states = self._stopped, self._silent, {}
        self._stopped, self._silent = {}, {}
        for address, process, status, heard, silence in states:
            worker = Worker(address, process)
            if status != "running":
                self._stopped[worker] = stopped.get(worker, now)
            if silence > self.deadline:
                before, noticed = silent.get(worker, (None, now))
                self._silent[worker] = (heard, noticed if before == heard else now)
            state = _WorkerState(status, silence, now - self._stopped.get(worker, now))
            self._states[worker] = state
            if worker not in self.given_up and state.unusable <= self.deadline:
                self._usable = max(self._usable, now - state.unusable)
        return {worker for worker in self._states if worker.process in holders}

    def is_gone(self, worker: Worker) -> bool:
        """Whether a worker had died or frozen at the last look."""
        return worker not in self._states or self._is_silent(worker)

    def _is_silent(self, worker: Worker) -> bool:
        # A scheduler that was busy itself, with an import for example, has to catch up first, so
        # the second look counts.
        return worker in self._silent and self._looked - self._silent[worker][1] >= LOOKS

    def is_late(self, worker: Worker) -> bool:
        """Whether a worker in use has been silent or stopped for too long."""
        return worker not in self.given_up and (
            self._is_silent(worker) or self._states[worker].stopped > self.deadline
        )

    def is_away(self, worker: Worker) -> bool:
        """Whether a worker is silent, or does not run."""
        state = self._states.get(worker)
        return state is not None and (state.silence > self.deadline or state.status != "running")

    def give_up(self, workers: Collection[Worker]) -> None:
        """Use these no more: they get nothing new, and others compute what is needed of them."""
        self.look()
        if any(worker not in self._states for worker in workers):  # it has just died
            self._usable = time.monotonic()
        self.given_up |= set(workers)

    # -- choosing ----------------------------------------------------------------------------------

    def choose(self, *, all_of_them: bool = False) -> list[Worker]:
        """Return the workers that may get new tasks: running, and not given up.

        They have imported this package: a first import may take longer than the deadline, and must
        not count as silence.  Wait for a worker, or for `all_of_them` until the deadline.
        """
        begin = time.monotonic()
        wanted = None
        while True:
            self.look()
            running = self._list_running()
            ready = self._make_ready(running)
            seconds = time.monotonic() - begin
            late = all_of_them and len(ready) < len(running) and seconds < self.deadline
            if ready and not late:
                return sorted(ready)
            self.check_usable()
            if seconds > PATIENCE * self.deadline:
                raise RuntimeError(f"no worker has imported properboost in {seconds:.0f} seconds")
            if not running and wanted is None:
                # An adaptive cluster starts a worker for this task.
                wanted = self.client.submit(int, pure=False)
            self.client.sync(_wait, self._imports.values(), SOON)

    def _list_running(self) -> list[Worker]:
        """Return the workers that ran at the last look, and are not given up."""
        return [
            worker
            for worker, state in self._states.items()
            if state.status == "running" and worker not in self.given_up
        ]

    def _make_ready(self, workers: Sequence[Worker]) -> list[Worker]:
        """Have workers import this package; return those that have it, and are not silent."""
        if new := [worker for worker in workers if worker not in self._ready]:
            self._import_on(new)
        return [w for w in workers if w in self._ready and w not in self._silent]

    def _import_on(self, workers: Sequence[Worker]) -> None:
        """Have workers import this package, beside their tasks."""
        new = [worker for worker in workers if worker not in self._imports]
        if new:
            imports = [_import_on(self.client, worker.address) for worker in new]
            tasks = self.client.sync(_begin, imports)
            self._imports.update(zip(new, tasks, strict=True))
            self.client.sync(_wait, tasks, SOON)
        for worker in [worker for worker, task in self._imports.items() if task.done()]:
            error = self._imports.pop(worker).exception()
            if error is None:
                self._ready.add(worker)
                continue
            self._failed[worker] += 1  # it may just be closing
            if isinstance(error, ImportError) or self._failed[worker] >= MOST_IMPORTS:
                raise RuntimeError(
                    "workers must have properboost, as the client has; it cannot be imported at "
                    f"{worker.address}: {type(error).__name__}: {error}"
                ) from error

    def check_usable(self) -> None:
        """Raise RuntimeError if no worker has been usable for the deadline, at two looks."""
        now = time.monotonic()
        if now - self._usable <= self.deadline:
            self._hopeless = None
            return
        self._hopeless = self._hopeless or now
        if now - self._hopeless < LOOKS:
            return
        waited = f"{self.deadline:g} seconds"
        if any(state.status == "paused" for state in self._states.values()):
            raise RuntimeError(
                f"the cluster had no worker that was not paused for {waited}: {MEMORY}"
            )
        if self.given_up:
            raise RuntimeError(f"all workers were lost, and no other came in {waited}")
        raise RuntimeError(f"the cluster had no worker for {waited}")

    # -- waiting -----------------------------------------------------------------------------------

    def compute(self, lazy: Sequence[Any]) -> list[Any]:
        """Return the results of lazy objects."""
        futures = self.client.compute(list(lazy))
        for _ in range(MOST_READINGS):
            self.wait_for(futures)
            if (results := self._fetch([future.key for future in futures])) is not None:
                return results
        return list(self.client.gather(futures))  # its error names the cause

    def wait_for(
        self, futures: Sequence[Any], shard_workers: Collection[Worker] = (), *, bound: bool = False
    ) -> None:
        """Wait until futures are done, and raise the error of one that failed.

        Workers that are silent or paused for the deadline, and hold what futures need, are given
        up, and others do their work.  Raise WorkersLost if any of `shard_workers` is gone, or if
        any is given up where futures are `bound` to their workers.  Raise RuntimeError if there is
        no other worker.
        """
        distributed = import_extra("distributed", "DaskProperBoostClassifier needs", "dask")
        keys = [future.key for future in futures]
        supervision = _Supervision(self, keys, set(shard_workers), bound)
        bell = threading.Event()
        for future in futures:
            future.add_done_callback(lambda _: bell.set())
        with supervision:
            if self.given_up:
                supervision.look_after()
            then = time.monotonic() + LOOKS
            while any(future.status in OPEN for future in futures):
                if bell.wait(max(0.0, then - time.monotonic())):
                    bell.clear()
                if time.monotonic() >= then:
                    supervision.look_after()
                    then = time.monotonic() + LOOKS
        if failed := [future for future in futures if future.status != "finished"]:
            self.look()
            if gone := [worker for worker in shard_workers if self.is_gone(worker)]:
                raise WorkersLost(gone)
            try:
                failed[0].result()
            except distributed.CancelledError as error:
                raise RuntimeError(
                    "the requested result is gone: another client has cancelled it; or it was "
                    "persisted in another cluster; or chunks were scattered, lay on lost workers "
                    f"alone, and cannot be computed again ({error})"
                ) from error

    def _fetch(self, keys: Sequence[Any]) -> list[Any] | None:
        """Return results; None where a worker that had some was given up: others make them anew."""
        [task] = self.client.sync(_begin, [self.client.scheduler.gather(keys=list(keys))])
        with _Supervision(self, keys, set(), bound=False) as supervision:
            while self.client.sync(_wait, [task], LOOKS):
                if supervision.look_after():
                    self.client.sync(_cancel, [task])
                    return None
        try:
            response = task.result()
        except OSError:
            return None
        if response["status"] != "OK":
            return None
        return [response["data"][key] for key in keys]

    def hang_up(self, askers: Sequence[str], silent: Sequence[str]) -> None:
        """Have askers close their connections to silent workers; they fetch from others then."""
        self._calls = {task for task in self._calls if not task.done()}
        if askers and silent:
            call = _hang_up(self.client, askers, silent)
            self._calls.update(self.client.sync(_begin, [call]))

    def close(self) -> None:
        """Cancel everything that still runs."""
        if tasks := [*self._imports.values(), *self._calls]:
            self._imports.clear()
            self._calls.clear()
            self.client.sync(_cancel, tasks)


class _Supervision:
    """A watch over awaited tasks, which takes them away from workers that are given up."""

    def __init__(
        self, workers: Workers, keys: Sequence[Any], shard_workers: set[Worker], bound: bool
    ) -> None:
        self._workers, self._keys, self._shard_workers, self._bound = (
            workers,
            keys,
            shard_workers,
            bound,
        )
        self._restricted: Sequence[Any] = ()
        self._moves: Counter[Any] = Counter()
        self._queued: float | None = None  # since when keys have only been queued

    def __enter__(self) -> "_Supervision":
        return self

    def __exit__(self, *_: object) -> None:
        if self._restricted:
            # Dask would keep the restrictions of tasks long after this fit.
            self._workers.client.run_on_scheduler(let_go, self._restricted)

    def look_after(self) -> bool:
        """Give up workers that are late; return whether tasks were taken away from them."""
        workers = self._workers
        holders = workers.look(self._keys)
        if gone := [worker for worker in self._shard_workers if workers.is_gone(worker)]:
            raise WorkersLost(gone)
        self._give_up_late(holders)
        moved = self._take_away()
        self._pass_queue()
        workers.check_usable()
        return moved

    def _give_up_late(self, holders: Collection[Worker]) -> None:
        """Give up workers that hold awaited tasks, and were silent or stopped for too long."""
        workers = self._workers
        late = {worker for worker in holders if workers.is_late(worker)}
        if late and self._bound:
            raise WorkersLost(late)
        workers.given_up |= late

    def _take_away(self) -> bool:
        """Move the tasks of given-up workers to others; return whether there were any."""
        workers = self._workers
        # Also workers that hold nothing any more: another may just have begun to fetch from them.
        # Tasks that are restricted to workers that have gone since would wait for these.
        away = [worker for worker in workers.given_up if workers.is_away(worker)]
        if not away and not self._restricted:
            return False
        processes = [worker.process for worker in away]
        taken = workers.client.run_on_scheduler(
            take_away, list(self._keys), processes, workers.deadline, self._restricted
        )
        self._restricted = taken.restricted
        workers.hang_up(taken.askers, taken.silent)
        self._moves.update(taken.keys)
        if taken.lost or max(self._moves.values(), default=0) > MOST_MOVES:
            lost = ", ".join(sorted(worker.address for worker in away))
            raise RuntimeError(
                f"workers have been silent or paused for {workers.deadline:g} seconds ({lost}), "
                "and no other worker can have their data: chunks that were scattered, or tasks "
                "that are bound to them"
            )
        return bool(taken.keys)

    def _pass_queue(self) -> None:
        """Bind keys to workers once they have only been queued for the deadline."""
        workers, now = self._workers, time.monotonic()
        late = self._queued is not None and now - self._queued > workers.deadline
        if not workers.only_queued:
            self._queued = self._queued if late else None
        elif late:
            given_up = [worker.process for worker in workers.given_up]
            self._restricted = workers.client.run_on_scheduler(
                let_pass, list(self._keys), given_up, self._restricted
            )
        else:
            self._queued = now if self._queued is None else self._queued


# -- on the client's loop --------------------------------------------------------------------------


async def _begin(coroutines: Sequence[Any]) -> list[asyncio.Task[Any]]:
    return [asyncio.ensure_future(coroutine) for coroutine in coroutines]


async def _wait(tasks: Collection[asyncio.Task[Any]], seconds: float) -> bool:
    """Wait at most so many seconds; return whether a task is not done."""
    if tasks:
        await asyncio.wait(tasks, timeout=seconds)
    else:
        await asyncio.sleep(seconds)
    return not all(task.done() for task in tasks)


async def _cancel(tasks: Collection[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks, timeout=LOOKS)


async def _import_on(client: Any, address: str) -> None:
    errors = await client.run(make_import(), workers=[address], on_error="return")
    for error in errors.values():
        if isinstance(error, Exception):
            raise error


async def _hang_up(client: Any, askers: Sequence[str], silent: Sequence[str]) -> None:
    await client.run(close_connections, list(silent), workers=list(askers), on_error="ignore")
