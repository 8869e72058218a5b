"""Sentences on groups agree with the printed numbers."""

from dataclasses import replace

import numpy as np
import pytest

from properboost.report.content import Estimate, Group
from properboost.report.group_findings import list_findings, name_farthest
from properboost.report.proportions import estimate_proportion


def make_group(name, rows, missed, predicted=0.5, observed=0.5):
    """Return a group of so many rows of the class, of which so many were missed."""

    def share(part, whole):
        return estimate_proportion(np.arange(whole) < part, np.ones(whole), 0.9)

    n = round(rows / observed)
    half = share(n // 2, n)
    so = Estimate(observed, observed - 0.06, observed + 0.06)
    return Group(name, n, half, predicted, so, half, share(missed, rows), half)


def find(groups, start="Of those that really"):
    return [text for text in list_findings(groups, "yes", 0.9) if text.startswith(start)]


def test_the_two_that_are_farthest_apart_and_of_enough_rows_are_named():
    groups = [make_group("a", 1000, 200), make_group("b", 1000, 400), make_group("c", 200, 75)]
    (text,) = find(groups)
    assert text.endswith("it missed 40.0% in the group “b” and 20.0% in the group “a”.")
    (text,) = find([*groups, make_group("few", 10, 8)])
    assert text.endswith(
        "“a”.  More extreme, but of too few rows to rule out chance: “few” (80.0% of 10)."
    )
    # Rows enough, but no difference from any other group.
    assert find([groups[0], make_group("d", 40, 9)]) == []
    assert find([groups[0], make_group("few", 10, 8)]) == []


def test_a_caution_names_the_two_that_are_farthest_apart():
    groups = [make_group("a", 1000, 200), make_group("b", 1000, 400), make_group("few", 10, 10)]
    assert name_farthest(groups) == "missed: 40.0% in “b” and 20.0% in “a”"
    alike = [make_group("a", 1000, 200), make_group("b", 1000, 200)]
    assert name_farthest(alike) == ""
    wrong = estimate_proportion(np.arange(2000) < 100, np.ones(2000), 0.9)
    alike[1] = replace(alike[1], wrong=wrong, missed=None)
    assert name_farthest(alike) == "wrong: 50.0% in “a” and 5.0% in “b”"


def test_small_groups_put_together_are_not_named():
    groups = [make_group("a", 1000, 200), make_group("9 others", 1000, 400)]
    assert len(find(groups)) == 1
    assert find([groups[0], replace(groups[1], is_lump=True)]) == []


@pytest.mark.parametrize(
    ("predicted", "direction"), [(0.56, None), (0.5604, None), (0.57, "high"), (0.41, "low")]
)
def test_probabilities_are_wrong_where_the_printed_interval_does_not_hold_them(
    predicted, direction
):
    findings = find([make_group("a", 100, 50, predicted)], "Its prob")
    assert len(findings) == (direction is not None)
    if direction is not None:
        assert f"too {direction} on average for the group “a”" in findings[0]
        assert "(90% interval: 44.0% to 56.0%)" in findings[0]


def test_differences_are_those_of_printed_numbers():
    (text,) = find([make_group("a", 100, 50, 0.6074, 0.5006)], "Its prob")
    assert "mean is 60.7%, and 50.1% really" in text
    assert "difference of +10.6 percentage points" in text  # 10.68 are not
