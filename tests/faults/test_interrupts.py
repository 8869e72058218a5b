"""Test Ctrl-C: every long call stops, and leaves no trace."""

import random

import pytest

from faults.interrupts import CASES, interrupt, make_cases

MOST_SECONDS = 5.0
"""Seconds within which a call must stop.

The whole call takes some tenths of a second, but a busy machine may pause for as long.  The script
`faults.interrupts` measures the usual delays.
"""


def test_ctrl_c_stops_long_calls_without_a_trace():
    moments = random.Random(0)
    outcomes = [interrupt(case, 1, moments) for case in make_cases(rows=6000)]
    assert len(outcomes) == CASES
    assert sum(len(outcome.delays) for outcome in outcomes) > CASES // 4
    assert max(delay for outcome in outcomes for delay in outcome.delays) < MOST_SECONDS


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_prediction_of_trees_stops_between_rows(n_jobs):
    """The whole call takes some tenths of a second."""
    import numpy as np

    import properboost as pb
    from faults.interrupts import interrupted_after, make_rows

    X, y = make_rows(2000, 4)
    model = pb.ProperBoostClassifier(weak_learner="tree", n_estimators=300, n_jobs=n_jobs)
    model.fit(X, y)
    many = np.tile(X, (1000, 1))
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.05):
        model.decision_function(many)
