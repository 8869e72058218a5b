"""Workers that are gone: those that the scheduler has lost, or has not heard of for too long."""

import time
from collections.abc import Collection, Sequence
from typing import Any

from properboost.extras import import_extra

__all__ = ["Lost", "compute", "list_workers", "remove_workers", "wait_for"]

LOOKS = 1.0
"""Seconds after which it is asked how the workers are."""


class Lost(Exception):  # noqa: N818  # what it tells is where to go on
    """Workers that died or froze."""

    def __init__(self, workers: Collection[str]) -> None:
        super().__init__(f"lost the workers {sorted(set(workers))}")
        self.workers = set(workers)


def list_workers(client: Any, deadline: float) -> list[str]:
    """Return the workers that live: they are heard of every second or so, also when they work."""
    return list(client.run_on_scheduler(_list, deadline))


def wait_for(
    client: Any, futures: Sequence[Any], deadline: float, expected: Collection[str] = ()
) -> None:
    """Wait until futures are done, and raise what one of them raised.

    Workers that have frozen are given up, so that others do their work.  Raises Lost if any of
    those that are `expected` does not live, and RuntimeError if none has lived for so long.
    """
    distributed = import_extra("distributed", "DaskProperBoostClassifier needs", "dask")
    lived = time.monotonic()
    while True:
        try:
            distributed.wait(futures, timeout=LOOKS)
            break
        except TimeoutError:
            living = client.run_on_scheduler(_give_up_silent, deadline)
            if gone := [worker for worker in expected if worker not in living]:
                raise Lost(gone) from None
            if living:
                lived = time.monotonic()
            elif time.monotonic() - lived > deadline:
                raise RuntimeError(f"the cluster had no worker for {deadline:g} seconds") from None
    for future in futures:
        if future.status != "finished":
            future.result()


def compute(client: Any, lazy: Sequence[Any], deadline: float) -> list[Any]:
    """Return what Dask computes."""
    futures = client.compute(list(lazy))
    wait_for(client, futures, deadline)
    return list(client.gather(futures))


def remove_workers(client: Any, workers: Collection[str]) -> None:
    """Have the scheduler give up workers, whatever they still do."""
    if workers:
        client.run_on_scheduler(_remove, sorted(workers))


async def _give_up_silent(deadline: float, dask_scheduler: Any = None) -> list[str]:
    """Give up workers that are not heard of; return those that are left."""
    living = _list(deadline, dask_scheduler)
    await _remove([own for own in dask_scheduler.workers if own not in living], dask_scheduler)
    return living


def _list(deadline: float, dask_scheduler: Any = None) -> list[str]:
    now = time.time()
    return [
        worker
        for worker, state in dask_scheduler.workers.items()
        if now - state.last_seen <= deadline
    ]


async def _remove(workers: Sequence[str], dask_scheduler: Any = None) -> None:
    for worker in workers:
        if worker in dask_scheduler.workers:
            await dask_scheduler.remove_worker(
                address=worker, stimulus_id="properboost-lost", close=True
            )
