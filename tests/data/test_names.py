"""Test that columns of the fit, whatever their names, are not taken for others."""

import datetime
import json
import pickle
import warnings

import numpy as np
import pytest

import properboost as pb
from properboost.persistence.schema import model_schema

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(120, 3))
Y = (VALUES[:, 0] > 0.0).astype(int)

# A feature that separates the classes has no best coefficient.
pytestmark = pytest.mark.filterwarnings("ignore:in round .* the features separate rows")

MODELS = {
    "tables": lambda: pb.ProperBoostClassifier(n_estimators=3, weak_learner="table"),
    "a tree": pb.UDTClassifier,
    "votes": lambda: pb.ARBoostClassifier(n_estimators=3),
    "rados": lambda: pb.RadoBoostClassifier(n_rados=50, n_estimators=5),
    "ULS": lambda: pb.ULSClassifier(n_estimators=5),
    "a search": lambda: pb.ProperBoostClassifierCV(space={"gain": [1.0]}, max_estimators=3, cv=2),
}

NAMES = {
    "integers in another order": [2, 0, 1],
    "integers": [3, 7, 11],
    "floats": [0.5, 1.0, 2.5],
    "levels": [("a", 1), ("a", 2), ("b", 1)],
    "dates": [datetime.date(2020, 1, k) for k in (1, 2, 3)],
    "truth values and None": [True, None, 2],
}


def frame(names, order=(0, 1, 2)):
    columns = pd.Index([names[j] for j in order], dtype=object, tupleize_cols=False)
    return pd.DataFrame(VALUES[:, list(order)], columns=columns)


def loaded(model, folder):
    model.save_model(folder / "model.json")
    return pb.load_model(folder / "model.json")


@pytest.mark.parametrize("kind", MODELS)
def test_every_model_remembers_names_that_are_no_strings(kind, tmp_path):
    names = NAMES["integers in another order"]
    model = MODELS[kind]().fit(frame(names), Y)
    assert not hasattr(model, "feature_names_in_")
    expected = model.predict_proba(frame(names))
    for restored in (model, pickle.loads(pickle.dumps(model)), loaded(model, tmp_path)):
        np.testing.assert_array_equal(restored.predict_proba(frame(names)), expected)
        # An array has no names to compare.
        np.testing.assert_array_equal(restored.predict_proba(VALUES), expected)
        for other in (frame(names, (1, 0, 2)), frame([0, 1, 2]), frame([2, 0, 5]), frame([*"abc"])):
            with (
                warnings.catch_warnings(action="ignore"),  # by scikit-learn, of strings
                pytest.raises(
                    ValueError, match="X must have the columns of the fit in their order"
                ),
            ):
                restored.predict_proba(other)
    model.fit(VALUES, Y)
    model.predict_proba(frame([0, 1, 2]))


@pytest.mark.parametrize("kind", NAMES)
def test_names_of_every_type_are_compared(kind, tmp_path):
    names = NAMES[kind]
    model = MODELS["tables"]().fit(frame(names), Y)
    expected = model.predict_proba(VALUES)
    for restored in (model, loaded(model, tmp_path)):
        np.testing.assert_array_equal(restored.predict_proba(frame(names)), expected)
        with pytest.raises(ValueError, match=r"column 1 is .* and was "):
            restored.predict_proba(frame(names, (0, 2, 1)))
        row = dict(zip(names, VALUES[0], strict=True))
        np.testing.assert_array_equal(restored.compile()(row), expected[0])
        np.testing.assert_array_equal(restored.compile()(frame(names)[:1]), expected[0])
        with pytest.raises(ValueError, match=r"column 1 is .* and was "):
            restored.compile()(frame(names, (0, 2, 1))[:1])


def test_levels_of_a_multiindex_are_compared():
    columns = pd.MultiIndex.from_tuples(NAMES["levels"])
    model = MODELS["tables"]().fit(pd.DataFrame(VALUES, columns=columns), Y)
    model.predict(pd.DataFrame(VALUES, columns=columns))
    with pytest.raises(ValueError, match=r"\(a, 1\), \(a, 2\), \(b, 1\); column 0 is \(b, 1\)"):
        model.predict(pd.DataFrame(VALUES, columns=columns[::-1]))


