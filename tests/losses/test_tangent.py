"""TangentBoost's loss."""

import math

import numpy as np
import pytest

import properboost as pb
from helpers.custom_losses import CERTAIN, fit, raw_tangent_loss, raw_tangent_weight
from helpers.models import assert_same, same_model
from properboost import _core
from properboost.losses import Tangent, check, get_loss


def test_tangent_is_the_raw_loss_cut_off_where_its_weight_turns_negative():
    v = np.concatenate([np.linspace(-30.0, 30.0, 6001), [CERTAIN, -CERTAIN]])
    loss = Tangent()
    below_cut = v < CERTAIN
    np.testing.assert_allclose(
        loss.weight(v), np.where(below_cut, raw_tangent_weight(v), 0), atol=1e-8
    )
    np.testing.assert_allclose(loss.loss(v), np.where(below_cut, raw_tangent_loss(v), 0), atol=1e-8)
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


def standard_error(y, weight=None):
    """Return the standard error of either class's share."""
    rows = np.bincount(y, weight)
    return math.sqrt(rows.prod() / rows.sum() ** 3)


@pytest.mark.parametrize("weak_learner", ["table", "stump", "tree", "rule"])
def test_a_plain_fit_is_no_surer_than_chance_among_its_rows(rows, weak_learner):
    X, y = rows
    model = pb.ProperBoostClassifier("tangent", weak_learner=weak_learner).fit(X, y)
    assert model.loss_.least_probability == pytest.approx(standard_error(y))
    p = model.predict_proba(X)
    assert p.min() == model.loss_.least_probability
    sure = Tangent(model.loss_.gain)
    same = pb.ProperBoostClassifier(sure, weak_learner=weak_learner).fit(X, y)
    assert same.loss_ == sure
    assert same.predict_proba(X).min() == 0.0  # an explicit value stays
    if weak_learner != "tree":  # whose shrinkage is the same, too
        np.testing.assert_array_equal(same.decision_function(X), model.decision_function(X))


def test_rows_count_by_weight(rows):
    X, y = rows
    weight = np.arange(len(y)) % 3 + 1.0
    model = pb.ProperBoostClassifier("tangent", n_estimators=2, weak_learner="table").fit(
        X, y, weight
    )
    assert model.loss_.least_probability == pytest.approx(standard_error(y, weight))
    few = pb.ProperBoostClassifier(
        "tangent", n_estimators=2, class_weight={0: 1e-3, 1: 1e-3}, weak_learner="table"
    )
    with pytest.warns(UserWarning, match="class_weight makes rows count"):
        few.fit(X[:200], y[:200])
    assert few.loss_.least_probability == 0.5 / math.sqrt(2.0)  # of two rows


def test_a_rare_class_is_not_too_rare_to_be_predicted():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 2)), (np.arange(4000) < 8).astype(int)
    model = pb.ProperBoostClassifier(
        "tangent", calibration=pb.Calibration(intercept="share"), weak_learner="table"
    ).fit(X, y)
    assert model.loss_.least_probability < y.mean() / 2.0
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), rel=1e-3)


def test_the_least_probability_is_clipped_to_and_checked():
    loss = Tangent(2.0, least_probability=0.01)
    v = np.array([-np.inf, -5.0, 0.0, 0.3, 5.0, np.inf, np.nan])
    expected = np.clip(Tangent(2.0).probability(v), 0.01, 0.99)
    np.testing.assert_array_equal(loss.probability(v), expected)
    assert loss.parameters == {"least_probability": 0.01}
    assert Tangent().parameters == {}
    assert get_loss("tangent", 2.0, least_probability=0.01) == loss
    for wrong in (-0.1, 0.6, np.nan):
        with pytest.raises(ValueError, match="least_probability must be"):
            Tangent(least_probability=wrong)
    with pytest.raises(ValueError, match=r"has no parameter 'alpha'; it takes \['least_prob"):
        get_loss("tangent", alpha=0.1)


def test_several_classes_that_are_certain_of_nothing():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (300, 2))
    model = pb.ProperBoostClassifier(
        "tangent", categorical_features=[0, 1], weak_learner="table"
    ).fit(X, X[:, 0] % 3)
    p = model.predict_proba(X)
    assert model.multiclass_ == "one_vs_rest"
    assert p.min() > 0.0
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_fits_that_go_on_and_are_merged_count_all_their_rows(rows):
    X, y = rows
    half = len(y) // 2
    parts = [
        pb.ProperBoostClassifier("tangent", n_estimators=9, weak_learner="table").fit(
            X[part], y[part]
        )
        for part in (slice(half), slice(half, None))
    ]
    merged = pb.merge_models(parts)
    assert merged.loss_.least_probability == pytest.approx(standard_error(y), rel=0.01)
    assert merged.loss_.gain == parts[0].loss_.gain
    longer = parts[0].set_params(warm_start=True, n_estimators=12).fit(X, y)
    assert longer.loss_.least_probability == pytest.approx(standard_error(y))
    with pytest.raises(ValueError, match="loss and gain must stay"):
        longer.set_params(loss="gboost", n_estimators=13).fit(X, y)
