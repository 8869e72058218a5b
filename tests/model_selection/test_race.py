"""Races of candidates: the dropped ones, and races of one candidate in another process."""

import numpy as np
import pytest

from properboost.model_selection.deadline import Deadline
from properboost.model_selection.race import Race


def run(race, curves, most):
    """Show a race all curves together; return after how many estimators each has lost."""
    lost = {}
    race.enter([0])
    for at in (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 19, 24, 30, 38, 48, 60, 75, 94, 118, 148, 185):
        for k, curve in enumerate(curves):
            if k not in lost:
                race.see(k, at, np.array([[curve(at)]]))
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


def has_lost(best, *, seen=(8, 16), most=1000, pace=0.02):
    """Return whether a candidate has lost that was last at -0.5 and improves steadily."""
    race = Race(lambda: False)
    race.enter([0])
    race.see(0, most, np.array([[best]]))
    for at in seen:
        race.see(1, at, np.array([[-0.5 + pace * np.log(at / seen[-1])]]))
    return race.is_lost(1, most)


def test_a_candidate_may_go_on_half_as_fast_again_as_it_did():
    hoped = -0.5 + 1.5 * 0.02 * np.log(1000 / 16)
    assert not has_lost(hoped - 1e-9)
    assert has_lost(hoped + 1e-9)
    reached = -0.5 + 0.01 * np.log(2)  # the best score of one that now gets worse
    assert not has_lost(reached - 1e-9, pace=-0.01)
    assert has_lost(reached + 1e-9, pace=-0.01)


def test_a_pace_is_measured_from_two_thirds_of_the_estimators_on():
    hoped = -0.5 + 1.5 * 0.02 * np.log(1000 / 18)
    assert not has_lost(0.0, seen=(13, 18))
    assert has_lost(hoped + 1e-9, seen=(12, 18))
    assert not has_lost(hoped - 1e-9, seen=(12, 18))
    assert not has_lost(hoped - 1e-9, seen=(2, 12, 18))  # from the last point that is early enough


def test_no_pace_is_judged_before_a_64th_of_the_estimators():
    assert not has_lost(0.0, seen=(8, 15), most=1000)
    assert has_lost(0.0, seen=(8, 15), most=960)


def test_what_is_known_of_one_step_drops_the_others_sooner():
    known = decay(0.2, 20.0)
    worse = decay(0.25, 20.0)
    alone, beside = Race(lambda: False), Race(lambda: False)
    for race in (alone, beside):
        race.enter([0])
        race.see(0, 1000, np.array([[known(1000)]]))
    alone.begin()
    steps = np.array([[[known(at) for at in range(1, 1001)]]])
    beside.begin(steps, [1.0, 0.5])
    late, soon = (run(race, [worse], 1000)[0] for race in (alone, beside))
    assert soon < late
    beside.begin(steps, [0.5])
    assert 0 not in run(beside, [decay(0.15, 40.0)], 1000)  # half as fast, and better in the end


def test_nothing_is_dropped_without_leave():
    curves = [decay(0.2, 5.0), decay(0.5, 5.0)]
    assert run(Race(lambda: False, drops=False), curves, 1000) == {}
    assert run(Race(lambda: False), curves, 1000) == {1: pytest.approx(24, abs=20)}


def test_a_score_that_is_missing_decides_nothing():
    race = Race(lambda: False)
    race.enter([0, 1])
    race.see(0, 8, np.array([[np.nan, -0.2]]))
    race.see(0, 20, np.array([[np.nan, -0.1]]))
    assert race.leaders is None
    assert not race.is_lost(0, 100)


def test_a_race_alone_begins_where_the_race_is():
    race = Race(Deadline.after(None))
    race.enter([0])
    for at in (8, 16, 32):
        race.see(0, at, np.array([[-0.1]]))
    alone = race.alone(1)
    for at in (8, 16, 32):
        alone.see(0, at, np.array([[-0.9]]))
    assert alone.is_lost(0, 100)
    alone.dropped.add(0)
    race.take(1, alone)
    assert race.dropped == {1}
    assert race.leaders == -0.1
    better = race.alone(0)
    better.see(0, 8, np.array([[-0.05]]))
    race.take(0, better)
    assert race.leaders == -0.05


