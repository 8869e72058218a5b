"""Waiting for what Dask computes: workers that have frozen are given up, so that others do it."""

import time
from collections.abc import Collection, Sequence
from typing import Any

from properboost.dask.lockstep import Lost
from properboost.extras import import_extra

__all__ = ["compute", "remove_workers", "wait_for"]

LOOKS = 1.0
"""Seconds after which it is asked how the workers are."""


def wait_for(
    client: Any, futures: Sequence[Any], deadline: float, expected: Collection[str] = ()
) -> None:
    """Wait until futures are done, and raise what one of them raised.

    Workers that have not been heard of for so long are given up.  Raises Lost if any of those that
    are `expected` is not there any more.
    """
    distributed = import_extra("distributed", "DaskProperBoostClassifier needs", "dask")
    while True:
        try:
            distributed.wait(futures, timeout=LOOKS)
            break
        except TimeoutError:
            known = client.run_on_scheduler(_give_up_frozen, deadline)
            if gone := [worker for worker in expected if worker not in known]:
                raise Lost(gone) from None
            if not known:
                raise RuntimeError("the cluster has no worker") from None
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
    client.run_on_scheduler(_remove, sorted(workers))


async def _remove(workers: Sequence[str], dask_scheduler: Any = None) -> None:
    for worker in workers:
        if worker in dask_scheduler.workers:
            await dask_scheduler.remove_worker(
                address=worker, stimulus_id="properboost-lost", close=True
            )


async def _give_up_frozen(deadline: float, dask_scheduler: Any = None) -> list[str]:
    """Return the workers that are left."""
    now = time.time()
    frozen = [
        worker
        for worker, state in dask_scheduler.workers.items()
        if now - state.last_seen > max(deadline, 5.0)  # they are heard of every second or so
    ]
    await _remove(frozen, dask_scheduler)
    return list(dask_scheduler.workers)
