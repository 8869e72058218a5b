"""Hooks of pytest that fail tests which skip for a missing package.

A test that skips for a missing package passes in silence. In continuous integration, in an
environment that ``make test`` has filled, it fails instead.
"""

import os
import re
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

__all__ = ["find_missing", "is_filled", "pytest_make_collect_report", "pytest_runtest_makereport"]

MISSING = re.compile(r"(?:could not import|needs) '?(\w+)")
"""Beginnings of reasons, of `pytest.importorskip` and of tests that cannot call it."""

MAY_BE_MISSING = {
    "interpret": "its dashboards bring a web server, which the test group does without",
    "plotly": "it comes with the dashboards",
}
"""Packages that the test group lacks, with the reasons."""

if sys.version_info >= (3, 15):
    MAY_BE_MISSING |= dict.fromkeys(["shap", "numba"], "numba is late for new Pythons")


def is_filled() -> bool:
    """Return whether ``make test`` has filled this environment in continuous integration."""
    filled = (Path(sys.prefix) / "properboost" / "group-test").is_file()
    return filled and os.environ.get("CI", "").lower() in ("1", "true")


def find_missing(reason: str) -> str | None:
    """Return the required package whose absence makes a test skip, if any."""
    match = MISSING.match(reason.removeprefix("Skipped: "))
    return match[1] if match and match[1] not in MAY_BE_MISSING else None


def _refuse(report: pytest.CollectReport | pytest.TestReport) -> None:
    """Turn a forbidden skip into a failure."""
    if not (report.skipped and isinstance(report.longrepr, tuple) and is_filled()):
        return
    if missing := find_missing(report.longrepr[2]):
        report.outcome = "failed"
        report.longrepr = (
            f"{missing} must be installed where `make test` has filled the environment; a package "
            f"that may be missing there has a line in {__name__}.MAY_BE_MISSING"
        )


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Check files that skip as a whole."""
    report = yield
    _refuse(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Check tests that skip."""
    report = yield
    _refuse(report)
    return report
