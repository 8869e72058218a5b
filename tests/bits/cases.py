"""Fixed fits of every learner, whose model files must have the same bits everywhere.

Tables, labels and weights are made from integers by exact arithmetic. No library's generator and no
elementary function can change them.
"""

import hashlib
import warnings
from functools import partial
from typing import get_args

import numpy as np
import pandas as pd
from scipy import sparse

import properboost as pb
from properboost import _core
from properboost.parameters.kinds import (
    SOLVED,
    Criterion,
    Step,
    VotingCriterion,
    VotingLearner,
)
from properboost.parameters.learners import LEARNERS

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
    """Return the same rows with categories, some of them missing."""
    X, y = make_numbers(n, 4, seed, classes)
    town = np.floor(5 * draw(n, 100 * seed + 97)).astype(int)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["town"] = pd.Categorical.from_codes(np.where(town == 4, -1, town), list("wxyz"))
    return frame, (y + (town == 2)) % classes


def make_sparse(n, seed):
    """Return columns of few entries beside one of many, as a sparse matrix."""
    X, y = make_numbers(n, 8, seed)
    for j in (1, 3, 4, 5, 6, 7):
        X[draw(n, 1000 * seed + j) < 0.9, j] = 0.0
    return sparse.csr_array(X), y


SMALL = make_frame(700, 1)
CLASSES = make_frame(1500, 2, classes=3)
LARGE = make_numbers(70_000, 5, 3)
LARGE[0].flags.writeable = LARGE[1].flags.writeable = False
WEIGHT = 0.5 + draw(700, 4)
CLASSES_WEIGHT = 0.5 + draw(1500, 6)
LARGE_WEIGHT = 0.5 + draw(70_000, 5)
SPARSE = make_sparse(6_000, 8)
SPARSE_WEIGHT = 0.5 + draw(6_000, 9)
LARGE_CLASSES = make_numbers(70_000, 3, 7, classes=3)


def make_shares(y, seed):
    """Return probabilities of two or three classes in eighths, of which the label's is largest."""
    n_classes = int(y.max()) + 1
    label = 4 + np.floor(5 * draw(len(y), 100 * seed))
    next_one = np.floor((9 - label) * draw(len(y), 100 * seed + 1))
    shares = np.zeros((len(y), n_classes))
    rows = np.arange(len(y))
    shares[rows, y] = label
    shares[rows, (y + 1) % n_classes] += next_one
    shares[rows, (y + 2) % n_classes] += 8 - label - next_one
    return shares / 8.0


SHARES = (SMALL[0], make_shares(SMALL[1], 8))
SHARES_OF_CLASSES = (CLASSES[0], make_shares(CLASSES[1], 9))


def spell(learner):
    """Return the entries of a space that leave a learner's other fields to the search."""
    part = learner["weak_learner"]
    if isinstance(part, str):
        return learner
    changed = {k: v for k, v in part.get_params().items() if v != getattr(type(part)(), k)}
    nested = {f"weak_learner__{field}": value for field, value in changed.items()}
    return {**learner, "weak_learner": part.name, **nested}


# -- fits -----------------------------------------------------------------------------------------


