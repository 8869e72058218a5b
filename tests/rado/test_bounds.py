"""The bounds of Theorems 9 to 11 on the rado loss: fits that meet the conditions meet them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from helpers.reference.rado import random_rados
from properboost import _core, rado


def problem(seed):
    random = np.random.default_rng(seed)
    d, n = int(random.integers(2, 8)), int(random.integers(3, 40))
    return random, random_rados(seed, n, d)


def weak_edge(history):
    return float(np.abs(history["edge"]).min())


def fit_with_least_edge(fit):
    """Fit with a setting that depends on the least edge of the fit; lower it until it is met."""
    edge = 0.5
    while True:
        history = fit(edge)
        if weak_edge(history) >= edge:
            return history, edge
        edge *= 0.8


@pytest.mark.parametrize("a", [1.0 / 7.0, 1.0 / 10.0, 0.19])
@pytest.mark.parametrize("seed", range(25))
def test_ridge(seed, a):
    random, rados = problem(seed)
    d, rounds = rados.shape[1], 12
    square = random.normal(size=(d, d))
    matrix = square @ square.T + 0.1 * np.eye(d)
    omega = 0.999 * rado.ridge_omega(rados, rounds, a, matrix)
    history = _core.boost_rados(rados, [("ridge", omega, matrix)], rounds, gamma=rado.ridge_edge(a))
    bound = rado.loss_bound("ridge", rounds, weak_edge(history), a)
    assert history["log_rado_loss"][-1] <= bound


@pytest.mark.parametrize("name", ["lasso", "linf"])
@pytest.mark.parametrize("seed", range(25))
def test_lasso_and_largest_coefficient(seed, name):
    _, rados = problem(seed)
    rounds, a = 12, 0.999 * 3.0 / 11.0

    def fit(edge):
        omega = rado.lasso_omega(rados, edge, a)
        return _core.boost_rados(rados, [(name, omega, None)], rounds)

    history, edge = fit_with_least_edge(fit)
    theta, at_norm = np.zeros(rados.shape[1]), 0
    for k, step in zip(history["feature"], history["step"], strict=True):
        before = np.abs(theta).max()
        theta[k] += step
        at_norm += np.abs(theta).max() != before
    n_norm_rounds = at_norm if name == "linf" else None
    bound = rado.loss_bound(name, rounds, edge, a, n_norm_rounds)
    assert history["log_rado_loss"][-1] <= bound


@pytest.mark.parametrize("seed", range(25))
def test_slope(seed):
    """Rados are large here, because no q is large enough for small ones."""
    _, rados = problem(seed)
    rados *= 1000.0 / np.abs(rados).max(axis=0).min()
    rounds, d = 8, rados.shape[1]
    q = 0.5

    def fit(_):
        return _core.boost_rados(rados, [("slope", 1.0, rado.slope_coefficients(q, d))], rounds)

    history, edge = fit_with_least_edge(fit)
    theta = np.zeros(d)
    np.add.at(theta, history["feature"], history["step"])
    assert rado.slope_q(rados, edge, theta) <= q
    bound = rado.loss_bound("slope", rounds, edge, rado.slope_share(rados, edge, q))
    assert history["log_rado_loss"][-1] <= bound


def test_slopes_coefficients_below_the_condition():
    """Condition (ii) keeps every coefficient below 3 gamma_WL / 11 times its column's size."""
    random = np.random.default_rng(0)
    rados = 40.0 * random.normal(size=(30, 5)) * [1.0, 3.0, 0.5, 2.0, 1.0]
    theta = random.normal(size=5)
    largest = np.abs(rados).max(axis=0)[np.argsort(-np.abs(theta))]
    q = rado.slope_q(rados, 0.2, theta)
    tails = [2 * (1 - norm.cdf(3 * 0.2 / 11 * largest[k - 1])) * 5 / k for k in range(1, 6)]
    assert q == pytest.approx(max(tails), rel=1e-9)
    allowed = 3 * 0.2 / 11 * largest
    assert np.all(rado.slope_coefficients(q, 5) <= allowed * (1 + 1e-9))
    assert np.any(rado.slope_coefficients(0.99 * q, 5) > allowed)


