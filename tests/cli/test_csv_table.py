"""Test how the cells of CSV files are read."""

import bz2
import gzip
import io
import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import properboost as pb
from helpers.commands import fail, fit, misuse, run
from properboost.cli import csv_table
from properboost.cli.csv_table import CsvFormat, FileError, read_csv
from properboost.data.spelling import Spelling


def read(content, text=(), file="t.csv", **form):
    """Return the frame that a file of this content is read as, and the notes."""
    data = content.encode() if isinstance(content, str) else content
    Path(file).write_bytes(data)
    notes = []
    return read_csv(file, text, CsvFormat(**form), notes.append), notes


def refuse(content, file="t.csv", **form):
    """Return the message with which a file of this content is refused."""
    with pytest.raises(FileError) as caught:
        read(content, file=file, **form)
    return str(caught.value)


def test_text_of_cells_is_kept(capsys):
    """TRUE is text, and 01 is not 1 where the user declares the column categorical."""
    rows = ["TRUE,01,1", "true,1,0"] * 4
    Path("t.csv").write_text("truth,code,y\n" + "\n".join(rows) + "\n,,1\n")
    run(capsys, "fit", "t.csv", "--target", "y", "--categorical", "code", "--test-size", "0")
    model = pb.load_model("model.json")
    assert model.shape_function("truth").categories == ("TRUE", "true")
    assert model.shape_function("code").categories == ("01", "1")
    assert model.shape_function("code").missing_weight == 1.0

    _, notes = run(capsys, "predict", "model.json", "t.csv")
    assert notes.count("note") == 1  # this note is on the target, which is ignored


def test_missing_cells(capsys):
    Path("t.csv").write_text("a,b,y\n1,x,u\nNA,?,u\n,x,v\n4,nan,v\n")
    run(capsys, "fit", "t.csv", "--target", "y")
    model = pb.load_model("model.json")
    assert model.shape_function("a").missing_weight == 2.0
    assert model.shape_function("b").categories == ("?", "x")

    # Values of --na replace the usual ones.
    _, notes = run(capsys, "fit", "t.csv", "--target", "y", "--na", "?", "--na", "nan")
    model = pb.load_model("model.json")
    assert model.shape_function("a").kind == "categorical"
    assert model.shape_function("b").categories == ("x",)
    assert model.shape_function("b").missing_weight == 2.0
    assert "row 2 holds 'NA'" in notes


def test_texts_of_missing_cells_are_those_of_training(capsys):
    """A text that was missing in training is no category afterwards, in any command."""
    rows = [f"{k % 7},{'?' if k % 3 == 0 else 'xz'[k % 2]},{'uv'[k % 7 > 3]}" for k in range(60)]
    Path("t.csv").write_text("\n".join(["a,b,y", *rows]))
    fit_it = ["fit", "t.csv", "--target", "y", "--effort", "none", "--weak-learner", "table"]
    run(capsys, *fit_it, "--na", "?", "--na", "none")
    model = pb.load_model("model.json")
    assert model.spelling_.na == ("?", "none")
    remembered, notes = run(capsys, "predict", "model.json", "t.csv")
    assert "categories" not in notes
    same, _ = run(capsys, "predict", "model.json", "t.csv", "--na", "?")
    _, notes = run(capsys, "predict", "model.json", "t.csv", "--na", "none")
    assert same == remembered
    assert "'?'" in notes
    out, _ = run(capsys, "inspect", "model.json")
    assert "--na '?' none" in out

    # Without the option, the usual texts are missing.
    run(capsys, *fit_it, "--force")
    usual = pb.load_model("model.json")
    assert usual.spelling_.na is None
    assert "?" in usual.shape_function("b").categories


def test_integers_beyond_64_bits_are_numbers(capsys):
    Path("t.csv").write_text(f"a,y\n1,u\n{10**30},v\n-1,u\n2,v\n")
    run(capsys, "fit", "t.csv", "--target", "y")
    assert pb.load_model("model.json").shape_function("a").kind == "numeric"


