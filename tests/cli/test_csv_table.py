"""CSV files: what their cells are read as."""

import json
import re
from pathlib import Path

import pytest

import properboost as pb
from helpers.commands import fail, fit, run


def test_text_of_cells_is_kept(capsys):
    """True is no number, and 01 is not 1 where it is said to be a category."""
    rows = ["TRUE,01,1", "true,1,0"] * 4
    Path("t.csv").write_text("truth,code,y\n" + "\n".join(rows) + "\n,,1\n")
    run(capsys, "fit", "t.csv", "--target", "y", "--categorical", "code", "--test-size", "0")
    model = pb.load_model("model.json")
    assert model.shape_function("truth").categories == ("TRUE", "true")
    assert model.shape_function("code").categories == ("01", "1")
    assert model.shape_function("code").missing_weight == 1.0

    _, notes = run(capsys, "predict", "model.json", "t.csv")
    assert notes.count("note") == 1  # of the target, which is ignored


def test_missing_cells(capsys):
    Path("t.csv").write_text("a,b,y\n1,x,u\nNA,?,u\n,x,v\n4,nan,v\n")
    run(capsys, "fit", "t.csv", "--target", "y")
    model = pb.load_model("model.json")
    assert model.shape_function("a").missing_weight == 2.0
    assert model.shape_function("b").categories == ("?", "x")

    # Given ones take the place of the usual ones.
    _, notes = run(capsys, "fit", "t.csv", "--target", "y", "--na", "?", "--na", "nan")
    model = pb.load_model("model.json")
    assert model.shape_function("a").kind == "categorical"
    assert model.shape_function("b").categories == ("x",)
    assert model.shape_function("b").missing_weight == 2.0
    assert "row 2 holds 'NA'" in notes


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
        ("a,,y\n1,2,u\n3,4,v\n", "t.csv: column 2 of the header has no name"),
        ("a,y\n1,u,\n2,v,3\n", "t.csv: rows have more cells than the header"),
        ("a,y\n1,u\n2,v,3\n", "t.csv: .*Expected 2 fields in line 3, saw 3"),
        ("a,b\n1,u\n2,v\n", "the file lacks the column 'y'; it has 'a', 'b'"),
        ("a,y\n1,u\n2,u\n", "column 'y' holds one class only: 'u'"),
        ("a,y\n1,u\n2,\n", r"column 'y' has missing cells \(1\)"),
        ("a,y\n1,0.5\n2,1\n", "column 'y' holds fractions, not classes"),
        ("y\nu\nv\n", "no column is left to be a feature"),
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
    assert "t.csv: 'utf-8' codec can't decode" in fail(capsys, "fit", "t.csv", "--target", "y")
    Path("t.csv.gz").write_text("a,y\n1,u\n2,v\n")
    assert "t.csv.gz: Not a gzipped file" in fail(capsys, "fit", "t.csv.gz", "--target", "y")
    fit(capsys)
    assert "none.json: No such file" in fail(capsys, "predict", "none.json", "train.csv")
    assert "train.csv: not a properboost model" in fail(capsys, "predict", "train.csv", "train.csv")
    Path("model.json").write_text(json.dumps({"format": "properboost model"}))
    assert "lacks the field 'format_version'" in fail(capsys, "predict", "model.json", "train.csv")
