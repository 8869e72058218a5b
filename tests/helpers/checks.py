"""Helpers for scikit-learn's checks of estimators."""

from unittest import SkipTest

import pytest


def run_check(estimator, check):
    """Run one check; a skip is a failure, unless the check needs another environment."""
    try:
        check(estimator)
    except SkipTest as skipped:
        if "SCIPY_ARRAY_API" not in str(skipped):
            pytest.fail(f"it need not be skipped: {skipped}")
        raise
