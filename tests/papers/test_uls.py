"""ULS (Nock and Nielsen 2009): Theorem 2, permissible functions, and rules grown by them."""

from typing import get_args

import numpy as np
import pytest
from sklearn.base import clone

import properboost as pb
from helpers.solved_steps import LEARNERS, MU, features_of, noisy, sides
from properboost.losses import PermissibleFunction, get_loss
from properboost.parameters.kinds import SOLVED, Criterion
from properboost.parameters.learners import make_learner

PHIS = ("entropy", "matsushita", "mu")


def gain_of(phi, mu):
    """Return the parameters that set the mu of ``phi="mu"`` in `ULS`."""
    return {"gain": (1 - mu) / 2} if phi == "mu" else {}


def loss_of(model):
    return get_loss(model.loss, model.gain)


# -- Theorem 2 ------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", SOLVED)
@pytest.mark.parametrize("weak_learner", ["stump", "rule"])
@pytest.mark.parametrize("phi", PHIS)
def test_the_surrogate_falls_as_fast_as_in_theorem_2(phi, weak_learner, step):
    X, y, _ = noisy(4)
    y = sides(y)
    m = len(y)
    function = PermissibleFunction(phi, mu=MU)
    b = function.depth
    model = pb.ULS(
        phi, **gain_of(phi, MU), weak_learner=weak_learner, step=step, n_estimators=12
    ).fit(X, y)
    # F_phi is the loss over b_phi, 1 at margin 0: a sum over rows that starts at m.
    surrogate = np.concatenate([[m], m / b * model.history_["risk"]])
    expected = function.surrogate(y * model.decision_function(X)).sum()
    assert surrogate[-1] == pytest.approx(expected, rel=1e-5)
    assert np.all(surrogate >= 0.0)

    H = features_of(model, X)
    totals, averages, bounds = [], [], []
    for j in range(model.n_iter_):
        # The weights before the round, of a model of j rounds.
        before = clone(model).set_params(n_estimators=j).fit(X, y) if j else None
        w = model.loss_.weight(np.zeros(m) if before is None else y * before.decision_function(X))
        chosen = H[:, : j + 1] if step == "totally_corrective" else H[:, [j]]
        edge = np.abs((w * y) @ chosen / w.sum())
        gamma = abs(np.mean((w * y) @ chosen / w.sum()))  # eq. 42
        size = np.sqrt(np.max(np.sum(chosen**2, axis=0)))
        # Eq. 45 with eq. 44 holds for every chosen feature; the newest one's bound is the tightest.
        bounds.append(function.least_curvature / 2 * (edge[-1] * w.sum() / size) ** 2 / b)
        # Eq. 46 and 47.
        assert bounds[-1] >= function.least_fall(gamma, w.sum(), size)
        totals.append(w.sum())
        averages.append(gamma)
    falls = -np.diff(surrogate)
    assert np.all(falls >= np.array(bounds))
    means = float(np.mean(averages)), min(totals), size
    assert model.n_iter_ <= function.most_rounds(m, *means)  # eq. 43
    assert model.n_iter_ <= function.most_rounds(m, *means, surrogate=surrogate[-1])


def test_weights_start_at_one_half():
    for phi in PHIS:
        assert loss_of(pb.ULS(phi)).weight(0.0) == 0.5


# -- permissible functions ------------------------------------------------------------------------