def list_cases():
    """Return, by name, an estimator and the table, labels and weights it is fitted to."""
    cases = {}

    def add(name, model, data, weight=None):
        assert name not in cases, name
        cases[name] = (model, *data, weight)

    P = partial(pb.ProperBoostClassifier, weak_learner="table")
    every_bin, two_pairs = pb.Table(max_cells=None), pb.Interactions(2, learning_rate=1.0)
    learners = {
        "table": {"weak_learner": every_bin},
        "cyclic": {"selection": "cyclic", "weak_learner": every_bin},
        "cells": {"weak_learner": pb.Table(max_cells=3)},
        "careful cells": {"weak_learner": pb.Table(max_cells=6, min_saving=0.5)},
        "stump": {"weak_learner": "stump"},
        "tree": {"weak_learner": pb.Tree(max_leaf_nodes=6)},
        "rule": {"weak_learner": "rule"},
        "pairs": {"weak_learner": every_bin, "interactions": two_pairs},
    }
    few = {"n_estimators": 4, "max_bins": 16, "rows_per_bin": 20}
    for name, learner in learners.items():
        for response in _core.response_names():
            rule = {"response": response, **learner}
            if name == "careful cells" and response == "sign":  # `sign` makes every cut
                rule["weak_learner"] = pb.Table(max_cells=6)
            for loss in _core.loss_names():
                model = P(loss, gain=0.75, **few, **rule)
                add(f"{name}, {response}, {loss}", model, SMALL, WEIGHT)
            add(f"{name}, {response}, classes", P(**few, **rule), CLASSES)
            model = P(multiclass="one_vs_rest", **few, **rule)
            add(f"{name}, {response}, one against the rest", model, CLASSES)
            if name != "pairs":
                model = P(n_estimators=3, **rule)
                add(f"{name}, {response}, large", model, LARGE, LARGE_WEIGHT)
        for loss in ("glog", "ggauss", "glaplacian", "gboost"):
            model = P(loss, gain=0.75, multiclass="canonical", **few, **learner)
            add(f"{name}, {loss}, classes", model, CLASSES, CLASSES_WEIGHT)
        for criterion in get_args(Criterion):
            model = P(criterion=criterion, **few, **learner)
            add(f"{name}, by {criterion}", model, SMALL)
    for step in get_args(Step):
        for loss in _core.loss_names():
            if step in SOLVED and loss == "savage":  # savage is not convex
                continue
            rate = None if step in SOLVED else 0.5
            for learner in ("table", "stump"):
                model = P(loss, step=step, learning_rate=rate, **few, **learners[learner])
                add(f"{learner}, {step}, {loss}", model, SMALL, WEIGHT)
        add(f"{step}, large", P(step=step, n_estimators=3), LARGE, LARGE_WEIGHT)
    drawn = {"max_features": 0.6, "subsample": 0.7, "min_child_weight": 0.1}
    for learner in ("tree", "rule"):
        grown = {"weak_learner": LEARNERS[learner](**drawn), "random_state": 5}
        add(f"{learner}, drawn", P(**few, **grown), SMALL, WEIGHT)
        add(f"{learner}, drawn, large", P(n_estimators=3, **grown), LARGE)
    for response in _core.response_names():
        # The conditional response has no joint form: each class has trees of its own.
        strategy = "multi_output_tree" if response == "conditional" else "one_output_per_tree"
        tree = pb.Tree(max_leaf_nodes=6, multi_strategy=strategy)
        model = P(response=response, weak_learner=tree, **few)
        add(f"tree, {response}, one per class", model, CLASSES)
        small, of_draws = {"response": response, **few}, {"random_state": 5}
        large = {"response": response, "n_estimators": 3}
        model = P(weak_learner=pb.Tree(**drawn), **small, **of_draws)
        add(f"tree, {response}, drawn, classes", model, CLASSES, CLASSES_WEIGHT)
        levels = pb.Tree(grow_policy="symmetric")
        add(f"levels, {response}", P(weak_learner=levels, **small), SMALL, WEIGHT)
        model = P(weak_learner=levels.replace(**drawn), **small, **of_draws)
        add(f"levels, {response}, drawn, classes", model, CLASSES)
        add(f"levels, {response}, large", P(weak_learner=levels, **large), LARGE, LARGE_WEIGHT)
        limited = P(weak_learner=pb.Tree(interaction_cst=2, **drawn), **small, **of_draws)
        add(f"tree, {response}, two features on a path", limited, SMALL, WEIGHT)
        limited = P(weak_learner=pb.Tree(interaction_cst=3), outer_bags=4, **small, **of_draws)
        add(f"tree, {response}, bags of terms", limited, CLASSES)
        limited = P(weak_learner=pb.Tree(interaction_cst=3, max_terms=2), **small, **of_draws)
        add(f"tree, {response}, two joint terms", limited, SMALL)
        limited = P(weak_learner=levels.replace(interaction_cst=[[0, 1], [1, 2]]), **small)
        add(f"levels, {response}, sets of features", limited, CLASSES)
        if response in ("real", "newton"):
            lines = pb.Tree(linear_leaves=True)
            add(f"lines, {response}", P(weak_learner=lines, **small), SMALL, WEIGHT)
            model = P(weak_learner=lines.replace(**drawn), **small, **of_draws)
            add(f"lines, {response}, drawn, classes", model, CLASSES)
            model = P(weak_learner=levels.replace(linear_leaves=True), **small)
            add(f"lines of levels, {response}", model, SMALL)
            add(f"lines, {response}, large", P(weak_learner=lines, **large), LARGE, LARGE_WEIGHT)
    for name, data in (("numbers", SMALL), ("classes", CLASSES)):
        add(f"auto, {name}", P(weak_learner="auto", **small), data)
    screens = {"screening": 60, "n_estimators": 6}
    for name, learner in (("table", {}), ("stump", {"weak_learner": "stump"})):
        for response in ("real", "newton", "exact"):
            model = P(response=response, rows_per_bin=20, **screens, **learner)
            add(f"{name}, {response}, screens", model, SMALL, WEIGHT)
    for response in ("real", "newton"):
        grown = {"weak_learner": "tree", "response": response, **screens}
        add(f"tree, {response}, screens", P(**grown), SMALL, WEIGHT)
        add(f"tree, {response}, screens, classes", P(**grown), CLASSES, CLASSES_WEIGHT)
        grown["weak_learner"] = pb.Tree(grow_policy="symmetric", linear_leaves=True)
        add(f"lines of levels, {response}, screens", P(**grown), SMALL)
    grown = {"weak_learner": "tree", "screening": 5000, "n_estimators": 3}
    add("tree, screens, large", P(**grown), LARGE, LARGE_WEIGHT)
    add("rule, screens", P(weak_learner="rule", **screens), SMALL, WEIGHT)
    add("screens, classes", P(**screens, **learners["cells"]), CLASSES, CLASSES_WEIGHT)
    add("screens, large", P(n_estimators=6, screening=2000), LARGE, LARGE_WEIGHT)
    for learner in ("table", "stump", "tree", "rule"):
        model = P(weak_learner=learner, response="newton", n_estimators=6)
        add(f"sparse, {learner}", model, SPARSE, SPARSE_WEIGHT)
    for name, rows in (("two", SMALL), ("several", CLASSES)):  # these fits go on beyond 100 rounds
        add(f"enough rounds, {name} classes", P(gain=8.0, max_bins=5), rows)
    model = P(weak_learner="tree", monotonic_cst={"a": 1, "c": -1}, **few)
    add("tree, monotonic", model, SMALL)
    for name in ("table", "cells"):
        table = learners[name]["weak_learner"]
        smooth = {"weak_learner": table.replace(smoothing=0.2), "prior": 1e-3}
        model = P(class_weight="balanced", normalize_weights=True, **smooth, **few)
        add(f"{name}, smoothed", model, SMALL, WEIGHT)
        smooth = {"weak_learner": table.replace(smoothing=9.0), "interactions": two_pairs}
        add(f"{name}, smoothed widely", P(**smooth, **few), SMALL, WEIGHT)
    for name, learner in learners.items():
        bags = {"outer_bags": 16 if name == "table" else 5, "random_state": 3, **few, **learner}
        add(f"bags, {name}", P(**bags), SMALL, WEIGHT)
        add(f"bags, {name}, classes", P(**bags), CLASSES, CLASSES_WEIGHT)
        share = pb.Calibration(intercept="share")
        model = P(multiclass="one_vs_rest", calibration=share, **bags)
        add(f"bags, {name}, one against the rest", model, CLASSES)
    for name, others in {
        "pairs, cyclic": {"interactions": 2, "selection": "cyclic"},
        "savage": {"loss": "savage"},
        "totally_corrective": {"step": "totally_corrective"},
        "standard errors": {"outer_bags": pb.Bags(5, tables=False), "interactions": 1},
    }.items():
        add(f"bags, {name}", P(**{"outer_bags": 5, **few, **others}), SMALL, WEIGHT)
    add("bags, large", P(outer_bags=16, n_estimators=3, interactions=1), LARGE, LARGE_WEIGHT)
    in_turn = {"outer_bags": 16, "n_estimators": 2, "selection": "cyclic"}
    add("bags, large, in turn", P(**in_turn), LARGE, LARGE_WEIGHT)
    add("bags, large, in turn, classes", P(response="newton", **in_turn), LARGE_CLASSES)
    for name, learner in learners.items():
        add(f"probabilities, {name}", P(**few, **learner), SHARES, WEIGHT)
        add(f"probabilities, {name}, classes", P(**few, **learner), SHARES_OF_CLASSES)
        apart = {"multiclass": "one_vs_rest", "outer_bags": 5, "random_state": 3}
        model = P(**apart, **few, **learner)
        add(f"probabilities, {name}, bags, one against the rest", model, SHARES_OF_CLASSES)
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
        lists = {"interactions": [0, 2]} if name == "pairs" else spell(learner)
        space = {"loss": ["glog", "gboost"], "gain": [0.5, 1.0, 4.0], **lists}
        add(f"search, {name}", C(space, **search), SMALL, WEIGHT)
        add(f"search, {name}, classes", C({"gain": [0.5, 2.0], **lists}, **search), CLASSES)
    space = {"gain": [0.5, 2.0], "interactions": [0, 1], "outer_bags": 5}
    add("search, bags", C(space, **search), SMALL, WEIGHT)
    # Smoothing gives weight to codes that have no rows in a fold.
    sparse = search | {"max_bins": 255, "rows_per_bin": None}
    space = {"gain": [0.5], "selection": "cyclic", **spell(learners["cells"])}
    model = C({**space, "weak_learner__smoothing": [0.2]}, **sparse)
    add("search, cells, smoothed", model, SMALL)
    alphas = [pb.losses.get_loss("alpha", alpha=alpha) for alpha in (0.2, 0.4)]
    model = C({"loss": alphas, "learning_rate": [0.3, 1.0]}, **search)
    add("search, alpha", model, SMALL)
    add("search, large", C(**search), LARGE, LARGE_WEIGHT)
    model = pb.ARBoostClassifierCV([1.0, 2.0], cv=3, n_estimators=4, max_bins=16)
    add("search, votes", model, CLASSES)
    add("search, probabilities", C({"gain": [0.5, 2.0]}, **search), SHARES, WEIGHT)
    add("search, probabilities, classes", C({"gain": [0.5, 2.0]}, **search), SHARES_OF_CLASSES)
    X, y = make_numbers(300, 4, 6)
    X = np.where(np.isnan(X), 0.5, X)
    model = pb.RadoBoostClassifier({"ridge": 0.1, "lasso": 0.01}, n_rados=40, n_estimators=20)
    add("rados", model, (X, y))
    for n_corrected in (1, 3, "so_far", "all"):
        model = pb.ULSClassifier("entropy", n_corrected, n_estimators=6)
        add(f"ULS on features, {n_corrected}", model, (X, y))
    add("sets, folds", pb.ConformalClassifier(P(n_estimators=4), cv=3), SMALL)
    model = pb.ConformalClassifier(P(n_estimators=4), cv=2, conformity_score="aps", per_class=True)
    add("sets, aps", model, CLASSES)
    add("costs", pb.LeastCostClassifier(P(n_estimators=4), {0: 1.0, 1: 4.0, 2: 2.0}), CLASSES)
    for moving in (False, True):
        name = "ordered classes, moving" if moving else "ordered classes"
        ordered = pb.OrderedClassifier(P(n_estimators=12), moving_thresholds=moving)
        add(name, ordered, CLASSES)
    add("ordered, trees", pb.OrderedClassifier(P("savage", weak_learner="tree")), CLASSES)
    return cases


def digest(case, n_jobs, folder):
    """Fit a case with this number of threads; return the digest of its model file."""
    model, X, y, weight = case
    getattr(model, "estimator", model).set_params(n_jobs=n_jobs)
    with warnings.catch_warnings(action="ignore"):
        model.fit(X, y) if weight is None else model.fit(X, y, sample_weight=weight)
    for name in ("best_estimator_", "estimator", "estimator_"):
        getattr(model, name, model).n_jobs = None
    for estimator in getattr(model, "models_", ()):
        estimator.n_jobs = None
    model.save_model(folder / "model.json")
    return hashlib.sha256((folder / "model.json").read_bytes()).hexdigest()[:16]
