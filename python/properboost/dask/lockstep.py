"""Parties that do the same at the same time: the client adds up what they say, and notes who fails."""

import asyncio
import statistics
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from properboost.dask.party import STOP, Message

__all__ = ["Clock", "Each", "Lost", "call", "run_together"]

LOOKS = 0.5
"""Seconds after which the client asks the scheduler whether the workers it waits for are there."""

PATIENCE = 20.0
"""How many times as long as usual an answer may take, if that is more than the deadline."""


class Lost(Exception):  # noqa: N818  # what it tells is where to go on
    """Workers that died, or did not answer in time."""

    def __init__(self, workers: Sequence[str]) -> None:
        super().__init__(f"lost the workers {sorted(set(workers))}")
        self.workers = set(workers)


class Each(tuple[Any, ...]):
    """Arguments, one for each party."""

    __slots__ = ()


class Clock:
    """How long answers may take."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._times: deque[float] = deque(maxlen=100)
        self.limit = deadline

    def note(self, seconds: float) -> None:
        """Take the time of an answer."""
        self._times.append(seconds)
        if len(self._times) % 20 == 0:
            self.limit = max(self._deadline, PATIENCE * statistics.median(self._times))


def call(
    client: Any, actors: Sequence[Any], clock: Clock, method: str, *arguments: Any
) -> list[Any]:
    """Call a method of every actor, with arguments for all, or one for each in an `Each`.

    Raises Lost if workers are not there any more, or do not answer in time.
    """
    own = [[a[k] if isinstance(a, Each) else a for a in arguments] for k in range(len(actors))]
    workers = [actor._address for actor in actors]
    begun = time.perf_counter()
    try:
        calls = [getattr(actor, method)(*some) for actor, some in zip(actors, own, strict=True)]
    except RuntimeError as error:  # "Worker holding Actor was lost"
        raise Lost(_find_gone(client, workers) or workers) from error
    waiting = client.sync(_gather, calls, None)
    while True:
        late = client.sync(_wait, waiting, LOOKS)
        if not late:
            break
        gone = _find_gone(client, [workers[k] for k in late])
        if not gone and time.perf_counter() - begun > clock.limit:
            gone = [workers[k] for k in late]
        if gone:
            client.sync(_cancel, waiting)
            raise Lost(gone)
    clock.note(time.perf_counter() - begun)
    results, gone = [], []
    for worker, task in zip(workers, waiting, strict=True):
        error = task.exception()
        if isinstance(error, OSError | RuntimeError) and _find_gone(client, [worker]):
            gone.append(worker)
        elif error is not None:
            raise error
        else:
            results.append(task.result())
    if gone:
        raise Lost(gone)
    return results


async def _gather(calls: Sequence[Any], _: None) -> list[asyncio.Task[Any]]:
    async def wait(one: Any) -> Any:
        return await one

    return [asyncio.ensure_future(wait(one)) for one in calls]


async def _wait(tasks: Sequence[asyncio.Task[Any]], seconds: float) -> list[int]:
    """Wait for all tasks, or so long; return those that are not done."""
    await asyncio.wait(tasks, timeout=seconds)
    return [k for k, task in enumerate(tasks) if not task.done()]


async def _cancel(tasks: Sequence[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()


def _find_gone(client: Any, workers: Sequence[str]) -> list[str]:
    """Return those that the scheduler does not know any more."""
    known = client.scheduler_info(n_workers=-1)["workers"]
    return [worker for worker in workers if worker not in known]


def run_together(
    client: Any,
    actors: Sequence[Any],
    clock: Clock,
    task: str,
    *arguments: Any,
    report: Callable[[int, float], None] | None = None,
) -> list[Any]:
    """Run a task on all parties; return what each of them returns.

    `report` is called between estimators; what it raises ends the task, and is raised here.
    """
    ends: BaseException | None = None
    try:
        said: list[Message] = call(client, actors, clock, "begin", task, *arguments)
        while True:
            kinds = {message[0] for message in said}
            if "failed" in kinds:
                raise next(message[1] for message in said if message[0] == "failed")
            if len(kinds) > 1:
                raise RuntimeError(f"parties do not do the same: {sorted(kinds)}")
            (kind,) = kinds
            if kind == "done":
                break
            answer: Any = None
            if kind == "share":
                answer = _add_up(said)
            elif ends is None and report is not None:
                try:
                    report(*said[0][1:])
                except BaseException as error:
                    ends, answer = error, STOP
            said = call(client, actors, clock, "go_on", answer)
    except Lost:
        raise
    except BaseException:
        for actor in actors:
            actor.abandon()
        raise
    if ends is not None:
        raise ends
    return [message[1] for message in said]


def _add_up(said: Sequence[Message]) -> tuple[Any, Any]:
    if len(said) == 1:
        return said[0][1], said[0][2]
    sums = np.add.reduce([message[1] for message in said])
    return sums, np.maximum.reduce([message[2] for message in said])