def test_separator(capsys):
    Path("t.csv").write_text("a\ty\n1\tu\n2\tv\n")
    run(capsys, "fit", "t.csv", "--target", "y", "--sep", r"\t")
    assert list(pb.load_model("model.json").feature_names_in_) == ["a"]


def test_final_comma_is_no_cell(capsys):
    Path("t.csv").write_text("a,y\n1,u,\n2,v,\n")
    run(capsys, "fit", "t.csv", "--target", "y")
    assert pb.load_model("model.json").shape_function("a").kind == "numeric"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "t.csv: the file is empty"),
        ("a,y\n", "t.csv: there are no rows below the header"),
        ("a,a,y\n1,2,u\n3,4,v\n", "t.csv: the header has 'a' more than once"),
        (
            "a,,y\n1,2,u\n3,4,v\n",
            r"t.csv: column 2 of the header has no name: .* pandas by to_csv\(..., index=False\)",
        ),
        ("a,y\n1,u,\n2,v,3\n", "t.csv: line 3 has 3 cells, and the header 2"),
        ("a,y\n1,u\n2,v,3\n", "t.csv: line 3 has 3 cells, and the header 2"),
        ("a,b,y\n1,2,u\n3,4,v\n5,6", "t.csv: line 4 has 2 cells, and the header 3"),
        ('a,y\n1,u\n2,"v\n', "t.csv: .*EOF inside string"),
        ("a,b\n1,u\n2,v\n", "the file lacks the column 'y'; it has 'a', 'b'"),
        ("a;y\n1;u\n2;v\n", "the file lacks the column 'y'; it has 'a;y'; --sep ';' splits"),
        ("a\ty\n1\tu\n2\tv\n", r"the file lacks .* has 'a\\ty'; --sep '\\t' splits its cells"),
        ("a, Y\n1,u\n2,v\n", "the file lacks the column 'y'; .*; did you mean ' Y'?"),
        ("a,b,2020\n1,2,u\n3,4,v\n", "the file lacks the column 'y'; it has 'a', 'b', '2020'$"),
        ("1,u\n2,v\n3,u\n", "the file lacks .*; the first line of the file must name its col"),
        ("a,y\n1,u\n2,u\n", "column 'y' holds one class only: 'u'; a target has two or more"),
        ("a,y\n1,u\n2,\n", r"column 'y' has missing cells \(1\)"),
        ("a,y\n1,0.5\n2,1\n", "column 'y' holds fractions, not classes, such as 0.5: there"),
        ("a,y\n1,\n2,\n", r"column 'y' has missing cells \(2\)"),
        ("y\nu\nv\n", "no columns are left for features"),
    ],
)
def test_files_that_cannot_be_fitted(capsys, content, complaint):
    Path("t.csv").write_text(content)
    line = fail(capsys, "fit", "t.csv", "--target", "y")
    assert re.fullmatch(f"properboost: error: {complaint}.*", line)
    assert not Path("model.json").exists()


@pytest.mark.parametrize(
    ("cells", "complaint"),
    [
        ("1 2 x", "row 3 holds 'x'"),
        ("1 2 -1", "below 0"),
        ("1 2 NA", "missing"),
        ("0 0 0", "all of them are 0"),
    ],
)
def test_weights_that_are_none(capsys, cells, complaint):
    rows = zip("123", cells.split(), "uvu", strict=True)
    Path("t.csv").write_text("a,w,y\n" + "\n".join(map(",".join, rows)) + "\n")
    line = fail(capsys, "fit", "t.csv", "--target", "y", "--sample-weight", "w")
    assert "column 'w'" in line
    assert complaint in line


def test_files_that_cannot_be_opened(capsys):
    assert fail(capsys, "fit", "none.csv", "--target", "y") == (
        "properboost: error: none.csv: No such file or directory"
    )
    Path("t.csv").write_bytes(b"a,y\n\xff,u\n1,v\n")
    line = fail(capsys, "fit", "t.csv", "--target", "y")
    assert "t.csv: line 2 is not UTF-8, which was tried: byte 5 of the file is ff" in line
    assert "--encoding names another" in line
    Path("t.csv.gz").write_text("a,y\n1,u\n2,v\n")
    assert "t.csv.gz: Not a gzipped file" in fail(capsys, "fit", "t.csv.gz", "--target", "y")
    fit(capsys)
    assert "none.json: No such file" in fail(capsys, "predict", "none.json", "train.csv")
    assert "train.csv: not a properboost model" in fail(capsys, "predict", "train.csv", "train.csv")
    Path("model.json").write_text(json.dumps({"format": "properboost model"}))
    assert "lacks the field 'format_version'" in fail(capsys, "predict", "model.json", "train.csv")


