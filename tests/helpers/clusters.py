"""Dask clusters on this machine, and what they are asked."""

import contextlib

import pytest

distributed = pytest.importorskip("distributed")


FILTERS = ("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
"""What clusters leave behind: sockets that they close later."""


@contextlib.contextmanager
def cluster(n_workers=2, *, processes=False):
    """A client of a cluster of workers with a thread each."""
    with (
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=processes,
            dashboard_address=":0",
            silence_logs=50,
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


def file_of(model, folder):
    """The bytes of a model's file."""
    model.save_model(folder / "model.json")
    return (folder / "model.json").read_bytes()
