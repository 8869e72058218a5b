"""Models of rados in files: loaded ones predict the same, any other file is refused."""

import copy
import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import properboost as pb
from properboost import RadoBoostClassifier, rado


def assert_same(a, b, X):
    assert {**a.get_params(), "ridge_matrix": None} == {**b.get_params(), "ridge_matrix": None}
    np.testing.assert_array_equal(a.ridge_matrix, b.ridge_matrix)
    assert a.classes_.tolist() == b.classes_.tolist()
    assert a.classes_.dtype == b.classes_.dtype
    assert (a.n_iter_, a.n_rados_, a.coef_names_) == (b.n_iter_, b.n_rados_, b.coef_names_)
    assert (
        getattr(a, "feature_names_in_", np.empty(0)).tolist()
        == getattr(b, "feature_names_in_", np.empty(0)).tolist()
    )
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    np.testing.assert_array_equal(a.coef_, b.coef_)
    assert list(a.history_) == list(b.history_)
    for key, values in a.history_.items():
        np.testing.assert_array_equal(values, b.history_[key])


def test_models_survive_files_and_pickles(cancer, mixed, tmp_path):
    X, y = cancer
    frame, labels, _ = mixed
    frame = frame.assign(age=frame["age"].fillna(40.0))
    models = [
        (RadoBoostClassifier("ridge", ridge_matrix=np.eye(31), n_estimators=20), X, y),
        (RadoBoostClassifier({"slope": 1.0, "linf": 2.0}, gamma=0.5, n_estimators=20), X, y),
        (RadoBoostClassifier(keep="error", n_estimators=20), frame, labels),
        (RadoBoostClassifier(categorical_features=[1, 2], n_estimators=20), frame, labels),
    ]
    for model, rows, classes in models:
        model.fit(rows, classes)
        path = tmp_path / "model.json"
        model.save_model(path)
        assert_same(model, pb.load_model(path), rows)
        assert_same(model, pickle.loads(pickle.dumps(model)), rows)
        assert_same(model, clone(model).fit(rows, classes), rows)
    joined = RadoBoostClassifier(n_estimators=5).fit_rados(rado.make_rados(frame, labels, 9, 1))
    joined.save_model(path)
    assert_same(joined, pb.load_model(path), frame)


@pytest.fixture(scope="module")
def document(mixed, tmp_path_factory):
    frame, labels, _ = mixed
    frame = frame.assign(age=frame["age"].fillna(40.0))
    path = tmp_path_factory.mktemp("rados") / "model.json"
    RadoBoostClassifier("ridge", n_estimators=5).fit(frame, labels).save_model(path)
    return json.loads(path.read_text())


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("parameters", "omega"), -1, "omega must be at least 0"),
        (("parameters", "regularizer"), {"lasso": "x"}, r"regularizer\['lasso'\] must be"),
        (("parameters", "regularizer"), [1], "regularizer must be one of"),
        (("parameters", "ridge_matrix"), 3, r"parameters\.ridge_matrix must be a list"),
        (("parameters", "ridge_matrix"), [["x"]], r"ridge_matrix\[0\] must hold numbers"),
        (("parameters", "loss"), "glog", "parameters has an unknown field 'loss'"),
        (("seed",), -1, "seed must be an integer from 0"),
        (("n_rados",), 0, "n_rados must be an integer from 1"),
        (("n_kept",), 6, "n_kept must be an integer from 0 to 5"),
        (("classes", "labels"), ["a"], "labels must hold at least two"),
        (("classes", "labels"), ["a", "b", "c"], "classes must hold two labels"),
        (("intercept",), 1, "intercept must be true or false"),
        (("categories",), [], "categories must not be empty"),
        (("categories", 1), ["Ulm", "Ulm"], r"categories\[1\] must hold categories, all different"),
        (("categories", 1), [[]], r"categories\[1\]\[0\] must be a string, a finite number"),
        (("feature_names",), ["a"], "feature_names must have 3 entries"),
        (("rounds", "feature"), [6] * 5, "feature must hold integers from 0 to 5"),
        (("rounds", "feature"), [0], "must have 1 entries"),
        (("rounds", "step"), [1e308] * 5, "step must not add up to coefficients beyond"),
        (("rounds", "step"), ["x"] * 5, "step must hold numbers"),
        (("rounds",), {}, "rounds lacks the field 'feature'"),
        (("rounds", "training_error"), None, "training_error must be a list"),
        (("models",), [], "unknown field 'models'"),
        (("format_version",), 99, "format_version is 99"),
        (("estimator",), "os.system", "estimator must be one of"),
    ],
)
def test_hostile_files(document, tmp_path, place, value, message):
    changed = copy.deepcopy(document)
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    path = tmp_path / "model.json"
    path.write_text(json.dumps(changed))
    with pytest.raises(ValueError, match=message):
        pb.load_model(path)
