"""Test trees that vote: the engine against plain numpy, and limits that only the engine has."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_iris

import helpers.reference as ref
import properboost as pb
from helpers.engine import assert_equal_trees, assert_identical, describe_learner, tables
from properboost import _core

N_CLASSES = 3
EDGES = [np.arange(11.0), np.arange(5.0), np.arange(7.0), np.arange(2.0)]
LOSS = _core.Loss("exponential", {})


def gini_of_labels(w):
    yes, no = w[::2], w[1::2]
    return np.sum(2 * yes * no / np.maximum(yes + no, 1e-9))  # some labels have no rows


COSTS = {
    ("plurality", "gini"): lambda w: w.sum() - (w**2).sum() / w.sum(),
    ("plurality", "error"): lambda w: w.sum() - w.max(),
    ("labels", "gini"): gini_of_labels,
    ("labels", "error"): lambda w: np.minimum(w[::2], w[1::2]).sum(),
}


class Problem:
    """Rows of three classes, in the engine's order, without equal sums of weights."""

    def __init__(self, vote, n=400, seed=0):
        rng = np.random.default_rng(seed)
        codes = np.array([rng.integers(0, len(edges) + 1, n) for edges in EDGES])
        raw = codes[0] - codes[1] + (codes[2] > 3) * codes[3] * 3 + 2 * rng.standard_normal(n)
        y = np.searchsorted(np.quantile(raw, [0.3, 0.6]), raw)
        weight = rng.uniform(0.5, 2.0, n)
        if vote == "plurality":
            parts = [(k, 1, np.flatnonzero(y == k)) for k in range(N_CLASSES)]
        else:  # each label has all rows
            labels = [(k, role) for k in range(N_CLASSES) for role in (-1, 1)]
            parts = [(k, role, np.flatnonzero((y == k) == (role > 0))) for k, role in labels]
        rows = np.concatenate([rows_of_class for _, _, rows_of_class in parts])
        sizes = [len(rows_of_class) for _, _, rows_of_class in parts]
        self.codes, self.weight = codes[:, rows].astype(np.uint8), weight[rows]
        self.segments = np.cumsum([0, *sizes])
        self.targets, self.roles = [k for k, _, _ in parts], [role for _, role, _ in parts]
        self.target, self.role = np.repeat(self.targets, sizes), np.repeat(self.roles, sizes)
        self.slot = self.target if vote == "plurality" else 2 * self.target + (self.role < 0)
        self.n_slots = N_CLASSES if vote == "plurality" else 2 * N_CLASSES

    def boost(self, vote, n_estimators, n_threads=1, **options):
        """Boost, and return the rounds of each target."""
        name, criterion = vote
        rows = _core.Rows(
            self.codes, _core.Bins(EDGES), self.segments, weight=self.weight, n_threads=n_threads
        )
        learner = _core.WeakLearner(describe_learner("tree", **options))
        model = _core.Model(LOSS, learner, np.array(self.roles, dtype=np.int8))
        algorithm = _core.VoteBoosting(_core.Vote(name, N_CLASSES, criterion), self.targets)
        boosting = _core.Boosting(rows, [model], algorithm, n_threads=n_threads)
        boosting.advance(n_estimators)
        return [boosting.rounds(0, k) for k in range(N_CLASSES)]

    def sums(self, rows, weight):
        return np.bincount(self.slot[rows], weight[rows], minlength=self.n_slots)


def grow_tree(
    problem,
    cost,
    *,
    max_leaf_nodes,
    min_child_weight=0.0,
    min_relative_decrease=0.0,
    max_features=1.0,
    subsample=1.0,
    seed=0,
):
    """Grow the first round's tree: of all leaves and features the split that saves most is next."""
    weight = problem.weight * LOSS.weight(np.zeros(1))[0]
    key = ref.draw_bits(seed, 0, 1)
    n = len(weight)
    tree = ref.Tree()
    draws = [ref.draw_bits(key, 0, i) < subsample * 2**64 for i in range(n)]
    new = [tree.add_leaf(np.array(draws))]
    waiting = {}
    while True:
        for node in new:
            rows = tree.rows[node]
            order = sorted(range(len(EDGES)), key=lambda j: ref.draw_bits(key, 1 + node, j))
            splits = []
            for j in order[: max(1, round(max_features * len(EDGES)))]:
                for cut in range(1, len(EDGES[j]) + 1):
                    left = problem.codes[j] < cut
                    branches = [problem.sums(rows & part, weight) for part in (left, ~left)]
                    if min(b.sum() for b in branches) < max(min_child_weight, 1e-9):
                        continue
                    splits.append((sum(map(cost, branches)), j, cut))
            if not splits:
                continue
            least, j, cut = min(splits)
            unsplit = cost(problem.sums(rows, weight))
            saving = unsplit - least
            if saving > ref.TIE * least and saving >= min_relative_decrease * unsplit:
                goes_right = (np.arange(len(EDGES[j]) + 1) >= cut).astype(int)
                waiting[node] = saving, j, np.append(goes_right, -1)  # no row has a missing value
        if not waiting or len(tree.leaves) == max_leaf_nodes:
            return tree, weight
        k = max(waiting, key=lambda node: (waiting[node][0], -node))
        tree.saving[k], tree.feature[k], tree.side[k] = waiting.pop(k)
        branch = tree.side[k][problem.codes[tree.feature[k]]]
        new = [tree.add_leaf(tree.rows[k] & (branch == which)) for which in (0, 1)]
        tree.left[k] = new[0]


