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
    now, stimulus = time.time(), f"properboost-takes-away-{time.time()}"
    every = dask_scheduler.workers.values()
    silent = {own for own in every if own.server_id in processes and now - own.last_seen > deadline}
    away = silent | {
        own for own in every if own.server_id in processes and own not in dask_scheduler.running
    }
    others = {own.address for own in dask_scheduler.running - away}
    moves, stranded, taken, lost, askers = {}, {}, [], [], set()
    bound = set(restricted)
    for task in _find_needed(dask_scheduler, keys, silent):
        if task.actor:  # bound to its worker, which its client is told about
            continue
        has = set(task.who_has or ())
        if task.state == "memory" and has & silent:
            # It may be asked for at any worker that has it.
            if has - silent:
                taken.append(task.key)
                for own in has & silent:
                    dask_scheduler.request_remove_replicas(
                        own.address, [task.key], stimulus_id=stimulus
                    )
            elif task.run_spec:
                moves[task.key] = "released"
            else:
                lost.append(task.key)
        elif task.state == "processing":
            if task.processing_on in away:
                moves[task.key] = "released"
            else:
                askers.add(task.processing_on.address)
        elif task.state in ("queued", "memory"):
            continue  # a queue is for any worker
        free = not (task.worker_restrictions or task.host_restrictions)
        free = free and not task.resource_restrictions
        if others and (task.key in bound or (away and free)):
            _bind(task, others)
            bound.add(task.key)
            if task.state == "no-worker":  # those that it was restricted to have gone
                stranded[task.key] = "released"
    dask_scheduler.transitions({**moves, **stranded}, stimulus)
    return Taken(
        keys=[*moves, *taken],
        restricted=list(bound),
        lost=lost,
        askers=sorted(askers),
        silent=sorted(own.address for own in silent),
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
