"""Test that Parquet and Arrow files give the models and predictions of CSV files."""

import datetime
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import properboost as pb
from helpers.commands import columns_of, fail, fail_after_notes, fit, misuse, run, table, write
from properboost.cli.arrow_table import make_arrow, read_arrow
from properboost.data.frames import open_frame

pa = pytest.importorskip("pyarrow")
from pyarrow import feather, ipc, parquet  # noqa: E402

SUFFIXES = (".parquet", ".arrow", ".feather")


def write_arrow(columns, name):
    """Write a frame or a dict of columns in the format of the name's suffix."""
    made = pa.Table.from_pandas(columns) if isinstance(columns, pd.DataFrame) else pa.table(columns)
    if name.endswith(".parquet"):
        parquet.write_table(made, name)
    else:
        feather.write_feather(made, name)
    return name


def read(name, text=(), **how):
    how = {"is_needed": lambda _: True, "labels": None, "categories": False, **how}
    return read_arrow(name, text, **how)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_models_and_predictions_are_those_of_csv_files(suffix, capsys):
    frame, of_csv, _ = fit(capsys, "--output", "csv.json", "--force")
    file = write_arrow(frame, f"train{suffix}")
    options = ["--target", "grade", "--drop", "id", "--output", "arrow.json", "--force"]
    out, notes = run(capsys, "fit", file, *options)
    assert notes == ""
    assert out == of_csv.replace("train.csv", file).replace("csv.json", "arrow.json")
    assert Path("arrow.json").read_bytes() == Path("csv.json").read_bytes()

    expected, _ = run(capsys, "predict", "csv.json", "train.csv")
    out, notes = run(capsys, "predict", "arrow.json", file)
    assert out == expected
    assert "ignored, because the model does not use them: 'id', 'grade'" in notes
    for other in SUFFIXES:
        run(capsys, "predict", "csv.json", file, "--output", f"out{other}")
        written = read(f"out{other}")
        assert list(written) == ["class", "p_bad", "p_good"]
        assert written["p_good"].tolist() == [*map(float, columns_of(expected)["p_good"])]
        assert written["class"].tolist() == columns_of(expected)["class"]


@pytest.mark.parametrize("kind", ["decimal128(38, 12)", "decimal128(9, 2)", "decimal256(60, 9)"])
def test_decimals_are_the_numbers_of_csv_files(kind):
    """Arrow's cast differs in the last bit for one number of five."""
    values = np.random.default_rng(0).normal(0.0, 1e3, 500).round(2)
    column = pa.array([Decimal(repr(value)) for value in values.tolist()], eval(f"pa.{kind}"))
    write_arrow({"x": column, "of dictionary": column.dictionary_encode()}, "t.parquet")
    frame = read("t.parquet")
    assert frame["x"].tolist() == values.tolist() == frame["of dictionary"].tolist()
    table = open_frame(pa.table({"x": column}))
    assert np.asarray(table.numeric(0)).tolist() == values.tolist()


def test_what_columns_are():
    none = None
    columns = {
        "text": pa.array(["a", "", none]),
        "large": pa.array(["a", "NA", none], pa.large_string()),
        "coded": pa.array(["b", none, "b"]).dictionary_encode(),
        "numbered": pa.array([7, none, 8]).dictionary_encode(),
        "whole": pa.array([1, 2, 3], pa.int8()),
        "gaps": pa.array([1, none, 3], pa.uint64()),
        "real": pa.array([1.5, np.nan, none], pa.float32()),
        "half": pa.array(np.array([1.5, 2.0, 3.0], dtype=np.float16)),
        "money": pa.array([Decimal("1.25"), none, Decimal("3.00")]),
        "flag": pa.array([True, False, True]),
        "unsure": pa.array([True, none, False]),
        "nothing": pa.nulls(3),
        "no text": pa.nulls(3, pa.string()),
        "no codes": pa.nulls(3, pa.dictionary(pa.int8(), pa.string())),
    }
    frame = read(write_arrow(columns, "t.feather"))
    cells = {name: frame[name].astype(object).where(frame[name].notna(), none).tolist()
             for name in frame}  # fmt: skip
    assert cells == {
        "text": ["a", "", none], "large": ["a", "NA", none], "coded": ["b", none, "b"],
        "numbered": [7, none, 8], "whole": [1, 2, 3], "gaps": [1, none, 3],
        "real": [1.5, none, none], "half": [1.5, 2.0, 3.0], "money": [1.25, none, 3.0],
        "flag": [1, 0, 1], "unsure": [1, none, 0], "nothing": [none] * 3, "no text": [none] * 3,
        "no codes": [none] * 3,
    }  # fmt: skip
    numeric = {name for name in frame if frame[name].dtype.kind in "iuf"}
    assert numeric == set(columns) - {"text", "large", "coded"}

    texts = read("t.feather", ["whole", "gaps", "real", "flag", "text"], categories=True)
    for name, expected in {
        "whole": ["1", "2", "3"], "gaps": ["1", none, "3"], "real": ["1.5", none, none],
        "flag": ["True", "False", "True"], "numbered": ["7", none, "8"], "text": ["a", "", none],
    }.items():  # fmt: skip
        assert texts[name].astype(object).where(texts[name].notna(), none).tolist() == expected
    assert read("t.feather", labels="flag")["flag"].tolist() == [True, False, True]


