"""Pickles: objects of parameters come back, and estimators of earlier versions are refused."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import properboost as pb
from properboost.parameters.declare import declared

OBJECTS = [
    pb.Table(max_cells=3, smoothing=0.5),
    pb.Stump(),
    pb.Tree(max_depth=3, linear_leaves=True, linear_l2=2.0),
    pb.Rule(max_conditions=4),
    pb.Interactions([("a", "b")], learning_rate=0.5),
    pb.Calibration(slope=0.5, intercept=[0.1]),
    pb.EarlyStopping(validation_fraction=0.2, scoring="roc_auc"),
    pb.Bags(16, tables=False),
]


@pytest.mark.parametrize("part", OBJECTS, ids=lambda part: type(part).__name__)
def test_an_object_comes_back(part):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(part, protocol)) == part
    for twin in (copy.copy(part), copy.deepcopy(part), clone(part)):
        assert type(twin) is type(part)
        assert twin == part


@pytest.mark.parametrize(
    "model",
    [
        pb.ProperBoostClassifier(n_estimators=3, weak_learner=pb.Tree(max_depth=2)),
        pb.ProperBoostClassifier(
            n_estimators=3, interactions=pb.Interactions(1, smoothing=0.0), weak_learner="table"
        ),
        pb.ProperBoostClassifierCV(
            {"weak_learner": [pb.Table(max_cells=3), pb.Stump()], "gain": 1.0},
            cv=2,
            max_estimators=3,
            effort=None,
        ),
        pb.ARBoostClassifier(n_estimators=3, weak_learner=pb.Tree(max_depth=2, max_features=1.0)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_model_with_objects_comes_back(model):
    X = np.random.default_rng(0).normal(size=(200, 3))
    model.fit(X, X[:, 0] * X[:, 1] > 0.0)
    again = pickle.loads(pickle.dumps(model))
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("estimator", "later", "earlier"),
    [
        (pb.ProperBoostClassifier, "calibration", {"max_cells": "auto", "slope": 1.0}),
        (pb.ProperBoostClassifierCV, "space", {"gains": "auto", "max_cells": 10}),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_pickle_of_an_earlier_version_is_refused_in_one_sentence(estimator, later, earlier):
    model = estimator()
    del model.__dict__[later]
    model.__dict__ |= earlier
    names = "|".join(earlier)
    with pytest.raises(ValueError, match=rf"an earlier .* ({names}), cannot .* save_model there"):
        pickle.loads(pickle.dumps(model))


def test_votes_of_an_earlier_version_predict_as_before():
    X = np.random.default_rng(0).normal(size=(100, 2))
    model = pb.ARBoostClassifier(n_estimators=3, weak_learner="table").fit(X, X[:, 0] > 0.0)
    model.weak_learner = "histogram"  # its name then
    assert declared(type(model)).keys() <= vars(model).keys()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
