"""Test sums of lanes in 32 bits, which must equal the sums of a single model in 64.

A cell's sums have room for 1,023 rows of the largest weight.
"""

from itertools import pairwise

import numpy as np
import pytest

from helpers.engine import assert_identical, make_boosting
from helpers.folds import N_FOLDS, raw_predictions, roles_of
from helpers.instruction_sets import assert_same_in_all_sets
from properboost import _core

ROWS = 9_001
FEATURES = [254, 254, 254, 254, 1, 1, 2, 1, 3, 30, 254]


def draw(n=ROWS, weighted=False, seed=5):
    """Return codes, segments by class and fold, and weights."""
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, f, n) for f in FEATURES]).astype(np.uint8)
    codes[1] = 7  # all rows share this code
    codes[2] = np.where(rng.random(n) < 0.7, 200, codes[2])
    score = codes[0] / 64.0 + codes[4] + (codes[2] > 100) - codes[8] + codes[9] / 10.0
    y = np.where(score - score.mean() + rng.logistic(size=n) > 0, 1, -1)
    key = (y > 0) * N_FOLDS + rng.integers(0, N_FOLDS, n)
    codes[3] = np.sort(codes[3])  # codes come in long runs
    order = np.argsort(key, kind="stable")
    segments = np.cumsum([0, *np.bincount(key, minlength=2 * N_FOLDS)])
    weight = rng.choice([0.0, 1.0, 2.0], n) if weighted else None
    return codes[:, order], segments, weight


def boost(codes, segments, weight, n, *, loss="glog", rounds=6, **settings):
    boosting = make_boosting(
        codes, FEATURES, segments, [roles_of(k % (N_FOLDS + 1)) for k in range(n)],
        [_core.Loss(loss, {})] * n, weight, gain=np.geomspace(0.3, 8.0, n), **settings,
    )  # fmt: skip
    boosting.advance(rounds)
    return boosting


def assert_same_models(one, other, n):
    for m in range(n):
        assert_identical(one.rounds(m), other.rounds(m))
        np.testing.assert_array_equal(one.curves(m), other.curves(m))


CASES = [
    {"response": "real"},
    {"response": "newton"},
    {"response": "real", "weak_learner": "stump", "selection": "unbiased"},
    {"response": "newton", "loss": "savage"},
    {"response": "real", "loss": "exponential", "rounds": 20},  # these weights soon differ too much
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("n", [7, 30, 50])
@pytest.mark.parametrize("weighted", [False, True])
def test_lanes_have_the_bits_of_models_by_themselves(case, n, weighted):
    problem = draw(weighted=weighted)
    together, apart = (boost(*problem, n, lanes=lanes, **case) for lanes in (16, 1))
    assert_same_models(together, apart, n)


@pytest.mark.parametrize("response", ["real", "newton"])
def test_neither_threads_nor_parts_of_rows_matter(response):
    problem = draw(n=140_000)
    one, other = (
        boost(*problem, 50, response=response, n_threads=threads, rounds=3) for threads in (1, 3)
    )
    assert_same_models(one, other, 50)


@pytest.mark.parametrize("response", ["real", "newton"])
def test_the_order_of_rows_does_not_matter(response):
    codes, segments, _ = draw()
    rng = np.random.default_rng(0)
    order = np.concatenate([rng.permutation(np.arange(*ends)) for ends in pairwise(segments)])
    one, other = (
        boost(of_rows, segments, None, 50, response=response)
        for of_rows in (codes, codes[:, order])
    )
    assert_same_models(one, other, 50)


def test_a_weight_of_two_is_two_rows():
    codes, segments, _ = draw(n=6_000)
    twice = np.repeat(codes, 2, axis=1)
    one = boost(codes, segments, np.full(codes.shape[1], 2.0), 5)
    other = boost(twice, 2 * segments, None, 5)
    for m in range(5):
        a, b = one.rounds(m), other.rounds(m)
        assert a.feature.tolist() == b.feature.tolist()
        np.testing.assert_allclose(
            raw_predictions(a, codes), raw_predictions(b, codes), rtol=1e-6, atol=1e-6
        )


DIGEST = """
import hashlib
from properboost import _core
from engine.test_narrow_sums import boost, draw

digest = hashlib.sha256()
for response in ("real", "newton"):
    for n in (7, 30, 50):
        boosting = boost(*draw(), n, response=response)
        for m in range(n):
            digest.update(boosting.rounds(m).values.tobytes())
result = digest.hexdigest()
"""


def test_every_instruction_set_gives_the_same_bits():
    assert_same_in_all_sets(DIGEST)
