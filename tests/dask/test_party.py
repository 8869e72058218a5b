"""A party by itself: tasks that wait for answers, and those that nobody answers any more."""

import threading

import numpy as np
import pytest

pytest.importorskip("distributed")

import properboost as pb
from properboost.dask.party import Party, RowsOfParty
from properboost.parameters.learners import ROWS_PER_BIN
from properboost.parameters.rows import read_binning


def make_party(n=60):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (2, n)).astype(np.uint8)
    model = pb.ProperBoostClassifier(max_bins=4).fit(codes.T.astype(float), np.arange(n) % 2)
    binning = model.ensemble_.binning
    assert read_binning(model, ROWS_PER_BIN).max_bins == 4
    party = Party([codes[:, :20], codes[:, 20:]])
    order = np.argsort(np.arange(n) % 2, kind="stable")
    party.prepare(
        RowsOfParty(
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
    return party, codes[:, order]


def threads():
    return threading.active_count()


def test_what_a_party_does_by_itself():
    party, codes = make_party()
    np.testing.assert_array_equal(party.ask("gather", 0, (1,)), codes[1:])


def test_a_task_says_its_sums_and_goes_on_with_those_of_all():
    party, codes = make_party()
    said = party.begin(1, "weigh", 0, np.array([1, -1]), 2)
    kinds = []
    while said[0] == "share":
        kinds.append(said[0])
        said = party.go_on(1, (2 * said[1], said[2]))  # as if another had the same rows
    assert kinds
    assert said[0] == "done"
    alone = np.concatenate([np.bincount(own[:30], minlength=4) for own in codes])
    nobody, found = said[1].reshape(2, 2, -1)[:, :, :4].reshape(2, -1)
    np.testing.assert_array_equal(found, 2.0 * alone)
    assert not nobody.any()


def test_a_task_that_is_abandoned_ends():
    party, _ = make_party()
    before = threads()
    assert party.begin(1, "weigh", 0, np.array([0, 0]), 1)[0] == "share"
    assert threads() == before + 1
    party.abandon(2)
    assert threads() == before
    assert party.begin(3, "weigh", 0, np.array([0, 0]), 1)[0] == "share"
    del party  # as where the client is gone
    assert threads() == before


@pytest.mark.timeout(20.0)
def test_calls_that_come_late():
    party, _ = make_party()
    both = np.array([0, 0]), 1
    said = party.begin(1, "weigh", 0, *both)
    party.abandon(2)
    for late in (party.go_on(1, said[1:]), party.begin(2, "weigh", 0, *both)):
        assert late[0] == "failed"
    assert party.begin(3, "weigh", 0, *both)[0] == "share"
    assert party.go_on(1, said[1:])[0] == "failed"
    assert party.go_on(3, said[1:])[0] == "share"
    assert party.begin(4, "weigh", 0, *both)[0] == "share"  # in place of what was not ended
    assert party.go_on(3, said[1:])[0] == "failed"
    party.abandon(5)


def test_errors_of_calls_are_the_party_s():
    party, codes = make_party()
    found, error = party.answer("ask", "gather", 0, (0,))
    np.testing.assert_array_equal(found, codes[:1])
    assert error is None
    found, error = party.answer("ask", "gather", 7, (0,))
    assert found is None
    assert isinstance(error, KeyError)


def test_errors_of_a_task_are_said():
    party, _ = make_party()
    kind, error = party.begin(1, "weigh", 7, np.array([0, 0]), 1)
    assert kind == "failed"
    assert isinstance(error, KeyError)
