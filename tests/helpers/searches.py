"""Helpers for tests of searches: settings, tables, and the comparison with GridSearchCV."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss

import properboost as pb

# Small settings, for all searches without needs of their own.
QUICK = {"space": {"gain": [0.5, 2.0], "n_estimators": 6}, "cv": 3}

KINDS = ["numpy", "pandas", "polars", "pyarrow"]


# The parameters of candidates of a search that compares no families.
PLAIN = {
    "weak_learner": pb.Table(max_cells=10, min_saving=0.5),
    "calibration": pb.Calibration(slope=1.0),
}


def quick(**space):
    """Return small settings with more in the space."""
    return QUICK | {"space": QUICK["space"] | space}


def search_soon(space=None, **settings):
    """Return a short search."""
    return pb.ProperBoostClassifierCV(space, **{"cv": 3, "max_estimators": 40} | settings)


def integers(n=240, n_classes=2, seed=0):
    """Return features of few values, so that every subset of rows has the same bins."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n, 4)).astype(float)
    raw = X[:, 0] - X[:, 1] + (X[:, 2] == 3) + rng.logistic(size=n)
    y = np.searchsorted(np.quantile(raw, np.arange(1, n_classes) / n_classes), raw)
    return X, y


def assert_same_scores(ours, theirs):
    """Compare score by score, in any order of the configurations."""
    columns = [k for k in ours if k.startswith("split") and k.endswith("_test_score")]
    assert columns == [k for k in theirs if k.startswith("split") and k.endswith("_test_score")]
    assert len(ours["params"]) == len(theirs["params"])
    for i, params in enumerate(theirs["params"]):
        (j,) = [j for j, p in enumerate(ours["params"]) if has_params(p, params)]
        for key in [*columns, "mean_test_score", "std_test_score"]:
            assert ours[key][j] == pytest.approx(theirs[key][i], rel=1e-4, abs=1e-6), (params, key)


def has_params(chosen, params):
    """Return whether a chosen classifier has these parameters, nested ones included."""
    every = pb.ProperBoostClassifier(**chosen).get_params()
    return all(every[name] == value for name, value in params.items())


def as_kind(kind, frame):
    """Return a pandas table as another kind of table; an array has only its numbers."""
    if kind == "numpy":
        return frame.select_dtypes("number").to_numpy()
    if kind == "polars":
        return pytest.importorskip("polars").from_pandas(frame)
    if kind == "pyarrow":
        return pytest.importorskip("pyarrow").Table.from_pandas(frame)
    return frame


def weighted_scores(model, X, y, weight, cv):
    scores = []
    for train, test in cv.split(X, y):
        fitted = clone(model).fit(X[train], y[train], weight[train])
        probability = fitted.predict_proba(X[test])
        scores.append(-log_loss(y[test], probability, sample_weight=weight[test]))
    return scores
