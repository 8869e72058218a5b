"""What the fuzzer found, as it shrank it."""

import numpy as np
import pytest

import properboost as pb
from fuzz.cases import Case, Column
from fuzz.invariants import hold
from fuzz.reference import Reference


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


def test_trees_of_some_rows_are_not_compared_once_all_rows_are_in_balance():
    """A step as far as the minimiser: the slope along a tree of one leaf is then but rounding."""
    x = np.array([2.0, 0.0, 4.0, 3.0, 1.0, 2.0])
    weight = [2.914685377152662, 0.006307026471411096, 0.5164717427310416, 0.7358700557982021,
              0.4635662480912958, 3.6236275417842734]  # fmt: skip
    parameters = {"weak_learner": "'tree'", "n_estimators": "2", "rows_per_bin": "None"}
    case = Case(
        "ProperBoostClassifier",
        parameters | {"subsample": "0.7", "learning_rate": "1.0"},
        (Column(x),),
        np.array([1, 0, 1, 1, 1, 0]),
        np.array(weight),
    )
    assert Reference().check(case).kind == "fitted"


def test_features_of_objects_are_checked_in_their_order():
    """NumPy does not sort objects among which NaN is."""
    x = np.full(17, np.nan)
    x[[1, 5]] = -1.0, 0.0
    X = np.stack([np.ones(17), x], axis=1).astype(object)
    y = np.array([1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1])
    model = pb.LogitBoost(loss="tangent", weak_learner="tree", monotonic_cst=[0, 1]).fit(X, y)
    hold(model, X, y, only="raw predictions rise or fall with the features that must")


def test_a_class_without_weight_is_not_given_any():
    """Three classes are refused where WeightBoost has its damping."""
    X, y = np.array([[2.0], [1.0], [0.0]], dtype=np.float32), np.array([1, 0, 2])
    weight = np.array([0.0, 1.0, 1.0])
    model = pb.WeightBoost().fit(X, y, weight)
    hold(model, X, y, weight, only="uniform weights, normalised, are no weights")


def test_factors_of_classes_whose_mean_is_1_may_lead_beyond_the_range():
    X, y = np.array([[8], [8], [8], [0]], dtype=np.int8), np.array([1, 1, 0, 0])
    model = pb.ProperBoostClassifier(
        gain=np.finfo(float).max, n_estimators=1, learning_rate=1e300,
        class_weight={0: 0.010162333509904323, 1: 0.29294180424750715},
    ).fit(X, y)  # fmt: skip
    hold(model, X, y, only="uniform weights, normalised, are no weights", seed=1893897177085473)
