"""Models of trees and of rules that public classes fit, and rows for them."""

import numpy as np

import properboost as pb
from properboost.parameters.declare import declared


def noisy(n=300, d=5, seed=0):
    """Return numbers, noise among them, and labels that depend on a product of two."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] * X[:, 1 % d] + X[:, 2 % d] + rng.logistic(size=n) > 0


def fit_tree(X, y, weight=None, **settings):
    """Fit a model of trees; settings may be fields of `pb.Tree`."""
    defaults = {
        "n_estimators": 5, "max_leaf_nodes": 6, "max_features": 1.0, "selection": "greedy",
    }  # fmt: skip
    if settings.get("grow_policy") == "symmetric":
        del defaults["max_leaf_nodes"]
    return _make(pb.Tree, defaults | settings).fit(X, y, weight)


def make_rules(**settings):
    """Return a classifier of rules; settings may be fields of `pb.Rule`."""
    defaults = {
        "gain": 1.0, "min_child_weight": 0.0, "rows_per_bin": None, "max_features": 1.0,
        "selection": "greedy", "calibration": None,
    }  # fmt: skip
    return _make(pb.Rule, defaults | settings)


def _make(learner, settings):
    fields = {name: settings.pop(name) for name in declared(learner) if name in settings}
    return pb.ProperBoostClassifier(weak_learner=learner(**fields)).set_params(**settings)


def weights_by_node(theirs, y, weight):
    """Return the weights, by class, of the rows that each node was grown from."""
    return [
        [weight[rows & (y < 0)].sum(), weight[rows & (y > 0)].sum()]
        for r in theirs
        for rows in r.tree.rows
    ]
