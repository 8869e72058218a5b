"""A pytest plugin: which test file reaches which line, how long it takes, and what fails in it.

The run must be under ``coverage run``.  What is imported while tests are collected has no file.
"""

import json
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

seconds: dict[str, float] = defaultdict(float)
failing: list[str] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the tests of a file come one after the other."""
    items.sort(key=_name_file)


def _name_file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Count what runs as reached by the test's file."""
    measured = coverage.Coverage.current()
    assert measured is not None
    name = _name_file(item)
    measured.switch_context(name)
    start = time.monotonic()
    result = yield
    seconds[name] += time.monotonic() - start
    measured.switch_context("")
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep which tests fail as it is."""
    if report.failed:
        failing.append(report.nodeid)


def pytest_sessionfinish() -> None:
    """Write what was learnt to the file that MUTATE_REACH names."""
    found = {"seconds": dict(seconds), "failing": failing}
    Path(os.environ["MUTATE_REACH"]).write_text(json.dumps(found), encoding="utf-8")
