"""Test draws: fits whose raw predictions are averaged are one model."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine, make_classification

import properboost as pb

TREES = {"weak_learner": pb.Tree(max_features=0.5), "n_estimators": 6}


def two_classes():
    return make_classification(400, 6, n_informative=4, random_state=0)


def fit(X, y, **settings):
    return pb.ProperBoostClassifier(weak_learner="table").set_params(**settings).fit(X, y)


@pytest.mark.parametrize(
    "settings",
    [
        TREES,
        TREES
        | {
            "weak_learner": pb.Tree(grow_policy="symmetric", max_features=0.5, linear_leaves=True),
            "response": "newton",
        },
        TREES
        | {
            "weak_learner": pb.Tree(max_features=0.5, subsample=0.7),
            "calibration": pb.Calibration(slope=0.5, intercept=0.25),
        },
        TREES | {"weak_learner": pb.Tree(max_features=1.0, subsample=0.5, linear_leaves=True)},
        TREES | {"weak_learner": pb.Rule(max_features=0.5)},
    ],
)
@pytest.mark.parametrize("rows", [two_classes, lambda: load_wine(return_X_y=True)])
def test_draws_are_averaged(settings, rows):
    X, y = rows()
    if len(np.unique(y)) > 2 and "calibration" in settings:
        settings = {**settings, "calibration": pb.Calibration(slope=0.5, intercept=None)}
    model = fit(X, y, random_state=7, weak_learner__n_draws=3, **settings)
    alone = [fit(X, y, random_state=7 + draw, **settings).decision_function(X) for draw in range(3)]
    assert np.ptp(alone, axis=0).max() > 1e-3
    np.testing.assert_allclose(model.decision_function(X), np.mean(alone, axis=0), atol=1e-12)


def test_a_stage_is_the_mean_of_shorter_fits():
    X, y = two_classes()
    settings = TREES | {"calibration__intercept": None, "weak_learner__n_draws": 2}
    model, short = (fit(X, y, **settings | {"n_estimators": n}) for n in (6, 2))
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_iter_ == 6
    np.testing.assert_allclose(stages[1], short.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("linear", [False, True])
def test_rows_are_drawn_by_their_places_in_the_table(linear):
    """Neither labels nor folds, by which the engine sorts rows, change what is drawn."""
    X, y = two_classes()
    settings = TREES | {
        "weak_learner": pb.Tree(max_features=0.5, subsample=0.5, linear_leaves=linear),
        "calibration": pb.Calibration(intercept=None), "random_state": 2, "gain": 1.0,
    }  # fmt: skip
    F = fit(X, y, **settings).decision_function(X)
    flipped = fit(X, 1 - y, **settings)
    np.testing.assert_array_equal(flipped.decision_function(X), -F)
    search = pb.ProperBoostClassifierCV(
        effort=None, cv=3, space={"weak_learner": "tree", "gain": [1.0], "n_estimators": 6,
            "weak_learner__subsample": 0.5, "weak_learner__linear_leaves": linear}, calibrate=False,
        random_state=2,
    ).fit(X, y)  # fmt: skip
    alone = clone(search.best_estimator_).fit(X, y)
    np.testing.assert_array_equal(search.decision_function(X), alone.decision_function(X))


def test_one_draw_is_a_plain_fit_and_many_are_refused_where_nothing_is_drawn():
    X, y = two_classes()
    plain, one = fit(X, y, **TREES), fit(X, y, **TREES, weak_learner__n_draws=1)
    np.testing.assert_array_equal(one.decision_function(X), plain.decision_function(X))
    nothing = pb.ProperBoostClassifier(weak_learner=pb.Tree(max_features=1.0, n_draws=5))
    with pytest.raises(ValueError, match=r"n_draws must be 1 with max_features=1\.0"):
        nothing.fit(X, y)


def test_small_integers_of_numpy_are_numbers():
    X, y = load_wine(return_X_y=True)
    model = fit(X, y, **TREES | {"n_estimators": 50}, weak_learner__n_draws=np.int8(3))
    assert model.n_iter_ == 50
    assert len(model.history_["step"]) == 150 * 3


def test_files_contributions_and_threads(tmp_path):
    X, y = two_classes()
    model, other = (fit(X, y, **TREES, n_jobs=n, weak_learner__n_draws=4) for n in (1, 3))
    model.save_model(tmp_path / "model.json")
    loaded = pb.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    contributions = model.contributions(X[:5])
    total = contributions.values.sum(axis=1) + contributions.baseline
    np.testing.assert_allclose(total, model.decision_function(X[:5]), atol=1e-9)


@pytest.mark.parametrize(("wrong", "error"), [(0, ValueError), (1.5, TypeError), ("2", TypeError)])
def test_a_wrong_number_is_refused(wrong, error):
    X, y = two_classes()
    with pytest.raises(error, match=r"n_draws must be .*between 1 and 1000"):
        fit(X, y, **TREES, weak_learner__n_draws=wrong)
