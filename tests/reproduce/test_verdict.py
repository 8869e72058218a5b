"""The rule of the verdicts on a published number and a reproduced one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from properboost.reproduce.published import at_least, at_most, printed, read_off
from properboost.reproduce.verdict import Verdict, count, count_near, judge

AT = ("row", "column")


def judge_one(published, values, **options):
    (judgements,) = judge({AT: published}, {AT: values}, "none", **options)
    return judgements


def test_within_rounding_is_about_the_mean():
    assert judge_one(printed("2.0"), [1.9, 2.14]).verdict is Verdict.ROUNDING
    assert judge_one(printed("2.0"), [2.1, 2.1]).verdict is not Verdict.ROUNDING
    assert judge_one(read_off(4.0, 6.0), [5.5, 6.1]).verdict is Verdict.ROUNDING


def test_within_10_percent_needs_both_the_interval_and_the_share():
    near = judge_one(printed("20.0"), [20.0, 21.0, 22.0])
    assert near.verdict is Verdict.NEAR
    assert (near.mean, near.spread, near.n) == (21.0, 1.0, 3)
    assert near.difference == pytest.approx(1.0)
    # Near, but outside the range of repetitions.
    assert judge_one(printed("20.0"), [21.0, 21.01, 21.02]).verdict is Verdict.NOT
    # A wide spread covers it, but is too wide to pass.
    assert judge_one(printed("20.0"), [0.0, 25.0, 50.0]).verdict is Verdict.NOT


def test_a_mean_is_near_whatever_the_spread():
    near = judge_one(printed("2867"), [2851.0], random=False)  # half a percent off, no spread
    assert (near.verdict, near.mean_near) == (Verdict.NOT, True)
    assert judge_one(printed("20.0"), [0.0, 21.0, 42.0]).mean_near is True
    assert judge_one(printed("20.0"), [22.1]).mean_near is False
    assert judge_one(printed("20.0"), [17.9]).mean_near is False
    assert judge_one(printed("-20.0"), [-21.9]).mean_near is True
    # Within a printed range or its rounding the distance is 0.
    assert judge_one(read_off(4.0, 6.0), [6.4]).mean_near is True
    assert judge_one(printed("0.0"), [0.04]).mean_near is True
    assert judge_one(printed("0.0"), [0.06]).mean_near is False
    assert judge_one(at_least(1.0), [1.0]).mean_near is None
    assert count_near([True, None, False, True]) == (2, 3)
    assert count_near([None]) == (0, 0)


@given(st.lists(st.floats(15.0, 25.0), min_size=2, max_size=8), st.floats(15.0, 25.0))
def test_what_the_rule_passes_has_a_near_mean(values, middle):
    judgement = judge_one(printed(f"{middle:.1f}"), values)
    if judgement.verdict in (Verdict.ROUNDING, Verdict.NEAR):
        assert judgement.mean_near


@given(st.lists(st.floats(18.0, 22.0), min_size=2, max_size=8), st.floats(15.0, 25.0))
def test_the_interval_is_that_of_one_more_repetition(values, middle):
    spread = np.std(values, ddof=1)
    reach = stats.t.ppf(0.975, len(values) - 1) * spread * math.sqrt(1.0 + 1.0 / len(values))
    distance = abs(np.mean(values) - middle)
    verdict = judge_one(read_off(middle - 1e-9, middle + 1e-9), values).verdict
    if abs(distance - min(reach, 0.1 * middle)) > 1e-6 and distance > 1e-6:
        assert (verdict is Verdict.NEAR) == (distance <= min(reach, 0.1 * middle))


def test_one_repetition_has_no_interval():
    assert judge_one(printed("20.0"), [20.1]).verdict is Verdict.NOT
    assert judge_one(printed("20.0"), [20.01]).verdict is Verdict.ROUNDING
    assert judge_one(at_least(1.0), [2.0]).verdict is Verdict.ORDER


def test_what_is_not_random_is_within_rounding_or_not():
    assert judge_one(printed("20.0"), [20.1], random=False).verdict is Verdict.NOT
    assert judge_one(at_most(1.0), [0.5], random=False).verdict is Verdict.ROUNDING
    assert judge_one(at_most(1.0), [1.5], random=False).verdict is Verdict.NOT


def test_claims_need_a_sure_mean():
    assert judge_one(at_least(0.0), [1.0, 1.1, 1.2]).verdict is Verdict.ROUNDING
    assert judge_one(at_least(0.0), [-1.0, 1.1, 1.2]).verdict is Verdict.ORDER
    assert judge_one(at_least(0.0), [-1.0, -1.1, 1.2]).verdict is Verdict.NOT


def judge_row(published, ours, compared="rows"):
    at = [("row", str(k)) if compared == "rows" else (str(k), "column") for k in range(len(ours))]
    judgements = judge(
        dict(zip(at, map(printed, published), strict=True)),
        {place: [value, value] for place, value in zip(at, ours, strict=True)},
        compared,
    )
    return [judgement.verdict for judgement in judgements]


@pytest.mark.parametrize("compared", ["rows", "columns"])
def test_order_is_that_of_the_numbers_that_the_paper_compares(compared):
    order, no = Verdict.ORDER, Verdict.NOT
    assert judge_row(["1", "2", "3"], [11, 12, 13], compared) == [order, order, order]
    assert judge_row(["1", "2", "3"], [11, 13, 12], compared) == [order, no, no]
    # Two equal published numbers have no order.
    assert judge_row(["1", "2", "2"], [11, 13, 12], compared) == [order, order, order]
    assert judge_row(["2", "2"], [12, 13], compared) == [no, no]


def test_order_is_not_looked_for_where_nothing_is_compared():
    published = {("a", "x"): printed("1"), ("a", "y"): printed("2"), ("b", "x"): printed("3")}
    ours = {place: [10.0 * number.middle] * 2 for place, number in published.items()}
    assert {judgement.verdict for judgement in judge(published, ours, "none")} == {Verdict.NOT}
    # b is the largest of its column, and the only one of its row.
    assert judge(published, ours, "rows")[2].verdict is Verdict.NOT
    assert judge(published, ours, "columns")[2].verdict is Verdict.ORDER


def test_what_was_not_computed_is_left_out():
    published = {("a", "x"): printed("1"), ("a", "y"): printed("2")}
    judgements = judge(published, {("a", "y"): [2.0]}, "rows")
    assert [judgement.place for judgement in judgements] == [("a", "y")]
    assert count(judgements)[Verdict.ROUNDING] == 1
    assert sum(count(judgements).values()) == 1
