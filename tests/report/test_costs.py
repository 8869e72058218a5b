"""Scores of a search in plain terms."""

import math

import pytest

from properboost.report.costs import describe_cost, describe_score, name_score


def test_log_loss_is_a_probability():
    assert describe_score("neg_log_loss", math.log(0.75)) == "75.00%"
    text = describe_cost("neg_log_loss", math.log(0.75), math.log(0.75 / 0.74), None)
    assert "would be 74.00% in place of 75.00%" in text
    assert "no model" not in text
    behind = 0.25 * 0.2
    assert "That is 20.0% of what the model gains" in describe_cost(
        "neg_log_loss", -1.0, behind, 0.25
    )
    assert "no model" not in describe_cost("neg_log_loss", -1.0, 0.5, 0.25)  # worse than none


@pytest.mark.parametrize(
    ("scoring", "shown", "cost"),
    [
        ("accuracy", "90.00%", "10 more wrong predictions in 1,000"),
        ("roc_auc", "90.00%", "10 more would be in the wrong order"),
        ("neg_brier_score", "", "0.01 of the Brier score"),
        ("my_score", "", "0.01 of the my_score"),
    ],
)
def test_other_scores(scoring, shown, cost):
    assert describe_score(scoring, 0.9) == shown
    assert cost in describe_cost(scoring, 0.9, 0.01, None)
    assert describe_cost(scoring, 0.9, 0.0, None) == "nothing"


def test_names():
    assert name_score("roc_auc") == "AUC"
    assert name_score("my_score") == "my_score"
