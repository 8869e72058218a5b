"""The curve of cross-validated errors by omega."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

import properboost as pb
from properboost import RadoBoostClassifier, rado


@pytest.mark.parametrize("keep", ["loss", "error"])
def test_omega_is_cross_validated(cancer, keep):
    X, y = cancer
    model = RadoBoostClassifier("lasso", n_estimators=30, keep=keep)
    splits = [(np.arange(400), np.arange(400, 569)), (np.arange(200, 569), np.arange(200))]
    curve = rado.omega_curve(model, X, y, [1e6, 0.1, 30.0], cv=splits)
    assert curve.omegas.tolist() == [0.1, 30.0, 1e6]
    assert curve.errors.shape == curve.n_coefficients.shape == (3, 2)
    for k, omega in enumerate(curve.omegas):
        for fold, (train, test) in enumerate(splits):
            fitted = clone(model).set_params(omega=omega).fit(X[train], y[train])
            assert curve.errors[k, fold] == pytest.approx(1 - fitted.score(X[test], y[test]))
            assert curve.n_coefficients[k, fold] == np.count_nonzero(fitted.coef_)
    if keep == "loss":
        assert curve.n_coefficients[2].tolist() == [0, 0]
    assert curve.best_omega < 1e6
    assert model.omega == 10.0


def test_of_equals_the_largest_omega_is_best(mixed):
    frame, y, _ = mixed
    model = RadoBoostClassifier("lasso", n_estimators=5)
    curve = rado.omega_curve(model, frame[["town", "visits"]], y, [1e8, 1e9], cv=2)
    assert curve.best_omega == 1e9
    for settings, message in (
        ({"omegas": [-1.0]}, r"omegas\[0\] must be at least 0"),
        ({"omegas": []}, "omegas must not be empty"),
        ({"cv": 1}, "cv must be at least 2"),
    ):
        with pytest.raises(ValueError, match=message):
            rado.omega_curve(model, frame[["visits"]], y, **settings)


@pytest.mark.parametrize("keep", ["loss", "error"])
def test_omega_curve_reads_labels_as_fit_does(cancer, keep):
    X, y = cancer
    model = RadoBoostClassifier("lasso", n_estimators=10, keep=keep)
    curve = rado.omega_curve(model, X, y, [1.0], cv=2)
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        column = rado.omega_curve(model, X, y[:, None], [1.0], cv=2)
    np.testing.assert_array_equal(column.errors, curve.errors)
    named = rado.omega_curve(model, X, ["no" if label == 0 else "yes" for label in y], [1.0], cv=2)
    np.testing.assert_array_equal(named.errors, curve.errors)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"y": [0, 1] * 284}, ValueError, "X and y must have as many rows; got 569 and 568"),
        ({"y": [0, 1] * 285}, ValueError, "X and y must have as many rows; got 569 and 570"),
        ({"y": np.arange(569)}, ValueError, "Only binary classification"),
        ({"y": None}, ValueError, "the target y is None"),
        (
            {"model": pb.ProperBoostClassifier(weak_learner="table")},
            TypeError,
            "model must be a RadoBoostClassifier",
        ),
        ({"model": RadoBoostClassifier}, TypeError, "model must be a RadoBoostClassifier"),
        ({"cv": []}, ValueError, "cv must give at least one split"),
        ({"cv": [(range(569), [])]}, ValueError, "cv: split 0 has no test row"),
    ],
)
def test_wrong_arguments_of_omega_curve(cancer, settings, error, message):
    X, y = cancer
    model = RadoBoostClassifier(n_estimators=2)
    with pytest.raises(error, match=message):
        rado.omega_curve(**{"model": model, "X": X, "y": y, "omegas": [1.0], **settings})
