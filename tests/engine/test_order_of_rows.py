"""Test that the order of rows changes no bit of a model: sums are whole numbers of a unit."""

import numpy as np
import pytest
from sklearn.base import clone

import properboost as pb
from helpers.models import document_of

FITS = {
    "tables": {"weak_learner": "table"},
    "cyclic tables": {"weak_learner": "table", "selection": "cyclic", "n_estimators": 5},
    "newton tables": {"weak_learner": "table", "response": "newton"},
    "exact tables": {"weak_learner": "table", "response": "exact", "n_estimators": 5},
    "smooth tables": {"weak_learner": pb.Table(smoothing=0.2)},
    "stumps": {"weak_learner": "stump", "response": "newton"},
    "steps searched for": {"weak_learner": "table", "step": "line_search"},
    "exponential": {
        "weak_learner": "table",
        "loss": "exponential",
        "selection": "cyclic",
        "n_estimators": 5,
    },
    "savage": {"weak_learner": "table", "loss": "savage"},
    "alpha": {"weak_learner": "table", "loss": pb.losses.Alpha(alpha=0.3), "response": "newton"},
    "pairs": {"weak_learner": "table", "interactions": 2},
    "trees": {"weak_learner": "tree", "response": "newton"},
    "symmetric trees": {"weak_learner": pb.Tree(grow_policy="symmetric", max_depth=4)},
    "lines": {"weak_learner": pb.Tree(linear_leaves=True), "response": "newton"},
    "lines of weights": {"weak_learner": pb.Tree(linear_leaves=True)},
    "balanced": {
        "weak_learner": "table",
        "class_weight": "balanced",
        "calibration": pb.Calibration(intercept="share"),
    },
    "normalized": {"weak_learner": "table", "normalize_weights": True, "gain": None},
    "monotone trees": {"weak_learner": "tree", "monotonic_cst": [1, 0, 0, -1, 0, 0]},
}
OF_CLASSES = [
    *[(name, {}) for name in ("trees", "symmetric trees", "lines")],
    ("trees", {"multiclass": "canonical", "loss": "gboost"}),
    ("trees", {"multiclass": "one_vs_rest"}),
    ("tables", {}),
    ("tables", {"multiclass": "one_vs_rest"}),
    ("cyclic tables", {}),
    ("newton tables", {}),
    ("pairs", {}),
]


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


def assert_same_bits(name, rows, n_classes, weighted, tmp_path, **settings):
    X, y, weight, order = rows
    y = np.minimum(y, n_classes - 1)
    settings = {"n_estimators": 15, "max_bins": 32, "gain": 1.0, **FITS[name], **settings}
    documents = []
    for rows_in_order in (slice(None), order):
        model = pb.ProperBoostClassifier(**settings)
        model.fit(X[rows_in_order], y[rows_in_order], weight[rows_in_order] if weighted else None)
        documents.append(document_of(model, tmp_path))
    one, other = documents
    assert not [key for key in one if one[key] != other[key]]


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", FITS)
def test_permuted_rows_have_the_same_bits(rows, name, weighted, tmp_path):
    assert_same_bits(name, rows, 2, weighted, tmp_path)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize(("name", "settings"), OF_CLASSES, ids=str)
def test_permuted_rows_of_several_classes(rows, name, settings, weighted, tmp_path):
    assert_same_bits(name, rows, 3, weighted, tmp_path, **settings)


@pytest.mark.parametrize(
    ("n_classes", "space", "settings"),
    [
        (2, {}, {"calibrate": False}),
        (2, {"interactions": [0, 1]}, {"scoring": "balanced_accuracy"}),
        (3, {}, {}),
        (3, {"multiclass": "one_vs_rest"}, {"scoring": "neg_brier_score"}),
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_permuted_rows_of_a_search(rows, n_classes, space, settings, weighted, tmp_path):
    """Each row keeps its fold in any order."""
    X, y, weight, order = rows
    y, fold = np.minimum(y, n_classes - 1), np.arange(len(y)) % 3
    searches = []
    for rows_in_order in (slice(None), order):
        cv = [
            (np.flatnonzero(fold[rows_in_order] != k), np.flatnonzero(fold[rows_in_order] == k))
            for k in range(3)
        ]
        search = pb.ProperBoostClassifierCV(
            {"gain": [0.25, 1.0, 8.0], "n_estimators": 15, **space}, effort=None, max_bins=32,
            cv=cv, **settings,
        )  # fmt: skip
        search.fit(X[rows_in_order], y[rows_in_order], weight[rows_in_order] if weighted else None)
        searches.append((search.cv_results_, document_of(search.best_estimator_, tmp_path)))
    (results, one), (others, other) = searches
    assert one == other
    for k in range(3):
        name = f"split{k}_test_score"
        np.testing.assert_array_equal(results[name], others[name])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ["tables", "cyclic tables", "newton tables"])
def test_tiny_weights_keep_their_digits(name, n_classes):
    """Weights of separated classes, and their units, fall by orders of magnitude in a round."""
    rng = np.random.default_rng(1)
    y = np.arange(60) % n_classes
    X = y[:, None] + rng.uniform(-0.3, 0.3, (60, 4))
    times = rng.integers(1, 4, 60)
    settings = {**FITS[name], "n_estimators": 12, "gain": 1.0}
    weighted = pb.ProperBoostClassifier(**settings).fit(X, y, times)
    repeated = pb.ProperBoostClassifier(**settings).fit(np.repeat(X, times, 0), np.repeat(y, times))
    F = weighted.decision_function(X)
    assert np.abs(F).max() > 12.0
    np.testing.assert_allclose(F, repeated.decision_function(X), rtol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        pb.ProperBoostClassifier(step="leveraging", weak_learner="table"),
        pb.ProperBoostClassifier(step="totally_corrective", weak_learner="table"),
        pb.ProperBoostClassifier(selection="unbiased", screening=500, weak_learner="table"),
        pb.ProperBoostClassifier(weak_learner=pb.Tree(max_features=0.5, subsample=0.5)),
        pb.ProperBoostClassifier(weak_learner=pb.Rule(max_features=0.5, subsample=0.5)),
        pb.ARBoostClassifier(),
        pb.SAMME(),
    ],
    ids=str,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_of_weight_0_changes_no_bit(model, n_classes, rows):
    """Draws stay the same, because only rows that count are numbered."""
    X, y, weight, order = rows
    y, counts = np.minimum(y, n_classes - 1), order < 2_500
    model = clone(model).set_params(n_estimators=5, random_state=0)
    of_all = model.fit(X, y, np.where(counts, weight, 0.0)).decision_function(X)
    alone = model.fit(X[counts], y[counts], weight[counts]).decision_function(X)
    np.testing.assert_array_equal(of_all, alone)
