"""Test the search for the pairs of features that interact most."""

import itertools

import numpy as np
import pandas as pd
import pytest

import properboost as pb
from helpers.products import make_interactions
from properboost import _core
from properboost.fitting import pair_search


@pytest.mark.parametrize("n_features", [2, 3, 5, 8])
def test_interactions_are_the_cells(n_features):
    random = np.random.default_rng(n_features)
    n = 70_000  # more rows than one stretch has
    levels = random.integers(0, 16, (n_features, n), dtype=np.uint8)
    levels[0] //= 5
    gradient = random.normal(size=n).astype(np.float32)
    variance = random.uniform(0.5, 2.0, n).astype(np.float32)
    expected = []
    for a, b in itertools.combinations(range(n_features), 2):
        cell = levels[a].astype(int) * 16 + levels[b]
        expected.append([0.0, 1.0])
        for sign, codes in ((1, cell), (-1, levels[a]), (-1, levels[b])):
            g, v = (np.bincount(codes, w.astype(float), 256) for w in (gradient, variance))
            expected[-1][0] += sign * np.sum(g[v > 0] ** 2 / v[v > 0])
            expected[-1][1] += sign * np.count_nonzero(v)
    for n_threads in (1, 2):
        got = _core.find_interactions(levels, gradient / 4, variance / 4, 4.0, n_threads)
        np.testing.assert_allclose(got, np.transpose(expected), rtol=1e-4, atol=1e-3)


@pytest.fixture(scope="module")
def interactions():
    return make_interactions()


def test_the_strongest_pairs_are_found(interactions):
    X, y = interactions
    settings = {"interactions": pb.Interactions(2, learning_rate=1.0), "n_estimators": 50}
    model = pb.ProperBoostClassifier(**settings).fit(X, y)
    assert model.pairs_ == [(1, 4), (2, 5)]
    assert model.pair_importances_[0] > model.pair_importances_[1] > 0.1
    without = pb.ProperBoostClassifier(n_estimators=50, weak_learner="table").fit(X, y)
    X_test, y_test = make_interactions(seed=1)
    assert model.score(X_test, y_test) > without.score(X_test, y_test) + 0.15


def test_effects_of_single_features_are_no_interactions():
    """They are not taken for interactions, however little of them is fitted."""
    random = np.random.default_rng(5)
    X = random.uniform(-1, 1, (4000, 8))
    F = X[:, :6] @ [6.0, 5, 4, 3, 3, 3] + 2 * X[:, 6] * X[:, 7]
    y = random.random(4000) < 1 / (1 + np.exp(-F))
    model = pb.ProperBoostClassifier(interactions=1, n_estimators=2, weak_learner="table").fit(X, y)
    assert model.pairs_ == [(6, 7)]


@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
@pytest.mark.parametrize("factor", [1.0, 1e39])
def test_large_weights_do_not_hide_pairs(interactions, factor):
    X, y = interactions
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(X)) * factor
    model = pb.ProperBoostClassifier(
        "exponential", interactions=2, n_estimators=30, weak_learner="table"
    )
    assert model.fit(X, y, weight).pairs_ == [(1, 4), (2, 5)]


def test_rows_of_which_the_model_is_sure_do_not_hide_the_others():
    """Weights of the exponential loss exceed here what float32 can square."""
    X, y = make_interactions()
    sure = np.zeros((len(X), 1))
    sure[::3] = np.where(y[::3] == "yes", 1.0, -1.0)[:, None]
    model = pb.ProperBoostClassifier(
        "exponential", gain=0.02, interactions=pb.Interactions(2, learning_rate=0.02),
        n_estimators=300, step="unit",
        learning_rate=0.02, weak_learner=pb.Table(max_cells=None), selection="greedy",
    ).fit(np.hstack([X, sure]), y)  # fmt: skip
    assert np.abs(model.decision_function(np.hstack([X, sure]))).max() / 0.02 > 45
    assert set(model.pairs_) == {(1, 4), (2, 5)}


def test_of_many_features_some_are_ranked(monkeypatch, interactions):
    X, y = interactions
    X = np.hstack([X, np.random.default_rng(1).normal(size=(len(X), 6))])
    X[:, 1] += 0.5 * X[:, 0]
    monkeypatch.setattr(pair_search, "RANKED_FEATURES", 4)
    monkeypatch.setattr(pair_search, "SPREAD_ROWS", 500)
    model = pb.ProperBoostClassifier(interactions=100, n_estimators=50, weak_learner="table").fit(
        X, y
    )
    assert len(model.pairs_) == 6
    assert {0, 1} <= {j for pair in model.pairs_ for j in pair}


def test_pairs_may_be_named(interactions):
    X, y = interactions
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = pb.ProperBoostClassifier(
        interactions=[("f", "c"), ("a", "b")], weak_learner="table"
    ).fit(frame, y)
    assert model.pairs_ == [("c", "f"), ("a", "b")]
    model = pb.ProperBoostClassifier(interactions=[[2, 5]], weak_learner="table").fit(X, y)
    assert model.pairs_ == [(2, 5)]


def test_more_pairs_than_there_are(interactions):
    X, y = interactions
    assert (
        len(
            pb.ProperBoostClassifier(interactions=1000, n_estimators=5, weak_learner="table")
            .fit(X, y)
            .pairs_
        )
        == 15
    )
    assert (
        pb.ProperBoostClassifier(interactions=3, n_estimators=5, weak_learner="table")
        .fit(X[:, :1], y)
        .pairs_
        == []
    )
