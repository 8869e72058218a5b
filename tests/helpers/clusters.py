"""Dask clusters on this machine, and helpers to inspect them."""

import contextlib
import signal
import sys
import time
from collections import Counter
from functools import cache

import pytest

from helpers.time_limits import OutOfTime, within

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")


MARKS = [
    # Clusters leave sockets behind, which they close later.
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
    ),
    # A test may wait for workers that never come; the alarm shows where.
    pytest.mark.timeout(120.0, method="signal" if hasattr(signal, "SIGALRM") else "thread"),
]

# A fork server starts workers, and replacements of killed ones, in a tenth of the time, because it
# has imported what they need.
METHOD = {
    "distributed.worker.multiprocessing-method": (
        "forkserver" if sys.platform == "linux" else "spawn"
    )
}

SECONDS_TO_CLOSE = 30.0

COUNTS: Counter[str] = Counter()
"""Counts of tasks of workers that are threads here; objects sent to workers are copies."""


@cache
def import_before_forks():
    """Set what the fork server imports, in place of the list that distributed sets once."""
    context = distributed.utils.get_mp_context()
    if context.get_start_method() == "forkserver":
        context.set_forkserver_preload(["distributed", "properboost.dask"])


ABANDONED = []
"""Clients that did not close in time.  The collector must not finalise one while another client
starts: the finaliser would wait without end for a lock that the start holds."""


@contextlib.contextmanager
def cluster(n_workers=2, *, processes=False):
    """Yield a client of a cluster of workers with one thread each."""
    with dask.config.set(METHOD):
        import_before_forks()
        workers = distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=processes,
            dashboard_address=":0",
            silence_logs=50,
        )
        client = distributed.Client(workers)
        try:
            yield client
        finally:
            # Killed or frozen workers may not close; their processes end with this one.
            try:
                with within(SECONDS_TO_CLOSE):
                    client.close()
                    workers.close()
            except OutOfTime:
                ABANDONED.append(client)


def _describe(dask_scheduler=None):
    """Describe the states of workers and tasks."""
    now = time.time()
    workers = [
        f"{worker.address} {worker.status.name}, heard of {now - worker.last_seen:.1f} s ago"
        for worker in dask_scheduler.workers.values()
    ]
    tasks = [
        f"{key} {task.state}, bound to {task.worker_restrictions}"
        for key, task in dask_scheduler.tasks.items()
    ]
    return "\n".join(workers + tasks)


@contextlib.contextmanager
def watched(client, seconds=90.0):
    """Fail after this many seconds, with the scheduler's view of workers and tasks."""
    try:
        with within(seconds):
            yield
    except OutOfTime as error:
        with within(SECONDS_TO_CLOSE):
            state = client.run_on_scheduler(_describe)
        raise AssertionError(f"{error}\n{state}") from error


def file_of(model, folder):
    """Return the bytes of a model's file."""
    model.save_model(folder / "model.json")
    return (folder / "model.json").read_bytes()
