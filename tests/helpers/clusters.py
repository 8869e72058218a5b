"""Dask clusters on this machine, and what they are asked."""

import contextlib
import signal
import sys
from functools import cache

import pytest

from helpers.time_limits import within

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
            with contextlib.suppress(TimeoutError), within(SECONDS_TO_CLOSE):
                client.close()
                workers.close()


def file_of(model, folder):
    """The bytes of a model's file."""
    model.save_model(folder / "model.json")
    return (folder / "model.json").read_bytes()
