"""Test that every kind of table gives the same columns, and that bad ones are refused by name."""

import datetime
import decimal

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from helpers.frames import open_new
from helpers.searches import KINDS, as_kind
from properboost.data.frames import take_rows

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")


def numbers(table, j):
    column = table.numeric(j)
    assert column.dtype.kind in "iuf"
    assert column.dtype.isnative
    return column.astype(float)


def categories(table, j):
    column = table.categorical(j)
    return [None if code < 0 else column.values[code] for code in column.codes]


# -- sparse matrices ------------------------------------------------------------------------------


@settings(max_examples=50)
@given(
    entries=hnp.arrays(
        st.sampled_from(["f4", "f8", "i2", "i8", "?"]),
        st.tuples(st.integers(1, 8), st.integers(1, 4)),
    ),
    form=st.sampled_from(["csr", "csc", "lil", "dok", "dia", "bsr"]),
    as_array=st.booleans(),
)
def test_sparse_matrices_have_the_columns_of_dense_ones(entries, form, as_array):
    X = (sparse.coo_array if as_array else sparse.coo_matrix)(entries).asformat(form)
    table, dense = open_new(X), open_new(X.toarray())
    assert table.array is None
    for j in range(X.shape[1]):
        np.testing.assert_array_equal(numbers(table, j), numbers(dense, j))
        assert table.numeric(j).dtype == dense.numeric(j).dtype
        assert categories(table, j) == categories(dense, j)
    part = table.rows(1, len(entries))
    np.testing.assert_array_equal(part.values(0), dense.values(0)[1:])