LIMITS = {
    "free": {},
    "min_child_weight": {"min_child_weight": 40.0},
    "min_relative_decrease": {"min_relative_decrease": 0.08},
    "max_features": {"max_features": 0.5, "seed": 3},
    "subsample": {"subsample": 0.6, "seed": 4},
    "all": {"min_child_weight": 12.0, "max_features": 0.7, "subsample": 0.8, "seed": 5},
}


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("vote", COSTS, ids=" by ".join)
def test_the_first_tree_is_the_references(vote, limits):
    problem = Problem(vote[0])
    tree, weight = grow_tree(problem, COSTS[vote], max_leaf_nodes=9, **limits)
    ours = problem.boost(vote, 1, max_leaf_nodes=9, **limits)
    assert_equal_trees(ours[0], [SimpleNamespace(tree=tree)])
    np.testing.assert_allclose(ours[0].trees.saving, tree.saving, rtol=1e-6)
    sums = np.array([problem.sums(rows, weight) for rows in tree.rows])
    for target, rounds in enumerate(ours):
        if vote[0] == "plurality":
            expected = np.where(sums.argmax(axis=1) == target, 1.0, 0.0) - 1.0 / N_CLASSES
        else:
            yes, no = sums[:, 2 * target], sums[:, 2 * target + 1]
            expected = np.where(yes > no, 1.0, -1.0)
        np.testing.assert_allclose(tables(rounds)[0], expected, rtol=1e-15)


@pytest.mark.parametrize("vote", COSTS, ids=" by ".join)
def test_every_leaf_weighs_at_least_min_child_weight(vote):
    problem = Problem(vote[0])
    least = 8.0
    ours = problem.boost(vote, 6, max_leaf_nodes=12, min_child_weight=least)
    margin = np.zeros(problem.codes.shape[1])
    small = 0
    for t in range(6):
        weight = problem.weight * LOSS.weight(margin)
        begin, end = ours[0].offsets[t : t + 2]
        trees = ours[0].trees
        tree = _core.Tree(
            *(a[begin:end] for a in (trees.feature, trees.left, trees.goes_left, trees.goes_right))
        )
        nodes = tree.find_nodes(problem.codes)
        leaf_weights = np.bincount(nodes, weight, minlength=end - begin)[tree.feature < 0]
        assert leaf_weights.min() >= least * (1 - 1e-6)
        small += leaf_weights.min() < 2 * least
        entries = np.array([tables(rounds)[t] for rounds in ours])
        margin += problem.role * ours[0].step[t] * entries[problem.target, nodes]
    assert small  # the limit mattered at least once


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("name", ["plurality", "labels"])
def test_trees_do_not_depend_on_threads(name, limits):
    problem = Problem(name, n=20_000)
    alone = problem.boost((name, "gini"), 4, **limits)
    for n_threads in (2, 3):
        together = problem.boost((name, "gini"), 4, n_threads, **limits)
        for one, other in zip(alone, together, strict=True):
            assert_identical(one, other)


@pytest.mark.parametrize("of_two", [False, True])
def test_nodes_hold_the_weight_of_their_rows(of_two):
    """The root holds the weights of the class and of the rest; so do the leaves together."""
    X, y = load_iris(return_X_y=True)
    y, weight = y == 1 if of_two else y, np.arange(150) % 3 + 1.0
    model = pb.ARBoostClassifier(weak_learner="tree", n_estimators=2).fit(X, y, weight)
    for k, rounds in enumerate(model.ensemble_.models):
        in_class = y == (1 if of_two else k)
        expected = [weight[~in_class].sum(), weight[in_class].sum()]
        for begin, end in itertools.pairwise(rounds.offsets):
            trees, leaves = rounds.trees, rounds.trees.feature[begin:end] < 0
            np.testing.assert_allclose(trees.weight[begin], expected)
            np.testing.assert_allclose(trees.weight[begin:end][leaves].sum(axis=0), expected)
