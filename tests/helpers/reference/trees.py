"""Trees, grown best first or level by level."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from helpers.reference.cells import bin_statistics, sum_statistics
from helpers.reference.contrast import charge_for_chance, saving_by_chance, sum_of_squares
from helpers.reference.draws import draw_bits, draw_by_weight
from helpers.reference.learners import (
    cell_cost,
    cuts_along,
    first_least,
    positive_share,
    stump_cuts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from helpers.reference.bins import Array, Codes
    from helpers.reference.cells import Statistics
    from helpers.reference.learners import Response
    from helpers.reference.settings import Training

    Split = tuple[list[float], int, NDArray[np.int64]]


@dataclass
class Tree:
    """Tree whose root is node 0; children of split k are ``left[k]`` and the node after it.

    ``side[k]`` has the side of each code of ``feature[k]``: left (0), right (1), or neither (-1),
    if the node had no rows of it. The feature of a leaf is -1. ``rows[k]`` are the training rows
    that the node was grown from, and ``saving[k]`` is the fall of the cost by its split.
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

    def take_all(self, codes: Codes) -> None:
        """Give the nodes all rows of their branches, though they were grown from some.

        Rows whose code has no side at a split stay there.
        """
        nodes = self.find_nodes(codes)
        for k in reversed(range(len(self.rows))):
            a = self.left[k]
            self.rows[k] = nodes == k
            if self.feature[k] >= 0:
                self.rows[k] |= self.rows[a] | self.rows[a + 1]

    @property
    def leaves(self) -> NDArray[np.int64]:
        return np.flatnonzero(np.array(self.feature) < 0)

    def find_nodes(self, codes: Codes) -> NDArray[np.int64]:
        """Return the node where each row ends: a leaf, or a split without a side for its code."""
        nodes = np.zeros(codes.shape[1], dtype=np.int64)
        for k, feature in enumerate(self.feature):  # parents come before their children
            if feature >= 0:
                side = self.side[k][codes[feature]]
                nodes = np.where((nodes == k) & (side >= 0), self.left[k] + side, nodes)
        return nodes

    def with_means(self, values: Array, weight: Array) -> Array:
        """Return the values, with the weighted mean of the leaves below at each split.

        Each side counts half where there is no weight at all.
        """
        values = values.copy()
        weights = np.array([weight[rows].sum() for rows in self.rows])
        for k in reversed(range(len(values))):
            if self.feature[k] >= 0:
                a = self.left[k]
                below = weights[a] + weights[a + 1]
                share = weights[a] / below if below > 0 else 0.5
                values[k] = share * values[a] + (1 - share) * values[a + 1]
        return values

    def in_directions(self, values: Array, weight: Array, directions: Sequence[int]) -> Array:
        """Return the values, means included, moved so that they follow the directions of features.

        From the root down, the middle between the means of a directed split's sides bounds them.
        The middle is first moved into the bounds from above.
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
    """Grow the tree of the 1-based round: the split that saves most, of all leaves, is next.

    A split is a stump's cut, tried in its order.  Its saving is the leaf's `cell_cost` less that of
    the sides.  It must save more than `tie` times the latter, and leave each side
    `min_child_weight`.  Where its feature has a direction, the right side must not be less positive
    (more, for -1) than the left.  Among features that tie the lowest is taken, and among leaves of
    equal savings the one made first.

    A round's key is draw_bits(seed, 0, round).  Rows, which have numbers or are numbered here,
    count if their draw_bits(key, 0, row) is below subsample 2^64.  A node may split round(
    max_features d) of the d features that may join its path, at least one: those of least
    draw_bits(key, 1 + node, feature).

    Where each level is one split, see `_grow_by_level`; with screening, `_grow_by_screen`.
    """
    return _grow_by_screen(_OneModel(t, w, curvature), round_)


def grow_shared_tree(classes: Sequence[Training], w: Array, curvature: Array, round_: int) -> Tree:
    """Grow the tree that all classes share: as `grow_tree`, by the sum of their costs.

    ``w[:, k]`` and ``curvature[:, k]`` are those of class k. Each side must have `min_child_weight`
    of half the sum over the classes.
    """
    return _grow_by_screen(_JointModel(classes, w, curvature), round_)


def _grow_by_screen(view: _OneModel | _JointModel, round_: int) -> Tree:
    """Grow a tree from a screen's rows, if there is a screen, and give it all rows."""
    t = view.t
    grow = _grow_by_level if t.tree.by_level else _grow
    key = draw_bits(t.tree.seed, 0, round_)
    if not t.screening or t.tree.subsample < 1 or 2 * t.screening >= len(t.y):
        return grow(view, _draw_rows(t, key), round_)
    weight, curvature = (numbers.reshape(len(t.y), -1).sum(axis=1) for numbers in view.numbers())
    rows, counts_for = draw_by_weight(
        t.numbers, key, t.screening, weight, curvature if t.response == "newton" else None
    )
    tree = grow(view.scaled(np.where(rows, counts_for, 0.0)), rows, round_)
    tree.take_all(t.codes)
    return tree


