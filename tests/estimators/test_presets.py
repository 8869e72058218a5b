"""Presets: the literature's algorithms, whatever the estimators' defaults are."""

import inspect
import subprocess
import sys

import pytest

import properboost as pb
from properboost.parameters.declare import declared

PRESETS = [
    pb.AdaBoost,
    pb.RealBoost,
    pb.LogitBoost,
    pb.SavageBoost,
    pb.ULS,
    pb.SAMME,
    pb.EpsilonBoost,
    pb.L1Boost,
    pb.AdaBoostReg,
    pb.WeightBoost,
    pb.AdaBoostMH,
    pb.CART,
]

FREE = {"n_jobs", "verbose"}
"""Parameters on which no result depends."""


def test_presets_are_settings():
    cases = {
        pb.AdaBoost: ("exponential", "stump", "sign", "line_search"),
        pb.RealBoost: ("exponential", "histogram", "real", "unit"),
        pb.LogitBoost: ("glog", "histogram", "newton", "unit"),
        pb.SavageBoost: ("savage", "histogram", "real", "guarded"),
        pb.ULS: ("gboost", "stump", "sign", "leveraging"),
    }
    for preset, expected in cases.items():
        model = preset(n_estimators=7)
        assert isinstance(model, pb.ProperBoostClassifier)
        assert (model.loss, model.weak_learner, model.response, model.step) == expected
        assert model.gain == (0.5 if preset is pb.ULS else 1.0)
        assert model.n_estimators == 7
    assert pb.AdaBoost(step="unit").step == "unit"


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_do_not_move_with_defaults(preset, monkeypatch):
    before = preset().get_params()
    estimator = type(preset())
    unlike = {name: object() for name in declared(estimator) if name not in FREE}
    monkeypatch.setattr(estimator.__init__, "__kwdefaults__", unlike)
    monkeypatch.setattr(estimator.__init__, "__defaults__", (object(),) * positional(estimator))
    assert all(
        p.default is not before[name]
        for name, p in inspect.signature(estimator).parameters.items()
        if name not in FREE
    )
    monkeypatch.setitem(unlike, "n_jobs", None)
    monkeypatch.setitem(unlike, "verbose", 0)
    assert preset().get_params() == before


def positional(estimator):
    kinds = [p.kind for p in inspect.signature(estimator).parameters.values()]
    return kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD)


@pytest.mark.parametrize("preset", PRESETS)
def test_signatures_show_what_is_pinned(preset):
    model = preset()
    shown = inspect.signature(preset).parameters
    for name, value in model.get_params().items():
        assert shown[name].default == value
    assert inspect.signature(preset).return_annotation is type(model)


@pytest.mark.parametrize("preset", PRESETS)
def test_what_is_given_counts(preset):
    assert preset(max_bins=7).max_bins == 7
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_bin'"):
        preset(max_bin=7)


def test_own_parameters():
    assert pb.EpsilonBoost(0.2).learning_rate == 0.2
    assert pb.L1Boost(0.25).rho == 0.75 / 1.25
    assert pb.AdaBoostReg(0.02).mistrust == 0.02
    assert pb.WeightBoost(0.7).damping == 0.7
    with pytest.raises(ValueError, match="beta must be below 1; got 1"):
        pb.L1Boost(1.0)
    with pytest.raises(ValueError, match="epsilon must be above 0"):
        pb.EpsilonBoost(0.0)


def test_a_loss_object_brings_its_gain_into_a_preset():
    model = pb.SavageBoost(loss=pb.losses.Savage(2.0))
    assert model.gain is None
    assert pb.ULS(loss=pb.losses.GLog(2.0)).gain is None
    assert pb.ULS(loss=pb.losses.GLog(2.0), gain=2.0).gain == 2.0
    assert pb.SavageBoost(loss="glog").gain == 1.0


@pytest.mark.parametrize(("make", "given"), [(pb.SAMME, 2.0), (pb.AdaBoost, "glog")])
def test_a_preset_takes_the_estimators_parameters_by_name(make, given):
    with pytest.raises(TypeError, match=rf"^{make.__name__}\(\) too many positional"):
        make(given)
    with pytest.raises(TypeError, match=rf"^{make.__name__}\(\) got an unexpected .*nonsense"):
        make(nonsense=1)


def test_the_package_imports_without_docstrings():
    subprocess.run([sys.executable, "-OO", "-c", "import properboost"], check=True, timeout=300)
