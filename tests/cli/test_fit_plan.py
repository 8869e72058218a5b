"""Test what `fit` announces before it fits."""

import pytest

import properboost as pb
from properboost.cli.fit_plan import describe_plan, estimate_seconds


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "seconds"),
    [(30162, 2, 18.8), (768, 2, 0.8), (10992, 10, 30.1), (2310, 7, 8.8), (4000, 2, 2.2)],
)
def test_estimates_are_of_the_right_size(n_rows, n_classes, seconds):
    """The seconds are those of default searches over ADULT, pima, pendigits, segment, LETTER.p1."""
    estimate = estimate_seconds(pb.ProperBoostClassifierCV(), n_rows, n_classes)
    assert seconds / 3 < estimate < 8 * seconds


def test_plans_are_described():
    described = describe_plan(pb.ProperBoostClassifierCV(), 30_000, 2, None)
    assert described.startswith("Compares 9 families of models by cross-validation")
    assert "This takes about 20 seconds." in described
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
