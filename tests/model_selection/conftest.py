"""Fixtures of the tests of searches."""

import pytest

from helpers.searches import integers


@pytest.fixture(scope="module")
def binary():
    return integers()


@pytest.fixture(scope="module")
def ternary():
    return integers(n_classes=3)
