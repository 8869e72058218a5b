"""Test that a table's columns are refused together, and that the lines of the message mend it."""

import datetime
import pickle

import numpy as np
import pytest

import properboost as pb
from helpers.frames import open_new
from properboost.data.features import find_categorical
from properboost.data.refusals import ColumnError, refuse_together

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

N = 60
Y = np.arange(N) % 3 == 0
DAYS = [datetime.datetime(2024, 1, 1) + datetime.timedelta(days=2 * i) for i in range(N)]
COLUMNS = {
    "x": np.arange(float(N)),
    "town": ["Ulm", "Kiel"] * (N // 2),
    "day": [day.date() for day in DAYS],
    "time": [day + datetime.timedelta(hours=i % 7) for i, day in enumerate(DAYS)],
    "span": [day - DAYS[3] for day in DAYS],
    "boxes": [[i] for i in range(N)],
}
MAKERS = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "arrow": pyarrow.table}


def fit(X, **parameters):
    return pb.ProperBoostClassifier(n_estimators=3, **parameters).fit(X, Y)


def mend(X):
    """Run the lines of the error."""
    names = {"pandas": pandas, "polars": polars, "pyarrow": pyarrow, "X": X}
    with pytest.raises(ColumnError) as caught:
        fit(X)
    text = str(caught.value)
    for line in text.splitlines()[1:] or [text.removeprefix("X: ")]:
        exec("X" + line.partition(": X")[2], names)
    return names["X"]


@pytest.mark.parametrize("library", MAKERS)
def test_lines_of_the_message_mend_the_table(library):
    columns = {name: COLUMNS[name] for name in COLUMNS if (library, name) != ("pandas", "boxes")}
    X = MAKERS[library](columns)
    with pytest.raises(ColumnError, match="columns cannot be read; columns must hold numbers"):
        fit(X)
    mended = mend(X)
    model = fit(mended)
    names = list(model.feature_names_in_)
    assert {"x", "town", "day_year", "day_month", "time_hour"} <= set(names)
    assert not {"day", "time", "boxes"} & set(names)
    assert model.predict_proba(mended).shape == (N, 2)


def test_pandas_dates_without_a_time_get_no_hour():
    with pytest.raises(ColumnError) as caught:
        fit(pandas.DataFrame({"day": DAYS}))
    assert "day_of_week" in str(caught.value)
    assert "hour" not in str(caught.value)


def test_text_and_numbers_in_one_column_become_text():
    X = pandas.DataFrame({"a": [1, "b", None] * (N // 3)}, dtype=object)
    with pytest.raises(ColumnError, match="holds text among other values"):
        fit(X)
    assert fit(mend(X)).ensemble_.binning.features[0].categories == ("1", "b")


def test_predictions_refuse_together():
    model = fit(pandas.DataFrame({"a": np.arange(N), "b": ["u", "v"] * (N // 2), "c": np.ones(N)}))
    with pytest.raises(ColumnError, match="X: 3 columns cannot be read") as caught:
        model.predict(pandas.DataFrame({"a": ["1"], "b": [2], "c": ["3"]}))
    assert "X['a'] = pandas.to_numeric(X['a'])" in str(caught.value)
    assert "the categories of column 'b' were strings" in str(caught.value)


def test_linear_models_and_batches_refuse_together():
    X = pandas.DataFrame({key: COLUMNS[key] for key in ("x", "day", "time")})
    with pytest.raises(ColumnError, match="X: 2 columns cannot be read"):
        pb.RadoBoostClassifier().fit(X, Y)
    with pytest.raises(ColumnError, match="X: 2 columns cannot be read"):
        pb.QuantizedTable.from_batches([X.assign(y=Y)], "y")


def test_columns_beyond_twenty_are_counted():
    with pytest.raises(ColumnError) as caught:
        fit(pandas.DataFrame({f"day {j}": DAYS for j in range(23)}))
    assert str(caught.value).endswith("- and 3 more")


def test_an_error_that_only_some_rows_have_stays():
    def read(_):
        return None

    with (
        pytest.raises(ColumnError, match="X: a row"),
        refuse_together(range(2), read),
    ):
        raise ColumnError("X: a row")


def test_errors_cross_processes():
    error = pickle.loads(pickle.dumps(ColumnError("X: column 'a'")))
    assert (type(error), str(error)) == (ColumnError, "X: column 'a'")


@pytest.mark.parametrize(
    "make",
    [
        lambda v: pandas.DataFrame({"a": pandas.Series(v, dtype=object)}),
        lambda v: pandas.DataFrame({"a": pandas.Series(v, dtype="str")}),
        lambda v: pandas.DataFrame({"a": pandas.Series(v, dtype="string")}),
        lambda v: pandas.DataFrame({"a": pandas.array(v, dtype="string[pyarrow]")}),
        lambda v: polars.DataFrame({"a": v}),
        lambda v: pyarrow.table({"a": v}),
        lambda v: pyarrow.table({"a": pyarrow.array(v, pyarrow.large_string())}),
        lambda v: np.array(v, dtype=object)[:, None],
    ],
    ids=["object", "str", "string", "arrow in pandas", "polars", "arrow", "large", "array"],
)
def test_text_of_any_library_is_categorical_by_its_type(make):
    assert find_categorical("from_dtype", open_new(make(["b", None, "a"]))) == ([0], True)


@pytest.mark.parametrize(
    "values", [[1, None], [True, None], [None, None], [1.5, pandas.NA]], ids=str
)
def test_objects_that_are_no_text_are_numbers(values):
    table = open_new(pandas.DataFrame({"a": pandas.Series(values, dtype=object)}))
    assert find_categorical("from_dtype", table) == ([], True)
    expected = [np.nan if value is None or value is pandas.NA else value for value in values]
    np.testing.assert_array_equal(table.numeric(0), expected)


def test_arrays_of_strings_are_mended_for_either_meaning():
    X = np.array([["1", "2"]] * N)
    with pytest.raises(
        ColumnError, match=r"X\.astype\(float\); if categories, X = X\.astype\(object"
    ):
        fit(X)
    assert fit(X.astype(float)).n_features_in_ == 2
    assert fit(X.astype(object)).predict_proba(X.astype(object)).shape == (N, 2)
