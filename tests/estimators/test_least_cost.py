"""Test `LeastCostClassifier`: its decisions are those of an enumeration of all."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import properboost as pb

QUICK = {"n_estimators": 5, "max_bins": 16, "n_jobs": 1}


@parametrize_with_checks(
    [pb.LeastCostClassifier(pb.ProperBoostClassifier(n_estimators=5, weak_learner="table"))]
)
@pytest.mark.filterwarnings("ignore:sample_weight has a mean of 3")
def test_it_is_a_scikit_learn_classifier(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def two():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.where(y == 1, "benign", "malignant")
    return pb.ProperBoostClassifier(**QUICK).fit(X, y), X, y


@pytest.fixture(scope="module")
def three():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return pb.ProperBoostClassifier(**QUICK).fit(X, y), X, y.to_numpy()


def enumerate_decisions(probability, of_rows):
    """Return, row by row, the expected cost of each decision."""
    n_classes = probability.shape[1]
    return np.array(
        [
            [sum(p[k] * costs[k][d] for k in range(n_classes)) for d in range(n_classes)]
            for p, costs in zip(probability, of_rows, strict=True)
        ]
    )


def assert_least(model, X, labels, expected):
    """Check that the decisions cost least, up to rounding."""
    chosen = np.searchsorted(model.classes_, labels)
    least = expected.min(axis=1)
    assert np.all(expected[np.arange(len(X)), chosen] <= least + 1e-12 * (1.0 + np.abs(least)))


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10_000), several=st.booleans())
def test_decisions_are_those_of_an_enumeration(two, three, seed, several):
    fitted, X, y = three if several else two
    n = len(fitted.classes_)
    rng = np.random.default_rng(seed)
    matrix = rng.uniform(-2.0, 9.0, (n, n))
    matrix[np.diag_indices(n)] = matrix.min(axis=1) - rng.integers(0, 2) * rng.random(n)
    model = pb.LeastCostClassifier(fitted, matrix)
    p = fitted.predict_proba(X)
    expected = enumerate_decisions(p, [matrix] * len(X))
    np.testing.assert_allclose(model.expected_costs(X), expected, atol=1e-12)
    assert_least(model, X, model.predict(X), expected)

    of_rows = np.stack([matrix * factor for factor in rng.uniform(0.1, 3.0, len(X))])
    of_rows += rng.uniform(0.0, 2.0, (len(X), n, n)) * (1.0 - np.eye(n))
    expected = enumerate_decisions(p, of_rows)
    np.testing.assert_allclose(model.expected_costs(X, of_rows), expected, atol=1e-12)
    assert_least(model, X, model.predict(X, of_rows), expected)
    codes, chosen = (np.searchsorted(model.classes_, labels) for labels in (y, model.predict(X)))
    assert model.mean_cost(X, y) == pytest.approx(matrix[codes, chosen].mean())
    paid = of_rows[
        np.arange(len(X)), codes, np.searchsorted(model.classes_, model.predict(X, of_rows))
    ]
    weight = rng.integers(0, 3, len(X))
    assert model.mean_cost(X, y, of_rows, weight) == pytest.approx(np.average(paid, weights=weight))


def test_costs_by_class_are_those_of_any_error(two):
    fitted, X, _ = two
    by_label = pb.LeastCostClassifier(fitted, {"benign": 1.0, "malignant": 20.0})
    by_matrix = pb.LeastCostClassifier(fitted, [[0.0, 1.0], [20.0, 0.0]])
    by_row = by_label.predict(X, np.tile([1.0, 20.0], (len(X), 1)))
    np.testing.assert_array_equal(by_label.predict(X), by_matrix.predict(X))
    np.testing.assert_array_equal(by_label.predict(X), by_row)
    assert np.sum(by_row == "malignant") > np.sum(fitted.predict(X) == "malignant")
    np.testing.assert_array_equal(by_label.predict_proba(X), fitted.predict_proba(X))


def test_costs_by_class_may_be_a_series(two):
    pandas = pytest.importorskip("pandas")
    fitted, X, _ = two
    costs = {"benign": 1.0, "malignant": 4.0}
    np.testing.assert_array_equal(
        pb.LeastCostClassifier(fitted, pandas.Series(costs)).expected_costs(X),
        pb.LeastCostClassifier(fitted, costs).expected_costs(X),
    )


def test_two_classes_have_scikit_learns_threshold(two):
    fitted, X, _ = two
    ours = pb.LeastCostClassifier(fitted, {"benign": 1.0, "malignant": 4.0})
    theirs = FixedThresholdClassifier(FrozenEstimator(fitted), threshold=0.2)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    # Without costs, or with none that differ, it is a half; at equal costs the second is taken.
    for costs in (None, {"benign": 0.0, "malignant": 0.0}):
        np.testing.assert_array_equal(
            pb.LeastCostClassifier(fitted, costs).predict(X), fitted.predict(X)
        )


class Half(LogisticRegression):
    """A model that is never sure."""

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1.0 / len(self.classes_))


def test_decisions_that_cost_the_same():
    X = np.arange(6.0)[:, None]
    half = Half().fit(X, [0, 1] * 3)
    same = np.tile([3.0, 3.0], (6, 1))
    assert set(pb.LeastCostClassifier(half).predict(X)) == {1}
    assert set(pb.LeastCostClassifier(half).predict(X, same)) == {1}
    third = Half().fit(X, [0, 1, 2] * 2)
    assert set(pb.LeastCostClassifier(third).predict(X)) == {0}


def test_it_is_cloned_searched_and_pickled(three):
    fitted, X, y = three
    costs = {0: 1.0, 1: 5.0, 2: 1.0}
    model = pb.LeastCostClassifier(fitted, costs)
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    frozen = clone(pb.LeastCostClassifier(FrozenEstimator(fitted), costs))
    np.testing.assert_array_equal(frozen.fit(X, y).predict(X), model.predict(X))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))

    def score(estimator, X, y):
        return -estimator.mean_cost(X, y)

    search = GridSearchCV(
        model, {"estimator__n_estimators": [1, 10], "costs": [None, costs]}, scoring=score, cv=3
    ).fit(X, y)
    assert search.best_params_["estimator__n_estimators"] in (1, 10)
    assert (
        search.best_estimator_.estimator_.n_estimators
        == (search.best_params_["estimator__n_estimators"])
    )
    assert fitted.n_estimators == 5


def test_weights_reach_the_estimator(three):
    fitted, X, y = three
    weight = np.where(y == 2, 0.0, 1.0)
    weight[-1] = 1.0
    model = pb.LeastCostClassifier(fitted).fit(X, y, sample_weight=weight)
    expected = clone(fitted).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize(("name", "compact"), [("model.json", False), ("model.json.gz", True)])
def test_files_keep_decisions(two, tmp_path, name, compact):
    fitted, X, y = two
    costs = {"benign": 1.0, "malignant": 7.0}
    before = pb.LeastCostClassifier(fitted, costs)
    for model in (clone(before).fit(X, y), pb.LeastCostClassifier(FrozenEstimator(fitted))):
        model.save_model(tmp_path / name, compact=compact)
        loaded = pb.load_model(tmp_path / name)
        assert type(loaded) is pb.LeastCostClassifier
        assert loaded.is_compact is compact
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        np.testing.assert_array_equal(loaded.expected_costs(X), model.expected_costs(X))
        assert list(loaded.feature_names_in_) == list(X.columns)
    linear = pb.LeastCostClassifier(LogisticRegression().fit(X / X.max(), y))
    with pytest.raises(TypeError, match=r"of properboost to be saved; got LogisticRegression"):
        linear.save_model(tmp_path / name)


@pytest.mark.parametrize(
    ("costs", "error", "message"),
    [
        ({"benign": 1.0}, ValueError, "costs must be of each class"),
        ({"benign": 1.0, "malignant": -1.0}, ValueError, "at least 0; got -1"),
        ({"benign": 1.0, "malignant": np.nan}, ValueError, "finite numbers; got nan"),
        ({"benign": 1.0, "malignant": "much"}, TypeError, "numbers"),
        (np.eye(3), ValueError, r"shape \(2, 2\)"),
        ([[1.0, 0.0], [1.0, 0.0]], ValueError, "least for the decision that is right"),
    ],
)
def test_wrong_costs_are_named(two, costs, error, message):
    fitted, X, y = two
    model = pb.LeastCostClassifier(fitted, costs)
    with pytest.raises(error, match=message):
        model.predict(X)
    with pytest.raises(error, match=message):
        clone(model).fit(X, y)


def test_wrong_costs_of_rows_are_named(two):
    fitted, X, _ = two
    model = pb.LeastCostClassifier(fitted)
    n = len(X)
    for costs in (np.ones((n, 3)), np.ones((n - 1, 2)), np.ones(n)):
        with pytest.raises(ValueError, match="costs of rows must have the shape"):
            model.predict(X, costs)
    with pytest.raises(ValueError, match="at least 0"):
        model.predict(X, -np.ones((n, 2)))
    for estimator in (None, SVC()):
        with pytest.raises(TypeError, match="estimator must be a classifier with predict_proba"):
            pb.LeastCostClassifier(estimator).predict(X)
        with pytest.raises(TypeError, match="estimator must be a classifier with predict_proba"):
            pb.LeastCostClassifier(estimator).fit(X, np.arange(n) % 2)
        assert not hasattr(pb.LeastCostClassifier(estimator), "classes_")
    with pytest.raises(NotFittedError, match="'fit'"):
        pb.LeastCostClassifier(pb.ProperBoostClassifier(weak_learner="table")).predict(X)
