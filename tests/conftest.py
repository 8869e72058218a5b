"""Fixtures and settings of all tests."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from sklearn.datasets import load_breast_cancer, load_iris

pytest.register_assert_rewrite("helpers")

from helpers.skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: E402, F401

# Parallel tests share the processors, and threads beyond these wait for each other.
# Tests of threads set their number.
if "PYTEST_XDIST_WORKER_COUNT" in os.environ:
    share = (os.cpu_count() or 1) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, share)))


def pytest_xdist_auto_num_workers():
    """Use a process more than processors: a fifth of the time tests wait for child processes."""
    return (os.cpu_count() or 1) + 1


# The same examples in every run, and no limit on their time, because shared machines pause.
settings.register_profile("properboost", deadline=None, derandomize=True)
settings.load_profile("properboost")


SLOW = ("bits", "cli", "dask", "faults", "fuzz", "helpers", "project", "reproduce")
"""Folders of slow tests, of child processes, and of tests of the repository and of helpers: a
seventh of the tests, half of the time."""


def pytest_collection_modifyitems(items):
    """Mark the tests of these folders, so that ``-m "not slow"`` runs the others."""
    here = Path(__file__).parent
    for item in items:
        if item.path.relative_to(here).parts[0] in SLOW:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="module")
def mixed():
    """A table with numbers, categories and missing values, labels and weights."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "town": pd.Categorical(rng.choice(["Bonn", "Kiel", "Ulm"], n)),
            "visits": rng.poisson(3, n),
        }
    )
    raw = 0.1 * (frame["age"] - 40) + (frame["town"] == "Ulm") - 0.2 * frame["visits"]
    y = np.where(raw + rng.logistic(size=n) > 0, "yes", "no")
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "town"] = None
    return frame, y, rng.integers(0, 4, n).astype(float)


@pytest.fixture(scope="module")
def binary():
    """Two classes, twelve features."""
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :12], y


@pytest.fixture(scope="module")
def iris():
    """Three classes."""
    return load_iris(return_X_y=True)
