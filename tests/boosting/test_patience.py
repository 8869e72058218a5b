"""When boosting that is watched is over."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from properboost.boosting.patience import FEWEST, SHARE, Patience


def see_all(patience, *scores):
    patience.see(0, np.array(scores, dtype=float))
    return patience


def test_it_is_over_when_nothing_has_improved_for_so_long():
    patience = see_all(Patience(1, 3, 0.0), [1.0, 2.0, 2.0, 1.5])
    assert not patience.is_over(4)
    assert patience.is_over(5)
    assert patience.best == 2.0


def test_one_score_that_improves_is_enough():
    patience = see_all(Patience(2, 2, 0.0), [1.0, 1.0, 1.0], [1.0, 2.0, 3.0])
    assert not patience.is_over(4)
    assert patience.is_over(5)


def test_less_than_the_tolerance_is_no_improvement():
    assert see_all(Patience(1, 2, 0.1), [-1.0, -0.95, -0.92]).is_over(3)
    assert not see_all(Patience(1, 2, 0.1), [-1.0, -0.95, -0.89]).is_over(3)


def test_nan_never_improves():
    patience = see_all(Patience(1, 2, 0.0), [np.nan, np.nan])
    assert patience.is_over(2)
    assert patience.best == -np.inf


@given(at=st.integers(1, 200))
def test_auto_gives_slow_learners_more_time(at):
    patience = see_all(Patience(1, "auto", 0.0), np.arange(at))
    wait = max(FEWEST, SHARE * at)
    assert patience.is_over(at + int(np.ceil(wait)))
    assert not patience.is_over(at + int(np.ceil(wait)) - 1)