def _draw_rows(t: Training, key: int) -> Array:
    return np.array([draw_bits(key, 0, int(i)) < t.tree.subsample * 2**64 for i in t.numbers])


def _grow(view: _OneModel | _JointModel, rows: NDArray[np.bool_], round_: int) -> Tree:
    t = view.t
    s = t.tree
    key = draw_bits(s.seed, 0, round_)
    tree = Tree()
    depth = {tree.add_leaf(rows): 0}
    paths: dict[int, set[int]] = {0: set()}
    best: dict[int, Split] = {}
    new = [0]
    while len(tree.leaves) < s.max_leaf_nodes:
        for k in new:
            features = _draw_features(t, key, k, _list_joinable(t, [paths[k]]))
            split = _find_split(view, [tree.rows[k]], features)
            if split is not None and depth[k] < s.max_depth:
                best[k] = split
        if not best:
            break
        k = max(best, key=lambda node: (best[node][0][0], -node))
        [tree.saving[k]], tree.feature[k], tree.side[k] = best.pop(k)
        side = tree.side[k][t.codes[tree.feature[k]]]
        new = [tree.add_leaf(tree.rows[k] & (side == which)) for which in (0, 1)]
        tree.left[k] = new[0]
        depth |= dict.fromkeys(new, depth[k] + 1)
        paths |= dict.fromkeys(new, paths[k] | {tree.feature[k]})
    return tree


def _grow_by_level(view: _OneModel | _JointModel, rows: NDArray[np.bool_], round_: int) -> Tree:
    """Grow a tree with one split for all nodes of a level: the one that saves most in sum.

    Its saving at a node is `grow_tree`'s, and 0 where that is not more than `tie` times the cost
    of the sides, or the node's limits forbid it: the node is then not split, and is one of the next
    level's.  Nodes of one class (but not under newton, or if classes share the tree) and nodes
    lighter than twice `min_child_weight` are no longer looked at.  Categories are ordered by the
    sums of a level's rows.  A level's feature may join the paths of all its nodes; the features of
    a level are drawn as those of the node of its number.
    """
    t = view.t
    s = t.tree
    key = draw_bits(s.seed, 0, round_)
    tree = Tree()
    level = [tree.add_leaf(rows)]
    paths: dict[int, set[int]] = {0: set()}
    for depth in range(int(s.max_depth)):
        level = [k for k in level if view.may_be_split(tree.rows[k])]
        if not level:
            break
        features = _draw_features(t, key, depth, _list_joinable(t, [paths[k] for k in level]))
        split = _find_split(view, [tree.rows[k] for k in level], features)
        if split is None:
            break
        savings, feature, side = split
        below = []
        for k, saving in zip(level, savings, strict=True):
            if saving == 0.0:
                below.append(k)
                continue
            tree.saving[k], tree.feature[k], tree.side[k] = saving, feature, side
            branch = side[t.codes[feature]]
            new = [tree.add_leaf(tree.rows[k] & (branch == which)) for which in (0, 1)]
            tree.left[k] = new[0]
            paths |= dict.fromkeys(new, paths[k] | {feature})
            below += new
        level = below
    return tree


def _list_joinable(t: Training, paths: Sequence[set[int]]) -> list[int]:
    """Return the features that may join all of these paths."""
    limit, sets = t.tree.interaction_limit, [set(features) for features in t.tree.interaction_sets]

    def may_join(feature: int, path: set[int]) -> bool:
        joined = path | {feature}
        in_a_set = not sets or any(joined <= features for features in sets)
        return in_a_set and (limit == 0 or len(joined) <= max(limit, len(path)))

    return [f for f in range(len(t.bins)) if all(may_join(f, path) for path in paths)]


def _draw_features(t: Training, key: int, node: int, features: Sequence[int]) -> list[int]:
    drawn = max(1, int(np.floor(t.tree.max_features * len(features) + 0.5)))
    order = sorted(features, key=lambda j: (draw_bits(key, 1 + node, j), j))
    return sorted(order[:drawn])


