"""Losses: facts against facts, formulas against formulas, single precision against double."""

import copy
import dataclasses
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import BaseEstimator, clone

from helpers.oracles import LOSSES as ORACLE
from properboost import _core, losses
from properboost.losses import (
    LOSSES,
    Alpha,
    Exponential,
    GBoost,
    GGauss,
    GLaplacian,
    GLog,
    MarginLoss,
    Savage,
    get_loss,
)

EXTRA = [Alpha(0.0), Alpha(1e-6), Alpha(0.4), Alpha(0.5)]
ALL = [get_loss(name) for name in _core.loss_names()] + EXTRA
every_loss = pytest.mark.parametrize("loss", ALL, ids=repr)
gains = st.floats(math.log(0.02), math.log(50.0)).map(math.exp)
margins = st.floats(-12.0, 12.0)  # at gain 1
drawn = settings(max_examples=60, deadline=None, derandomize=True)


def at_gain(loss: MarginLoss, gain: float) -> MarginLoss:
    return dataclasses.replace(loss, gain=gain)


def largest_error(value, exact):
    """Return the largest relative error, 0 where both are 0."""
    value, exact = np.asarray(value, float), np.asarray(exact, float)
    assert value.shape == exact.shape
    wrong = value != exact
    return float(np.max(np.abs(value - exact)[wrong] / np.abs(exact)[wrong], initial=0.0))


# --- facts worked out elsewhere ---------------------------------------------------------------


def oracle_cases():
    for name, cases in ORACLE.items():
        for key, case in cases.items():
            *alphas, gain = (float(x) for x in key.split(","))
            parameters = {"alpha": alphas[0]} if alphas else {}
            yield pytest.param(get_loss(name, gain, **parameters), case, id=f"{name}-{key}")


@pytest.mark.parametrize(("loss", "case"), list(oracle_cases()))
def test_agrees_with_the_oracle(loss, case):
    v = np.array(case["margin"])
    checked = 0
    for what in ("loss", "weight", "curvature", "probability"):
        if what not in case:
            continue
        value, exact = getattr(loss, what)(v), np.array(case[what])
        if loss.name == "ggauss" and what in ("loss", "probability"):
            # The oracle subtracts neighbouring numbers here; TAILS below has the small values.
            np.testing.assert_allclose(value, exact, rtol=1e-12, atol=1e-15)
        else:
            assert largest_error(value, exact) < 1e-12
        checked += value.size
    assert checked >= 20
    if "loss_margin" in case:
        assert loss.loss_margin == pytest.approx(case["loss_margin"], rel=1e-12)


# 60-digit arithmetic: (loss, method, argument, value).
TAILS = [
    (GGauss(), "loss", 3.0, 0.01857928178162592),
    (GGauss(), "loss", 6.0, 3.2185058451976223e-05),
    (GGauss(), "loss", 10.0, 4.4858293094943965e-11),
    (GGauss(), "loss", 20.0, 3.0919644279158642e-37),
    (GGauss(), "loss", 40.0, 3.6813126127605366e-140),
    (GGauss(), "weight", 20.0, 2.4587770876346895e-36),
    (GGauss(), "weight", 40.0, 5.8009119721502206e-139),
    (GGauss(), "probability", -40.0, 5.8009119721502206e-139),
    (GGauss(), "link", 1e-300, -59.118612319674538),
    (GGauss(), "link", 1e-20, -14.78055630911115),
    (GGauss(), "link", 0.3, -0.83682214553370507),
    (GGauss(), "minimum_risk", 1e-300, 5.9161623846587921e-299),
    (GGauss(), "minimum_risk", 1e-20, 1.4949041514636957e-19),
    (GGauss(), "minimum_risk", 0.3, 0.55483713755085192),
    (Alpha(0.125), "loss", 30.0, 2.449645657193123e-12),
    (Alpha(0.375), "loss", 50.0, 3.0640044203220609e-14),
    (Alpha(0.375), "weight", 50.0, 1.9150027627012881e-14),
    (Alpha(0.25), "loss", -60.0, 7845641.6939323314),
    (Alpha(0.25), "weight", -60.0, 1961410.4234834499),
    (GLog(), "loss", 300.0, math.exp(-300.0)),
    (GBoost(), "loss", 1e9, 1e-9),
    (GBoost(), "weight", 1e9, 1e-18),
    (GBoost(), "weight", 1e100, 1e-200),
    (Savage(), "loss", 100.0, math.exp(-400.0)),
    (Savage(), "weight", -100.0, 4.0 * math.exp(-200.0)),
]


