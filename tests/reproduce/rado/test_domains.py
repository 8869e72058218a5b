"""The rado paper's experiment, against brute force."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from properboost import rado
from properboost.reproduce.rado import claim_adaboost, claim_regularising, domains, table2


@pytest.fixture
def rows():
    random = np.random.default_rng(0)
    X = np.asfortranarray(random.normal(size=(80, 5)) * [1.0, 3.0, 0.2, 1.0, 1.0])
    y = (X @ [1.0, 0.2, 0.0, -0.5, 0.0] + random.normal(size=80) > 0.2).astype(np.int64)
    return X, y, np.where(y == 1, 1.0, -1.0)


@pytest.mark.parametrize("beta", [1e-4, 1.0, 20.0])
def test_a_step_minimises_the_bound(beta):
    random = np.random.default_rng(1)
    plus, minus = random.uniform(0.1, 9.0, size=(2, 20))
    theta = random.normal(size=20) * (random.random(20) < 0.7)
    steps = domains.find_steps(plus, minus, theta, beta)
    for p, m, t, step in zip(plus, minus, theta, steps, strict=True):

        def bound(s, p=p, m=m, t=t):
            return p * np.exp(-s) + m * np.exp(s) + beta * abs(t + s)

        minimum = minimize_scalar(bound, (-1.0, 1.0), options={"xtol": 1e-12})
        assert bound(step) <= minimum.fun + 1e-12


def test_without_a_penalty_it_is_adaboost(rows, monkeypatch):
    monkeypatch.setattr(domains, "ROUNDS", 30)
    X, _, side = rows
    features, steps = domains.boost(side[:, None] * X)
    penalised_features, penalised_steps = domains.boost_with_l1(X, side, 1e-12)
    assert penalised_features.tolist() == features.tolist()
    np.testing.assert_allclose(penalised_steps, steps, rtol=1e-8)


def test_a_penalty_leaves_coefficients_out(rows, monkeypatch):
    monkeypatch.setattr(domains, "ROUNDS", 200)
    X, _, side = rows
    sizes = [len(np.unique(domains.boost_with_l1(X, side, beta)[0])) for beta in (1e-4, 10.0, 1e4)]
    assert sizes[0] > sizes[1] > sizes[2] == 0


def test_the_classifier_of_least_cost_is_kept(rows):
    X, y, side = rows
    rounds = domains.boost(side[:, None] * X)
    features, steps = rounds[0][:40], rounds[1][:40]
    thetas = [np.bincount(features[:t], steps[:t], minlength=5) for t in range(41)]
    wrong = [np.sum((X @ theta > 0.0) != y) for theta in thetas]
    best = domains.keep_best((features, steps), X, y, domains.errors)
    np.testing.assert_allclose(best, thetas[int(np.argmin(wrong))])
    losses = [np.log1p(np.exp(-side * (X @ theta))).sum() for theta in thetas]
    best = domains.keep_best((features, steps), X, y, domains.logistic)
    np.testing.assert_allclose(best, thetas[int(np.argmin(losses))])


@pytest.mark.parametrize("regularizer", domains.REGULARIZERS)
def test_omegas_that_are_not_tried_change_nothing(rows, monkeypatch, regularizer):
    monkeypatch.setattr(domains, "ROUNDS", 50)
    X, y, _ = rows
    rados = rado.make_rados(X, y, len(y), 3, 1).values
    thetas = domains.fit_omegas(rados, regularizer, X, y, domains.errors)
    for omega, theta in zip(domains.OMEGAS, thetas, strict=True):
        rounds = domains.boost(rados, regularizer, omega)
        np.testing.assert_array_equal(theta, domains.keep_best(rounds, X, y, domains.errors))


RECORDS = {
    "magic": {
        "rows": 100,
        "errors": {"AdaBoost": [20.0, 30.0], "none": [25.0]}
        | {name: [24.0 + k, 23.0 - k] for k, name in enumerate(domains.REGULARIZERS)},
        "coefficients": {"AdaBoost": [6.0, 0.0], "none": [2.0]}
        | {name: [1.0, 5.0] for name in domains.REGULARIZERS},
    },
    "german": {
        "rows": 10,
        "errors": {"AdaBoost": [30.0, 30.0], "none": [30.0]}
        | {name: [30.0, 30.0] for name in domains.REGULARIZERS}
        | {"slope": [29.0, 30.0]},
        "coefficients": {"AdaBoost": [0.0, 0.0], "none": [0.0]}
        | {name: [0.0, 0.0] for name in domains.REGULARIZERS},
    },
}


def test_wins_are_counted_without_ties():
    best = table2.tabulate(RECORDS, domains.BEST)
    assert best["ridge", "none"] == 10.0  # on one of two sets
    assert best["none", "ridge"] == 0.0
    assert best["slope", "AdaBoost"] == 10.0  # 20 each on magic
    assert table2.tabulate(RECORDS, domains.MEAN)["slope", "AdaBoost"] == 10.0  # 29.5 and 30


def test_claims_are_about_the_best_regulariser():
    claims = claim_regularising.tabulate(RECORDS, domains.BEST)
    assert claims[claim_regularising.FALL] == 5.0
    assert claims[claim_regularising.DENSER] == 3.0
    assert claims[claim_regularising.RANGE] == 1.0
    shares = claim_regularising.tabulate(RECORDS, claim_regularising.PERCENT)
    assert shares[claim_regularising.FALL] == 20.0
    claims = claim_adaboost.tabulate(RECORDS, domains.BEST)
    assert claims[claim_adaboost.LOSS] == -0.5
    assert claims[claim_adaboost.DEFEATS] == 10.0