@dataclass(frozen=True)
class _OneModel:
    """Costs of splits of rows for one model."""

    t: Training
    w: Array
    curvature: Array
    drawn: bool = False

    def numbers(self) -> tuple[Array, Array]:
        return self.w, self.curvature

    def scaled(self, by: Array) -> _OneModel:
        return _OneModel(self.t, self.w * by, self.curvature * by, drawn=True)

    def statistics(self, j: int, rows: NDArray[np.bool_]) -> list[Statistics]:
        t = self.t
        n_bins = t.bins[j].n_bins
        columns = t.codes[j][rows], n_bins, t.y[rows], self.w[rows], self.curvature[rows]
        return [bin_statistics(*columns)]

    def weights(self, sides: Sequence[Statistics]) -> Array:
        return _weights_of_branches(sides[0], self.t)

    def may_be_split(self, rows: NDArray[np.bool_]) -> bool:
        stats = self.statistics(0, rows)[0]
        mixed = stats.plus.sum() > 0 and stats.minus.sum() > 0
        heavy = self.weights([stats]).sum() >= 2 * self.t.tree.min_child_weight
        return bool(heavy and (mixed or self.t.response == "newton"))

    def cuts(self, j: int, stats: Sequence[Statistics]) -> NDArray[np.int64]:
        return stump_cuts(stats[0], self.t.bins[j], self.t.response)

    def cost(self, sides: Sequence[Statistics]) -> Array:
        return cell_cost(sides[0], self.t.response, self.t.l2)

    def is_forbidden(self, j: int, sides: Sequence[Statistics]) -> NDArray[np.bool_]:
        t = self.t
        share = positive_share(sides[0], t.response)
        light = self.weights(sides).min(axis=-1) < t.tree.min_child_weight
        return light | (t.direction(j) * (share[:, 1] - share[:, 0]) < 0)

    def chance(self, rows: NDArray[np.bool_], categories: float) -> tuple[float, float]:
        """Return the mean saving of a cut of some rows by chance, and its degrees of freedom."""
        t = self.t
        squares = [self._squares(rows, of_class) for of_class in (t.y > 0, t.y < 0)]
        whole = self.statistics(0, rows)[0].gathered(np.zeros(t.bins[0].n_bins, int), 1)
        return max(0.0, saving_by_chance(whole, squares, t, categories)), 1.0

    def _squares(self, rows: NDArray[np.bool_], of_class: NDArray[np.bool_]) -> float:
        """Return the squares of a class's rows; of drawn rows they are spread by weight."""
        if not self.drawn:
            return sum_of_squares(self.t, self.w, rows & of_class)
        all_rows = self.w[of_class].sum()
        share = self.w[rows & of_class].sum() / all_rows if all_rows > 0 else 0.0
        return float(share * sum_of_squares(self.t, self.w, of_class))


@dataclass(frozen=True)
class _JointModel:
    """Costs of splits of rows for the models of all classes together."""

    classes: Sequence[Training]
    w: Array
    curvature: Array

    @property
    def t(self) -> Training:
        return self.classes[0]

    def numbers(self) -> tuple[Array, Array]:
        return self.w, self.curvature

    def scaled(self, by: Array) -> _JointModel:
        return _JointModel(self.classes, self.w * by[:, None], self.curvature * by[:, None])

    @property
    def _models(self) -> list[_OneModel]:
        columns = enumerate(self.classes)
        return [_OneModel(t, self.w[:, k], self.curvature[:, k]) for k, t in columns]

    def statistics(self, j: int, rows: NDArray[np.bool_]) -> list[Statistics]:
        return [model.statistics(j, rows)[0] for model in self._models]

    def weights(self, sides: Sequence[Statistics]) -> Array:
        total: Array = sum(_weights_of_branches(side, self.t) for side in sides) / 2
        return total

    def may_be_split(self, rows: NDArray[np.bool_]) -> bool:
        weights = self.weights(self.statistics(0, rows))
        return bool(weights.sum() >= 2 * self.t.tree.min_child_weight)

    def cuts(self, j: int, stats: Sequence[Statistics]) -> NDArray[np.int64]:
        if self.t.bins[j].n_ordered:
            return stump_cuts(stats[0], self.t.bins[j], self.t.response)
        return _cuts_along_the_axis(stats, self.t.response)

    def cost(self, sides: Sequence[Statistics]) -> Array:
        return sum(cell_cost(side, self.t.response, self.t.l2) for side in sides)

    def is_forbidden(self, _: int, sides: Sequence[Statistics]) -> NDArray[np.bool_]:
        return self.weights(sides).min(axis=-1) < self.t.tree.min_child_weight

    def chance(self, rows: NDArray[np.bool_], categories: float) -> tuple[float, float]:
        chance = np.array([model.chance(rows, categories)[0] for model in self._models])
        alike = chance.sum() ** 2 / (chance**2).sum() if chance.any() else 0.0
        return float(chance.sum()), max(1.0, alike * (1 - 1 / len(self.classes)))


