"""Test models that start from given raw predictions."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import properboost as pb
from helpers.models import same_model


def start(binary):
    """Return the raw predictions of a model of three columns."""
    X, y = binary
    first = pb.ProperBoostClassifier(n_estimators=20, weak_learner="table").fit(X[:, :3], y)
    return first.decision_function(X[:, :3])


def test_the_model_learns_what_is_left(binary):
    X, y = binary
    raw = start(binary)
    model = pb.ProperBoostClassifier(n_estimators=20, weak_learner="table").fit(
        X, y, init_score=raw
    )
    p = model.predict_proba(X, init_score=raw)
    before = model.loss_.probability(raw)
    assert log_loss(y, p) < log_loss(y, before)
    np.testing.assert_allclose(
        model.decision_function(X, raw) - model.decision_function(X, 0.0), raw, atol=1e-12
    )


def test_an_offset_of_zero_is_none(binary):
    X, y = binary
    plain = pb.ProperBoostClassifier(
        n_estimators=10, calibration=pb.Calibration(slope=1.0), weak_learner="table"
    ).fit(X, y)
    zero = pb.ProperBoostClassifier(
        n_estimators=10, calibration=pb.Calibration(slope=1.0), weak_learner="table"
    ).fit(X, y, init_score=np.zeros(len(y)))
    assert same_model(plain, zero)


def test_every_prediction_takes_it(binary):
    X, y = binary
    raw = start(binary)
    model = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(X, y, init_score=raw)
    whole = model.decision_function(X, raw)
    staged = list(model.staged_decision_function(X, raw))[-1]
    np.testing.assert_allclose(staged, whole, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X, raw), (whole > 0).astype(int))
    p = model.predict_proba(X, raw)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X, raw)), p, rtol=1e-9)
    np.testing.assert_allclose(list(model.staged_predict_proba(X, raw))[-1], p, rtol=1e-12)
    np.testing.assert_array_equal(list(model.staged_predict(X, raw))[-1], model.predict(X, raw))
    np.testing.assert_array_equal(model.margins(X, y, init_score=raw), np.where(y, whole, -whole))


def test_it_may_not_be_forgotten(binary, tmp_path):
    X, y = binary
    raw = start(binary)
    model = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(X, y, init_score=raw)
    model.save_model(tmp_path / "model.json")
    for restored in (model, pb.load_model(tmp_path / "model.json")):
        with pytest.raises(ValueError, match="init_score must be given: the model was fitted with"):
            restored.predict_proba(X)
        np.testing.assert_array_equal(restored.predict_proba(X, raw), model.predict_proba(X, raw))
    model.fit(X, y)
    model.predict_proba(X)  # this fit started from 0


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    raw = LogisticRegression().fit(X[:, :2], y).decision_function(X[:, :2])
    for multiclass in ("softmax", "one_vs_rest"):
        model = pb.ProperBoostClassifier(
            multiclass=multiclass, n_estimators=10, weak_learner="table"
        )
        model.fit(X, y, init_score=raw)
        difference = model.decision_function(X, raw) - model.decision_function(X, 0)
        np.testing.assert_allclose(difference, raw, atol=1e-12)
    with pytest.raises(ValueError, match=r"init_score must have shape \(\) or \(150, 3\)"):
        model.fit(X, y, init_score=raw[:, 0])


def test_mean_probabilities_are_shares_all_the_same(binary):
    X, y = binary
    raw = start(binary)
    for settings in ({}, {"outer_bags": 4}):
        model = pb.ProperBoostClassifier(
            loss="savage",
            calibration=pb.Calibration(intercept="share"),
            n_estimators=10,
            **settings,
        ).fit(X, y, init_score=raw)
        assert model.predict_proba(X, raw)[:, 1].mean() == pytest.approx(y.mean(), abs=1e-6)


def test_validation_rows_have_theirs(binary):
    X, y = binary
    raw = start(binary)
    model = pb.ProperBoostClassifier(n_estimators=30, weak_learner="table").fit(
        X[:400],
        y[:400],
        init_score=raw[:400],
        X_val=X[400:],
        y_val=y[400:],
        init_score_val=raw[400:],
    )
    staged = [-log_loss(y[400:], p) for p in model.staged_predict_proba(X[400:], raw[400:])]
    np.testing.assert_allclose(model.validation_scores_[: len(staged)], staged, atol=1e-12)


def test_pairs_draws_and_bags_begin_with_it(binary):
    X, y = binary
    raw = start(binary)
    for settings in (
        {"interactions": 1},
        {"weak_learner": pb.Tree(subsample=0.5, n_draws=2)},
        {"outer_bags": 4},
    ):
        model = pb.ProperBoostClassifier(n_estimators=10, **settings).fit(X, y, init_score=raw)
        assert log_loss(y, model.predict_proba(X, raw)) < log_loss(y, model.loss_.probability(raw))
