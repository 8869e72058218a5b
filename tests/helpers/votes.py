"""Rows of several classes for models of votes."""

import numpy as np
import pytest

import properboost as pb

pd = pytest.importorskip("pandas")


AR = pb.ARBoostClassifier


def make_rows(n_classes, n=400, d=5, n_values=30, seed=0):
    """Return columns with a bin per value, so that both sides split alike, and noisy labels."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (n, d)) + rng.random(d)
    score = X[:, 0] + X[:, 1] - X[:, 2] + 8 * rng.standard_normal(n)
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    return X, y


def mixed_table(n_classes):
    X, y = make_rows(n_classes, n=300)
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    table.loc[::7, "x0"] = np.nan
    table["town"] = pd.Categorical(np.array(["a", "b", "c", "d"])[(X[:, 3] // 8).astype(int) % 4])
    return table, np.array(["no", "perhaps", "yes", "always"])[y]


KINDS = [
    (AR(1.5, n_estimators=6), 2),
    (AR(1.5, n_estimators=6), 3),
    (AR(2.0, n_estimators=6, weak_learner="tree", max_leaf_nodes=5), 2),
    (AR(2.0, n_estimators=6, weak_learner="tree", max_leaf_nodes=5), 4),
    (AR(n_estimators=6, weak_learner="table", criterion="error"), 3),
    (pb.AdaBoostMH(n_estimators=6, weak_learner="tree", max_leaf_nodes=4), 3),
    (pb.WeightBoost(0.7, n_estimators=6), 2),
    (pb.WeightBoost(0.7, n_estimators=6, weak_learner="tree"), 2),
    (pb.AdaBoostReg(0.1, n_estimators=6), 2),
]
