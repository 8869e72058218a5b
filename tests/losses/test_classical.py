"""Least squares, its modification and the hinge: SavageBoost's Table 1, and trainable ones."""

import pickle
import re
from typing import get_args

import numpy as np
import pytest

import properboost as pb
from properboost import losses
from properboost.losses import Hinge, LeastSquares, ModifiedLeastSquares, get_loss
from properboost.parameters.kinds import Response

V = np.linspace(-4.0, 4.0, 161)
P = np.linspace(0.0, 1.0, 101)
TABLE_1 = {
    LeastSquares: ((1 - V) ** 2, 2 * P - 1, 4 * P * (1 - P)),
    ModifiedLeastSquares: (np.maximum(1 - V, 0) ** 2, 2 * P - 1, 4 * P * (1 - P)),
    Hinge: (np.maximum(1 - V, 0), np.sign(2 * P - 1), 1 - np.abs(2 * P - 1)),
}
every_loss = pytest.mark.parametrize("make", list(TABLE_1), ids=lambda make: make.__name__)


@every_loss
@pytest.mark.parametrize("gain", [0.5, 1.0, 3.0])
def test_table_1(make, gain):
    phi, link, risk = TABLE_1[make]
    loss = make(gain)
    np.testing.assert_allclose(loss.loss(gain * V), gain * phi, atol=1e-12)
    np.testing.assert_allclose(loss.link(P), gain * link, atol=1e-12)
    np.testing.assert_allclose(loss.minimum_risk(P), gain * risk, atol=1e-12)
    # No raw prediction has a lower risk than the link's.
    raw = gain * np.linspace(-2.0, 2.0, 401)
    every = P[:, None] * loss.loss(raw) + (1.0 - P[:, None]) * loss.loss(-raw)
    np.testing.assert_allclose(every.min(axis=1), loss.minimum_risk(P), atol=1e-3 * gain)
    assert np.all(every >= loss.minimum_risk(P)[:, None] - 1e-12)


@every_loss
def test_weight_and_curvature_are_derivatives(make):
    loss, h = make(), 1e-6
    v = V[np.abs(V - 1.0) > 1e-3]  # where two have a kink
    slope = (loss.loss(v + h) - loss.loss(v - h)) / (2 * h)
    np.testing.assert_allclose(loss.weight(v), -slope, atol=1e-8)
    bend = (loss.weight(v - h) - loss.weight(v + h)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(v), bend, atol=1e-8)


def test_least_squares_ends_where_its_probabilities_do():
    loss = LeastSquares(2.0)
    np.testing.assert_array_equal(
        loss.probability([-2.1, -2.0, 0.0, 1.0, 2.0]), [np.nan, 0, 0.5, 0.75, 1]
    )
    np.testing.assert_array_equal(loss.regularization_strength([-1.0, 3.0]), [4.0, np.nan])
    assert loss.weight(3.0) < 0.0
    modified = ModifiedLeastSquares(2.0)
    np.testing.assert_array_equal(
        modified.probability([-2.1, -2.0, 1.0, 2.1]), [0.0, 0.0, 0.75, 1.0]
    )
    np.testing.assert_array_equal(
        modified.regularization_strength([-5.0, 1.0, 5.0]), [np.inf, 4, np.inf]
    )
    assert modified.weight(3.0) == 0.0
    assert (modified.loss_margin, modified.convex, modified.canonical) == (2.0, True, False)


def test_the_hinge_has_no_probabilities():
    assert np.all(np.isnan(Hinge().probability(V)))
    assert np.all(np.isnan(Hinge().regularization_strength(V)))
    assert np.all(np.isnan(Hinge().binding(V)))


@every_loss
def test_they_are_values(make):
    loss = make(2.0)
    assert loss == make(2.0) != make(1.0)
    assert hash(loss) == hash(make(2.0))
    assert pickle.loads(pickle.dumps(loss)) == loss
    assert isinstance(loss.loss(0.5), float)
    assert isinstance(loss.weight(0.5), float)
    assert np.isnan(loss.loss(np.nan))
    assert loss.loss(np.zeros((2, 3))).shape == (2, 3)
    with pytest.raises(ValueError, match="gain must be above 0; got 0"):
        make(0.0)
    with pytest.raises(ValueError, match="p must be between 0 and 1"):
        loss.link(1.5)


@pytest.mark.parametrize("loss", [LeastSquares(), Hinge(2.0)])
def test_curves_are_not_trained(loss, rows):
    message = re.escape(f"loss={loss!r} is a curve to draw")
    with pytest.raises(ValueError, match=message):
        get_loss(loss)
    with pytest.raises(ValueError, match=message):
        pb.ProperBoostClassifier(loss, n_estimators=2, weak_learner="table").fit(*rows)


def test_check_agrees_on_what_can_be_trained():
    assert losses.check(ModifiedLeastSquares(3.0)).ok
    assert "below 0 at margin 1" in str(losses.check(LeastSquares()))
    assert "inverse link" in str(losses.check(Hinge()))


@pytest.mark.parametrize("response", get_args(Response))
@pytest.mark.parametrize("selection", ["greedy", "cyclic"])
def test_the_risk_of_modified_least_squares_never_rises(rows, response, selection):
    X, y = rows
    model = pb.ProperBoostClassifier(
        ModifiedLeastSquares(), response=response, step="guarded", selection=selection,
        n_estimators=40, calibration=pb.Calibration(intercept=None), weak_learner="table",
    ).fit(X, y)  # fmt: skip
    risk = np.concatenate([[1.0], model.history_["risk"]])
    assert np.all(np.diff(risk) <= 1e-6)
    assert risk[-1] < 0.75
    v = np.where(y, 1.0, -1.0) * model.decision_function(X)
    assert risk[-1] == pytest.approx(np.mean(np.maximum(1.0 - v, 0.0) ** 2), rel=1e-5)
    proba = model.predict_proba(X)[:, 1]
    assert np.mean((proba > 0.5) == y) > 0.7


def test_a_model_of_modified_least_squares_is_saved(rows, tmp_path):
    X, y = rows
    model = pb.ProperBoostClassifier(
        ModifiedLeastSquares(2.0), n_estimators=10, weak_learner="table"
    ).fit(X, y)
    model.save_model(tmp_path / "model.json")
    loaded = pb.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.loss_ == model.loss_
