"""What runs on the scheduler: how its workers are, and tasks that others than some must make.

Only tasks that a fit needs are moved.  Workers stay as they are, and so does what else they do.
"""

import contextlib
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Taken", "let_go", "let_pass", "look", "take_away"]


@dataclass(frozen=True)
class Taken:
    """What was taken away from workers: tasks, and those that may now run on some workers alone.

    What is `lost` nobody can make again.  Workers that are `askers` work on something that is
    needed, and may wait for what those that are `silent` were to send.
    """

    keys: Sequence[Any]
    restricted: Sequence[Any]
    lost: Sequence[Any]
    askers: Sequence[str]
    silent: Sequence[str]


def look(
    keys: Sequence[Any], dask_scheduler: Any = None
) -> tuple[list[tuple[str, str, str, float, float]], set[str], bool]:
    """Return how each worker is, which of them hold what keys need, and whether keys only queue.

    They only queue where something is in the scheduler's queue, and nothing is with a worker.
    """
    now = time.time()
    states = [
        (own.address, own.server_id, own.status.name, own.last_seen, now - own.last_seen)
        for own in dask_scheduler.workers.values()
    ]
    holders, task_states = set(), set()
    for task in _find_needed(dask_scheduler, keys, set()):
        task_states.add(task.state)
        if task.state == "processing" and task.processing_on is not None:
            holders.add(task.processing_on.server_id)
        holders |= {own.server_id for own in task.who_has or ()}
    return states, holders, "queued" in task_states and "processing" not in task_states


def _find_needed(scheduler: Any, keys: Sequence[Any], away: set[Any]) -> set[Any]:
    """Return the tasks that must be run or fetched for keys, if some workers are away."""
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
) -> Taken:
    """Have other workers make what is needed for keys; leave all else as it is.

    Tasks that are `restricted` may run on those that run now: others may have gone since.
    """
    withdrawal = _Withdrawal(dask_scheduler, processes, deadline, restricted)
    for task in _find_needed(dask_scheduler, keys, withdrawal.silent):
        if not task.actor:  # an actor is bound to its worker, which its client is told about
            withdrawal.take(task)
    return withdrawal.finish()


class _Withdrawal:
    """Takes tasks away, one after the other, from workers that are silent or do not run.

    They have these processes; those that were not heard of for the deadline are `silent`.
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
        self._released: list[Any] = []  # to be made anew
        self._stranded: list[Any] = []  # those that they were restricted to have gone
        self._forgotten: list[Any] = []  # by silent workers; others have them
        self._lost: list[Any] = []
        self._askers: set[str] = set()

    def take(self, task: Any) -> None:
        """Have a task made, or its result taken, elsewhere if workers that are away have it."""
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
        """Take a result away from silent workers: it may be asked for at any that has it."""
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
        """Take a task away from a worker that is away; one that is not away is an asker."""
        if task.processing_on in self._away:
            self._released.append(task.key)
        else:
            self._askers.add(task.processing_on.address)

    def _restrict(self, task: Any) -> None:
        """Have a task run on other workers alone, if it may run on any or was restricted before."""
        is_free = not (
            task.worker_restrictions or task.host_restrictions or task.resource_restrictions
        )
        if self._others and (task.key in self._restricted or (self._away and is_free)):
            _bind(task, self._others)
            self._restricted.add(task.key)
            if task.state == "no-worker":
                self._stranded.append(task.key)

    def finish(self) -> Taken:
        """Have the scheduler move the tasks, and return what was done."""
        moves = [*self._released, *self._stranded]
        self._scheduler.transitions(dict.fromkeys(moves, "released"), self._stimulus)
        return Taken(
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
    """Have workers take some of what is queued for keys; return tasks that are restricted now.

    Dask gives a worker what is queued when it has hardly anything left to do, and what is not
    queued at once.  So tasks of others that come one after the other pass it for ever.  A task
    that is restricted is not queued, and a worker begins with those that have waited longest.
    """
    others = {
        worker.address for worker in dask_scheduler.running if worker.server_id not in given_up
    }
    needed = _find_needed(dask_scheduler, keys, set()) if others else ()
    queued = sorted(
        (task for task in needed if task.state == "queued"), key=lambda task: task.priority
    )
    # No more than threads: what is queued is large, and to be used up before there is more of it.
    first = queued[: dask_scheduler.total_nthreads]
    for task in first:
        _bind(task, others)
    moves = {task.key: "released" for task in first}
    dask_scheduler.transitions(moves, f"properboost-lets-pass-{time.time()}")
    return [*restricted, *moves]


def _bind(task: Any, addresses: Collection[str]) -> None:
    """Have a task run on these workers alone."""
    task.worker_restrictions, task.loose_restrictions = set(addresses), False


def let_go(keys: Collection[Any], dask_scheduler: Any = None) -> None:
    """Have tasks run anywhere again."""
    for key in keys:
        with contextlib.suppress(KeyError):
            dask_scheduler.tasks[key].worker_restrictions = None
