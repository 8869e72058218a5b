"""Test parameters: each is declared once, and the declarations give the rest."""

import inspect
import re
from typing import Literal, get_args, get_origin

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
from properboost.parameters.boosting import BoostingOptions
from properboost.parameters.declare import declared, read
from properboost.parameters.flat import COMPONENTS
from properboost.parameters.learners import LEARNERS
from properboost.parameters.rows import BinningOptions
from properboost.parameters.voting import VotingOptions

ESTIMATORS = [
    pb.ProperBoostClassifier,
    pb.ProperBoostClassifierCV,
    pb.ARBoostClassifier,
    pb.ARBoostClassifierCV,
    pb.UDTClassifier,
    pb.RadoBoostClassifier,
    pb.ULSClassifier,
]

CLASSES = [*ESTIMATORS, *COMPONENTS.values()]


# -- declarations ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CLASSES)
def test_signature_and_parameters_are_the_declarations(kind):
    known = declared(kind)
    signature = inspect.signature(kind).parameters
    assert signature.keys() == known.keys() == kind().get_params().keys()
    for name, entry in known.items():
        assert signature[name].default is entry.default
        assert signature[name].annotation == entry.annotation
        assert not hasattr(kind, name)


@pytest.mark.parametrize("kind", CLASSES)
def test_defaults_are_allowed(kind):
    for entry in declared(kind).values():
        entry.read(entry.default)


@pytest.mark.parametrize("kind", CLASSES)
def test_every_parameter_is_documented(kind):
    section = kind.__doc__.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    heads = [line for line in section.splitlines() if not line.startswith(" ")]
    assert [head.partition(" : ")[0] for head in heads] == list(declared(kind))
    assert all(len(line) <= 100 for line in section.splitlines())
    for entry in declared(kind).values():
        assert entry.doc


@pytest.mark.parametrize(
    ("names", "known"),
    [
        (get_args(kinds.LossName), losses.LOSSES),
        (LEARNERS, _core.weak_learner_names()),
        (get_args(kinds.Selection), _core.selection_names()),
        (get_args(kinds.Response), _core.response_names()),
        (get_args(kinds.Step), _core.step_names()),
    ],
    ids=str,
)
def test_names_are_the_engines(names, known):
    assert set(names) == set(known)


def test_options_are_not_changed():
    options = read(BoostingOptions, pb.ProperBoostClassifier(weak_learner="table"))
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


def of_space(**space):
    return pb.ProperBoostClassifierCV(space)


