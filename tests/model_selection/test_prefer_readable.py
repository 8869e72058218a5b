"""A search prefers a readable model where it is not worse by more than noise."""

import numpy as np
import pytest

import properboost as pb
from properboost.model_selection.prefer_readable import ERRORS, SHARE, prefer_readable
from properboost.parameters.learners import make_learner


@pytest.mark.parametrize(("behind", "expected"), [(0.3, 1), (3.0, 0)])
def test_a_readable_candidate_within_noise_is_preferred(behind, expected):
    rng = np.random.default_rng(0)
    best = rng.normal(size=5)
    noise = rng.normal(size=5)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    scores = np.stack([best, best + noise - behind * ERRORS / 5**0.5, best - 9.0])
    assert prefer_readable([False, True, True], scores, 0) == expected


@pytest.mark.parametrize(("factor", "expected"), [(0.9, 1), (1.1, 0)])
def test_one_split_counts_a_share_of_the_score(factor, expected):
    scores = np.array([[-0.5], [-0.5 * (1.0 + factor * SHARE)]])
    assert prefer_readable([False, True], scores, 0) == expected


def test_the_best_stays_if_it_is_readable_or_nothing_else_is_known():
    scores = np.array([[-0.5, -0.5], [np.nan, -0.5], [-0.6, -0.6]])
    assert prefer_readable([True, True, False], scores, 0) == 0
    assert prefer_readable([False, True, False], scores, 0) == 0


def test_limits_say_what_is_readable():
    readable = [
        "table", "stump", pb.Rule(max_conditions=3), pb.Tree(interaction_cst=3),
        pb.Tree(max_depth=2), pb.Tree(max_leaf_nodes=4), pb.Tree(interaction_cst="pairwise"),
        pb.Tree(grow_policy="symmetric", max_depth=3),
    ]  # fmt: skip
    others = ["tree", pb.Rule(max_conditions=4), pb.Tree(interaction_cst=4), pb.Tree(max_depth=4)]
    for expected, learners in ((True, readable), (False, others)):
        for learner in learners:
            assert make_learner(learner).is_readable is expected