# -- one row for each line ------------------------------------------------------------------------


def test_a_blank_line_of_one_column_is_a_row(capsys):
    Path("t.csv").write_text("x,y\n" + "1,u\n2,v\n,v\n" * 9)
    run(capsys, "fit", "t.csv", "--target", "y", "--test-size", "0")
    Path("new.csv").write_text("x\n1\n\n2\n")
    out, note = run(capsys, "predict", "model.json", "new.csv")
    assert len(out.splitlines()) == 4
    assert "new.csv: blank lines are rows whose value is missing (1; the first is line 3)" in note
    Path("whole.csv").write_text('x\n1\n""\n2\n')
    whole, note = run(capsys, "predict", "model.json", "whole.csv")
    assert (whole, note) == (out, "")
    assert Path("new.csv").read_text().count("\n") == len(out.splitlines())


@pytest.mark.parametrize(
    ("content", "values", "n_blank"),
    [
        ("x\n1\n2", [1, 2], 0),
        ("x\n1\n2\n", [1, 2], 0),
        ("x\n1\n2\n\n", [1, 2, np.nan], 1),
        ("x\n\n1\n\n", [np.nan, 1, np.nan], 2),
        ("\n\nx\n1\n", [1], 0),  # the header is no row
        ("x\r\n1\r\n\r\n2\r\n", [1, np.nan, 2], 1),
        ("x\r1\r\r2\r", [1, np.nan, 2], 1),
        ("x\n1\r\n2\r\r3", [1, 2, np.nan, 3], 1),
        ('x\n""\n1\n', [np.nan, 1], 0),
        ('x\n1\n"2"\n\n"3"', [1, 2, np.nan, 3], 1),
        ("x\n1,\n2,\n", [1, 2], 0),
        ("x\nNA\n1\n", [np.nan, 1], 0),
    ],
)
def test_rows_of_one_column(content, values, n_blank):
    frame, notes = read(content)
    np.testing.assert_array_equal(frame["x"], values)
    assert len(notes) == (n_blank > 0)
    assert all(f"({n_blank}; " in note for note in notes)


@pytest.mark.parametrize(
    ("content", "values", "note"),
    [
        ("a,b\n1,2\n\n3,4\n", [1, 3], "t.csv: blank lines are left out (1; the first is line 3)"),
        ("a,b\n1,2\n \t\n3,\n", [1, 3], "blank lines are left out (1; the first is line 3)"),
        ("a,b\r\r\n1,2\r\r\n3,4\r\r\n", [1, 3], "left out (2; the first is line 2)"),
        ('a,b\n1,"x\ny"\n\n3,4\n', [1, 3], "left out (1; the first is line 4)"),
        ("a,b\n\n1,2,\n3,4,\n", [1, 3], "left out (1; the first is line 2)"),
        ("a,b\r1,2\r\r3,4\r\r", [1, 3], "left out (1; the first is line 3)"),
        ("\r\ra,b\r1,2\r3,4\r\r", [1, 3], None),
        ("\n\na,b\n1,2\n3,\n\n\n", [1, 3], None),  # blank lines after the last row shift no row
        ("a,b\n1,\n,\n3,\n", [1, np.nan, 3], None),
        ('a,b\n1,"x\r\ny"\n3,"""q"""\n', [1, 3], None),
        ('a,b\n1,5" pipe\n3,\n', [1, 3], None),
    ],
)
def test_blank_lines_of_several_columns_are_no_rows(content, values, note):
    frame, notes = read(content)
    np.testing.assert_array_equal(frame["a"], values)
    assert len(notes) == (note is not None)
    assert note is None or note in notes[0]
    assert frame["a"].dtype.kind == ("f" if np.isnan(values).any() else "i")


