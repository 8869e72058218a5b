"""Fixtures of the tests of losses."""

import pytest

from helpers.custom_losses import make_rows


@pytest.fixture(scope="module")
def rows():
    return make_rows()
