"""A model of three classes, one of two, and rows that they were not trained on."""

import numpy as np
import pytest

import properboost as pb


def draw(n, n_classes, seed):
    """Return rows whose class depends on two features, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    raw = X[:, 0] + np.sin(2.0 * X[:, 1]) + rng.logistic(size=n) * 0.5
    edges = np.quantile(raw, np.arange(1, n_classes) / n_classes)
    return X, np.array(["a", "b", "c"])[np.searchsorted(edges, raw)]


@pytest.fixture(scope="session")
def plain():
    """Return a cheap classifier, not fitted."""
    return pb.ProperBoostClassifier(n_estimators=10, max_bins=15, n_jobs=1, weak_learner="table")


@pytest.fixture(scope="session", params=[2, 3], ids=["two classes", "three classes"])
def problem(request, plain):
    """Return a fitted model, calibration rows and new rows."""
    model = plain.__sklearn_clone__().fit(*draw(300, request.param, 0))
    return model, draw(201, request.param, 1), draw(80, request.param, 2)