def test_entries_of_one_cell_add_up():
    X = sparse.coo_array(([1.0, 2.0, np.nan], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    np.testing.assert_array_equal(numbers(open_new(X), 1), [3.0, 0.0])
    np.testing.assert_array_equal(numbers(open_new(X), 0), [0.0, np.nan])


# -- arrays ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_arrays_of_real_numbers_are_not_copied(dtype):
    X = np.arange(24).reshape(4, 6).astype(dtype)[:, ::2]
    table = open_new(X)
    assert np.shares_memory(table.array, X)
    assert np.shares_memory(table.numeric(1), X)
    np.testing.assert_array_equal(table.numeric(1), X[:, 1])


@pytest.mark.parametrize("dtype", ["f2", "g", ">f4", ">f8", ">i4", "?"])
def test_other_real_types_are_converted(dtype):
    X = np.array([[0, 1, 2], [1, 0, 5]]).astype(dtype)
    table = open_new(X)
    assert table.array.dtype.kind in "uif"
    assert table.array.dtype.isnative
    np.testing.assert_array_equal(table.array, X.astype(float))
    np.testing.assert_array_equal(numbers(table, 2), X[:, 2].astype(float))


def test_lists_and_objects_of_numbers_are_numbers():
    X = [[1, 2.5], [None, True], [decimal.Decimal("0.25"), np.float32(7)]]
    table = open_new(X)
    assert table.array is None
    np.testing.assert_array_equal(numbers(table, 0), [1.0, np.nan, 0.25])
    np.testing.assert_array_equal(numbers(table, 1), [2.5, 1.0, 7.0])


@pytest.mark.parametrize(
    "value", ["1.5", b"1", datetime.date(2020, 1, 1), np.datetime64("2020"), 1j, [1], {}]
)
def test_objects_that_are_no_numbers_are_refused_by_column(value):
    X = np.ones((3, 2), dtype=object)
    X[1, 1] = value
    with pytest.raises((TypeError, ValueError), match="column 1"):
        open_new(X).numeric(1)
    np.testing.assert_array_equal(open_new(X).numeric(0), 1.0)


@pytest.mark.parametrize("dtype", ["U3", "S3", "M8[D]", "m8[s]"])
def test_arrays_of_other_types_are_refused_by_column(dtype):
    with pytest.raises(ValueError, match="column 0 has type"):
        open_new(np.zeros((2, 1), dtype=dtype)).numeric(0)


def test_masked_arrays_are_refused():
    with pytest.raises(TypeError, match="masked"):
        open_new(np.ma.masked_array([[1.0, 2.0]], mask=[[True, False]]))


# -- tables of named columns ----------------------------------------------------------------------

COLUMNS = {
    "int": ([1, 2, 3], [1.0, 2.0, 3.0]),
    "int missing": ([1, None, 3], [1.0, np.nan, 3.0]),
    "float": ([0.5, -1.0, 2.0], [0.5, -1.0, 2.0]),
    "float missing": ([0.5, None, 2.0], [0.5, np.nan, 2.0]),
    "bool": ([True, False, True], [1.0, 0.0, 1.0]),
    "bool missing": ([True, None, False], [1.0, np.nan, 0.0]),
}


def pandas_nullable(columns):
    types = {"int": "Int64", "float": "Float32", "bool": "boolean"}
    return pd.DataFrame(
        {name: pd.array(values, dtype=types[name.split()[0]]) for name, values in columns.items()}
    )


FRAMES = {
    "pandas nullable": pandas_nullable,
    "pandas arrow": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "arrow batch": pa.record_batch,
    "arrow chunks": lambda columns: pa.concat_tables(
        [pa.table(columns).slice(0, 1), pa.table(columns).slice(1)]
    ),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_numeric_columns_of_every_library(kind):
    frame = FRAMES[kind]({name: values for name, (values, _) in COLUMNS.items()})
    table = open_new(frame)
    assert (table.n_rows, table.n_features) == (3, len(COLUMNS))
    assert list(table.names) == list(COLUMNS)
    for j, (_, expected) in enumerate(COLUMNS.values()):
        assert not table.declares_categorical(j)
        np.testing.assert_array_equal(numbers(table, j), expected)
        np.testing.assert_array_equal(numbers(table.rows(1, 3), j), expected[1:])


def test_numpy_columns_of_pandas_are_views():
    X = np.arange(12.0).reshape(6, 2)
    table = open_new(pd.DataFrame(X, columns=["a", "b"], copy=False))
    assert np.shares_memory(table.numeric(1), X)


def test_sparse_columns_of_pandas_are_read():
    frame = pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 0.0, 2.0])})
    np.testing.assert_array_equal(open_new(frame).numeric(0), [0.0, 0.0, 2.0])


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("a", ["1.5", "2.25"]).cast(pl.Decimal(10, 2)),
        pl.Series("a", [1.5, 2.25], dtype=pl.Float32),
        pa.chunked_array([pa.array([decimal.Decimal("1.50"), decimal.Decimal("2.25")])]),
        pa.chunked_array([np.array([1.5, 2.25], dtype=np.float16)]),
    ],
    ids=str,
)
def test_rarer_numeric_types(column):
    frame = column.to_frame() if isinstance(column, pl.Series) else pa.table({"a": column})
    np.testing.assert_array_equal(numbers(open_new(frame), 0), [1.5, 2.25])


@pytest.mark.parametrize("kind", ["polars", "arrow", "pandas around Arrow"])
def test_columns_that_are_all_null_are_missing_numbers(kind):
    frame = FRAMES["arrow" if kind not in FRAMES else kind]({"a": [None, None]})
    table = open_new(frame if kind in FRAMES else frame.to_pandas(types_mapper=pd.ArrowDtype))
    np.testing.assert_array_equal(numbers(table, 0), [np.nan, np.nan])


TEXT = ["b", "a", None, "b"]


def enum(values):
    return pl.Series("a", values, dtype=pl.Enum(["b", "a", "z"]))


