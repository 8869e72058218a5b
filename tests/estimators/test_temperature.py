"""Test the temperature of one-vs-rest models."""

import copy
import pickle

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.base import clone

import properboost as pb
from helpers.models import LEARNERS, assert_same, document_of, load_document
from properboost import _core, losses
from properboost.losses.probabilities import Link
from properboost.parameters.stages import make_calibration

SETTINGS = {"weak_learner": "table", "n_estimators": 6, "max_bins": 12, "multiclass": "one_vs_rest"}
LOSSES = [*_core.loss_names(), "tangent", losses.from_functions(lambda u: 1 / (1 + np.exp(u)))]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("temperature", [0.3, 1, 40.0])
def test_probabilities_are_a_softmax(iris, loss, temperature):
    X, y = iris
    gain = None if isinstance(loss, losses.MarginLoss) else 0.7
    model = pb.ProperBoostClassifier(
        loss, gain=gain, calibration=pb.Calibration(temperature=temperature), **SETTINGS
    )
    model.fit(X, y)
    assert model.temperature_ == temperature
    F = model.decision_function(X)
    logs = log_softmax(F / (2.0 * model.loss_.gain * temperature), axis=1)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p, np.exp(logs), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(model.predict_log_proba(X), logs, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), p.argmax(axis=1))
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_allclose(last, p, rtol=1e-9)
    plain = clone(model).set_params(calibration__temperature=None).fit(X, y)
    assert plain.temperature_ is None
    np.testing.assert_array_equal(plain.decision_function(X), F)
    np.testing.assert_array_equal(plain.predict(X), model.predict(X))
    assert np.abs(plain.predict_proba(X) - p).max() > 0.01


@pytest.mark.parametrize("temperature", [1e-300, 1e-12, 1e300])
def test_any_temperature_has_finite_logarithms(iris, temperature):
    X, y = iris
    model = pb.ProperBoostClassifier(
        gain=1e-9, calibration=pb.Calibration(temperature=temperature), **SETTINGS
    ).fit(X, y)
    logs, p = model.predict_log_proba(X), model.predict_proba(X)
    assert np.isfinite(logs).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    F = model.decision_function(X)
    likeliest = p[np.arange(len(y)), F.argmax(axis=1)]
    np.testing.assert_array_equal(likeliest, p.max(axis=1))
    # A class that training lacked has probability 0, and the others add up to 1.
    F[:, 0] = -np.inf
    p = Link(model.loss_, "one_vs_rest", 1, temperature).probabilities(F)
    np.testing.assert_array_equal(p[:, 0], 0.0)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("multiclass", ["softmax", "canonical"])
def test_joint_models_refuse_it(iris, multiclass):
    model = pb.ProperBoostClassifier(
        calibration=pb.Calibration(temperature=2.0), multiclass=multiclass, weak_learner="table"
    )
    expected = rf"Calibration\.temperature must be None with multiclass='{multiclass}': .*; got 2.0"
    with pytest.raises(ValueError, match=expected):
        model.fit(*iris)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "1", True])
def test_it_is_a_number_above_0(iris, value):
    with pytest.raises((ValueError, TypeError), match="temperature must be "):
        pb.ProperBoostClassifier(calibration=pb.Calibration(temperature=value), **SETTINGS).fit(
            *iris
        )


def test_joint_models_refuse_it_and_two_classes_need_none(iris, binary):
    few = {"weak_learner": "table", "n_estimators": 4}
    warm = pb.ProperBoostClassifier(**few, calibration=pb.Calibration(temperature=3.0))
    with pytest.raises(ValueError, match=r"Calibration\.temperature must be None with multiclass="):
        warm.fit(*iris)
    X, y = binary
    plain = pb.ProperBoostClassifier(**few).fit(X, y)
    assert warm.fit(X, y).temperature_ is plain.temperature_ is None
    np.testing.assert_array_equal(warm.predict_proba(X), plain.predict_proba(X))
    alone = pb.ProperBoostClassifier(
        "exponential", **few, calibration=pb.Calibration(temperature=3)
    ).fit(*iris)
    assert alone.temperature_ == 3.0


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", LEARNERS)
def test_it_comes_back(iris, tmp_path, learner):
    X, y = iris
    model = pb.ProperBoostClassifier(
        "savage", n_estimators=4, multiclass="one_vs_rest",
        calibration=pb.Calibration(temperature=0.6), **LEARNERS[learner],
    ).fit(X, y)  # fmt: skip
    model.save_model(tmp_path / "model.json")
    for other in (pb.load_model(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        assert_same(model, other, X)
        assert other.temperature_ == other.calibration.temperature == 0.6
    model.set_params(calibration__temperature=9.0)  # this is for the next fit
    model.save_model(tmp_path / "model.json")
    loaded = pb.load_model(tmp_path / "model.json")
    assert (loaded.calibration.temperature, loaded.temperature_) == (9.0, 0.6)


@pytest.fixture
def document(iris, tmp_path):
    return document_of(
        pb.ProperBoostClassifier(**SETTINGS, calibration=pb.Calibration(temperature=0.6)).fit(
            *iris
        ),
        tmp_path,
    )


def test_files_of_format_6_have_none(iris, document, tmp_path):
    X, y = iris
    old = copy.deepcopy(document)
    del old["temperature"], old["parameters"]["calibration"]
    with pytest.raises(ValueError, match="lacks the field 'temperature'"):
        load_document(old, tmp_path)
    del old["compact"]
    old["parameters"] |= {"weak_learner": "histogram", "slope": "auto", "intercept": "auto"}
    model = load_document({**old, "format_version": 6}, tmp_path)
    assert make_calibration(model.calibration).temperature is model.temperature_ is None
    plain = pb.ProperBoostClassifier(**SETTINGS).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize("value", [0.0, -2.0, "Infinity", "1", True, [1.0], {}])
def test_files_hold_numbers_above_0(document, tmp_path, value):
    with pytest.raises(ValueError, match=r"other\.json: temperature must be "):
        load_document({**document, "temperature": value}, tmp_path)


@pytest.mark.parametrize("problem", ["iris", "binary"])
def test_files_of_other_models_hold_none(problem, tmp_path, request):
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(
        *request.getfixturevalue(problem)
    )
    document = document_of(model, tmp_path)
    with pytest.raises(ValueError, match="temperature must be null unless classes are learnt"):
        load_document({**document, "temperature": 1.0}, tmp_path)
