"""Numbers and lists as a reader sees them."""

import pytest

from properboost.report.words import (
    count,
    list_words,
    name_bin,
    number,
    percent,
    points,
    precise,
    shorten,
    signed,
)


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.0, "0.0%"), (1.0, "100.0%"), (0.1234, "12.3%"), (1e-9, "<0.1%"), (1 - 1e-9, ">99.9%"),
        (float("nan"), "unknown"),
    ],
)  # fmt: skip
def test_percent_says_nothing_is_certain_that_is_not(share, shown):
    assert percent(share) == shown


def test_numbers():
    assert [number(x) for x in (0.28364, 12345.6, -0.5, float("nan"))] == [
        "0.2836", "12,346", "−0.5", "–",
    ]  # fmt: skip
    assert [signed(x) for x in (0.5, -0.126, -0.001)] == ["+0.50", "−0.13", "0.00"]
    assert points(-0.0312) == "−3.1 percentage points"
    assert points(0.10652, 0.09746) == "+1.0 percentage points"  # 10.7% - 9.7%
    assert [count(n, "row", "rows") for n in (0, 1, 1200)] == ["0 rows", "1 row", "1,200 rows"]


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.25, "25.0%"), (0.0123, "1.2%"), (0.000512, "0.051%"), (1.0 - 0.000512, "99.949%"),
        (3e-7, "0.000030%"), (1e-12, "<0.000001%"), (0.0, "0.0%"), (1.0, "100.0%"),
        (float("nan"), "unknown"),
    ],
)  # fmt: skip
def test_shares_near_the_ends_have_more_digits(share, shown):
    assert precise(share) == shown


def test_names():
    assert name_bin("age", "<= 25") == "age <= 25"
    assert name_bin("town", "Ulm") == "town: Ulm"
    assert shorten("a" * 30, 5) == "aaaa…"
    assert shorten("age") == "age"
    assert list_words(["a"]) == "a"
    assert list_words(["a", "b", "c"]) == "a, b and c"
    assert list_words(list("abcd"), 2) == "a, b and 2 more"
