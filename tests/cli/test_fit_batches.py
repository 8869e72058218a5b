"""Test that ``properboost fit`` over Parquet in batches gives the model of all rows at once."""

import re
from pathlib import Path

import numpy as np
import pytest

import properboost as pb
from helpers.commands import fail, misuse, run, table
from properboost.cli import fit_batches, parquet_parts
from properboost.data import binning

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(parquet_parts, "BATCH_ROWS", 64)


def make_rows(n=400):
    rows = table(n)
    rows["often"] = np.where(np.arange(n) % 9 == 0, 0.0, 1.0 + np.arange(n) % 3)
    rows.loc[:80, "colour"] = None
    rows["whole"] = pd.array([None if k % 7 == 5 else k % 40 for k in range(n)], dtype="Int16")
    rows["yes"] = np.arange(n) % 2 == 0
    return rows


def write(rows, name="t.parquet", n_parts=1):
    if n_parts == 1:
        rows.to_parquet(name, index=False)
        return name
    Path(name).mkdir()
    for k, part in enumerate(np.array_split(np.arange(len(rows)), n_parts)):
        rows.iloc[part].to_parquet(f"{name}/part-{k}.parquet", index=False)
    Path(name, "_SUCCESS").touch()
    return name


def scores_of(out):
    names = "class shares|training|one fold|held out|other file"
    rows = re.findall(rf"^({names}) +(\S+) +(\S+) +(\S+)$", out, re.MULTILINE)
    return {name: values for name, *values in rows}


@pytest.mark.parametrize(
    "options",
    [
        ["--weak-learner", "tree", "--loss", "gboost"],
        ["--sample-weight", "often", "--categorical", "whole"],
        ["--effort", "1", "--test-size", "0.2", "--readable"],
    ],
    ids=lambda options: options[-1],
)
def test_the_model_and_the_report_are_those_of_all_rows(capsys, options, monkeypatch):
    monkeypatch.setattr(binning, "SAMPLE_SIZE", 100)
    rows = make_rows()
    common = ["--target", "grade", "--drop", "id", *options, "--force"]
    out, _ = run(capsys, "fit", write(rows), *common)
    expected = Path("model.json").read_bytes()
    write(rows, "parts", 3)
    for how in (["t.parquet", "--in-batches"], ["parts"]):
        text, _ = run(capsys, "fit", *how, *common)
        assert Path("model.json").read_bytes() == expected
        scores, wanted = scores_of(text), scores_of(out)
        assert scores.pop("held out")[0] != "0"
        wanted.pop("held out")
        assert scores == wanted
        table = [line for line in out.splitlines() if re.match(r"classes of| +[0-9.]+%  ", line)]
        assert len(table) > 2
        assert all(line in text.splitlines() for line in table)


def test_held_out_rows_are_not_learnt_from(capsys):
    rows = make_rows()
    options = ["--target", "grade", "--drop", "id", "--test-size", "0.3"]
    out, _ = run(capsys, "fit", write(rows), "--in-batches", *options)
    held_out = np.random.default_rng(0).random(len(rows)) < 0.3
    X = rows.drop(columns=["id", "grade"]).astype({"colour": "category", "flag": "category"})
    trial = pb.ProperBoostClassifier(weak_learner="table").fit(
        X[~held_out], rows["grade"][~held_out]
    )
    scores = pb.batches.evaluate(trial, X[held_out].assign(y=rows["grade"][held_out]), "y")
    expected = [str(held_out.sum()), f"{scores['log_loss']:.4f}", f"{scores['accuracy']:.4f}"]
    assert scores_of(out)["held out"] == expected
    out, _ = run(capsys, "fit", "t.parquet", "--in-batches", *options[:-1], "0")
    assert "held out: none, because --test-size is 0" in out


def test_too_few_rows_to_hold_any_out(capsys):
    rows = make_rows(4).assign(grade=["good", "bad", "bad", "bad"])
    draws = np.random.default_rng(0).random(4)
    options = ["--in-batches", "--target", "grade", "--test-size", f"{draws[0] + 1e-9}"]
    out, _ = run(capsys, "fit", write(rows), *options)
    assert "held out: none, because there are too few rows" in out


