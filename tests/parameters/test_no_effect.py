"""No parameter is without effect: another value makes another model, or is refused by name.

There are two exceptions: the data lack the parameter's subject, or it affects running only.
"""

import numpy as np
import pytest

import properboost as pb
from properboost.parameters.declare import Component, declared
from properboost.parameters.learners import LEARNERS

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=(400, 4)), RNG.integers(0, 5, 400)])
SCORE = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * X[:, 4] + RNG.logistic(size=400)
TWO, THREE = SCORE > 1.2, np.digitize(SCORE, [0.3, 1.8])

OTHERS = {
    "loss": ["savage", pb.losses.GBoost(2.0)],
    "gain": [0.5, 30.0],
    "n_estimators": [7],
    "learning_rate": [0.3],
    "weak_learner": ["stump"],
    "interactions": [2, [(0, 1)], pb.Interactions(2, learning_rate=0.5)],
    "early_stopping": [True, pb.EarlyStopping(validation_fraction=0.3)],
    "outer_bags": [4, pb.Bags(4, tables=False)],
    "calibration": [pb.Calibration(slope=0.5), pb.Calibration(intercept=0.25)],
    "response": ["sign", "newton", "exact", "conditional"],
    "step": ["unit", "line_search", "leveraging", "totally_corrective"],
    "selection": ["greedy", "cyclic"],
    "criterion": ["gini", "entropy", "matsushita"],
    "prior": [0.05],
    "l2": [1.0],
    "monotonic_cst": [[-1, -1, -1, -1, 0]],
    "screening": [20],
    "max_bins": [5],
    "rows_per_bin": [60.0],
    "categorical_features": [[4]],
    "class_weight": ["balanced"],
}
"""Values of the classifier's parameters other than the defaults."""

FIELDS = {
    "max_cells": [2, None],
    "min_saving": [3.0],
    "smoothing": [0.2, 3.0],
    "grow_policy": ["symmetric"],
    "max_leaf_nodes": [3],
    "max_depth": [1],
    "linear_leaves": [True],
    "linear_l2": [50.0],
    "interaction_cst": [1, "pairwise", [[0, 1], [2]]],
    "max_terms": [2],
    "min_child_weight": [40.0],
    "max_features": [1.0],
    "subsample": [0.5],
    "n_draws": [3],
    "max_conditions": [1],
}
"""Values of the learners' fields other than the defaults."""

NO_SUCH_DATA = {
    "multiclass": "there are two classes",
    "multi_strategy": "there are two classes",
    "normalize_weights": "there are no weights",
}
RUNNING = {"n_jobs", "verbose", "random_state", "warm_start"}


def fit(y=TWO, **parameters):
    model = pb.ProperBoostClassifier(**{"n_estimators": 12, **parameters})
    return model.fit(X, y).decision_function(X)


@pytest.fixture(scope="module")
def plain():
    return {name: fit(weak_learner=name) for name in LEARNERS}


def has_effect(plain, **parameters):
    """Return whether bits differ; a refusal names the parameter, or a field of its object."""
    (name,) = parameters.keys() - {"weak_learner"} or {"weak_learner"}
    try:
        with np.errstate(all="ignore"):
            return not np.array_equal(fit(**parameters), plain)
    except ValueError as refusal:
        part = parameters[name]
        fields = declared(type(part)) if isinstance(part, Component) else ()
        return any(word in str(refusal) for word in (name, *fields))


