"""Test that searches over Dask collections choose as the search in memory does."""

import numpy as np
import pytest

import properboost as pb
from helpers.clusters import MARKS, cluster, file_of

da = pytest.importorskip("dask.array")

from properboost.dask import DaskProperBoostClassifierCV  # noqa: E402

pytestmark = MARKS


@pytest.fixture(scope="module")
def client():
    with cluster(2) as connected:
        yield connected


def rows(n_classes=2, n=500):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 3))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n)
    return X, np.searchsorted([0.0] if n_classes == 2 else [-0.6, 0.6], score)


@pytest.mark.parametrize(
    ("n_classes", "settings"),
    [
        (2, {"space": {"gain": [0.5, 1.0], "n_estimators": 6}, "effort": None, "cv": 3}),
        (2, {"space": {"n_estimators": 5, "interactions": [0, 1], "gain": 1.0}, "effort": None,
             "cv": 2}),
        (2, {"space": {"weak_learner": "tree", "weak_learner__linear_leaves": [True, False],
                       "weak_learner__max_depth": 2, "gain": 1.0, "n_estimators": 3},
             "effort": None, "cv": 2}),
        (2, {"space": {"weak_learner__max_cells": [None, 3], "gain": 1.0, "n_estimators": 3},
             "effort": None, "cv": 2}),
        (3, {"space": {"gain": 1.0, "n_estimators": 4}, "effort": None, "cv": 2}),
        (2, {"space": {"n_estimators": 3}, "effort": None}),
        (2, {"effort": 1, "max_estimators": 6}),
    ],
    ids=str,
)  # fmt: skip
def test_partitions_and_workers_do_not_matter(client, tmp_path, n_classes, settings):
    X, y = rows(n_classes)
    local = pb.ProperBoostClassifierCV(**settings).fit(X, y)
    search = DaskProperBoostClassifierCV(client=client, **settings)
    search.fit(da.from_array(X, chunks=(180, -1)), y)
    assert search.best_params_ == local.best_params_
    for name, values in local.cv_results_.items():
        if "time" not in name and "seconds" not in name:
            np.testing.assert_array_equal(search.cv_results_[name], values)
    best = file_of(local.best_estimator_, tmp_path)
    assert file_of(search.to_local().best_estimator_, tmp_path) == best
    lazy = search.predict_proba(da.from_array(X, chunks=(200, -1)))
    np.testing.assert_array_equal(lazy.compute(), local.predict_proba(X))
