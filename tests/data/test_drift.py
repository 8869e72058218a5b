"""Test counts of values that training did not have, against counts by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.frames import open_new
from properboost.data.binning import CategoricalBins, NumericBins, find_bins
from properboost.data.drift import count_drift

NAMES = ["unseen", "rare", "below", "above", "missing"]


def count(values, bins, weight=None):
    X = np.array(values, dtype=object).reshape(-1, 1)
    counts = count_drift(open_new(X), [bins], None if weight is None else [weight])
    assert list(counts) == NAMES
    return {name: numbers[0] for name, numbers in counts.items() if numbers[0] != 0.0}


def test_numbers_beyond_the_span():
    bins = NumericBins(np.array([0.5]), span=(0.0, 1.0))
    assert count([0.0, 1.0, 0.5], bins) == {}
    assert count([-1.0, -np.inf, 0.5, np.inf], bins) == {"below": 2.0, "above": 1.0}


def test_all_numbers_are_beyond_an_empty_span():
    bins = NumericBins(np.empty(0), span=(np.inf, -np.inf))
    assert count([0.0, 7.0], bins) == {"below": 2.0, "above": 2.0}


def test_an_unknown_span():
    counts = count([0.0, np.nan], NumericBins(np.empty(0)), np.array([1.0, 1.0]))
    np.testing.assert_equal(counts, {"below": np.nan, "above": np.nan})


def test_missing_values_are_new_where_training_had_none():
    numbers, words = NumericBins(np.empty(0), span=(0.0, 0.0)), CategoricalBins(("a",))
    for bins, value in ((numbers, np.nan), (words, None)):
        weight = np.ones(bins.width)
        assert count([value, value], bins, weight) == {}
        weight[bins.n_bins] = 0.0
        assert count([value, value], bins, weight) == {"missing": 2.0}
        np.testing.assert_equal(count([value], bins), {"missing": np.nan})


def test_categories():
    assert count(["a", "b", "c", "d"], CategoricalBins(("a", "b"))) == {"unseen": 2.0}
    rare = count(["a", "b", "c", "d"], CategoricalBins(("a", "b"), has_rare=True))
    np.testing.assert_equal(rare, {"unseen": np.nan, "rare": 2.0})


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
@given(data=st.data())
def test_training_rows_do_not_drift(dtype, data):
    width = 32 if dtype is np.float32 else 64
    numbers = st.floats(width=width) if dtype is not np.int8 else st.integers(-128, 127)
    rows = data.draw(st.lists(st.tuples(numbers, numbers), min_size=2, max_size=6))
    table = open_new(np.array(rows, dtype=dtype))
    bins = find_bins(table, [], None, max_numeric=4, max_categories=4, seed=0, n_threads=1)
    counts = count_drift(table, bins, None)
    assert not np.any([counts["below"], counts["above"]])