def test_another_file_is_scored(capsys):
    rows = make_rows()
    write(rows)
    other = make_rows(150)[::-1].assign(new=1.0)
    other.loc[0, "colour"] = "mauve"
    for name in ("o.parquet", "o.csv"):
        other.to_csv(name, index=False) if name[2:] == "csv" else write(other, name)
    options = ["--target", "grade", "--drop", "id", "whole", "yes", "--test-size", "0", "--force"]
    out, notes = run(capsys, "fit", "t.parquet", *options, "--eval", "o.parquet")
    for name in ("o.parquet", "o.csv"):
        text, also = run(capsys, "fit", "t.parquet", "--in-batches", *options, "--eval", name)
        assert scores_of(text)["other file"] == scores_of(out)["other file"]
        assert sorted(also.splitlines()) == sorted(notes.replace("o.parquet", name).splitlines())


def test_progress_is_shown(capsys):
    _, err = run(
        capsys, "fit", write(make_rows()), "--in-batches", "--target", "grade", "--verbose"
    )
    assert "reading" in err
    assert "800/800" in err
    assert "scoring, held out" in err


def test_what_does_not_fit_into_memory_is_read_in_batches(capsys, monkeypatch):
    monkeypatch.setattr(parquet_parts, "_CELL", 2**50)
    _, err = run(capsys, "fit", write(make_rows()), "--target", "grade")
    assert "t.parquet is read in batches, because its 400 rows would fill the memory" in err


def test_another_file_must_have_the_columns(capsys):
    write(make_rows())
    write(make_rows().drop(columns="flag"), "o.parquet")
    options = ["--in-batches", "--target", "grade", "--drop", "id"]
    line = fail(capsys, "fit", "t.parquet", *options, "--eval", "o.parquet")
    assert "o.parquet: the file lacks the column 'flag'" in line
    assert not Path("model.json").exists()


# -- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda r: r.drop(columns="grade"), [], "lacks the column 'grade'"),
        (lambda r: r, ["--sample-weight", "none"], "lacks the column 'none'"),
        (lambda r: r.assign(often=-1.0), ["--sample-weight", "often"], "below 0"),
        (lambda r: r.assign(often=0.0), ["--sample-weight", "often"], "must give rows|weight"),
        (lambda r: r.assign(grade=r["grade"].where(r["id"] < 399)), [], "has missing cells"),
        (lambda r: r.assign(grade=r["size"]), [], "holds fractions, not classes"),
        (lambda r: r.assign(grade=r["id"]), [], "400 different numbers.*--many-classes"),
        (lambda r: r.assign(grade="one"), [], "at least two classes"),
        (lambda r: r[["grade", "id"]], [], "no columns are left"),
        (lambda r: r[:0], [], "there are no rows"),
    ],
)  # fmt: skip
def test_columns_that_are_refused(capsys, change, options, message):
    file = write(change(make_rows()))
    line = fail(capsys, "fit", file, "--in-batches", "--target", "grade", "--drop", "id", *options)
    assert re.search(message, line)
    assert sorted(path.name for path in Path().iterdir()) == ["t.parquet"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_nothing_is_left_of_a_fit_that_is_broken_off(capsys, monkeypatch, error):
    from properboost import __main__ as cli

    def broken(*_, **__):
        raise error

    monkeypatch.setattr(fit_batches.QuantizedTable, "from_batches", broken)
    status = cli.main(["fit", write(make_rows()), "--in-batches", "--target", "grade"])
    assert status == (130 if error is KeyboardInterrupt else 1)
    assert sorted(path.name for path in Path().iterdir()) == ["t.parquet"]


def test_a_file_that_changes_is_refused(capsys, monkeypatch):
    file, rows = write(make_rows()), make_rows(500)
    read = parquet_parts.ParquetParts.read

    def changing(*arguments, **named):
        yield from read(*arguments, **named)
        write(rows)

    monkeypatch.setattr(parquet_parts.ParquetParts, "read", changing)
    line = fail(capsys, "fit", file, "--in-batches", "--target", "grade")
    assert "t.parquet: the file has changed since it was first read" in line


def test_arguments_that_are_refused(capsys):
    write(make_rows())
    line = misuse(capsys, "fit", "t.csv", "--target", "grade", "--in-batches")
    assert "--in-batches is for Parquet" in line
    options = ["--target", "grade", "--model", "rado"]
    line = misuse(capsys, "fit", "t.parquet", "--in-batches", *options)
    assert "--model rado needs all rows at once" in line
