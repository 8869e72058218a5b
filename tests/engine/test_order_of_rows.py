"""The order of rows changes no bit of a model: sums are whole numbers of a unit."""

import numpy as np
import pytest

import properboost as pb
from helpers.models import document_of

FITS = {
    "tables": {},
    "cyclic tables": {"selection": "cyclic", "n_estimators": 5},
    "newton tables": {"response": "newton"},
    "exact tables": {"response": "exact", "n_estimators": 5},
    "smooth tables": {"smoothing": 0.2},
    "stumps": {"weak_learner": "stump", "response": "newton"},
    "steps searched for": {"step": "line_search"},
    "exponential": {"loss": "exponential", "selection": "cyclic", "n_estimators": 5},
    "savage": {"loss": "savage"},
    "alpha": {"loss": pb.losses.Alpha(alpha=0.3), "response": "newton"},
    "pairs": {"interactions": 2},
    "trees": {"weak_learner": "tree", "response": "newton"},
    "symmetric trees": {"weak_learner": "tree", "grow_policy": "symmetric", "max_depth": 4},
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    n = 3_000
    X = rng.normal(size=(n, 6))
    X[:, 4] = rng.integers(0, 3, n)
    X[rng.random((n, 6)) < 0.05] = np.nan
    score = np.nan_to_num(X[:, 0] + X[:, 1] * X[:, 2] - 0.5 * X[:, 3])
    y = np.digitize(score + rng.logistic(size=n), [-0.5, 1.5])
    return X, y, rng.uniform(0.1, 3.0, n), rng.permutation(n)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", FITS)
def test_permuted_rows_have_the_same_bits(rows, name, classes, weighted, tmp_path):
    X, y, weight, order = rows
    y = np.minimum(y, classes - 1)
    given = {"n_estimators": 15, "max_bins": 32, "gain": 1.0, **FITS[name]}
    model = pb.ProperBoostClassifier(**given)
    weight = weight if weighted else None
    model.fit(X, y, weight)
    other = pb.ProperBoostClassifier(**given)
    other.fit(X[order], y[order], None if weight is None else weight[order])
    document, others = document_of(model, tmp_path), document_of(other, tmp_path)
    different = [key for key in document if document[key] != others[key]]
    assert not different
