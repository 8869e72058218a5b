"""Lines: ridge models in the leaves of a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from helpers.reference.bins import Array, Codes, FeatureBins
    from helpers.reference.settings import Training
    from helpers.reference.trees import Tree

MOST_TERMS = 4
"""Largest number of features in a leaf's line."""

LEAST_ROWS = 10.0
"""Least number of effective rows of a leaf that has a line."""

LEAST_VARIANCE = 1e-24
"""Least variance of positions in a leaf: a feature that varies less is constant."""


@dataclass(frozen=True)
class Line:
    """Line of a leaf, added to its value: slope (z - center), for each of some features.

    The mean of z is over the leaf's rows by sample weight; a missing value is at the center.
    """

    features: list[int]
    slopes: Array
    centers: Array
    means: Array

    def added(self, positions: Array) -> Array:
        total = np.zeros(positions.shape[1])
        for j, slope, center in zip(self.features, self.slopes, self.centers, strict=True):
            z = positions[j]
            total += np.where(np.isnan(z), 0.0, slope * (z - center))
        return total


def find_positions(codes: Codes, bins: Sequence[FeatureBins]) -> Array:
    """Return the positions of rows' bins, in which lines are linear, a row per feature."""
    return np.stack(
        [feature_bins.positions[code] for feature_bins, code in zip(bins, codes, strict=True)]
    )


def add_lines(
    tree: Tree, lines: Sequence[Line], codes: Codes, bins: Sequence[FeatureBins]
) -> Array:
    """Return the sums that the lines of rows' nodes add to them."""
    nodes, total = tree.find_nodes(codes), np.zeros(codes.shape[1])
    positions = find_positions(codes, bins)
    for k, line in enumerate(lines):
        at = nodes == k
        total[at] = line.added(positions[:, at])
    return total


def fit_lines(t: Training, w: Array, curvature: Array, tree: Tree, table: Array) -> list[Line]:
    """Return the line of each node of a tree with these values; none where the tree is split.

    A line's features are the numeric ones of the splits above the leaf, of which more than one mean
    can come there: at most `MOST_TERMS`, those whose splits saved most, the first on the way among
    equals.  A column is the position of a row's bin less its mean over the leaf's rows, by h, and 0
    where the value is missing; it is divided by its deviation in the leaf.  The slopes are those of
    weighted ridge,

        (X' diag(h) X + l2 sum(h^2 / s) / sum(h) I)^-1 X' g,

    s being the sample weights: under newton, g and h are the rows' slopes and curvatures.  Under
    real, h is w e^(-y v), v being the leaf's value (of which only the classes' ratio matters), and
    g = y h.  There are none if sum(h)^2 / sum(h^2 / s) is less than `LEAST_ROWS`.  If a row's code
    can make a line's size more than the cap (for real, that of gain 1), the line is cut to it.
    """
    lines = [Line([], np.zeros(0), np.zeros(0), np.zeros(0)) for _ in tree.feature]
    positions = find_positions(t.codes, t.bins)
    for k, path in _paths(tree).items():
        rows = tree.rows[k]
        terms = _choose(t, tree, path)
        if not terms or not rows.any():
            continue
        y, s = t.y[rows], t.weight[rows]
        if t.response == "newton":
            h, g = curvature[rows], y * w[rows]
        else:
            h = w[rows] * np.exp(-y * table[k] - abs(table[k]))
            g = y * h
        squares = (h**2 / s).sum()
        if not (squares > 0 and h.sum() ** 2 >= LEAST_ROWS * squares):
            continue
        varying = []
        for j, reachable in terms:
            z = positions[j][rows]
            known = ~np.isnan(z)
            center = np.average(z[known], weights=h[known]) if h[known].sum() > 0 else 0.0
            column = np.where(known, z - center, 0.0)
            deviation = np.sqrt((h * column**2).sum() / h.sum())
            if deviation > np.sqrt(LEAST_VARIANCE):
                varying.append((j, center, deviation, column / deviation, reachable))
        if not varying:
            continue
        x = np.stack([column for *_, column, _ in varying], axis=1)
        penalty = t.tree.linear_l2 * squares / h.sum()
        system = x.T @ (h[:, None] * x) + penalty * np.eye(len(varying))
        slopes = np.linalg.solve(system, x.T @ g) / np.array([term[2] for term in varying])
        centers = np.array([center for _, center, *_ in varying])
        reach = sum(
            abs(slope) * np.abs(z - center).max()
            for slope, (_, center, _, _, z) in zip(slopes, varying, strict=True)
        )
        cap = t.cap / (1.0 if t.response == "newton" else t.loss.gain)
        if reach > cap:
            slopes = slopes * cap / reach
        features = [term[0] for term in varying]
        z = positions[features][:, rows]
        means = np.average(np.where(np.isnan(z), centers[:, None], z), axis=1, weights=s)
        lines[k] = Line(features, slopes, centers, means)
    return lines


def largest_values(t: Training, tree: Tree, table: Array, lines: Sequence[Line]) -> list[float]:
    """Return, for each leaf with a line, the largest size of a value that a row can get there."""
    reaches = []
    for k, path in _paths(tree).items():
        if not lines or not lines[k].features:
            continue
        reachable = dict(_choose(t, tree, path))
        terms = zip(lines[k].features, lines[k].slopes, lines[k].centers, strict=True)
        reach = sum(abs(b) * np.abs(reachable[j] - center).max() for j, b, center in terms)
        reaches.append(float(abs(table[k]) + reach))
    return reaches


def _paths(tree: Tree) -> dict[int, list[tuple[int, int]]]:
    """Return the splits above each leaf, from the root on, and the side of the leaf."""
    paths: dict[int, list[tuple[int, int]]] = {0: []}
    for k, feature in enumerate(tree.feature):
        if feature >= 0:
            above = paths.pop(k)
            paths |= {tree.left[k] + side: [*above, (k, side)] for side in (0, 1)}
    return paths


def _choose(t: Training, tree: Tree, path: Sequence[tuple[int, int]]) -> list[tuple[int, Array]]:
    """Return the features of a leaf's line, and the positions that can come there."""
    saved: dict[int, float] = {}
    here: dict[int, NDArray[np.bool_]] = {}
    for k, side in path:
        j = tree.feature[k]
        saved[j] = saved.get(j, 0.0) + tree.saving[k]
        here[j] = here.get(j, True) & (tree.side[k] == side)
    terms = []
    for j in sorted(saved, key=lambda j: -saved[j]):
        z = t.bins[j].positions[here[j]]
        z = z[~np.isnan(z)]
        if len(z) and z.min() < z.max():
            terms.append((j, z))
    return terms[:MOST_TERMS]
