"""Shapley values of trees over codes, by the `shap` library.

shap's trees compare a number with a threshold; ours test which of two sets has a code.  So every
split becomes a chain of thresholds, over numbers that stand for codes and keep chains short.
Three facts make that exact:

- The Shapley values of a tree are sums over its leaves, and each leaf depends only on the splits on
  the way to it.  So where no earlier split uses a feature, the feature may have other numbers, in
  another column.
- A chain that returns to a branch has another copy of the nodes below.  However the branch's weight
  is divided among its copies, they add up to the same: a row with a known code ends in one of them;
  a row with an unknown code ends in all of them, by weight.
- Where training had no rows shap would divide by 0, so these nodes get a tiny weight.
"""

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.entries import find_entries
from properboost.extras import import_extra
from properboost.models.tree import LEAF, LEFT, NEITHER, RIGHT, TreeNodes

__all__ = ["ShapTree", "explain_tree", "import_shap"]

ROWS = 2**13
"""Rows that shap explains at a time."""

_DIGITS = 31
"""Branches, of two bits each, that one integer holds."""

_LEAST = 2.0**-900
"""Weight of a node without rows, relative to the root's: too small to change a sum."""


def import_shap() -> Any:
    """Import shap, or raise an error that names the package to install."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # shap's import warns
        return import_extra("shap", "contributions to a model of trees need", "explain")


@dataclass(frozen=True, eq=False)
class _Numbering:
    """One column of numbers that stand for the codes of one feature, for splits one below another.

    Codes that these splits never separate have the same number.
    """

    feature: int
    number: NDArray[np.intp]  # of each code
    branches: dict[int, list[int]]  # of each number, at each of the splits


@dataclass(eq=False)
class _Nodes:
    """The nodes of shap's tree, children before parents."""

    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    column: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    weight: list[float] = field(default_factory=list)

    def add_leaf(self, value: float, weight: float) -> int:
        """Add a leaf and return its number."""
        return self._add(-1, -1, -1, 0.0, value, weight)

    def add_split(self, column: int, threshold: float, left: int, right: int) -> int:
        """Add a split above two nodes and return its number."""
        weight = self.weight[left] + self.weight[right]
        return self._add(left, right, column, threshold, 0.0, weight)

    def _add(
        self, left: int, right: int, column: int, threshold: float, value: float, weight: float
    ) -> int:
        self.left.append(left)
        self.right.append(right)
        self.column.append(column)
        self.threshold.append(threshold)
        self.value.append(value)
        self.weight.append(max(weight, _LEAST))
        return len(self.value) - 1

    def as_model(self) -> dict[str, list[dict[str, NDArray[np.generic]]]]:
        """Return the argument of `shap.TreeExplainer`, with the root first; here it is last."""
        last = len(self.value) - 1
        left, right = (
            np.array([last - k if k >= 0 else -1 for k in reversed(children)], dtype=np.int32)
            for children in (self.left, self.right)
        )
        tree: dict[str, NDArray[np.generic]] = {
            "children_left": left,
            "children_right": right,
            "children_default": left,  # where missing numbers would go
            "features": np.array(self.column[::-1], dtype=np.int32),
            "thresholds": np.array(self.threshold[::-1]),
            "values": np.array(self.value[::-1])[
                :, np.newaxis
            ],  # shap computes those of splits itself
            "node_sample_weight": np.array(self.weight[::-1]),
        }
        return {"trees": [tree]}


