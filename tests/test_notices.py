"""Warnings point at the line that called the package."""

import numpy as np
import pytest

import properboost as pb


def test_a_warning_points_at_the_call_however_deep_it_comes_from():
    X = np.arange(20.0).reshape(-1, 1)
    y = X[:, 0] > 9
    for model in (
        pb.ProperBoostClassifier(n_estimators=1, weak_learner="table"),
        pb.ProperBoostClassifierCV(space={"n_estimators": 1}, cv=2, effort=None),
        pb.UDTClassifier(),
    ):
        with pytest.warns(UserWarning, match="sample_weight has a mean of 9") as warned:
            model.fit(X, y, np.full(20, 9.0))
        assert [w.filename for w in warned] == [__file__]
