"""Sixty rows of three numbers and a model of few rounds, for tests of errors of use."""

import numpy as np

import properboost as pb

RNG = np.random.default_rng(0)


X = RNG.normal(size=(60, 3))


Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)


def fit(x=X, y=Y, weight=None, **settings):
    return pb.ProperBoostClassifier(**{"n_estimators": 2, **settings}).fit(x, y, weight)
