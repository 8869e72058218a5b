"""What the fuzzer found, as it shrank it."""

import numpy as np
import pytest

import properboost as pb
from fuzz.invariants import hold


def test_a_tree_predicts_the_class_whose_raw_prediction_is_positive():
    """Shares of 1/2, one of which is rounded down."""
    X = np.zeros((42, 1))
    y = np.arange(42) % 2
    for size in (7.414778637686608e-274, 0.1, 1 / 3):
        weight = np.full(42, size)
        weight[1] = np.nextafter(size, 1.0)
        model = pb.UDTClassifier(normalize_weights=True).fit(X, y, weight)
        hold(model, X, y, weight, only="probabilities are finite, in [0, 1] and add up to 1")


def test_a_class_next_to_nothing_is_not_balanced():
    """Its factor was infinite, of which numpy warned."""
    X = np.array([[0], [0]], dtype=np.uint8)
    y, weight = np.array([0, 1]), np.array([5e-324, 1.0])
    for model in (pb.ARBoostClassifier, pb.ProperBoostClassifier, pb.UDTClassifier):
        with pytest.raises(ValueError, match=r"class_weight .* got 4.9.*e-324 of 1 for the class"):
            model(class_weight="balanced").fit(X, y, weight)
