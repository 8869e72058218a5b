"""Test that sources of every kind give the same table, and that one-shot sources are refused."""

import numpy as np
import pytest

import properboost as pb
from properboost.batches import sources
from properboost.batches.sources import open_source

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
ds = pytest.importorskip("pyarrow.dataset")
pq = pytest.importorskip("pyarrow.parquet")

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {
        "a": RNG.normal(size=300),
        "b": np.where(RNG.random(300) < 0.1, np.nan, RNG.integers(0, 9, 300)),
        "town": RNG.choice(["Ulm", "Bonn"], 300),
        "y": RNG.random(300) < 0.5,
    }
)
ROWS.loc[299, "town"] = "Bern"
ARROW = pa.Table.from_pandas(ROWS.assign(town=ROWS["town"].astype("category")))


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(sources, "BATCH_ROWS", 64)


class Stream:
    """Stand-in for the table of an unknown library, with Arrow's stream interface."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def write(folder, rows=ARROW, name="rows.parquet"):
    pq.write_table(rows, folder / name, row_group_size=100)
    return folder / name


def write_parts(folder):
    for k in range(3):
        write(folder, ARROW.slice(100 * k, 100), f"part-{k}.parquet")
    return folder


SOURCES = {
    "a path": write,
    "a string": lambda folder: str(write(folder)),
    "a folder": write_parts,
    "paths": lambda folder: sorted(write_parts(folder).glob("*.parquet")),
    "a dataset of Parquet": lambda folder: ds.dataset(write(folder)),
    "a dataset in memory": lambda _: ds.dataset(ARROW),
    "an Arrow table": lambda _: ARROW,
    "a stream": lambda _: Stream(ARROW),
    "Arrow batches": lambda _: lambda: ARROW.to_batches(max_chunksize=7),
    "a pandas table": lambda _: ROWS.assign(town=ROWS["town"].astype("category")),
    "a polars table": lambda _: pl.from_arrow(ARROW),
    "a lazy table": lambda _: pl.from_arrow(ARROW).lazy(),
    "a list of tables": lambda _: [ARROW[:7].to_pandas(), ARROW[7:100], ARROW[100:]],
    "polars batches": lambda _: lambda: pl.from_arrow(ARROW).iter_slices(64),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_each_kind_of_source_gives_the_same_rows(kind, tmp_path):
    expected = pb.QuantizedTable.from_batches(ROWS, "y", categorical_features=["town"])
    table = pb.QuantizedTable.from_batches(
        SOURCES[kind](tmp_path), "y", features=["a", "b", "town"]
    )
    np.testing.assert_array_equal(table.read_codes(), expected.read_codes())
    np.testing.assert_array_equal(table.labels.codes, expected.labels.codes)
    assert table.bins[2] == expected.bins[2]


def test_batches_are_of_so_many_rows(tmp_path):
    for source in (write(tmp_path), ds.dataset(write(tmp_path))):
        sizes = [table.n_rows for table in open_source(source, ["b", "y"])()]
        assert sum(sizes) == 300
        assert max(sizes) <= 64


def test_only_requested_columns_are_read(tmp_path):
    for source in (write(tmp_path), ds.dataset(write(tmp_path)), pl.from_arrow(ARROW).lazy()):
        assert sorted(next(open_source(source, ["y", "b"])()).names) == ["b", "y"]


# The place of a category must not depend on the batches.
@pytest.mark.parametrize("size", [1, 60, 300])
@pytest.mark.parametrize(
    "make",
    [
        lambda rows: pa.table({**rows, "town": rows["town"].dictionary_encode()}),
        lambda rows: pl.from_arrow(pa.table(rows)).with_columns(
            pl.col("town").cast(pl.Categorical)
        ),
        lambda rows: pl.from_arrow(pa.table(rows)).with_columns(
            pl.col("town").cast(pl.Enum(["Ulm", "Oslo", "Bern", "Bonn"]))
        ),
        lambda rows: pa.table(rows).to_pandas().astype({"town": "category"}),
    ],
    ids=["dictionary", "Categorical", "Enum", "pandas"],
)
def test_places_of_categories_are_those_of_all_rows_together(make, size):
    rows = {"town": pa.chunked_array([pa.array(ROWS["town"].tolist())]), "y": ARROW["y"]}

    def read():
        for begin in range(0, 300, size):
            yield make({name: column.slice(begin, size) for name, column in rows.items()})

    expected = pb.QuantizedTable.from_batches(make(rows), "y")
    assert pb.QuantizedTable.from_batches(read, "y").bins == expected.bins


def test_numbers_may_be_whole_in_some_batches_only():
    halves = [ROWS[["a", "b", "y"]][:5].dropna().astype({"b": int}), ROWS[["a", "b", "y"]][5:]]
    table = pb.QuantizedTable.from_batches(lambda: halves, "y")
    expected = pb.QuantizedTable.from_batches(pd.concat(halves), "y")
    np.testing.assert_array_equal(table.read_codes(), expected.read_codes())


# -- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        pa.RecordBatchReader.from_batches(ARROW.schema, ARROW.to_batches()),
        ds.Scanner.from_batches(ARROW.to_batches(), schema=ARROW.schema),
        iter(ARROW.to_batches()),
        (batch for batch in ARROW.to_batches()),
    ],
    ids=lambda source: type(source).__name__,
)
def test_what_can_be_read_once_is_refused(source):
    with pytest.raises(TypeError, match=r"more than once.*a function that returns a new iterator"):
        pb.QuantizedTable.from_batches(source, "y")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (3, "source must be Parquet paths, .*; got int$"),
        ([ROWS, "rows.parquet"], "source must be .*; got list of DataFrame and str$"),
        ([], "source must be .*; got list$"),
        (lambda: 3, "source must return an iterator of .* tables; got int"),
        (lambda: ARROW, "source must return an iterator of .* tables; got Table"),
        (lambda: iter([np.ones((2, 2))]), "batches that are .* tables; got ndarray"),
    ],
)
def test_what_is_no_source(source, message):
    with pytest.raises(TypeError, match=message):
        pb.QuantizedTable.from_batches(source, "y")


def test_an_iterator_passed_twice_is_refused():
    batches = iter(ARROW.to_batches())
    with pytest.raises(TypeError, match="a new iterator each time; got the same one again"):
        pb.QuantizedTable.from_batches(lambda: batches, "y")


def test_a_file_that_changes_is_refused(tmp_path):
    begin = open_source(write(tmp_path), None)
    assert sum(table.n_rows for table in begin()) == 300
    write(tmp_path, ARROW.slice(0, 299))
    with pytest.raises(ValueError, match=r"must not change while it is read; .*rows\.parquet did"):
        next(begin())


class Collection:
    """Stand-in for a Dask collection, which must not be read into memory."""

    def __dask_graph__(self):
        return {}

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("it must not be pulled into memory")


@pytest.mark.parametrize(
    "X",
    [
        Collection(),
        Stream(ARROW),
        ds.dataset(ARROW),
        pa.RecordBatchReader.from_batches(ARROW.schema, ARROW.to_batches()),
        iter([1.0]),
        "rows.parquet",
        pl.from_arrow(ARROW).lazy(),
    ],
    ids=lambda X: type(X).__name__,
)
def test_fit_in_memory_refuses_what_is_not_in_memory(X):
    with pytest.raises(TypeError, match=r"pb\.QuantizedTable\.from_batches"):
        pb.ProperBoostClassifier(weak_learner="table").fit(X, ROWS["y"])


def test_fit_in_memory_names_the_estimator_for_dask_collections():
    with pytest.raises(TypeError, match=r"properboost\.dask has classifiers of Dask collections"):
        pb.ProperBoostClassifier(weak_learner="table").fit(Collection(), ROWS["y"])


def test_a_path_that_is_not_there_is_quoted():
    pytest.importorskip("pyarrow")
    with pytest.raises(FileNotFoundError, match=r"there is no '/no/\\x1b\[31m.parquet'"):
        pb.QuantizedTable.from_batches("/no/\x1b[31m.parquet", "label")
