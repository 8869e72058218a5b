"""Models for tests of contributions, and a check of their sums."""

import numpy as np

import properboost as pb


def fit(X, y, learner, weight=None, **settings):
    settings = {"n_estimators": 10, "gain": 2.0, "rows_per_bin": 20} | settings
    model = pb.ProperBoostClassifier(weak_learner=learner, **settings)
    return model.fit(X, y, sample_weight=weight)


def check_sum(contributions, raw):
    # Opposite effects cancel, so the tolerance depends on the largest contribution as well.
    size = max(abs(raw).max(), abs(contributions.values).max())
    np.testing.assert_allclose(
        contributions.baseline + contributions.values.sum(axis=1), raw, atol=1e-12 * size
    )
