"""Proportions, the coverage of their intervals, and their log-odds."""

import numpy as np
import pytest

from properboost.report.proportions import estimate_proportion, find_log_odds


def test_of_no_rows_nothing_is_known():
    none = np.empty(0)
    assert not estimate_proportion(none.astype(bool), none, 0.9).is_known


def test_shares_of_weighted_rows():
    hits = np.array([True, False, True])
    share = estimate_proportion(hits, np.array([1.0, 2.0, 1.0]), 0.9)
    assert share.value == 0.5
    plain = estimate_proportion(hits, np.ones(3), 0.9)
    assert plain == estimate_proportion(hits, np.full(3, 7.0), 0.9)  # only ratios count
    everything = estimate_proportion(np.ones(10, dtype=bool), np.ones(10), 0.9)
    assert (everything.value, everything.high) == (1.0, 1.0)
    assert everything.low == pytest.approx(10 / (10 + 1.6448536**2))  # Wilson's, of no misses


def test_intervals_have_their_nominal_coverage():
    rng = np.random.default_rng(0)
    ones, hits = np.ones(60), 0
    n = 400
    for _ in range(n):
        share = estimate_proportion(rng.random(60) < 0.3, ones, 0.9)
        hits += share.low < 0.3 < share.high
    # Four standard errors of 400 draws are 0.06.
    assert hits / n == pytest.approx(0.9, abs=0.06)


def test_log_odds_are_finite():
    log_odds = find_log_odds(np.array([0.0, 0.25, 0.5, 1.0]))
    assert np.isfinite(log_odds).all()
    np.testing.assert_allclose(log_odds[1:3], [-np.log(3.0), 0.0])
    assert float(find_log_odds(0.75)) == pytest.approx(np.log(3.0))
