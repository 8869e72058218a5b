"""Trees in words, and trees that are none."""

import numpy as np
import pytest

import properboost as pb
from properboost import _core
from properboost.boosting.tree import Tree, as_shares

pd = pytest.importorskip("pandas")


def test_trees_that_are_none_are_refused():
    codes = np.zeros((1, 3), dtype=np.uint8)
    sets = np.zeros((1, 4), dtype=np.uint64)
    leaf = _core.Tree(np.array([-1], np.int32), np.array([0]), sets, sets)
    assert leaf.find_nodes(codes).tolist() == [0, 0, 0]
    for feature, left in ((0, 0), (0, 1), (0, 2**63 - 1), (-2, 1)):
        with pytest.raises(ValueError, match="children follow parents"):
            _core.Tree(np.array([feature], np.int32), np.array([left]), sets, sets)
    wide = _core.Tree(
        np.array([1, -1, -1], np.int32), np.array([1, 0, 0]), *[np.zeros((3, 4), np.uint64)] * 2
    )
    with pytest.raises(ValueError, match="more features"):
        wide.find_nodes(codes)


def test_description(mixed):
    frame, y, _ = mixed
    model = pb.UDTClassifier(max_leaf_nodes=6, min_child_weight=20).fit(frame, y)
    words = model.describe().splitlines()
    assert sum("P(yes) = " in line for line in words) == model.n_leaves_
    assert len(words) == len(model.tree_.feature) - 1 + model.n_leaves_
    assert any("age" in line for line in words)
    alone = pb.UDTClassifier().fit(np.zeros((4, 1)), [0, 1, 1, 1])
    assert alone.describe() == "P(1) = 0.75, weight 4"


def test_words_of_every_kind_of_split():
    n = 40
    frame = pd.DataFrame({"x": [0.0] * n + [2.0] * n + [np.nan] * n})
    low = pb.UDTClassifier().fit(frame[: 2 * n], np.repeat([0, 1], n)).describe()
    assert low.splitlines()[::2] == ["x <= 1", "1 < x"]
    with_missing = pb.UDTClassifier().fit(frame, np.repeat([0, 1, 1], n)).describe()
    assert with_missing.splitlines()[::2] == ["x <= 1", "1 < x, or missing"]
    apart = pb.UDTClassifier(max_leaf_nodes=2).fit(frame, np.repeat([0, 0, 1], n)).describe()
    assert apart.splitlines()[::2] == ["x is not missing", "x is missing"]
    frame = pd.DataFrame({"town": pd.Categorical(list("ABC") * n)})
    of_towns = pb.UDTClassifier(max_leaf_nodes=2).fit(frame, np.array([0, 1, 1] * n)).describe()
    assert of_towns.splitlines()[::2] == ["town in {'A'}", "town in {'B', 'C'}"]
    frame = pd.DataFrame({"town": pd.Categorical(["A", "B", None] * n)})
    apart = pb.UDTClassifier(max_leaf_nodes=2).fit(frame, np.array([0, 0, 1] * n)).describe()
    assert apart.splitlines()[::2] == ["town in {'A', 'B'}", "town is missing"]


def test_infinite_savings_are_shared():
    """A warning of numpy's would be an error here."""
    feature = np.array([2, -1, 0, -1, 1, -1, -1], np.int32)
    saving = np.array([np.inf, 0.0, 1.0, 0.0, np.inf, 0.0, np.nan])
    sets, weight = np.zeros((7, 4), np.uint64), np.ones((7, 2))
    tree = Tree(feature, np.arange(7), sets, sets, weight, saving)
    shares = as_shares(tree.savings(3, tree.largest_saving))
    np.testing.assert_allclose(shares, [0.0, 0.5, 0.5], atol=1e-300)
    assert as_shares(Tree.without_nodes().savings(3, 0.0)).tolist() == [0.0] * 3
