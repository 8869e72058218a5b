"""Probabilities and classes that raw predictions stand for."""

import numpy as np
import pytest

import properboost as pb
from properboost import _core


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
    model = pb.ProperBoostClassifier(n_estimators=60, rows_per_bin=None, max_cells=None)
    p = model.fit(X, y).predict_proba(X)
    assert 0.0 < p.min() < 1e-17


def test_probabilities_of_many_classes_are_normalised(iris):
    X, y = iris
    model = pb.ProperBoostClassifier(n_estimators=5, max_bins=8, multiclass="one_vs_rest").fit(X, y)
    p = model.loss_.probability(model.decision_function(X))
    np.testing.assert_allclose(model.predict_proba(X), p / p.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))


def test_rows_that_no_class_wants_are_uniform():
    X = np.repeat(np.eye(3), 20, axis=0)
    model = pb.ProperBoostClassifier("ggauss", n_estimators=5, multiclass="one_vs_rest").fit(
        X, np.repeat([0, 1, 2], 20)
    )
    model._ensemble.sums[:] = -1e6
    np.testing.assert_array_equal(model.predict_proba(X[:2]), np.full((2, 3), 1 / 3))


def test_the_largest_raw_prediction_wins_where_probabilities_saturate():
    X = np.repeat(np.eye(3), 20, axis=0)
    model = pb.ProperBoostClassifier("ggauss", n_estimators=5, multiclass="one_vs_rest").fit(
        X, np.repeat([0, 1, 2], 20)
    )
    model._ensemble.sums[:] = 1e6 * np.array([[1.0], [3.0], [2.0]])
    np.testing.assert_array_equal(model.predict_proba(X), np.full((len(X), 3), 1 / 3))
    np.testing.assert_array_equal(model.predict(X), np.ones(len(X)))
    assert (model.margins(X, model.predict(X)) > 0).all()