class ShapTree:
    """One of our trees in the form of shap.

    Parameters
    ----------
    tree : TreeNodes
        The tree.
    values : ndarray of shape (n_nodes,)
        The predictions of its nodes.
    widths : sequence of int
        The number of codes of each feature.
    """

    def __init__(self, tree: TreeNodes, values: NDArray[np.float64], widths: Sequence[int]) -> None:
        self._tree = tree
        self._values = values
        self._share = _share_left(tree)
        self._column_of, self._columns = _number_codes(tree, widths)
        self._nodes = _Nodes()
        self._grow(0, 1.0, {})

    def __len__(self) -> int:
        return len(self._nodes.value)

    def explain(self, codes: NDArray[np.uint8]) -> tuple[NDArray[np.float64], float]:
        """Explain rows by their codes (n_features, n_rows).

        Returns
        -------
        values : ndarray of shape (n_features, n_rows)
            The contribution of each feature to the tree's prediction.
        mean : float
            The prediction without contributions.
        """
        values = np.zeros(codes.shape)
        if not self._columns:
            return values, float(self._values[0])
        explainer = import_shap().TreeExplainer(
            self._nodes.as_model(), feature_perturbation="tree_path_dependent"
        )
        for begin in range(0, codes.shape[1], ROWS):  # Ctrl-C takes effect between calls of shap
            rows = slice(begin, begin + ROWS)
            numbers = [find_entries(c.number, codes[c.feature, rows]) for c in self._columns]
            table = np.stack(numbers, axis=1).astype(np.float64)
            added = explainer.shap_values(table, check_additivity=False)
            for k, column in enumerate(self._columns):
                values[column.feature, rows] += added[:, k]
        return values, np.asarray(explainer.expected_value).item()

    def _grow(self, node: int, weight: float, spans: dict[int, tuple[int, int]]) -> int:
        """Add a node and the nodes below; `spans` bounds the numbers that reach it, by column."""
        value = float(self._values[node])
        if self._tree.feature[node] == LEAF:
            return self._nodes.add_leaf(value, weight)
        column = int(self._column_of[node])
        branches = self._columns[column].branches[node]
        low, high = spans.get(column, (0, len(branches)))
        runs = _find_runs(branches[low:high], low)
        # A branch that no row of this copy takes is still taken by rows of unknown code.
        runs += [
            (high, high, branch) for branch in (LEFT, RIGHT) if all(b != branch for *_, b in runs)
        ]
        shares = {LEFT: self._share[node], RIGHT: 1.0 - self._share[node], NEITHER: 0.0}
        copies = Counter(branch for *_, branch in runs)
        below = []
        for begin, end, branch in runs:
            part = weight * shares[branch] / copies[branch]
            if branch == NEITHER:
                below.append(self._nodes.add_leaf(value, part))
            else:
                child = int(self._tree.left[node]) + (branch == RIGHT)
                below.append(self._grow(child, part, spans | {column: (begin, end)}))
        link = below[-1]
        for (_, end, _), child in zip(runs[-2::-1], below[-2::-1], strict=True):
            link = self._nodes.add_split(column, end - 0.5, child, link)
        return link


def explain_tree(
    tree: TreeNodes, values: NDArray[np.float64], widths: Sequence[int], codes: NDArray[np.uint8]
) -> tuple[NDArray[np.float64], float]:
    """Return features' contributions to rows of these codes, (n_features, n_rows), and the mean.

    The tree's nodes predict `values`; `widths` has the number of codes of each feature.
    """
    return ShapTree(tree, values, widths).explain(codes)


def _share_left(tree: TreeNodes) -> NDArray[np.float64]:
    """Return the share of each split's weight that goes left, half where there is none."""
    weight = tree.weight.sum(axis=1)
    splits = np.flatnonzero(~tree.is_leaf)
    left = weight[tree.left[splits]]
    both = left + weight[tree.left[splits] + 1]
    share = np.full(len(weight), 0.5)
    share[splits] = np.divide(left, both, out=share[splits], where=both > 0.0)
    return share


def _number_codes(
    tree: TreeNodes, widths: Sequence[int]
) -> tuple[NDArray[np.intp], tuple[_Numbering, ...]]:
    """Return the column of every split, and the columns."""
    column_of = np.full(len(tree.feature), -1, dtype=np.intp)
    splits: list[list[int]] = []  # of each column
    above: list[dict[int, int]] = [{}] * len(column_of)  # the columns of the features split before
    for node in np.flatnonzero(~tree.is_leaf).tolist():  # parents come before their children
        known, feature = above[node], int(tree.feature[node])
        if feature not in known:
            known = known | {feature: len(splits)}
            splits.append([])
        column_of[node] = known[feature]
        splits[known[feature]].append(node)
        left = int(tree.left[node])
        above[left] = above[left + 1] = known
    branches = tree.branches
    columns = []
    for nodes in splits:
        feature = int(tree.feature[nodes[0]])
        # Sorted by the branches that the codes take at the first split, then the next, ...: so a
        # later split cannot divide a branch of the first.
        kinds, number = _sort_codes(branches[nodes, : widths[feature]])
        columns.append(_Numbering(feature, number, dict(zip(nodes, kinds.tolist(), strict=True))))
    return column_of, tuple(columns)


def _sort_codes(branches: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    """Return the distinct columns in ascending order, and each column's place among them."""
    if len(branches) > _DIGITS:
        kinds, number = np.unique(branches, axis=1, return_inverse=True)
        return kinds, number.reshape(-1)
    # Sorting one number per column is many times faster.
    keys = (1 << 2 * np.arange(len(branches) - 1, -1, -1)) @ branches.astype(np.int64)
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return branches[:, first], number


def _find_runs(branches: Sequence[int], low: int) -> list[tuple[int, int, int]]:
    """Return where equal branches begin and end, counted from `low`, and the branches."""
    if not branches:
        return []
    # Lists are faster than arrays here: calls are many, and lists short.
    inner = [k for k in range(1, len(branches)) if branches[k] != branches[k - 1]]
    return [(low + a, low + b, branches[a]) for a, b in pairwise([0, *inner, len(branches)])]
