"""What runs on a worker beside what it computes: imports, and what keeps a cluster in order."""

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

from properboost.extras import import_extra

__all__ = ["close_connections", "make_import", "stay"]

ENDING = ("closing", "closed", "failed")
"""How a worker is that waits for its threads."""

NAP = 0.2
"""Seconds after which a task that only stays looks whether it is needed."""


def make_import() -> Callable[[], Any]:
    """Return what imports this package.

    It is pickled by value: what is pickled by name would be imported by the worker's loop, in which
    nothing else would be heard meanwhile.
    """

    async def load() -> None:
        import asyncio
        import importlib

        await asyncio.to_thread(importlib.import_module, "properboost.dask")

    return load


def close_connections(addresses: Sequence[str], dask_worker: Any = None) -> None:
    """Wait no longer for what workers at these addresses were to send."""
    for address in addresses:
        with contextlib.suppress(RuntimeError):  # some are just being closed
            dask_worker.rpc.remove(address)


def stay() -> None:
    """Keep a worker from looking idle, until nobody wants this task.

    A cluster that adapts closes workers without tasks, and a party is none.  This is a long-running
    one, which takes no thread of the worker's from others.
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
