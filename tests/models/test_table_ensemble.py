"""Look-up tables: the importances of their features, and models that learnt nothing."""

import numpy as np

import properboost as pb


def test_importances_are_mean_deviations():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 5, 400), rng.integers(0, 3, 400), np.ones(400)])
    y = X[:, 0] - 0.5 * X[:, 1] + rng.normal(size=400) > 1
    weight = rng.integers(1, 4, 400).astype(float)
    model = pb.ProperBoostClassifier(n_estimators=20, weak_learner="table").fit(
        X, y, sample_weight=weight
    )
    parts = np.column_stack([model.shape_function(j)(X[:, j]) for j in range(3)])
    spread = np.average(
        abs(parts - np.average(parts, axis=0, weights=weight)), axis=0, weights=weight
    )
    np.testing.assert_allclose(model.feature_importances_, spread / spread.sum())
    assert model.feature_importances_[0] > model.feature_importances_[1] > 0.0
    assert model.feature_importances_[2] == 0.0


def test_a_model_that_learnt_nothing_has_no_importances():
    X = np.ones((10, 2))
    model = pb.ProperBoostClassifier(weak_learner="table").fit(X, np.arange(10) % 2)
    np.testing.assert_array_equal(model.feature_importances_, [0.0, 0.0])
    np.testing.assert_array_equal(model.predict_proba(X), 0.5)


def test_constant_columns_predict_the_share_of_the_class():
    X = np.ones((100, 1))
    model = pb.ProperBoostClassifier(weak_learner="table").fit(X, np.arange(100) < 80)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 0.8, atol=0.01)
