"""Test `monotonize`, which makes a fitted model rise or fall with a feature."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

import properboost as pb

EVERY_BIN = pb.Table(max_cells=None, smoothing=0.0)


def waves(n=400, seed=0):
    """Return two numbers with missing values, a category, and labels."""
    rng = np.random.default_rng(seed)
    X = np.c_[rng.normal(size=(n, 2)), rng.integers(0, 3, n)]
    raw = X[:, 0] + np.sin(3 * X[:, 0]) + X[:, 1] + (X[:, 2] == 1)
    X[:, :2][rng.random((n, 2)) < 0.1] = np.nan
    return X, (raw + rng.logistic(size=n) > 0).astype(int)


def fit(X, y, weight=None, kind=pb.ProperBoostClassifier, **settings):
    settings = {"weak_learner": "table"} | settings
    options = {"n_estimators": 12, "categorical_features": [2], "rows_per_bin": 10, "gain": 1.0}
    return kind(**{**options, **settings}).fit(X, y, weight)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**16),
    direction=st.sampled_from(["auto", 1, -1]),
    options=st.sampled_from(
        [{}, {"weak_learner": EVERY_BIN}, {"selection": "cyclic"}, {"weak_learner": "stump"},
         {"step": "totally_corrective"}, {"response": "newton"}]
    ),
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:step=")
def test_the_shape_function_is_its_isotonic_regression(seed, direction, options):
    X, y = waves(120, seed)
    model = fit(X, y, **options)
    before, others, raw = model.shape_function(0), model.shape_function(1), model.decision_function
    old = raw(X)
    staged = list(model.staged_decision_function(X))
    assert model.monotonize(0, direction) is model
    after = model.shape_function(0)
    rises = direction == 1
    if direction == "auto":
        rises = (np.diff(after.values) >= 0).all()
    regression = IsotonicRegression(increasing=bool(rises))
    bins = np.arange(len(before.values))
    expected = regression.fit(bins, before.values, before.weights).predict(bins)
    scale = np.abs(before.values).max() + 1e-300
    np.testing.assert_allclose(after.values, expected, rtol=0, atol=1e-12 * scale)
    assert ((1 if rises else -1) * np.diff(after.values) >= 0).all()
    assert after.missing_value == pytest.approx(before.missing_value, rel=1e-12, abs=1e-12 * scale)
    np.testing.assert_array_equal(model.shape_function(1).values, others.values)
    # All other views of the model agree.
    change = after(X[:, 0]) - before(X[:, 0])
    np.testing.assert_allclose(raw(X), old + change, rtol=1e-9, atol=1e-9)
    contributions = model.contributions(X)
    np.testing.assert_allclose(contributions.baseline + contributions.values.sum(axis=1), raw(X))
    stages = list(model.staged_decision_function(X))
    assert len(stages) == len(staged) == model.n_iter_
    if stages:
        np.testing.assert_allclose(stages[-1], raw(X), rtol=1e-9, atol=1e-9)
    grid = np.c_[np.linspace(-4, 4, 50), np.zeros((50, 2))]
    for stage in model.staged_decision_function(grid):
        assert ((1 if rises else -1) * np.diff(stage) >= -1e-12 * (1 + scale)).all()
    assert ((1 if rises else -1) * np.diff(raw(grid)) >= 0).all()
    # A second time changes nothing.
    once = model.ensemble_
    assert model.monotonize(0, 1 if rises else -1).ensemble_ is once


def test_auto_takes_the_direction_that_changes_less():
    X, y = waves()
    for sign in (1, -1):
        model = fit(X, y if sign > 0 else 1 - y).monotonize(0)
        assert sign * np.diff(model.shape_function(0).values).sum() > 0
    names = pytest.importorskip("pandas").DataFrame(X[:, :2], columns=["a", "b"])
    model = fit(names, y, categorical_features=None)
    by_name = fit(names, y, categorical_features=None).monotonize("a")
    np.testing.assert_array_equal(
        model.monotonize(0).decision_function(names), by_name.decision_function(names)
    )


def test_weights_of_bins_count():
    X, y = waves()
    weight = np.where(X[:, 0] < 0, 5.0, 0.5)
    model = fit(X, y, weight, weak_learner=EVERY_BIN)
    before = model.shape_function(0)
    after = model.monotonize(0, 1).shape_function(0)
    assert np.average(after.values, weights=after.weights) == pytest.approx(
        np.average(before.values, weights=before.weights), rel=1e-9
    )
    assert np.abs(after.values.mean() - before.values.mean()) > 1e-6


@pytest.mark.parametrize("kind", [pb.ProperBoostClassifier, pb.ProperBoostClassifierCV])
@pytest.mark.parametrize("selection", ["greedy", "cyclic"])
def test_files_hold_it(kind, selection, tmp_path):
    X, y = waves()
    table = {"weak_learner": pb.Table(max_cells=None), "learning_rate": 1.0}
    table |= {"n_estimators": 10, "selection": selection}
    if kind is pb.ProperBoostClassifier:
        options = {**table, "gain": 1.0, "interactions": [(1, 2)]}
    else:
        options = {"space": {**table, "gain": [1.0], "interactions": 0}, "cv": 3}
    model = kind(categorical_features=[2], **options).fit(X, y)
    old = model.decision_function(X)
    model.monotonize(0, -1)
    model.save_model(tmp_path / "model.json")
    loaded = pb.load_model(tmp_path / "model.json")
    assert not np.array_equal(old, model.decision_function(X))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    for a, b in zip(
        loaded.staged_decision_function(X), model.staged_decision_function(X), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    for name, values in model.history_.items():
        np.testing.assert_array_equal(loaded.history_[name], values)
    if kind is pb.ProperBoostClassifierCV:
        best = model.best_estimator_.decision_function(X)
        np.testing.assert_array_equal(best, model.decision_function(X))


def test_votes_of_two_classes_too(tmp_path):
    X, y = waves()
    model = pb.ARBoostClassifier(n_estimators=20, categorical_features=[2]).fit(X, y)
    model.monotonize(0, 1)
    assert (np.diff(model.shape_function(0).values) >= 0).all()
    model.save_model(tmp_path / "model.json")
    loaded = pb.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({}, (2,), "feature 2 must be numeric; it is categorical"),
        ({}, (3,), "must be between 0 and 2; got 3"),
        ({}, (0, 0), "direction must be 'auto', 1 or -1; got 0"),
        ({}, (0, True), "direction must be 'auto', 1 or -1; got True"),
        ({}, (0, "up"), "direction must be 'auto', 1 or -1; got 'up'"),
        ({"interactions": [(0, 1)]}, (1,), "feature 1 must be in no joint term"),
        ({"weak_learner": "tree"}, (0,), "feature 0 must be in no joint term"),
        ({"weak_learner": "rule"}, (0,), "feature 0 must be in no joint term"),
    ],
    ids=str,
)
def test_what_is_refused(options, arguments, message):
    model = fit(*waves(), **options)
    with pytest.raises(ValueError, match=message):
        model.monotonize(*arguments)


def test_several_classes_are_refused(iris):
    model = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(*iris)
    with pytest.raises(ValueError, match="monotonize is for two classes, not 3"):
        model.monotonize(0)
