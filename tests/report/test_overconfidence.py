"""Rows with probabilities more extreme than the training rows can justify."""

import numpy as np
import pytest

from properboost.report.overconfidence import (
    describe_overconfidence,
    find_overconfidence,
    list_overconfidence,
)


def make_probabilities(*shares):
    """Return two classes' probabilities and the predicted class."""
    second = np.array(shares)
    probability = np.stack([1.0 - second, second], axis=1)
    return probability, probability.argmax(axis=1)


def test_rows_are_counted_on_either_side():
    probability, predicted = make_probabilities(0.5, 1e-5, 0.99, 0.99999, 1e-4, 0.002)
    overconfidence = find_overconfidence(
        probability, predicted, np.array([0, 1, 1, 1, 0, 1]), 1000.0
    )
    assert (overconfidence.limit, overconfidence.n_rows, overconfidence.n_wrong) == (0.999, 3, 1)
    text = describe_overconfidence(overconfidence, 6, 1000.0)
    assert text.startswith("In 3 of 6 rows the model gives its answer a probability above 99.9%")
    assert text.endswith("Predicted wrongly: 1 of these 3 (33.3%).")
    (caution,) = list_overconfidence(overconfidence, 6, 1000.0)
    assert caution.text == text


def test_of_several_classes_it_is_the_predicted_one():
    probability = np.array([[0.0005, 0.9990, 0.0005], [2e-4, 2e-4, 0.9996]])
    overconfidence = find_overconfidence(probability, probability.argmax(axis=1), None, 2000.0)
    assert (overconfidence.n_rows, overconfidence.n_wrong) == (1, None)
    assert "Predicted wrongly" not in describe_overconfidence(overconfidence, 2, 2000.0)


@pytest.mark.parametrize(("share", "rows"), [(0.3, 1000.0), (1e-9, None), (1e-9, 50.0)])
def test_nothing_is_reported_without_a_reason(share, rows):
    overconfidence = find_overconfidence(*make_probabilities(share), None, rows)
    assert overconfidence is None
    assert list_overconfidence(overconfidence, 1, rows) == []