def test_edges_that_the_paper_names():
    assert 0.98 < rado.ridge_edge(1.0 / 7.0) < 0.985
    assert 0.999 < rado.ridge_edge(1.0 / 10.0) < 0.9995
    assert rado.ridge_edge(0.2 * (1 - 1e-12)) == 0.0


@given(a=st.floats(0.06, 0.1999))
def test_a_round_is_good_up_to_the_largest_edge(a):
    """The last step of the theorem's proof: a round's fall of the loss exceeds the ridge's rise."""
    most = rado.ridge_edge(a)
    r = most * np.linspace(0.01, 1.0, 100)
    excess = np.log1p(-(r**2)) + a * (4.0 * np.arctanh(r) ** 2 + r**2)
    assert np.all(excess <= 1e-6)
    above = min(most * 1.01, 0.5 * (1.0 + most))
    if above < 1.0 - 1e-9:
        assert math.log1p(-(above**2)) + a * (4.0 * math.atanh(above) ** 2 + above**2) > 0.0


def test_bounds_in_numbers():
    assert rado.loss_bound("ridge", 50, 0.2, 0.1) == pytest.approx(-0.1 * 50 * 0.04 / 2)
    assert rado.loss_bound("slope", 50, 0.2, 0.05) == pytest.approx(-0.05 * 50 * 0.04 / 2)
    assert rado.loss_bound("lasso", 50, 0.2, 0.1) == pytest.approx(-0.1 * 0.2 * 50 * 0.04 / 2)
    linf = -((50 - 20) + 0.1 * 0.2 * 20) * 0.04 / 2
    assert rado.loss_bound("linf", 50, 0.2, 0.1, 20) == pytest.approx(linf)
    rados = [[1.0, -4.0], [-2.0, 3.0]]
    assert rado.ridge_omega(rados, 10, 0.1) == pytest.approx(2 * 0.1 * 4.0 / 10)
    assert rado.ridge_omega(rados, 10, 0.1, np.diag([5.0, 1.0])) == pytest.approx(0.016)
    assert rado.lasso_omega(rados, 0.3, 0.1) == pytest.approx(0.1 * 0.3 * 2.0)
    assert rado.slope_share(rados, 0.3, 0.5) == pytest.approx(0.9 / 11)
    assert rado.slope_share(rados, 1.0, 0.9) == pytest.approx(norm.ppf(1 - 0.9 / 4) / 2.0, rel=0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rado.loss_bound("l3", 1, 0.1, 0.1), "regularizer must be one of 'ridge'"),
        (lambda: rado.loss_bound("ridge", 1, 0.1, 0.2), "a must be below 0.2 with .*'ridge'; got"),
        (lambda: rado.loss_bound("lasso", 1, 0.1, 0.3), "a must be below 0.2727 with"),
        (lambda: rado.loss_bound("lasso", 1, 0.1, 0.0), "a must be above 0; got 0"),
        (lambda: rado.loss_bound("lasso", 1, 1.1, 0.1), "weak_edge must be between 0 and 1"),
        (lambda: rado.loss_bound("linf", 1, 0.1, 0.1), "n_norm_rounds must be a number with"),
        (lambda: rado.loss_bound("lasso", 1, 0.1, 0.1, 1), "and None otherwise; got 1"),
        (lambda: rado.loss_bound("linf", 1, 0.1, 0.1, 2), "n_norm_rounds must be between 0 and 1"),
        (lambda: rado.ridge_omega([[1.0]], 0), "n_rounds must be at least 1; got 0"),
        (lambda: rado.ridge_omega([[1.0, 0.0]], 1), "not be 0 in a whole column; column 1 is"),
        (lambda: rado.ridge_omega([[1.0]], 1, 0.1, [[-1.0]]), "ridge_matrix must be positive"),
        (lambda: rado.slope_q([[1.0]], 0.1, [1.0, 2.0]), "theta must have 1 entries, as rados"),
        (lambda: rado.slope_share([[1.0]], 0.1, 1.0), "q must be above 0 and below 1"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
