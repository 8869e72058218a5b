"""Reports as text and as data."""

import math

import pytest

from properboost.reproduce import report
from properboost.reproduce.published import at_least, printed, read_off
from properboost.reproduce.verdict import Judgement, Verdict

JUDGED = [
    Judgement(("AdaBoost", "pima"), printed("25.9"), 26.123, 0.5, 10, Verdict.NEAR),
    Judgement(("AdaBoost", "bupa"), at_least(15.0, "more than 15%"), 3.2, math.nan, 1, Verdict.NOT),
    Judgement(("AdaBoost", "wdbc"), read_off(4.0, 6.0), 0.05, 0.01, 10, Verdict.ORDER),
]


def test_numbers_have_one_decimal_more_than_the_paper():
    head, *lines = report.make_table(JUDGED)
    assert head[2:] == [
        "published", "ours", "spread", "difference", "verdict", "mean within 10%",
    ]  # fmt: skip
    assert lines[0] == ["AdaBoost", "pima", "25.9", "26.12", "0.50", "+0.22", "within 10%", "yes"]
    assert lines[1] == ["AdaBoost", "bupa", "more than 15%", "3.20", "", "", "not reproduced", ""]
    assert lines[2][2:] == ["4 to 6", "0.0500", "0.0100", "-4.9500", "order only", "no"]


def test_shares_are_summarised_in_a_line():
    summary = report.summarize(JUDGED)
    shares = "1 within 10%, 1 order only, 1 not reproduced"
    assert summary == f"3 published numbers: {shares}; 1 of 2 means within 10%"
    assert report.summarize(JUDGED[1:2]) == "1 published numbers: 1 not reproduced"
    assert report.summarize([]) == "no published number could be compared"


def test_data_have_all_that_a_report_has():
    """An infinite end, and the spread of a single number, are null."""
    for judgement in JUDGED:
        data = report._number_to_json(judgement)
        ends = [
            None if math.isinf(end) else end
            for end in (judgement.published.low, judgement.published.high)
        ]
        assert [data["row"], data["column"], data["published"]] == [
            *judgement.place,
            judgement.published.text,
        ]
        assert [data["low"], data["high"]] == ends
        assert data["ours"] == pytest.approx(judgement.mean)
        assert data["spread"] == (None if math.isnan(judgement.spread) else judgement.spread)
        assert data["verdict"] == judgement.verdict
        assert data["mean within 10%"] is judgement.mean_near


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("boostlr/table4", "boostlr, Table 4"),
        ("arboost/fig7_left", "arboost, Figure 7 left"),
        ("savage/claim_iterations", "savage, claim iterations"),
    ],
)
def test_titles_come_from_names(name, title):
    assert report.title_of(name) == title
