"""Helpers for tests of solved steps: models, their features, and edges of these."""

from functools import cache

import numpy as np
import pytest

import properboost as pb

pd = pytest.importorskip("pandas")

LEARNERS = {
    "stump": pb.Stump(),
    "table": pb.Table(max_cells=None, smoothing=0.0),
    "rule": pb.Rule(max_conditions=2, min_child_weight=0.1),
    "tree": pb.Tree(max_leaf_nodes=4, min_child_weight=0.1),
}
LOSSES = {
    "glog": pb.losses.GLog(),
    "gboost": pb.losses.GBoost(gain=0.5),
    "gboost, small gain": pb.losses.GBoost(gain=0.005),
    "ggauss": pb.losses.GGauss(gain=3.0),
    "glaplacian": pb.losses.GLaplacian(),
    "exponential": pb.losses.Exponential(),  # convex, but not canonical
}
MU = 0.7


@cache
def noisy(seed=0, n=400, n_classes=2):
    """Return numbers, categories and gaps that do not separate the classes, and weights."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 6, (n, 4)).astype(float), columns=list("abcd"))
    frame["town"] = pd.Categorical(rng.choice(["Bonn", "Kiel", "Ulm"], n))
    raw = 0.5 * frame["a"] - (frame["b"] > 3) + (frame["town"] == "Ulm") * (frame["c"] > 1)
    raw = (raw + 1.3 * rng.logistic(size=n)).to_numpy()
    y = np.searchsorted(np.quantile(raw, np.arange(1, n_classes) / n_classes), raw)
    frame.loc[rng.random(n) < 0.1, "a"] = np.nan
    return frame, y, rng.integers(1, 4, n).astype(float)


def features_of(model, X, m=0):
    """Return what each round of one model adds to each row before its step."""
    rounds, ensemble = model.ensemble_.models[m], model.ensemble_
    codes = ensemble.encode(model._open(X)[0], 1)
    tables = np.split(rounds.values, rounds.offsets[1:-1])
    return np.stack(
        [table[rounds.find_codes(t, codes, 1)] for t, table in enumerate(tables)], axis=1
    )


def edges(loss, H, margin, y, s):
    """Return the edge of each feature under the weights at these margins (eq. 42).

    The edge of a round that moved nothing is 0.
    """
    w = s * loss.weight(margin)
    largest = np.abs(H).max(axis=0)
    return (w * y) @ H / (w.sum() * np.where(largest > 0.0, largest, 1.0))


def sides(y):
    return np.where(y == 1, 1.0, -1.0)


def fit(step, loss="glog", learner="stump", n=8, data=None, **settings):
    X, y, s = noisy() if data is None else data
    settings = {"selection": "greedy", "response": "sign", **settings}
    model = pb.ProperBoostClassifier(
        LOSSES[loss], weak_learner=LEARNERS[learner], step=step, n_estimators=n, n_jobs=1,
        rows_per_bin=None, **settings,
    )  # fmt: skip
    return model.fit(X, y, s)
