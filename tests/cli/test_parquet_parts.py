"""Test that Parquet in parts is read, predicted and drawn from as one file would be."""

import gzip
from pathlib import Path

import numpy as np
import pytest

import properboost as pb
from helpers.commands import fail, misuse, run, table
from properboost.cli import parquet_parts, predict
from properboost.cli.arrow_table import read_arrow
from properboost.cli.csv_table import FileError
from properboost.cli.parquet_parts import ParquetParts
from properboost.cli.row_file import RowFileReader

pd = pytest.importorskip("pandas")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(parquet_parts, "BATCH_ROWS", 64)


@pytest.fixture
def rows():
    rows = table(300)
    Path("parts/later").mkdir(parents=True)
    rows.to_parquet("t.parquet", index=False)
    rows[:130].to_parquet("parts/a.parquet", index=False)
    rows[130:].to_parquet("parts/later/b.parquet", index=False)
    Path("parts/_metadata.parquet").touch()
    return rows


def test_parts_are_read_as_one_file(rows):
    settings = {"text": ["id"], "is_needed": lambda name: name != "size"}
    expected = read_arrow("t.parquet", **settings, labels=None, categories=False)
    for file in ("t.parquet", "parts"):
        parts = ParquetParts.open(file)
        frames = [*parts.read(**settings)]
        assert parts.n_rows == 300
        assert max(map(len, frames)) <= 64
        pd.testing.assert_frame_equal(pd.concat(frames), expected)


@pytest.mark.parametrize("output", ["p.csv", "p.csv.gz", "p.parquet", "p.arrow", "-"])
def test_predictions_are_those_of_one_batch(capsys, rows, output, monkeypatch):
    X = rows[["size", "colour"]].astype({"colour": "category"})
    pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(X, rows["grade"]).save_model(
        "model.json"
    )
    changed = rows.assign(colour=rows["colour"].where(rows["id"] % 50 > 0, "mauve"))
    changed.to_csv("t.csv", index=False)
    changed[:130].to_parquet("parts/a.parquet", index=False)
    changed[130:].to_parquet("parts/later/b.parquet", index=False)
    out, notes = run(capsys, "predict", "model.json", "t.csv", "--explain")
    printed, also = run(
        capsys, "predict", "model.json", "parts", "--explain", "--output", output, "--force"
    )
    assert also == notes
    assert "(6 cells, such as 'mauve')" in notes
    read = {
        "p.csv": lambda: Path("p.csv").read_text(),
        "p.csv.gz": lambda: gzip.decompress(Path("p.csv.gz").read_bytes()).decode(),
        "p.parquet": lambda: pd.read_parquet("p.parquet").to_csv(index=False),
        "p.arrow": lambda: pd.read_feather("p.arrow").to_csv(index=False),
        "-": lambda: printed,
    }
    assert read[output]() == out
    _, err = run(capsys, "predict", "model.json", "parts", "--verbose", "--output", "v.csv")
    assert "300/300" in err


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
@pytest.mark.parametrize("output", ["p.csv", "p.parquet"])
def test_nothing_is_left_of_predictions_that_are_broken_off(
    capsys, rows, monkeypatch, error, output
):
    from properboost import __main__ as cli

    X = rows[["size", "colour"]].astype({"colour": "category"})
    pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(X, rows["grade"]).save_model(
        "model.json"
    )
    Path(output).write_text("before")
    whole, calls = predict._predict, []

    def broken(*arguments):
        calls.append(0)
        if len(calls) == 3:
            raise error
        return whole(*arguments)

    monkeypatch.setattr(predict, "_predict", broken)
    before = sorted(Path().iterdir())
    command = ["predict", "model.json", "parts", "--output", output, "--force"]
    assert cli.main(command) == (130 if error is KeyboardInterrupt else 1)
    assert sorted(Path().iterdir()) == before
    assert Path(output).read_text() == "before"
    if error is not KeyboardInterrupt:
        assert f"{output}: No space left on device" in capsys.readouterr().err


def test_rows_are_drawn_by_lot(rows):
    parts = ParquetParts.open("parts")
    drawn = parts.sample(100, [], is_needed=lambda _: True)
    assert len(drawn) == 100
    assert (np.diff(drawn["id"]) > 0).all()
    assert 100 < drawn["id"].mean() < 200
    assert len(parts.sample(1000, [], is_needed=lambda _: True)) == 300


def test_a_report_on_drawn_rows(capsys, rows):
    pytest.importorskip("vl_convert")
    X = rows[["size", "colour"]].astype({"colour": "category"})
    pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(X, rows["grade"]).save_model(
        "model.json"
    )
    options = ["--target", "grade", "--subgroups", "--force"]
    out, notes = run(capsys, "report", "model.json", "parts", "--sample-rows", "200", *options)
    assert "Wrote the report on 200 rows" in out
    assert "about 200 of 300 rows, drawn at random" in notes
    out, notes = run(capsys, "report", "model.json", "parts", *options)
    assert "Wrote the report on 300 rows" in out
    assert "at random" not in notes
    rows.to_csv("t.csv", index=False)
    line = misuse(capsys, "report", "model.json", "t.csv", "--sample-rows", "9")
    assert "--sample-rows is for Parquet" in line


# -- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.assign(size="large"), "b.parquet: column 'size' holds .*string.* double"),
        (lambda r: r.drop(columns="size"), "b.parquet: its columns are 'id', .*and those of"),
        (lambda r: r[r.columns[::-1]], "b.parquet: its columns are 'grade', .*and those of"),
    ],
)
def test_parts_of_other_columns_are_refused(rows, change, message):
    change(rows).to_parquet("parts/later/b.parquet", index=False)
    with pytest.raises(FileError, match=message):
        ParquetParts.open("parts")


def test_files_that_are_refused(capsys, rows):
    Path("empty").mkdir()
    with pytest.raises(FileError, match="empty: the folder holds no file whose name ends"):
        ParquetParts.open("empty")
    with pytest.raises(FileNotFoundError):
        ParquetParts.open("none.parquet")
    Path("parts/later/b.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(FileError, match=r"b\.parquet: "):
        ParquetParts.open("parts")
    rows[:0].to_parquet("none.parquet")
    assert "there are no rows" in fail(capsys, "fit", "none.parquet", "--target", "grade")
    with pytest.raises(FileError, match="parts: it is a folder, which can only be read in batches"):
        RowFileReader().read("parts", [], is_needed=lambda _: True)


def test_a_file_that_changed_is_refused(rows):
    parts = ParquetParts.open("parts")
    table(200).to_parquet("parts/later/b.parquet", index=False)
    with pytest.raises(FileError, match=r"b\.parquet: the file has changed"):
        [*parts.read([], is_needed=lambda _: True)]