def _weights_of_branches(sides: Statistics, t: Training) -> Array:
    return sides.curvature * t.loss.gain if t.response == "newton" else sides.plus + sides.minus


def _find_split(
    view: _OneModel | _JointModel, nodes: Sequence[NDArray[np.bool_]], features: Sequence[int]
) -> Split | None:
    """Return the savings of the best split at each node, its feature, and the side of each code."""
    t = view.t
    if not features:
        return None
    splits: list[Split] = []
    costs: list[float] = []
    charges: list[float] = []
    before = np.inf
    for j in features:
        stats = [view.statistics(j, rows) for rows in nodes]
        both = [sum_statistics(of_model) for of_model in zip(*stats, strict=True)]
        cuts = view.cuts(j, both)
        cost = np.zeros((len(cuts), len(nodes)))
        for k, node in enumerate(stats):
            sides = [of_model.gathered(cuts, 2) for of_model in node]
            forbidden = view.is_forbidden(j, sides)
            forbidden[0] = False
            cost[:, k] = np.where(forbidden, np.inf, view.cost(sides))
        if t.tree.by_level:  # an unsplit node keeps its cost
            cost = np.where(cost[0] - cost > t.tie * np.abs(cost), cost, cost[0])
        before = cost[0].sum()  # this is the cost of no cut
        i = first_least(cost.sum(axis=1), t.tie)
        splits.append((list(cost[0] - cost[i]), j, cuts[i]))
        costs.append(cost[i].sum())
        if t.selection != "greedy":
            ordered = t.bins[j].n_ordered > 0
            codes = np.count_nonzero(both[0].plus + both[0].minus > 0)
            categories = 0.0 if ordered else codes / len(nodes)
            chances = [view.chance(rows, categories) for rows in nodes]
            reach = [1.0]
            if t.tree.by_level:
                reach = [_reach(node[0], both[0], ordered) for node in stats]
            means = np.array([mean for mean, _ in chances]) * reach
            freedom = alike = 1.0
            if means.any():
                alike = means.sum() ** 2 / (means**2).sum()
                freedom = means @ [degrees for _, degrees in chances] / means.sum()
            charge = charge_for_chance(both[0], ordered, freedom, alike)
            charges.append(means.sum() * charge)
    if t.selection == "greedy":
        best = first_least(costs, t.tie)
    else:
        saves = [before - cost > t.tie * abs(cost) for cost in costs]
        if not any(saves):
            return None
        charged = np.where(saves, np.add(costs, charges), np.inf)
        best = first_least(charged, t.tie)
    return splits[best] if before - costs[best] > t.tie * abs(costs[best]) else None


def _reach(node: Statistics, level: Statistics, ordered: bool) -> float:
    """Return the share of a level's cuts that divide a node, inside the range of its codes."""
    places = np.flatnonzero(node.rows[level.rows > 0] > 0)
    if len(places) < 2:
        return 0.0
    n = np.count_nonzero(level.rows)
    return float(places[-1] - places[0]) / (n - 1) if ordered else 1.0


def _cuts_along_the_axis(stats: Sequence[Statistics], response: Response) -> NDArray[np.int64]:
    """Return cuts of categories along the first principal component of their mean gradients."""
    slope = np.stack([s.plus - s.minus for s in stats], axis=1)
    beside = sum(s.curvature if response == "newton" else s.plus + s.minus for s in stats)
    present = np.flatnonzero(stats[0].rows > 0)
    slope, beside = slope[present], beside[present]
    points = slope / beside[:, None] - slope.sum(axis=0) / beside.sum()
    _, vectors = np.linalg.eigh((points * beside[:, None]).T @ points)
    place = points @ vectors[:, -1]
    # The sign of an axis is arbitrary, so the farthest category goes to the right.
    farthest = np.argmax(beside * (points**2).sum(axis=1))
    order = present[np.argsort(np.sign(place[farthest]) * place, kind="stable")]
    return cuts_along(order, len(stats[0].rows))
