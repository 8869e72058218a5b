"""Test contributions of trees against Shapley's formula."""

import importlib.util
import sys
from itertools import combinations
from math import factorial

import numpy as np
import pytest

import properboost as pb
from helpers.contributions import check_sum, fit
from properboost.data.frames import open_table
from properboost.inspection.tree_shap import ShapTree
from properboost.models.tree import LEAF, NEITHER, TreeNodes

pd = pytest.importorskip("pandas")
# importorskip would fail: shap warns while it is imported, and warnings are errors here.
needs_shap = pytest.mark.skipif(importlib.util.find_spec("shap") is None, reason="needs shap")


def predict(tree, values, codes, known, node=0):
    """Return the tree's prediction for a row of which only some features are known."""
    feature = tree.feature[node]
    if feature == LEAF:
        return values[node]
    children = [int(tree.left[node]), int(tree.left[node]) + 1]
    if feature in known:
        branch = tree.branches[node, codes[feature]]
        if branch == NEITHER:
            return values[node]
        return predict(tree, values, codes, known, children[branch])
    below = [predict(tree, values, codes, known, child) for child in children]
    return np.average(below, weights=tree.weight[children].sum(axis=1))


def shapley_values(tree, values, codes):
    """Return Shapley's values of one row, by the formula over all sets of features."""
    n = len(codes)
    added = np.zeros(n)
    for j in range(n):
        others = [k for k in range(n) if k != j]
        for size in range(n):
            share = factorial(size) * factorial(n - 1 - size) / factorial(n)
            for known in combinations(others, size):
                more = predict(tree, values, codes, {*known, j})
                added[j] += share * (more - predict(tree, values, codes, set(known)))
    return added


def interacting(n=1500):
    """Return numbers, counts and categories that interact, some missing, labels and weights."""
    rng = np.random.default_rng(0)
    number, count = rng.normal(size=n).round(1), rng.poisson(3, n)
    town, trade = rng.integers(0, 12, n), rng.integers(0, 6, n)
    raw = number * np.sin(town) + (trade % 3 - 1) * (count > 3) * number + np.cos(5 * town * trade)
    frame = pd.DataFrame(
        {
            "number": number,
            "count": count,
            "town": pd.Categorical(town.astype(str)),
            "trade": pd.Categorical(trade.astype(str)),
        }
    )
    frame.loc[rng.random(n) < 0.1, "number"] = np.nan
    frame.loc[rng.random(n) < 0.1, "town"] = None
    return frame, raw + 0.5 * rng.logistic(size=n) > 0, rng.integers(1, 4, n).astype(float)


def strangers(frame):
    """Return rows as in training, and rows with categories and gaps that training lacked."""
    rows = frame.iloc[:24].copy()
    for name, start in (("trade", 4), ("town", 8)):
        changed = rows[name].astype(object)
        changed.iloc[start : start + 8] = "unseen"
        rows[name] = changed.astype("category")
    rows["count"] = rows["count"].astype(float)
    rows.iloc[14:20, 1] = np.nan
    return rows


@needs_shap
@pytest.mark.parametrize(
    ("tree", "settings"),
    [
        (pb.Tree(max_leaf_nodes=12), {}),
        (pb.Tree(max_leaf_nodes=31), {"response": "newton", "learning_rate": 0.3}),
        (pb.Tree(max_leaf_nodes=12, subsample=0.5), {"monotonic_cst": {"number": 1}}),
        (pb.Tree(grow_policy="symmetric", max_depth=4), {}),
    ],
)
def test_of_trees_they_are_shapley_values(tree, settings):
    X, y, weight = interacting()
    model = fit(X, y, tree, weight, n_estimators=2, **settings)
    rows = strangers(X)
    contributions = model.contributions(rows)
    check_sum(contributions, model.decision_function(rows))
    rounds = model.ensemble_.models[0]
    codes = model.ensemble_.binning.encode(open_table(model, rows, reset=False), None, 1)
    expected = np.zeros(rows.shape)
    for t in range(len(rounds)):
        tree, values = rounds.tree(t), rounds.table(t)
        expected += [shapley_values(tree, values, row) for row in codes.T]
        ends = tree.native.find_nodes(codes)
        assert not tree.is_leaf[ends].all(), "no row ends at a split"
    np.testing.assert_allclose(contributions.values, expected, atol=1e-12 * abs(expected).max())