@pytest.mark.parametrize(("loss", "method", "argument", "value"), TAILS)
def test_tails_keep_their_digits(loss, method, argument, value):
    assert getattr(loss, method)(argument) == pytest.approx(value, rel=1e-11, abs=0.0)


@pytest.mark.parametrize(
    ("loss", "distribution"),
    [
        (GLog, stats.logistic()),
        (GGauss, stats.norm(scale=4.0 / math.sqrt(2.0 * math.pi))),
        (GLaplacian, stats.laplace(scale=2.0)),
        (GBoost, stats.t(2, scale=math.sqrt(2.0))),
    ],
)
@pytest.mark.parametrize("gain", [0.3, 1.0, 7.0])
def test_a_canonical_loss_is_its_distribution(loss, distribution, gain):
    loss = loss(gain)
    v = gain * np.linspace(-30.0, 30.0, 241)
    p = np.concatenate([np.geomspace(1e-12, 0.4, 40), np.linspace(0.41, 0.999, 40)])
    assert largest_error(loss.probability(v), distribution.cdf(v / gain)) < 1e-8
    assert largest_error(loss.weight(v), distribution.sf(v / gain)) < 1e-8
    assert largest_error(loss.curvature(v), distribution.pdf(v / gain) / gain) < 1e-12
    assert largest_error(1 / loss.regularization_strength(v), loss.curvature(v)) < 1e-12
    np.testing.assert_allclose(loss.link(p), gain * distribution.ppf(p), rtol=1e-8, atol=1e-9)


def test_alpha_runs_from_the_logistic_to_the_exponential_loss():
    v = np.linspace(-40.0, 40.0, 161)
    p = np.linspace(0.01, 0.99, 25)
    for alpha, twin in ((Alpha(0.0, 1.5), GLog(1.5)), (Alpha(0.5, 1.5), Exponential(3.0))):
        for method in ("loss", "weight", "curvature", "probability", "regularization_strength"):
            assert largest_error(getattr(alpha, method)(v), getattr(twin, method)(v)) < 1e-12
        assert largest_error(alpha.minimum_risk(p), twin.minimum_risk(p)) < 1e-12
        np.testing.assert_allclose(alpha.link(p), twin.link(p), rtol=1e-12, atol=1e-15)
    near = Alpha(1e-7)
    assert largest_error(near.loss(v), Alpha(0.0).loss(v)) < 1e-5


def test_permissible_losses_are_here():
    # Matsushita's loss, and phi_mu, whose link is the derivative of -(1 - mu) sqrt(p (1 - p)).
    v = np.linspace(-5.0, 5.0, 41)
    assert largest_error(GBoost(0.5).loss(v), (np.sqrt(1.0 + v**2) - v) / 2.0) < 1e-12
    p, mu, h = np.linspace(0.05, 0.95, 19), 0.6, 1e-6
    derivative = (np.sqrt((p - h) * (1 - p + h)) - np.sqrt((p + h) * (1 - p - h))) / (2 * h)
    link = GBoost((1.0 - mu) / 2.0).link(p)
    np.testing.assert_allclose(link, (1.0 - mu) * derivative, rtol=1e-7, atol=1e-9)


# --- every loss, whatever its formula -----------------------------------------------------------


def test_one_class_a_native_loss():
    assert list(LOSSES) == [*_core.loss_names(), "tangent"]  # which is written in Cython
    assert [loss.name for loss in ALL[: len(_core.loss_names())]] == _core.loss_names()
    assert {get_loss(name).native.name for name in LOSSES} == set(LOSSES)
    facts = {loss.name: (loss.convex, loss.canonical) for loss in ALL}
    assert facts == {
        "glog": (True, True),
        "ggauss": (True, True),
        "glaplacian": (True, True),
        "gboost": (True, True),
        "exponential": (True, False),
        "savage": (False, False),
        "alpha": (True, False),
    }


