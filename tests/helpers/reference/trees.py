"""Trees, grown best first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from helpers.reference.cells import bin_statistics
from helpers.reference.draws import draw_bits
from helpers.reference.learners import cell_cost, first_least, positive_share, stump_cuts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from helpers.reference.bins import Array, Codes
    from helpers.reference.settings import Training


@dataclass
class Tree:
    """Node 0 is the root, and the children of split k are ``left[k]`` and the node after it.

    ``side[k]`` says of each code of ``feature[k]`` whether it goes left (0), right (1) or, as the
    node had no rows of it, nowhere (-1); of a leaf the feature is -1.  ``rows[k]`` are the training
    rows that the node was grown from, and ``saving[k]`` is what its split took from the cost.
    """

    feature: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    side: list[NDArray[np.int64]] = field(default_factory=list)
    rows: list[NDArray[np.bool_]] = field(default_factory=list)
    saving: list[float] = field(default_factory=list)

    def add_leaf(self, rows: NDArray[np.bool_]) -> int:
        self.feature.append(-1)
        self.left.append(0)
        self.side.append(np.zeros(0, dtype=np.int64))
        self.rows.append(rows)
        self.saving.append(0.0)
        return len(self.feature) - 1

    @property
    def leaves(self) -> NDArray[np.int64]:
        return np.flatnonzero(np.array(self.feature) < 0)

    def find_nodes(self, codes: Codes) -> NDArray[np.int64]:
        """Where each row ends: at a leaf, or at a split that says nothing of its code."""
        nodes = np.zeros(codes.shape[1], dtype=np.int64)
        for k, feature in enumerate(self.feature):  # parents come before their children
            if feature >= 0:
                side = self.side[k][codes[feature]]
                nodes = np.where((nodes == k) & (side >= 0), self.left[k] + side, nodes)
        return nodes

    def with_means(self, values: Array, weight: Array) -> Array:
        """The values with those of splits set: the mean of the leaves below, by their rows' weight.

        Half of each side where there is no weight at all.
        """
        values = values.copy()
        held = np.array([weight[rows].sum() for rows in self.rows])
        for k in reversed(range(len(values))):
            if self.feature[k] >= 0:
                a = self.left[k]
                share = held[a] / held[k] if held[k] > 0 else 0.5
                values[k] = share * values[a] + (1 - share) * values[a + 1]
        return values

    def in_directions(self, values: Array, weight: Array, directions: Sequence[int]) -> Array:
        """The values, means included, moved so that they rise or fall with the features that must.

        From the root down: the two sides of a split whose feature has a direction are kept apart by
        the middle between their means, which is first moved into what is allowed above.
        """
        values = self.with_means(values, weight)
        low, high = np.full(len(values), -np.inf), np.full(len(values), np.inf)
        for k, feature in enumerate(self.feature):
            values[k] = min(max(values[k], low[k]), high[k])
            if feature < 0:
                continue
            a, b = self.left[k], self.left[k] + 1
            low[[a, b]], high[[a, b]] = low[k], high[k]
            if directions[feature]:
                middle = min(max((values[a] + values[b]) / 2, low[k]), high[k])
                below, above = (a, b) if directions[feature] > 0 else (b, a)
                high[below] = low[above] = middle
        return self.with_means(values, weight)


def grow_tree(t: Training, w: Array, curvature: Array, round_: int) -> Tree:
    """The tree of the 1-based round: of all leaves and features the split that saves most is next.

    A split is a stump's cut, tried in its order, and what it saves is the leaf's `cell_cost` minus
    that of the sides.  It has to save more than `tie` times the latter, to leave each side
    `min_child_weight`, and where its feature has a direction the right side must not be less
    positive (more, for -1) than the left.  Among features that tie the lowest is taken, and among
    leaves that save the same the one made first.

    A round's key is draw_bits(seed, 0, round).  Rows, numbered among those of positive weight,
    count if their draw_bits(key, 0, row) is below subsample 2^64; the features that a node may
    split are the round(max_features d), at least one, of least draw_bits(key, 1 + node, feature).
    """
    s = t.tree
    key = draw_bits(s.seed, 0, round_)
    drawn = np.array([draw_bits(key, 0, i) < s.subsample * 2**64 for i in range(len(w))])
    tree = Tree()
    depth = {tree.add_leaf(drawn): 0}
    best: dict[int, tuple[float, int, NDArray[np.int64]]] = {}
    new = [0]
    while len(tree.leaves) < s.max_leaves:
        for k in new:
            split = _find_split(t, w, curvature, tree.rows[k], _draw_features(t, key, k))
            if split is not None and depth[k] < s.max_depth:
                best[k] = split
        if not best:
            break
        k = max(best, key=lambda node: (best[node][0], -node))
        tree.saving[k], tree.feature[k], tree.side[k] = best.pop(k)
        side = tree.side[k][t.codes[tree.feature[k]]]
        new = [tree.add_leaf(tree.rows[k] & (side == which)) for which in (0, 1)]
        tree.left[k] = new[0]
        depth |= dict.fromkeys(new, depth[k] + 1)
    return tree


def _draw_features(t: Training, key: int, node: int) -> list[int]:
    d = len(t.bins)
    wanted = max(1, int(np.floor(t.tree.max_features * d + 0.5)))
    order = sorted(range(d), key=lambda j: (draw_bits(key, 1 + node, j), j))
    return sorted(order[:wanted])


def _find_split(
    t: Training,
    w: Array,
    curvature: Array,
    rows: NDArray[np.bool_],
    features: Sequence[int],
) -> tuple[float, int, NDArray[np.int64]] | None:
    """What the best split of some rows saves, its feature, and the side of each code."""
    found: list[tuple[float, int, NDArray[np.int64]]] = []
    before = np.inf
    for j in features:
        bins = t.bins[j]
        stats = bin_statistics(t.codes[j][rows], bins.n_bins, t.y[rows], w[rows], curvature[rows])
        cuts = list(stump_cuts(stats, bins, t.response))
        sides = [stats.gathered(cut, 2) for cut in cuts]
        costs = [cell_cost(side, t.response, t.l2) for side in sides]
        before = costs[0]  # no cut
        for i, side in enumerate(sides[1:], 1):
            weight = (
                side.curvature * t.loss.gain if t.response == "newton" else side.plus + side.minus
            )
            share = positive_share(side, t.response)
            direction = t.tree.directions[j] if t.tree.directions else 0
            if min(weight) < t.tree.min_child_weight or direction * (share[1] - share[0]) < 0:
                costs[i] = np.inf
        i = first_least(costs, t.tie)
        found.append((costs[i], j, cuts[i]))
    cost, feature, cut = found[first_least([cost for cost, _, _ in found], t.tie)]
    return (before - cost, feature, cut) if before - cost > t.tie * abs(cost) else None
