"""The arithmetic of AR-Boost's experiments, compared with a few lines of numpy."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from properboost.reproduce.arboost import fig5, fig6
from properboost.reproduce.arboost.uci_sets import tune
from properboost.reproduce.pinned_votes import make_votes


def test_stumps_of_one_direction_are_the_best_of_all_cuts():
    X, y = fig5.make_rows(60, np.random.default_rng(2))
    curves = fig5.boost_one_sided(1.0, (X, y), (X[:5], y[:5]))  # no errors tie here
    side, F = np.where(y, 1, -1), np.zeros(60)
    for t in range(5):
        w = np.exp(-side * F)
        stumps = [np.where(X[:, j] <= cut, 1, -1) for j in range(10) for cut in X[:, j]]
        errors = [np.sum(w[h != side]) / w.sum() for h in stumps]
        best = int(np.argmin(errors))
        F = F + 0.5 * np.log((1 - errors[best]) / errors[best]) * stumps[best]
        assert curves["error"][t] == pytest.approx(errors[best])
        assert curves["train"][t] == np.mean((F > 0) != y)


def test_a_limit_makes_adaboost_stall_on_the_ball():
    # scikit-learn's limit is absolute: weights add up to 1, and the impurity is about 1/2.
    X, y = fig5.make_rows(2000, np.random.default_rng(3))
    X = np.round(X, 1)  # fewer values than bins
    ours = fig5.boost(1.0, 0, (X, y), (X, y), {"min_relative_decrease": 0.03})
    F, side = np.zeros(2000), np.where(y, 1, -1)
    for error in ours["error"]:
        w = np.exp(-side * F)
        w /= w.sum()
        stump = DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight=w)
        impurity, left, right = stump.tree_.impurity
        share = stump.tree_.weighted_n_node_samples[1:] / stump.tree_.weighted_n_node_samples[0]
        enough = impurity - share @ [left, right] >= 0.03 * impurity
        votes = np.where(stump.predict(X), 1, -1) if enough else np.sign(w @ side) * np.ones(2000)
        expected = np.sum(w[votes != side])
        assert error == pytest.approx(expected, abs=1e-6)
        if expected < 0.5 - 1e-9:
            F = F + 0.5 * np.log((1 - expected) / expected) * votes
    assert ours["error"][-1] == 0.5


def test_a_bound_of_adaboost_is_the_customary_one():
    gamma = np.array([0.1, 0.3])
    np.testing.assert_allclose(fig6.bound(1.0, gamma, 7), np.exp(-2 * 7 * gamma**2))


def test_a_parameter_is_found_on_the_rows_for_training():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = (X[:, 0] > 0).astype(int)
    search = tune((make_votes(n_estimators=3), {"learning_rate": [0.1, 1.0]}), X, y, seed=0)
    assert set(search.cv_results_) > {"split0_test_score", "split4_test_score"}
    assert tune((make_votes(n_estimators=3), {}), X, y, seed=0).n_iter_ <= 3
