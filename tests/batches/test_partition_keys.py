"""Test folders whose names hold a column, as ``region=north``."""

from pathlib import Path

import numpy as np
import pytest

import properboost as pb
from helpers.commands import columns_of, fail, fail_after_notes, run
from properboost.batches.partition_keys import PartitionKeys

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
ds = pytest.importorskip("pyarrow.dataset")
pq = pytest.importorskip("pyarrow.parquet")

MISSING = "__HIVE_DEFAULT_PARTITION__"


def make_rows(n=400):
    rng = np.random.default_rng(0)
    region = rng.choice(["north", "süd/ost", "x y", "a=b"], n)
    year = rng.choice([2021, 2022, -3], n)
    rows = {
        "a": rng.normal(size=n).round(3),
        "region": region,
        "year": year,
        "y": np.where((region == "north") ^ (year > 2021) ^ (rng.random(n) < 0.1), "no", "yes"),
    }
    return pa.table(rows)


def encode(table, name="region"):
    """Return the table with its text columns as categories."""
    place = table.schema.get_field_index(name)
    return table if place < 0 else table.set_column(place, name, table[name].dictionary_encode())


def write(folder, *keys, rows=None):
    rows = make_rows() if rows is None else rows
    pq.write_to_dataset(encode(rows) if "region" not in keys else rows, folder, partition_cols=keys)
    return folder


def write_files(folder, names, table=None):
    """Write one row to each file, and return the paths."""
    for k, name in enumerate(names):
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"a": [float(k)]}) if table is None else table, path)
    return [f"{folder}/{name}" for name in names]


def fit(source, label="y", **settings):
    table = pb.QuantizedTable.from_batches(source, label=label, **settings)
    return pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(table)


KEYS = [["region"], ["year"], ["region", "year"], ["y"], ["y", "year"]]


@pytest.mark.parametrize("keys", KEYS, ids="/".join)
def test_the_model_is_that_of_a_dataset(tmp_path, keys):
    folder = write(tmp_path / "rows", *keys)
    rows = encode(ds.dataset(folder, partitioning="hive").to_table())
    expected, X = fit(rows), rows.drop_columns(["y"])
    files = sorted(folder.rglob("*.parquet"))
    for source in (str(folder), f"{folder}/", folder.as_uri(), files, sorted(folder.iterdir())):
        model = fit(source)
        assert set(model.feature_names_in_) == {"a", "region", "year"}
        columns = X.select(list(model.feature_names_in_))
        probability = expected.predict_proba(X.select(list(expected.feature_names_in_)))
        np.testing.assert_array_equal(model.predict_proba(columns), probability)
        predicted = np.concatenate([*pb.batches.predict(model, source)])
        np.testing.assert_array_equal(predicted, probability)