@every_loss
@given(gain=gains, u=margins)
@drawn
def test_weight_and_curvature_are_derivatives(loss, gain, u):
    loss = at_gain(loss, gain)
    v, h = gain * u, gain * 1e-5
    rounding = 1e-10 * (abs(loss.loss(v)) / gain + 1.0)  # of the loss, over h
    slope = (loss.loss(v + h) - loss.loss(v - h)) / (2.0 * h)
    assert slope == pytest.approx(-loss.weight(v), rel=1e-6, abs=rounding)
    bend = (loss.weight(v - h) - loss.weight(v + h)) / (2.0 * h)
    # 1e-6 of the largest curvature, because the Laplacian's curvature has a kink at 0.
    assert gain * bend == pytest.approx(gain * loss.curvature(v), rel=1e-6, abs=1e-6 + rounding)


@every_loss
@given(gain=gains, p=st.floats(1e-6, 1.0 - 1e-6))
@drawn
def test_the_link_minimises_the_risk(loss, gain, p):
    loss = at_gain(loss, gain)
    F = loss.link(p)

    def risk(F):
        return p * loss.loss(F) + (1.0 - p) * loss.loss(-F)

    assert p * loss.weight(F) == pytest.approx((1.0 - p) * loss.weight(-F), rel=1e-9)
    assert risk(F) == pytest.approx(loss.minimum_risk(p), rel=1e-9)
    assert min(risk(F - 0.3 * gain), risk(F + 0.3 * gain)) > risk(F)
    assert loss.minimum_risk(1.0 - p) == pytest.approx(loss.minimum_risk(p), rel=1e-9)


@every_loss
@given(gain=gains, exponent=st.floats(-300.0, -1e-3), u=margins)
@drawn
def test_link_and_probability_are_inverse(loss, gain, exponent, u):
    loss = at_gain(loss, gain)
    p = 10.0**exponent
    assert loss.probability(loss.link(p)) == pytest.approx(p, rel=1e-9, abs=0.0)
    left = gain * -abs(u)  # where the probability keeps every digit
    assert loss.link(loss.probability(left)) == pytest.approx(left, rel=1e-9, abs=1e-12 * gain)
    assert loss.probability(-left) == 1.0 - loss.probability(left)
    assert loss.link(1.0 - 2.0**-40) == -loss.link(2.0**-40)


@every_loss
def test_link_near_one_half(loss):
    # The slope there is rho(0); except for the Laplacian, the second derivative is 0.
    p = 0.5 + np.random.default_rng(0).uniform(1e-7, 1e-6, 50)
    rise = p - 0.5
    if loss == GLaplacian():
        rise = -0.5 * np.log1p(-2.0 * rise)
    assert largest_error(loss.link(p), loss.regularization_strength(0.0) * rise) < 2e-11


@every_loss
@given(gain=gains)
@drawn
def test_loss_margin(loss, gain):
    # mu = -phi'(0) / phi''(0) = rho(0) / 2, and rho is nowhere below 2 mu.
    loss = at_gain(loss, gain)
    mu = gain * (1.0 if loss.name in ("exponential", "savage") else 2.0)
    assert loss.loss_margin == pytest.approx(mu, rel=1e-12)
    assert loss.loss_margin == pytest.approx(loss.regularization_strength(0.0) / 2.0, rel=1e-12)
    rho = loss.regularization_strength(gain * np.linspace(-50.0, 50.0, 101))
    assert np.all(rho >= 2.0 * mu * (1.0 - 1e-12))
    assert np.sum(rho <= 2.0 * mu * (1.0 + 1e-6)) == 1
    assert loss.is_regularizer == (2.0 * loss.loss_margin >= 1.0)


UNITS = {"exponential": 2.0, "savage": 2.0, "tangent": 4.0, "modified_least_squares": 2.0}


@pytest.mark.parametrize(
    "loss",
    [
        *ALL, losses.Tangent(), losses.ModifiedLeastSquares(), losses.from_pdf(stats.logistic()),
        losses.from_pdf(stats.t(3)), losses.from_functions(lambda u: np.exp(-u), name="mine"),
        losses.from_functions(lambda u: np.exp(-u), name="mine", tabulate=False),
        losses.from_pdf(stats.logistic(), lambda v: -2 * np.sinh(v / 4)),
        losses.from_risk(lambda p: p * (1 - p), lambda p: np.log(p / (1 - p)) / 2),
        losses.Permissible("mu", 0.3),
    ],
    ids=repr,
)  # fmt: skip
def test_a_unit_of_gain_has_the_loss_margin_of_glog(loss):
    assert at_gain(loss, loss.gain_unit).loss_margin == pytest.approx(2.0, rel=1e-5)
    assert at_gain(loss, 7.3).gain_unit == loss.gain_unit  # it is of the loss, at any gain
    if loss.name in LOSSES or loss.name in UNITS:
        assert loss.gain_unit == UNITS.get(loss.name, 1.0)  # exactly: bits depend on it


