"""Races of candidates: who is dropped, and races of one in another process."""

import numpy as np
import pytest

from properboost.model_selection.deadline import Deadline
from properboost.model_selection.race import Race


def run(race, curves, most):
    """Show a race all curves side by side; return after how many estimators each is lost."""
    lost = {}
    for at in (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 19, 24, 30, 38, 48, 60, 75, 94, 118, 148, 185):
        for k, curve in enumerate(curves):
            if k not in lost:
                race.see(k, at, np.array([curve(at)]))
        for k in range(len(curves)):
            if k not in lost and race.is_lost(k, most):
                lost[k] = at
    return lost


def decay(floor, pace):
    return lambda at: -(floor + 0.7 * np.exp(-at / pace))


def test_a_slow_learner_that_will_win_stays_and_one_that_cannot_goes():
    slow_but_best, quick, hopeless = decay(0.2, 60.0), decay(0.3, 5.0), decay(0.5, 20.0)
    lost = run(Race(lambda: False), [slow_but_best, quick, hopeless], 1000)
    assert set(lost) == {1, 2}


def test_what_is_known_of_one_step_drops_the_others_sooner():
    known = decay(0.2, 20.0)
    worse = decay(0.25, 20.0)
    alone, beside = Race(lambda: False), Race(lambda: False)
    for race in (alone, beside):
        race.see(0, 1000, np.array([known(1000)]))
    alone.begin()
    beside.begin(np.array([[known(at) for at in range(1, 1001)]]), [1.0, 0.5])
    late, soon = (run(race, [worse], 1000)[0] for race in (alone, beside))
    assert soon < late
    beside.begin(np.array([[known(at) for at in range(1, 1001)]]), [0.5])
    assert 0 not in run(beside, [decay(0.15, 40.0)], 1000)  # half as fast, and better in the end


def test_nothing_is_dropped_without_leave():
    curves = [decay(0.2, 5.0), decay(0.5, 5.0)]
    assert run(Race(lambda: False, drops=False), curves, 1000) == {}
    assert run(Race(lambda: False), curves, 1000) == {1: pytest.approx(24, abs=20)}


def test_a_score_that_is_missing_decides_nothing():
    race = Race(lambda: False)
    race.see(0, 8, np.array([np.nan]))
    race.see(0, 20, np.array([np.nan]))
    assert race.best is None
    assert not race.is_lost(0, 100)


def test_a_race_alone_begins_where_the_race_is():
    race = Race(Deadline.after(None))
    for at in (8, 16, 32):
        race.see(0, at, np.array([-0.1]))
    alone = race.alone(1)
    for at in (8, 16, 32):
        alone.see(0, at, np.array([-0.9]))
    assert alone.is_lost(0, 100)
    alone.dropped.add(0)
    race.take(1, alone)
    assert race.dropped == {1}
    assert race.best == -0.1
    better = race.alone(0)
    better.see(0, 8, np.array([-0.05]))
    race.take(0, better)
    assert race.best == -0.05