CATEGORICAL = {
    "pandas": lambda v: pd.DataFrame({"a": pd.Categorical(v)}),
    "pandas ordered": lambda v: pd.DataFrame({"a": pd.Categorical(v, ["b", "a"], ordered=True)}),
    "polars": lambda v: pl.DataFrame({"a": pl.Series(v, dtype=pl.Categorical)}),
    "polars enum": lambda v: pl.DataFrame({"a": enum(v)}),
    "arrow": lambda v: pa.table({"a": pa.array(v).dictionary_encode()}),
    "arrow chunks": lambda v: pa.table(
        {"a": pa.chunked_array([pa.array(p).dictionary_encode() for p in (v[:1], v[1:])])}
    ),
    "pandas around Arrow": lambda v: pa.table({"a": pa.array(v).dictionary_encode()}).to_pandas(
        types_mapper=pd.ArrowDtype
    ),
    "arrow uint8": lambda v: pa.table(
        {"a": pa.array(v).cast(pa.dictionary(pa.uint8(), pa.string()))}
    ),
}


@pytest.mark.parametrize("kind", CATEGORICAL)
def test_categorical_columns_of_every_library(kind):
    table = open_new(CATEGORICAL[kind](TEXT))
    assert table.declares_categorical(0)
    assert categories(table, 0) == TEXT
    assert categories(table.rows(1, 3), 0) == TEXT[1:3]
    with pytest.raises(ValueError, match="column 'a' holds categories"):
        table.numeric(0)


def test_polars_categories_do_not_depend_on_other_columns_of_the_process():
    first = open_new(CATEGORICAL["polars"](["x1", "x0"])).categorical(0)
    open_new(CATEGORICAL["polars"](["x3", "x2"]))
    second = open_new(CATEGORICAL["polars"](["x0", "x1"])).categorical(0)
    assert first.values == second.values == ("x0", "x1")


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("pandas", lambda v: pd.DataFrame({"a": v})),
        ("pandas object", lambda v: pd.DataFrame({"a": pd.Series(v, dtype=object)})),
        ("polars", lambda v: pl.DataFrame({"a": v})),
        ("arrow", lambda v: pa.table({"a": v})),
        ("array", lambda v: np.array(v, dtype=object).reshape(-1, 1)),
    ],
)
def test_listed_columns_of_any_type_are_categories(kind, make):
    table = open_new(make(TEXT))
    assert not table.declares_categorical(0)
    assert categories(table, 0) == TEXT
    assert table.categorical(0).values == ("a", "b")
    with pytest.raises(ValueError, match=r"column .* has type .*categorical_features"):
        table.numeric(0)
    assert categories(open_new(make([3, 1, None, 3])), 0) == [3, 1, None, 3]


def test_integers_beyond_float64_are_refused_by_column():
    X = np.ones((3, 2), dtype=object)
    X[1, 1] = 10**400
    with pytest.raises(ValueError, match="column 1 holds an integer beyond float64"):
        open_new(X).numeric(1)


@pytest.mark.parametrize("value", [np.longdouble("1e400"), -np.longdouble("1e400")])
@pytest.mark.parametrize(
    "wrap", [lambda X: X, lambda X: pd.DataFrame(X, columns=["a", "b"]), lambda X: X.astype(object)]
)
def test_numbers_beyond_float64_are_refused_by_column(wrap, value):
    X = np.ones((3, 2), dtype=np.longdouble)
    X[0, 1] = np.inf
    np.testing.assert_array_equal(open_new(wrap(X)).numeric(1), [np.inf, 1.0, 1.0])
    X[2, 1] = value
    with pytest.raises(ValueError, match=r"column (1|'b') holds a number beyond float64: -?1e"):
        open_new(wrap(X)).numeric(1)


def test_decimals_beyond_float64_are_refused_by_column():
    X = np.array([[decimal.Decimal("Infinity")], [decimal.Decimal("1e400")]], dtype=object)
    np.testing.assert_array_equal(open_new(X[:1]).numeric(0), [np.inf])
    with pytest.raises(ValueError, match=r"column 0 holds a number beyond float64: 1E\+400"):
        open_new(X).numeric(0)


@pytest.mark.parametrize("wrap", [np.array, pd.arrays.SparseArray])
def test_complex_columns_of_pandas_are_refused(wrap):
    table = open_new(pd.DataFrame({"z": wrap([1j, 0j])}))
    with pytest.raises(ValueError, match=r"column 'z' has type .*complex"):
        table.numeric(0)
    with pytest.raises(ValueError, match="column 'z' holds complex"):
        table.categorical(0)


