"""Models whose contributions are looked at, and what they have to add up to."""

import numpy as np

import properboost as pb


def fit(X, y, learner, weight=None, **settings):
    settings = {"n_estimators": 10, "gain": 2.0, "rows_per_bin": 20} | settings
    model = pb.ProperBoostClassifier(weak_learner=learner, **settings)
    return model.fit(X, y, sample_weight=weight)


def check_sum(found, raw):
    # Features that work against each other cancel, so it is not the sum alone whose size counts.
    size = max(abs(raw).max(), abs(found.values).max())
    np.testing.assert_allclose(found.baseline + found.values.sum(axis=1), raw, atol=1e-12 * size)
