"""Shared by the tests of Dask."""

import pytest

from helpers.time_limits import within


@pytest.fixture(autouse=True)
def time_limit():
    """Workers may be waited for that never come."""
    with within(120.0):
        yield
