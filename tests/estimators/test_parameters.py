"""Parameters: each is declared once, and what is made of the declarations."""

import inspect
import re
from typing import get_args

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import properboost as pb
from helpers.models import same_model
from properboost import _core, losses
from properboost.losses import get_loss
from properboost.losses.registry import LOSSES
from properboost.parameters import kinds
from properboost.parameters.declare import check_declared, declared, read
from properboost.parameters.shared import BinningOptions, BoostingOptions, VotingOptions

ESTIMATORS = [
    pb.ProperBoostClassifier,
    pb.ProperBoostClassifierCV,
    pb.ARBoostClassifier,
    pb.ARBoostClassifierCV,
    pb.UDTClassifier,
    pb.RadoBoostClassifier,
    pb.ULSClassifier,
]


# -- declarations ---------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_signature_and_parameters_are_the_declarations(estimator):
    known = declared(estimator)
    signature = inspect.signature(estimator).parameters
    assert signature.keys() == known.keys() == estimator().get_params().keys()
    for name, entry in known.items():
        assert signature[name].default is entry.default
        assert signature[name].annotation == entry.annotation
        assert not hasattr(estimator, name)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_defaults_are_allowed(estimator):
    for entry in declared(estimator).values():
        entry.read(entry.default)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_parameter_is_documented(estimator):
    section = estimator.__doc__.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    heads = [line for line in section.splitlines() if not line.startswith(" ")]
    assert [head.partition(" : ")[0] for head in heads] == list(declared(estimator))
    assert all(len(line) <= 100 for line in section.splitlines())
    for entry in declared(estimator).values():
        assert entry.doc


@pytest.mark.parametrize(
    ("names", "known"),
    [
        (kinds.LossName, losses.LOSSES),
        (kinds.WeakLearner, _core.weak_learner_names()),
        (kinds.Selection, _core.selection_names()),
        (kinds.Response, _core.response_names()),
        (kinds.Step, _core.step_names()),
    ],
    ids=str,
)
def test_names_are_the_engines(names, known):
    assert set(get_args(names)) == set(known)


def test_options_are_not_changed():
    options = read(BoostingOptions, pb.ProperBoostClassifier())
    with pytest.raises(AttributeError, match="use replace"):
        options.l2 = 1.0
    assert options.replace(l2=1.0).l2 == 1.0
    assert options.l2 == 0.0


@pytest.mark.parametrize("options", [BinningOptions, BoostingOptions, VotingOptions])
def test_options_are_made_of_checked_values_only(options):
    with pytest.raises(TypeError, match="must be made by read"):
        options()
    with pytest.raises(TypeError, match="unexpected keyword"):
        options(l2=1.0)


@pytest.mark.parametrize(
    ("estimator", "values", "message"),
    [
        (
            pb.ProperBoostClassifierCV,
            {"learning_rate": 0},
            "above 0, or None, or a list of these; got 0",
        ),
        (
            pb.ProperBoostClassifierCV,
            {"learning_rate": [0]},
            r"learning_rate\[0\] .* 0, or None; got 0",
        ),
        (pb.ProperBoostClassifierCV, {"interactions": np.array(5)}, "or a list of these; got arr"),
        (pb.ProperBoostClassifierCV, {"alphas": 0.1}, "alphas must be a list, or None; got 0.1"),
        (pb.ProperBoostClassifierCV, {"max_estimators": 0}, "max_estimators .*, or None; got 0"),
        (pb.ARBoostClassifier, {"rows_per_bin": 0}, "above 0, or 'auto' or None; got 0"),
        (pb.ARBoostClassifier, {"rows_per_bin": "all"}, "above 0, or 'auto' or None; got 'all'"),
        (pb.UDTClassifier, {"max_leaf_nodes": 1}, "max_leaf_nodes .*, or None; got 1"),
        (pb.ProperBoostClassifier, {"criterion": "gain"}, "'matsushita', or None; got 'gain'"),
    ],
    ids=str,
)
def test_errors_name_all_that_is_allowed(estimator, values, message):
    with pytest.raises((ValueError, TypeError), match=message):
        check_declared(estimator(**values))


def test_values_are_read_as_they_are_worked_with():
    model = pb.ProperBoostClassifier(learning_rate=np.float32(0.5), max_leaf_nodes=np.int8(4))
    options = read(BoostingOptions, model.set_params(weak_learner="tree"))
    assert type(options.learning_rate) is float
    assert type(options.max_leaf_nodes) is int