def test_booleans_are_numbers_or_labels(capsys):
    frame = table().assign(flag=lambda f: f["flag"] == "TRUE", good=lambda f: f["grade"] == "good")
    file = write_arrow(frame[["size", "flag", "good"]], "t.parquet")
    run(capsys, "fit", file, "--target", "good")
    model = pb.load_model("model.json")
    assert model.classes_.tolist() == [False, True]
    assert model.shape_function("flag").kind == "numeric"
    out, _ = run(capsys, "predict", "model.json", file)
    expected = model.predict_proba(frame[["size", "flag"]])
    assert [*map(float, columns_of(out)["p_True"])] == expected[:, 1].tolist()


def test_dictionaries_and_numbers_are_categories_of_the_same_text(capsys):
    frame = table()
    zone = frame["id"] % 4 + 1
    columns = {
        "zone": pa.array(zone.tolist()).dictionary_encode(),
        "shop": pa.array(zone.astype(float).tolist()),
        "y": pa.array((zone > 2).tolist()),
    }
    file = write_arrow(columns, "t.arrow")
    run(capsys, "fit", file, "--target", "y", "--categorical", "shop")
    model = pb.load_model("model.json")
    for name in ("zone", "shop"):
        assert model.shape_function(name).categories == ("1", "2", "3", "4")
    write(pd.DataFrame({"zone": zone, "shop": zone}), "t.csv")
    of_csv, _ = run(capsys, "predict", "model.json", "t.csv")
    of_arrow, _ = run(capsys, "predict", "model.json", file)
    assert of_csv == of_arrow


def test_what_pandas_writes(capsys):
    frame = pd.DataFrame(
        {
            "zone": pd.Categorical([3, 1, 1, 3] * 9),
            "day": pd.Categorical(["a", None, "b", "a"] * 9),
        },
        index=range(100, 136),
    )
    frame["y"] = [1, 0, 0, 1] * 9
    frame[frame["day"].isna() | (frame["day"] != "")].to_parquet("t.parquet")
    assert list(read("t.parquet")) == ["zone", "day", "y"]
    run(capsys, "fit", "t.parquet", "--target", "y")
    model = pb.load_model("model.json")
    assert model.shape_function("zone").categories == ("1", "3")
    assert model.shape_function("day").categories == ("a", "b")
    _, notes = run(capsys, "predict", "model.json", "t.parquet")
    assert "training did not have" not in notes


def test_texts_of_digits_are_categories(capsys):
    frame = table().assign(zip=lambda f: "0" + (f["id"] % 3).astype(str))
    file = write_arrow(frame[["size", "zip", "grade"]], "t.parquet")
    _, notes = run(capsys, "fit", file, "--target", "grade")
    assert notes == ""
    assert pb.load_model("model.json").shape_function("zip").categories == ("00", "01", "02")
    write_arrow(frame.assign(size=frame["size"].astype(str)), "text.parquet")
    first = frame["size"].astype(str)[0]
    assert f"column 'size' was numeric in training, but row 1 holds {first!r}" in fail_after_notes(
        capsys, "predict", "model.json", "text.parquet"
    )


