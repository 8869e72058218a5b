"""Figures of the pages that a function computes: the function still returns them."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from properboost import Table, losses, rado
from properboost.models.bag_design import design

ROOT = Path(__file__).resolve().parents[2]


def find_gain(rows):
    """Return the gain that a plain fit finds with so many rows of the smaller of two classes."""
    return Table().find_gain(np.array([rows, 5.0 * rows]), 1.0)


BAGS = design(16)
EDGES = rado.ridge_edge(1 / 7), rado.ridge_edge(1 / 10)
UNITS = losses.Exponential().gain_unit, losses.Tangent().gain_unit
FIGURES = [
    (
        "docs/evidence/research_methods.md",
        "they may be {:.5f} with a = 1/7 and {:.5f} with a = 1/10",
        EDGES,
    ),
    ("python/properboost/rado/bounds.py", "{:.5f} at 1/7\n        and {:.5f} at 1/10", EDGES),
    (
        "docs/evidence/defaults/gain_and_rounds.md",
        "{:.1f} with 25 rows of the smaller of two classes, {:.1f} with 100, {:.1f} with 1,000",
        [find_gain(rows) for rows in (25, 100, 1000)],
    ),
    (
        "docs/use/losses.md",
        "It is {:g} for `exponential` and `savage`, and {:g} for `tangent`",
        UNITS,
    ),
    ("docs/use/losses.md", "stop growing at e^64 = {:.0f}e27", [math.exp(64.0) / 1e27]),
    (
        "docs/evidence/intervals.md",
        "which is {:.2f} times their standard deviation",
        [math.sqrt(15 * BAGS.variance_factor)],
    ),
    (
        "docs/evidence/intervals.md",
        "reaches {:.2f} of them to either side, as Student's t with {:g} degrees of freedom",
        [stats.t.ppf(0.95, BAGS.degrees), BAGS.degrees],
    ),
    (
        "docs/use/explaining.md",
        "0.1 in log-odds is {:.1f} points of probability at 1/2, and {:.1f} points at 0.01",
        [10.0 * p * (1.0 - p) for p in (0.5, 0.01)],
    ),
    (
        "docs/use/retraining.md",
        "two standard errors in one night of {:.0f}",
        [1 / stats.norm.sf(2.0)],
    ),
    ("docs/reference/metrics.md", "log2(10) = {:.2f}", [math.log2(10.0)]),
    (
        "python/properboost/losses/tangent.py",
        "the loss tends to\n    (1 + pi)^2 = {:.1f}",
        [float(losses.Tangent().loss(-np.inf))],
    ),
    (
        "python/properboost/losses/tangent.py",
        "u = tan(1/2) =\n    {:.3f}",
        [float(losses.Tangent().link(1.0))],
    ),
]


@pytest.mark.parametrize(("page", "words", "computed"), FIGURES, ids=lambda value: str(value)[:60])
def test_a_figure_is_what_its_function_computes(page, words, computed):
    assert words.format(*computed) in (ROOT / page).read_text("utf-8")


@pytest.mark.parametrize("a", [1 / 7, 1 / 10])
def test_the_largest_edge_is_the_root_by_another_way(a):
    """Bisection of the condition in the theorem's proof finds the same root."""
    low, high = 0.5, 1.0 - 1e-12
    for _ in range(200):
        r = 0.5 * (low + high)
        excess = math.log(1 - r * r) + a * (math.log((1 + r) / (1 - r)) ** 2 + r * r)
        low, high = (low, r) if excess > 0 else (r, high)
    assert rado.ridge_edge(a) == pytest.approx(low, abs=1e-12)
