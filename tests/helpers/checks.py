"""scikit-learn's checks of estimators."""

from unittest import SkipTest

import pytest


def run_check(estimator, check):
    """Run one; that it is skipped is a failure, unless it wants another environment."""
    try:
        check(estimator)
    except SkipTest as skipped:
        if "SCIPY_ARRAY_API" not in str(skipped):
            pytest.fail(f"it need not be skipped: {skipped}")
        raise
