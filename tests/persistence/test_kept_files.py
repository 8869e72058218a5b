"""Files of older formats load as the same class as then, and predict the same."""

import json
from pathlib import Path

import numpy as np
import pytest

import properboost as pb
from properboost.data.binning import NumericBins
from properboost.persistence.files import VERSION, read

pd = pytest.importorskip("pandas")

FOLDER = Path(__file__).resolve().parent / "kept_files"
NAMES = sorted(
    f"{path.parent.name}/{path.name.partition('.')[0]}" for path in FOLDER.glob("*/*.expected.json")
)
FORMATS = sorted(int(path.name.removeprefix("format_")) for path in FOLDER.glob("format_*"))


def find(name):
    """Return the path of a model file, which is compressed if it is long."""
    path = FOLDER / f"{name}.json"
    return path if path.exists() else path.with_suffix(".json.gz")


def read_expected(name):
    return json.loads((FOLDER / f"{name}.expected.json").read_text("ascii"))


def read_rows(columns):
    towns = pd.Categorical(columns["town"])
    size = np.array(columns["size"], dtype=np.float64)  # which reads 'nan' and 'inf'
    return pd.DataFrame({**columns, "size": size, "town": towns})


EXACT = {"decision_function", "predict_set"}
"""Methods whose results are the same bits on any processor."""

NEAR = {"expected_costs", "predict_multiprobability"}


def test_there_are_as_many_as_were_written():
    assert {f: sum(name.startswith(f"format_{f}/") for name in NAMES) for f in FORMATS} == {
        4: 12,
        7: 19,
        8: 32,
        9: 32,
        10: 32,
        11: 34,
        12: 35,
        13: 44,
    }
    assert FORMATS[-1] == VERSION


@pytest.mark.parametrize("name", NAMES)
def test_they_predict_what_they_did(name):
    expected = read_expected(name)
    file = read(find(name))
    assert name.startswith(f"format_{file.version}/")
    model, rows = file.model, read_rows(expected["rows"])
    assert type(model).__name__ == expected["class"]
    np.testing.assert_array_equal(model.predict(rows), expected["predict"])
    for method in EXACT & {*expected}:
        np.testing.assert_array_equal(getattr(model, method)(rows), expected[method])
    # A C library once computed the links' exponentials; their last bit depends on the processor.
    np.testing.assert_array_almost_equal_nulp(
        model.predict_proba(rows), np.array(expected["predict_proba"]), nulp=4
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("compact", [False, True])
def test_they_can_be_saved_anew(name, compact, tmp_path):
    expected = read_expected(name)
    model, rows = pb.load_model(find(name)), read_rows(expected["rows"])
    model.save_model(tmp_path / "anew.json", compact=compact)
    anew = pb.load_model(tmp_path / "anew.json")
    assert type(anew) is type(model)
    assert str(anew.get_params()) == str(model.get_params())
    np.testing.assert_array_equal(anew.predict_proba(rows), model.predict_proba(rows))
    for method in (EXACT | NEAR) & {*expected}:
        values = getattr(anew, method)(rows)
        np.testing.assert_array_equal(values, getattr(model, method)(rows))


@pytest.mark.parametrize("name", [n for n in NAMES if "lines_in_leaves" in n])
def test_lines_of_older_files_add_up_about_their_centers(name):
    model, rows = read(find(name)).model, read_rows(read_expected(name)["rows"])
    contributions = model.contributions(rows)
    np.testing.assert_allclose(
        contributions.baseline + contributions.values.sum(axis=1),
        model.decision_function(rows),
        atol=1e-12,
    )
    lines = model.ensemble_.models[0].lines
    is_old = int(name.partition("/")[0].removeprefix("format_")) < 13
    assert np.array_equal(lines.mean, lines.center) == is_old


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith(("format_4", "format_7"))])
def test_older_ones_lack_the_range_of_their_training_rows(name):
    expected = read_expected(name)
    model, rows = pb.load_model(find(name)), read_rows(expected["rows"])
    drift, scorer = model.count_drift(rows), model.compile()
    numeric = [isinstance(bins, NumericBins) for bins in model._describe_training()[0]]
    assert any(numeric)
    np.testing.assert_array_equal(np.isnan(drift["below"]), numeric)
    np.testing.assert_array_equal(np.isnan(drift["above"]), numeric)
    records = rows.astype(object).to_dict("records")
    np.testing.assert_array_equal(scorer.predict_proba(records), model.predict_proba(rows))
