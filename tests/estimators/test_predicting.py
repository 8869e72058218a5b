"""Test predictions of a fitted model: margins."""

import numpy as np
import pytest

import properboost as pb


def test_margins(binary, iris):
    X, y = binary
    model = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(X, y)
    np.testing.assert_array_equal(model.margins(X, y), (2 * y - 1) * model.decision_function(X))
    X, y = iris
    model = pb.ProperBoostClassifier(n_estimators=3, max_bins=4, weak_learner="table").fit(X, y)
    F = model.decision_function(X)
    others = np.where(np.eye(3, dtype=bool)[y], -np.inf, F).max(axis=1)
    np.testing.assert_array_equal(model.margins(X, y), F[np.arange(len(y)), y] - others)
    np.testing.assert_array_equal(model.margins(X, y) > 0, F.argmax(axis=1) == y)


@pytest.mark.parametrize("labels", [[0, 2], ["a", "b"], [0.0, 0.5]])
def test_margins_of_unknown_labels_are_refused(binary, labels):
    X, y = binary
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(X, y)
    with pytest.raises(ValueError, match=r"y must hold labels among \[0, 1\]"):
        model.margins(X[:2], labels)
