"""Ensembles of every kind: their stages."""

import numpy as np
import pytest

import properboost as pb
from helpers.models import LEARNERS


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("problem", ["binary", "iris"])
def test_stages_end_in_the_prediction(problem, learner, request):
    X, y = request.getfixturevalue(problem)
    model = pb.ProperBoostClassifier(n_estimators=12, **LEARNERS[learner]).fit(X, y)
    raw = list(model.staged_decision_function(X))
    probability = list(model.staged_predict_proba(X))
    labels = list(model.staged_predict(X))
    stages = 24 if "interactions" in LEARNERS[learner] else 12  # pairs come after all features
    assert len(raw) == len(probability) == len(labels) == model.n_iter_ == stages
    np.testing.assert_allclose(raw[-1], model.decision_function(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(probability[-1], model.predict_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(labels[-1], model.predict(X))
    first = pb.ProperBoostClassifier(**{**LEARNERS[learner], "n_estimators": 1, "interactions": 0})
    first.fit(X, y)
    np.testing.assert_allclose(raw[0], first.decision_function(X), rtol=1e-12, atol=1e-12)
    assert not np.array_equal(raw[0], raw[1])
