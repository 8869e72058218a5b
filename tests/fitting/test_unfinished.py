"""Test that a small learning rate warns only where the risk still falls at the last round."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, cross_val_score

import properboost as pb
from properboost import notices

STILL_FALLS = "the training risk still falls after n_estimators="


@pytest.fixture(autouse=True)
def nothing_shown(monkeypatch):
    monkeypatch.setattr(notices, "_SHOWN", set())


def fit(**parameters):
    X, y = load_breast_cancer(return_X_y=True)
    return pb.ProperBoostClassifier(**{"weak_learner": "table"} | parameters).fit(X, y)


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
        pb.ProperBoostClassifier(learning_rate=0.05, n_estimators=50, weak_learner="table").fit(
            X, y
        )


def test_several_classes_are_looked_at_too():
    X, y = load_breast_cancer(return_X_y=True)
    y = y + (X[:, 0] > np.median(X[:, 0]))
    with pytest.warns(UserWarning, match=STILL_FALLS):
        pb.ProperBoostClassifier(learning_rate=0.02, n_estimators=100, weak_learner="table").fit(
            X, y
        )


def test_a_warning_changes_no_bit():
    parameters = {"learning_rate": 0.05, "n_estimators": 30}
    with pytest.warns(UserWarning, match=STILL_FALLS):
        first = fit(**parameters)
    X, y = load_breast_cancer(return_X_y=True)
    longer = pb.ProperBoostClassifier(
        learning_rate=0.05, n_estimators=1000, weak_learner="table"
    ).fit(X, y)
    for column in ("feature", "step", "risk"):
        np.testing.assert_array_equal(first.history_[column], longer.history_[column][:30])


@pytest.mark.filterwarnings(f"always:{STILL_FALLS}")
@pytest.mark.parametrize("cross_validate", [True, False])
def test_it_comes_once_and_not_for_candidates(cross_validate):
    X, y = load_breast_cancer(return_X_y=True)
    model = pb.ProperBoostClassifier(weak_learner="table", n_estimators=30, learning_rate=0.05)
    if cross_validate:
        with pytest.warns(UserWarning, match=STILL_FALLS) as warned:
            cross_val_score(model, X, y, cv=3)
    else:
        search = GridSearchCV(model, {"learning_rate": [0.02, 0.04]}, cv=2)
        with pytest.warns(UserWarning, match=STILL_FALLS) as warned:
            search.fit(X, y)  # the fit of the best one warns
        assert f"learning_rate={search.best_params_['learning_rate']}" in str(warned[0].message)
    assert len(warned) == 1
