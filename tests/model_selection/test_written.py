"""Every value of a space is in the model, or is refused by name: nothing is replaced.

``PYTHONPATH=tests python tests/model_selection/test_written.py 200`` tries as many spaces.
"""

import dataclasses
import re
import sys
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import properboost as pb
from helpers.searches import integers
from properboost.losses import get_loss

LEARNERS = [
    "table", "stump", "tree", "rule", pb.Table(max_cells=3), pb.Table(max_cells=None), pb.Stump(),
    pb.Tree(), pb.Tree(max_depth=2, linear_leaves=True), pb.Tree(grow_policy="symmetric"),
    pb.Tree(max_features=1.0), pb.Rule(max_conditions=1),
]  # fmt: skip

VALUES = {
    "loss": ["glog", "gboost", "savage", pb.losses.Alpha(0.3), pb.losses.GLog(2.0)],
    "gain": [None, 1.0, 2.0, 8.0],
    "n_estimators": [1, 3],
    "learning_rate": [None, 0.1, 1.0],
    "weak_learner": LEARNERS,
    "selection": ["unbiased", "greedy", "cyclic"],
    "response": ["real", "sign", "newton", "exact", "conditional"],
    "step": ["guarded", "unit", "line_search", "leveraging"],
    "criterion": [None, "gini"],
    "prior": [None, 0.01],
    "l2": [0.0, 0.1, 1.0],
    "screening": ["auto", None, 20],
    "multiclass": ["auto", "softmax", "canonical", "one_vs_rest"],
    "monotonic_cst": [None, (0, 0, 0, 0), [0, 0, 0, 0], {0: 0}, {0: 1}],
    "interactions": [0, 1, 2, [(0, 1)], pb.Interactions(1), pb.Interactions(2, n_estimators=2)],
    "interactions__learning_rate": [0.1, 1.0],
    "interactions__smoothing": [0.0, 0.2, 0.3],
    "interactions__n_estimators": [None, 2],
    "outer_bags": [0, 4, pb.Bags(4), pb.Bags(4, tables=False)],
    "calibration": ["auto", None, pb.Calibration(slope=0.5), pb.Calibration(temperature=2.0)],
    "calibration__intercept": ["auto", None, 0.0],
    "weak_learner__max_cells": ["auto", None, 3, 10],
    "weak_learner__min_saving": [0.0, 0.5],
    "weak_learner__smoothing": [None, 0.0, 0.1, 1.0],
    "weak_learner__grow_policy": ["best_first", "symmetric"],
    "weak_learner__max_leaf_nodes": [None, 4, 16],
    "weak_learner__max_depth": [None, 2, 5],
    "weak_learner__linear_leaves": [False, True],
    "weak_learner__linear_l2": [5.0, 1.0],
    "weak_learner__multi_strategy": ["multi_output_tree", "one_output_per_tree"],
    "weak_learner__min_child_weight": [1.0, 0.1],
    "weak_learner__max_features": [0.5, 0.3, 1.0],
    "weak_learner__subsample": [1.0, 0.7],
    "weak_learner__n_draws": [1, 2],
    "weak_learner__max_conditions": [2, 1],
}
"""Values by name, including the classifier's defaults."""

SINGLE = ("n_estimators", "outer_bags", "calibration", "n_draws", "interactions__n_estimators")


def draw_space(random):
    """Return a space of a few names, a third of them lists."""
    kind = random.choice(["table", "tree", "rule", "any"], p=[0.35, 0.35, 0.1, 0.2])
    names = [
        name
        for name in VALUES
        if kind == "any" or not name.startswith("weak_learner__") or _has_field(kind, name)
    ]
    drawn = random.choice(names, size=min(random.integers(1, 6), len(names)), replace=False)
    space = {} if kind == "any" else {"weak_learner": kind}
    for name in map(str, drawn):
        values = VALUES[name]
        if random.random() < 0.33 and not any(single in name for single in SINGLE):
            places = random.choice(len(values), size=min(2, len(values)), replace=False)
            space[name] = [values[k] for k in places]
        else:
            value = values[random.integers(len(values))]
            space[name] = [value] if isinstance(value, list) else value
    return space


def _has_field(kind, name):
    classes = {"table": pb.Table, "tree": pb.Tree, "rule": pb.Rule}
    return hasattr(classes[kind](), name.removeprefix("weak_learner__"))


def _is_in(value, chosen, name):
    """Return whether a chosen value is one of the space."""
    if name == "weak_learner":
        return chosen == value if not isinstance(value, str) else chosen.name == value
    if name == "loss" and not isinstance(value, str):
        return dataclasses.replace(get_loss(chosen), gain=value.gain) == value
    if name == "interactions" and not isinstance(value, pb.Interactions):
        pairs = getattr(chosen, "pairs", chosen)
        return pairs == value
    return type(chosen) is type(value) and chosen == value


def find_fate(space, effort, n_classes):
    """Return "kept", the error that refuses a space, or the values that were replaced."""
    X, y = integers(120, n_classes)
    search = pb.ProperBoostClassifierCV(space, effort=effort, cv=2, max_estimators=3, n_jobs=1)
    try:
        with warnings.catch_warnings(action="ignore"):
            search.fit(X, y)
    except (TypeError, ValueError) as error:
        parts = {part for name in space for part in [name, *name.split("__")]}
        words = {*re.findall(r"\w+", str(error).lower())}  # also Calibration.temperature
        return "refused" if parts & words else f"not named: {error}"
    params = search.best_estimator_.get_params()
    params |= pb.ProperBoostClassifier(**search.best_params_).get_params()
    for name, written in space.items():
        values = written if isinstance(written, list) else [written]
        if name == "weak_learner" and any(other.startswith("weak_learner__") for other in space):
            values = [getattr(value, "name", value) for value in values]
        if name == "interactions" and params[name] == 0 and 0 in values:
            continue
        if name.startswith("interactions__") and params["interactions"] == 0:
            continue  # of the pairs that were not taken
        if not any(_is_in(value, params[name], name) for value in values):
            return f"replaced: {name} is {params[name]!r}"
    return "kept"


def draw_case(seed):
    random = np.random.default_rng(seed)
    return draw_space(random), (None, 1, 2, 3)[random.integers(4)], int(random.integers(2, 4))


@pytest.mark.parametrize("seed", range(30))
def test_a_value_that_is_written_is_in_the_model_or_refused_by_name(seed):
    case = draw_case(seed)
    assert find_fate(*case) in ("kept", "refused"), case


def test_the_classifiers_defaults_are_kept_where_they_are_written():
    X, y = load_breast_cancer(return_X_y=True)
    written = {
        "weak_learner__min_child_weight": 1.0,
        "weak_learner__max_features": 0.5,
        "learning_rate": 1.0,
    }
    space = {"weak_learner": "tree", **written}
    search = pb.ProperBoostClassifierCV(space, effort=2, n_jobs=1).fit(X, y)
    params = search.best_estimator_.get_params()
    assert {name: params[name] for name in written} == written


if __name__ == "__main__":
    fates = {}
    for seed in range(int(sys.argv[1])):
        fate = find_fate(*draw_case(seed))
        fates[fate] = fates.get(fate, 0) + 1
        if fate not in ("kept", "refused"):
            print(seed, *draw_case(seed), fate)
    print(fates)
    sys.exit(not {*fates} <= {"kept", "refused"})
