"""Probabilities and classes that raw predictions stand for."""

import numpy as np
import pytest

import properboost as pb
from properboost import _core
from properboost.losses.probabilities import Link
from properboost.losses.registry import get_loss


@pytest.mark.parametrize("loss", _core.loss_names())
def test_probabilities_go_through_the_loss(binary, loss):
    X, y = binary
    model = pb.ProperBoostClassifier(loss, gain=0.7, n_estimators=5, weak_learner="table").fit(X, y)
    F = model.decision_function(X)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p[:, 1], model.loss_.probability(F), rtol=1e-12)
    np.testing.assert_allclose(p[:, 0], model.loss_.probability(-F), rtol=1e-12)
    np.testing.assert_array_equal(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), (F > 0).astype(int))


def test_small_probabilities_keep_their_digits(binary):
    X, y = binary
    model = pb.ProperBoostClassifier(
        n_estimators=60, rows_per_bin=None, weak_learner=pb.Table(max_cells=None)
    )
    p = model.fit(X, y).predict_proba(X)
    assert 0.0 < p.min() < 1e-17


def test_probabilities_of_many_classes_are_normalised(iris):
    X, y = iris
    model = pb.ProperBoostClassifier(
        n_estimators=5, max_bins=8, multiclass="one_vs_rest", weak_learner="table"
    ).fit(X, y)
    p = model.loss_.probability(model.decision_function(X))
    np.testing.assert_allclose(model.predict_proba(X), p / p.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))


def test_rows_that_no_class_claims_are_uniform():
    X = np.repeat(np.eye(3), 20, axis=0)
    model = pb.ProperBoostClassifier(
        "ggauss", n_estimators=5, multiclass="one_vs_rest", weak_learner="table"
    ).fit(X, np.repeat([0, 1, 2], 20))
    model.ensemble_.sums[:] = -1e6
    np.testing.assert_array_equal(model.predict_proba(X[:2]), np.full((2, 3), 1 / 3))


def test_the_largest_raw_prediction_wins_where_probabilities_saturate():
    X = np.repeat(np.eye(3), 20, axis=0)
    model = pb.ProperBoostClassifier(
        "ggauss", n_estimators=5, multiclass="one_vs_rest", weak_learner="table"
    ).fit(X, np.repeat([0, 1, 2], 20))
    model.ensemble_.sums[:] = 1e6 * np.array([[1.0], [3.0], [2.0]])
    np.testing.assert_array_equal(model.predict_proba(X), np.full((len(X), 3), 1 / 3))
    np.testing.assert_array_equal(model.predict(X), np.ones(len(X)))
    assert (model.margins(X, model.predict(X)) > 0).all()


@pytest.mark.parametrize("loss", _core.loss_names())
def test_log_odds_are_those_of_probabilities(loss):
    link = Link(get_loss(loss, 2.0))
    raw = np.linspace(-3.0, 3.0, 41)
    p = link.probabilities(raw)
    log_odds = link.log_odds(raw)
    with np.errstate(divide="ignore"):
        expected = np.log(p) - np.log(p[:, ::-1])
    finite = np.isfinite(expected)
    np.testing.assert_allclose(log_odds[finite], expected[finite], atol=1e-12)
    assert np.isfinite(log_odds).all()
    slope = link.find_log_odds_slope(1)
    assert (slope is not None) == (loss in ("glog", "exponential", "savage", "alpha"))
    if slope is not None:
        np.testing.assert_allclose(log_odds[:, 1], slope * raw, atol=1e-12)


def test_log_odds_of_classes_have_a_slope_under_a_softmax():
    raw = np.random.default_rng(0).normal(size=(9, 4))
    glog, savage = get_loss("glog", 3.0), get_loss("savage", 3.0)
    for link, slope in (
        (Link(glog, "softmax"), 1 / 6),
        (Link(savage, "one_vs_rest", temperature=0.5), 1 / 3),
        (Link(glog, "canonical"), None),
        (Link(savage, "one_vs_rest"), None),
    ):
        assert link.find_log_odds_slope(4) == (slope and pytest.approx(slope))
        p = link.probabilities(raw)
        np.testing.assert_allclose(link.log_odds(raw), np.log(p) - np.log1p(-p), atol=1e-12)
        if slope is not None:
            logs = np.log(p)
            centered = logs - logs.mean(axis=1, keepdims=True)
            expected = slope * (raw - raw.mean(axis=1, keepdims=True))
            np.testing.assert_allclose(centered, expected, atol=1e-12)
    assert Link(glog).find_log_odds_slope(4) is None  # of votes
