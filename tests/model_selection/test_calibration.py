"""The slope and the intercepts that searches fit to rows held out."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.metrics import log_loss

import properboost as pb
from helpers.models import document_of, load_document
from helpers.searches import integers, quick
from properboost import losses
from properboost.losses.probabilities import Link
from properboost.losses.registry import get_loss
from properboost.model_selection import search_run
from properboost.model_selection.calibration import (
    PRIOR_ROWS,
    FittedCalibration,
    calibrate,
    make_scaled,
)
from properboost.scoring import HeldOutRows

KINDS = [
    *((name, None) for name in ("glog", "ggauss", "glaplacian", "gboost", "exponential", "savage")),
    (losses.from_functions(lambda u: 1 / (1 + np.exp(u))), None),
    ("glog", "softmax"), ("glog", "canonical"), ("gboost", "canonical"), ("ggauss", "canonical"),
    ("glog", "one_vs_rest"), ("savage", "one_vs_rest"),
]  # fmt: skip


def draw(link, n=400, seed=0, slope=1.0, offset=None):
    """Draw raw predictions, and labels whose probabilities are those of slope F + offset."""
    rng = np.random.default_rng(seed)
    shape = (n,) if link.multiclass is None else (n, 3)
    raw = rng.normal(size=shape) * 2.0 * link.loss.gain
    offset = 0.0 if offset is None else np.asarray(offset) * link.loss.gain
    p = make_scaled(link).probabilities(slope * raw + offset)
    codes = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return raw, np.minimum(codes, p.shape[1] - 1)


def in_splits(raw, codes, n_splits=4, weight=None):
    """Return the held-out rows of each split, and their raw predictions."""
    split = np.arange(len(codes)) % n_splits
    test_rows = [np.flatnonzero(split == k) for k in range(n_splits)]
    held_out = [HeldOutRows(r, codes[r], None if weight is None else weight[r]) for r in test_rows]
    return held_out, [raw[r] for r in test_rows]


def make_link(kind, multiclass, gain=1.7):
    loss = get_loss(kind, gain if isinstance(kind, str) else None)
    return Link(loss, multiclass, 1, 0.8 if multiclass == "one_vs_rest" else None)


@pytest.mark.parametrize(("kind", "multiclass"), KINDS, ids=str)
@pytest.mark.parametrize("prior_rows", [PRIOR_ROWS, 0.0])
def test_they_are_the_most_likely(kind, multiclass, prior_rows):
    link = make_link(kind, multiclass)
    offset = 0.4 if multiclass is None else [0.5, -0.3, -0.2]
    raw, codes = draw(link, slope=0.6, offset=offset)
    weight = np.random.default_rng(1).uniform(0.2, 2.0, len(codes))
    calibration = calibrate(link, *in_splits(raw, codes), weight, prior_rows)
    scaled, before = make_scaled(link), link.probabilities(raw)
    share = prior_rows / weight.sum()

    def cost(at):
        logs = scaled.log_probabilities(np.exp(at[0]) * raw + (at[1] if len(at) == 2 else at[1:]))
        of_rows = logs[np.arange(len(codes)), codes] + share * (before * logs).sum(axis=1)
        return -np.average(of_rows, weights=weight)

    start = np.zeros(2 if multiclass is None else 4)
    best = minimize(cost, start, method="BFGS", options={"gtol": 1e-9})
    ours = np.array([np.log(calibration.slope), *calibration.intercepts])
    assert cost(ours) <= best.fun + 1e-7
    expected = best.x[1:] - (best.x[1:].mean() if multiclass else 0.0)
    np.testing.assert_allclose(calibration.slope, np.exp(best.x[0]), rtol=2e-3)
    np.testing.assert_allclose(calibration.intercepts, expected, atol=4e-3 * link.loss.gain)
    assert calibration.helps


@pytest.mark.parametrize(("kind", "multiclass"), KINDS, ids=str)
def test_the_gain_is_charged_for_what_was_fitted(kind, multiclass):
    link = make_link(kind, multiclass)
    raw, codes = draw(link, slope=0.6)
    calibration = calibrate(link, *in_splits(raw, codes), None)
    rows = np.arange(len(codes))
    after = make_scaled(link).log_probabilities(calibration.apply(raw))[rows, codes]
    gains = after - link.log_probabilities(raw)[rows, codes]
    n_fitted = 2 if multiclass is None else 3
    assert calibration.gain == pytest.approx(gains.mean() - n_fitted / len(codes), abs=1e-6)
    assert calibration.error == pytest.approx(gains.std() / np.sqrt(len(gains) - 1), rel=1e-3)


@pytest.mark.parametrize("multiclass", [None, "softmax", "one_vs_rest"])
def test_what_is_right_is_left_alone(multiclass):
    link = Link(losses.GLog(2.0), multiclass, 1, 1.0 if multiclass == "one_vs_rest" else None)
    helpful = []
    for seed in range(40):
        calibration = calibrate(link, *in_splits(*draw(link, 300, seed)), None)
        helpful.append(calibration.helps)
        assert 0.6 < calibration.slope < 1.6
    assert np.mean(helpful) <= 0.05


def test_a_class_that_a_split_lacks_counts_for_nothing():
    link = Link(losses.GLog(2.0), "one_vs_rest", 1, 1.0)
    raw, codes = draw(link, slope=0.6)
    held_out, raws = in_splits(raw, codes)
    raws[0][:, 2] = -np.inf
    calibration = calibrate(link, held_out, raws, None)
    lacking = held_out[0].codes == 2
    assert np.isfinite(
        [calibration.slope, *calibration.intercepts, calibration.gain, calibration.error]
    ).all()
    weight = np.ones(len(codes))
    weight[held_out[0].rows[lacking]] = 0.0
    assert calibrate(link, held_out, raws, weight) == calibration
    assert calibrate(link, held_out, raws, np.zeros(len(codes))) is None


def test_weights_are_frequencies_and_repeated_splits_are_not_more_rows():
    link = Link(losses.GLog(2.0))
    raw, codes = draw(link, slope=0.6)
    weight = np.random.default_rng(0).integers(0, 4, len(codes))
    twice = np.repeat(np.arange(len(codes)), weight)
    held_out, raws = in_splits(raw, codes)
    counted = calibrate(link, held_out, raws, weight.astype(float))
    split = np.repeat(np.arange(len(codes)) % 4, weight)
    spelt = calibrate(
        link,
        [HeldOutRows(np.flatnonzero(split == k), codes[twice][split == k], None) for k in range(4)],
        [raw[twice][split == k] for k in range(4)],
        None,
    )
    assert (counted.slope, counted.intercepts) == (spelt.slope, spelt.intercepts)
    np.testing.assert_allclose(counted.gain, spelt.gain, rtol=1e-6)
    np.testing.assert_allclose(counted.error, spelt.error, rtol=1e-6)
    once = calibrate(link, held_out, raws, None)
    repeated = calibrate(link, held_out * 3, raws * 3, None)
    np.testing.assert_allclose(repeated.slope, once.slope, rtol=1e-3)
    assert repeated.error == pytest.approx(once.error, rel=0.05)


@pytest.mark.parametrize("loss", ["glog", "tangent", "savage", "gboost"])
def test_any_raw_predictions_have_some(loss):
    link = Link(get_loss(loss, 1.0))
    codes = np.arange(60) % 2
    for raw in (
        np.zeros(60),
        np.where(codes, 40.0, -40.0),
        np.where(codes, -40.0, 40.0),
        codes * 1e9,
    ):
        calibration = calibrate(link, *in_splits(raw.astype(float), codes), None)
        assert 0.0 < calibration.slope < np.inf
        assert np.isfinite([*calibration.intercepts, calibration.gain, calibration.error]).all()
    one = calibrate(
        link, [HeldOutRows(np.arange(3), np.array([1, 0, 1]), None)], [np.ones(3)], None
    )
    assert np.isfinite(one.gain)


# -- in a search ----------------------------------------------------------------------------------

HARSH = {"gain": 0.05, "n_estimators": 60}
BY_HEART = pb.Table(max_cells=None, smoothing=0.0)
"""The settings that overfit the training rows."""


def overfitted(n_classes=2, space=None, **settings):
    X, y = integers(900, n_classes)
    X = np.column_stack([X, np.random.default_rng(5).normal(size=(900, 3)).round(1)])
    space = {**HARSH, "weak_learner": BY_HEART, **(space or {})}
    search = pb.ProperBoostClassifierCV(space, effort=None, cv=4, rows_per_bin=5.0, **settings)
    search.fit(X[:600], y[:600])
    return search, clone(search).set_params(calibrate=False).fit(X[:600], y[:600]), X, y


@pytest.mark.parametrize(
    ("n_classes", "space"),
    [
        (2, {}),
        (2, {"weak_learner": pb.Tree(max_leaf_nodes=8)}),
        (2, {"weak_learner": "rule"}),
        (2, {"interactions": [2]}),
        (2, {"loss": "savage"}),
        (3, {"multiclass": "softmax"}),
        (3, {"multiclass": "canonical", "loss": "gboost"}),
        (3, {"multiclass": "one_vs_rest"}),
    ],
    ids=str,
)
def test_an_overfitted_model_gets_less_sure(n_classes, space):
    search, plain, X, y = overfitted(n_classes, space)
    record = search.calibration_
    assert plain.calibration_ is None
    assert search.best_score_ == plain.best_score_
    np.testing.assert_array_equal(search.validation_curves_, plain.validation_curves_)
    before, after = (log_loss(y[600:], m.predict_proba(X[600:])) for m in (plain, search))
    if space.get("multiclass") == "one_vs_rest":
        # The search had a temperature already.
        before_that = plain.best_params_["calibration"].temperature
        assert search.temperature_ == (record["temperature"] if record["kept"] else before_that)
        assert after < before + 0.01
    else:
        assert record["kept"]
        assert record["gain"] > record["error"] > 0.0
        assert record["slope"] < 0.9
        assert after < before - 0.02
        # Rows keep their order.
        assert search.best_params_["calibration"].slope == record["slope"]
        assert search.best_estimator_.calibration == search.best_params_["calibration"]
        np.testing.assert_allclose(search.intercept_, record["intercept"], rtol=1e-12)
        F, G = (m.decision_function(X) for m in (plain, search))
        expected = record["slope"] * F + np.asarray(record["intercept"])
        np.testing.assert_allclose(G, expected, rtol=1e-9, atol=1e-9 * np.abs(F).max())
    twin = pb.ProperBoostClassifier(**search.best_params_, rows_per_bin=5.0)
    twin.fit(X[:600], y[:600])
    np.testing.assert_allclose(twin.predict_proba(X), search.predict_proba(X), rtol=1e-3, atol=1e-4)


def test_one_against_the_rest_has_the_slope_as_its_temperature(monkeypatch):
    """(F + b / s) / T is s F + b, where T is 1 / s."""
    known = FittedCalibration(0.5, (0.3, -0.4, 0.1), gain=1.0, error=0.0)
    monkeypatch.setattr(search_run, "calibrate", lambda *_: known)
    search, plain, X, _ = overfitted(3, {"multiclass": "one_vs_rest"})
    assert search.temperature_ == 2.0
    scaled = make_scaled(Link(plain.loss_, "one_vs_rest", 1, 1.0))
    expected = scaled.probabilities(known.apply(plain.decision_function(X)))
    np.testing.assert_allclose(search.predict_proba(X), expected, rtol=1e-9)


def test_no_number_of_threads_changes_a_bit():
    for n_classes in (2, 3):
        searches = [overfitted(n_classes, n_jobs=n)[0] for n in (1, 2)]
        assert searches[0].calibration_ == searches[1].calibration_
        assert searches[0].best_params_ == searches[1].best_params_


def test_without_a_refit_it_is_known():
    search, _, X, y = overfitted()
    alone = clone(search).set_params(refit=False).fit(X[:600], y[:600])
    assert alone.calibration_ == search.calibration_
    assert alone.best_params_ == search.best_params_


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", None])
def test_it_does_not_lower_the_score_of_the_search(scoring):
    search, plain, _, _ = overfitted(scoring=scoring)
    assert search.best_score_ == plain.best_score_
    if scoring == "roc_auc":  # which depends on the order only
        assert search.calibration_["kept"]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_comes_back(n_classes, tmp_path):
    search, plain, X, _ = overfitted(n_classes)
    for model in (search, plain):
        model.save_model(tmp_path / "search.json")
        loaded = pb.load_model(tmp_path / "search.json")
        assert loaded.calibration_ == model.calibration_
        assert loaded.best_params_ == model.best_params_
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    old = document_of(plain, tmp_path)
    del old["calibration"], old["parameters"]["calibrate"]
    loaded = load_document(old, tmp_path)
    assert loaded.calibration_ is None
    np.testing.assert_array_equal(loaded.predict_proba(X), plain.predict_proba(X))
    with pytest.raises(ValueError, match="calibration"):
        load_document({**old, "calibration": 3}, tmp_path)


def test_the_classes_factors_count():
    X, y = integers(400)
    y = np.where((np.arange(400) % 3 == 0) & (y == 1), 0, y)
    search = pb.ProperBoostClassifierCV(**quick(gain=0.02), class_weight="balanced", effort=None)
    search.fit(X, y)
    calibration = search.calibration_
    F = (search.decision_function(X) - search.intercept_) / search.best_params_.get("slope", 1.0)
    p = search.loss_.probability(calibration["slope"] * F + calibration["intercept"])
    counted = 1.0 / np.bincount(y)[y]
    assert np.average(p, weights=counted) == pytest.approx(0.5, abs=0.03)