def test_losses_are_the_surrogates_of_table_1():
    v = np.linspace(-30, 30, 121)
    root = np.sqrt((1 - MU) ** 2 + v**2)
    cases = {
        "matsushita": (-v + np.sqrt(1 + v**2), (1 + v / np.sqrt(1 + v**2)) / 2, 2.0),
        "entropy": (np.logaddexp(0, -v) / np.log(2), 1 / (1 + np.exp(-v)), 1 / np.log(2)),
        "mu": ((root - v) / (1 - MU), (1 + v / root) / 2, 2 / (1 - MU)),
    }
    for phi, (surrogate, probability, scale) in cases.items():
        loss = loss_of(pb.ULS(phi, **gain_of(phi, MU)))
        np.testing.assert_allclose(scale * loss.loss(v), surrogate, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(loss.probability(v), probability, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore:step=")  # ten rules separate some rows
@pytest.mark.parametrize("weak_learner", ["stump", "rule", "table"])
@pytest.mark.parametrize("step", SOLVED)
def test_mu_is_matsushita_with_exact_steps(weak_learner, step):
    X, y, s = noisy(5)
    settings = {"weak_learner": weak_learner, "step": step, "n_estimators": 10}
    one = pb.ULS("matsushita", **settings).fit(X, y, s)
    for mu in (0.0, 0.5, 0.99):
        other = pb.ULS("mu", **gain_of("mu", mu), **settings).fit(X, y, s)
        np.testing.assert_array_equal(one.history_["feature"], other.history_["feature"])
        raw = (1 - mu) * one.decision_function(X)
        np.testing.assert_allclose(other.decision_function(X), raw, rtol=1e-12, atol=1e-14)
        # Margins, eq. 27.
        margins = [
            2 * m.loss_.probability(sides(y) * m.decision_function(X)) - 1 for m in (one, other)
        ]
        np.testing.assert_allclose(*margins, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(
    ("phi", "error", "message"),
    [
        ("gini", ValueError, "phi must not be 'gini', whose link is bounded.*UDTClassif"),
        ("zeta", ValueError, "phi must not be 'zeta', whose link is bounded.*UDTClassif"),
        ("hinge", ValueError, "phi must be one of 'matsushita', 'entropy', 'mu'; got 'hi"),
        (None, TypeError, "phi must be one of 'matsushita', 'entropy', 'mu'; got None"),
    ],
)
def test_other_permissible_functions_are_refused(phi, error, message):
    with pytest.raises(error, match=message):
        pb.ULS(phi)


def test_rules_are_grown_by_phi_and_stumps_have_the_largest_edge():
    for learner in LEARNERS:
        grown = make_learner(learner).is_grown
        for phi in PHIS:
            criterion = {"entropy": "entropy"}.get(phi, "matsushita") if grown else None
            assert pb.ULS(phi, weak_learner=learner).criterion == criterion
    X, y, _ = noisy(14)
    model = pb.ULS(n_estimators=5).fit(X, y)
    assert np.all(model.history_["cost"] > 0)  # sum |W+ - W-|, the edge
    H = features_of(model, X)
    first = abs(np.mean(sides(y) * H[:, 0]))
    for column in "bcd":
        for cut in range(5):
            assert first >= abs(np.mean(sides(y) * np.where(X[column] > cut, 1, -1))) - 1e-6


# -- criteria -------------------------------------------------------------------------------------


def impurity(phi, positive, negative):
    total = positive + negative
    if total == 0:
        return 0.0
    p = positive / total
    return (
        total
        * {
            "gini": p * (1 - p),
            "entropy": -sum(q * np.log(q) for q in (p, 1 - p) if q > 0),
            "matsushita": np.sqrt(p * (1 - p)),
        }[phi]
    )


@pytest.mark.parametrize("criterion", get_args(Criterion))
def test_a_first_stump_is_that_of_least_impurity(criterion):
    X, y, s = noisy(6)
    X = X[["b", "c", "d"]].to_numpy()
    model = pb.ProperBoostClassifier(
        "glog", weak_learner="stump", response="real", criterion=criterion, n_estimators=1,
        rows_per_bin=None,
    ).fit(X, y, s)  # fmt: skip
    costs = {
        (j, cut): sum(
            impurity(criterion, s[cell & (y == 1)].sum(), s[cell & (y == 0)].sum())
            for cell in (X[:, j] <= cut, X[:, j] > cut)
        )
        for j in range(3)
        for cut in range(5)
    }
    j, cut = min(costs, key=costs.get)
    assert model.history_["feature"][0] == j
    below = model.decision_function(X) == model.decision_function(X[X[:, j] <= cut])[0]
    np.testing.assert_array_equal(below, X[:, j] <= cut)
    # The score is still the response's.
    total = s.sum()
    share = [s[(below == side) & (y == k)].sum() / total for side in (0, 1) for k in (0, 1)]
    expected = np.sqrt(share[0] * share[1]) + np.sqrt(share[2] * share[3])
    assert model.history_["cost"][0] == pytest.approx(expected, rel=1e-6)


def test_matsushita_is_the_cost_of_the_real_response():
    X, y, s = noisy(7)
    for learner in LEARNERS.values():
        settings = {"weak_learner": learner, "n_estimators": 5}
        with_criterion, without = (
            pb.ProperBoostClassifier(criterion=c, **settings).fit(X, y, s)
            for c in ("matsushita", None)
        )
        np.testing.assert_array_equal(
            with_criterion.decision_function(X), without.decision_function(X)
        )


def test_rules_by_impurity_do_not_stand_still_on_plateaus():
    """No literal lowers the error of unbalanced classes, but the impurity still falls."""
    rng = np.random.default_rng(8)
    X = rng.integers(0, 4, (500, 3)).astype(float)
    y = rng.random(500) < np.where((X[:, 0] > 1) & (X[:, 1] > 1), 0.45, 0.05)
    settings = {"weak_learner": "rule", "response": "sign", "n_estimators": 1}
    for criterion in (None, *get_args(Criterion)):
        model = pb.ProperBoostClassifier(criterion=criterion, **settings).fit(X, y)
        (rule,) = model.rules()
        assert len(rule.conditions) == (0 if criterion is None else 2)