def test_a_loss_that_is_straight_at_0_has_gains_of_its_own():
    straight = losses.from_functions(
        lambda u: np.where(np.abs(u) <= 1.0, 1.0, np.exp(np.minimum(1.0 - np.abs(u), 0.0))),
        name="straight", scale=1.0, validate=False,
    )  # fmt: skip
    assert straight.gain_unit == 1.0
    assert straight.rate_factor == 1.0


@pytest.mark.parametrize(
    "loss",
    [loss for loss in ALL if loss.name not in UNITS and loss.parameters.get("alpha", 0) < 0.4],
    ids=repr,
)
def test_trees_are_shrunk_by_the_gain_where_weights_hardly_double(loss):
    assert at_gain(loss, 3.0).rate_factor == 3.0


@pytest.mark.parametrize(
    ("loss", "margin", "weight"),
    [
        (losses.Exponential(), 1.0, lambda u: np.exp(-u)),
        (losses.Savage(), 1.0, lambda u: np.exp(2.0 * u) / (1.0 + np.exp(2.0 * u)) ** 3),
        (losses.Tangent(), 0.5, lambda u: (1.0 - 2.0 * np.arctan(u)) / (1.0 + u * u)),
    ],
    ids=["exponential", "savage", "tangent"],
)
def test_trees_are_shrunk_more_where_rows_that_are_wrong_weigh_too_much(loss, margin, weight):
    ratio = weight(-margin) / weight(0.0)
    expected = margin / 2.0 / max(ratio / 2.0, 1.0) ** 2
    assert loss.rate_factor == pytest.approx(expected, rel=1e-5)
    assert at_gain(loss, 3.0).rate_factor == pytest.approx(3.0 * expected, rel=1e-5)


def test_trees_learn_as_fast_under_two_names_of_a_loss():
    assert losses.Exponential(2.0).rate_factor == losses.Alpha(0.5).rate_factor < 1.0


@every_loss
def test_smallest_gain_of_a_regularizer(loss):
    least = 0.5 if loss.name in ("exponential", "savage") else 0.25
    assert at_gain(loss, least).is_regularizer
    assert not at_gain(loss, 0.999 * least).is_regularizer


@every_loss
def test_shape(loss):
    u = np.linspace(-10.0, 10.0, 401)
    assert np.all(np.diff(loss.loss(u)) < 0.0)
    assert np.all(loss.weight(u) > 0.0)
    p = loss.probability(u)
    assert np.all(np.diff(p) > 0.0)
    np.testing.assert_allclose(p + loss.probability(-u), 1.0, rtol=0, atol=2e-16)
    if loss.convex:
        assert np.all(loss.curvature(u) > 0.0)
    if loss.canonical:
        assert largest_error(loss.weight(u), loss.probability(-u)) == 0.0
        assert largest_error(loss.loss(-u) - loss.loss(u), u) < 1e-12
    else:
        assert np.max(np.abs(loss.weight(u) - loss.probability(-u))) > 1e-9 or loss == Alpha(0.0)


def test_savage_is_concave_where_p_is_below_one_third():
    u = np.linspace(-8.0, 8.0, 320)
    p = Savage().probability(u)
    assert np.all(np.sign(Savage().curvature(u)) == np.sign(3.0 * p - 1.0))
    assert 0 < np.sum(p < 1.0 / 3.0) < len(u)
    bound = Savage(2.0).loss(np.array([-200.0, -1e300]))
    np.testing.assert_array_equal(bound, 2.0)


@every_loss
def test_far_margins_reach_their_limits(loss):
    with np.errstate(all="raise"):
        for far in (np.inf, 1e308):
            v = np.array([-far, far])
            values = loss.loss(v)
            assert values[0] == 1.0 if loss == Savage() else values[0] >= far
            assert values[1] < 1e-100
            assert loss.probability(v)[0] < 1e-290
            assert loss.probability(v)[1] == 1.0
            assert loss.weight(v)[1] < 1e-100
            assert np.all(loss.regularization_strength(v) > 1e100)
    np.testing.assert_array_equal(loss.link([0.0, 0.5, 1.0]), [-np.inf, 0.0, np.inf])
    np.testing.assert_array_equal(loss.minimum_risk([0.0, 1.0]), [0.0, 0.0])
    assert loss.minimum_risk(1e-300) > 0.0
    assert loss.minimum_risk(0.5) == pytest.approx(float(loss.loss(0.0)), rel=1e-14)


