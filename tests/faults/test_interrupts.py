"""Ctrl-C: heard in every long call, which then leaves no trace."""

import random

import pytest

from faults.interrupts import CASES, interrupt, make_cases

MOST_SECONDS = 5.0
"""A call that hears nothing would go on to its end, some tenths of a second later; but a machine
that is busy may pause for that long, too.  What the time really is, the long form measures."""


def test_long_calls_hear_ctrl_c_and_leave_no_trace():
    moments = random.Random(0)
    outcomes = [interrupt(case, 1, moments) for case in make_cases(rows=6000)]
    assert len(outcomes) == CASES
    assert sum(len(outcome.delays) for outcome in outcomes) > CASES // 4
    assert max(delay for outcome in outcomes for delay in outcome.delays) < MOST_SECONDS


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_prediction_of_trees_stops_between_rows(n_jobs):
    """The call takes seconds where nothing is heard; a tenth of them is heard from the engine."""
    import numpy as np

    import properboost as pb
    from faults.interrupts import interrupted_after, make_rows

    X, y = make_rows(2000, 4)
    model = pb.ProperBoostClassifier(weak_learner="tree", n_estimators=300, n_jobs=n_jobs)
    model.fit(X, y)
    many = np.tile(X, (1000, 1))
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.3):
        model.decision_function(many)
