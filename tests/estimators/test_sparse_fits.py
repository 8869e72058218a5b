"""Test fits of sparse matrices: the model files of dense tables, by sparse codes."""

import numpy as np
import pytest
from scipy import sparse

import properboost as pb
from properboost.data.sparse_codes import SparseCodes
from properboost.engine.local import LocalRows

N_ROWS = 1200


def make_rows(n=N_ROWS, seed=0, classes=2):
    """Return columns of few entries between dense ones, some missing, and labels and weights."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, 24)) < 0.05, rng.integers(-3, 9, (n, 24)) / 4, 0.0)
    X[rng.random((n, 24)) < 0.002] = np.nan
    X[:, [3, 11]] = rng.normal(size=(n, 2)).round(1)
    score = np.nan_to_num(X) @ rng.normal(size=24) + rng.logistic(size=n)
    y = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    return X, y, rng.exponential(size=n) * (rng.random(n) < 0.9)


@pytest.fixture
def kinds(monkeypatch):
    """The types of codes over which models were boosted."""
    types = []
    start = LocalRows.start

    def watch(rows, models):
        codes = rows._find_codes(models)
        types.append("array" if isinstance(codes, np.ndarray) else "sparse")
        return start(rows, models)

    monkeypatch.setattr(LocalRows, "start", watch)
    return types


def read_model(model, folder):
    model.save_model(folder / "model.json")
    return (folder / "model.json").read_bytes()


def fit_both(model, kinds, folder, *, weighted=False, **rows):
    """Check that both tables make one model; return the kinds of codes of the sparse fit."""
    X, y, weight = make_rows(**rows)
    given_weight = weight if weighted else None
    fitted = model().fit(sparse.csr_array(X), y, given_weight)
    used = {*kinds}
    kinds.clear()
    same = model().fit(X, y, given_weight)
    assert {*kinds} == {"array"}
    assert read_model(fitted, folder) == read_model(same, folder)
    X, _, _ = make_rows(3000, seed=1)
    for form in (sparse.csr_array(X), sparse.csc_matrix(X)):
        np.testing.assert_array_equal(fitted.predict_proba(form), same.predict_proba(X))
    return used


CASES = {
    "tables": {"weak_learner": "table"},
    "two threads": {"weak_learner": "table", "n_jobs": 2},
    "few cells": {"weak_learner": pb.Table(max_cells=2)},
    "stumps": {"weak_learner": "stump"},
    "in turn": {"weak_learner": "table", "selection": "cyclic", "n_estimators": 3},
    "in turn, newton": {
        "weak_learner": "table",
        "selection": "cyclic",
        "n_estimators": 3,
        "response": "newton",
    },
    "greedy, newton": {"weak_learner": "table", "selection": "greedy", "response": "newton"},
    "exact": {"weak_learner": "table", "response": "exact", "n_estimators": 4},
    "line search": {"weak_learner": "table", "step": "line_search", "n_estimators": 4},
    "totally corrective": {
        "weak_learner": "table",
        "step": "totally_corrective",
        "n_estimators": 4,
    },
    "bags": {"weak_learner": "table", "outer_bags": 4},
    "early stopping": {"weak_learner": "table", "early_stopping": True, "n_estimators": 30},
    "pairs": {"weak_learner": "table", "interactions": 2},
    "screens": {"weak_learner": "table", "screening": 100},
    "directions": {"weak_learner": "table", "monotonic_cst": [1] * 24},
    "categories": {"weak_learner": "table", "categorical_features": [3, 5]},
    "trees": {"weak_learner": "tree"},
    "trees by level": {"weak_learner": pb.Tree(grow_policy="symmetric", max_depth=3)},
    "trees of a screen": {"weak_learner": "tree", "screening": 100},
    "trees of many leaves": {"weak_learner": pb.Tree(max_leaf_nodes=40), "response": "newton"},
    "trees in bags": {"weak_learner": "tree", "outer_bags": 4},
    "rules": {"weak_learner": "rule"},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
@pytest.mark.parametrize("case", CASES)
def test_sparse_codes_make_the_model_of_the_dense_table(case, weighted, kinds, tmp_path):
    settings = {"n_estimators": 12} | CASES[case]

    def make():
        return pb.ProperBoostClassifier(**settings)

    used = fit_both(make, kinds, tmp_path, weighted=weighted)
    assert "sparse" in used


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("multiclass", "learner"),
    [
        ("softmax", "table"),
        ("one_vs_rest", "table"),
        ("softmax", pb.Tree(multi_strategy="one_output_per_tree")),
        ("one_vs_rest", "tree"),
    ],
    ids=str,
)
def test_several_classes_have_sparse_codes(multiclass, learner, kinds, tmp_path):
    def make():
        return pb.ProperBoostClassifier(multiclass=multiclass, weak_learner=learner, n_estimators=6)

    assert fit_both(make, kinds, tmp_path, classes=4) == {"sparse"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "learner",
    [pb.Tree(linear_leaves=True), pb.Tree(multi_strategy="multi_output_tree")],
    ids=["linear leaves", "shared trees"],
)
def test_some_trees_have_dense_codes(learner, kinds, tmp_path):
    def make():
        return pb.ProperBoostClassifier(multiclass="softmax", weak_learner=learner, n_estimators=4)

    assert fit_both(make, kinds, tmp_path, classes=3) == {"array"}


@pytest.mark.parametrize("many", [5_000, 40_000])
def test_sums_in_32_bits_are_those_of_sparse_codes(many, kinds, tmp_path):
    def make():
        return pb.ProperBoostClassifier(n_estimators=5, response="newton", weak_learner="table")

    assert fit_both(make, kinds, tmp_path, n=many) == {"sparse"}


def test_a_fit_goes_on_with_sparse_codes(tmp_path):
    X, y, _ = make_rows()
    rows = sparse.csr_array(X)
    whole = pb.ProperBoostClassifier(n_estimators=12, weak_learner="table").fit(rows, y)
    model = pb.ProperBoostClassifier(n_estimators=6, warm_start=True, weak_learner="table").fit(
        rows, y
    )
    model.set_params(n_estimators=12).fit(rows, y)
    np.testing.assert_array_equal(model.predict_proba(rows), whole.predict_proba(rows))


@pytest.mark.filterwarnings("ignore")
def test_a_search_of_a_sparse_matrix_is_that_of_the_dense_table():
    X, y, _ = make_rows(500)
    fitted, same = (
        pb.ProperBoostClassifierCV(effort=1, cv=3, random_state=0).fit(table, y)
        for table in (sparse.csr_array(X), X)
    )
    assert fitted.best_params_ == same.best_params_
    np.testing.assert_array_equal(fitted.predict_proba(X), same.predict_proba(X))


def test_voters_have_dense_codes():
    X, y, _ = make_rows(400)
    fitted, same = (
        pb.ARBoostClassifier(n_estimators=3).fit(table, y) for table in (sparse.csr_array(X), X)
    )
    np.testing.assert_array_equal(fitted.predict(X), same.predict(X))


@pytest.mark.parametrize("learner", ["table", "tree"])
def test_codes_of_a_wide_matrix_are_small(learner, monkeypatch):
    sizes = []
    start = LocalRows.start

    def watch(rows, models):
        codes = rows.codes
        if isinstance(codes, SparseCodes):
            arrays = (codes.dense, codes.place, codes.starts, codes.rows, codes.codes, codes.common)
            sizes.append((sum(array.nbytes for array in arrays), codes.shape))
        return start(rows, models)

    monkeypatch.setattr(LocalRows, "start", watch)
    rng = np.random.default_rng(0)
    X = sparse.random_array((4000, 3000), density=0.002, rng=rng, format="csr")
    y = (X[:, :40].sum(axis=1) + 0.1 * rng.normal(size=4000) > 0.04).astype(int)
    model, same = (
        pb.ProperBoostClassifier(weak_learner=learner, n_estimators=10).fit(table, y)
        for table in (X, X.toarray())
    )
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))
    ((size, shape),) = sizes
    assert shape == (3000, 4000)
    assert size < 0.02 * 3000 * 4000