# --- link, binding and minimum risk ---------------------------------------------------------------

CURVED = [
    *ALL, losses.Tangent(), losses.LeastSquares(), losses.ModifiedLeastSquares(),
    losses.from_pdf(stats.t(3)), losses.from_pdf(stats.logistic(), lambda v: -2 * np.sinh(v / 4)),
]  # fmt: skip
every_curve = pytest.mark.parametrize("loss", CURVED, ids=repr)


def reach_of(loss):
    """Return the margin, at gain 1, up to which probabilities are between 0 and 1."""
    bounded = {"tangent": math.tan(0.5), "least_squares": 1.0, "modified_least_squares": 1.0}
    return bounded.get(loss.name, 6.0)


@pytest.mark.parametrize(
    ("loss", "binding"),
    [
        (Exponential(), lambda v: np.exp(-v) - np.exp(v)),  # BoostLR, eq. 42
        (GLog(), lambda v: -v),  # eq. 43
        (Savage(), lambda v: -np.tanh(v)),
        (Alpha(0.25), lambda v: -4.0 * (1 - 0.25) / (2 - 0.75) * 2 * np.sinh(v / 4)),
        (losses.LeastSquares(), lambda v: -4.0 * v),
        (
            losses.from_pdf(stats.logistic(), lambda v: -2 * np.sinh(v / 4)),
            lambda v: -2 * np.sinh(v / 4),
        ),
    ],
)
@pytest.mark.parametrize("gain", [0.3, 1.0, 4.0])
def test_binding_functions(loss, binding, gain):
    u = np.linspace(-8.0, 8.0, 65) if loss != losses.LeastSquares() else np.linspace(-1, 1, 65)
    actual = at_gain(loss, gain).binding(gain * u)
    np.testing.assert_allclose(actual, gain * binding(u), rtol=1e-7, atol=1e-7 * gain)


@every_curve
@given(gain=gains, share=st.floats(-0.99, 0.99))
@drawn
def test_link_and_binding_make_the_loss(loss, gain, share):
    """BoostLR, eqs. 34 to 36, with derivatives by differences."""
    loss = at_gain(loss, gain)
    v = gain * share * reach_of(loss)
    p, beta = loss.probability(v), loss.binding(v)
    near = {"rel": 1e-6, "abs": 1e-6 * gain}
    h = 1e-4 * min(p, 1.0 - p)
    slope = (loss.minimum_risk(p + h) - loss.minimum_risk(p - h)) / (2.0 * h)
    assert beta == pytest.approx(slope, **near)
    assert loss.loss(v) == pytest.approx(loss.minimum_risk(p) + (1.0 - p) * beta, **near)
    h = 1e-5 * gain
    falls = (loss.binding(v + h) - loss.binding(v - h)) / (2.0 * h)
    assert falls < 0.0
    assert loss.weight(v) == pytest.approx(-(1.0 - p) * falls, rel=1e-5, abs=1e-5)
    assert loss.binding(-v) == -beta


def test_generalization_factor():
    assert GLog(2.0).generalization_factor(4.0) == pytest.approx(8.0 / 4.0)
    assert Exponential().generalization_factor(1) == pytest.approx(2.0)
    with pytest.raises(ValueError, match="norm must be above 0; got 0"):
        GLog().generalization_factor(0.0)


# --- the elicitation form -------------------------------------------------------------------------

# SavageBoost, Table 2: I_1, and J.
TABLE_2 = [
    (losses.LeastSquares(), lambda p: -4 * (1 - p) ** 2, lambda p: -4 * p * (1 - p)),
    (losses.ModifiedLeastSquares(), lambda p: -4 * (1 - p) ** 2, lambda p: -4 * p * (1 - p)),
    (losses.Hinge(), lambda p: np.sign(2 * p - 1) - 1, lambda p: np.abs(2 * p - 1) - 1),
    (Exponential(), lambda p: -np.sqrt((1 - p) / p), lambda p: -2 * np.sqrt(p * (1 - p))),
    (GLog(), np.log, lambda p: p * np.log(p) + (1 - p) * np.log(1 - p)),
    (Savage(), lambda p: -((1 - p) ** 2), lambda p: -p * (1 - p)),
]