@pytest.mark.parametrize("table", [VALUES, pd.DataFrame(VALUES), frame([0.0, 1.0, 2.0])])
def test_positions_are_no_names(table, tmp_path):
    """A frame made of an array has the array's file, and the same checks."""
    model = MODELS["tables"]().fit(table, Y)
    MODELS["tables"]().fit(VALUES, Y).save_model(tmp_path / "array.json")
    model.save_model(tmp_path / "frame.json")
    assert (tmp_path / "frame.json").read_bytes() == (tmp_path / "array.json").read_bytes()
    expected = model.predict(VALUES)
    for same in (pd.DataFrame(VALUES), frame([0.0, 1.0, 2.0])):
        np.testing.assert_array_equal(model.predict(same), expected)
    for names in ([1, 0, 2], ["1", "0", "2"]):
        with (
            warnings.catch_warnings(action="ignore"),
            pytest.raises(ValueError, match="in their order, 0, 1, 2; column 0 is 1 and was 0"),
        ):
            model.predict(frame(names))
    with pytest.warns(UserWarning, match="the names 3, 7, 11, and the model was fitted without"):
        np.testing.assert_array_equal(model.predict(frame(NAMES["integers"])), expected)


def test_names_that_are_strings_are_scikit_learns():
    model = MODELS["tables"]().fit(frame([*"abc"]), Y)
    assert model.feature_names_in_.tolist() == [*"abc"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame([*"abc"], (1, 0, 2)))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(frame([0, 1, 2]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(VALUES)


def test_names_of_a_quantized_table_are_text():
    rows = frame([1, 0, 2]).assign(y=Y)
    table = pb.QuantizedTable.from_batches(rows.rename(columns=str), "y")
    model = MODELS["tables"]().fit(table)
    assert model.feature_names_in_.tolist() == ["1", "0", "2"]
    with warnings.catch_warnings(action="ignore"):
        model.predict(frame([1, 0, 2]))
        with pytest.raises(ValueError, match="column 0 is 0 and was 1"):
            model.predict(frame([0, 1, 2]))


def test_validation_rows_and_later_fits_have_the_columns_of_the_fit():
    names = NAMES["integers"]
    model = pb.ProperBoostClassifier(n_estimators=3, warm_start=True, weak_learner="table")
    with pytest.raises(ValueError, match="X_val: X must have the columns of the fit"):
        model.fit(frame(names), Y, X_val=frame(names, (1, 0, 2)), y_val=Y)
    model.fit(frame(names), Y, X_val=frame(names), y_val=Y)
    with pytest.raises(ValueError, match="X must have the columns of the fit"):
        model.set_params(n_estimators=5).fit(frame(names, (1, 0, 2)), Y)


def test_rados_of_other_columns_are_not_added_up():
    parts = [
        pb.rado.make_rados(frame([1, 0, 2], order)[:60], Y[:60], 8, row_offset=k * 60)
        for k, order in enumerate([(0, 1, 2), (1, 0, 2)])
    ]
    with pytest.raises(ValueError, match="the columns must be the same"):
        pb.rado.combine(parts)


def test_merged_models_have_the_same_columns():
    models = [MODELS["tables"]().fit(frame(n), Y) for n in ([1, 0, 2], [0, 1, 2])]
    with pytest.raises(ValueError, match="models must have the same feature names"):
        pb.merge_models(models)


def test_files_hold_names_that_are_no_strings_in_a_form_of_their_own(tmp_path):
    validation = pytest.importorskip("jsonschema.validators")
    model = MODELS["tables"]().fit(frame(NAMES["integers"]), Y)
    model.save_model(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    validation.Draft202012Validator(model_schema()).validate(document)
    assert document["feature_names"] == {"no_text": ["3", "7", "11"]}
    for wrong in ({"no_text": ["3"]}, {"text": ["3", "7", "11"]}, {"no_text": [3, 7, 11]}, 3):
        (tmp_path / "wrong.json").write_text(json.dumps(document | {"feature_names": wrong}))
        with pytest.raises(ValueError, match="feature_names"):
            pb.load_model(tmp_path / "wrong.json")
