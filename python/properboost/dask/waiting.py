"""The workers of a cluster as a fit sees them: which it may use, and which it waits for no longer.

A cluster has other users.  So a worker that is silent or paused is given up for one fit: what the
fit needs of it is made elsewhere, and nothing else of the worker is touched.  A worker is a
process; one that comes back at its old address is another worker.
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

__all__ = ["LOOKS", "Lost", "Worker", "Workers"]

LOOKS = 1.0
"""Seconds after which it is asked how the workers are."""

SOON = 0.2
"""Seconds after which it is asked again, where a fit can do nothing without a worker."""

LATEST = 5.0
"""Seconds after which it is not known any more since when a worker has been paused."""

OPEN = ("pending", "lost")
"""How futures are that have no result yet, or none any more."""

MOST_MOVES = 5
"""How often a task is given to another worker, which it must not be."""

MOST_READINGS = 10
"""How often results are fetched."""

MOST_IMPORTS = 3
"""How often a worker is to import this package."""

PATIENCE = 10
"""Deadlines in which some worker has imported it."""

MEMORY = (
    "workers are paused because their memory is short: give them more of it (memory_limit), use "
    "more workers, or persist less of the collection"
)


@dataclass(frozen=True, order=True)
class Worker:
    """A worker: where it is, and which process."""

    address: str
    process: str


class Lost(Exception):  # noqa: N818  # what it tells is where to go on
    """Workers that died, froze, or are paused where something new must begin."""

    def __init__(self, workers: Iterable[Worker]) -> None:
        self.workers = set(workers)
        super().__init__(f"lost the workers {sorted(own.address for own in self.workers)}")


@dataclass(frozen=True)
class _State:
    """How a worker is: its status, seconds since it was heard of, and since it stopped running."""

    status: str
    silence: float
    stopped: float

    @property
    def unusable(self) -> float:
        """Seconds since it could be used."""
        return max(self.silence, self.stopped)


class Workers:
    """The workers of a cluster, for one fit."""

    def __init__(self, client: Any, deadline: float) -> None:
        self.client = client
        self.deadline = deadline
        self.only_queued = False
        """Whether what was looked for is in the scheduler's queue, and nothing with a worker."""
        self._states: dict[Worker, _State] = {}
        self._looked = self._usable = time.monotonic()  # a worker was last usable then
        self._hopeless: float | None = None  # since when none has been usable for too long
        self._stopped: dict[Worker, float] = {}  # since when
        self._silent: dict[Worker, tuple[float, float]] = {}  # last heard of; noticed when
        self._given_up: set[Worker] = set()
        self._ready: set[Worker] = set()  # those that have imported this package
        self._imports: dict[Worker, asyncio.Task[Any]] = {}
        self._calls: set[asyncio.Task[Any]] = set()  # that nobody waits for
        self._failed: Counter[Worker] = Counter()  # imports

    # -- looking -----------------------------------------------------------------------------------

    def look(self, keys: Sequence[Any] = ()) -> set[Worker]:
        """See how the workers are; return those that hold what these keys still need."""
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
            state = _State(status, silence, now - self._stopped.get(worker, now))
            self._states[worker] = state
            if worker not in self._given_up and state.unusable <= self.deadline:
                self._usable = max(self._usable, now - state.unusable)
        return {own for own in self._states if own.process in holders}

    def is_gone(self, worker: Worker) -> bool:
        """Whether a worker has died or frozen, as it was seen last."""
        return worker not in self._states or self._is_silent(worker)

    def _is_silent(self, worker: Worker) -> bool:
        # A scheduler that was busy itself, importing or so, has to catch up first: the second look
        # counts.
        return worker in self._silent and self._looked - self._silent[worker][1] >= LOOKS

    def _is_away(self, worker: Worker) -> bool:
        state = self._states.get(worker)
        return state is not None and (state.silence > self.deadline or state.status != "running")

    def give_up(self, workers: Collection[Worker]) -> None:
        """Use these no more: they get nothing new, and what is needed of them is made elsewhere."""
        self.look()
        if any(own not in self._states for own in workers):  # it has just died
            self._usable = time.monotonic()
        self._given_up |= set(workers)

    # -- choosing ----------------------------------------------------------------------------------

    def choose(self, *, all_of_them: bool = False) -> list[Worker]:
        """Return the workers that may get something new: running, and not given up.

        They have imported this package: a first import may take longer than the deadline, and is
        no silence.  Waits for a worker, or for `all_of_them` until the deadline.
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
            self._check_usable()
            if seconds > PATIENCE * self.deadline:
                raise RuntimeError(f"no worker has imported properboost in {seconds:.0f} seconds")
            if not running and wanted is None:
                wanted = self.client.submit(int, pure=False)  # what a cluster that adapts waits for
            self.client.sync(_wait, self._imports.values(), SOON)

    def _list_running(self) -> list[Worker]:
        """Return the workers that run, as they were seen last, and are not given up."""
        return [
            worker
            for worker, state in self._states.items()
            if state.status == "running" and worker not in self._given_up
        ]

    def _make_ready(self, workers: Sequence[Worker]) -> list[Worker]:
        """Have workers import this package; return those that have, and are not silent."""
        if new := [worker for worker in workers if worker not in self._ready]:
            self._import_on(new)
        return [w for w in workers if w in self._ready and w not in self._silent]

    def _import_on(self, workers: Sequence[Worker]) -> None:
        """Have workers import this package, beside whatever they do."""
        new = [own for own in workers if own not in self._imports]
        if new:
            tasks = self.client.sync(_begin, [_import_on(self.client, own.address) for own in new])
            self._imports.update(zip(new, tasks, strict=True))
            self.client.sync(_wait, tasks, SOON)
        for worker in [own for own, task in self._imports.items() if task.done()]:
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

    def _check_usable(self) -> None:
        """Raise RuntimeError if no worker has been usable for the deadline, at two looks."""
        now = time.monotonic()
        if now - self._usable <= self.deadline:
            self._hopeless = None
            return
        self._hopeless = self._hopeless or now
        if now - self._hopeless < LOOKS:
            return
        waited = f"{self.deadline:g} seconds"
        if any(own.status == "paused" for own in self._states.values()):
            raise RuntimeError(
                f"the cluster had no worker that was not paused for {waited}: {MEMORY}"
            )
        if self._given_up:
            raise RuntimeError(f"all workers were lost, and no other came in {waited}")
        raise RuntimeError(f"the cluster had no worker for {waited}")

    # -- waiting -----------------------------------------------------------------------------------

    def compute(self, lazy: Sequence[Any]) -> list[Any]:
        """Return what Dask computes."""
        futures = self.client.compute(list(lazy))
        for _ in range(MOST_READINGS):
            self.wait_for(futures)
            if (found := self._fetch([own.key for own in futures])) is not None:
                return found
        return list(self.client.gather(futures))  # says what is wrong

    def wait_for(
        self, futures: Sequence[Any], parties: Collection[Worker] = (), *, bound: bool = False
    ) -> None:
        """Wait until futures are done, and raise what one of them raised.

        Workers that are silent or paused for the deadline, and hold what is waited for, are given
        up, and others do their work.  Raises Lost if any of `parties` is gone, or if any is given
        up where futures are `bound` to their workers; RuntimeError if there is no other worker.
        """
        distributed = import_extra("distributed", "DaskProperBoostClassifier needs", "dask")
        care = _Care(self, [own.key for own in futures], set(parties), bound)
        bell = threading.Event()
        for future in futures:
            future.add_done_callback(lambda _: bell.set())
        with care:
            if self._given_up:
                care.look_after()
            then = time.monotonic() + LOOKS
            while any(own.status in OPEN for own in futures):
                if bell.wait(max(0.0, then - time.monotonic())):
                    bell.clear()
                if time.monotonic() >= then:
                    care.look_after()
                    then = time.monotonic() + LOOKS
        if failed := [own for own in futures if own.status != "finished"]:
            self.look()
            if gone := [own for own in parties if self.is_gone(own)]:
                raise Lost(gone)
            try:
                failed[0].result()
            except distributed.CancelledError as error:
                raise RuntimeError(
                    "what was to be computed is gone: another has cancelled it; or it was "
                    "persisted in another cluster; or chunks were scattered, lay on lost "
                    f"workers alone, and cannot be computed again ({error})"
                ) from error

    def _fetch(self, keys: Sequence[Any]) -> list[Any] | None:
        """Return results; None where a worker that had some was given up: they are made anew."""
        [task] = self.client.sync(_begin, [self.client.scheduler.gather(keys=list(keys))])
        with _Care(self, keys, set(), bound=False) as care:
            while self.client.sync(_wait, [task], LOOKS):
                if care.look_after():
                    self.client.sync(_cancel, [task])
                    return None
        try:
            response = task.result()
        except OSError:
            return None
        if response["status"] != "OK":
            return None
        return [response["data"][key] for key in keys]

    def _hang_up(self, askers: Sequence[str], silent: Sequence[str]) -> None:
        """Have workers wait no longer for what silent ones were to send; they ask others then."""
        self._calls = {own for own in self._calls if not own.done()}
        if askers and silent:
            call = _hang_up(self.client, askers, silent)
            self._calls.update(self.client.sync(_begin, [call]))

    def close(self) -> None:
        """Wait for nothing any more."""
        if tasks := [*self._imports.values(), *self._calls]:
            self._imports.clear()
            self._calls.clear()
            self.client.sync(_cancel, tasks)


class _Care:
    """Looks after what is waited for: takes it away from workers that are given up."""

    def __init__(
        self, workers: Workers, keys: Sequence[Any], parties: set[Worker], bound: bool
    ) -> None:
        self._workers, self._keys, self._parties, self._bound = workers, keys, parties, bound
        self._restricted: Sequence[Any] = ()
        self._moves: Counter[Any] = Counter()
        self._queued: float | None = None  # since when there has only been a queue

    def __enter__(self) -> "_Care":
        return self

    def __exit__(self, *_: object) -> None:
        if self._restricted:
            # Dask would hold on to where tasks may run, long after this fit.
            self._workers.client.run_on_scheduler(let_go, self._restricted)

    def look_after(self) -> bool:
        """Give up those that are late; return whether something was taken away from them."""
        workers = self._workers
        holders = workers.look(self._keys)
        if gone := [worker for worker in self._parties if workers.is_gone(worker)]:
            raise Lost(gone)
        self._give_up_late(holders)
        moved = self._take_away()
        self._pass_queue()
        workers._check_usable()
        return moved

    def _give_up_late(self, holders: Collection[Worker]) -> None:
        """Give up those that hold what is waited for, and were silent or stopped for too long."""
        workers = self._workers
        late = {
            worker
            for worker in holders
            if worker not in workers._given_up
            and (workers._is_silent(worker) or workers._states[worker].stopped > workers.deadline)
        }
        if late and self._bound:
            raise Lost(late)
        workers._given_up |= late

    def _take_away(self) -> bool:
        """Have others do what those that are given up were to do; return whether there was any."""
        workers = self._workers
        # Also those that hold nothing any more: another may just have begun to ask them for it.
        # What is restricted to workers that have gone since would wait for them.
        away = [worker for worker in workers._given_up if workers._is_away(worker)]
        if not away and not self._restricted:
            return False
        processes = [worker.process for worker in away]
        taken = workers.client.run_on_scheduler(
            take_away, list(self._keys), processes, workers.deadline, self._restricted
        )
        self._restricted = taken.restricted
        workers._hang_up(taken.askers, taken.silent)
        self._moves.update(taken.keys)
        if taken.lost or max(self._moves.values(), default=0) > MOST_MOVES:
            lost = ", ".join(sorted(worker.address for worker in away))
            raise RuntimeError(
                f"workers have been silent or paused for {workers.deadline:g} seconds ({lost}), "
                "and no other can have what they hold: chunks that were scattered, or tasks "
                "that are bound to them"
            )
        return bool(taken.keys)

    def _pass_queue(self) -> None:
        """Have workers take what has only been queued for the deadline, and from then on."""
        own, now = self._workers, time.monotonic()
        late = self._queued is not None and now - self._queued > own.deadline
        if not own.only_queued:
            self._queued = self._queued if late else None
        elif late:
            given_up = [worker.process for worker in own._given_up]
            self._restricted = own.client.run_on_scheduler(
                let_pass, list(self._keys), given_up, self._restricted
            )
        else:
            self._queued = now if self._queued is None else self._queued


# -- on the client's loop --------------------------------------------------------------------------


async def _begin(coroutines: Sequence[Any]) -> list[asyncio.Task[Any]]:
    return [asyncio.ensure_future(own) for own in coroutines]


async def _wait(tasks: Collection[asyncio.Task[Any]], seconds: float) -> bool:
    """Wait so long; return whether something is not done."""
    if tasks:
        await asyncio.wait(tasks, timeout=seconds)
    else:
        await asyncio.sleep(seconds)
    return not all(own.done() for own in tasks)


async def _cancel(tasks: Collection[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks, timeout=LOOKS)


async def _import_on(client: Any, address: str) -> None:
    said = await client.run(make_import(), workers=[address], on_error="return")
    for found in said.values():
        if isinstance(found, Exception):
            raise found


async def _hang_up(client: Any, askers: Sequence[str], silent: Sequence[str]) -> None:
    await client.run(close_connections, list(silent), workers=list(askers), on_error="ignore")