def test_other_types_are_refused_unless_they_are_not_needed(capsys):
    frame = table().assign(day=datetime.datetime(2020, 1, 1), place=[[1, 2]] * 200)
    file = write_arrow(frame, "t.parquet")
    command = ["fit", file, "--target", "grade"]
    assert "column 'day' holds timestamp[" in fail(capsys, *command)
    line = fail(capsys, *command, "--drop", "day")
    assert "t.parquet: column 'place' holds list<" in line
    assert "--drop leaves it out" in line
    run(capsys, *command, "--drop", "day", "place")
    _, notes = run(capsys, "predict", "model.json", file)
    assert "ignored, because the model does not use them: 'grade', 'day', 'place'" in notes


def test_names_are_checked():
    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    with ipc.new_file("t.arrow", twice.schema) as writer:
        writer.write_table(twice)
    with pytest.raises(Exception, match=r"t\.arrow: the header has 'a' more than once"):
        read("t.arrow")
    with pytest.raises(Exception, match=r"e\.arrow: column 1 of the header has no name"):
        read(write_arrow({"": [1]}, "e.arrow"))
    with pytest.raises(Exception, match=r"n\.arrow: there are no rows"):
        read(write_arrow({"a": pa.array([], pa.int8())}, "n.arrow"))


def test_arrow_files_may_be_streams_or_old():
    content = pa.table({"a": [1, 2]})
    with ipc.new_stream("s.arrow", content.schema) as writer:
        writer.write_table(content)
    assert read("s.arrow")["a"].tolist() == [1, 2]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("content", [b"", b"PAR1", b"ARROW1\0\0", b"a,b\n1,2\n", b"\xff" * 99])
def test_what_is_no_such_file_is_one_line(suffix, content, capsys):
    Path(f"t{suffix}").write_bytes(content)
    line = fail(capsys, "fit", f"t{suffix}", "--target", "a")
    assert line.startswith(f"properboost: error: t{suffix}: ")
    assert "No such file" in fail(capsys, "fit", f"none{suffix}", "--target", "a")


def test_other_formats_read_as_csv_are_named(capsys):
    content = {"a": [1, 2], "b": [3, 4]}
    Path("p.csv").write_bytes(Path(write_arrow(content, "t.parquet")).read_bytes())
    line = fail(capsys, "fit", "p.csv", "--target", "a")
    assert line.endswith("p.csv: the file is not CSV but Parquet, whose names end with .parquet")
    Path("a.csv").write_bytes(Path(write_arrow(content, "t.arrow")).read_bytes())
    assert "is not CSV but Arrow, whose names end with" in fail(
        capsys, "fit", "a.csv", "--target", "a"
    )
    Path("z.csv").write_bytes(b"\x1f\x8b\x08\0")
    assert "is not CSV but gzip" in fail(capsys, "fit", "z.csv", "--target", "a")


def test_options_of_csv_files_are_refused(capsys):
    write_arrow({"a": [1, 2]}, "t.parquet")
    for option in (["--na", "?"], ["--sep", ";"]):
        assert f"{option[0]} is for CSV files" in misuse(
            capsys, "fit", "t.parquet", "--target", "a", *option
        )
        assert f"{option[0]} is for CSV files" in misuse(
            capsys, "predict", "m.json", "t.parquet", *option
        )


def test_a_missing_pyarrow_is_named(capsys, monkeypatch):
    write_arrow({"a": [1, 2]}, "t.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    line = fail(capsys, "fit", "t.parquet", "--target", "a")
    assert line.endswith("need pyarrow: pip install 'properboost[arrow]'")


def test_files_are_written_in_pieces(monkeypatch):
    monkeypatch.setattr("properboost.cli.arrow_table._AT_ONCE", 100)
    frame = pd.DataFrame({"a": np.arange(500)})
    pieces = [*make_arrow([frame], "t.parquet")]
    assert len(pieces) > 1
    Path("t.parquet").write_bytes(b"".join(pieces))
    assert read("t.parquet")["a"].tolist() == list(range(500))
