"""Tables over the codes of one or two features, as trees.

So whatever reads trees reads what a user's edits add to them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import FeatureBins, NumericBins
from properboost.models.term_grid import LevelOfCode
from properboost.models.tree import LEAF, MOST_NODES, TreeNodes, pack_codes

__all__ = ["TableAxis", "make_table_trees"]

Array = NDArray[np.float64]
Block: TypeAlias = tuple[slice, ...]
"""Levels of each axis that are side by side."""


@dataclass(frozen=True, eq=False)
class TableAxis:
    """A feature of a table, the level of each of its codes, and their training weights.

    A tree splits the codes by the order of their levels.  Unseen categories, of code `unseen`, take
    neither branch of a split, as in a tree that has learnt; a feature of numbers has none.
    """

    feature: int
    level: LevelOfCode
    weights: Array
    unseen: int | None

    @classmethod
    def of(cls, feature: int, bins: FeatureBins, level: LevelOfCode, weights: Array) -> "TableAxis":
        """Return the axis of a feature of these bins."""
        unseen = None if isinstance(bins, NumericBins) else bins.width - 1
        return cls(feature, level, weights, unseen)

    def by_code(self) -> "TableAxis":
        """Return the axis with a level for each code."""
        return replace(self, level=np.arange(len(self.level), dtype=np.uint8))

    @property
    def n_levels(self) -> int:
        """The number of levels that splits separate."""
        return int(self.level[: self.unseen].max()) + 1

    def before(self, place: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return the codes of the levels before a place, and the others, as bits."""
        is_before = self.level[: self.unseen] < place
        return pack_codes(is_before), pack_codes(~is_before)


def make_table_trees(axes: Sequence[TableAxis], table: Array) -> list[tuple[TreeNodes, Array]]:
    """Return trees, and the values of their nodes, that add up to a table of one or two features.

    The table is over the levels of its axes.
    """
    if len(axes) == 1:
        return [*_divide([axes[0].by_code()], table[axes[0].level])]
    trees = []
    for k, axis in enumerate(axes):
        if axis.unseen is not None:  # the other feature counts there, too, so it has a tree
            alone = np.take(table, [axis.level[axis.unseen]], axis=k)
            table = table - alone
            trees += make_table_trees([axes[1 - k]], alone.ravel())
    return [*trees, *_divide(axes, table)]


def _divide(
    axes: Sequence[TableAxis], table: Array, block: Block | None = None
) -> Iterator[tuple[TreeNodes, Array]]:
    """Yield trees that have a table's values within a block, or everywhere, and are 0 elsewhere.

    There are as many as the limit on a tree's nodes demands.
    """
    block = tuple(slice(0, size) for size in table.shape) if block is None else block
    within = np.zeros(table.shape)
    within[block] = table[block]
    nodes = [*_grow(axes, within)]
    if len(nodes) <= MOST_NODES:
        yield _make_tree(nodes)
    else:
        for half in _halve(block)[1]:
            yield from _divide(axes, table, half)


def _halve(block: Block) -> tuple[tuple[int, int], tuple[Block, Block]]:
    """Return the longest axis of a block and its middle, and the halves on either side of it."""
    k = int(np.argmax([levels.stop - levels.start for levels in block]))
    place = (block[k].start + block[k].stop) // 2
    first, second = slice(block[k].start, place), slice(place, block[k].stop)
    before, after = block[:k], block[k + 1 :]
    return (k, place), ((*before, first, *after), (*before, second, *after))


@dataclass(frozen=True, eq=False)
class _Node:
    """A node: the feature that it splits or `LEAF`, the codes of its children, and its value."""

    feature: int
    left: int
    sides: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    weight: float
    value: float


_NONE = np.zeros(4, dtype=np.uint64)


def _grow(axes: Sequence[TableAxis], table: Array) -> Iterator[_Node]:
    """Yield the nodes of a tree that has a table's values, parents before their children."""
    unseen = 0.0
    if len(axes) == 1 and axes[0].unseen is not None:
        unseen = float(table[axes[0].unseen])
    blocks = [tuple(slice(0, axis.n_levels) for axis in axes)]
    n_nodes = 1
    for block in blocks:  # which grows
        values = table[block]
        is_leaf = bool((values == values.flat[0]).all())
        if is_leaf and (n_nodes > 1 or axes[0].unseen is None or values.flat[0] == unseen):
            yield _Node(LEAF, 0, (_NONE, _NONE), _find_weight(axes, block), float(values.flat[0]))
            continue
        (k, place), halves = _halve(block)
        blocks.extend(halves)
        yield _Node(
            axes[k].feature, n_nodes, axes[k].before(place), _find_weight(axes, block), unseen
        )
        n_nodes += 2


def _find_weight(axes: Sequence[TableAxis], block: Block) -> float:
    """Return the training weight that a block would have if features were independent."""
    total, weight = float(axes[0].weights.sum()) or 1.0, 1.0
    for axis, levels in zip(axes, block, strict=True):
        is_in = (axis.level >= levels.start) & (axis.level < levels.stop)
        weight *= float(axis.weights[is_in].sum()) / total
    return total * weight


def _make_tree(nodes: Sequence[_Node]) -> tuple[TreeNodes, Array]:
    """Return a tree, and its values; classes get half of the weights each, as these are unknown."""
    weight = np.array([node.weight for node in nodes])
    tree = TreeNodes(
        feature=np.array([node.feature for node in nodes], dtype=np.int32),
        left=np.array([node.left for node in nodes], dtype=np.int64),
        goes_left=np.stack([node.sides[0] for node in nodes]),
        goes_right=np.stack([node.sides[1] for node in nodes]),
        weight=np.stack([weight / 2, weight / 2], axis=1),
        saving=np.full(len(nodes), np.nan),
    )
    return tree, np.array([node.value for node in nodes])
