"""Dask clusters on this machine, and what they are asked."""

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
    # What clusters leave behind: sockets that they close later.
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
    ),
    # Workers may be waited for that never come: an alarm tells where.
    pytest.mark.timeout(120.0, method="signal" if hasattr(signal, "SIGALRM") else "thread"),
]

# Processes that are forked from one that has imported what they need, and those that take the
# places of killed ones, are there in a tenth of the time.
METHOD = {
    "distributed.worker.multiprocessing-method": (
        "forkserver" if sys.platform == "linux" else "spawn"
    )
}

SECONDS_TO_CLOSE = 30.0

COUNTS: Counter[str] = Counter()
"""What tasks count in workers that are threads here: what is sent to them is a copy, this is not.
"""


@cache
def import_before_forks():
    """Say what the server of forks imports, in place of the list that distributed makes once."""
    context = distributed.utils.get_mp_context()
    if context.get_start_method() == "forkserver":
        context.set_forkserver_preload(["distributed", "properboost.dask"])


@contextlib.contextmanager
def cluster(n_workers=2, *, processes=False):
    """A client of a cluster of workers with a thread each."""
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
            # What was killed or frozen may not let go: its processes end with this one.
            with contextlib.suppress(OutOfTime), within(SECONDS_TO_CLOSE):
                client.close()
                workers.close()


def _describe(dask_scheduler=None):
    """Say how workers and tasks are."""
    now = time.time()
    workers = [
        f"{own.address} {own.status.name}, heard of {now - own.last_seen:.1f} s ago"
        for own in dask_scheduler.workers.values()
    ]
    tasks = [
        f"{key} {own.state}, bound to {own.worker_restrictions}"
        for key, own in dask_scheduler.tasks.items()
    ]
    return "\n".join(workers + tasks)


@contextlib.contextmanager
def watched(client, seconds=90.0):
    """Fail after so many seconds with what the scheduler knows."""
    try:
        with within(seconds):
            yield
    except OutOfTime as error:
        with within(SECONDS_TO_CLOSE):
            found = client.run_on_scheduler(_describe)
        raise AssertionError(f"{error}\n{found}") from error


def file_of(model, folder):
    """The bytes of a model's file."""
    model.save_model(folder / "model.json")
    return (folder / "model.json").read_bytes()