def make_tree(nodes):
    """Make a tree from (feature, left, codes that go left, codes that go right, weight)."""
    feature, left, goes_left, goes_right, weight = zip(*nodes, strict=True)
    sets = [
        np.array([[sum(1 << c for c in codes), 0, 0, 0] for codes in side], dtype=np.uint64)
        for side in (goes_left, goes_right)
    ]
    return TreeNodes(
        np.array(feature, dtype=np.int32),
        np.array(left, dtype=np.int64),
        *sets,
        np.array([[w / 4, 3 * w / 4] for w in weight]),
        np.zeros(len(feature)),
    )


LEAF_OF_WEIGHT = (LEAF, 0, (), ())


# Feature 0 is split into {0, 1, 2, 3} and {4, 5}. Below feature 1 it is split into {0, 1}, {2, 3}
# on one side and {0, 2}, {1, 3} on the other. No order of the codes makes all three sets
# neighbours.
CROSSING = [
    (0, 1, (0, 1, 2, 3), (4, 5), 30.0),
    (1, 3, (0,), (1,), 21.0),
    (*LEAF_OF_WEIGHT, 9.0),
    (0, 5, (0, 1), (2, 3), 8.0),
    (0, 7, (0, 2), (1, 3), 13.0),
    *((*LEAF_OF_WEIGHT, w) for w in (5.0, 3.0, 6.0, 7.0)),
]


@needs_shap
def test_sets_that_cross():
    tree = make_tree(CROSSING)
    values = np.array([0.5, 1.0, -2.0, 0.25, -0.5, 3.0, 1.0, -4.0, 2.0])
    codes = np.array([(c, d) for c in range(7) for d in range(3)], dtype=np.uint8).T
    added, mean = ShapTree(tree, values, [7, 3]).explain(codes)
    expected = [shapley_values(tree, values, row) for row in codes.T]
    np.testing.assert_allclose(added.T, expected, atol=1e-12)
    assert mean == pytest.approx(predict(tree, values, codes[:, 0], set()), abs=1e-12)


@needs_shap
def test_one_feature_gets_all_there_is():
    tree = make_tree([(0, 1, (0, 3), (1, 4), 4.0), *((*LEAF_OF_WEIGHT, w) for w in (1.0, 3.0))])
    codes = np.array([[0, 1, 2, 3, 4]], dtype=np.uint8)
    added, mean = ShapTree(tree, np.array([7.0, 1.0, 5.0]), [5]).explain(codes)
    assert mean == pytest.approx(4.0, abs=1e-12)
    np.testing.assert_allclose(added + mean, [[1.0, 5.0, 7.0, 1.0, 5.0]], atol=1e-12)


@needs_shap
@pytest.mark.parametrize("weights", [(0.0, 0.0), (0.0, 2.0), (2.0, 0.0), (1e-200, 1e200)])
def test_sides_without_weight(weights):
    """Files may hold such trees, and shap divides by these weights."""
    nodes = [list(node) for node in CROSSING]
    nodes[5][-1], nodes[6][-1] = weights
    values = np.arange(9.0)
    codes = np.array([(c, d) for c in range(7) for d in range(3)], dtype=np.uint8).T
    tree = make_tree(nodes)
    added, mean = ShapTree(tree, values, [7, 3]).explain(codes)
    assert np.isfinite(added).all()
    ends = tree.native.find_nodes(codes)
    np.testing.assert_allclose(added.sum(axis=0) + mean, values[ends], atol=1e-12)


@needs_shap
def test_trees_stay_small_where_categories_are_many():
    """Copies of a branch for every run of codes would make thousands of nodes."""
    X, y, _ = interacting()
    model = fit(X, y, pb.Tree(max_leaf_nodes=31))
    rounds = model.ensemble_.models[0]
    widths = [feature.width for feature in model.ensemble_.binning.features]
    for t in range(len(rounds)):
        tree = rounds.tree(t)
        # The ratio is at most 4.1, 2 of it for leaves of codes that go to neither side.
        assert len(ShapTree(tree, rounds.table(t), widths)) < 8 * len(tree.feature)


def test_trees_without_shap(iris, monkeypatch):
    X, y = iris
    model = fit(X, y, "tree", n_estimators=1)
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ImportError, match=r"need shap: pip install 'properboost\[explain\]'"):
        model.contributions(X, 0)
