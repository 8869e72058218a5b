"""The bins of the BoostLR paper's histograms."""

from dataclasses import replace

import numpy as np
import pytest

from properboost.reproduce.boostlr.histograms import (
    CONDITIONAL,
    CONDITIONAL_8,
    EVEN,
    HISTOGRAMS,
    NEW_SEEDS,
    SIGNS,
    HistogramSetting,
    list_histograms,
    setting_of,
)

NUMERIC = [False, False, False, True]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    X[:, 1] = 3.0
    X[:, 3] = rng.integers(0, 5, 40)
    X[[2, 35], 0] = np.nan
    X[36:, 2] = [-100.0, 100.0, -100.0, 100.0]  # beyond the training rows
    return X


def test_bins_of_equal_width_are_those_of_the_training_rows(table):
    train = np.arange(30)
    bins = HistogramSetting(8).cut(table, train, NUMERIC)
    column = table[:, 2]
    edges = np.histogram_bin_edges(column[train], 8)
    expected = np.clip(np.searchsorted(edges, column, side="right") - 1, 0, 7)
    np.testing.assert_array_equal(bins[:, 2], expected)
    assert bins[36:, 2].tolist() == [0.0, 7.0, 0.0, 7.0]


def test_constants_are_one_bin_and_missing_cells_and_categories_stay(table):
    bins = HistogramSetting(8).cut(table, slice(30), NUMERIC)
    assert np.all(bins[:, 1] == 0.0)
    np.testing.assert_array_equal(np.isnan(bins), np.isnan(table))
    np.testing.assert_array_equal(bins[:, 3], table[:, 3])


def test_bins_of_equal_counts_are_left_to_the_estimator(table):
    setting = HistogramSetting(8, equal_width=False)
    assert setting.cut(table, slice(30), NUMERIC) is table
    assert setting.parameters["max_bins"] == 8


def test_every_reading_has_its_setting():
    settings = [setting_of(reading.name) for reading in HISTOGRAMS]
    assert len(set(settings)) == len(settings)
    assert setting_of("of something else") == setting_of(CONDITIONAL) == settings[0]


def test_readings_differ_from_the_first_in_one_thing():
    first = setting_of(CONDITIONAL)
    assert first == HistogramSetting(16, equal_width=True, step="unit", response="conditional")
    assert setting_of(CONDITIONAL_8) == replace(first, n_bins=8)
    assert setting_of(SIGNS) == replace(first, response="sign")
    assert setting_of(EVEN) == replace(first, response="real")


def test_readings_that_were_found_by_looking_have_new_seeds():
    new = {reading.name for reading in HISTOGRAMS if reading.first_seed == NEW_SEEDS}
    assert new == {CONDITIONAL, CONDITIONAL_8, SIGNS}
    assert all(reading.first_seed in (0, NEW_SEEDS) for reading in HISTOGRAMS)
    assert {r.name: r.seeds for r in list_histograms(7) if r.seeds} == {CONDITIONAL_8: 7, EVEN: 7}
