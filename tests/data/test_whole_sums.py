"""Test sums of floats that do not depend on the order of the terms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properboost.data.whole_sums import add_up, add_up_by, add_up_segments, mean

NUMBERS = st.lists(st.floats(-1e9, 1e9, allow_subnormal=False), min_size=1, max_size=200)


@given(NUMBERS, st.integers(0, 2**32 - 1))
def test_no_order_changes_a_sum(numbers, seed):
    values = np.array(numbers)
    order = np.random.default_rng(seed).permutation(len(values))
    assert add_up(values) == add_up(values[order])
    largest = np.abs(values).max()
    assert abs(add_up(values) - math.fsum(numbers)) <= 1e-15 * len(values) * largest


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e290])
def test_sums_are_right_to_the_last_digit(size):
    values = np.random.default_rng(0).uniform(0.1, 3.0, 100_000) * size
    assert add_up(values) == pytest.approx(math.fsum(values), rel=3e-16)
    assert mean(values) == pytest.approx(math.fsum(values) / 1e5, rel=4e-16)


def test_sums_by_code():
    rng = np.random.default_rng(1)
    codes, values = rng.integers(0, 5, 1000), rng.normal(size=1000)
    order = rng.permutation(1000)
    sums = add_up_by(codes, values, 4)
    np.testing.assert_array_equal(sums, add_up_by(codes[order], values[order], 4))
    np.testing.assert_allclose(sums, [math.fsum(values[codes == k]) for k in range(4)], rtol=1e-14)
    small = add_up_by(np.array([0, 0, 1]), np.array([1e-300, 2e-300, 1.0]), 2)
    np.testing.assert_allclose(small, [3e-300, 1.0], rtol=1e-15)
    assert add_up_by(codes[:0], values[:0], 2).tolist() == [0.0, 0.0]


def test_zeros_and_what_is_not_finite():
    assert add_up(np.zeros(3)) == add_up(np.zeros(0)) == 0.0
    assert add_up(np.array([1.0, np.inf])) == np.inf
    assert np.isnan(add_up(np.array([1.0, np.nan])))
    assert add_up(np.array([True, False, True])) == 2.0
    assert mean(np.array([1.0, 3.0]), np.array([1.0, 3.0])) == 2.5


@pytest.mark.parametrize("largest", [1.0, 1e-310, np.inf])
def test_sums_of_segments_are_those_by_code(largest):
    """A code may have several segments, and numbers that are tiny compared with another's."""
    rng = np.random.default_rng(0)
    segments, codes = np.array([0, 40_000, 40_001, 90_000, 90_500]), np.array([2, 0, 2, 1])
    values = rng.normal(size=90_500) * 10.0 ** rng.integers(-30, 30, 90_500)
    values[90_000:] *= 1e-200
    values[7] = largest
    of_values = np.repeat(codes, np.diff(segments))
    expected = add_up_by(of_values, values, 4)
    np.testing.assert_array_equal(add_up_segments(values, segments, codes, 4), expected)
