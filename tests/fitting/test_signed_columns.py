"""Test columns of numbers and indicators against matrices that hold the zeros."""

import numpy as np
import pytest

from properboost.fitting.leveraging import ROUND_FIELDS, leverage
from properboost.fitting.signed_columns import Indicators, SignedColumns
from properboost.losses import GLog


def draw(n_numbers):
    """Return numbers between two features of five categories, also as a matrix."""
    rng = np.random.default_rng(n_numbers)
    sides = rng.choice([-1.0, 1.0], 90)
    numbers = rng.normal(size=(90, n_numbers)) * sides[:, None]
    levels = rng.integers(0, 6, (2, 90))
    dense = [(codes[:, None] == np.arange(1, 6)) * sides[:, None] for codes in levels]
    places, firsts = np.arange(5, 5 + n_numbers), (0, 5 + n_numbers)
    indicators = [
        Indicators(first, 5, codes, sides.copy())
        for first, codes in zip(firsts, levels, strict=True)
    ]
    columns = SignedColumns(numbers, places, indicators)
    return columns, np.hstack([dense[0], numbers, dense[1]])


@pytest.mark.parametrize("n_numbers", [0, 1, 2, 3])
def test_sums_have_the_bits_of_a_matrix(n_numbers):
    columns, matrix = draw(n_numbers)
    counts = np.random.default_rng(0).exponential(size=90)
    assert len(columns) == matrix.shape[1]
    lengths = columns.lengths(counts)
    squares = np.add.reduce(counts[:, None] * matrix * matrix, axis=0)
    np.testing.assert_array_equal(lengths, np.sqrt(squares))
    columns.divide(lengths)
    matrix /= lengths
    np.testing.assert_array_equal(
        columns.add_up(counts), np.add.reduce(matrix * counts[:, None], axis=0)
    )
    chosen = np.array([9, 0, 4])
    np.testing.assert_array_equal(columns.take(chosen), matrix[:, chosen])
    assert columns.take(chosen).strides == matrix[:, chosen].strides


@pytest.mark.parametrize("n_numbers", [0, 1, 2, 3])
@pytest.mark.parametrize("corrected", [1, 3, "so_far", "all"])
def test_indicators_are_columns_with_zeros(n_numbers, corrected):
    columns, matrix = draw(n_numbers)
    counts = np.random.default_rng(0).exponential(size=90)
    one, other = (
        leverage(form, counts, GLog(), corrected, 9) for form in (columns, SignedColumns(matrix))
    )
    np.testing.assert_array_equal(one.coefficients, other.coefficients)
    np.testing.assert_array_equal(one.norms, other.norms)
    for name in ROUND_FIELDS:
        np.testing.assert_array_equal(one.rounds[name], other.rounds[name])
