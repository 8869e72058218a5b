"""Test files of voting models: loaded models predict the same; damaged files are refused."""

import json
import pickle

import numpy as np
import pytest

import properboost as pb
from helpers.models import same_model
from helpers.votes import AR, KINDS, make_rows, mixed_table


@pytest.mark.parametrize(("model", "n_classes"), KINDS, ids=str)
def test_stored_models_predict_the_same(model, n_classes, tmp_path):
    X, y = mixed_table(n_classes)
    model.fit(X, y)
    path = tmp_path / "model.json"
    model.save_model(path)
    for restored in (pb.load_model(path), pickle.loads(pickle.dumps(model))):
        assert restored.get_params() == model.get_params()
        assert restored.rho_ == model.rho_
        assert same_model(restored, model)
        np.testing.assert_array_equal(restored.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(restored.feature_importances_, model.feature_importances_)
    *_, last = model.staged_decision_function(X)
    np.testing.assert_allclose(last, model.decision_function(X), rtol=1e-12, atol=1e-12)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("voting", None, "voting must be an object"),
        ("voting", {"rho": 1.0}, "voting lacks the field"),
        (
            "voting",
            {"rho": "1", "by_label": False, "mistrust": 0.0, "damping": 0.0},
            "voting has a value that is not allowed: rho must be a finite number",
        ),
        (
            "voting",
            {"rho": 0.0, "by_label": False, "mistrust": 0.0, "damping": 0.0},
            "voting has a value that is not allowed: rho must be above 0",
        ),
        (
            "voting",
            {"rho": 1.0, "by_label": False, "mistrust": 0.0, "damping": 0.5},
            "damping must be 0 with more than two classes",
        ),
        (
            "loss",
            {"name": "glog", "parameters": {}, "gain": 1.0, "table": None},
            "loss must be exponential",
        ),
        ("estimator", "ProperBoostClassifier", "lacks the field 'multiclass'"),
    ],
)
def test_hostile_files_are_refused(place, value, message, tmp_path):
    X, y = make_rows(3)
    path = tmp_path / "model.json"
    AR(n_estimators=2).fit(X, y).save_model(path)
    document = json.loads(path.read_text())
    document[place] = value
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=message):
        pb.load_model(path)


@pytest.mark.parametrize(("old", "new"), [("classes", "samme"), ("labels", "one_vs_rest")])
def test_files_with_the_old_words_load(old, new, tmp_path):
    X, y = make_rows(3)
    path = tmp_path / "model.json"
    for model in (AR(n_estimators=2), pb.ARBoostClassifierCV([1.0, 2.0], n_estimators=2, cv=2)):
        model.set_params(multiclass=new).fit(X, y).save_model(path)
        document = json.loads(path.read_text())
        for one in (document, document.get("best_estimator", document)):
            one["parameters"]["multiclass"] = old
        path.write_text(json.dumps(document))
        loaded = pb.load_model(path)
        assert loaded.multiclass == getattr(loaded, "best_estimator_", loaded).multiclass == new
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
        document["parameters"]["multiclass"] = "votes"
        path.write_text(json.dumps(document))
        with pytest.raises(ValueError, match="multiclass must be one of 'samme', 'one_vs_rest'"):
            pb.load_model(path)
