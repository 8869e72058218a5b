"""Invalid trees, and savings without bounds."""

import numpy as np
import pytest

from properboost import _core
from properboost.models.tree import TreeNodes, as_shares


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


def test_infinite_savings_are_shared():
    """A warning from numpy would be an error here."""
    feature = np.array([2, -1, 0, -1, 1, -1, -1], np.int32)
    saving = np.array([np.inf, 0.0, 1.0, 0.0, np.inf, 0.0, np.nan])
    sets, weight = np.zeros((7, 4), np.uint64), np.ones((7, 2))
    tree = TreeNodes(feature, np.arange(7), sets, sets, weight, saving)
    shares = as_shares(tree.savings(3, tree.largest_saving))
    np.testing.assert_allclose(shares, [0.0, 0.5, 0.5], atol=1e-300)
    assert as_shares(TreeNodes.without_nodes().savings(3, 0.0)).tolist() == [0.0] * 3
