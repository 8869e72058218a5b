"""Files that commit f8f072e wrote: they load as the class they did there and predict the same."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import properboost as pb
from properboost.data.binning import NumericBins

pd = pytest.importorskip("pandas")

FOLDER = Path(__file__).resolve().parent / "files_of_format_4"
NAMES = sorted(path.name.partition(".")[0] for path in FOLDER.glob("*.expected.json"))


def unpack(name, folder):
    """Return the path of a model file, unpacked into `folder` if it is kept compressed."""
    path = FOLDER / f"{name}.json"
    if path.exists():
        return path
    unpacked = folder / path.name
    unpacked.write_bytes(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))
    return unpacked


def read_rows(columns):
    towns = pd.Categorical(columns["town"])
    size = np.array(columns["size"], dtype=np.float64)  # which reads 'nan' and 'inf'
    return pd.DataFrame({**columns, "size": size, "town": towns})


def test_there_are_twelve():
    assert len(NAMES) == 12


@pytest.mark.parametrize("name", NAMES)
def test_they_predict_what_they_did(name, tmp_path):
    expected = json.loads((FOLDER / f"{name}.expected.json").read_text("ascii"))
    path = unpack(name, tmp_path)
    assert json.loads(path.read_text("ascii"))["format_version"] == 4
    model, rows = pb.load_model(path), read_rows(expected["rows"])
    assert type(model).__name__ == expected["class"]
    np.testing.assert_array_equal(model.predict(rows), expected["predict"])
    np.testing.assert_array_equal(model.decision_function(rows), expected["decision_function"])
    # The exponentials of links were a C library's then, whose last bit depends on the processor.
    np.testing.assert_array_almost_equal_nulp(
        model.predict_proba(rows), np.array(expected["predict_proba"]), nulp=4
    )


@pytest.mark.parametrize("name", NAMES)
def test_they_can_be_saved_anew(name, tmp_path):
    expected = json.loads((FOLDER / f"{name}.expected.json").read_text("ascii"))
    model, rows = pb.load_model(unpack(name, tmp_path)), read_rows(expected["rows"])
    model.save_model(tmp_path / "anew.json")
    anew = pb.load_model(tmp_path / "anew.json")
    assert type(anew) is type(model)
    assert str(anew.get_params()) == str(model.get_params())
    np.testing.assert_array_equal(anew.predict_proba(rows), model.predict_proba(rows))
    np.testing.assert_array_equal(anew.decision_function(rows), expected["decision_function"])


@pytest.mark.parametrize("name", NAMES)
def test_they_do_not_know_the_range_of_their_training_rows(name, tmp_path):
    expected = json.loads((FOLDER / f"{name}.expected.json").read_text("ascii"))
    model, rows = pb.load_model(unpack(name, tmp_path)), read_rows(expected["rows"])
    drift, scorer = model.count_drift(rows), model.compile()
    numeric = [isinstance(bins, NumericBins) for bins in model._describe_training()[0]]
    assert any(numeric)
    np.testing.assert_array_equal(np.isnan(drift["below"]), numeric)
    np.testing.assert_array_equal(np.isnan(drift["above"]), numeric)
    records = rows.astype(object).to_dict("records")
    np.testing.assert_array_equal(scorer.predict_proba(records), model.predict_proba(rows))
