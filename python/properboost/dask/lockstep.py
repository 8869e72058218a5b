"""Parties that do the same at the same time: the client adds up what they say.

It also notes who does not answer.
"""

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from properboost.dask.waiting import Lost, Worker, Workers
from properboost.extras import import_extra

__all__ = ["STOP", "Each", "Line", "Message", "abandon", "call", "connect", "run_together"]

Message: TypeAlias = tuple[Any, ...]
"""What a party says while a task runs: ("share", sums, largest), ("report", done, risk), ("done",
result) or ("failed", error)."""

STOP = "stop"
"""The answer to a report after which boosting is over."""

LOOKS = 0.5
"""Seconds after which the client asks the scheduler whether the workers it waits for live."""

REACH = 2.0
"""Seconds in which a client that can reach a worker has done so."""


NUMBERS = itertools.count(1)
"""Numbers of runs, as a call that was given up may arrive after those of a later run."""


class Each(tuple[Any, ...]):
    """Arguments, one for each party."""

    __slots__ = ()


@dataclass(frozen=True, eq=False)
class Line:
    """A way to a party: its worker's address, its key there, and what carries calls."""

    worker: Worker
    key: str
    rpc: Any


def connect(client: Any, ends: Sequence[tuple[Worker, str]]) -> list[Line]:
    """Return lines to actors, by their workers and keys: direct ones where the client reaches them.

    Otherwise calls go through the scheduler, which takes twice as long.
    """
    return list(client.sync(_connect, client, ends))


async def _connect(client: Any, ends: Sequence[tuple[Worker, str]]) -> list[Line]:
    through = import_extra("distributed.actor", "DaskProperBoostClassifier needs", "dask").ProxyRPC

    async def reach(worker: Worker, key: str) -> Line:
        rpc = client.rpc(worker.address)
        try:
            await asyncio.wait_for(rpc.identity(), REACH)
        except (OSError, TimeoutError):
            rpc = through(client.scheduler, worker.address)
        return Line(worker, key, rpc)

    return await asyncio.gather(*(reach(*own) for own in ends))


async def _call(line: Line, method: str, arguments: Sequence[Any]) -> Any:
    protocol = import_extra("distributed.protocol", "DaskProperBoostClassifier needs", "dask")
    try:
        said = await line.rpc.actor_execute(
            function="answer",
            actor=line.key,
            args=[method, *(protocol.to_serialize(own) for own in arguments)],
            kwargs={},
        )
    except Exception as error:
        # It is gone, or has no such party any more.  The scheduler passes on the text alone of
        # what a worker raises, as a plain Exception.
        if not isinstance(error, OSError | KeyError) and type(error) is not Exception:
            raise
        raise Lost([line.worker]) from error
    if said["status"] != "OK":  # parties do not raise: this is a worker that closes
        raise Lost([line.worker]) from said["exception"]
    result, raised = said["result"]
    if raised is not None:
        raise raised
    return result


def call(workers: Workers, lines: Sequence[Line], method: str, *arguments: Any) -> list[Any]:
    """Call a method of every party, with arguments for all, or one for each in an `Each`.

    Raises Lost if workers that should answer died or froze.
    """
    if not lines:
        return []
    own = [[a[k] if isinstance(a, Each) else a for a in arguments] for k in range(len(lines))]
    tasks, late = workers.client.sync(_begin, lines, method, own)
    while late:
        _check_alive(workers, [lines[k].worker for k in late], tasks)
        late = workers.client.sync(_wait, tasks, LOOKS)
    _check_answers(tasks)
    return [task.result() for task in tasks]


def _check_alive(
    workers: Workers, late: Sequence[Worker], tasks: Sequence[asyncio.Task[Any]]
) -> None:
    """Cancel all tasks and raise Lost if any of the workers that are late is gone."""
    workers.look()
    if gone := [worker for worker in late if workers.is_gone(worker)]:
        workers.client.sync(_cancel, tasks)
        raise Lost(gone)


def _check_answers(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Raise Lost with all workers that were lost, or else the first error."""
    errors = [error for error in (task.exception() for task in tasks) if error is not None]
    if lost := [error for error in errors if isinstance(error, Lost)]:
        raise Lost(worker for error in lost for worker in error.workers)
    if errors:
        raise errors[0]


async def _begin(
    lines: Sequence[Line], method: str, arguments: Sequence[Sequence[Any]]
) -> tuple[list[asyncio.Task[Any]], list[int]]:
    tasks = [
        asyncio.ensure_future(_call(line, method, own))
        for line, own in zip(lines, arguments, strict=True)
    ]
    return tasks, await _wait(tasks, LOOKS)


async def _wait(tasks: Sequence[asyncio.Task[Any]], seconds: float) -> list[int]:
    """Wait for all tasks, or so long; return those that are not done."""
    await asyncio.wait(tasks, timeout=seconds)
    return [k for k, task in enumerate(tasks) if not task.done()]


async def _cancel(tasks: Sequence[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks, timeout=LOOKS)


def abandon(workers: Workers, lines: Sequence[Line]) -> None:
    """End what the parties run, and whatever they may yet hear about it."""
    call(workers, lines, "abandon", next(NUMBERS))


def run_together(
    workers: Workers,
    lines: Sequence[Line],
    task: str,
    *arguments: Any,
    report: Callable[[int, float], None] | None = None,
) -> list[Any]:
    """Run a task on all parties; return what each of them returns.

    `report` is called between estimators; what it raises ends the task, and is raised here.
    """
    reports = _Reports(report)
    number = next(NUMBERS)
    try:
        said: list[Message] = call(workers, lines, "begin", number, task, *arguments)
        while (kind := _find_kind(said)) != "done":
            answer = _add_up(said) if kind == "share" else reports.pass_on(*said[0][1:])
            said = call(workers, lines, "go_on", number, answer)
    except Lost:
        raise
    except BaseException:
        with contextlib.suppress(Lost):
            abandon(workers, lines)
        raise
    if reports.ends is not None:
        raise reports.ends
    return [message[1] for message in said]


@dataclass
class _Reports:
    """Passes reports on, and keeps what was raised by the last: it ends the run."""

    report: Callable[[int, float], None] | None
    ends: BaseException | None = None

    def pass_on(self, done: int, risk: float) -> str | None:
        """Return what parties are told then."""
        if self.report is None or self.ends is not None:
            return None
        try:
            self.report(done, risk)
        except BaseException as error:
            self.ends = error
            return STOP
        return None


def _find_kind(said: Sequence[Message]) -> str:
    """Return the kind of what all parties say; raises what a party raised."""
    kinds = {message[0] for message in said}
    if "failed" in kinds:
        raise next(message[1] for message in said if message[0] == "failed")
    if len(kinds) > 1:
        raise RuntimeError(f"parties do not do the same: {sorted(kinds)}")
    (kind,) = kinds
    return str(kind)


def _add_up(said: Sequence[Message]) -> tuple[Any, Any]:
    _, sums, largest = said[0]
    for _, more, others in said[1:]:
        sums, largest = sums + more, np.maximum(largest, others)
    return sums, largest
