"""Savage's two rewards: SavageBoost, eqs. 9 to 15 and Table 2, by formulas and by differences."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import properboost as pb
from properboost.losses import LeastSquares, LogarithmicReward, QuadraticReward, get_loss

KINDS = (QuadraticReward, LogarithmicReward)
curvatures, others = st.floats(0.01, 50.0), st.floats(-20.0, 20.0)
inner = st.floats(0.01, 0.99)
each_kind = pytest.mark.parametrize("kind", KINDS)


def best(kind, k, l, m, p):  # noqa: E741
    """Return J of eqs. 14 and 15, and its derivative."""
    if kind is QuadraticReward:
        return k * p**2 + l * p + m, 2 * k * p + l
    return m + l * p - k * np.log(p), l - k / p


@each_kind
@given(k=curvatures, l=others, m=others, p=inner, q=inner)
def test_rewards_are_those_of_their_best(kind, k, l, m, p, q):  # noqa: E741
    pay = kind(k, l, m)
    near = {"rel": 1e-9, "abs": 1e-9 * (k / q + abs(l) + abs(m))}
    assert pay.expected_reward(p) == pytest.approx(best(kind, k, l, m, p)[0], **near)
    J, slope = best(kind, k, l, m, q)
    assert pay.reward(q) == pytest.approx(J + (1 - q) * slope, **near)  # eq. 11
    assert pay.reward(q, -1) == pytest.approx(J - q * slope, **near)  # eq. 12
    expected = p * pay.reward(q) + (1 - p) * pay.reward(q, -1)
    assert pay.expected_reward(p, q) == pytest.approx(expected, **near)  # eq. 9
    short = best(kind, k, l, m, p)[0] - J - (p - q) * slope  # eq. 13
    assert pay.divergence(p, q) == pytest.approx(short, **near)
    assert pay.divergence(p, q) >= 0.0
    assert pay.divergence(p, p) == 0.0


def test_table_2_as_printed():
    k, l, m, p = 3.0, -2.0, 5.0, np.linspace(0.01, 1.0, 100)  # noqa: E741
    first, second = QuadraticReward(k, l, m), LogarithmicReward(k, l, m)
    np.testing.assert_allclose(first.reward(p), -k * (1 - p) ** 2 + m + k + l)
    np.testing.assert_allclose(first.reward(p, -1), -k * p**2 + m)
    np.testing.assert_allclose(second.reward(p), -k * (1 / p + np.log(p)) + m + k + l)
    np.testing.assert_allclose(second.reward(p, -1), -k * np.log(p) + m + k)


def test_least_squares_are_the_first_with_like_classes():
    p, q = np.linspace(0.0, 1.0, 21), np.linspace(0.0, 1.0, 21)[:, None]
    pay, loss = QuadraticReward(4.0, -4.0), LeastSquares()
    for y in (1, -1):
        np.testing.assert_allclose(pay.reward(p, y), loss.reward(p, y), atol=1e-14)
    np.testing.assert_allclose(pay.divergence(p, q), loss.divergence(p, q), atol=1e-14)


@given(k=curvatures, p=inner, q=inner, by=st.floats(0.05, 1.0))
def test_differences_and_ratios(k, p, q, by):
    shift = (1.0 - max(p, q)) * by
    moved = QuadraticReward(k).divergence(p + shift, q + shift)
    assert moved == pytest.approx(QuadraticReward(k).divergence(p, q), abs=1e-12 * k)
    scaled = LogarithmicReward(k).divergence(by * p, by * q)
    assert scaled == pytest.approx(LogarithmicReward(k).divergence(p, q), rel=1e-6, abs=1e-12 * k)


def test_the_ends():
    pay = LogarithmicReward(2.0, 1.0, 3.0)
    assert pay.expected_reward([0.0, 1.0]).tolist() == [math.inf, 4.0]
    assert pay.reward([0.0, 1.0]).tolist() == [-math.inf, 4.0]
    assert pay.reward([0.0, 1.0], -1).tolist() == [math.inf, 5.0]
    assert pay.expected_reward([0.0, 0.5, 1.0], 0.0).tolist() == [math.inf, -math.inf, -math.inf]
    assert pay.divergence([0.0, 0.5, 0.0], [0.0, 0.0, 0.5]).tolist() == [0.0, math.inf, math.inf]
    assert pay.divergence(1e-300, 1e-300 * (1 + 1e-9)) < 1e-17
    assert QuadraticReward().expected_reward([0.0, 1.0], [0.0, 1.0]).tolist() == [0.0, 0.0]
    for kind in KINDS:
        assert kind().expected_reward(np.zeros((2, 1)), np.full(3, 0.5)).shape == (2, 3)
        assert isinstance(kind().divergence(0.5, 0.5), float)


@each_kind
def test_they_are_values_and_no_loss(kind):
    pay = kind(2, 1, 0)
    assert pay == kind(2.0, 1.0) == pickle.loads(pickle.dumps(pay))
    assert len({pay, kind(2.0, 1.0), kind()}) == 2
    with pytest.raises(ValueError, match="is a curve to draw, and no model can be trained with it"):
        get_loss(pay)
    with pytest.raises(ValueError, match="no model can be trained with it"):
        pb.ProperBoostClassifier(pay, weak_learner="table").fit([[0.0], [1.0]] * 9, [0, 1] * 9)
    for name, value in (("k", 0.0), ("k", -1.0)):
        with pytest.raises(ValueError, match=f"{name} must be above 0; got"):
            kind(**{name: value})
    for name in ("l", "m"):
        with pytest.raises(ValueError, match=f"{name} must be a finite number; got inf"):
            kind(**{name: math.inf})
    with pytest.raises(ValueError, match="y must be 1 or -1; got 0"):
        pay.reward(0.5, 0)
    with pytest.raises(ValueError, match="forecast must"):
        pay.divergence(0.5, 1.5)
