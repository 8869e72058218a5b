"""Test the link of ordered classes: probabilities are differences of the inverse link."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import properboost as pb
from properboost.losses.ordered_link import OrderedLink


@settings(deadline=None, max_examples=40)
@given(
    F=st.floats(-40.0, 40.0),
    thresholds=st.lists(st.floats(-30.0, 30.0), min_size=1, max_size=6),
    loss=st.sampled_from(["glog", "ggauss", "gboost", "exponential", "savage", "tangent"]),
)
def test_probabilities_are_differences_of_the_inverse_link(F, thresholds, loss):
    loss, thresholds = pb.losses.get_loss(loss), np.sort(thresholds)
    (p,) = OrderedLink(loss, thresholds).probabilities(np.array([F]))
    assert p.min() >= 0.0
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    up_to = np.append(loss.probability(thresholds - F), 1.0)
    np.testing.assert_allclose(np.cumsum(p), up_to, atol=1e-12)


def test_small_probabilities_keep_their_digits():
    link = OrderedLink(pb.losses.get_loss("glog"), np.array([0.0, 1.0]))
    p = link.probabilities(np.array([300.0, -300.0]))
    left, right = (np.exp(-np.array([299.0, 300.0]) / link.loss.gain) for _ in range(2))
    np.testing.assert_allclose(p[0, 1], left[0] - right[1], rtol=1e-9)
    np.testing.assert_allclose(p[1, 1], np.exp(-300.0) - np.exp(-301.0), rtol=1e-9)