# -- parameters that have no meaning --------------------------------------------------------------

OTHERS = {
    "n_draws": 3,
    "learning_rate": 0.5,
    "multi_strategy": "one_output_per_tree",
    "max_cells": 2,
    "min_saving": 0.5,
    "grow_policy": "symmetric",
    "max_leaf_nodes": 4,
    "max_depth": 2,
    "max_literals": 1,
    "min_child_weight": 3.0,
    "max_features": 0.4,
    "min_relative_decrease": 0.9,
    "subsample": 0.5,
    "selection": "cyclic",
    "prior": 0.1,
    "smoothing": 0.2,
    "l2": 2.0,
    "interaction_smoothing": 0.1,
    "screening": 50,
    "bag_tables": False,
}
"""A value of each parameter that is ignored beside some others, unlike its default."""


def obstacles(estimator):
    """Name each parameter that may be without a meaning, and what takes it its meaning."""
    for name, entry in declared(estimator).items():
        for other, allowed in (entry.only_with or {}).items():
            for choice in get_args(declared(estimator)[other].annotation):
                if choice not in allowed:
                    yield pytest.param(name, other, choice, id=f"{name} with {choice}")


def table():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (80, 3)).astype(float)
    return X, X[:, 0] + 2 * rng.normal(size=80) > 4


@pytest.mark.filterwarnings("ignore:step=")
@pytest.mark.parametrize(("name", "other", "choice"), [*obstacles(pb.ProperBoostClassifier)])
def test_what_has_no_meaning_is_inert_or_refused(name, other, choice):
    entry = declared(pb.ProperBoostClassifier)[name]
    model = pb.ProperBoostClassifier(n_estimators=4).set_params(**{other: choice})
    if other == "grow_policy":
        model.set_params(weak_learner="tree")
    if name == "linear_leaves" and other != "weak_learner":
        model.set_params(weak_learner="tree")
    if name == "bag_tables":
        model.set_params(outer_bags=4)
    if name.startswith("interaction_") and choice == "stump":
        model.set_params(interactions=1)
    if entry.promise:
        value = {
            "monotonic_cst": [1, 0, 0],
            "interactions": 1,
            "linear_leaves": True,
            "criterion": "gini",
            "temperature": 2.0,
        }[name]
        why = re.escape(entry.promise[other])
        message = f"{name} must be .* with {other}='{choice}': {why}; use {other}='.*; got"
        with pytest.raises(ValueError, match=message):
            model.set_params(**{name: value}).fit(*table())
    else:
        assert OTHERS[name] != entry.default
        other_model = clone(model).set_params(**{name: OTHERS[name]}).fit(*table())
        assert same_model(model.fit(*table()), other_model)


@pytest.mark.parametrize(("name", "other", "choice"), [*obstacles(pb.ARBoostClassifier)])
def test_what_votes_ignore_is_inert(name, other, choice):
    model = pb.ARBoostClassifier(n_estimators=4).set_params(**{other: choice})
    other_model = clone(model).set_params(**{name: OTHERS[name]}).fit(*table())
    X, y = table()
    np.testing.assert_array_equal(
        model.fit(X, y).decision_function(X), other_model.decision_function(X)
    )
    default = read(VotingOptions, pb.ARBoostClassifier()).__dict__[name]
    assert read(VotingOptions, other_model).__dict__[name] == default


def test_what_is_ignored_is_checked_all_the_same():
    with pytest.raises(
        ValueError, match="max_leaf_nodes must be between 2 and 128, or None; got 1"
    ):
        pb.ProperBoostClassifier(max_leaf_nodes=1).fit(*table())


def test_a_grid_may_run_over_learners_responses_and_steps():
    grid = {
        "weak_learner": ["histogram", "stump", "tree", "monomial"],
        "response": ["real", "newton"],
        "step": ["guarded", "leveraging"],
    }
    tuned = {"max_leaf_nodes": 4, "smoothing": 0.1, "l2": 1.0, "prior": 0.01, "learning_rate": 0.5}
    model = pb.ProperBoostClassifier(n_estimators=3, **tuned)
    X, y = table()
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    found = []
    for own in search.cv_results_["params"]:
        candidate = clone(model).set_params(**own)
        # A parameter that a candidate does not have changes nothing.
        applies = {
            name: value
            for name, value in tuned.items()
            if declared(pb.ProperBoostClassifier)[name].applies_to(candidate)
        }
        plain = pb.ProperBoostClassifier(n_estimators=3, **applies, **own).fit(X, y)
        found.append(candidate.fit(X, y).decision_function(X))
        np.testing.assert_array_equal(found[-1], plain.decision_function(X))
    assert len(np.unique(found, axis=0)) == 16


