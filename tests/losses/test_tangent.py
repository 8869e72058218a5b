"""TangentBoost's loss."""

import numpy as np
import pytest

import properboost as pb
from helpers.models import assert_same, same_model
from helpers.own_losses import CERTAIN, fit, raw_tangent_loss, raw_tangent_weight
from properboost import _core
from properboost.losses import Tangent, check


def test_tangent_is_the_raw_loss_cut_off_where_its_weight_turns_negative():
    v = np.concatenate([np.linspace(-30.0, 30.0, 6001), [CERTAIN, -CERTAIN]])
    loss = Tangent()
    kept = v < CERTAIN
    np.testing.assert_allclose(loss.weight(v), np.where(kept, raw_tangent_weight(v), 0), atol=1e-8)
    np.testing.assert_allclose(loss.loss(v), np.where(kept, raw_tangent_loss(v), 0), atol=1e-8)
    p = np.clip(np.arctan(v) + 0.5, 0.0, 1.0)
    np.testing.assert_allclose(loss.probability(v), p, atol=1e-9)
    p = np.linspace(0.0, 1.0, 101)
    np.testing.assert_allclose(loss.link(p), np.tan(p - 0.5), atol=1e-9)
    np.testing.assert_allclose(loss.minimum_risk(p), 4.0 * p * (1.0 - p), atol=1e-8)
    assert loss.loss_margin == pytest.approx(0.5)
    assert Tangent(1.0).is_regularizer
    assert not Tangent(0.99).is_regularizer
    assert not loss.convex
    assert check(loss)
    assert check(Tangent(7.0))


def test_tangent_in_the_engine_is_the_cython_module():
    u = np.concatenate([np.linspace(-50.0, 50.0, 20_001), np.geomspace(1e-30, 1e30, 301)])
    u = np.concatenate([u, -u]).astype(np.float32)
    exact = u.astype(np.float64)
    weight = np.where(exact < CERTAIN, raw_tangent_weight(exact), 0.0)
    np.testing.assert_allclose(Tangent().native.engine_weight(u), weight, rtol=1e-6, atol=2e-6)
    loss = np.where(exact < CERTAIN, raw_tangent_loss(exact), 0.0)
    np.testing.assert_allclose(Tangent().native.engine_loss(u), loss, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("settings", [{}, {"selection": "cyclic", "n_estimators": 8}], ids=str)
@pytest.mark.parametrize("response", _core.response_names())
def test_tangent_trains_by_its_name(rows, response, settings):
    model = fit("tangent", rows, response=response, gain=2.0, **settings)
    assert model.loss_ == Tangent(2.0)
    assert model.score(*rows) > 0.72
    p = model.predict_proba(rows[0])
    assert np.all((p >= 0.0) & (p <= 1.0))
    others = fit("tangent", rows, response=response, gain=2.0, n_jobs=2, **settings)
    assert same_model(model, others)


def test_tangent_is_saved_by_its_name(rows, tmp_path):
    model = fit("tangent", rows, n_estimators=3)
    model.save_model(tmp_path / "model.json")
    assert len((tmp_path / "model.json").read_text()) < 20_000
    assert_same(model, pb.load_model(tmp_path / "model.json"), rows[0])