@pytest.mark.parametrize("keys", KEYS, ids="/".join)
def test_the_command_line_has_the_same_columns(capsys, tmp_path, keys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("rows", *keys)
    rows = ds.dataset("rows", partitioning="hive").to_table().to_pandas()
    rows["region"] = rows["region"].astype("str")
    rows.to_csv("rows.csv", index=False)
    options = ["--target", "y", "--n-estimators", "5", "--test-size", "0"]
    _, notes = run(capsys, "fit", "rows", *options, "--output", "m.json")
    assert notes == ""
    _, _ = run(capsys, "fit", "rows.csv", *options, "--output", "expected.json")
    assert Path("m.json").read_bytes() == Path("expected.json").read_bytes()
    out, notes = run(capsys, "predict", "m.json", "rows")
    assert notes.count("ignored") == 1
    expected, _ = run(capsys, "predict", "m.json", "rows.csv")
    assert out == expected
    assert len(columns_of(out)["class"]) == 400


@pytest.mark.parametrize(
    "names",
    [
        ["k=1/a", "k=2/a"],
        ["k=01/a", "k=2/a"],
        ["k=-1/a", "k=2147483647/a"],
        ["k=-1/a", "k=2147483648/a"],
        ["k=+1/a", "k=2/a"],
        ["k=1.5/a", "k=2/a"],
        ["k=/a", "k=x/a"],
        ["k=true/a", "k=false/a"],
        [f"k={MISSING}/a", "k=2/a"],
        [f"k={MISSING}/a", "k=x/a"],
        ["k=a%20b/a", "k=%C3%A9/a", "k=%2F/a", "k=%ZZ/a"],
        ["k%20j=1/a", "k%20j=2/a"],
        ["k=a=b/a", "k=b/a"],
        ["k=1/j=x/a", "j=y/k=2/a"],
        ["2024/k=1/a", "2023/k=2/a"],
        ["k=1/j=b", "k=2/j=c"],
        ["k=1/.x/a", "k=2/_y/a", "k=3/a"],
    ],
    ids=" ".join,
)
def test_keys_are_what_pyarrow_takes_them_for(tmp_path, names):
    """pyarrow reads keys of text as categories, but columns of text as text."""
    write_files(tmp_path / "rows", [f"{name}.parquet" for name in names])
    theirs = ds.dataset(tmp_path / "rows", format="parquet", partitioning="hive")
    keys = PartitionKeys.find(theirs.files, tmp_path / "rows")
    schema = keys.add_to(pa.schema([("a", pa.float64())]))
    expected = theirs.to_table()
    assert [*schema.names] == [*schema.names[:1], *keys.values]
    assert {*schema.names} == {*theirs.schema.names}
    actual = pa.Table.from_batches(
        [
            keys.complete(pa.record_batch({"a": [float(names.index(name))]}), number)
            for number, path in enumerate(theirs.files)
            for name in [str(Path(path).relative_to(tmp_path / "rows").with_suffix(""))]
        ]
    )
    assert actual.schema.equals(schema)
    for name in schema.names:
        kind = schema.field(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        assert kind == expected.schema.field(name).type
        assert actual[name].cast(kind).to_pylist() == expected[name].to_pylist()


def test_a_key_of_nothing_is_missing_text(tmp_path):
    (path,) = write_files(tmp_path, [f"k={MISSING}/a.parquet"])
    keys = PartitionKeys.find([path], tmp_path)
    assert keys.complete(pa.record_batch({"a": [1.0]}), 0)["k"].to_pylist() == [None]


def test_files_have_no_keys_of_the_folders_above(tmp_path):
    """Folders above the source hold no keys of its rows."""
    rows = make_rows().drop_columns(["region"])
    folder = tmp_path / "year=2024" / "rows"
    folder.mkdir(parents=True)
    for k in range(2):
        pq.write_table(rows.slice(200 * k, 200), folder / f"{k}.parquet")
    for source in (folder, folder / "0.parquet", sorted(folder.iterdir())):
        assert list(fit(source).feature_names_in_) == ["a", "year"]


def test_only_requested_columns_are_read(tmp_path):
    folder = write(tmp_path / "rows", "region", "year")
    assert list(fit(folder, features=["year"]).feature_names_in_) == ["year"]
    assert list(fit(folder, features=["a"]).feature_names_in_) == ["a"]
    rows = make_rows(60).select(["region", "year", "y"])
    folder = write(tmp_path / "more", "region", "y", rows=rows)
    table = pb.QuantizedTable.from_batches(folder, "y", features=["region"])
    assert len(table) == 60


def test_a_category_of_a_key_is_what_is_written(capsys, tmp_path, monkeypatch):
    """Keys keep their leading zeros where the user declares them categorical."""
    monkeypatch.chdir(tmp_path)
    rows = make_rows().select(["a", "y"])
    for k, code in enumerate(["01", "1", "007", "8"]):
        Path(f"rows/code={code}").mkdir(parents=True)
        pq.write_table(rows.slice(100 * k, 100), f"rows/code={code}/a.parquet")
    run(capsys, "fit", "rows", "--target", "y", "--categorical", "code", "--n-estimators", "2")
    model = pb.load_model("model.json")
    assert model.shape_function("code").categories == ("007", "01", "1", "8")
    _, notes = run(capsys, "predict", "model.json", "rows")
    assert "training did not have" not in notes


# -- keys that are columns, too -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "values"),
    [
        ("k=2", pa.array([2, 2], pa.int64())),
        ("k=2", pa.array([2.0, 2.0])),
        ("k=02", pa.array([2, 2], pa.uint8())),
        ("k=x%20y", pa.array(["x y", "x y"])),
        ("k=x", pa.array(["x", "x"]).dictionary_encode()),
        (f"k={MISSING}", pa.array([None, None], pa.float64())),
        ("k=true", pa.array([True, True])),
    ],
    ids=str,
)
def test_a_column_of_equal_values_is_taken(tmp_path, folder, values):
    (path,) = write_files(tmp_path, [f"{folder}/a.parquet"])
    keys = PartitionKeys.find([path], tmp_path)
    batch = pa.record_batch({"k": values})
    assert keys.complete(batch, 0).equals(batch)
    assert keys.add_to(batch.schema).equals(batch.schema)


@pytest.mark.parametrize(
    ("folder", "values"),
    [
        ("k=2", pa.array([2, 3])),
        ("k=2", pa.array([2, None])),
        ("k=x", pa.array([2, 2])),
        ("k=x", pa.array(["x", "y"]).dictionary_encode()),
        (f"k={MISSING}", pa.array([None, 1.0])),
    ],
    ids=str,
)
def test_a_column_of_other_values_is_refused(capsys, tmp_path, folder, values):
    table = pa.table({"k": values, "a": [1.0, 2.0], "y": ["u", "v"]})
    write_files(tmp_path, [f"{folder}/a.parquet"], table)
    with pytest.raises(
        ValueError, match=r"a\.parquet: the column 'k' must hold the value in the name"
    ):
        pb.QuantizedTable.from_batches(tmp_path, "y")
    line = fail(capsys, "fit", tmp_path, "--target", "y", "--output", tmp_path / "m.json")
    assert "the column 'k' must hold the value in the name of its folder" in line


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["k=1/a", "b"], r"folders give the columns \['k'\], and those of .*b\.parquet \[\]"),
        (["k=1/a", "j=1/b"], "folders give the columns"),
        (["k=1/j=2/a", "k=1/b"], "folders give the columns"),
        (["k=1/k=2/a"], r"a\.parquet: its folders give the column 'k' twice"),
        (["k=%FF/a"], "the folder 'k=%FF' must name a text of UTF-8"),
    ],
)
def test_folders_that_do_not_go_together_are_refused(capsys, tmp_path, names, message):
    table = pa.table({"a": [1.0, 2.0], "y": ["u", "v"]})
    write_files(tmp_path / "rows", [f"{name}.parquet" for name in names], table)
    with pytest.raises(ValueError, match=message):
        pb.QuantizedTable.from_batches(tmp_path / "rows", "y")
    assert fail(capsys, "fit", tmp_path / "rows", "--target", "y", "--output", tmp_path / "m.json")


def test_another_key_at_predict_is_named(capsys, tmp_path, monkeypatch):
    """A key of numbers and texts is text, as any other column of both is."""
    monkeypatch.chdir(tmp_path)
    write("rows", "year")
    run(capsys, "fit", "rows", "--target", "y", "--output", "m.json", "--n-estimators", "2")
    Path("rows/year=unknown").mkdir()
    pq.write_table(encode(make_rows(5).drop_columns(["year"])), "rows/year=unknown/a.parquet")
    line = fail_after_notes(capsys, "predict", "m.json", "rows")
    assert "column 'year' was numeric in training, but row 1 holds" in line