def test_what_races_alone_learn_of_spreads_is_known_to_the_race():
    race = make_race()
    race.begin()
    for k in range(3):
        alone = race.alone(k)
        alone.enter(range(5))
        alone.see(0, 10, LEADER - np.linspace(0.01, 0.02 + 0.01 * k, 5))
        race.take(k, alone)
    together = make_race()
    together.begin()
    together.enter(range(5))
    for k in range(3):
        together.see(k, 10, LEADER - np.linspace(0.01, 0.02 + 0.01 * k, 5))
    for contest in (race, together):
        contest.enter([0, 1])
    assert 0.0 < race._find_margin(1.0) == together._find_margin(1.0) < 0.1


LEADER = np.array([[-0.20, -0.30, -0.25, -0.20, -0.30]])


def make_race(**settings):
    """Return a race whose best has the scores above, on five splits."""
    race = Race(lambda: False, **settings)
    race.enter(range(5))
    race.see(0, 10, LEADER)
    return race


def run_first(race, behind, apart=0.01):
    """Run candidates on the first two splits, so far behind the best; return the dropped ones."""
    assert race.choose_first(5) == 2
    race.enter([0, 1])
    for k, distance in enumerate(behind):
        race.see(k, 10, LEADER[:, :2] - distance + [-apart, apart])
    race.drop_behind(range(len(behind)))
    return race.dropped


def test_splits_come_in_two_parts_only_if_there_is_a_leader_and_there_are_enough():
    assert Race(lambda: False).choose_first(5) == 0
    assert make_race(drops=False).choose_first(5) == 0
    assert make_race(in_parts=False).choose_first(5) == 0
    race = make_race()
    assert [race.choose_first(n) for n in (1, 2, 3, 4, 5, 10, 15)] == [0, 0, 0, 2, 2, 4, 6]


def test_who_is_behind_on_the_first_splits_is_dropped():
    race = make_race()
    race.begin()
    assert run_first(race, [0.1, -0.001, 0.002, 0.05]) == {0, 3}


def test_how_far_candidates_may_be_behind_depends_on_how_far_splits_differ():
    close, far = make_race(), make_race()
    assert run_first(close, [0.0, 0.02], apart=0.001) == {1}
    assert run_first(far, [0.0, 0.02], apart=0.1) == set()


def test_of_those_that_are_all_behind_the_best_goes_on():
    race = make_race()
    race.begin()
    assert run_first(race, [0.2, 0.1, 0.3]) == {0, 2}
    assert run_first(race, [0.2, 0.1, 0.3]) == {0, 1, 2}  # by now one has continued


def test_steps_run_on_all_splits_at_once():
    race = make_race()
    race.begin(np.full((1, 5, 10), -0.25), [1.0] * 3)
    assert race.choose_first(5) == 0
    race.begin()
    assert race.choose_first(5) == 2


def test_a_score_that_is_missing_on_the_first_splits_drops_nobody():
    race = make_race()
    race.begin()
    race.enter([0, 1])
    race.see(0, 10, LEADER[:, :2] - [0.09, 0.11])
    race.see(1, 10, np.array([[-0.9, np.nan]]))
    race.see(2, 10, LEADER[:, :2])
    race.drop_behind(range(3))
    assert race.dropped == {0}


def test_only_scores_on_all_splits_lead():
    race = make_race()
    race.enter([0, 1])
    race.see(0, 10, LEADER[:, :2] + 0.1)
    np.testing.assert_array_equal(race.leaders, LEADER)
    race.enter(range(5))
    race.see(0, 10, LEADER + 0.01)
    np.testing.assert_array_equal(race.leaders, LEADER + 0.01)


def test_each_score_has_a_leader():
    race = Race(lambda: False)
    race.enter(range(2))
    race.see(0, 10, np.array([[0.8, 0.9], [-0.3, -0.2]]))
    race.see(1, 10, np.array([[0.7, 0.8], [-0.2, -0.1]]))
    np.testing.assert_array_equal(race.leaders, [[0.8, 0.9], [-0.2, -0.1]])
