"""Files of merged models keep the means by which lines of every model go."""

import copy
import json

import numpy as np
import pytest

import properboost as pb
from helpers.documents import change
from helpers.exports import fit_merged_lines
from properboost.persistence.schema import model_schema


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    """Return the JSON of a file."""
    path = tmp_path_factory.mktemp("files") / "model.json"
    fit_merged_lines(2)[0].save_model(path)
    return json.loads(path.read_text("utf-8"))


def load(document, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document), "utf-8")
    return pb.load_model(path)


def test_a_file_has_them(document, tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(document, model_schema())
    model, X = fit_merged_lines(2)
    loaded = load(document, tmp_path)
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded.terms_ == model.terms_
    scorer = pb.load_scorer(tmp_path / "model.json")
    np.testing.assert_array_equal(scorer.decision_function(X), model.decision_function(X))
    assert len(document["origins"]) == 2
    assert set(document["models"][0]["origin"]) == {0, 1}


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("origins",), [], "must have two entries or more"),
        (("origins", 0), [None], "must have 4 entries"),
        (("origins", 0), [None] * 4, "numeric features whose bins have different means"),
        (("origins", 0, 0), [1.0], "entries"),
        (("models", 0, "origin", 0), 2, "must hold integers"),
        (("models", 0, "origin"), [0], "one per round"),
    ],
    ids=str,
)
def test_fields_are_checked(place, value, message, document, tmp_path):
    with pytest.raises(ValueError, match=rf"(?s)model\.json: .*{message}"):
        load(change(document, place, value), tmp_path)


def test_means_ascend(document, tmp_path):
    means = document["origins"][1][2][::-1]
    with pytest.raises(ValueError, match="ascending order"):
        load(change(document, ("origins", 1, 2), means), tmp_path)


def test_rounds_have_no_origin_without_means(document, tmp_path):
    fewer = copy.deepcopy(document)
    del fewer["origins"]
    with pytest.raises(ValueError, match="must not be there without origins"):
        load(fewer, tmp_path)
