"""Models of trees that public classes fit, and rows for them."""

import numpy as np

import properboost as pb


def noisy(n=300, d=5, seed=0):
    """Numbers, labels that depend on a product of two, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] * X[:, 1 % d] + X[:, 2 % d] + rng.logistic(size=n) > 0


def fit_tree(X, y, weight=None, **settings):
    settings = {
        "weak_learner": "tree", "n_estimators": 5, "max_leaf_nodes": 6, "max_features": 1.0,
        "selection": "greedy", **settings,
    }  # fmt: skip
    return pb.ProperBoostClassifier(**settings).fit(X, y, weight)


def held_by_nodes(theirs, y, weight):
    """The weight of the rows that each node was grown from, by class."""
    return [
        [weight[rows & (y < 0)].sum(), weight[rows & (y > 0)].sum()]
        for r in theirs
        for rows in r.tree.rows
    ]