@pytest.mark.parametrize(("loss", "reward", "best"), TABLE_2, ids=lambda x: getattr(x, "name", ""))
def test_rewards_of_table_2(loss, reward, best):
    p = np.linspace(0.01, 0.99, 99)
    np.testing.assert_allclose(loss.reward(p), reward(p), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(loss.reward(p, -1), reward(1 - p), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(loss.expected_reward(p), best(p), rtol=1e-9, atol=1e-12)
    # Twice the gain, twice the reward.
    np.testing.assert_allclose(at_gain(loss, 2.0).reward(p), 2 * reward(p), rtol=1e-9, atol=1e-12)


probabilities = st.floats(0.001, 0.999)


@every_curve
@given(gain=gains, p=probabilities, q=probabilities, share=st.floats(0.0, 1.0))
@drawn
def test_the_best_forecast_is_the_probability(loss, gain, p, q, share):
    """SavageBoost, eqs. 9 to 13."""
    loss = at_gain(loss, gain)
    rounding = 1e-9 * gain * (1.0 + abs(loss.reward(q)) + abs(loss.reward(q, -1))) / gain
    best = loss.expected_reward(p)
    assert loss.expected_reward(p, p) == pytest.approx(best, rel=1e-7)
    assert loss.expected_reward(p, q) <= best + rounding
    # J is convex; its tangent at q is the reward of q (eqs. 11 and 12).
    mixed = share * p + (1.0 - share) * q
    chord = share * best + (1.0 - share) * loss.expected_reward(q)
    assert loss.expected_reward(mixed) <= chord + rounding
    slope = -loss.binding(loss.link(q))
    near = {"rel": 1e-6, "abs": rounding}
    assert loss.reward(q) == pytest.approx(loss.expected_reward(q) + (1 - q) * slope, **near)
    assert loss.reward(q, -1) == pytest.approx(loss.expected_reward(q) - q * slope, **near)
    bregman = best - loss.expected_reward(q) - (p - q) * slope
    assert loss.divergence(p, q) == pytest.approx(bregman, **near)
    # Eq. 7: the cost of q's raw prediction above the least one.
    raw = loss.link(q)
    risk = p * loss.loss(raw) + (1.0 - p) * loss.loss(-raw)
    assert loss.divergence(p, q) == pytest.approx(risk - loss.minimum_risk(p), **near)


def test_certain_forecasts():
    loss = GLog()
    assert loss.reward([0.0, 1.0]).tolist() == [-math.inf, 0.0]
    assert loss.expected_reward([0.0, 0.5, 1.0], 0.0).tolist() == [0.0, -math.inf, -math.inf]
    assert loss.divergence([0.0, 1.0], [0.0, 1.0]).tolist() == [0.0, 0.0]
    assert loss.expected_reward(np.zeros((2, 1)), np.full(3, 0.5)).shape == (2, 3)
    assert isinstance(loss.expected_reward(0.5, 0.5), float)
    assert isinstance(loss.expected_reward(0.5), float)
    assert isinstance(loss.divergence(0.5, 0.4), float)
    assert np.isnan(loss.expected_reward(np.nan, 0.5))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda loss: loss.reward(1.5), "forecast must be between 0 and 1; got 1.5"),
        (lambda loss: loss.reward(0.5, 0), "y must be 1 or -1; got 0"),
        (lambda loss: loss.expected_reward(-0.1, 0.5), "p must be between 0 and 1; got -0.1"),
        (lambda loss: loss.divergence(0.5, 2), "forecast must be between 0 and 1; got 2"),
    ],
)
def test_rewards_check_their_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call(GLog())


METHODS = [
    "binding",
    "reward",
    "loss",
    "weight",
    "curvature",
    "probability",
    "regularization_strength",
    "link",
    "minimum_risk",
]


@every_loss
@pytest.mark.parametrize("method", METHODS)
def test_shapes_in_are_shapes_out(loss, method):
    function = getattr(loss, method)
    x = np.array([[0.1, 0.2, np.nan], [0.4, 0.5, 0.6]])
    value = function(x)
    assert value.shape == (2, 3)
    assert value.dtype == np.float64
    assert np.isnan(value[0, 2])
    assert np.isfinite(np.delete(value.ravel(), 2)).all()
    np.testing.assert_array_equal(function(x.T), value.T)
    np.testing.assert_array_equal(function(x[:, ::2]), value[:, ::2])
    np.testing.assert_array_equal(function(x.tolist()), value)
    assert function(np.zeros((0, 2))).shape == (0, 2)
    assert isinstance(function(0.4), float)
    assert function(0.4) == value[1, 0]
    assert function(np.float32(0.5)) == value[1, 1]
    assert function(1) == function(1.0)


