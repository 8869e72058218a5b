"""Test that a small learning rate warns only where the risk still falls at the last round."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import properboost as pb

STILL_FALLS = "the training risk still falls after n_estimators="


def fit(**parameters):
    X, y = load_breast_cancer(return_X_y=True)
    return pb.ProperBoostClassifier(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "needed"),
    [
        ({"learning_rate": 0.05, "n_estimators": 100}, "1,000"),
        ({"learning_rate": 0.01, "n_estimators": 50, "weak_learner": "stump"}, "5,000"),
        ({"learning_rate": 0.01, "n_estimators": 100, "weak_learner": "tree"}, "500"),
        ({"learning_rate": 0.05, "n_estimators": 20, "outer_bags": 4}, "1,000"),
    ],
)
def test_the_rounds_that_would_reach_the_end_are_named(parameters, needed):
    with pytest.warns(UserWarning, match=f"{STILL_FALLS}.* takes about {needed} rounds"):
        fit(**parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"n_estimators": 20},
        {"learning_rate": 0.5, "n_estimators": 10},
        {"learning_rate": 0.05, "n_estimators": 1000},
        {"learning_rate": 0.05},
        {"learning_rate": 0.1, "n_estimators": 100, "weak_learner": "tree"},
    ],
    ids=str,
)
def test_others_are_not_warned_of(parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(**parameters)


def test_labels_by_chance_have_no_end_to_reach():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 5)), rng.integers(0, 2, 2000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pb.ProperBoostClassifier(learning_rate=0.05, n_estimators=50).fit(X, y)


def test_several_classes_are_looked_at_too():
    X, y = load_breast_cancer(return_X_y=True)
    y = y + (X[:, 0] > np.median(X[:, 0]))
    with pytest.warns(UserWarning, match=STILL_FALLS):
        pb.ProperBoostClassifier(learning_rate=0.02, n_estimators=100).fit(X, y)


def test_a_warning_changes_no_bit():
    parameters = {"learning_rate": 0.05, "n_estimators": 30}
    with pytest.warns(UserWarning, match=STILL_FALLS):
        first = fit(**parameters)
    X, y = load_breast_cancer(return_X_y=True)
    longer = pb.ProperBoostClassifier(learning_rate=0.05, n_estimators=1000).fit(X, y)
    for column in ("feature", "step", "risk"):
        np.testing.assert_array_equal(first.history_[column], longer.history_[column][:30])