@pytest.mark.parametrize("name", ["Int128", "UInt128"])
def test_wide_integers_of_polars_are_categories(name):
    dtype = getattr(pl, name, None)
    if dtype is None:
        pytest.skip(f"this polars has no {name}")
    table = open_new(pl.DataFrame({"a": pl.Series([3, 1, None, 3], dtype=dtype)}))
    assert categories(table, 0) == [3, 1, None, 3]
    np.testing.assert_array_equal(numbers(table, 0), [3.0, 1.0, np.nan, 3.0])


@pytest.mark.parametrize(
    "make",
    [
        lambda v: pd.DataFrame({"when": v}),
        lambda v: pl.DataFrame({"when": v}),
        lambda v: pa.table({"when": v}),
    ],
    ids=["pandas", "polars", "arrow"],
)
@pytest.mark.parametrize(
    "value", [datetime.datetime(2020, 1, 1), datetime.timedelta(1)], ids=["time", "span"]
)
def test_times_are_neither_numbers_nor_categories(make, value):
    table = open_new(make([value, value]))
    with pytest.raises(ValueError, match="column 'when' has type"):
        table.numeric(0)
    with pytest.raises(ValueError, match="column 'when' holds"):
        table.categorical(0)


def test_categories_of_a_type_that_no_file_can_hold_are_refused():
    table = open_new(pd.DataFrame({"age": pd.cut([1, 20, 70], [0, 18, 100])}))
    with pytest.raises(
        ValueError, match=r"column 'age' holds Interval; .* as pandas' \.astype\(str"
    ):
        table.categorical(0)


def test_lazy_frames_are_refused():
    with pytest.raises(TypeError, match=r"X\.collect\(\)"):
        open_new(pl.LazyFrame({"a": [1.0]}))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pd", "pl", "pa"])
def test_empty_tables_are_refused(make):
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        open_new(make({"a": np.empty(0)}))
    with pytest.raises(ValueError, match=r"0 (sample|feature)\(s\)"):
        open_new(make({}))


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_taken_from_any_table(kind):
    frame = pd.DataFrame({"age": np.arange(10.0), "town": pd.Categorical(list("abcabcabca"))})
    table = as_kind(kind, frame)
    taken = take_rows(table, np.array([5, 2, 9]))
    assert type(taken) is type(table)
    assert taken.shape == (3, table.shape[1])
    ages = taken[:, 0] if kind == "numpy" else taken["age"]
    np.testing.assert_array_equal(np.asarray(ages, dtype=float), [5.0, 2.0, 9.0])


# -- categories -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["arrow", "pandas around Arrow"])
def test_values_that_a_dictionary_holds_twice_are_one_category(kind):
    words = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, 3, None, 2]), pa.array(["u", None, "v", "u"])
    )
    table = pa.table({"a": words})
    if kind != "arrow":
        table = table.to_pandas(types_mapper=pd.ArrowDtype)
    column = open_new(table).categorical(0)
    assert column.values == ("u", "v")
    assert column.codes.tolist() == [0, -1, 1, 0, -1, 1]


@pytest.mark.parametrize("kind", ["polars", "arrow", "pandas", "pandas around Arrow"])
def test_decimals_are_the_categories_that_numbers_are(kind):
    values = [decimal.Decimal(text) for text in ("2.50", "1.00", "0.1")] + [None]
    frame = pa.table({"a": pa.array(values, pa.decimal128(5, 2))})
    if kind == "polars":
        frame = pl.from_arrow(frame)
    elif kind != "arrow":
        frame = frame.to_pandas(types_mapper=None if kind == "pandas" else pd.ArrowDtype)
    assert categories(open_new(frame), 0) == [2.5, 1, 0.1, None]
    assert open_new(frame).categorical(0).values == (0.1, 1, 2.5)
