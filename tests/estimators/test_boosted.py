"""The fitted model: predictions and explanations."""

import numpy as np
import pytest

import properboost as pb
from helpers.models import LEARNERS
from properboost import _core

pd = pytest.importorskip("pandas")


# -- predictions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", _core.loss_names())
def test_probabilities_go_through_the_loss(binary, loss):
    X, y = binary
    model = pb.ProperBoostClassifier(loss, gain=0.7, n_estimators=5).fit(X, y)
    F = model.decision_function(X)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p[:, 1], model.loss_.probability(F), rtol=1e-12)
    np.testing.assert_allclose(p[:, 0], model.loss_.probability(-F), rtol=1e-12)
    np.testing.assert_array_equal(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), (F > 0).astype(int))


def test_small_probabilities_keep_their_digits(binary):
    X, y = binary
    p = pb.ProperBoostClassifier(n_estimators=60, rows_per_bin=None).fit(X, y).predict_proba(X)
    assert 0.0 < p.min() < 1e-17


def test_probabilities_of_many_classes_are_normalised(iris):
    X, y = iris
    model = pb.ProperBoostClassifier(n_estimators=5, max_bins=8).fit(X, y)
    p = model.loss_.probability(model.decision_function(X))
    np.testing.assert_allclose(model.predict_proba(X), p / p.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))


def test_rows_that_no_class_wants_are_uniform():
    X = np.repeat(np.eye(3), 20, axis=0)
    model = pb.ProperBoostClassifier("ggauss", n_estimators=5).fit(X, np.repeat([0, 1, 2], 20))
    model._ensemble.sums[:] = -1e6
    np.testing.assert_array_equal(model.predict_proba(X[:2]), np.full((2, 3), 1 / 3))


def test_the_largest_raw_prediction_wins_where_probabilities_saturate():
    X = np.repeat(np.eye(3), 20, axis=0)
    model = pb.ProperBoostClassifier("ggauss", n_estimators=5).fit(X, np.repeat([0, 1, 2], 20))
    model._ensemble.sums[:] = 1e6 * np.array([[1.0], [3.0], [2.0]])
    np.testing.assert_array_equal(model.predict_proba(X), np.full((len(X), 3), 1 / 3))
    np.testing.assert_array_equal(model.predict(X), np.ones(len(X)))
    assert (model.margins(X, model.predict(X)) > 0).all()


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("problem", ["binary", "iris"])
def test_stages_end_in_the_prediction(problem, learner, request):
    X, y = request.getfixturevalue(problem)
    model = pb.ProperBoostClassifier(n_estimators=12, **LEARNERS[learner]).fit(X, y)
    raw = list(model.staged_decision_function(X))
    probability = list(model.staged_predict_proba(X))
    labels = list(model.staged_predict(X))
    stages = 24 if "interactions" in LEARNERS[learner] else 12  # pairs come after all features
    assert len(raw) == len(probability) == len(labels) == model.n_iter_ == stages
    np.testing.assert_allclose(raw[-1], model.decision_function(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(probability[-1], model.predict_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(labels[-1], model.predict(X))
    first = pb.ProperBoostClassifier(**{**LEARNERS[learner], "n_estimators": 1, "interactions": 0})
    first.fit(X, y)
    np.testing.assert_allclose(raw[0], first.decision_function(X), rtol=1e-12, atol=1e-12)
    assert not np.array_equal(raw[0], raw[1])


def test_margins(binary, iris):
    X, y = binary
    model = pb.ProperBoostClassifier(n_estimators=5).fit(X, y)
    np.testing.assert_array_equal(model.margins(X, y), (2 * y - 1) * model.decision_function(X))
    X, y = iris
    model = pb.ProperBoostClassifier(n_estimators=3, max_bins=4).fit(X, y)
    F = model.decision_function(X)
    others = np.where(np.eye(3, dtype=bool)[y], -np.inf, F).max(axis=1)
    np.testing.assert_array_equal(model.margins(X, y), F[np.arange(len(y)), y] - others)
    np.testing.assert_array_equal(model.margins(X, y) > 0, F.argmax(axis=1) == y)


@pytest.mark.parametrize("labels", [[0, 2], ["a", "b"], [0.0, 0.5]])
def test_margins_of_unknown_labels_are_refused(binary, labels):
    X, y = binary
    model = pb.ProperBoostClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match=r"y must hold labels among \[0, 1\]"):
        model.margins(X[:2], labels)


# -- explanations ---------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [False, True])
def test_shape_functions_add_up_to_the_prediction(mixed, weights):
    X, y, weight = mixed
    model = pb.ProperBoostClassifier(n_estimators=20, max_bins=20, rows_per_bin=None)
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
    model = pb.ProperBoostClassifier(n_estimators=10, max_bins=8).fit(X, y)
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
    model = pb.ProperBoostClassifier(n_estimators=5).fit(X, np.array(["a", "b", "c"])[y])
    for k, label in enumerate("abc"):
        total = sum(model.shape_function(j, label)(X[:, j]) for j in range(4))
        np.testing.assert_allclose(total, model.decision_function(X)[:, k], atol=1e-12)
    for label in (None, "d", 0):
        with pytest.raises(ValueError, match=r"class_ must be one of \['a', 'b', 'c'\]; got"):
            model.shape_function(0, label)


@pytest.mark.parametrize("feature", [12, -1, 0.5, "radius", True])
def test_unknown_features_are_refused(binary, feature):
    model = pb.ProperBoostClassifier(n_estimators=1).fit(*binary)
    with pytest.raises((TypeError, ValueError), match="feature"):
        model.shape_function(feature)


def test_importances_are_mean_deviations():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 5, 400), rng.integers(0, 3, 400), np.ones(400)])
    y = X[:, 0] - 0.5 * X[:, 1] + rng.normal(size=400) > 1
    weight = rng.integers(1, 4, 400).astype(float)
    model = pb.ProperBoostClassifier(n_estimators=20).fit(X, y, sample_weight=weight)
    parts = np.column_stack([model.shape_function(j)(X[:, j]) for j in range(3)])
    spread = np.average(
        abs(parts - np.average(parts, axis=0, weights=weight)), axis=0, weights=weight
    )
    np.testing.assert_allclose(model.feature_importances_, spread / spread.sum())
    assert model.feature_importances_[0] > model.feature_importances_[1] > 0.0
    assert model.feature_importances_[2] == 0.0


