"""Test class-conditional look-up tables: their definition, their level, and what fixes it."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from sklearn.metrics import log_loss

import properboost as pb
from helpers.models import AS_PUBLISHED

LOSSES = ["glog", "ggauss", "glaplacian", "gboost", "exponential", "savage"]

CASES = list(itertools.product(LOSSES, [0.5, 2.0], [False, True]))


def make_table(n=600, share=0.1, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    X = rng.normal(size=(n, 4)) + y[:, None] * [1.2, 0.6, 0.3, 0.0]
    return np.clip(np.floor(2.0 * X) + 8.0, 0.0, 15.0), y


def boost_by_hand(X, y, loss, n_rounds, weight):
    """Boost with plain loops over bins; return features and raw predictions by round."""
    sign = 2.0 * y - 1.0
    F = np.zeros(len(y))
    features, raws = [], []
    for _ in range(n_rounds):
        w = weight * loss.weight(sign * F)
        tried = []
        for column in X.T:
            bins = np.unique(column)
            p = np.array([w[(column == b) & (y == 1)].sum() for b in bins]) / w[y == 1].sum() / 2
            q = np.array([w[(column == b) & (y == 0)].sum() for b in bins]) / w[y == 0].sum() / 2
            e = 1.0 / (weight.sum() * len(bins))
            table = dict(zip(bins, 0.5 * np.log((p + e) / (q + e)), strict=True))
            tried.append((np.sqrt(p * q).sum(), table))
        best = int(np.argmin([cost for cost, _ in tried]))
        F = F + np.array([tried[best][1][value] for value in X[:, best]])
        features.append(best)
        raws.append(F)
    return features, raws


@pytest.mark.parametrize(("name", "gain", "weighed"), CASES)
def test_rounds_are_those_of_plain_loops(name, gain, weighed):
    X, y = make_table(seed=len(name))
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    weight = weight if weighed else np.ones(len(y))
    model = pb.ProperBoostClassifier(
        **AS_PUBLISHED
        | {
            "loss": name, "gain": gain, "response": "conditional", "step": "unit",
            "n_estimators": 8, "rows_per_bin": None,
        }
    )  # fmt: skip
    model.fit(X, y, sample_weight=weight)
    features, raws = boost_by_hand(X, y, model.loss_, 8, weight)
    assert model.history_["feature"].tolist() == features
    for raw, expected in zip(model.staged_decision_function(X), raws, strict=True):
        # Margins are float32, whose rounding savage's weights at gain 1/2 enlarge most.
        np.testing.assert_allclose(raw, expected, rtol=5e-4, atol=2e-5)


def test_the_exponential_loss_has_the_tables_of_balanced_classes():
    """Ratios of weights within a class stay, so the share is a constant on the raw prediction."""
    X, y = make_table(n=3000)
    X = np.clip(X // 2.0, 3.0, 5.0)  # each bin holds rows of both classes
    settings = AS_PUBLISHED | {"loss": "exponential", "step": "unit", "prior": 1e-12}
    conditional = pb.ProperBoostClassifier(**settings | {"response": "conditional"}).fit(X, y)
    balanced = pb.ProperBoostClassifier(**settings | {"class_weight": "balanced"}).fit(X, y)
    F = conditional.decision_function(X)
    np.testing.assert_allclose(F, balanced.decision_function(X), rtol=1e-4, atol=1e-4)
    plain = pb.ProperBoostClassifier(**settings).fit(X, y).decision_function(X)
    constant = 0.5 * np.log(y.mean() / (1.0 - y.mean()))
    np.testing.assert_allclose(F + constant, plain, rtol=1e-3, atol=1e-3)


@given(share=st.sampled_from([0.02, 0.1, 0.5, 0.9]), gain=st.sampled_from([0.5, 1.0, 4.0]))
def test_a_level_is_a_fixed_point(share, gain):
    """Rounds add nothing for uninformative features, whatever the share."""
    n = 400
    X = np.repeat(np.arange(4.0), n // 4)[:, None]
    y = np.tile(np.arange(n // 4) < share * (n // 4), 4).astype(int)
    settings = AS_PUBLISHED | {"gain": gain, "step": "unit", "prior": 1e-12, "n_estimators": 5}
    model = pb.ProperBoostClassifier(**settings | {"response": "conditional"})
    np.testing.assert_allclose(model.fit(X, y).decision_function(X), 0.0, atol=1e-6)
    # Only the intercept brings the mean probability to the share; no round does.
    model.set_params(calibration=pb.Calibration(slope=1.0, intercept="auto")).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], y.mean(), atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("share", [0.02, 0.5])
def test_the_intercept_makes_the_mean_probability_the_share(loss, share):
    X, y = make_table(n=3000, share=share)
    model = pb.ProperBoostClassifier(loss, response="conditional", weak_learner="table").fit(X, y)
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=1e-6)


def test_several_classes_are_learnt_one_against_the_rest(iris):
    X, y = iris
    model = pb.ProperBoostClassifier(response="conditional", weak_learner="table").fit(X, y)
    assert model.multiclass_ == "one_vs_rest"
    assert log_loss(y, model.predict_proba(X)) < 0.2
    for multiclass in ("softmax", "canonical"):
        with pytest.raises(ValueError, match="which compares a class with the rest"):
            model.set_params(multiclass=multiclass).fit(X, y)


def test_lines_are_refused(binary):
    model = pb.ProperBoostClassifier(
        weak_learner=pb.Tree(linear_leaves=True), response="conditional"
    )
    with pytest.raises(ValueError, match="linear_leaves must be False with response='conditional'"):
        model.fit(*binary)


def test_stages_are_compared_at_a_level_that_suits_the_validation_rows():
    """Rounds leave the level open; without a constant, scores would assume balanced classes."""
    X, y = make_table(n=1000, share=0.05)
    X_val, y_val = make_table(n=1000, share=0.05, seed=1)
    settings = {"response": "conditional", "gain": 1.0, "rows_per_bin": None, "n_estimators": 40}
    model = pb.ProperBoostClassifier(**settings).fit(X, y)
    loss, scores = model.loss_, []
    for F in model.staged_decision_function(X_val):
        constant = brentq(lambda b, F=F: loss.probability(F + b).mean() - y_val.mean(), -50, 50)
        scores.append(-log_loss(y_val, loss.probability(F + constant)))
    best = int(np.argmax(scores)) + 1
    assert best < 40
    model.set_params(early_stopping=pb.EarlyStopping(n_iter_no_change=40, scoring="neg_log_loss"))
    model.fit(X, y, X_val=X_val, y_val=y_val)
    assert len(list(model.staged_decision_function(X_val))) == best
    np.testing.assert_allclose(model.validation_scores_[best:], scores[best:], rtol=1e-6)
    # The model's own stages have the constant of the training rows.
    expected = -log_loss(y_val, model.predict_proba(X_val))
    assert model.validation_scores_[best - 1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("calibrate", [False, True])
@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc", "accuracy"])
def test_a_search_compares_candidates_at_their_best_level(scoring, calibrate):
    X, y = make_table(n=2000, share=0.05)
    X_test, y_test = make_table(n=2000, share=0.05, seed=1)
    search = pb.ProperBoostClassifierCV(
        {"response": "conditional", "gain": [0.5, 4.0, 64.0], "n_estimators": 20}, effort=None,
        cv=3, scoring=scoring, calibrate=calibrate,
    )  # fmt: skip
    search.fit(X, y)
    if scoring == "neg_log_loss":
        share = -log_loss(y, np.full(len(y), y.mean()))
        assert (search.cv_results_["mean_test_score"] > share).all()
    assert search.best_estimator_.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.01)
    p = search.predict_proba(X_test)
    assert log_loss(y_test, p) < log_loss(y_test, np.full(len(y_test), y.mean()))
    assert search.best_params_["calibration"].intercept != 0.0


def test_a_search_of_several_classes(iris):
    X, y = iris
    search = pb.ProperBoostClassifierCV(
        {"response": "conditional", "gain": [1.0, 4.0], "n_estimators": 15}, effort=None, cv=3
    )
    assert log_loss(y, search.fit(X, y).predict_proba(X)) < 0.2
    with pytest.raises(ValueError, match="which compares a class with the rest"):
        search.set_params(space={"response": "conditional", "multiclass": "softmax"}).fit(X, y)
