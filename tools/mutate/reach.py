"""A pytest plugin: the lines that each test file reaches, its seconds, and its failures.

The run must be under ``coverage run``.  Lines of imports during collection have no test file.
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
    """Sort the tests so that those of a file run one after the other."""
    items.sort(key=_name_file)


def _name_file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Record the lines that a test reaches for its file."""
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
    """Record the tests that fail without a mutation."""
    if report.failed:
        failing.append(report.nodeid)


def pytest_sessionfinish() -> None:
    """Write the record to the file that MUTATE_REACH names."""
    record = {"seconds": dict(seconds), "failing": failing}
    Path(os.environ["MUTATE_REACH"]).write_text(json.dumps(record), encoding="utf-8")