def test_a_model_that_learnt_nothing_has_no_importances():
    X = np.ones((10, 2))
    model = pb.ProperBoostClassifier().fit(X, np.arange(10) % 2)
    np.testing.assert_array_equal(model.feature_importances_, [0.0, 0.0])
    np.testing.assert_array_equal(model.predict_proba(X), 0.5)


def test_constant_columns_predict_the_share_of_the_class():
    X = np.ones((100, 1))
    model = pb.ProperBoostClassifier().fit(X, np.arange(100) < 80)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 0.8, atol=0.01)


def test_history(binary, iris):
    X, y = binary
    model = pb.ProperBoostClassifier(n_estimators=7, gain=2.0).fit(X, y)
    frame = pd.DataFrame(model.history_)
    assert list(frame) == ["class", "round", "feature", "score", "step", "risk"]
    assert frame["round"].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert set(frame["class"]) == {1}
    assert frame["risk"].is_monotonic_decreasing
    risk = np.mean(model.loss_.loss(model.margins(X, y)))
    np.testing.assert_allclose(frame["risk"].iloc[-1], risk, rtol=1e-4)
    model = pb.ProperBoostClassifier(n_estimators=2).fit(*iris)
    assert model.history_["class"].tolist() == [0, 0, 1, 1, 2, 2]
    assert model.history_["round"].tolist() == [1, 2, 1, 2, 1, 2]


def test_a_cycle_has_a_round_for_every_feature(iris):
    X, y = iris
    X = np.column_stack([X, np.ones(len(X))])
    model = pb.ProperBoostClassifier(n_estimators=3, selection="cyclic").fit(X, y)
    frame = pd.DataFrame(model.history_)
    assert model.n_iter_ == 3
    assert frame["class"].tolist() == np.repeat([0, 1, 2], 15).tolist()
    assert frame["round"].tolist() == [*range(1, 16)] * 3
    assert frame["feature"].tolist() == [0, 1, 2, 3, 4] * 9
    assert model.score(X, y) > 0.9
    greedy = pb.ProperBoostClassifier(n_estimators=3).fit(X, y)
    assert frame["risk"].iloc[-1] < greedy.history_["risk"][-1]
