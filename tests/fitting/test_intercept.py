"""Test the intercept that makes mean probabilities of training rows their shares."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import properboost as pb
from helpers.models import LEARNERS, assert_same, document_of, load_document
from properboost import _core, losses
from properboost.fitting.intercept import find_intercepts
from properboost.losses.probabilities import Link

LOSSES = [*_core.loss_names(), "tangent", losses.from_functions(lambda u: 1 / (1 + np.exp(u)))]
FEW = {"n_estimators": 6, "max_bins": 12}


def excess(model, X, y, weight=None):
    """Return the largest distance of mean probabilities from shares; one-vs-rest, of each model."""
    labels = y[:, None] == model.classes_
    p = model.predict_proba(X)
    if model.multiclass_ == "one_vs_rest" and model.temperature_ is None:
        p = model.loss_.probability(model.decision_function(X))
    return np.abs(np.average(p - labels, axis=0, weights=weight)).max()


@pytest.fixture(params=["plain", "weighted", "balanced", "rare", "separable", "constant"])
def rows(request, binary):
    X, y = binary
    weight, settings = None, {}
    rng = np.random.default_rng(0)
    if request.param == "weighted":
        weight = rng.uniform(0.0, 3.0, len(y)) * (rng.random(len(y)) < 0.8)
    elif request.param == "balanced":
        settings = {"class_weight": "balanced"}
    elif request.param == "rare":
        y = (np.arange(len(y)) == 7).astype(int)
    elif request.param == "separable":
        X = np.column_stack([X, y])
    elif request.param == "constant":
        X = np.ones_like(X)
    return X, y, weight, settings


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_mean_is_the_share(rows, loss):
    X, y, weight, weights_of_classes = rows
    for learner in ("table", "tree"):
        model = pb.ProperBoostClassifier(
            loss,
            calibration=pb.Calibration(intercept="share"),
            **FEW,
            **weights_of_classes,
            **LEARNERS[learner],
        )
        model.fit(X, y, weight)
        counted = np.ones(len(y)) if weight is None else weight
        if weights_of_classes:
            counted = counted / np.bincount(y)[y]
        assert excess(model, X, y, counted) < 1e-9
        assert isinstance(model.intercept_, float)


@pytest.mark.parametrize("gain", [1e-250, 1e-6, 1e6, 1e250])
@pytest.mark.parametrize("offset", [-0.7, -1e-4, 1e-4, 0.7])
def test_it_is_in_units_of_the_gain(gain, offset):
    rng = np.random.default_rng(0)
    raw, codes = rng.normal(size=(500, 1)), rng.integers(0, 2, 500)
    raw += find_intercepts(Link(losses.Savage()), raw, codes, None)[0]
    (intercept,) = find_intercepts(Link(losses.Savage(gain)), gain * (raw - offset), codes, None)
    assert intercept / gain == pytest.approx(offset, abs=1e-10)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("temperature", [None, 0.6])
@pytest.mark.parametrize("multiclass", ["softmax", "canonical", "one_vs_rest"])
def test_several_classes_have_their_shares(iris, multiclass, learner, temperature):
    X, y = iris
    if temperature is not None and multiclass != "one_vs_rest":
        return
    weight = np.random.default_rng(1).uniform(0.2, 2.0, len(y))
    scale = pb.Calibration(intercept="share", temperature=temperature)
    settings = {"multiclass": multiclass, "calibration": scale, **FEW, **LEARNERS[learner]}
    model = pb.ProperBoostClassifier(**settings).fit(X, y, weight)
    assert excess(model, X, y, weight) < 1e-9
    assert model.intercept_.shape == (3,)
    if multiclass != "one_vs_rest" or temperature is not None:
        assert abs(model.intercept_.sum()) < 1e-9
    plain = clone(model).set_params(calibration__intercept=None).fit(X, y, weight)
    assert excess(plain, X, y, weight) > 1e-9
    np.testing.assert_array_equal(plain.intercept_, 0.0)


@pytest.mark.parametrize("loss", ["ggauss", "glaplacian", "gboost"])
def test_joint_forms_of_other_losses(iris, loss):
    X, y = iris
    model = pb.ProperBoostClassifier(
        loss, calibration=pb.Calibration(intercept="share"), **FEW
    ).fit(X, y)
    assert model.multiclass_ == "canonical"
    assert excess(model, X, y) < 1e-9


def test_auto_is_for_losses_that_are_not_canonical(binary):
    X, y = binary
    for loss in LOSSES:
        auto = pb.ProperBoostClassifier(loss, **FEW).fit(X, y)
        asked = clone(auto).set_params(calibration__intercept="share").fit(X, y)
        none = clone(auto).set_params(calibration__intercept=None).fit(X, y)
        biased = loss in ("exponential", "savage", "alpha")
        expected = asked if biased else none
        np.testing.assert_array_equal(auto.predict_proba(X), expected.predict_proba(X))
        if biased:
            assert excess(none, X, y) > 1e-4
    sure = pb.ProperBoostClassifier("savage", gain=2.0, **FEW).fit(np.column_stack([X, y]), y)
    assert sure.intercept_ == 0.0  # too few rows are undecided


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("problem", ["binary", "iris"])
def test_all_that_is_made_of_raw_predictions_has_it(problem, learner, request, tmp_path):
    X, y = request.getfixturevalue(problem)
    intercept = 0.7 if problem == "binary" else [0.7, -0.2, -0.5]
    plain = pb.ProperBoostClassifier(
        calibration=pb.Calibration(intercept=None), **FEW, **LEARNERS[learner]
    ).fit(X, y)
    model = clone(plain).set_params(calibration__intercept=intercept).fit(X, y)
    np.testing.assert_array_equal(model.intercept_, intercept)
    F = model.decision_function(X)
    np.testing.assert_array_equal(F, plain.decision_function(X) + intercept)
    np.testing.assert_allclose(
        model.predict_proba(X), plain._link.probabilities(F), rtol=1e-14, atol=0.0
    )
    stages = zip(model.staged_decision_function(X), plain.staged_decision_function(X), strict=True)
    for one, other in stages:
        np.testing.assert_allclose(one, other + intercept, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(one, F, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.feature_importances_, plain.feature_importances_)
    if not model.weak_learner_.is_grown:
        for k, label in enumerate(model.classes_):
            ours, theirs = model.contributions(X, label), plain.contributions(X, label)
            np.testing.assert_array_equal(ours.values, theirs.values)
            added = intercept[k] if problem == "iris" else (intercept if k == 1 else -intercept)
            assert ours.baseline - theirs.baseline == pytest.approx(added, rel=1e-12)
    model.save_model(tmp_path / "model.json")
    for again in (pb.load_model(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        assert_same(again, model, X)
        np.testing.assert_array_equal(again.intercept_, intercept)


@pytest.mark.parametrize("problem", ["binary", "iris"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_slope_multiplies_what_rounds_add(problem, learner, request):
    X, y = request.getfixturevalue(problem)
    plain = pb.ProperBoostClassifier(**FEW, **LEARNERS[learner]).fit(X, y)
    intercept = 0.5 if problem == "binary" else [0.5, -0.5, 0.0]
    model = (
        clone(plain).set_params(calibration__slope=0.25, calibration__intercept=intercept).fit(X, y)
    )
    np.testing.assert_array_equal(
        model.decision_function(X), plain.decision_function(X) / 4 + intercept
    )
    np.testing.assert_array_equal(model.history_["step"], plain.history_["step"] / 4)


def test_no_number_of_threads_changes_a_bit(binary, iris):
    for X, y in (binary, iris):
        for learner in ("table", "tree"):
            model = pb.ProperBoostClassifier(
                calibration=pb.Calibration(intercept="share"), **FEW, **LEARNERS[learner]
            )
            intercepts = [clone(model).set_params(n_jobs=n).fit(X, y).intercept_ for n in (1, 2, 3)]
            np.testing.assert_array_equal(intercepts[0], intercepts[1])
            np.testing.assert_array_equal(intercepts[0], intercepts[2])


def test_weights_are_frequencies(binary):
    X, y = binary
    weight = np.random.default_rng(3).integers(0, 4, len(y))
    twice = np.repeat(np.arange(len(y)), weight)
    model = pb.ProperBoostClassifier("savage", calibration=pb.Calibration(intercept="share"), **FEW)
    counted = clone(model).fit(X, y, weight).intercept_
    assert counted == pytest.approx(clone(model).fit(X[twice], y[twice]).intercept_, rel=1e-3)


def test_files_without_it_load(binary, tmp_path):
    X, y = binary
    plain = pb.ProperBoostClassifier(
        "savage", calibration=pb.Calibration(intercept=None), **FEW
    ).fit(X, y)
    document = document_of(plain, tmp_path)
    assert document["intercepts"] == []
    old = {name: document[name] for name in document if name not in ("intercepts", "slopes")}
    parameters = {"loss": "savage", "gain": None, **FEW}
    old = load_document({**old, "format_version": 8, "parameters": parameters}, tmp_path)
    assert old.calibration in (None, pb.Calibration(slope=1.0, intercept=None))
    assert old.intercept_ == 0.0
    np.testing.assert_array_equal(old.predict_proba(X), plain.predict_proba(X))
    for wrong in (1.0, None, ["a"], [0.0, 1.0], [1e308]):
        with pytest.raises(ValueError, match=r"intercepts"):
            load_document({**document, "intercepts": wrong}, tmp_path)


@pytest.mark.parametrize("slope", [1e305, np.finfo(float).max])
def test_slopes_beyond_the_range_are_refused(binary, slope):
    with pytest.raises(ValueError, match=r"make raw predictions beyond 1e\+300: make the slope"):
        pb.ProperBoostClassifier(calibration=pb.Calibration(slope=slope), **FEW).fit(*binary)


@pytest.mark.parametrize("value", ["mean", True, np.nan, np.inf, [np.inf], [], "1"])
def test_it_is_a_name_or_numbers(binary, value):
    with pytest.raises((ValueError, TypeError), match="intercept"):
        pb.ProperBoostClassifier(
            calibration=pb.Calibration(intercept=value), weak_learner="table"
        ).fit(*binary)


def test_there_is_one_for_each_model(binary, iris):
    for (X, y), intercept in ((binary, [0.1, 0.2]), (iris, 0.1), (iris, [0.1, 0.2])):
        with pytest.raises(ValueError, match=r"intercept must be .*; got "):
            pb.ProperBoostClassifier(
                calibration=pb.Calibration(intercept=intercept), weak_learner="table"
            ).fit(X, y)
    for calibration in (pb.Calibration(slope=1e307), pb.Calibration(intercept=1e301)):
        with pytest.raises(ValueError, match=r"slope=.* and intercept=.* make raw predictions"):
            pb.ProperBoostClassifier(calibration=calibration, weak_learner="table").fit(*binary)


def test_slopes_beyond_the_range_leave_no_constant() -> None:
    X, y = np.zeros((3, 1)), np.array([0, 1, 2])
    model = pb.ProperBoostClassifier(
        loss="exponential", calibration=pb.Calibration(temperature=5e-324), weak_learner="table"
    ).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
