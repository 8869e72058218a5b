"""Test searches for the options of trees."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import properboost as pb
from helpers.searches import assert_same_scores, has_params, integers
from helpers.trees import noisy


def test_a_search_compares_policies_with_their_own_limits():
    X, y = noisy()
    names = ("grow_policy", "max_leaf_nodes", "max_depth")
    limits = zip(names, (["best_first", "symmetric"], [None, 4, 8], [2, None]), strict=True)
    search = pb.ProperBoostClassifierCV(
        {
            "gain": [10.0], "weak_learner": "tree", "n_estimators": 4,
            **{f"weak_learner__{name}": values for name, values in limits},
        }, cv=3, effort=None,
    ).fit(X, y)  # fmt: skip
    learners = [params["weak_learner"] for params in search.cv_results_["params"]]
    tried = [tuple(getattr(learner, name) for name in names) for learner in learners]
    assert tried == [
        ("best_first", None, 2), ("best_first", None, None), ("best_first", 4, 2),
        ("best_first", 4, None), ("best_first", 8, 2), ("best_first", 8, None),
        ("symmetric", None, 2), ("symmetric", None, None),
    ]  # fmt: skip
    again = clone(search.best_estimator_).fit(X, y)
    np.testing.assert_array_equal(search.decision_function(X), again.decision_function(X))


@pytest.mark.parametrize("problem_", ["two classes", "three classes", "weighted"])
def test_a_search_finds_what_grid_search_finds(problem_):
    X, y = integers(n_classes=3 if problem_ == "three classes" else 2)
    weight = np.random.default_rng(1).integers(1, 4, len(y)) if problem_ == "weighted" else None
    shared = {"weak_learner": "tree", "n_estimators": 5}
    of_rows = {"rows_per_bin": None, "random_state": 2}
    lists = {
        "weak_learner__max_leaf_nodes": [2, 6],
        "learning_rate": [0.3, 1.0],
        "weak_learner__min_child_weight": [0.0, 4.0],
        "weak_learner__max_features": [0.5, 1.0],
    }
    gains = [0.5, 1.0, 2.0] if problem_ == "two classes" else [1.0]
    if problem_ == "three classes":
        lists["multiclass"] = ["softmax", "one_vs_rest"]
    space = {"gain": gains, **lists, **shared}
    ours = pb.ProperBoostClassifierCV(space, cv=3, effort=None, **of_rows)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the chosen gain")
        ours.fit(X, y, weight)
    # The search chooses the temperature of one-vs-rest models.
    names = ["gain", *lists, "calibration__temperature"]
    tried = [pb.ProperBoostClassifier(**p).get_params() for p in ours.cv_results_["params"]]
    assert len(tried) == len(gains) * np.prod([len(values) for values in lists.values()])
    theirs = GridSearchCV(
        pb.ProperBoostClassifier(calibration=pb.Calibration(slope=1.0), **shared, **of_rows),
        [{name: [params[name]] for name in names} for params in tried],
        cv=3,
        scoring="neg_log_loss",
    )
    theirs.fit(X, y, **({} if weight is None else {"sample_weight": weight}))
    for name, values in lists.items():
        assert set(ours.cv_results_[f"param_{name}"]) == set(values)
    if weight is None:  # GridSearchCV scores without weights
        assert_same_scores(ours.cv_results_, theirs.cv_results_)
        assert has_params(ours.best_params_, theirs.best_params_)
    assert isinstance(ours.best_estimator_.weak_learner, pb.Tree)
    again = clone(theirs.estimator).set_params(**ours.best_params_).fit(X, y, weight)
    np.testing.assert_array_equal(ours.decision_function(X), again.decision_function(X))


def test_subsample_is_searched_and_reported():
    X, y = integers()
    name = "weak_learner__subsample"
    space = {"gain": [1.0], "n_estimators": 4, "weak_learner": "tree", name: [0.3, 0.6, 1.0]}
    search = pb.ProperBoostClassifierCV(space, cv=3, effort=None).fit(X, y)
    results = search.cv_results_
    assert results[f"param_{name}"].tolist() == [0.3, 0.6, 1.0]
    assert [p["weak_learner"].subsample for p in results["params"]] == [0.3, 0.6, 1.0]
    assert len(set(results["mean_test_score"])) == 3
    chosen = search.best_estimator_.weak_learner
    assert search.best_params_["weak_learner"] == chosen
    assert chosen == results["params"][search.best_index_]["weak_learner"]
    # A single value needs no search.
    fixed = pb.ProperBoostClassifierCV(space | {name: 0.3}, cv=3, effort=None).fit(X, y)
    assert len(fixed.cv_results_["params"]) == 1
    assert fixed.best_estimator_.weak_learner.subsample == 0.3
    assert fixed.cv_results_["mean_test_score"][0] == results["mean_test_score"][0]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"max_leaf_nodes": [4, 1]}, "Tree.max_leaf_nodes must be between 2 and 128, .*; got 1"),
        ({"subsample": []}, "must not have an empty list of 'weak_learner__subsample'"),
        ({"max_depth": [2, 0]}, "Tree.max_depth must be between 1 and .*; got 0"),
        (
            {"max_depth": [8], "grow_policy": ["symmetric"]},
            "max_depth must be at most 7 with grow_policy='symmetric'; got 8",
        ),
    ],
    ids=str,
)
def test_bad_lists(fields, message):
    X, y = integers(60)
    space = {"gain": [1.0], "n_estimators": 2, "weak_learner": "tree"}
    space |= {f"weak_learner__{name}": values for name, values in fields.items()}
    with pytest.raises((ValueError, TypeError), match=message):
        pb.ProperBoostClassifierCV(space, cv=2, effort=None).fit(X, y)
