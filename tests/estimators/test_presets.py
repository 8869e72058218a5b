"""Test presets: the literature's algorithms, whatever the estimators' defaults are."""

import inspect
import subprocess
import sys

import numpy as np
import pytest

import properboost as pb
from properboost.parameters.declare import declared
from properboost.parameters.stages import make_early_stopping

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
        pb.RealBoost: ("exponential", "table", "real", "unit"),
        pb.LogitBoost: ("glog", "table", "newton", "unit"),
        pb.SavageBoost: ("savage", "table", "real", "guarded"),
        pb.ULS: ("gboost", "stump", "sign", "leveraging"),
    }
    for preset, expected in cases.items():
        model = preset(n_estimators=7)
        assert isinstance(model, pb.ProperBoostClassifier)
        choices = (model.loss, model.weak_learner.name, model.response, model.step)
        assert choices == expected
        assert model.gain == (0.5 if preset is pb.ULS else 1.0)
        assert model.n_estimators == 7
    assert pb.SavageBoost(response="exact").response == "exact"
    with pytest.raises(TypeError, match="AdaBoost pins step; ProperBoostClassifier takes any"):
        pb.AdaBoost(step="unit")


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_do_not_move_with_defaults(preset, monkeypatch):
    before = preset().get_params()
    estimator = type(preset())
    unlike = {name: object() for name in declared(estimator) if name not in FREE}
    init = inspect.unwrap(estimator.__init__)
    monkeypatch.setattr(init, "__kwdefaults__", unlike)
    monkeypatch.setattr(init, "__defaults__", (object(),) * positional(estimator))
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
def test_signatures_show_what_is_not_pinned(preset):
    model = preset()
    shown = inspect.signature(preset).parameters
    names = set(declared(type(model)))
    open_names = [name for name, p in shown.items() if p.kind is p.KEYWORD_ONLY]
    assert names >= set(open_names) >= names & FREE
    for name in open_names:
        if shown[name].default not in ("phi", "table", "stump"):
            assert preset(**{name: shown[name].default}).get_params() == model.get_params()
    for name in names - set(open_names):
        with pytest.raises(TypeError, match=f"pins {name}; {type(model).__name__} takes any"):
            preset(**{name: None})
    assert inspect.signature(preset).return_annotation is type(model)


def test_names_of_learners_stand_for_pinned_objects():
    tree = pb.RealBoost(weak_learner="tree").weak_learner
    assert (tree.max_leaf_nodes, tree.max_features) == (31, 1.0)
    assert pb.RealBoost(weak_learner=pb.Tree()).weak_learner == pb.Tree()


@pytest.mark.parametrize("pairs", [3, [(0, 1)], ((0, 1), (1, 2)), np.array([[0, 1]])], ids=str)
def test_pairs_stand_for_pinned_objects(pairs):
    made = pb.RealBoost(interactions=pairs).interactions
    assert made == pb.Interactions(pairs, learning_rate=1.0)


@pytest.mark.parametrize("pairs", [0, [], pb.Interactions(2)], ids=str)
def test_no_pairs_and_objects_stay(pairs):
    assert pb.RealBoost(interactions=pairs).interactions is pairs


@pytest.mark.parametrize("value", ["auto", True, False])
def test_early_stopping_and_bags_stand_for_pinned_objects(value):
    made = pb.AdaBoost(early_stopping=value, outer_bags=8)
    assert made.early_stopping == make_early_stopping(value)
    assert made.outer_bags == pb.Bags(8)
    stopping = pb.EarlyStopping(tol=0.5)
    whole = pb.AdaBoost(early_stopping=stopping, outer_bags=0)
    assert (whole.early_stopping, whole.outer_bags) == (stopping, 0)


def test_leveraging_has_two_steps():
    assert pb.ULS(step="totally_corrective").step == "totally_corrective"
    with pytest.raises(ValueError, match="step must be one of 'leveraging', 'totally_corrective'"):
        pb.ULS(step="guarded")


@pytest.mark.parametrize("make", [pb.AdaBoost, pb.ULS])
def test_what_signs_cannot_use_is_pinned(make):
    assert not {"l2", "prior"} & inspect.signature(make).parameters.keys()
    assert (make().l2, make().prior) == (0.0, None)


def test_unknown_keywords_are_answered_in_their_order():
    with pytest.raises(TypeError, match=r"'max_depth': write weak_learner=pb\.Tree\(max_depth="):
        pb.AdaBoost(max_depth=3)
    with pytest.raises(TypeError, match=r"num_leaves is max_leaf_nodes=\.\.\. here"):
        pb.SAMME(num_leaves=3)
    for names in (("loss", "step"), ("step", "loss"), ("response", "step", "loss")):
        with pytest.raises(TypeError, match=f"pins {names[0]};"):
            pb.AdaBoost(**dict.fromkeys(names))


@pytest.mark.parametrize("preset", PRESETS)
def test_arguments_override_the_preset(preset):
    assert preset(max_bins=7).max_bins == 7
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_bin'"):
        preset(max_bin=7)


def test_parameters_of_presets():
    assert pb.EpsilonBoost(0.2).learning_rate == 0.2
    assert pb.L1Boost(0.25).rho == 0.75 / 1.25
    assert pb.AdaBoostReg(0.02).mistrust == 0.02
    assert pb.WeightBoost(0.7).damping == 0.7
    with pytest.raises(ValueError, match="beta must be below 1; got 1"):
        pb.L1Boost(1.0)
    with pytest.raises(ValueError, match="epsilon must be above 0"):
        pb.EpsilonBoost(0.0)


@pytest.mark.parametrize(("make", "parameters"), [(pb.SAMME, 2.0), (pb.AdaBoost, "glog")])
def test_a_preset_takes_the_estimators_parameters_by_name(make, parameters):
    with pytest.raises(TypeError, match=rf"^{make.__name__}\(\) too many positional"):
        make(parameters)
    with pytest.raises(TypeError, match=rf"^{make.__name__}\(\) got an unexpected .*nonsense"):
        make(nonsense=1)


def test_the_package_imports_without_docstrings():
    subprocess.run([sys.executable, "-OO", "-c", "import properboost"], check=True, timeout=300)