def test_leading_blanks_are_kept():
    """pandas alone would drop the blanks of a first cell while it looks for blank lines."""
    frame, _ = read("a,b\n x, u\n  y,v\n")
    assert frame.to_numpy().tolist() == [[" x", " u"], ["  y", "v"]]


def test_rows_that_are_lost_are_an_error(monkeypatch):
    """The reader counts lines a second time, by other code."""
    whole = csv_table._parse
    monkeypatch.setattr(
        csv_table, "_parse", lambda *arguments, **named: whole(*arguments, **named)[1:]
    )
    assert refuse("a,b\n1,2\n3,4\n") == "t.csv: 1 rows were read, but there are 2"
    assert refuse('a,b\n1,"2\n"\n3,4\n') == "t.csv: 1 rows were read, but there are 2"


CELLS = st.one_of(
    st.just(""),
    st.text('ab1 ,;"\n\r\t é#', max_size=5),
    st.integers(-99, 10**6).map(str),
    st.sampled_from(["NA", "1.5", "-0.25", "TRUE", "x" * 3000]),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(1, 3).flatmap(
        lambda k: st.lists(st.lists(CELLS, min_size=k, max_size=k), min_size=1, max_size=8)
    ),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
)
@example([["a"], [""], ["b"]], ",", "\n", False, False, "utf-8")
def test_cells_are_read_as_they_were_written(rows, sep, end, quoted, ended, encoding):
    """pandas and csv split lines alike, whatever the quotes hold."""

    def write(cell):
        if quoted or any(c in f'{sep}"\n\r' for c in cell):
            return '"' + cell.replace('"', '""') + '"'
        return cell

    names = [f"n{j}" for j in range(len(rows[0]))]
    lines = [sep.join(map(write, row)) for row in [names, *rows]]
    assume(len(names) == 1 or all(line.strip(" \t") for line in lines))  # blank lines are no rows
    text = end.join([*lines, ""]) if ended or lines[-1] == "" else end.join(lines)
    frame, _ = read(text.encode(encoding), text=names, sep=sep)
    missing = {"", *csv_table.MISSING}
    expected = [[None if cell in missing else cell for cell in row] for row in rows]
    cells = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    assert cells == expected


# -- encodings and compression --------------------------------------------------------------------

TEXT = "größe,y\n1,ä\n2,é\n"


@pytest.mark.parametrize("packing", ["", ".gz", ".bz2", ".zip"])
@pytest.mark.parametrize(
    ("encoding", "asked"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-8-sig", "utf-8"),
        ("utf-16", None),
        ("utf-16", "utf-16-le"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "UTF-16BE"),
        ("utf-32", None),
        ("latin-1", "latin-1"),
        ("cp1252", "windows-1252"),
        ("cp437", "cp437"),
    ],
)
def test_encodings(encoding, asked, packing):
    data = TEXT.encode(encoding)
    packed = io.BytesIO()
    if packing == ".zip":
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("t.csv", data)
    else:
        packed.write({"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}[packing](data))
    frame, notes = read(packed.getvalue(), file=f"t.csv{packing}", encoding=asked)
    assert (frame.to_dict("list"), notes) == ({"größe": [1, 2], "y": ["ä", "é"]}, [])


def test_the_standard_input_has_an_encoding_too(capsys, monkeypatch):
    content = "a,y\n" + "1,ä\n2,é\n" * 20
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content.encode("latin-1"))))
    run(capsys, "fit", "-", "--target", "y", "--encoding", "latin-1")
    assert pb.load_model("model.json").classes_.tolist() == ["ä", "é"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content.encode("latin-1"))))
    line = fail(capsys, "fit", "-", "--target", "y")
    assert "stdin: line 2 is not UTF-8" in line


