"""Trees, grown best first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from helpers.reference.cells import bin_statistics
from helpers.reference.contrast import charge_for_chance, saving_by_chance, sum_of_squares
from helpers.reference.draws import draw_bits
from helpers.reference.learners import cell_cost, first_least, positive_share, stump_cuts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from helpers.reference.bins import Array, Codes
    from helpers.reference.cells import Statistics
    from helpers.reference.learners import Response
    from helpers.reference.settings import Training

    Split = tuple[float, int, NDArray[np.int64]]


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
    return _grow(t, lambda rows, features: _find_split(t, w, curvature, rows, features), round_)


def grow_shared_tree(classes: Sequence[Training], w: Array, curvature: Array, round_: int) -> Tree:
    """The tree that all classes share: as `grow_tree`, by the sum of their costs.

    ``w[:, k]`` and ``curvature[:, k]`` are those of class k.  Each side has to have
    `min_child_weight` of half the sum over the classes.
    """
    return _grow(
        classes[0],
        lambda rows, features: _find_shared_split(classes, w, curvature, rows, features),
        round_,
    )


def _grow(t: Training, find: Callable[..., Split | None], round_: int) -> Tree:
    s = t.tree
    key = draw_bits(s.seed, 0, round_)
    w = t.weight
    drawn = np.array([draw_bits(key, 0, i) < s.subsample * 2**64 for i in range(len(w))])
    tree = Tree()
    depth = {tree.add_leaf(drawn): 0}
    best: dict[int, Split] = {}
    new = [0]
    while len(tree.leaves) < s.max_leaves:
        for k in new:
            split = find(tree.rows[k], _draw_features(t, key, k))
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
) -> Split | None:
    """What the best split of some rows saves, its feature, and the side of each code."""
    found: list[Split] = []
    charges: list[float] = []
    before = np.inf
    for j in features:
        bins = t.bins[j]
        stats = bin_statistics(t.codes[j][rows], bins.n_bins, t.y[rows], w[rows], curvature[rows])
        charges.append(charge_for_chance(stats, bins.n_ordered > 0))
        cuts = list(stump_cuts(stats, bins, t.response))
        sides = [stats.gathered(cut, 2) for cut in cuts]
        costs = [cell_cost(side, t.response, t.l2) for side in sides]
        before = costs[0]  # no cut
        for i, side in enumerate(sides[1:], 1):
            weight = (
                side.curvature * t.loss.gain if t.response == "newton" else side.plus + side.minus
            )
            share = positive_share(side, t.response)
            if min(weight) < t.tree.min_child_weight or t.direction(j) * (share[1] - share[0]) < 0:
                costs[i] = np.inf
        i = first_least(costs, t.tie)
        found.append((costs[i], j, cuts[i]))
    chance = 0.0
    if t.selection != "greedy" and features:
        squares = [sum_of_squares(t, w, rows & own) for own in (t.y > 0, t.y < 0)]
        chance = saving_by_chance(stats.gathered(np.zeros(bins.n_bins, int), 1), squares, t)
    return _first_split(t, found, before, [chance * charge for charge in charges])


def _first_split(
    t: Training, found: Sequence[Split], before: float, charges: Sequence[float]
) -> Split | None:
    """The first of the least costs, or of those that save, charged for chance."""
    costs = [cost for cost, _, _ in found]
    if t.selection != "greedy":
        saves = [before - cost > t.tie * abs(cost) for cost in costs]
        costs = [
            cost + charge if is_less else np.inf
            for cost, charge, is_less in zip(costs, charges, saves, strict=True)
        ]
        if not any(saves):
            return None
    cost, feature, cut = found[first_least(costs, t.tie)]
    return (before - cost, feature, cut) if before - cost > t.tie * abs(cost) else None


def _find_shared_split(
    classes: Sequence[Training],
    w: Array,
    curvature: Array,
    rows: NDArray[np.bool_],
    features: Sequence[int],
) -> Split | None:
    t = classes[0]
    found: list[Split] = []
    cells: list[Statistics] = []
    before = np.inf
    for j in features:
        bins = t.bins[j]
        stats = [
            bin_statistics(t.codes[j][rows], bins.n_bins, own.y[rows], w[rows, k],
                           curvature[rows, k])
            for k, own in enumerate(classes)
        ]  # fmt: skip
        cells.append(stats[0])
        cuts = list(stump_cuts(stats[0], bins, t.response))
        if not bins.n_ordered:
            cuts = _cuts_along_the_axis(stats, t.response)
        costs = []
        for cut in cuts:
            sides = [of_class.gathered(cut, 2) for of_class in stats]
            cost = sum(cell_cost(side, t.response, t.l2) for side in sides)
            weight = sum(
                side.curvature * t.loss.gain if t.response == "newton" else side.plus + side.minus
                for side in sides
            )
            too_light = len(costs) > 0 and min(weight / 2) < t.tree.min_child_weight
            costs.append(np.inf if too_light else cost)
        before = costs[0]  # no cut
        i = first_least(costs, t.tie)
        found.append((costs[i], j, cuts[i]))
    chance = np.zeros(len(classes))
    if t.selection != "greedy" and features:
        for k, own in enumerate(classes):
            squares = [sum_of_squares(own, w[:, k], rows & side) for side in (own.y > 0, own.y < 0)]
            whole = stats[k].gathered(np.zeros(bins.n_bins, int), 1)
            chance[k] = max(0.0, saving_by_chance(whole, squares, own))
    alike = chance.sum() ** 2 / (chance**2).sum() if chance.any() else 0.0
    freedom = max(1.0, alike * (1 - 1 / len(classes)))
    return _first_split(
        t,
        found,
        before,
        [
            chance.sum() * charge_for_chance(plain, t.bins[j].n_ordered > 0, freedom)
            for j, plain in zip(features, cells, strict=True)
        ],
    )


def _cuts_along_the_axis(
    stats: Sequence[Statistics], response: Response
) -> list[NDArray[np.int64]]:
    """Categories in the order of the first principal component of their mean gradients."""
    slope = np.stack([s.plus - s.minus for s in stats], axis=1)
    beside = sum(s.curvature if response == "newton" else s.plus + s.minus for s in stats)
    present = np.flatnonzero(stats[0].rows > 0)
    slope, beside = slope[present], beside[present]
    points = slope / beside[:, None] - slope.sum(axis=0) / beside.sum()
    _, vectors = np.linalg.eigh((points * beside[:, None]).T @ points)
    place = points @ vectors[:, -1]
    # The sign of an axis is nobody's choice: the category that is farthest out is on the right.
    farthest = np.argmax(beside * (points**2).sum(axis=1))
    order = present[np.argsort(np.sign(place[farthest]) * place, kind="stable")]
    cuts = []
    for size in [len(order), *range(1, len(order))]:
        cells = np.full(len(stats[0].rows), -1)
        cells[order[:size]] = 0
        cells[order[size:]] = 1
        cuts.append(cells)
    return cuts
