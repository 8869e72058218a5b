"""Test that single rows are read as tables of one row, and that errors name the column."""

import datetime
import decimal
import pickle
import types

import numpy as np
import pytest

from properboost.data.binning import CategoricalBins, NumericBins
from properboost.data.names import ColumnNames
from properboost.data.rows import RowReader

FEATURES = (
    NumericBins(np.array([0.5])),
    CategoricalBins(("Bonn", "Ulm")),
    CategoricalBins((1, 2), has_rare=True),
)
NAMES = ["size", "town", "floor"]
READER = RowReader(FEATURES, ColumnNames(tuple(NAMES)))
ROW = {"size": 1.5, "town": "Ulm", "floor": 1}
READ = [[1.5, 1.0, 0.0]]


def read(**values):
    return READER.read(ROW | values).array[0].tolist()


def test_a_row_of_a_pandas_table():
    pandas = pytest.importorskip("pandas")
    row = pandas.Series({"other": 1, "floor": 1, "town": "Ulm", "size": 1.5})
    assert READER.read(row).array.tolist() == READ


@pytest.mark.parametrize(
    "value",
    [2, 2.0, np.float32(2), np.float16(2), np.int8(2), np.uint64(2), decimal.Decimal(2)],
    ids=lambda value: type(value).__name__,
)
def test_numbers_of_every_type(value):
    assert read(size=value) == [2.0, 1.0, 0.0]
    assert read(floor=value if not isinstance(value, decimal.Decimal) else 2)[2] == 1.0


def test_booleans_are_numbers():
    for value in (True, np.bool_(True)):
        assert read(size=value)[0] == 1.0


def test_missing_values_of_every_kind():
    pandas = pytest.importorskip("pandas")
    for value in (None, float("nan"), np.float32("nan"), pandas.NA, pandas.NaT):
        size, *bins = read(size=value, town=value, floor=value)
        assert np.isnan(size)
        assert bins == [-1.0, -1.0]


def test_categories_that_training_did_not_have():
    assert read(town="Rome", floor=77)[1:] == [-2.0, 2.0]
    assert read(town=np.str_("Bonn"))[1] == 0.0


@pytest.mark.parametrize(
    "value", ["1.5", b"1", np.str_("1"), [1], 1j, 10**400, datetime.date(2020, 1, 1),
              np.datetime64(1, "ns")], ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_is_no_number_is_refused_by_column(value):
    with pytest.raises(ValueError, match="column 'size' must be a number; got"):
        read(size=value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, "column 'town' were strings when the model was fitted and are numbers now"),
        ([1], "column 'town': unhashable type"),
        (b"Ulm", "column 'town' holds bytes"),
        (datetime.date(2020, 1, 1), "column 'town' holds date"),
    ],
)
def test_what_is_no_category_is_refused_by_column(value, message):
    with pytest.raises((TypeError, ValueError), match=message):
        read(town=value)


def test_missing_keys_are_named():
    with pytest.raises(ValueError, match=r"it lacks 'town', 'floor': give None"):
        READER.read({"size": 1.0, "Town": "Ulm"})


def test_other_keys_are_ignored_and_order_is_free():
    row = {"id": object(), **dict(reversed(ROW.items()))}
    assert READER.read(row).array.tolist() == READ
    assert READER.read(types.MappingProxyType(row)).array.tolist() == READ


def test_without_names_the_keys_are_positions():
    reader = RowReader(FEATURES, None)
    assert reader.names == [0, 1, 2]
    assert reader.read({0: 1.5, 1: "Ulm", 2: 1}).array.tolist() == READ


def test_a_single_feature():
    assert RowReader(FEATURES[:1], ColumnNames(("size",))).read({"size": 2}).array.tolist() == [
        [2.0]
    ]


def test_lists_of_rows():
    rows = READER.read([ROW, ROW | {"town": "Bonn", "size": None}]).array
    np.testing.assert_array_equal(rows, [READ[0], [np.nan, 0.0, 0.0]])
    with pytest.raises(ValueError, match="column 'size' must be a number; got 1000"):
        READER.read([ROW, ROW | {"size": 10**400}])


FRAMES = {
    "pandas": lambda pd, X: pd.DataFrame(X),
    "polars": lambda pl, X: pl.DataFrame(X),
    "pyarrow": lambda pa, X: pa.table(X),
}


@pytest.mark.parametrize("library", FRAMES)
def test_tables_of_one_row(library):
    make, module = FRAMES[library], pytest.importorskip(library)
    one = {name: [value] for name, value in ROW.items()}
    assert READER.read(make(module, one)).array.tolist() == READ
    for other in (
        {name: 2 * values for name, values in one.items()},
        dict(reversed(one.items())),
        one | {"id": [1]},
    ):
        table = make(module, other)
        assert READER.read(table) is table


def test_record_batches_and_missing_values_of_arrow():
    pa = pytest.importorskip("pyarrow")
    batch = pa.record_batch({"size": [None], "town": ["Ulm"], "floor": [None]}, pa.schema(
        [("size", pa.float64()), ("town", pa.large_string()), ("floor", pa.int8())]
    ))  # fmt: skip
    np.testing.assert_array_equal(READER.read(batch).array, [[np.nan, 1.0, -1.0]])


def test_anything_else_is_returned():
    for X in (np.zeros((1, 3)), [[1.0, "Ulm", 1]], [], "row", 3):
        assert READER.read(X) is X


def test_a_table_of_rows_has_rows_and_columns():
    table = READER.read([ROW, ROW | {"size": 7}]).rows(1, 2)
    assert table.holds_bins
    assert (table.n_rows, table.numeric(0).tolist()) == (1, [7.0])
    assert FEATURES[1].read(table, 1).tolist() == [1.0]


def test_readers_can_be_pickled():
    assert pickle.loads(pickle.dumps(READER)).read(ROW).array.tolist() == READ


def test_names_that_are_no_strings_are_keys_as_they_are_and_as_text():
    reader = RowReader(FEATURES[:2], ColumnNames(("7", "(a, 1)"), are_text=False))
    for row in (
        {("a", 1): "Ulm", 7: 1.5},
        {"7": 1.5, "(a, 1)": "Ulm"},
        {7.0: 1.5, ("a", 1): "Ulm"},
    ):
        assert reader.read(row).array.tolist() == [[1.5, 1.0]]
    with pytest.raises(ValueError, match=r"it lacks '7'"):
        reader.read({0: 1.5, ("a", 1): "Ulm"})


def test_numbers_beyond_float64_are_refused():
    with pytest.raises(ValueError, match="column 'size' must be a number"):
        read(size=np.longdouble("1e400"))
    with pytest.raises(ValueError, match="column 'size' must be a number"):
        read(size=decimal.Decimal("1e400"))
    assert read(size=np.longdouble("inf"))[0] == np.inf
