"""Shapley values by their definition: the worth of every set of features."""

from math import factorial

import numpy as np

from properboost.models.tree import LEAF, LEFT, NEITHER


def find_worths(tree, values, lines, positions, row, node=0):
    """Return a row's prediction where only a set of features is known, for every set.

    Feature `j` is in set number `s` if bit `j` of `s` is 1. `positions` has the place of each code
    of each feature, or None; `row` has the codes.
    """
    sets = np.arange(2 ** len(row))
    worths = np.full(len(sets), values[node])
    if lines is not None:
        for t in range(lines.offsets[node], lines.offsets[node + 1]):
            j, slope, center = lines.feature[t], lines.slope[t], lines.center[t]
            z = positions[j][row[j]]
            known = 0.0 if np.isnan(z) else slope * (z - center)
            worths = worths + np.where(sets >> j & 1, known, slope * (lines.mean[t] - center))
    feature = tree.feature[node]
    if feature == LEAF:
        return worths
    children = [int(tree.left[node]), int(tree.left[node]) + 1]
    below = [find_worths(tree, values, lines, positions, row, child) for child in children]
    branch = tree.branches[node, row[feature]]
    followed = worths if branch == NEITHER else below[0 if branch == LEFT else 1]
    weight = tree.weight[children].sum(axis=1)
    share = weight[0] / weight.sum() if weight.sum() > 0 else 0.5
    unknown = share * below[0] + (1.0 - share) * below[1]
    return np.where(sets >> feature & 1, followed, unknown)


def find_shapley_values(worths):
    """Return the values of all players of a game, of which `worths` has that of every set."""
    n = int(np.log2(len(worths)))
    sets = np.arange(2**n)
    sizes = sum(sets >> j & 1 for j in range(n))
    shares = np.array([factorial(k) * factorial(n - 1 - k) / factorial(n) for k in range(n)])
    values = []
    for j in range(n):
        without = sets[sets >> j & 1 == 0]
        values.append(shares[sizes[without]] @ (worths[without | 1 << j] - worths[without]))
    return np.array(values)


def explain(tree, values, lines, positions, codes):
    """Return the contributions to rows of these codes, (n_rows, n_features), and the baseline."""
    worths = [find_worths(tree, values, lines, positions, row) for row in codes.T]
    added = np.array([find_shapley_values(of_row) for of_row in worths])
    return added.reshape(codes.T.shape), worths[0][0]
