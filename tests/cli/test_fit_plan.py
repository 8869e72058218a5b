"""Test what `fit` announces before it fits."""

import pytest

import properboost as pb
from properboost.cli.fit_plan import describe_plan, estimate_seconds


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "seconds"),
    [(30162, 2, 82.7), (768, 2, 2.0), (10992, 10, 279.9), (2310, 7, 71.4), (20000, 2, 7.2)],
)
def test_estimates_are_of_the_right_size(n_rows, n_classes, seconds):
    """The seconds are those of searches of benchmarks/peers/lines.jsonl."""
    estimate = estimate_seconds(pb.ProperBoostClassifierCV(), n_rows, n_classes)
    assert seconds / 3 < estimate < 8 * seconds


def test_plans_are_described():
    described = describe_plan(pb.ProperBoostClassifierCV(), 30_000, 2, None)
    assert described.startswith("Compares 9 families of models by cross-validation")
    assert "This takes about a minute." in described
    small = describe_plan(pb.ProperBoostClassifierCV(effort=1), 300, 2, None)
    assert "This takes a few seconds." in small
    limited = pb.ProperBoostClassifierCV(time_limit=18.9)
    assert "This takes at most 20 seconds." in describe_plan(limited, 30_000, 2, 20.0)
    assert (
        describe_plan(pb.ProperBoostClassifier(weak_learner="table"), 30_000, 2, None)
        == "Fits one model."
    )
    plain = describe_plan(pb.ProperBoostClassifier(), 30_000, 2, None)
    assert plain == "Compares look-up tables with readable trees, and fits one model."
    assert describe_plan(pb.RadoBoostClassifier(), 30_000, 2, None) == "Fits one model."
    grid = pb.ProperBoostClassifierCV(effort=None)
    assert "Compares the combinations" in describe_plan(grid, 30_000, 2, None)
    assert described.endswith(
        "\nOnce the first family has been compared, Ctrl-C takes the best so far."
    )
    assert describe_plan(grid, 30_000, 2, None).endswith("\nCtrl-C saves nothing.")
    hours = describe_plan(pb.ProperBoostClassifierCV(effort=5), 10_000_000, 5, None)
    assert "hours" in hours