# --- the engine's single precision --------------------------------------------------------------

# Relative errors where |u| < 15 and anywhere; half a unit in the last place is 6e-8.  Alpha's
# exponent is a rounded product, whose error the exponential multiplies by its size.
PRECISION = {
    "glog": (4e-7, 4e-7),
    "ggauss": (8e-7, 8e-7),
    "glaplacian": (2e-7, 2e-7),
    "gboost": (5e-7, 5e-7),
    "exponential": (2e-7, 2e-7),
    "savage": (8e-7, 8e-7),
    "alpha": (2e-6, 8e-6),
}


@every_loss
def test_engine_agrees_with_double_precision(loss):
    rng = np.random.default_rng(0)
    size = np.exp(rng.uniform(np.log(1e-6), np.log(150.0), 30_000)).astype(np.float32)
    u = np.concatenate([size, -size, np.linspace(-20, 20, 30_001, dtype=np.float32)])
    exact_u = u.astype(np.float64)
    native = loss.native
    expected = loss.curvature(exact_u)
    if not loss.convex:
        p, q = loss.probability(exact_u), loss.probability(-exact_u)
        expected = p * loss.curvature(exact_u) + q * loss.curvature(-exact_u)
    exponent = {"exponential": 1.0, "alpha": loss.parameters.get("alpha", 0.0)}
    in_range = exact_u > -64.0 / max(exponent.get(loss.name, 0.0), 1e-9)  # below, growth is stopped
    near, anywhere = PRECISION.get(loss.name, (1e-6, 1e-5))
    for value, exact in (
        (native.engine_loss(u), loss.loss(exact_u)),
        (native.engine_weight(u), loss.weight(exact_u)),
        (native.engine_curvature(u), expected),
        (native.engine_probability(u), loss.probability(exact_u)),
    ):
        assert value.dtype == np.float32
        large = in_range & (exact > 2e-37)
        central = large & (np.abs(u) < 15.0)
        assert central.sum() > 40_000
        assert largest_error(value[central], exact[central]) < near
        assert largest_error(value[large], exact[large]) < anywhere
        assert np.all(np.abs(value[in_range & ~large]) < 3e-37)


def test_savage_curvature_is_expected_in_the_engine():
    u = np.linspace(-6.0, 6.0, 101, dtype=np.float32)
    p = Savage().probability(u)
    assert largest_error(Savage().native.engine_curvature(u), 8.0 * (p * (1.0 - p)) ** 2) < 2e-6


@pytest.mark.parametrize("loss", [*ALL, Alpha(6e-17), Alpha(1e-30)], ids=repr)
def test_engine_is_finite_everywhere(loss):
    every = np.concatenate(
        [np.geomspace(1e-45, 3.4028234e38, 4001), [0.0, 63.9, 64.1, 87.34, 88.8]]
    )
    u = np.sort(np.concatenate([-every, every]).astype(np.float32))
    assert u.max() == np.finfo(np.float32).max
    weight = loss.native.engine_weight(u)
    for value in (weight, loss.native.engine_loss(u), loss.native.engine_curvature(u)):
        assert np.isfinite(value).all()
        assert (value >= 0.0).all()
    if loss.convex:
        assert np.isfinite(np.sum(np.full(65_536, weight.max(), np.float32)))
        rise = np.diff(weight.astype(np.float64))
        assert np.all(rise <= 1e-5 * weight[1:])  # falls, up to rounding
    assert np.isnan(loss.native.engine_weight(np.full(5, np.nan, np.float32))).all()
    assert np.isnan(loss.native.engine_loss(np.full(5, np.nan, np.float32))).all()
    assert np.isnan(loss.native.engine_curvature(np.full(5, np.nan, np.float32))).all()


