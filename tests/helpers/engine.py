"""Helpers for tests of the engine: models trained through `_core`, and comparisons."""

import itertools

import numpy as np

import helpers.reference as ref
from properboost import _core

# The engine's margins and weights are float32.
SINGLE = 3e-5

LOSSES = {
    "glog": {},
    "ggauss": {},
    "glaplacian": {},
    "gboost": {},
    "exponential": {},
    "savage": {},
    "alpha": {"alpha": 0.3},
}

OPTIONS = {
    "selection": "greedy",
    "response": "real",
    "step": "guarded",
    "l2": 0.0,
}

GROWN = {"min_child_weight": 0.0, "max_features": 1.0, "subsample": 1.0}

LEARNERS = {
    "table": {"max_cells": 0, "min_saving": 0.0, "smoothing": 0.0},
    "stump": {},
    "tree": {
        **GROWN, "grow_policy": "best_first", "max_leaf_nodes": 31, "max_depth": 0,
        "linear_leaves": False, "linear_l2": 0.0,
    },
    "rule": {**GROWN, "max_conditions": 2},
}  # fmt: skip
"""Fields of weak learners; unlike Python's defaults they restrain little and draw nothing."""

OF_ALL = {
    "seed", "directions", "criterion", "allows_for_chance", "min_relative_decrease",
    "interaction_limit", "interaction_sets",
}  # fmt: skip


def describe_learner(name="table", **fields):
    """Return the settings that `_core.WeakLearner` takes."""
    return {"name": name, **LEARNERS.get(name, {}), **fields}


def make_boosting(codes, features, segments, roles, losses, weight=None, **settings):
    """Return boosting of models over codes in segment order; settings may differ by model.

    `features` are what `_core.Bins` takes, or a tuple of those and the means of bins.
    """
    of_models = {"gain": 1.0, "learning_rate": 1.0, "prior": 0.0, "smoothing": 0.0}
    for name, default in of_models.items():
        value = settings.pop(name, None)
        of_models[name] = np.full(len(losses), default if value is None else value, dtype=float)
    smoothings = of_models.pop("smoothing")
    kind = settings.pop("weak_learner", "table")
    known = OF_ALL | LEARNERS.get(kind, {}).keys()
    options = {name: settings.pop(name) for name in known & settings.keys()}
    if kind in ("tree", "rule"):
        options["allows_for_chance"] = settings.get("selection", "greedy") != "greedy"
    learners = {}
    for h in set(smoothings):
        smoothing = {"smoothing": h} if h else {}
        learners[h] = _core.WeakLearner(describe_learner(kind, **options, **smoothing))
    n_threads = settings.pop("n_threads", 1)
    rows = _core.Rows(
        np.ascontiguousarray(codes, dtype=np.uint8),
        _core.Bins(*features) if isinstance(features, tuple) else _core.Bins(features),
        np.asarray(segments),
        weight=weight,
        base=settings.pop("base", None),
        numbers=settings.pop("numbers", None),
        labels=settings.pop("labels", None),
        share=settings.pop("share", None),
        n_threads=n_threads,
    )
    models = [
        _core.Model(
            loss,
            learners[smoothings[m]],
            np.asarray(roles[m], dtype=np.int8),
            **{name: values[m] for name, values in of_models.items()},
        )
        for m, loss in enumerate(losses)
    ]
    records = {name: settings.pop(name, True) for name in ("keep_rounds", "risk_of_tables")}
    algorithm = _core.AdditiveBoosting(**(OPTIONS | settings))
    return _core.Boosting(rows, models, algorithm, **records, n_threads=n_threads)


def train(codes, features, y, weight=None, *, loss="glog", n_estimators=20, **settings):
    """Boost one model; rows in any order, features as _core.Bins takes them."""
    keep = np.ones(len(y), bool) if weight is None else weight > 0
    order = np.flatnonzero(keep)[np.argsort(y[keep] > 0, kind="stable")]
    progress = settings.pop("progress", None)
    boosting = make_boosting(
        codes[:, order],
        features,
        [0, (y[keep] < 0).sum(), len(order)],
        [[-1, 1]],
        [_core.Loss(loss, LOSSES[loss])],
        None if weight is None else weight[order],
        **settings,
    )
    boosting.advance(n_estimators, progress=progress)
    return boosting.rounds(0)