@pytest.mark.parametrize(
    ("make", "values", "message"),
    [
        (pb.ProperBoostClassifierCV, {"space": 0.1}, "must be a mapping .*, or None; got 0.1"),
        (of_space, {"learning_rate": 0}, "learning_rate must be above 0, or None; got 0"),
        (of_space, {"learning_rate": [None, 0]}, "learning_rate must be above 0, or None; got 0"),
        (of_space, {"interactions": np.array(5)}, "or a list of pairs .*, or an Inter.*; got arr"),
        (of_space, {"weak_learner__max_depth": [0]}, r"Tree\.max_depth .*, or None; got 0"),
        (of_space, {"weak_learner": "forest"}, "'auto', or an object of these; got 'forest'"),
        (pb.ProperBoostClassifierCV, {"max_estimators": 0}, "max_estimators .*, or None; got 0"),
        (pb.ARBoostClassifier, {"rows_per_bin": 0}, "above 0, or 'auto' or None; got 0"),
        (pb.ARBoostClassifier, {"rows_per_bin": "all"}, "above 0, or 'auto' or None; got 'all'"),
        (pb.UDTClassifier, {"max_leaf_nodes": 1}, "max_leaf_nodes .*, or None; got 1"),
        (pb.ProperBoostClassifier, {"criterion": "gain"}, "'matsushita', or None; got 'gain'"),
        (pb.ProperBoostClassifier, {"weak_learner": "forest"}, "'auto', or an object of these; g"),
        (pb.ProperBoostClassifier, {"interactions": -1}, "or a list of pairs .*, or an Inter.*; g"),
        (pb.ProperBoostClassifier, {"outer_bags": 3}, "4 and 64, or 0, or a Bags; got 3"),
        (pb.ProperBoostClassifier, {"calibration": 2}, "'auto', None or a Calibration; got 2"),
        (
            pb.ProperBoostClassifier,
            {"early_stopping": 2},
            "True or False, or 'auto' or an EarlyStopping: write .*; got 2",
        ),
        (
            pb.ProperBoostClassifier,
            {"weak_learner": pb.Tree(max_leaf_nodes=1)},
            r"Tree\.max_leaf_nodes .*, or None; got 1",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_errors_name_all_that_is_allowed(make, values, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make(**values).fit(*table())


def test_values_are_read_as_they_are_worked_with():
    tree = pb.Tree(max_leaf_nodes=np.int8(4))
    model = pb.ProperBoostClassifier(learning_rate=np.float32(0.5), weak_learner=tree)
    options = read(BoostingOptions, model)
    assert type(options.learning_rate) is float
    assert type(options.weak_learner.max_leaf_nodes) is int
    assert type(tree.max_leaf_nodes) is np.int8


# -- parameters without an effect ----------------------------------------------------------------

OTHERS = {
    "learning_rate": 0.5,
    "interactions": 1,
    "criterion": "gini",
    "prior": 0.1,
    "l2": 2.0,
    "monotonic_cst": [1, 0, 0],
    "screening": 50,
    "max_leaf_nodes": 4,
    "max_depth": 2,
    "min_relative_decrease": 0.9,
    "linear_l2": 1.0,
}
"""A value, unlike the default, of each parameter that has no effect beside some others."""


def list_choices(kind, name):
    """List the names, or truth values, that a parameter may have."""
    if name == "weak_learner":
        voting = kind is not pb.ProperBoostClassifier
        return get_args(kinds.VotingLearner) if voting else list(LEARNERS)
    annotation = declared(kind)[name].annotation
    return get_args(annotation) if get_origin(annotation) is Literal else (False, True)


def obstacles():
    """Yield each parameter that may be without an effect, and the choice that disables it."""
    for kind in CLASSES:
        for name, entry in declared(kind).items():
            for other, allowed in (entry.only_with or {}).items():
                for choice in list_choices(kind, other):
                    if choice not in allowed:
                        about = f"{kind.__name__}: {name} with {choice}"
                        yield pytest.param(kind, name, other, choice, id=about)


def table():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (80, 3)).astype(float)
    return X, X[:, 0] + 2 * rng.normal(size=80) > 4


def make_model(kind, **values):
    """Return an estimator; for `Tree`, a classifier of such trees."""
    if kind is pb.Tree:
        return pb.ProperBoostClassifier(weak_learner=pb.Tree(**values), n_estimators=2)
    return kind(**values, n_estimators=2)


@pytest.mark.filterwarnings("ignore:step=")
@pytest.mark.parametrize(("kind", "name", "other", "choice"), [*obstacles()])
def test_what_has_no_meaning_is_refused(kind, name, other, choice):
    entry = declared(kind)[name]
    make_model(kind, **{other: choice}).fit(*table())
    owner = r"Tree\." if kind is pb.Tree else ""
    why = re.escape(f": {entry.why[other]}") if entry.why else ""
    message = f"{owner}{name} must be .* with {other}={choice!r}{why}; use {other}=.*; got"
    with pytest.raises(ValueError, match=message):
        make_model(kind, **{other: choice, name: OTHERS[name]}).fit(*table())


@pytest.mark.parametrize(
    "model",
    [
        pb.ProperBoostClassifier(weak_learner=pb.Tree(grow_policy="symmetric", max_leaf_nodes=1)),
        pb.ARBoostClassifier(max_leaf_nodes=1),
    ],
)
def test_what_has_no_meaning_is_checked_all_the_same(model):
    with pytest.raises(ValueError, match=r"max_leaf_nodes must be between 2 and 128.*; got 1"):
        model.fit(*table())


def test_a_grid_may_run_over_learners_responses_and_steps():
    learners = [pb.Table(smoothing=0.1), "stump", pb.Tree(max_leaf_nodes=4), "rule"]
    of_responses = (
        {"response": ["real"], "prior": [0.01]},
        {"response": ["newton"], "l2": [1.0]},
    )
    of_steps = {"step": ["guarded"], "learning_rate": [0.5]}, {"step": ["leveraging"]}
    grid = [
        {"weak_learner": learners, **response, **step}
        for response in of_responses
        for step in of_steps
    ]
    model = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table")
    X, y = table()
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    raw = []
    for chosen in search.cv_results_["params"]:
        candidate = clone(model).set_params(**chosen).fit(X, y)
        plain = pb.ProperBoostClassifier(n_estimators=3, **chosen).fit(X, y)
        raw.append(candidate.decision_function(X))
        np.testing.assert_array_equal(raw[-1], plain.decision_function(X))
    assert len(np.unique(raw, axis=0)) == 16


# -- the gain -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weak_learner", "at_one_row"),
    [("table", 20), ("stump", 14), ("rule", 14), ("tree", 0)],
)
def test_the_default_gain_depends_on_the_rows_of_the_smallest_class(weak_learner, at_one_row):
    rng = np.random.default_rng(0)

    def gain_of(y, weight=None, **settings):
        model = pb.ProperBoostClassifier(weak_learner=weak_learner, n_estimators=1, **settings)
        return model.fit(rng.normal(size=(len(y), 2)), y, weight).loss_.gain

    y = np.arange(300) % 3 == 0  # the smaller class has 100 rows
    expected = max(1.0, at_one_row * 200 ** (-1 / 3))
    assert gain_of(y) == pytest.approx(expected)
    assert gain_of(y, np.full(300, 2.0), normalize_weights=True) == pytest.approx(expected)
    assert gain_of(np.repeat([0, 1, 2, 2], 100)) == pytest.approx(
        max(1.0, at_one_row * 300 ** (-1 / 3))
    )
    every = np.arange(200_000) % 2 == 0  # with this many rows the gain is 1
    for loss in LOSSES:  # gains and their bounds are in units of the loss's margin
        unit = get_loss(loss).gain_unit if at_one_row else 1.0
        assert gain_of(y, loss=loss) == pytest.approx(unit * expected)
        assert gain_of(np.arange(2), loss=loss) == (8.0 * unit if at_one_row else 1.0)
    for loss in ("glog", "savage", "tangent"):
        assert gain_of(every, loss=loss) == (get_loss(loss).gain_unit if at_one_row else 1.0)


@pytest.mark.filterwarnings("ignore:the training risk still falls")
@pytest.mark.parametrize("response", ["real", "sign", "newton"])
@pytest.mark.parametrize(
    "loss", ["glog", "ggauss", "exponential", "savage", "tangent", losses.from_pdf(stats.t(3))]
)
def test_the_default_rate_depends_on_the_loss(loss, response):
    """Real and sign responses do not use the loss, so the gain shrinks their steps as well."""
    X, y = table()
    named = isinstance(loss, str)
    for gain in (None, 1.0, 3.0) if named else (None,):
        settings = {"weak_learner": "tree", "response": response, "n_estimators": 3, "gain": gain}
        model = pb.ProperBoostClassifier(loss, **settings).fit(X, y)
        rate = 0.1 if response == "newton" else min(0.1 * model.loss_.rate_factor, 1.0)
        explicit = pb.ProperBoostClassifier(loss, **settings, learning_rate=rate).fit(X, y)
        for one, other in zip(model.ensemble_.models, explicit.ensemble_.models, strict=True):
            np.testing.assert_allclose(one.step, other.step, rtol=1e-5)
        if loss in ("glog", "ggauss"):
            assert same_model(model, explicit)  # these losses keep the usual rate


@pytest.mark.parametrize("weak_learner", ["table", "stump", "tree", "rule"])
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
        model = pb.ProperBoostClassifier(loss, gain=gain, weak_learner="table").fit(X, y)
        assert model.loss_.gain == expected
        assert model.gain is gain