@pytest.mark.parametrize(
    ("data", "asked", "message"),
    [
        (b"a,y\r\n1,u\r\n\xe9,v\r\n", None, "line 3 is not UTF-8, which was tried: byte 11 "),
        (b"a,y\r1,u\r\xe9,v\r", "utf-8", "line 3 is not UTF-8: byte 9 "),
        ("a,y\n1,é\n".encode(), "ascii", "line 2 is not ASCII: byte 7 .* is c3"),
        ("a,y\n1,é\n".encode("utf-16")[:-1], None, "line 2 is not UTF-16, .* such as cp1252"),
        ("a,y\n1,é".encode()[:-1], None, "line 2 is not UTF-8, .*unexpected end of data"),
        (b"a,y\n" + b"1,u\n" * 10**5 + b"\xff,v\n", None, "line 100,002 .* byte 400,005 of the"),
        ("a,y\n1,u\n".encode("utf-16-le"), None, "line 1 holds a NUL.*--encoding .* utf-16-le"),
        (b"a,y\n1,u\n2,\x00v\n", None, "line 3 holds a NUL"),
    ],
)  # fmt: skip
def test_bytes_that_are_no_text(data, asked, message):
    assert re.match(f"t.csv: {message}", refuse(data, encoding=asked))


def test_text_is_text_wherever_it_is_cut():
    """A character, or the end of a line, may straddle two of the pieces that are read."""
    for shift in range(4):
        text = "a,y\r\n" + "x" * (2**18 - 8 + shift) + ",€\r\n" + "1,€\r\n\r\n2,v"
        frame, notes = read(text)
        assert frame["y"].tolist() == ["€", "€", "v"]
        assert "the first is line 4" in notes[0]


@pytest.mark.parametrize("name", ["t.csv.xz", "t.csv.zip", "t.csv.bz2", "t.csv.gz", "t.csv.tar"])
def test_files_not_packed_as_their_suffix_are_refused(name):
    assert refuse("a,y\n1,u\n", file=name).startswith(f"{name}: ")


def test_no_encodings_of_text(capsys):
    for name in ("no such", "hex"):
        line = misuse(capsys, "fit", "t.csv", "--target", "y", "--encoding", name)
        assert f"must be a text encoding of Python, such as utf-16; got {name!r}" in line


# -- numbers in another spelling ------------------------------------------------------------------


def test_numbers_are_read_as_if_they_were_spelled_as_usual():
    """Types and bits are those of the usual spelling."""
    rng = np.random.default_rng(0)
    plain = pd.DataFrame(
        {
            "n": rng.integers(-(10**7), 10**7, 50),
            "x": (10.0 ** rng.uniform(-5, 9, 50)).round(6),
            "big": [str(10**30 + k) for k in range(50)],
            "gap": rng.normal(size=50).round(3),
            "word": ["1.5", "x"] * 25,
            "flag": ["TRUE", "false"] * 25,
        }
    )
    plain.loc[::7, "gap"] = np.nan
    swapped = plain.map(lambda v: "" if v != v else f"{v:,}" if not isinstance(v, str) else v)
    swapped = swapped.map(lambda v: v.translate(str.maketrans(",.", ".,")))
    expected, _ = read(plain.to_csv(index=False))
    actual, _ = read(swapped.to_csv(index=False, sep=";"), sep=";", spelling=Spelling(",", "."))
    assert actual.pop("word").tolist() == ["1,5", "x"] * 25
    pd.testing.assert_frame_equal(actual, expected.drop(columns="word"), check_exact=True)


def test_only_numbers_are_respelled():
    content = "a;b;c;d\n1,5;1.5;12 %;1.000\n2,5;2.5;5%;2\n"
    frame, _ = read(content, sep=";", text=["d"], spelling=Spelling(",", ".", ("%",)))
    assert frame["a"].tolist() == [1.5, 2.5]
    assert frame["b"].tolist() == ["1.5", "2.5"]
    assert frame["c"].tolist() == [12, 5]
    assert frame["d"].tolist() == ["1.000", "2"]


def test_units_must_be_the_same_in_a_column():
    for cells in ("$5 €5", "5% 0.05"):
        one, other = cells.split()
        frame, _ = read(f"a\n{one}\n{other}\n", spelling=Spelling(units=("$", "€", "%")))
        assert frame["a"].tolist() == [one, other]
