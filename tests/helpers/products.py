"""Rows whose class depends on products of features."""

import numpy as np


def make_rows(n=300, seed=0):
    """Return rows whose class depends on a product."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    logit = 2.0 * X[:, 0] * X[:, 1] + X[:, 2]
    return X, (random.random(n) < 1.0 / (1.0 + np.exp(-logit))).astype(int)


def make_interactions(n=3000, seed=0):
    """Return two effects of one feature and two of pairs, the stronger of columns 1 and 4."""
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, (n, 6))
    F = X[:, 0] + 3 * X[:, 1] * X[:, 4] + 0.7 * np.sign(X[:, 2]) * np.sign(X[:, 5])
    return X, np.where(random.random(n) < 1 / (1 + np.exp(-2 * F)), "yes", "no")
