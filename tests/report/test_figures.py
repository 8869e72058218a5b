"""Pictures of the steps to a probability."""

from itertools import pairwise

import pytest

from properboost.report.content import ExplainedRow, WaterfallStep
from properboost.report.figures import draw_row, shows_points

pytest.importorskip("vl_convert")


def make_row(*path):
    steps = [WaterfallStep(f"x{k}", 1.0, *ends) for k, ends in enumerate(pairwise(path))]
    return ExplainedRow("right", 1, 0, 0, 1, path[-1], None, path[0], tuple(steps), True)


@pytest.mark.parametrize(
    ("after", "shown"),
    [
        (0.3, "30.0%"),
        (0.0011, "0.1%"),
        (0.0009, "−7.01"),
        (1e-9, "−20.72"),
        (0.9991, "+7.01"),
        (0.0, "0.0%"),
        (1.0, "100.0%"),
    ],
)
def test_steps_near_0_and_100_percent_show_points(after, shown):
    row = make_row(0.5, 0.6, after)
    drawn = draw_row(row, "so")
    assert "\u2192 60.0%" in drawn
    assert f"\u2192 {shown}" in drawn
    assert shows_points(row) == ("%" not in shown)


def test_titles_name_short_classes():
    row = make_row(0.5, 0.6)
    assert ">probability of so</text>" in draw_row(row, "so")
    assert ">probability</text>" in draw_row(row, "earns over 50,000 dollars a year")
    assert draw_row(make_row(0.5), "so") == ""
