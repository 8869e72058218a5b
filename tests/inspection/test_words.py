"""Test bins and values in words."""

import numpy as np
import pytest

from properboost.data.binning import CategoricalBins, NumericBins
from properboost.inspection.words import describe, label_bins, label_level


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (37, "37"),
        (37.0, "37"),
        (np.float32(0.1), "0.1"),
        (np.int64(-3), "-3"),
        (1234567.0, "1234567"),
        (0.123456789, "0.123457"),
        (1e-9, "1e-09"),
        (1e20, "1e+20"),
        (0.0, "0"),
        (np.inf, "inf"),
        (-np.inf, "-inf"),
        (np.nan, "missing"),
        (None, "missing"),
        (True, "True"),
        ("Wife", "Wife"),
        ("", "''"),
        (" ", "' '"),
    ],
)
def test_values(value, words):
    assert describe(value) == words


def test_numeric_bins_are_described_by_their_edges():
    assert label_bins(NumericBins(np.array([25.5, 37.5]))) == ("<= 25.5", "25.5 to 37.5", "> 37.5")
    assert label_bins(NumericBins(np.empty(0))) == ("any",)
    assert label_bins(NumericBins(np.array([51195.0, 1e6]))) == (
        "<= 51195", "51195 to 1000000", "> 1000000",
    )  # fmt: skip


def test_edges_have_the_digits_that_distinguish_them():
    third, next_third = 1 / 3, np.nextafter(1 / 3, 1)
    low, middle, high = label_bins(NumericBins(np.array([third, 0.5])))
    assert (low, middle, high) == ("<= 0.3333", "0.3333 to 0.5", "> 0.5")
    low, middle, high = label_bins(NumericBins(np.array([third, next_third])))
    assert middle == f"{low.removeprefix('<= ')} to {high.removeprefix('> ')}"
    assert low.removeprefix("<= ") != high.removeprefix("> ")


def test_categories_are_described_without_quotes():
    bins = CategoricalBins(("Wife", 3.0, True), has_rare=True)
    assert label_bins(bins) == ("Wife", "3", "True", "rare and unseen")


def test_levels_share_bins():
    numeric = NumericBins(np.array([1.0, 2.0, 3.0]))
    assert label_level(numeric, [0, 1]) == "<= 2"
    assert label_level(numeric, [1, 2]) == "1 to 3"
    assert label_level(numeric, [3]) == "> 3"
    assert label_level(numeric, [0, 1, 2, 3]) == "any"
    assert label_level(numeric, [3, 4]) == "> 3 or missing"
    assert label_level(numeric, [4]) == "missing"
    bins = CategoricalBins(("Wife", "Husband"), has_rare=True)
    assert label_level(bins, [0, 1]) == "Wife, Husband"
    assert label_level(bins, [1, 2]) == "Husband, others"
    assert label_level(bins, [2, 3]) == "others or missing"