# -- the gain -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weak_learner", "at_one_row"),
    [("histogram", 20), ("stump", 14), ("monomial", 14), ("tree", 0)],
)
def test_a_gain_that_is_not_given_goes_by_the_rows_of_the_smallest_class(weak_learner, at_one_row):
    rng = np.random.default_rng(0)

    def gain_of(y, weight=None, **settings):
        model = pb.ProperBoostClassifier(weak_learner=weak_learner, n_estimators=1, **settings)
        return model.fit(rng.normal(size=(len(y), 2)), y, weight).loss_.gain

    y = np.arange(300) % 3 == 0  # 100 rows of the smaller class
    expected = max(1.0, at_one_row * 200 ** (-1 / 3))
    assert gain_of(y) == pytest.approx(expected)
    assert gain_of(y, np.full(300, 2.0), normalize_weights=True) == pytest.approx(expected)
    assert gain_of(np.repeat([0, 1, 2, 2], 100)) == pytest.approx(
        max(1.0, at_one_row * 300 ** (-1 / 3))
    )
    every = np.arange(200_000) % 2 == 0  # so many rows need no gain
    for loss in LOSSES:  # in units of the loss margin, as are the ends
        unit = get_loss(loss).gain_unit if at_one_row else 1.0
        assert gain_of(y, loss=loss) == pytest.approx(unit * expected)
        assert gain_of(np.arange(2), loss=loss) == (8.0 * unit if at_one_row else 1.0)
    for loss in ("glog", "savage", "tangent"):
        assert gain_of(every, loss=loss) == (get_loss(loss).gain_unit if at_one_row else 1.0)


@pytest.mark.parametrize("response", ["real", "sign", "newton"])
@pytest.mark.parametrize(
    "loss", ["glog", "ggauss", "exponential", "savage", "tangent", losses.from_pdf(stats.t(3))]
)
def test_a_rate_that_is_not_given_goes_by_the_loss(loss, response):
    """The real and sign responses do not know the loss: the gain shrinks their steps as well."""
    X, y = table()
    named = isinstance(loss, str)
    for gain in (None, 1.0, 3.0) if named else (None,):
        settings = {"weak_learner": "tree", "response": response, "n_estimators": 3, "gain": gain}
        model = pb.ProperBoostClassifier(loss, **settings).fit(X, y)
        rate = 0.1 if response == "newton" else min(0.1 * model.loss_.rate_factor, 1.0)
        given = pb.ProperBoostClassifier(loss, **settings, learning_rate=rate).fit(X, y)
        for one, other in zip(model.ensemble_.models, given.ensemble_.models, strict=True):
            np.testing.assert_allclose(one.step, other.step, rtol=1e-5)
        if loss in ("glog", "ggauss"):
            assert same_model(model, given)  # as ever


@pytest.mark.parametrize("weak_learner", ["histogram", "stump", "tree", "monomial"])
def test_losses_that_are_one_are_restrained_alike(weak_learner):
    """At alpha 1/2 the loss is the exponential one at twice the gain (BoostLR, eq. 53)."""
    X, y = table()
    fits = {"weak_learner": weak_learner, "n_estimators": 5}
    model = pb.ProperBoostClassifier("exponential", **fits).fit(X, y)
    other = losses.Alpha(0.5, model.loss_.gain / 2.0)
    p = pb.ProperBoostClassifier(other, **fits).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(p, model.predict_proba(X), rtol=1e-4)


def test_the_gain_of_a_fit_is_the_losses():
    X, y = table()
    for loss, gain, expected in (
        (losses.GBoost(2.0), None, 2.0),
        (losses.GBoost(2.0), 2.0, 2.0),
        ("gboost", 3.0, 3.0),
    ):
        model = pb.ProperBoostClassifier(loss, gain=gain).fit(X, y)
        assert model.loss_.gain == expected
        assert model.gain is gain
