"""Helpers for tests of fitted models: models of every kind, and comparisons."""

import dataclasses
import itertools
import json

import numpy as np

import properboost as pb
from properboost.parameters.learners import make_learner

LEARNERS = {
    "table": {"weak_learner": "table"},
    "table, cyclic": {"weak_learner": "table", "selection": "cyclic"},
    "stump": {"weak_learner": "stump"},
    "stump, cyclic": {"weak_learner": "stump", "selection": "cyclic"},
    "tree": {"weak_learner": pb.Tree(max_leaf_nodes=6)},
    "symmetric tree": {"weak_learner": pb.Tree(grow_policy="symmetric", max_depth=3)},
    "rule": {"weak_learner": "rule"},
    "pairs": {"weak_learner": "table", "interactions": 3},
    "pairs, cyclic": {
        "interactions": 3,
        "selection": "cyclic",
        "weak_learner": pb.Table(max_cells=None),
    },
    "pairs of stumps": {"interactions": 2, "weak_learner": "stump"},
}
"""Every weak learner, with each selection that makes a difference to it, and pairs."""


def same_bits(a, b):
    """Return whether two arrays, or dataclasses of arrays, have the same bits."""
    if dataclasses.is_dataclass(a):
        return type(a) is type(b) and all(
            same_bits(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a)
        )
    return np.array_equal(a, b, equal_nan=True) if a is not None else b is None


def same_model(a, b):
    """Return whether two fits are equal in every round, bit for bit."""
    pairs = itertools.zip_longest(a.ensemble_.models, b.ensemble_.models)
    return all(same_bits(one, other) for one, other in pairs)


def assert_same(a, b, X):
    """Check that a model equals one that was stored and loaded."""
    assert a.get_params() == b.get_params()
    assert a.loss_ == b.loss_
    assert a.classes_.dtype == b.classes_.dtype
    assert a.classes_.tolist() == b.classes_.tolist()
    assert a.n_features_in_ == b.n_features_in_
    assert hasattr(a, "feature_names_in_") == hasattr(b, "feature_names_in_")
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
    for one, other in zip(
        a.staged_decision_function(X), b.staged_decision_function(X), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(a.feature_importances_, b.feature_importances_)
    for key in a.history_:
        np.testing.assert_array_equal(a.history_[key], b.history_[key])
    assert same_model(a, b)
    model = getattr(a, "best_estimator_", a)
    if make_learner(getattr(model, "weak_learner_", model.weak_learner)).is_grown:
        return
    assert a.pairs_ == b.pairs_
    for pair in a.pairs_:
        one, other = (m.term_function(pair, m.classes_.tolist()[-1]) for m in (a, b))
        assert one.levels == other.levels
        np.testing.assert_array_equal(one.values, other.values)
        np.testing.assert_array_equal(one.weights, other.weights)
    for j in range(a.n_features_in_):
        one, other = (m.shape_function(j, m.classes_.tolist()[-1]) for m in (a, b))
        assert (one.name, one.kind, one.categories) == (other.name, other.kind, other.categories)
        assert [type(c) for c in one.categories or ()] == [type(c) for c in other.categories or ()]
        np.testing.assert_array_equal(one.edges, other.edges)
        np.testing.assert_array_equal(one.values, other.values)
        np.testing.assert_array_equal(one.weights, other.weights)
        assert (one.missing_value, one.missing_weight) == (
            other.missing_value,
            other.missing_weight,
        )


def assert_same_bits(ours, theirs, about=""):
    assert ours.dtype == theirs.dtype == np.float64
    # The sign of zeros may differ: unused features may add nothing or 0.
    np.testing.assert_array_equal(ours, theirs, err_msg=about)


AS_PUBLISHED = {
    "weak_learner": pb.Table(max_cells=None, smoothing=0.0), "gain": 1.0, "selection": "greedy",
    "calibration": None, "n_estimators": 100,
}  # fmt: skip
"""Settings of the papers' look-up tables, which differ from the defaults."""


def rules(max_conditions=2, **settings):
    settings = {
        "gain": 1.0, "rows_per_bin": None, "selection": "greedy", "calibration": None, **settings,
    }  # fmt: skip
    rule = pb.Rule(max_conditions=max_conditions, min_child_weight=0.0, max_features=1.0)
    return pb.ProperBoostClassifier(weak_learner=rule, **settings)


def document_of(model, folder):
    """Return the document in a fitted model's file."""
    model.save_model(folder / "model.json")
    return json.loads((folder / "model.json").read_text("ascii"))


def load_document(document, folder):
    """Load a model from the document of its file."""
    (folder / "other.json").write_text(json.dumps(document), "ascii")
    return pb.load_model(folder / "other.json")
