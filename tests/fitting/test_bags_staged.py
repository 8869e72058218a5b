"""Test stages and history of models with bags: a stage is the mean of shorter fits."""

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_classification

import properboost as pb
from helpers.models import LEARNERS

KINDS = {
    **LEARNERS,
    "totally corrective": {"weak_learner": "table", "step": "totally_corrective"},
    "cells, solved": {"step": "leveraging", "weak_learner": pb.Table(max_cells=3)},
}


def two_classes():
    return make_classification(400, 6, n_informative=4, random_state=0)


def several_classes():
    return load_wine(return_X_y=True)


def fit(rows, **settings):
    X, y = rows()
    return pb.ProperBoostClassifier(
        outer_bags=4, calibration=pb.Calibration(intercept=None), weak_learner="table"
    ).set_params(**settings).fit(X, y), X


@pytest.mark.parametrize("rows", [two_classes, several_classes])
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_stage_is_the_whole_of_a_shorter_fit(learner, rows):
    settings = LEARNERS[learner] | {"interactions": 0}
    model, X = fit(rows, n_estimators=7, **settings)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_iter_ == 7
    for n in (1, 4):
        short, _ = fit(rows, n_estimators=n, **settings)
        np.testing.assert_allclose(stages[n - 1], short.decision_function(X), atol=1e-11)


@pytest.mark.parametrize("rows", [two_classes, several_classes])
@pytest.mark.parametrize("learner", ["pairs", "pairs, cyclic", "pairs of stumps"])
def test_the_stages_of_pairs_follow_those_of_features(learner, rows):
    settings = LEARNERS[learner]
    model, X = fit(rows, n_estimators=6, interactions__n_estimators=3, **settings)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_iter_ == 9
    alone, _ = fit(rows, n_estimators=6, **settings | {"interactions": 0})
    short, _ = fit(rows, n_estimators=6, interactions__n_estimators=2, **settings)
    np.testing.assert_allclose(stages[5], alone.decision_function(X), atol=1e-11)
    np.testing.assert_allclose(stages[7], short.decision_function(X), atol=1e-11)
    np.testing.assert_allclose(stages[8], model.decision_function(X), atol=1e-11)


@pytest.mark.parametrize("rows", [two_classes, several_classes])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:step=.* found no finite optimal coefficients")
def test_history_has_a_row_for_each_round_of_the_mean(kind, rows):
    model, X = fit(rows, n_estimators=5, **KINDS[kind])
    history, rounds = model.history_, model.ensemble_.models
    assert {len(column) for column in history.values()} == {sum(map(len, rounds))}
    assert all(np.isfinite(history[name]).all() for name in ("cost", "step", "risk"))
    for of_class in rounds:
        for part in of_class.cut(0, len(of_class)):
            features = of_class.feature[part]
            assert of_class.trees is not None or len(np.unique(features)) == len(features)
    last = list(model.staged_decision_function(X))[-1]
    np.testing.assert_allclose(last, model.decision_function(X), atol=1e-11)


def test_a_bag_that_stops_early_stays_as_it_is():
    """Bags of one binary feature stop when no round lowers their risk, at different rounds."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 2, 60).astype(float)
    y = (rng.random(60) < 0.3 + 0.4 * x).astype(int)
    model = pb.ProperBoostClassifier(
        outer_bags=4,
        n_estimators=50,
        step="leveraging",
        calibration=pb.Calibration(intercept=None),
        weak_learner="table",
    ).fit(x[:, None], y)
    rows = np.array([[0.0], [1.0]])
    raws = model.ensemble_.standard_errors.raw_predictions(*model._open(rows))
    whole = np.mean(raws, axis=0)[:, 0]
    assert 1 < model.n_iter_ < 50
    first, *_, last = model.staged_decision_function(rows)
    assert np.abs(first - whole).max() > 1e-9
    np.testing.assert_allclose(last, whole, rtol=1e-12)
    np.testing.assert_allclose(model.decision_function(rows), whole, rtol=1e-12)
