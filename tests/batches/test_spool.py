"""Test that one-shot sources are spooled to the same table, and that no file is left."""

import os
from pathlib import Path

import numpy as np
import pytest

import properboost as pb
from properboost.batches.spool import spooled

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
ds = pytest.importorskip("pyarrow.dataset")

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {
        "a": RNG.normal(size=300).astype(np.float32),
        "b": pd.array([None if k % 7 == 0 else k % 50 for k in range(300)], dtype="Int16"),
        "town": pd.Categorical(RNG.choice(["Ulm", "Bonn"], 300)),
        "y": RNG.choice(["no", "yes"], 300),
    }
)
ARROW = pa.Table.from_pandas(ROWS)


def cut(rows):
    """Yield batches, each with only the categories that its rows have."""
    for begin in range(0, 300, 77):
        batch = rows[begin : begin + 77]
        yield batch.assign(town=batch["town"].astype(object).astype("category"))


SOURCES = {
    "pandas": lambda: cut(ROWS),
    "polars": lambda: pl.from_arrow(ARROW).iter_slices(64),
    "Arrow batches": lambda: iter(ARROW.to_batches(max_chunksize=50)),
    "Arrow tables": lambda: iter([ARROW.slice(0, 200), ARROW.slice(200)]),
    "a reader": lambda: pa.RecordBatchReader.from_batches(ARROW.schema, ARROW.to_batches()),
    "a scanner": lambda: ds.dataset(ARROW).scanner(),
}


def count_files():
    """Count the files without a name that this process holds open; skip where /proc is missing."""
    files = [os.path.realpath(file) for file in Path("/proc/self/fd").glob("*")]
    return sum(file.endswith("(deleted)") for file in files)


@pytest.mark.parametrize("kind", SOURCES)
def test_a_spooled_source_gives_the_same_table(kind, tmp_path):
    rows = ROWS if kind == "pandas" else ARROW
    expected = pb.QuantizedTable.from_batches(rows, "y")
    for spool in (True, tmp_path, str(tmp_path)):
        before = count_files()
        table = pb.QuantizedTable.from_batches(SOURCES[kind](), "y", spool=spool)
        np.testing.assert_array_equal(table.read_codes(), expected.read_codes())
        assert (table.bins[2], table.classes.tolist()) == (expected.bins[2], ["no", "yes"])
        assert count_files() == before
    assert [*tmp_path.iterdir()] == []


def test_models_are_those_of_the_batches(tmp_path):
    files = []
    for source, spool in ((lambda: cut(ROWS), False), (cut(ROWS), tmp_path)):
        table = pb.QuantizedTable.from_batches(source, "y", spool=spool)
        pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(table).save_model(
            tmp_path / "model.json"
        )
        files.append((tmp_path / "model.json").read_bytes())
    assert files[0] == files[1]


def test_what_can_be_read_again_is_not_spooled():
    for source in (ROWS, ARROW, lambda: cut(ROWS)):
        with spooled(source, True) as readable:
            assert readable is source


def test_batches_may_have_schemas_of_their_own(tmp_path):
    """The spool accepts any schemas; the reader refuses different columns by name."""
    batches = iter([ROWS[:200], ROWS[200:].drop(columns="b")])
    with pytest.raises(ValueError, match=r"batches of the same columns.*batch 1 has"):
        pb.QuantizedTable.from_batches(batches, "y", spool=tmp_path)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_nothing_is_left_of_a_spool_that_was_broken_off(error, tmp_path):
    def read():
        yield ROWS[:100]
        raise error

    before = count_files()
    kind = error if isinstance(error, type) else type(error)
    with pytest.raises(kind) as caught:
        pb.QuantizedTable.from_batches(read(), "y", spool=tmp_path)
    if kind is OSError:
        assert caught.value.filename == str(tmp_path)
    assert [*tmp_path.iterdir()] == []
    del caught
    assert count_files() <= before


def test_what_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        pb.QuantizedTable.from_batches(cut(ROWS), "y", spool=tmp_path / "none")
    with pytest.raises(TypeError, match="spool must be True, False or a folder; got 3"):
        pb.QuantizedTable.from_batches(cut(ROWS), "y", spool=3)
    with pytest.raises(TypeError, match=r"batches that are .* tables; got ndarray"):
        pb.QuantizedTable.from_batches(iter([np.ones((2, 2))]), "y", spool=True)
