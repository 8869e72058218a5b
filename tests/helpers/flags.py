"""Rows of categories with additive effects, which look-up tables learn slowly."""

import numpy as np

SCORES = np.random.default_rng(7).normal(size=(6, 3))


def make_flags(n=300, n_classes=2, noise=0.3, seed=0, together=0.0):
    """Return rows of six categories and classes; equal first and second ones also count."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, SCORES.shape[1], (n, len(SCORES)))
    points = SCORES[np.arange(len(SCORES)), X].sum(axis=1) + noise * rng.logistic(size=n)
    points += together * ((X[:, 0] == X[:, 1]) - 0.5)
    return X, np.digitize(points, [0.0, 2.0][: n_classes - 1])