def test_every_parameter_has_other_values_here():
    known = set(declared(pb.ProperBoostClassifier))
    assert known == OTHERS.keys() | NO_SUCH_DATA.keys() - {"multi_strategy"} | RUNNING
    fields = {field for kind in LEARNERS.values() for field in declared(kind)}
    assert fields == FIELDS.keys() | {"multi_strategy"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", OTHERS)
def test_parameters_have_an_effect(plain, learner, name):
    inert = set()
    for value in OTHERS[name]:
        if name != "weak_learner" and not has_effect(
            plain[learner], weak_learner=learner, **{name: value}
        ):
            inert.add(value)
        elif name == "weak_learner" and value != learner:
            assert has_effect(plain[learner], weak_learner=value)
    assert inert <= SAME.get(name, set())


SAME = {
    "step": {"unit"},
    "criterion": {"matsushita", "entropy"},
}
"""Values that happen to be the default's: no guarded step of these fits is shorter, and the real
response's cost is Matsushita's impurity."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("learner", "field"),
    [(k, f) for k, kind in LEARNERS.items() for f in declared(kind) if f in FIELDS],
)
def test_fields_of_learners_have_an_effect(plain, learner, field):
    for value in FIELDS[field]:
        changed = LEARNERS[learner](**{field: value})
        assert has_effect(plain[learner], weak_learner=changed), value


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "objects"),
    [
        (
            "interactions",
            [
                pb.Interactions(2),
                pb.Interactions([(2, 3)]),
                pb.Interactions(2, n_estimators=3),
                pb.Interactions(2, learning_rate=0.9),
                pb.Interactions(2, smoothing=5.0),
            ],
        ),
        (
            "calibration",
            [
                pb.Calibration(slope=0.5),
                pb.Calibration(slope=2.0),
                pb.Calibration(intercept=0.5),
                pb.Calibration(intercept="share"),
            ],
        ),
        ("outer_bags", [pb.Bags(4), pb.Bags(5)]),
        (
            "early_stopping",
            [
                pb.EarlyStopping(validation_fraction=0.1, n_iter_no_change=1),
                pb.EarlyStopping(validation_fraction=0.3, n_iter_no_change=1),
                pb.EarlyStopping(validation_fraction=0.3, n_iter_no_change=30),
                pb.EarlyStopping(validation_fraction=0.3, n_iter_no_change=3, tol=0.02),
                pb.EarlyStopping(
                    validation_fraction=0.3, n_iter_no_change=30, scoring="balanced_accuracy"
                ),
            ],
        ),
    ],
)
def test_fields_of_other_objects_have_an_effect(name, objects):
    raw = [fit(**{name: part, "n_estimators": 60}) for part in objects]
    assert len({values.tobytes() for values in raw}) == len(objects)


def test_bags_keep_their_tables_by_default():
    model = pb.ProperBoostClassifier(
        n_estimators=5, outer_bags=pb.Bags(4, tables=False), weak_learner="table"
    )
    with pytest.raises(ValueError, match="tables"):
        model.fit(X, TWO).predict_interval(X)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {"multiclass": "one_vs_rest"}),
        (
            {"weak_learner": "tree"},
            {"weak_learner": pb.Tree(multi_strategy="one_output_per_tree")},
        ),
        (
            {"multiclass": "one_vs_rest"},
            {"multiclass": "one_vs_rest", "calibration": pb.Calibration(temperature=2.0)},
        ),
    ],
)
def test_several_classes_have_more_parameters(first, second):
    p, q = (
        pb.ProperBoostClassifier(n_estimators=5, **settings).fit(X, THREE).predict_proba(X)
        for settings in (first, second)
    )
    assert not np.array_equal(p, q)


@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
def test_weights_have_a_scale():
    p, q = (
        pb.ProperBoostClassifier(n_estimators=5, normalize_weights=scaled, weak_learner="table")
        .fit(X, TWO, np.full(len(X), 1.5))
        .predict_proba(X)
        for scaled in (False, True)
    )
    assert not np.array_equal(p, q)


@pytest.mark.parametrize(
    ("parameters", "refusal"),
    [
        (
            {"weak_learner": pb.Tree(linear_l2=1.0)},
            r"Tree\.linear_l2 must be 5\.0 with linear_leaves=F",
        ),
        (
            {"weak_learner": pb.Tree(grow_policy="symmetric", max_leaf_nodes=4)},
            r"Tree\.max_leaf_nodes must be None with grow_policy='symmetric'",
        ),
        ({"weak_learner": pb.Tree(max_features=1.0, n_draws=2)}, r"Tree\.n_draws must be 1 with"),
        (
            {"weak_learner": pb.Tree(n_draws=2), "outer_bags": 4},
            r"n_draws must be 1 with outer_bags",
        ),
        (
            {"weak_learner": pb.Table(max_cells=None, min_saving=1.0)},
            r"Table\.min_saving must be 0",
        ),
        (
            {"weak_learner": pb.Table(min_saving=1.0), "response": "sign"},
            r"Table\.min_saving must be 0",
        ),
        (
            {"weak_learner": pb.Tree(multi_strategy="one_output_per_tree"), "loss": "savage"},
            r"Tree\.multi_strategy must be 'multi_output_tree'",
        ),
        (
            {"weak_learner": pb.Tree(linear_leaves=True), "response": "sign"},
            "linear_leaves must be",
        ),
        ({"weak_learner": "rule", "selection": "cyclic"}, "selection must not be 'cyclic'"),
        ({"weak_learner": "tree", "outer_bags": pb.Bags(4, tables=False)}, r"Bags\.tables must"),
        ({"weak_learner": "tree", "interactions": 2}, "interactions must be 0 with"),
        ({"interactions": pb.Interactions(0, smoothing=0.0)}, r"Interactions\.pairs must be above"),
        ({"outer_bags": pb.Bags(0, tables=False)}, r"Bags\.n_bags must be above 0"),
        (
            {"early_stopping": pb.EarlyStopping(n_iter_no_change=None, tol=0.1)},
            r"EarlyStopping\.tol must be",
        ),
        ({"l2": 1.0}, "l2 must be 0.0 with response='real'"),
        ({"prior": 0.1, "response": "newton"}, "prior must be None with response='newton'"),
        ({"criterion": "gini", "response": "newton"}, "criterion must be None with"),
        ({"learning_rate": 0.5, "step": "leveraging"}, "learning_rate must be None with"),
        ({"screening": 30, "selection": "greedy"}, "screening must be 'auto' with selection"),
        (
            {"weak_learner": pb.Tree(subsample=0.5), "screening": 30},
            "screening must be 'auto' or None with subsample",
        ),
        (
            {"calibration": pb.Calibration(temperature=2.0), "multiclass": "softmax"},
            r"Calibration\.temperature must be None",
        ),
    ],
)
def test_values_without_effect_are_refused(parameters, refusal):
    with pytest.raises(ValueError, match=refusal):
        fit(**parameters)
