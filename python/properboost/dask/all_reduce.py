"""All-reduce over shards: the client adds up their partial sums, and returns the totals.

It also notes which workers do not answer.
"""

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from properboost.dask.worker_health import Worker, Workers, WorkersLost
from properboost.extras import import_extra

__all__ = [
    "STOP",
    "Connection",
    "Message",
    "PerShard",
    "abandon",
    "call",
    "connect",
    "run_together",
]

Message: TypeAlias = tuple[Any, ...]
"""A message of a shard that runs a task: ("all_reduce", sums, largest), ("report", done, risk),
("done", result) or ("failed", error)."""

STOP = "stop"
"""The answer to a report that ends boosting."""

LOOKS = 0.5
"""Seconds between two questions to the scheduler: do the workers that are late live?"""

REACH = 2.0
"""Seconds after which a client gives up reaching a worker directly."""


NUMBERS = itertools.count(1)
"""Numbers of runs: a call that was given up may arrive after those of a later run."""


class PerShard(tuple[Any, ...]):
    """Arguments, one for each shard."""

    __slots__ = ()


@dataclass(frozen=True, eq=False)
class Connection:
    """A connection to a shard: its worker, its key there, and the rpc that carries calls."""

    worker: Worker
    key: str
    rpc: Any


def connect(client: Any, ends: Sequence[tuple[Worker, str]]) -> list[Connection]:
    """Return connections to actors, by their workers and keys.

    They are direct where the client reaches the worker.  Otherwise calls go through the scheduler,
    which takes twice as long.
    """
    return list(client.sync(_connect, client, ends))


async def _connect(client: Any, ends: Sequence[tuple[Worker, str]]) -> list[Connection]:
    through = import_extra("distributed.actor", "DaskProperBoostClassifier needs", "dask").ProxyRPC

    async def reach(worker: Worker, key: str) -> Connection:
        rpc = client.rpc(worker.address)
        try:
            await asyncio.wait_for(rpc.identity(), REACH)
        except (OSError, TimeoutError):
            rpc = through(client.scheduler, worker.address)
        return Connection(worker, key, rpc)

    return await asyncio.gather(*(reach(worker, key) for worker, key in ends))


async def _call(connection: Connection, method: str, arguments: Sequence[Any]) -> Any:
    protocol = import_extra("distributed.protocol", "DaskProperBoostClassifier needs", "dask")
    try:
        response = await connection.rpc.actor_execute(
            function="answer",
            actor=connection.key,
            args=[method, *(protocol.to_serialize(argument) for argument in arguments)],
            kwargs={},
        )
    except Exception as error:
        # The worker is gone, or has lost the shard.  The scheduler passes on only the text of a
        # worker's error, as a plain Exception.
        if not isinstance(error, OSError | KeyError) and type(error) is not Exception:
            raise
        raise WorkersLost([connection.worker]) from error
    if response["status"] != "OK":  # shards return their errors: this worker is closing
        raise WorkersLost([connection.worker]) from response["exception"]
    result, raised = response["result"]
    if raised is not None:
        raise raised
    return result


def call(
    workers: Workers, connections: Sequence[Connection], method: str, *arguments: Any
) -> list[Any]:
    """Call a method of every shard; an argument is the same for all, or a `PerShard`.

    Raises WorkersLost if workers that should answer died or froze.
    """
    if not connections:
        return []
    of_shards = [
        [a[k] if isinstance(a, PerShard) else a for a in arguments] for k in range(len(connections))
    ]
    tasks, late = workers.client.sync(_begin, connections, method, of_shards)
    while late:
        _check_alive(workers, [connections[k].worker for k in late], tasks)
        late = workers.client.sync(_wait, tasks, LOOKS)
    _check_answers(tasks)
    return [task.result() for task in tasks]


def _check_alive(
    workers: Workers, late: Sequence[Worker], tasks: Sequence[asyncio.Task[Any]]
) -> None:
    """Cancel all tasks and raise WorkersLost if any worker that is late is gone."""
    workers.look()
    if gone := [worker for worker in late if workers.is_gone(worker)]:
        workers.client.sync(_cancel, tasks)
        raise WorkersLost(gone)


def _check_answers(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Raise WorkersLost with all lost workers, or else the first error."""
    errors = [error for error in (task.exception() for task in tasks) if error is not None]
    if lost := [error for error in errors if isinstance(error, WorkersLost)]:
        raise WorkersLost(worker for error in lost for worker in error.workers)
    if errors:
        raise errors[0]


async def _begin(
    connections: Sequence[Connection], method: str, arguments: Sequence[Sequence[Any]]
) -> tuple[list[asyncio.Task[Any]], list[int]]:
    tasks = [
        asyncio.ensure_future(_call(connection, method, of_shard))
        for connection, of_shard in zip(connections, arguments, strict=True)
    ]
    return tasks, await _wait(tasks, LOOKS)


async def _wait(tasks: Sequence[asyncio.Task[Any]], seconds: float) -> list[int]:
    """Wait for all tasks, at most so many seconds; return the places of unfinished ones."""
    await asyncio.wait(tasks, timeout=seconds)
    return [k for k, task in enumerate(tasks) if not task.done()]


async def _cancel(tasks: Sequence[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks, timeout=LOOKS)


def abandon(workers: Workers, connections: Sequence[Connection]) -> None:
    """End the task of every shard; later calls of it are refused."""
    call(workers, connections, "abandon", next(NUMBERS))


def run_together(
    workers: Workers,
    connections: Sequence[Connection],
    task: str,
    *arguments: Any,
    report: Callable[[int, float], None] | None = None,
) -> list[Any]:
    """Run a task on all shards; return the result of each.

    `report` is called between estimators.  An error that it raises ends the task and is raised.
    """
    reports = _Reports(report)
    number = next(NUMBERS)
    try:
        messages: list[Message] = call(workers, connections, "begin", number, task, *arguments)
        while (kind := _find_kind(messages)) != "done":
            answer = (
                _add_up(messages) if kind == "all_reduce" else reports.pass_on(*messages[0][1:])
            )
            messages = call(workers, connections, "go_on", number, answer)
    except WorkersLost:
        raise
    except BaseException:
        with contextlib.suppress(WorkersLost):
            abandon(workers, connections)
        raise
    if reports.ends is not None:
        raise reports.ends
    return [message[1] for message in messages]


@dataclass
class _Reports:
    """The way of reports to a callback, whose error is kept: it ends the run."""

    report: Callable[[int, float], None] | None
    ends: BaseException | None = None

    def pass_on(self, done: int, risk: float) -> str | None:
        """Call the callback; return the answer to the shards."""
        if self.report is None or self.ends is not None:
            return None
        try:
            self.report(done, risk)
        except BaseException as error:
            self.ends = error
            return STOP
        return None


def _find_kind(messages: Sequence[Message]) -> str:
    """Return the kind of all shards' messages; raise the error of a failed one."""
    kinds = {message[0] for message in messages}
    if "failed" in kinds:
        raise next(message[1] for message in messages if message[0] == "failed")
    if len(kinds) > 1:
        raise RuntimeError(f"shards do not do the same: {sorted(kinds)}")
    (kind,) = kinds
    return str(kind)


def _add_up(messages: Sequence[Message]) -> tuple[Any, Any]:
    _, sums, largest = messages[0]
    for _, more, others in messages[1:]:
        sums, largest = sums + more, np.maximum(largest, others)
    return sums, largest
