"""Test the fitted model's record of its rounds."""

import numpy as np
import pytest

import properboost as pb

pd = pytest.importorskip("pandas")


def test_history(binary, iris):
    X, y = binary
    model = pb.ProperBoostClassifier(n_estimators=7, gain=2.0, weak_learner="table").fit(X, y)
    frame = pd.DataFrame(model.history_)
    assert list(frame) == ["class", "round", "feature", "cost", "step", "risk"]
    assert frame["round"].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert set(frame["class"]) == {1}
    assert frame["risk"].is_monotonic_decreasing
    risk = np.mean(model.loss_.loss(model.margins(X, y)))
    np.testing.assert_allclose(frame["risk"].iloc[-1], risk, rtol=1e-4)
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(*iris)
    assert model.history_["class"].tolist() == [0, 0, 1, 1, 2, 2]
    assert model.history_["round"].tolist() == [1, 2, 1, 2, 1, 2]


def test_a_cycle_has_a_round_for_every_feature(iris):
    X, y = iris
    X = np.column_stack([X, np.ones(len(X))])
    model = pb.ProperBoostClassifier(n_estimators=3, selection="cyclic", weak_learner="table").fit(
        X, y
    )
    frame = pd.DataFrame(model.history_)
    assert model.n_iter_ == 3
    assert frame["class"].tolist() == np.repeat([0, 1, 2], 15).tolist()
    assert frame["round"].tolist() == [*range(1, 16)] * 3
    assert frame["feature"].tolist() == [0, 1, 2, 3, 4] * 9
    assert model.score(X, y) > 0.9
    greedy = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(X, y)
    assert frame["risk"].iloc[-1] < greedy.history_["risk"][-1]