@pytest.mark.parametrize(
    ("loss", "stop"), [(Exponential(), 64.0), (Alpha(0.5), 128.0), (Alpha(0.25), 256.0)]
)
def test_growth_stops_in_the_engine_alone(loss, stop):
    weight = loss.native.engine_weight(np.float32([-stop, -stop - 1.0, -1e30]))
    assert weight[0] == pytest.approx(loss.weight(-stop), rel=1e-5)
    assert weight[0] == weight[1] == weight[2]
    assert loss.weight(-stop - 1.0) > 1.2 * loss.weight(-stop)


@every_loss
def test_engine_does_not_care_where_a_row_is(loss):
    # Vector body and scalar remainder of the loops give the same bits.
    u = np.random.default_rng(1).normal(0.0, 5.0, 67).astype(np.float32)
    for function in ("engine_weight", "engine_loss", "engine_curvature"):
        whole = getattr(loss.native, function)(u)
        for start in range(9):
            part = getattr(loss.native, function)(u[start : start + 13])
            np.testing.assert_array_equal(part, whole[start : start + 13])
        assert whole.shape == u.shape
        assert getattr(loss.native, function)(u.reshape(1, 67)).shape == (1, 67)


# --- objects ------------------------------------------------------------------------------------


@every_loss
def test_losses_are_values(loss):
    other = at_gain(loss, 2.5)
    assert other != loss
    assert loss == at_gain(other, 1.0)
    assert hash(loss) == hash(at_gain(other, 1.0))
    assert loss != "glog"
    assert eval(repr(other), vars(losses)) == other
    assert copy.deepcopy(other) == other
    other.loss(0.3)  # the native object exists now
    pickled = pickle.dumps(other)
    assert b"_core" not in pickled
    assert pickle.loads(pickled) == other
    assert pickle.loads(pickled).loss(0.3) == other.loss(0.3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        other.gain = 3.0
    assert isinstance(at_gain(loss, np.float32(2)).gain, float)
    assert len({repr(member) for member in ALL}) == len(set(ALL)) == len(ALL)


def test_repr():
    assert repr(GLog()) == "GLog(gain=1.0)"
    assert repr(Alpha(0.375, 2)) == "Alpha(alpha=0.375, gain=2.0)"
    assert dict(Alpha(0.375).parameters) == {"alpha": 0.375}
    assert dict(GLog(2.0).parameters) == {}


def test_sklearn_clones_losses():
    class Estimator(BaseEstimator):
        def __init__(self, loss=None):
            self.loss = loss

    estimator = Estimator(Alpha(0.1, 3.0))
    assert clone(estimator).loss == estimator.loss


@pytest.mark.parametrize("make", [*LOSSES.values()], ids=list(LOSSES))
@pytest.mark.parametrize(
    ("gain", "error"),
    [
        (0.0, ValueError),
        (-1, ValueError),
        (math.nan, ValueError),
        (math.inf, ValueError),
        ("1", TypeError),
        (None, TypeError),
        (True, TypeError),
        ([1.0], TypeError),
        (1j, TypeError),
    ],
)
def test_gain_is_checked(make, gain, error):
    with pytest.raises(error, match=r"gain must be .*above 0; got") as caught:
        make(gain=gain)
    assert repr(gain) in str(caught.value)


@pytest.mark.parametrize(
    ("alpha", "error"),
    [(-0.01, ValueError), (0.51, ValueError), (math.nan, ValueError), ("a", TypeError)],
)
def test_alpha_is_checked(alpha, error):
    with pytest.raises(error, match=r"alpha must be .*between 0 and 0.5; got"):
        Alpha(alpha)


@every_loss
@pytest.mark.parametrize("bad", [-1e-9, 1.0000001, [0.5, 2.0], math.inf])
def test_probabilities_are_checked(loss, bad):
    for method in (loss.link, loss.minimum_risk):
        with pytest.raises(ValueError, match="p must be between 0 and 1; got"):
            method(bad)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("hinge", {}, "loss must be one of 'glog', .*; got 'hinge'"),
        ("glog", {"alpha": 0.1}, "'glog' has no parameter 'alpha'; it takes none"),
        ("alpha", {}, "'alpha' needs the parameter 'alpha'"),
        ("alpha", {"alpha": 0.6}, "alpha must be between 0 and 0.5; got 0.6"),
        ("alpha", {"alpha": math.nan}, "alpha must be between 0 and 0.5; got nan"),
        ("alpha", {"alpha": 0.1, "beta": 1.0}, "no parameter 'beta'; it takes 'alpha'"),
    ],
)
def test_errors_of_native_losses_name_the_fault(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        _core.Loss(name, parameters)
