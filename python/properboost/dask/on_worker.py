"""Functions that run on a worker beside its tasks: imports, closing connections, staying busy."""

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

from properboost.extras import import_extra

__all__ = ["close_connections", "make_import", "stay"]

ENDING = ("closing", "closed", "failed")
"""Statuses of a worker that waits for its threads to end."""

NAP = 0.2
"""Seconds between two checks whether `stay` is still needed."""


def make_import() -> Callable[[], Any]:
    """Return a coroutine function that imports this package in a thread.

    As a local function it is pickled by value.  A function that is pickled by name would be
    imported in the worker's event loop, which would answer nobody meanwhile.
    """

    async def load() -> None:
        import asyncio
        import importlib

        await asyncio.to_thread(importlib.import_module, "properboost.dask")

    return load


def close_connections(addresses: Sequence[str], dask_worker: Any = None) -> None:
    """Close the connections to these addresses, so that nobody waits for their data."""
    for address in addresses:
        with contextlib.suppress(RuntimeError):  # a connection may be closing just now
            dask_worker.rpc.remove(address)


def stay() -> None:
    """Keep a worker busy in the scheduler's eyes, until this task is released.

    An adaptive cluster closes workers without tasks, and an actor is no task.  This task secedes,
    so it takes no thread from others.
    """
    distributed = import_extra("distributed", "a worker needs", "dask")
    worker = distributed.get_worker()
    key = worker.get_current_task()
    distributed.secede()
    while worker.status.name not in ENDING:
        task = worker.state.tasks.get(key)
        if task is None or task.state not in ("executing", "long-running"):
            return
        time.sleep(NAP)
