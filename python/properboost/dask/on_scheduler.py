"""Functions that run on the scheduler: they look at workers, and move tasks away from some.

They move only tasks that a fit needs.  Workers keep their state and all other tasks.
"""

import contextlib
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Reassignment", "let_go", "let_pass", "look", "take_away"]


@dataclass(frozen=True)
class Reassignment:
    """Tasks that were taken away from workers, and tasks that may now run on some workers alone.

    Nobody can compute those again that are `lost`.  The `askers` are workers that run needed tasks,
    and may wait for data of the `silent` ones.
    """

    keys: Sequence[Any]
    restricted: Sequence[Any]
    lost: Sequence[Any]
    askers: Sequence[str]
    silent: Sequence[str]


def look(
    keys: Sequence[Any], dask_scheduler: Any = None
) -> tuple[list[tuple[str, str, str, float, float]], set[str], bool]:
    """Return the state of each worker, the holders of what keys need, and whether keys only queue.

    They only queue where a needed task is in the scheduler's queue, and none is on a worker.
    """
    now = time.time()
    states = [
        (w.address, w.server_id, w.status.name, w.last_seen, now - w.last_seen)
        for w in dask_scheduler.workers.values()
    ]
    holders, task_states = set(), set()
    for task in _find_needed(dask_scheduler, keys, set()):
        task_states.add(task.state)
        if task.state == "processing" and task.processing_on is not None:
            holders.add(task.processing_on.server_id)
        holders |= {worker.server_id for worker in task.who_has or ()}
    return states, holders, "queued" in task_states and "processing" not in task_states


def _find_needed(scheduler: Any, keys: Sequence[Any], away: set[Any]) -> set[Any]:
    """Return the tasks that must be run or fetched for keys, without the workers `away`."""
    needed: set[Any] = set()
    open_ones = [scheduler.tasks[key] for key in keys if key in scheduler.tasks]
    while open_ones:
        task = open_ones.pop()
        if task not in needed:
            needed.add(task)
            if task.state != "memory" or set(task.who_has or ()) <= away:
                open_ones.extend(task.dependencies)
    return needed


def take_away(
    keys: Sequence[Any],
    processes: Collection[str],
    deadline: float,
    restricted: Collection[Any],
    dask_scheduler: Any = None,
) -> Reassignment:
    """Move the tasks that keys need to other workers; leave everything else alone.

    Tasks that are `restricted` are bound to the workers that run now, as others may have gone.
    """
    withdrawal = _Withdrawal(dask_scheduler, processes, deadline, restricted)
    for task in _find_needed(dask_scheduler, keys, withdrawal.silent):
        if not task.actor:  # the client handles the loss of an actor
            withdrawal.take(task)
    return withdrawal.finish()


class _Withdrawal:
    """A withdrawal of tasks, one after the other, from workers that are silent or do not run.

    The workers have these processes; `silent` ones were not heard of for the deadline.
    """

    def __init__(
        self,
        scheduler: Any,
        processes: Collection[str],
        deadline: float,
        restricted: Collection[Any],
    ) -> None:
        now = time.time()
        self._scheduler, self._stimulus = scheduler, f"properboost-takes-away-{now}"
        workers = {w for w in scheduler.workers.values() if w.server_id in processes}
        self.silent = {worker for worker in workers if now - worker.last_seen > deadline}
        self._away = self.silent | (workers - set(scheduler.running))
        self._others = {worker.address for worker in scheduler.running - self._away}
        self._restricted = set(restricted)
        self._released: list[Any] = []  # to be computed anew
        self._stranded: list[Any] = []  # bound to workers that have gone
        self._forgotten: list[Any] = []  # results of silent workers that others have, too
        self._lost: list[Any] = []
        self._askers: set[str] = set()

    def take(self, task: Any) -> None:
        """Move a task, or its result, elsewhere if workers that are away have it."""
        if task.state == "memory":
            holders = set(task.who_has or ())
            if not holders & self.silent:
                return
            self._take_result(task, holders)
        elif task.state == "processing":
            self._take_work(task)
        elif task.state == "queued":  # a queue is for any worker
            return
        self._restrict(task)

    def _take_result(self, task: Any, holders: set[Any]) -> None:
        """Take a result away from silent workers, as others may try to fetch it from these."""
        if holders - self.silent:
            self._forgotten.append(task.key)
            for worker in holders & self.silent:
                self._scheduler.request_remove_replicas(
                    worker.address, [task.key], stimulus_id=self._stimulus
                )
        elif task.run_spec:
            self._released.append(task.key)
        else:
            self._lost.append(task.key)

    def _take_work(self, task: Any) -> None:
        """Take a task away from a worker that is away; any other worker is an asker."""
        if task.processing_on in self._away:
            self._released.append(task.key)
        else:
            self._askers.add(task.processing_on.address)

    def _restrict(self, task: Any) -> None:
        """Bind a task to other workers, if it may run on any or was restricted before."""
        is_free = not (
            task.worker_restrictions or task.host_restrictions or task.resource_restrictions
        )
        if self._others and (task.key in self._restricted or (self._away and is_free)):
            _bind(task, self._others)
            self._restricted.add(task.key)
            if task.state == "no-worker":
                self._stranded.append(task.key)

    def finish(self) -> Reassignment:
        """Have the scheduler move the tasks; return them."""
        moves = [*self._released, *self._stranded]
        self._scheduler.transitions(dict.fromkeys(moves, "released"), self._stimulus)
        return Reassignment(
            keys=[*self._released, *self._forgotten],
            restricted=list(self._restricted),
            lost=self._lost,
            askers=sorted(self._askers),
            silent=sorted(worker.address for worker in self.silent),
        )


def let_pass(
    keys: Sequence[Any],
    given_up: Collection[str],
    restricted: Collection[Any],
    dask_scheduler: Any = None,
) -> list[Any]:
    """Have workers take some of the tasks queued for keys; return all restricted tasks.

    Dask hands a worker a queued task only when it is nearly idle, and any other task at once.  So a
    stream of other users' tasks passes the queue for ever.  A restricted task is not queued, and a
    worker begins with those that have waited longest.
    """
    others = {
        worker.address for worker in dask_scheduler.running if worker.server_id not in given_up
    }
    needed = _find_needed(dask_scheduler, keys, set()) if others else ()
    queued = sorted(
        (task for task in needed if task.state == "queued"), key=lambda task: task.priority
    )
    # No more than threads: results of queued tasks are large, and must be used up first.
    first = queued[: dask_scheduler.total_nthreads]
    for task in first:
        _bind(task, others)
    moves = {task.key: "released" for task in first}
    dask_scheduler.transitions(moves, f"properboost-lets-pass-{time.time()}")
    return [*restricted, *moves]


def _bind(task: Any, addresses: Collection[str]) -> None:
    """Bind a task to these workers."""
    task.worker_restrictions, task.loose_restrictions = set(addresses), False


def let_go(keys: Collection[Any], dask_scheduler: Any = None) -> None:
    """Let tasks run on any worker again."""
    for key in keys:
        with contextlib.suppress(KeyError):
            dask_scheduler.tasks[key].worker_restrictions = None
