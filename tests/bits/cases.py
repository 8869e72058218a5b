"""Fixed fits of every learner, whose model files must have the same bits everywhere.

Tables, labels and weights are made from integers by exact arithmetic: no generator of a library and
no elementary function stands between this file and the bits.
"""

import hashlib
import warnings
from functools import partial
from typing import get_args

import numpy as np
import pandas as pd

import properboost as pb
from properboost import _core
from properboost.parameters.kinds import Criterion, Step, VotingCriterion, VotingLearner
from properboost.parameters.shared import SOLVED

# -- data -----------------------------------------------------------------------------------------


def draw(n, seed):
    """Return `n` numbers in [0, 1) with 24 random bits each (splitmix64)."""
    first = np.uint64(seed * 0xD1B54A32D192ED03 % 2**64)
    z = first + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(40)).astype(np.float64) / 2.0**24


def make_numbers(n, d, seed, classes=2):
    """Return columns of many and of few values, some missing, and labels that depend on them."""
    X = np.stack([draw(n, 100 * seed + j) for j in range(d)], axis=1)
    X[:, 1] = np.floor(7 * X[:, 1])
    raw = 2 * X[:, 0] + (X[:, 1] > 3) * X[:, 2] + draw(n, 100 * seed + 99)
    X[draw(n, 100 * seed + 98) < 0.05, 0] = np.nan
    order = np.argsort(np.argsort(raw, kind="stable"), kind="stable")
    return X, order * classes // n


def make_frame(n, seed, classes=2):
    """Return the same with categories, some of them missing."""
    X, y = make_numbers(n, 4, seed, classes)
    town = np.floor(5 * draw(n, 100 * seed + 97)).astype(int)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["town"] = pd.Categorical.from_codes(np.where(town == 4, -1, town), list("wxyz"))
    return frame, (y + (town == 2)) % classes


SMALL = make_frame(700, 1)
CLASSES = make_frame(1500, 2, classes=3)
LARGE = make_numbers(70_000, 5, 3)
LARGE[0].flags.writeable = LARGE[1].flags.writeable = False
WEIGHT = 0.5 + draw(700, 4)
CLASSES_WEIGHT = 0.5 + draw(1500, 6)
LARGE_WEIGHT = 0.5 + draw(70_000, 5)
LARGE_CLASSES = make_numbers(70_000, 3, 7, classes=3)


# -- fits -----------------------------------------------------------------------------------------


