"""Test a shard by itself: tasks that wait for answers, and tasks that get none any more."""

import threading

import numpy as np
import pytest

pytest.importorskip("distributed")

import properboost as pb
from properboost.dask.shard import Shard, ShardRows
from properboost.parameters.learners import ROWS_PER_BIN
from properboost.parameters.rows import read_binning


def make_shard(n=60):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (2, n)).astype(np.uint8)
    model = pb.ProperBoostClassifier(max_bins=4, weak_learner="table").fit(
        codes.T.astype(float), np.arange(n) % 2
    )
    binning = model.ensemble_.binning
    assert read_binning(model, ROWS_PER_BIN).max_bins == 4
    shard = Shard([codes[:, :20], codes[:, 20:]])
    order = np.argsort(np.arange(n) % 2, kind="stable")
    shard.prepare(
        ShardRows(
            classes=np.array([0, 1]),
            binning=binning,
            places=order,
            segments=np.array([0, n // 2, n]),
            class_of=np.array([0, 1]),
            weight=None,
            numbers=order,
            class_weights=np.array([n / 2, n / 2]),
            rows_of_class=np.array([n // 2, n // 2]),
            names=None,
        )
    )
    return shard, codes[:, order]


def count_threads(*, beside):
    """Return how many threads run that did not before; others may end meanwhile."""
    return len({*threading.enumerate()} - beside)


def test_what_a_shard_does_by_itself():
    shard, codes = make_shard()
    np.testing.assert_array_equal(shard.ask("gather", 0, (1,)), codes[1:])


def test_a_task_returns_its_sums_and_continues_with_the_totals():
    shard, codes = make_shard()
    answer = shard.begin(1, "weigh", 0, np.array([1, -1]), 2)
    kinds = []
    while answer[0] == "all_reduce":
        kinds.append(answer[0])
        answer = shard.go_on(1, (2 * answer[1], answer[2]))  # as if another shard had the same rows
    assert kinds
    assert answer[0] == "done"
    alone = np.concatenate([np.bincount(column[:30], minlength=4) for column in codes])
    nobody, sums = answer[1].reshape(2, 2, -1)[:, :, :4].reshape(2, -1)
    np.testing.assert_array_equal(sums, 2.0 * alone)
    assert not nobody.any()


def test_a_task_that_is_abandoned_ends():
    shard, _ = make_shard()
    before = {*threading.enumerate()}
    assert shard.begin(1, "weigh", 0, np.array([0, 0]), 1)[0] == "all_reduce"
    assert count_threads(beside=before) == 1
    shard.abandon(2)
    assert count_threads(beside=before) == 0
    assert shard.begin(3, "weigh", 0, np.array([0, 0]), 1)[0] == "all_reduce"
    del shard  # a lost client drops the shard
    assert count_threads(beside=before) == 0


@pytest.mark.timeout(20.0)
def test_calls_that_come_late():
    shard, _ = make_shard()
    both = np.array([0, 0]), 1
    answer = shard.begin(1, "weigh", 0, *both)
    shard.abandon(2)
    for late in (shard.go_on(1, answer[1:]), shard.begin(2, "weigh", 0, *both)):
        assert late[0] == "failed"
    assert shard.begin(3, "weigh", 0, *both)[0] == "all_reduce"
    assert shard.go_on(1, answer[1:])[0] == "failed"
    assert shard.go_on(3, answer[1:])[0] == "all_reduce"
    # This replaces the call that had not ended.
    assert shard.begin(4, "weigh", 0, *both)[0] == "all_reduce"
    assert shard.go_on(3, answer[1:])[0] == "failed"
    shard.abandon(5)


def test_errors_of_calls_are_the_shard_s():
    shard, codes = make_shard()
    gathered, error = shard.answer("ask", "gather", 0, (0,))
    np.testing.assert_array_equal(gathered, codes[:1])
    assert error is None
    gathered, error = shard.answer("ask", "gather", 7, (0,))
    assert gathered is None
    assert isinstance(error, KeyError)


def test_errors_of_a_task_are_returned():
    shard, _ = make_shard()
    kind, error = shard.begin(1, "weigh", 7, np.array([0, 0]), 1)
    assert kind == "failed"
    assert isinstance(error, KeyError)
