"""Trees over codes: the branches, weights and savings of their nodes."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.cached import cached_property

__all__ = ["LEAF", "LEFT", "MOST_NODES", "NEITHER", "RIGHT", "TreeNodes", "as_shares", "pack_codes"]

LEAF = -1
"""The feature of a node that has none."""

MOST_NODES = 255
"""The most nodes of a tree: a row's node is a byte."""

LEFT, RIGHT, NEITHER = 0, 1, 2
"""The branches of a split."""


@dataclass(frozen=True, eq=False)
class TreeNodes:
    """The nodes of a tree that splits features into two sets of codes; node 0 is the root.

    The arrays may have several trees, one after the other, which `part` takes apart: children are
    counted from the root of their own tree.

    Node `k` splits ``feature[k]`` (-1: it is a leaf) into the codes that go to node ``left[k]`` and
    those that go to the next one.  A row with another code, which no training row had, stays at
    `k`.  The sets are bits: code `c` is bit ``c % 64`` of word ``c // 64``.  The training weight
    of the two classes is ``weight[k]``, and the split's saving ``saving[k]``.
    """

    feature: NDArray[np.int32]
    left: NDArray[np.int64]
    goes_left: NDArray[np.uint64]
    goes_right: NDArray[np.uint64]
    weight: NDArray[np.float64]
    saving: NDArray[np.float64]

    @classmethod
    def from_native(cls, tree: _core.Tree) -> "TreeNodes":
        """Convert the engine's tree."""
        return cls(**{f.name: getattr(tree, f.name) for f in fields(cls)})

    @classmethod
    def without_nodes(cls) -> "TreeNodes":
        """Return the nodes of a model that learnt nothing: none."""
        sets = np.empty((0, 4), dtype=np.uint64)
        numbers, none = np.empty(0, dtype=np.int64), np.empty(0)
        return cls(numbers.astype(np.int32), numbers, sets, sets, np.empty((0, 2)), none)

    @classmethod
    def join(cls, trees: Sequence["TreeNodes"]) -> "TreeNodes":
        """Return the nodes of several trees, one after the other."""
        parts = [cls.without_nodes(), *trees]
        return cls(
            **{f.name: np.concatenate([getattr(t, f.name) for t in parts]) for f in fields(cls)}
        )

    def take(self, nodes: NDArray[np.int64]) -> "TreeNodes":
        """Return nodes in another order; those of one tree stay together."""
        return TreeNodes(**{f.name: getattr(self, f.name)[nodes] for f in fields(self)})

    def part(self, begin: int, end: int) -> "TreeNodes":
        """Return the nodes from `begin` to `end`."""
        return TreeNodes(**{f.name: getattr(self, f.name)[begin:end] for f in fields(self)})

    def without_savings(self) -> "TreeNodes":
        """Return the same nodes with savings of NaN, which stands for unknown."""
        return replace(self, saving=np.full(len(self.saving), np.nan))

    def shares(self) -> NDArray[np.float64]:
        """Return the share of each class in the training weight of each node."""
        shares: NDArray[np.float64] = self.weight / self.weight.sum(axis=1, keepdims=True)
        return shares

    @property
    def has_savings(self) -> bool:
        """Whether the savings of the splits are known."""
        return not np.isnan(self.saving).any()

    def cut(
        self, feature: int, offsets: NDArray[np.int64]
    ) -> tuple["TreeNodes", NDArray[np.int64]]:
        """Return trees whose splits of a feature are leaves, and where each node was before.

        The tree of round `t` is ``offsets[t]`` to ``offsets[t + 1]``, and keeps its root.
        """
        is_cut = self.feature == feature
        root = np.repeat(offsets[:-1], np.diff(offsets))
        nodes = np.flatnonzero(~self._find_beneath(is_cut, root))
        place = np.zeros(len(root), dtype=np.int64)
        place[nodes] = np.arange(len(nodes))
        is_leaf = self.is_leaf | is_cut
        left = np.where(is_leaf, 0, place[np.where(is_leaf, 0, root + self.left)] - place[root])
        no_code = np.uint64(0)
        trees = replace(
            self,
            feature=np.where(is_leaf, LEAF, self.feature).astype(np.int32),
            left=left,
            goes_left=np.where(is_leaf[:, None], no_code, self.goes_left),
            goes_right=np.where(is_leaf[:, None], no_code, self.goes_right),
        )
        return trees.take(nodes).without_savings(), nodes

    def _find_beneath(
        self, is_cut: NDArray[np.bool_], root: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return whether each node is beneath one of those that are cut."""
        splits = np.flatnonzero(~self.is_leaf)
        left = (root + self.left)[splits]
        beneath, n_before = np.zeros(len(root), dtype=bool), -1
        while (n_beneath := int(beneath.sum())) > n_before:
            n_before, is_above = n_beneath, (is_cut | beneath)[splits]
            beneath[left[is_above]] = True
            beneath[left[is_above] + 1] = True
        return beneath

    def find_codes(self, feature: int, offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether rows of each code of a feature come to each node, (n_nodes, 256).

        The tree of round `t` is ``offsets[t]`` to ``offsets[t + 1]``.
        """
        comes = np.zeros((len(self.feature), 256), dtype=bool)
        comes[offsets[:-1]] = True
        left = np.repeat(offsets[:-1], np.diff(offsets)) + self.left
        nodes = offsets[:-1][~self.is_leaf[offsets[:-1]]]
        while len(nodes):
            is_free = self.feature[nodes] != feature
            branches = self.take(nodes).branches
            for child, branch in ((0, LEFT), (1, RIGHT)):
                comes[left[nodes] + child] = comes[nodes] & (
                    is_free[:, None] | (branches == branch)
                )
            below = np.concatenate([left[nodes], left[nodes] + 1])
            nodes = below[~self.is_leaf[below]]
        return comes

    @cached_property
    def native(self) -> _core.Tree:
        """The engine's tree."""
        return _core.Tree(self.feature, self.left, self.goes_left, self.goes_right)

    def __getstate__(self) -> dict[str, NDArray[np.generic]]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether each node has no children."""
        leaves: NDArray[np.bool_] = self.feature == LEAF
        return leaves

    @property
    def depth(self) -> int:
        """The number of splits from the root to the farthest leaf."""
        depth = np.zeros(len(self.feature), dtype=np.int64)
        for k in np.flatnonzero(~self.is_leaf):  # parents come before their children
            depth[self.left[k] : self.left[k] + 2] = depth[k] + 1
        return int(depth.max())

    def count_splits(self) -> int:
        """Return the number of different splits of all trees, wherever they are on a path."""
        splits = ~self.is_leaf
        features = self.feature[splits].astype(np.uint64)
        return len(np.unique(np.column_stack([features, self.goes_left[splits]]), axis=0))

    @property
    def branches(self) -> NDArray[np.uint8]:
        """The branch that each of 256 codes takes at each node."""
        codes = np.arange(256)
        word, bit = codes // 64, (codes % 64).astype(np.uint64)
        left, right = (s[:, word] >> bit & np.uint64(1) for s in (self.goes_left, self.goes_right))
        branches: NDArray[np.uint8] = np.where(left, LEFT, np.where(right, RIGHT, NEITHER))
        return branches.astype(np.uint8)

    @property
    def largest_saving(self) -> float:
        """The largest saving, infinite ones being as large as the largest float; or 0."""
        return float(np.nan_to_num(self.saving).max(initial=0.0))

    def savings(self, n_features: int, unit: float) -> NDArray[np.float64]:
        """Return the sum of each feature's savings, divided by `unit` unless that is 0.

        With the `largest_saving` as the unit no sum is infinite.
        """
        splits = ~self.is_leaf
        saved = np.zeros(n_features)
        np.add.at(saved, self.feature[splits], np.nan_to_num(self.saving[splits]) / (unit or 1.0))
        return saved


def pack_codes(is_in: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return the codes for which this holds as bits, as in `TreeNodes`."""
    padded = np.zeros(256, dtype=bool)
    padded[: len(is_in)] = is_in
    return np.packbits(padded, bitorder="little").view(np.uint64)


def as_shares(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `values` divided by their sum, if that is not 0."""
    total = values.sum()
    return values / total if total > 0.0 else values
