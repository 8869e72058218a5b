"""Published numbers, and the ranges that their digits leave open."""

import math

import pytest

from properboost.reproduce.published import at_least, at_most, printed, read_off, read_table


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("25.9", 25.85, 25.95),
        ("6", 5.5, 6.5),
        ("3.453", 3.4525, 3.4535),
        ("-1.75", -1.755, -1.745),
        ("0.000", -0.0005, 0.0005),
    ],
)
def test_a_printed_number_stands_for_all_that_round_to_it(text, low, high):
    number = printed(text)
    assert (number.low, number.high) == (low, high)
    assert number.middle == pytest.approx(float(text), abs=1e-12)
    assert not number.is_claim


def test_distances_have_a_sign():
    number = printed("2.0")
    assert number.distance(2.04) == 0.0
    assert number.distance(2.55) == pytest.approx(0.5)
    assert number.distance(1.45) == pytest.approx(-0.5)
    assert read_off(4.0, 6.0).distance(7.0) == 1.0


def test_claims_have_one_end():
    more, less = at_least(15.0, "more than 15%"), at_most(0.0)
    assert (more.text, less.text) == ("more than 15%", "at most 0")
    assert more.is_claim
    assert less.is_claim
    assert (more.middle, less.middle) == (15.0, 0.0)
    assert more.distance(math.pi) == pytest.approx(math.pi - 15.0)
    assert more.distance(1e9) == 0.0


def test_tables_keep_their_order_and_their_gaps():
    table = read_table("""
             | #1   | #2
    AdaBoost | 11.4 |
    GLog     | 12   | 0.5
    """)
    assert list(table) == [("AdaBoost", "#1"), ("GLog", "#1"), ("GLog", "#2")]
    assert table["GLog", "#1"] == printed("12")


def test_slips_are_refused():
    with pytest.raises(ValueError, match="low must be below high; got 3 and 3"):
        read_off(3.0, 3.0)
    with pytest.raises(ValueError, match="'NaN' is no number"):
        printed("NaN")
    with pytest.raises(ValueError, match="one name"):
        read_table("| a | a\nx | 1 | 2")
    with pytest.raises(ValueError, match="zip"):
        read_table("| a | b\nx | 1")
