"""Test the thresholds of ordered classes, and what a comparison of a row with one weighs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import properboost as pb
from properboost.fitting.thresholds import (
    find_shares_above,
    find_thresholds,
    start_thresholds,
    weigh_comparison,
)


@settings(deadline=None, max_examples=20)
@given(counts=st.lists(st.integers(1, 50), min_size=2, max_size=9))
def test_a_comparison_weighs_what_its_variance_is_worth(counts):
    y = np.repeat(np.arange(len(counts)), counts)
    above = y[:, None] > np.arange(len(counts) - 1)
    expected = above.var(axis=0).sum() / above.sum(axis=1).var()
    assert weigh_comparison(above.mean(axis=0)) == pytest.approx(expected, rel=1e-9)
    if len(counts) == 2:
        assert expected == pytest.approx(1.0)


@settings(deadline=None, max_examples=20)
@given(
    counts=st.lists(st.integers(1, 50), min_size=2, max_size=6),
    loss=st.sampled_from(["glog", "ggauss", "gboost", "exponential", "savage", "tangent"]),
    weighs=st.booleans(),
)
def test_thresholds_of_no_features_are_those_of_the_shares(counts, loss, weighs):
    loss, y = pb.losses.get_loss(loss), np.repeat(np.arange(len(counts)), counts)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighs else None
    shares = find_shares_above(y, weight, len(counts))
    above = y[:, None] > np.arange(len(counts) - 1)
    np.testing.assert_allclose(shares, np.average(above, axis=0, weights=weight))
    starts = start_thresholds(loss, shares)
    np.testing.assert_allclose(loss.probability(-starts), shares)
    solved = find_thresholds(loss, np.zeros(len(y)), y, weight)
    np.testing.assert_allclose(loss.probability(-solved), shares, atol=1e-9)


def test_weights_of_groups_are_those_of_their_rows():
    rng = np.random.default_rng(1)
    raw, y, weight = rng.normal(size=200), rng.integers(0, 4, 200), rng.integers(1, 4, 200)
    loss = pb.losses.get_loss("glog")
    weighted = find_thresholds(loss, raw, y, weight.astype(float))
    repeated = find_thresholds(loss, np.repeat(raw, weight), np.repeat(y, weight), None)
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)
