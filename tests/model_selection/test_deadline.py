"""Deadlines, here and in other processes."""

import pickle
import time

from properboost.model_selection.deadline import Deadline


def test_a_deadline_holds_in_other_processes():
    for seconds in (None, 0.05, -1.0):
        limit = Deadline.after(seconds)
        again = pickle.loads(pickle.dumps(limit))
        assert limit() == again() == (seconds == -1.0)
    time.sleep(0.06)
    assert pickle.loads(pickle.dumps(Deadline.after(0.0)))()