def list_cases():
    """Return, by name, an estimator and the table, labels and weights it is fitted to."""
    cases = {}

    def add(name, model, data, weight=None):
        assert name not in cases, name
        cases[name] = (model, *data, weight)

    P = pb.ProperBoostClassifier
    learners = {
        "histogram": {"max_cells": None}, "cyclic": {"selection": "cyclic", "max_cells": None},
        "cells": {"max_cells": 3}, "careful cells": {"max_cells": 6, "min_saving": 0.5},
        "stump": {"weak_learner": "stump"},
        "tree": {"weak_learner": "tree", "max_leaf_nodes": 6},
        "monomial": {"weak_learner": "monomial"},
        "pairs": {"interactions": 2, "interaction_rate": 1.0, "max_cells": None},
    }  # fmt: skip
    few = {"n_estimators": 4, "max_bins": 16, "rows_per_bin": 20}
    for name, learner in learners.items():
        for response in _core.response_names():
            for loss in _core.loss_names():
                model = P(loss, gain=0.75, response=response, **few, **learner)
                add(f"{name}, {response}, {loss}", model, SMALL, WEIGHT)
            model = P(response=response, **few, **learner)
            add(f"{name}, {response}, classes", model, CLASSES)
            model = P(response=response, multiclass="one_vs_rest", **few, **learner)
            add(f"{name}, {response}, one against the rest", model, CLASSES)
            if name != "pairs":
                model = P(response=response, n_estimators=3, **learner)
                add(f"{name}, {response}, large", model, LARGE, LARGE_WEIGHT)
        for loss in ("glog", "ggauss", "glaplacian", "gboost"):
            model = P(loss, gain=0.75, multiclass="canonical", **few, **learner)
            add(f"{name}, {loss}, classes", model, CLASSES, CLASSES_WEIGHT)
        for criterion in get_args(Criterion):
            model = P(criterion=criterion, **few, **learner)
            add(f"{name}, by {criterion}", model, SMALL)
    for step in get_args(Step):
        for loss in _core.loss_names():
            if step in SOLVED and loss == "savage":  # not convex
                continue
            for learner in ("histogram", "stump"):
                model = P(loss, step=step, learning_rate=0.5, **few, **learners[learner])
                add(f"{learner}, {step}, {loss}", model, SMALL, WEIGHT)
        add(f"{step}, large", P(step=step, n_estimators=3), LARGE, LARGE_WEIGHT)
    grown = {"max_features": 0.6, "subsample": 0.7, "random_state": 5, "min_child_weight": 0.1}
    for learner in ("tree", "monomial"):
        model = P(weak_learner=learner, **few, **grown)
        add(f"{learner}, drawn", model, SMALL, WEIGHT)
        add(f"{learner}, drawn, large", P(weak_learner=learner, n_estimators=3, **grown), LARGE)
    for response in _core.response_names():
        one_each = {"multi_strategy": "one_output_per_tree", "response": response}
        add(f"tree, {response}, one per class", P(**one_each, **few, **learners["tree"]), CLASSES)
        model = P(response=response, weak_learner="tree", **few, **grown)
        add(f"tree, {response}, drawn, classes", model, CLASSES, CLASSES_WEIGHT)
        levels = {"weak_learner": "tree", "grow_policy": "symmetric", "response": response}
        add(f"levels, {response}", P(**levels, **few), SMALL, WEIGHT)
        add(f"levels, {response}, drawn, classes", P(**levels, **few, **grown), CLASSES)
        add(f"levels, {response}, large", P(**levels, n_estimators=3), LARGE, LARGE_WEIGHT)
        if response in ("real", "newton"):
            lines = {"weak_learner": "tree", "linear_leaves": True, "response": response}
            add(f"lines, {response}", P(**lines, **few), SMALL, WEIGHT)
            add(f"lines, {response}, drawn, classes", P(**lines, **few, **grown), CLASSES)
            add(f"lines of levels, {response}", P(**(lines | levels), **few), SMALL)
            add(f"lines, {response}, large", P(**lines, n_estimators=3), LARGE, LARGE_WEIGHT)
    screens = {"screening": 60, "n_estimators": 6}
    for name, learner in (("histogram", {}), ("stump", {"weak_learner": "stump"})):
        for response in ("real", "newton", "exact"):
            model = P(response=response, rows_per_bin=20, **screens, **learner)
            add(f"{name}, {response}, screens", model, SMALL, WEIGHT)
    for response in ("real", "newton"):
        grown = {"weak_learner": "tree", "response": response, **screens}
        add(f"tree, {response}, screens", P(**grown), SMALL, WEIGHT)
        add(f"tree, {response}, screens, classes", P(**grown), CLASSES, CLASSES_WEIGHT)
        levels = {"grow_policy": "symmetric", "linear_leaves": True}
        add(f"lines of levels, {response}, screens", P(**grown, **levels), SMALL)
    grown = {"weak_learner": "tree", "screening": 5000, "n_estimators": 3}
    add("tree, screens, large", P(**grown), LARGE, LARGE_WEIGHT)
    add("monomial, screens", P(weak_learner="monomial", **screens), SMALL, WEIGHT)
    add("screens, classes", P(**screens, **learners["cells"]), CLASSES, CLASSES_WEIGHT)
    add("screens, large", P(n_estimators=6, screening=2000), LARGE, LARGE_WEIGHT)
    for name, rows in (("two", SMALL), ("several", CLASSES)):  # which go on beyond 100 rounds
        add(f"enough rounds, {name} classes", P(gain=8.0, max_bins=5), rows)
    model = P(weak_learner="tree", monotonic_cst={"a": 1, "c": -1}, **few)
    add("tree, monotonic", model, SMALL)
    for name in ("histogram", "cells"):
        smooth = {"smoothing": 0.2, "prior": 1e-3, **few, **learners[name]}
        model = P(class_weight="balanced", normalize_weights=True, **smooth)
        add(f"{name}, smoothed", model, SMALL, WEIGHT)
        smooth |= {"smoothing": 9.0, "prior": None, "interactions": 2, "interaction_rate": 1.0}
        add(f"{name}, smoothed widely", P(**smooth), SMALL, WEIGHT)
    for name, learner in learners.items():
        bags = {"outer_bags": 16 if name == "histogram" else 5, "random_state": 3, **few, **learner}
        add(f"bags, {name}", P(**bags), SMALL, WEIGHT)
        add(f"bags, {name}, classes", P(**bags), CLASSES, CLASSES_WEIGHT)
        model = P(multiclass="one_vs_rest", intercept="share", **bags)
        add(f"bags, {name}, one against the rest", model, CLASSES)
    for name, given in {
        "pairs, cyclic": {"interactions": 2, "selection": "cyclic"},
        "savage": {"loss": "savage"},
        "totally_corrective": {"step": "totally_corrective"},
        "standard errors": {"bag_tables": False, "interactions": 1},
    }.items():
        add(f"bags, {name}", P(outer_bags=5, **few, **given), SMALL, WEIGHT)
    add("bags, large", P(outer_bags=16, n_estimators=3, interactions=1), LARGE, LARGE_WEIGHT)
    in_turn = {"outer_bags": 16, "n_estimators": 2, "selection": "cyclic"}
    add("bags, large, in turn", P(**in_turn), LARGE, LARGE_WEIGHT)
    add("bags, large, in turn, classes", P(response="newton", **in_turn), LARGE_CLASSES)
    for criterion in get_args(VotingCriterion):
        for learner in get_args(VotingLearner):
            votes = {"weak_learner": learner, "criterion": criterion, "n_estimators": 5}
            model = pb.ARBoostClassifier(1.5, max_bins=16, damping=0.2, **votes)
            add(f"votes, {learner}, {criterion}", model, SMALL, WEIGHT)
            add(f"votes, {learner}, {criterion}, classes", pb.ARBoostClassifier(**votes), CLASSES)
            model = pb.ARBoostClassifier(multiclass="one_vs_rest", **votes)
            add(f"votes, {learner}, {criterion}, labels", model, CLASSES)
    add("votes, large", pb.ARBoostClassifier(n_estimators=3, weak_learner="tree"), LARGE)
    for phi in _core.impurity_names():
        add(f"UDT, {phi}", pb.UDTClassifier(phi, max_bins=32), SMALL, WEIGHT)
    add("UDT, large", pb.UDTClassifier(), LARGE, LARGE_WEIGHT)
    search = {"cv": 3, "max_estimators": 5, "max_bins": 16, "random_state": 0}
    C = partial(pb.ProperBoostClassifierCV, effort=None)
    for name, learner in learners.items():
        lists = {"interactions": [0, 2]} if name == "pairs" else learner
        model = C(["glog", "gboost"], gains=[0.5, 1.0, 4.0], **search, **lists)
        add(f"search, {name}", model, SMALL, WEIGHT)
        add(f"search, {name}, classes", C(gains=[0.5, 2.0], **search, **lists), CLASSES)
    model = C(gains=[0.5, 2.0], interactions=[0, 1], outer_bags=5, **search)
    add("search, bags", model, SMALL, WEIGHT)
    # Where folds lack codes' rows, smoothing gives these codes weight.
    sparse = search | {"max_bins": 255, "rows_per_bin": None}
    model = C(gains=[0.5], smoothings=[0.2], selection="cyclic", **learners["cells"], **sparse)
    add("search, cells, smoothed", model, SMALL)
    model = C("alpha", alphas=[0.2, 0.4], learning_rate=[0.3, 1.0], **search)
    add("search, alpha", model, SMALL)
    add("search, large", C(gains="auto", **search), LARGE, LARGE_WEIGHT)
    model = pb.ARBoostClassifierCV([1.0, 2.0], cv=3, n_estimators=4, max_bins=16)
    add("search, votes", model, CLASSES)
    X, y = make_numbers(300, 4, 6)
    X = np.where(np.isnan(X), 0.5, X)
    model = pb.RadoBoostClassifier({"ridge": 0.1, "lasso": 0.01}, n_rados=40, n_estimators=20)
    add("rados", model, (X, y))
    for n_corrected in (1, 3, "so_far", "all"):
        model = pb.ULSClassifier("entropy", n_corrected, n_estimators=6)
        add(f"ULS on features, {n_corrected}", model, (X, y))
    return cases


def digest(case, n_jobs, folder):
    """Fit a case with so many threads; return the digest of its model file."""
    model, X, y, weight = case
    model.set_params(n_jobs=n_jobs)
    with warnings.catch_warnings(action="ignore"):
        model.fit(X, y) if weight is None else model.fit(X, y, sample_weight=weight)
    for kept in (model, getattr(model, "best_estimator_", model)):
        kept.n_jobs = None
    model.save_model(folder / "model.json")
    return hashlib.sha256((folder / "model.json").read_bytes()).hexdigest()[:16]