def tables(rounds):
    return [rounds.values[a:b] for a, b in itertools.pairwise(rounds.offsets)]


def problem(seed, n=400):
    """Return two numeric features, one with gaps, a category, an uninformative one, and labels."""
    rng = np.random.default_rng(seed)
    features = [np.arange(7.0), np.arange(4.0), 5, np.arange(2.0)]
    bins = [
        ref.FeatureBins.categorical(f) if isinstance(f, int) else ref.FeatureBins.numeric(f)
        for f in features
    ]
    codes = np.array(
        [
            rng.integers(0, 8, n),
            np.where(rng.random(n) < 0.2, 5, rng.integers(0, 5, n)),
            np.where(rng.random(n) < 0.1, 5, rng.integers(0, 4, n)),  # no row has category 4
            rng.integers(0, 3, n),
        ]
    )
    score = 0.6 * codes[0] - 2 + np.array([1, -1, 0.5, -0.5, 0.2, 2])[codes[1]] + (codes[2] == 1)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), 1.0, -1.0)
    return codes, features, bins, y


def sorted_problem(seed, n=400):
    """Return a problem in the engine's order, which numbers rows alike; some weights are 0."""
    codes, features, bins, y = problem(seed, n)
    order = np.argsort(y, kind="stable")
    weight = np.random.default_rng(seed).uniform(2.0, 8.0, n)
    weight[::9] = 0.0
    return codes[:, order], features, bins, y[order], weight


def assert_equal_models(ours, theirs, rel=SINGLE):
    assert ours.feature.tolist() == [r.feature for r in theirs]
    helps = np.array([r.step != 0 for r in theirs])
    np.testing.assert_allclose(
        ours.cost[helps], np.array([r.cost for r in theirs])[helps], rtol=rel
    )
    np.testing.assert_allclose(ours.step, [r.step for r in theirs], rtol=30 * rel)
    np.testing.assert_allclose(ours.risk, [r.risk for r in theirs], rtol=rel)
    for table, r in zip(tables(ours), theirs, strict=True):
        np.testing.assert_allclose(table, r.table, rtol=30 * rel, atol=rel * np.abs(r.table).max())
    assert_equal_trees(ours, theirs)


def branches_of(trees, node, width):
    """Return the side of each code of the node's feature: 0 left, 1 right, -1 neither."""
    sets = [words[node].view(np.uint8) for words in (trees.goes_left, trees.goes_right)]
    left, right = (np.unpackbits(words, bitorder="little")[:width] for words in sets)
    assert not (left & right).any()
    return np.where(left, 0, np.where(right, 1, -1))


def assert_equal_trees(ours, theirs):
    """Compare node by node: feature, children, and the side of every code."""
    trees = ours.trees
    assert (trees is None) == all(r.tree is None for r in theirs)
    if trees is None:
        return
    for begin, r in zip(ours.offsets, theirs, strict=False):
        nodes = np.arange(len(r.tree.feature)) + begin
        assert trees.feature[nodes].tolist() == r.tree.feature
        assert trees.left[nodes].tolist() == r.tree.left
        for node, side in zip(nodes, r.tree.side, strict=True):
            np.testing.assert_array_equal(branches_of(trees, node, len(side)), side)


def assert_identical(a, b):
    for name in ("feature", "cost", "step", "risk", "offsets", "values"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert (a.trees is None) == (b.trees is None)
    for name in ("feature", "left", "goes_left", "goes_right", "weight", "saving"):
        if a.trees is not None:
            one, other = getattr(a.trees, name), getattr(b.trees, name)
            np.testing.assert_array_equal(one, other, err_msg=name)
