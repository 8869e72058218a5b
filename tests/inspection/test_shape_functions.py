"""Test shape functions: raw predictions are their sum, value for value."""

import numpy as np
import pytest

import properboost as pb
from helpers.models import assert_same_bits


@pytest.mark.parametrize("weights", [False, True])
def test_shape_functions_add_up_to_the_prediction(mixed, weights):
    X, y, weight = mixed
    model = pb.ProperBoostClassifier(
        n_estimators=20, max_bins=20, rows_per_bin=None, weak_learner="table"
    )
    model.fit(X, y, sample_weight=weight if weights else None)
    total = sum(model.shape_function(name)(X[name]) for name in X)
    np.testing.assert_allclose(total, model.decision_function(X), rtol=1e-12, atol=1e-12)
    for j, name in enumerate(X):
        shape = model.shape_function(name)
        assert (shape.feature, shape.name, shape.class_label) == (j, name, "yes")
        assert shape.weights.sum() + shape.missing_weight == (weight.sum() if weights else len(X))
        np.testing.assert_array_equal(shape.values, model.shape_function(j).values)
        opposite = model.shape_function(j, "no")
        np.testing.assert_array_equal(opposite.values, -shape.values)
        assert opposite.class_label == "no"
    age, town = model.shape_function("age"), model.shape_function("town")
    assert (age.kind, age.categories) == ("numeric", None)
    assert len(age.edges) == len(age.values) - 1 == 19
    assert age.missing_weight == (
        weight[X["age"].isna()].sum() if weights else X["age"].isna().sum()
    )
    assert (town.kind, town.edges, town.categories) == (
        "categorical",
        None,
        ("Bonn", "Kiel", "Ulm"),
    )


def test_a_shape_function_takes_values_of_any_shape(mixed):
    X, y, _ = mixed
    model = pb.ProperBoostClassifier(n_estimators=10, max_bins=8, weak_learner="table").fit(X, y)
    age, town = model.shape_function("age"), model.shape_function("town")
    assert age(age.edges[0]) == age.values[0]  # an edge belongs to the bin below
    assert age(np.nextafter(age.edges[0], np.inf)) == age.values[1]
    assert age([[-np.inf, np.inf], [np.nan, age.edges[-1]]]).tolist() == [
        [age.values[0], age.values[-1]],
        [age.missing_value, age.values[-2]],
    ]
    assert town([["Kiel"], [None]]).tolist() == [[town.values[1]], [town.missing_value]]
    with pytest.raises(AttributeError):
        age.values = None


def test_shape_functions_of_many_classes(iris):
    X, y = iris
    model = pb.ProperBoostClassifier(n_estimators=5, multiclass="one_vs_rest", weak_learner="table")
    model.fit(X, np.array(["a", "b", "c"])[y])
    for k, label in enumerate("abc"):
        total = sum(model.shape_function(j, label)(X[:, j]) for j in range(4))
        np.testing.assert_allclose(total, model.decision_function(X)[:, k], atol=1e-12)
    for label in ("d", 0):
        with pytest.raises(ValueError, match=r"class_ must be one of \['a', 'b', 'c'\]; got"):
            model.shape_function(0, label)


@pytest.mark.parametrize("feature", [12, -1, 0.5, "radius", True])
def test_unknown_features_are_refused(binary, feature):
    model = pb.ProperBoostClassifier(n_estimators=1, weak_learner="table").fit(*binary)
    with pytest.raises((TypeError, ValueError), match="feature"):
        model.shape_function(feature)


def fit_rows(n=400, seed=5):
    """Return numbers with gaps, one of them constant, and three classes."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 9)), 2).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 4] = 1.0
    score = np.nan_to_num(X[:, 0] - 2 * X[:, 5] * (X[:, 2] > 0))
    return X, np.digitize(score + rng.logistic(size=n) / 3, [-0.7, 0.7])


def shapes_of(model):
    """Return the shape functions, by model and feature."""
    labels = model.classes_ if len(model.classes_) > 2 else model.classes_[1:]
    return [[model.shape_function(j, c) for j in range(model.n_features_in_)] for c in labels]


def look_up(model, X):
    """Return the sum of the shape functions, added in the order of features."""
    raw = np.zeros((len(X), len(shapes_of(model))))
    for m, shapes in enumerate(shapes_of(model)):
        for j, shape in enumerate(shapes):
            raw[:, m] += shape(X.iloc[:, j] if hasattr(X, "iloc") else X[:, j])
    raw += model.intercept_
    return raw if raw.shape[1] > 1 else raw[:, 0]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("selection", ["greedy", "cyclic"])
def test_decisions_are_shape_functions_added_up(classes, selection):
    pd = pytest.importorskip("pandas")
    X, y = fit_rows()
    settings = {"n_estimators": 12, "max_bins": 40, "multiclass": "one_vs_rest", "gain": 1.0}
    model = pb.ProperBoostClassifier(selection=selection, weak_learner="table", **settings)
    model.fit(X, np.minimum(y, classes - 1))
    others, _ = fit_rows(300, seed=6)
    others[0, :3] = np.inf, -np.inf, 1e30
    expected = look_up(model, others)
    assert len(np.unique(expected)) > 100
    tables = [others, np.asfortranarray(others), others.astype(np.float64), pd.DataFrame(others)]
    frame = pd.DataFrame(others)
    frame[3] = frame[3].astype(np.float64)
    for table in [*tables, frame]:
        assert_same_bits(model.decision_function(table), expected)
        rows = table.iloc if hasattr(table, "iloc") else table
        for part in (slice(0, 1), slice(5, 132), slice(100, 228), slice(150, 279)):
            assert_same_bits(model.decision_function(rows[part]), expected[part])
    for i in range(0, 300, 37):
        assert_same_bits(model.decision_function(others[i : i + 1]), expected[i : i + 1])
    if selection == "greedy":  # a constant column is unused
        assert not any(shapes[4].values.any() for shapes in shapes_of(model))


def test_decisions_on_categories_are_shape_functions_added_up(mixed):
    frame, y, _ = mixed
    model = pb.ProperBoostClassifier(n_estimators=20, max_bins=30, weak_learner="table").fit(
        frame, y
    )
    expected = look_up(model, frame)
    assert_same_bits(model.decision_function(frame), expected)
    assert_same_bits(model.decision_function(frame[7:136]), expected[7:136])
    elsewhere = frame.assign(town=frame["town"].cat.rename_categories({"Kiel": "Rome"}))
    assert_same_bits(model.decision_function(elsewhere), look_up(model, elsewhere))
