"""An engineer keeps models in files, small ones, for years."""

import gzip
import json
import re

import numpy as np
import pytest

import properboost as pb


def test_i_save_and_load_and_no_bit_differs(cancer, tmp_path):
    X, y = cancer
    model = pb.ProperBoostClassifier().fit(X, y)
    model.save_model(tmp_path / "model.json")
    loaded = pb.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.get_params() == model.get_params()


@pytest.mark.parametrize(
    "model",
    [
        pb.ProperBoostClassifierCV({"gain": [1.0, 2.0]}, effort=None),
        pb.UDTClassifier(),
        pb.ARBoostClassifier(n_estimators=10),
        pb.RadoBoostClassifier(n_estimators=10),
        pb.ULSClassifier(n_estimators=10),
        pb.AdaBoost(n_estimators=10),
    ],
    ids=lambda model: type(model).__name__,
)
def test_i_save_any_kind_of_model_whole_and_compact(model, cancer, tmp_path):
    X, y = cancer
    model.fit(X, y).save_model(tmp_path / "whole.json")
    model.save_model(tmp_path / "small.json.gz", compact=True)
    for name in ("whole.json", "small.json.gz"):
        loaded = pb.load_model(tmp_path / name)
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert (tmp_path / "small.json.gz").stat().st_size < (tmp_path / "whole.json").stat().st_size


def test_a_name_that_ends_with_gz_is_packed(cancer, tmp_path):
    pb.ProperBoostClassifier().fit(*cancer).save_model(tmp_path / "m.json.gz")
    assert json.loads(gzip.decompress((tmp_path / "m.json.gz").read_bytes()))["format"]


def test_a_compact_file_has_no_rounds_and_explains_all_the_same(cancer, tmp_path):
    X, y = cancer
    model = pb.ProperBoostClassifier().fit(X, y)
    model.save_model(tmp_path / "small.json", compact=True)
    small = pb.load_model(tmp_path / "small.json")
    np.testing.assert_array_equal(small.contributions(X).values, model.contributions(X).values)
    with pytest.raises((AttributeError, ValueError), match="compact"):
        list(small.staged_predict_proba(X))


def test_a_compact_model_refuses_to_go_on(cancer, tmp_path):
    X, y = cancer
    pb.ProperBoostClassifier(n_estimators=5).fit(X, y).save_model(tmp_path / "m", compact=True)
    model = pb.load_model(tmp_path / "m").set_params(warm_start=True, n_estimators=10)
    with pytest.raises(ValueError, match="compact"):
        model.fit(X, y)


def test_the_same_model_makes_the_same_bytes(cancer, tmp_path):
    for name in ("monday.json.gz", "tuesday.json.gz"):
        pb.ProperBoostClassifier().fit(*cancer).save_model(tmp_path / name)
    assert (tmp_path / "monday.json.gz").read_bytes() == (tmp_path / "tuesday.json.gz").read_bytes()


def test_a_file_is_json_that_any_program_reads(cancer, tmp_path):
    pb.ProperBoostClassifier().fit(*cancer).save_model(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    assert document["format"] == "properboost model"
    assert document["format_version"] >= 8


def test_labels_and_categories_are_still_strings_after_loading(customers, tmp_path):
    pb.ProperBoostClassifier().fit(*customers).save_model(tmp_path / "model.json")
    scorer = pb.load_model(tmp_path / "model.json").compile()
    assert scorer.predict([{"age": 23, "town": "Ulm", "visits": 0}]).tolist() == ["leaves"]


def test_a_file_with_a_wrong_number_is_refused_by_name(cancer, tmp_path):
    path = tmp_path / "model.json"
    pb.ProperBoostClassifier().fit(*cancer).save_model(path)
    path.write_text(re.sub(r'"gain": ?[0-9.]+', '"gain": -1.0', path.read_text()))
    with pytest.raises(ValueError, match=r"model\.json.*gain"):
        pb.load_model(path)


def test_a_model_of_mine_replaces_the_file_whole_or_not_at_all(cancer, tmp_path):
    path = tmp_path / "model.json"
    pb.ProperBoostClassifier(n_estimators=5).fit(*cancer).save_model(path)
    before = path.read_bytes()
    with pytest.raises(Exception, match="not fitted"):
        pb.ProperBoostClassifier().save_model(path)
    assert path.read_bytes() == before


def test_validation_scores_are_kept(cancer_parts, tmp_path):
    X, X_val, y, y_val = cancer_parts
    model = pb.ProperBoostClassifier().fit(X, y, X_val=X_val, y_val=y_val)
    model.save_model(tmp_path / "model.json")
    loaded = pb.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.validation_scores_, model.validation_scores_)
