"""Test the end of watched boosting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properboost.fitting.patience import LEAST_WAIT, WAIT_SHARE, Patience


def add_all(patience, *scores):
    patience.add(0, np.array(scores, dtype=float))
    return patience


def test_it_is_over_when_nothing_has_improved_for_so_long():
    patience = add_all(Patience(1, 3, 0.0), [1.0, 2.0, 2.0, 1.5])
    assert not patience.is_over(4)
    assert patience.is_over(5)
    assert patience.best == 2.0


def test_one_score_that_improves_is_enough():
    patience = add_all(Patience(2, 2, 0.0), [1.0, 1.0, 1.0], [1.0, 2.0, 3.0])
    assert not patience.is_over(4)
    assert patience.is_over(5)


def test_less_than_the_tolerance_is_no_improvement():
    assert add_all(Patience(1, 2, 0.1), [-1.0, -0.95, -0.92]).is_over(3)
    assert not add_all(Patience(1, 2, 0.1), [-1.0, -0.95, -0.89]).is_over(3)


@pytest.mark.parametrize("undefined", [np.nan, -np.inf])
def test_it_begins_with_the_first_score_that_is_defined(undefined):
    patience = add_all(Patience(1, 2, 0.0), [undefined] * 9)
    assert not patience.is_over(9)
    assert patience.best == -np.inf
    patience.add(9, np.array([[0.5, undefined, 0.5]]))
    assert not patience.is_over(11)
    assert patience.is_over(12)
    assert patience.best == 0.5


@given(at=st.integers(1, 200))
def test_auto_gives_slow_learners_more_time(at):
    patience = add_all(Patience(1, "auto", 0.0), np.arange(at))
    wait = max(LEAST_WAIT, WAIT_SHARE * at)
    assert patience.is_over(at + int(np.ceil(wait)))
    assert not patience.is_over(at + int(np.ceil(wait)) - 1)
