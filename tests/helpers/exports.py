"""Models of every kind for tests of exports, and the rows that are hardest to reproduce."""

from dataclasses import replace

import numpy as np
import pandas as pd

import properboost as pb
from properboost.models.threshold_moves import LEAST_GAP

CATEGORIES = ["it's", '"q"', "a\\b", ";--", "é", "  sp ", "A", "a", "NULL", "'); DROP TABLE t"]
NAMES = ['a"b', "c'; --", "select", "x0", "town", "size", "label"]

MODELS = {
    "tables": {"weak_learner": "table"},
    "pairs": {"weak_learner": "table", "interactions": 3},
    "bags": {"weak_learner": "table", "outer_bags": 4},
    "trees": {"weak_learner": pb.Tree(max_leaf_nodes=8)},
    "symmetric": {"weak_learner": pb.Tree(grow_policy="symmetric", max_depth=3)},
    "lines": {"weak_learner": pb.Tree(linear_leaves=True, max_leaf_nodes=4)},
    "rules": {"weak_learner": "rule"},
}


def make_rows(n_classes, n_rows=240):
    """Return rows with missing and infinite values, and labels."""
    rng = np.random.default_rng(n_classes)
    X = rng.standard_normal((n_rows, 4))
    X[:, 1] = X[:, 1].round(1)
    known = np.nan_to_num(X[:, 1] * X[:, 3] + X[:, 2])
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:6, 0] = [np.inf, -np.inf, 1e300, -1e300, 0.0, -0.0]
    y = np.digitize(known, np.quantile(known, np.arange(1, n_classes) / n_classes))
    return X, y


def find_edge_rows(model, X):
    """Return rows whose values are the model's bin edges and their neighbours."""
    rows = [X]
    for j, bins in enumerate(model._describe_training()[0]):
        for edge in getattr(bins, "edges", [])[:5]:
            near = np.repeat(X[:1], 3, axis=0)
            near[:, j] = np.nextafter(edge, -np.inf), edge, np.nextafter(edge, np.inf)
            rows.append(near)
    return np.concatenate(rows)


def make_frame(n_rows=300):
    """Return rows to fit, labels, and rows to predict with unseen categories."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.standard_normal(n_rows) for name in NAMES[:4]})
    table["town"] = pd.Categorical(rng.choice(CATEGORIES, n_rows), categories=CATEGORIES)
    table["size"] = pd.Categorical(rng.choice([1.0, 2.0, 3.5, -0.0, np.inf], n_rows))
    table["label"] = rng.random(n_rows) > 0.5
    positive = table["town"].isin(CATEGORIES[:5]) + table.iloc[:, 1] > 0.5
    y = np.array(["no'n", "ja"])[positive.astype(int)]
    table.iloc[::7, 0] = np.nan
    table.iloc[::5, 4] = None
    table.iloc[::6, 5] = None
    new = table.astype({"town": object, "size": float})
    new.iloc[:20, 4] = "unseen"
    new.iloc[20:40, 5] = 2.5
    return table, y, new


def fit(n_classes=2, **parameters):
    """Fit a model of few rounds; return it, and rows to predict."""
    X, y = make_rows(n_classes)
    model = pb.ProperBoostClassifier(**{"n_estimators": 8, **parameters}).fit(X, y)
    return model, find_edge_rows(model, X)


def fit_ordered(n_classes, *, named=False, moving=False, **parameters):
    """Fit ordered classes, whose order is not that of the labels if they have names.

    `moving` is whether features move the thresholds, some so far that moves are made shorter.
    """
    X, y = make_rows(n_classes)
    classes = None
    if named:
        classes = ["poor", "it's fair", "good", "excellent"][:n_classes]
        y = np.array(classes)[y]
    inner = pb.ProperBoostClassifier(**{"n_estimators": 8, **parameters})
    model = pb.OrderedClassifier(inner, classes, moving_thresholds=moving).fit(X, y)
    if moving:
        tables = tuple(100.0 * table for table in model._moves.tables)
        model._moves = replace(model._moves, tables=tables)
        gaps = np.diff(model.row_thresholds(X), axis=1) / np.diff(model.thresholds_)
        assert np.isclose(gaps.min(axis=1), LEAST_GAP).any()
        assert gaps.max() > 1.0
    return model, find_edge_rows(model.estimator_, X)


def find_raw(model, X):
    """Return raw predictions; those of ordered classes are of the model of F."""
    return getattr(model, "estimator_", model).decision_function(X)


def fit_merged_lines(n_classes):
    """Return a model that was merged of models with lines and look-up tables, and rows."""
    X, y = make_rows(n_classes, 480)
    tree = pb.Tree(grow_policy="symmetric", interaction_cst=3, linear_leaves=True)
    parts = [
        pb.ProperBoostClassifier(n_estimators=6, weak_learner=learner).fit(X[k::3], y[k::3])
        for k, learner in enumerate([tree, "table", tree])
    ]
    merged = pb.merge_models(parts, [2.0, 1.0, 3.0])
    return merged, find_edge_rows(merged, X)


def fit_edited_trees():
    """Return a model of trees that was edited by hand, and rows with unseen categories."""
    table, y, new = make_frame()
    model = pb.ProperBoostClassifier(n_estimators=8, weak_learner=pb.Tree(interaction_cst=3))
    model.fit(table, y)
    n_towns = len(model.shape_function("town").values)
    model.set_shape_function("town", np.linspace(-1.0, 1.0, n_towns), missing_value=0.3)
    return model.remove_feature(NAMES[0]), new
