"""Deadlines, here and in other processes."""

import pickle
import time

import pytest

from properboost.model_selection.deadline import Deadline


def test_a_deadline_holds_in_other_processes():
    for seconds in (None, 0.05, -1.0):
        limit = Deadline.after(seconds)
        again = pickle.loads(pickle.dumps(limit))
        assert limit() == again() == (seconds == -1.0)
    time.sleep(0.06)
    assert pickle.loads(pickle.dumps(Deadline.after(0.0)))()


def test_a_deadline_may_need_more_than_is_left():
    soon = Deadline.after(100.0)
    assert not soon()
    assert not soon(50.0)
    assert soon(200.0)
    assert 0.0 < soon.seconds_left <= 100.0


def test_a_share_of_the_time_that_is_left():
    whole = Deadline.after(100.0)
    assert whole.share(0.6).end == pytest.approx(whole.end - 40.0, abs=1.0)
    never = Deadline.after(None)
    assert not never.is_limited
    assert never.share(0.6) is never
    assert not never(1e9)
