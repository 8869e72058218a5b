"""Test trees of many rows: the search sums in 32 bits, but leaves hold exact values.

A cell's sums have room for 4,095 rows of the largest weight, or for as few as 1,023 if that weight
is far above the mean.
"""

from itertools import pairwise

import numpy as np
import pytest

import helpers.reference as ref
from helpers.engine import (
    LOSSES,
    assert_equal_models,
    assert_identical,
    make_boosting,
    problem,
    train,
)
from helpers.instruction_sets import assert_same_in_all_sets
from helpers.trees import weights_by_node
from properboost import _core
from properboost.models.ensemble import Rounds

ROWS = 9_001
GROWTHS = {"leaves": {"max_leaf_nodes": 12}, "levels": {"grow_policy": "symmetric", "max_depth": 4}}


def draw(n, *, weighted):
    """Return a problem in the engine's order; nearly all rows share one code of a feature."""
    codes, features, bins, y = problem(3, n)
    codes[0] = np.where(np.arange(n) % 50 == 0, codes[0], 3)
    order = np.argsort(y, kind="stable")
    weight = np.random.default_rng(0).uniform(2.0, 8.0, n) if weighted else np.ones(n)
    weight[:: n // 9] = 0.0
    return codes[:, order], features, bins, y[order], weight


def compare_with_reference(n, weighted, loss, **options):
    codes, features, bins, y, weight = draw(n, weighted=weighted)
    common = {key: options.pop(key) for key in ("response", "n_estimators")}
    ours = train(codes, features, y, weight, loss=loss, weak_learner="tree", **options, **common)
    theirs = ref.fit(
        codes, bins, y, weight, loss=ref.make_loss(loss, 1.0), learner="tree",
        tree=ref.TreeSettings(**{"max_leaf_nodes": 6, **options}), **common,
    )  # fmt: skip
    assert_equal_models(ours, theirs)
    node_weights = weights_by_node(theirs, y[weight > 0], weight[weight > 0])
    np.testing.assert_allclose(ours.trees.weight, node_weights, rtol=1e-12)
    # A split's saving is stored with the precision of the search.
    saving = np.concatenate([r.tree.saving for r in theirs])
    error = np.abs(ours.trees.saving - saving)
    assert (error <= 1e-5 * np.sum(node_weights, axis=1) + 1e-3 * saving).all()


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("response", _core.response_names())
@pytest.mark.parametrize("growth", GROWTHS)
@pytest.mark.parametrize("loss", ["glog", "savage", "exponential"])
def test_trees_of_many_rows_equal_the_reference(loss, growth, response, weighted):
    compare_with_reference(
        ROWS, weighted, loss, response=response, n_estimators=3, **GROWTHS[growth]
    )


@pytest.mark.parametrize("response", ["real", "newton"])
def test_cells_of_more_rows_than_fit_are_read_off(response):
    """A code of the first feature has nearly 6 x 10^5 rows, whose sums exceed 32 bits."""
    compare_with_reference(
        600_000, False, "glog", response=response, n_estimators=1, max_leaf_nodes=3
    )


def boost(n, order=None, weighted=False, loss="glog", rounds=4, **settings):
    codes, features, _, y, weight = draw(n, weighted=weighted)
    segments = [0, int((y < 0).sum()), n]
    if order is not None:
        rng = np.random.default_rng(order)
        at = np.concatenate([rng.permutation(np.arange(*ends)) for ends in pairwise(segments)])
        codes, weight = codes[:, at], weight[at]
    boosting = make_boosting(
        codes, features, segments, [[-1, 1]], [_core.Loss(loss, LOSSES[loss])],
        weight if weighted else None, weak_learner="tree", **settings,
    )  # fmt: skip
    boosting.advance(rounds)
    return boosting.rounds(0)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("response", ["real", "newton"])
@pytest.mark.parametrize("growth", GROWTHS)
def test_neither_the_order_of_rows_nor_threads_matter(growth, response, weighted):
    settings = {"response": response, "weighted": weighted, **GROWTHS[growth]}
    one = boost(150_000, **settings)
    assert_identical(one, boost(150_000, n_threads=3, **settings))
    assert_identical(one, boost(150_000, order=1, **settings))


@pytest.mark.parametrize("response", ["real", "newton"])
def test_weights_that_differ_too_much_are_summed_in_64_bits(response):
    """Weights of AdaBoost's loss soon differ so; no row that still matters may be rounded to 0."""
    rounds = boost(
        ROWS,
        loss="exponential",
        rounds=40,
        response=response,
        max_leaf_nodes=60,
        step="line_search",
    )
    assert (np.diff(rounds.risk[rounds.step != 0]) <= 1e-6).all()


@pytest.mark.parametrize("response", ["real", "newton"])
@pytest.mark.parametrize("growth", GROWTHS)
def test_rows_of_next_to_no_weight_end_at_leaves(growth, response):
    """Light rows have a category and missing values of their own, which get branches."""
    codes, features, _, y, _ = draw(ROWS, weighted=False)
    light = np.arange(ROWS) % 500 == 0
    codes[2] = np.where(light, 4, codes[2])
    codes[3] = np.where(light, 3, np.minimum(codes[3], 2))
    rounds = train(
        codes, features, y, np.where(light, 1e-8, 1.0), weak_learner="tree", response=response,
        n_estimators=3, **GROWTHS[growth],
    )  # fmt: skip
    rounds = Rounds.from_native(rounds)
    for t in range(len(rounds)):
        nodes = rounds.find_codes(t, codes.astype(np.uint8), 1)
        assert (rounds.trees.feature[rounds.offsets[t] + nodes] == -1).all()


DIGEST = """
import hashlib
from properboost import _core
from engine.test_narrow_trees import boost

digest = hashlib.sha256()
for response in ("real", "newton"):
    rounds = boost(9_001, response=response, max_leaf_nodes=20, weighted=True)
    digest.update(rounds.values.tobytes() + rounds.trees.saving.tobytes())
result = digest.hexdigest()
"""


def test_every_instruction_set_grows_the_same_trees():
    assert_same_in_all_sets(DIGEST)
