"""Searches through joblib's workers find what searches in one process find."""

import joblib
import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor
from sklearn.datasets import load_breast_cancer, load_iris

import properboost as pb
from properboost.model_selection import search_run

pytestmark = [
    pytest.mark.timeout(300.0),  # a search may wait for workers that never start
    pytest.mark.slow,
]

GAINS = {"gain": [0.02, 0.5, 2.0, 64.0]}
SPACE = GAINS | {"n_estimators": 12}
TREES = {
    "weak_learner": "tree", "weak_learner__max_leaf_nodes": [3, 6], "weak_learner__subsample": 0.7,
}  # fmt: skip
LISTS = {"space": SPACE, "effort": None, "cv": 3}
SEARCHES = [
    LISTS,
    LISTS | {"space": GAINS | {"interactions": [0, 1]}, "max_estimators": 40},
    LISTS | {"space": SPACE | TREES},
]


@pytest.fixture(scope="module", autouse=True)
def pool():
    """End the processes that tests share with the tests, not minutes later."""
    yield
    get_reusable_executor().shutdown(wait=True, kill_workers=True)


def two_classes():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:300, :8], y[:300]


def assert_same(one, other):
    assert one.best_params_ == other.best_params_
    for name, values in one.cv_results_.items():
        if name not in ("seconds", "dropped"):
            np.testing.assert_array_equal(values, other.cv_results_[name], name)
    X, _ = two_classes() if one.n_features_in_ == 8 else load_iris(return_X_y=True)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("settings", SEARCHES, ids=str)
def test_threads_of_joblib_find_the_same(settings):
    X, y = two_classes()
    here = pb.ProperBoostClassifierCV(**settings).fit(X, y)
    with joblib.parallel_config("threading", n_jobs=2):
        there = pb.ProperBoostClassifierCV(**settings).fit(X, y)
    assert_same(here, there)


def test_families_of_workers_find_the_same_model():
    """The other candidates' scores decide which candidates are dropped, and when."""
    X, y = two_classes()
    settings = {"effort": 1, "max_estimators": 30, "time_limit": 1000.0}
    here = pb.ProperBoostClassifierCV(**settings).fit(X, y)
    with joblib.parallel_config("threading", n_jobs=2):
        there = pb.ProperBoostClassifierCV(**settings).fit(X, y)
    assert there.best_params_ == here.best_params_
    assert there.ended_ is None
    np.testing.assert_array_equal(there.predict_proba(X), here.predict_proba(X))


def test_families_of_workers_race_over_folds(monkeypatch):
    """Workers do not exchange scores: some candidates continue that would be dropped here."""
    X, y = two_classes()
    monkeypatch.setattr(search_run, "are_representative", lambda _: True)
    settings = {"space": {"interactions": 0}, "effort": 3, "max_estimators": 20, "cv": 5}
    with joblib.parallel_config("threading", n_jobs=2):
        there = pb.ProperBoostClassifierCV(**settings).fit(X, y)
    results = there.cv_results_
    scores = np.stack([results[f"split{s}_test_score"] for s in range(5)])
    assert results["dropped"].any()
    assert np.isfinite(scores[:, ~results["dropped"]]).all()
    assert there.best_score_ == np.nanmax(results["mean_test_score"])


def test_processes_find_the_same_with_weights_and_several_classes():
    X, y = load_iris(return_X_y=True)
    weight = np.linspace(0.5, 2.0, len(y))
    space = SPACE | {"multiclass": ["softmax", "one_vs_rest"]}
    settings = LISTS | {"space": space, "scoring": "accuracy"}
    here = pb.ProperBoostClassifierCV(**settings).fit(X, y, weight)
    with joblib.parallel_config("loky", n_jobs=2):
        there = pb.ProperBoostClassifierCV(**settings).fit(X, y, weight)
    assert_same(here, there)


def test_workers_of_dask_find_the_same():
    clusters = pytest.importorskip("helpers.clusters")
    X, y = two_classes()
    here = pb.ProperBoostClassifierCV(**LISTS).fit(X, y)
    with clusters.cluster(2), joblib.parallel_config("dask"):
        there = pb.ProperBoostClassifierCV(**LISTS).fit(X, y)
    assert_same(here, there)


def test_a_search_inside_of_a_worker_stays_there():
    """The candidates would wait for workers that wait for the search."""
    X, y = two_classes()
    search = pb.ProperBoostClassifierCV(**LISTS, refit=False)
    with joblib.parallel_config("loky", n_jobs=2):
        searches = joblib.Parallel()(joblib.delayed(search.fit)(X, labels) for labels in (y, 1 - y))
    assert len(searches) == 2
