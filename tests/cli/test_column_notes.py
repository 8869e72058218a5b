"""Test the notes on columns of text that are hardly meant as categories."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import properboost as pb
from helpers.commands import columns_of, fail, fail_after_notes, misuse, one_fit, run
from properboost.__main__ import main
from properboost.cli.column_notes import advise_numbers, name_options, note_text
from properboost.cli.csv_table import CsvFormat, read_csv
from properboost.data.spelling import PLAIN, Spelling

RNG = np.random.default_rng(0)
VALUES = RNG.normal(50_000, 15_000, 300).round(2)
LABELS = np.where(VALUES + RNG.normal(0, 5_000, 300) > 50_000, "yes", "no")


def notes_of(cells, spelling=PLAIN):
    notes = []
    note_text(pd.Series(cells, name="v", dtype="str"), spelling, notes.append)
    return notes


def write(make, sep=",", name="t.csv"):
    rows = [f"{make(value)}{sep}{label}\n" for value, label in zip(VALUES, LABELS, strict=True)]
    Path(name).write_text(f"v{sep}y\n" + "".join(rows), encoding="utf-8")
    return name


def german(value):
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


SPELLED = {
    "thousands": (lambda v: f'"{v:,.2f}"', ",", ["--thousands", ","]),
    "decimal comma": (lambda v: f"{v}".replace(".", ","), ";", ["--decimal", ","]),
    "both": (german, ";", ["--decimal", ",", "--thousands", "."]),
    "blanks": (lambda v: f"{v:,.2f}".replace(",", " "), ",", ["--thousands", " "]),
    "apostrophes": (lambda v: f"{v:,.2f}".replace(",", "’"), ",", ["--thousands", "'"]),
    "percent": (lambda v: f"{v}%", ",", ["--units", "%"]),
    "dollars": (lambda v: f"${v}", ",", ["--units", "$"]),
    "euros": (lambda v: f"{german(v)} €", ";",
              ["--decimal", ",", "--thousands", ".", "--units", "€"]),
    "a word": (lambda v: f"{v} EUR", ",", ["--units", "EUR"]),
    "brackets": (lambda v: f"({-v})" if v < 0 else f"({v})", ",", ["--brackets"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", SPELLED)
def test_numbers_in_another_spelling_are_noted_with_what_reads_them(capsys, kind):
    make, sep, options = SPELLED[kind]
    file, arguments = write(make, sep), ["--target", "y", "--sep", sep, "--n-estimators", "20"]
    _, notes = run(capsys, "fit", file, *arguments)
    assert "column 'v' is categorical, although 300 of 300 cells look like numbers" in notes
    assert f"such as {make(VALUES[0]).strip(chr(34))!r} in row 1: " in notes
    assert name_options(Spelling(**read_options(options))) in notes
    out, notes = run(capsys, "fit", file, *arguments, *options)
    assert notes == ""
    assert "(0 categorical)" in out

    # The fit equals that to the numbers as usually spelled.
    model = pb.load_model("model.json")
    expected = pb.ProperBoostClassifier(n_estimators=20, n_jobs=None, weak_learner="table")
    sign = -1.0 if kind == "brackets" else 1.0
    expected.fit(pd.DataFrame({"v": sign * np.abs(VALUES)}), LABELS)
    X = pd.DataFrame({"v": sign * VALUES})
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))

    # The model file holds the spelling.
    out, _ = run(capsys, "predict", "model.json", file, "--sep", sep)
    assert [*map(float, columns_of(out)["p_yes"])] == model.predict_proba(X)[:, 1].tolist()
    out, _ = run(capsys, "inspect", "model.json")
    assert f"cells        {name_options(Spelling(**read_options(options)))}\n" in out


def read_options(options):
    """Return the attributes of the spelling that these options set."""
    settings, words = {}, iter(options)
    for word in words:
        name = word.removeprefix("--")
        settings[name] = name == "brackets" or next(words)
    return settings | ({"units": (settings["units"],)} if "units" in settings else {})


def test_numbers_of_another_spelling_than_in_training_are_refused(capsys):
    """A point that separates thousands makes 1.234 another number than a decimal point does."""
    options = ["--sep", ";", "--decimal", ",", "--thousands", "."]
    run(capsys, "fit", write(german, ";"), "--target", "y", *options)
    new = "v;y\n1.234;yes\n12.000;no\n"
    Path("new.csv").write_text(new)
    remembered, _ = run(capsys, "predict", "model.json", "new.csv", "--sep", ";")
    Path("plain.csv").write_text(new.replace(".", ""))
    plain, _ = run(capsys, "predict", "model.json", "plain.csv", "--sep", ";")
    assert remembered == plain
    predictions, _ = run(
        capsys, "predict", "model.json", "new.csv", "--sep", ";", "--decimal", ".", "--thousands",
        "none",
    )  # fmt: skip
    Path("small.csv").write_text("v\n1.234\n12\n")
    usual = ["--decimal", ".", "--thousands", "none", "--units", "--no-brackets"]
    small, _ = run(capsys, "predict", "model.json", "small.csv", *usual)
    assert predictions == small
    line = fail(capsys, "predict", "model.json", "new.csv", "--sep", ";", "--decimal", ".")
    assert "decimal and thousands must be different characters; both are '.'" in line
    assert "the model was fitted with --decimal , --thousands ." in line
    write(lambda v: v, name="plain.csv")
    line = fail_after_notes(capsys, "predict", "model.json", "plain.csv")
    assert line.endswith("--decimal . --thousands none reads that as " + f"{VALUES[0]}")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--decimal", "5"], "decimal must be one character"),
        (["--decimal", "."], "--decimal is for CSV files"),
        (["--thousands", "."], "decimal and thousands must be different characters"),
        (["--units", "5"], "units must be texts without digits"),
        (["--encoding", "utf-8"], "--encoding is for CSV files"),
    ],
)
def test_misused_options(capsys, option, message):
    assert message in misuse(capsys, "fit", "t.parquet", "--target", "y", *option)


def test_other_files_are_read_with_the_same_spelling(capsys):
    file = write(german, ";")
    options = ["--sep", ";", "--decimal", ",", "--thousands", "."]
    out, notes = run(capsys, "fit", file, "--target", "y", *options, "--eval", file)
    assert notes == ""
    scores = {line.split()[0]: line.split()[-2:] for line in out.splitlines() if line}
    assert scores["training"] == scores["other"]


# -- notes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        # The notes offer both readings of a comma: before decimals and between thousands.
        (["1,234", "5,678"], "--decimal , reads that as 1.234, and --thousands , .* as 1234"),
        (["1,234", "5,67"], "2 of 2 cells .*: --decimal , reads that as 1.234$"),
        (["1,234", "567,890", "0,5"], "3 of 3 cells .*: --decimal , reads"),
        (["1,234", "1,234,567"], "2 of 2 cells .*: --thousands , reads that as 1234$"),
        (["950", "1,234", "2,500"], "such as '1,234' in row 2: "),
        (["1,234.5", "x", "2,000.5"], "2 of 3 cells .*, such as '1,234.5' in row 1"),
        (["$1", "$2"], r"--units '\$' reads that as 1$"),
        (["R$ 1.500,20", "R$ 2,10"], r"--decimal , --thousands . --units 'R\$' reads .* 1500.20"),
        (["5 kg", "70 kg"], "--units kg reads that as 5$"),
        (["(50)", "60"], "such as '\\(50\\)' in row 1: --brackets reads that as -50"),
        (["($5)", "$6"], r"--units '\$' --brackets reads that as -5"),
        (["1'000", "2'000.5"], "--thousands ' reads|--thousands ''\"'\"'"),
    ],
)  # fmt: skip
def test_numbers_are_noted(cells, message):
    (note,) = notes_of(cells)
    assert note.startswith("column 'v' is categorical, although ")
    assert re.search(message, note), note


@pytest.mark.parametrize(
    "cells",
    [
        ["a", "b"] * 30,
        ["01", "1.2.3"] * 30,
        ["10-20", "20-30"] * 30,
        ["user1", "user2"] * 30,
        ["B52", "A380"] * 30,
        ["12:30", "4:15"] * 30,
        ["<=5", ">5"] * 30,
        ["2024-01-01", "2025-01-01"] * 30,
        [f"{k}a" for k in range(20)],
        [f"t{k // 2}" for k in range(200)],
        [None, None],
    ],
    ids=lambda cells: str(cells[:2]),
)
def test_categories_are_not_noted(cells):
    assert notes_of(cells) == []


def test_texts_that_no_other_row_has_are_noted():
    (note,) = notes_of([f"user{k:06d}" for k in range(300)])
    assert note == (
        "column 'v' is categorical, although most cells are different from all others (300 of "
        "300, such as 'user000000' in row 1): others will have no effect; --drop leaves the "
        "column out"
    )
    (note,) = notes_of(["same"] * 20 + [f"t{k}" for k in range(21)])
    assert "(21 of 41, such as" in note


@pytest.mark.parametrize(
    "make",
    [
        lambda day: str(day),
        lambda day: f"{day}T12:00:00",
        lambda day: "{2}.{1}.{0}".format(*str(day).split("-")),
        lambda day: "{1}/{2}/{0}".format(*str(day).split("-")),
    ],
)
def test_dates_are_noted(make):
    """Dates that several rows share are noted as well."""
    days = np.datetime64("2024-01-01") + np.arange(300) // 10
    (note,) = notes_of([make(day) for day in days])
    assert note.startswith("column 'v' is categorical, with 30 dates such as '")
    assert "--drop" in note


def test_mixtures_are_noted():
    (note,) = notes_of(["1", "2", "x"])
    assert note.endswith("because row 3 holds 'x'; --na reads a cell as missing")
    (note,) = notes_of(["1,5", "2", "1.5", "3"], Spelling(","))
    assert note.endswith("because row 3 holds '1.5'; --na reads a cell as missing")
    (note,) = notes_of(["$5", "€5", "5"], Spelling(units=("$", "€")))
    assert note == (
        "column 'v' is categorical, because row 1 holds '$5' and row 2 '€5': all must have the "
        "same unit, or none"
    )


def test_requested_categories_are_not_noted(capsys):
    file = write(lambda v: f'"{v:,.2f}"')
    for options, noted in ((["--categorical", "v"], False), ([], True)):
        _, notes = run(capsys, "fit", file, "--target", "y", *options)
        assert (notes != "") == noted


def test_text_in_parquet_is_noted_too(capsys):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"v": [f"{v:,.2f}" for v in VALUES], "y": LABELS})
    frame.to_parquet("t.parquet")
    _, notes = run(capsys, "fit", "t.parquet", "--target", "y")
    assert "write them as numbers, or --drop leaves the column out" in notes
    assert "--thousands" not in notes
    _, again = run(capsys, "fit", "t.parquet", "--target", "y", "--in-batches")
    assert again == notes


def test_numbers_that_are_text_in_parquet_are_noted(capsys):
    """Texts of fractions are noted; codes such as 01234 may well be text."""
    pytest.importorskip("pyarrow")
    codes = [f"{k:05d}" for k in range(30)] * 10
    frame = pd.DataFrame({"v": [*map(str, VALUES)], "code": codes, "y": LABELS})
    frame.to_parquet("t.parquet")
    _, notes = run(capsys, "fit", "t.parquet", "--target", "y")
    assert "column 'v' is categorical, although 300 of 300 cells look like numbers" in notes
    assert notes.count("note") == 1


def test_errors_on_number_columns_name_the_options_that_read_them(capsys):
    Path("t.csv").write_text("a,w,y\n" + 'b,"1,5",u\nc,"2,5",v\n' * 9)
    line = fail(capsys, "fit", "t.csv", "--target", "y", "--sample-weight", "w")
    assert line.endswith(
        "column 'w' must hold weights; row 1 holds '1,5'; --decimal , reads that as 1.5"
    )
    assert advise_numbers(pd.Series(["a", "b"], dtype="str"), PLAIN) == ""
    assert advise_numbers(pd.Series(["1,5"], dtype="str"), None) == ""
    units = Spelling(units=("$",))
    assert "same unit" in advise_numbers(pd.Series(["$5", "5"], dtype="str"), units)


def test_a_target_of_texts_that_differ_in_each_row_is_refused(capsys):
    rows = [f"{k},t{k}\n" for k in range(40)]
    Path("t.csv").write_text("a,y\n" + "".join(rows))
    line = fail(capsys, "fit", "t.csv", "--target", "y")
    assert line == (
        "properboost: error: column 'y' holds 40 different texts, each of which would be a "
        "class; --many-classes accepts them as classes"
    )
    Path("u.csv").write_text("a,y\n" + "".join(rows) * 3)
    assert main(one_fit(["fit", "u.csv", "--target", "y", "--n-estimators", "1"])) == 0


# -- points between thousands ---------------------------------------------------------------------


def notes_on_points(cells):
    Path("t.csv").write_text("v,y\n" + "".join(f"{cell},1\n" for cell in cells))
    notes = []
    read_csv("t.csv", (), CsvFormat(), notes.append)
    return notes


def test_points_between_thousands_are_noted(capsys):
    """Such a column has no text, and only as thousands is 1.234 the larger of 950 and 1.234."""
    (note,) = notes_on_points(["950", "", "1.234", "12.500", "1.000", "-2.750"])
    assert note == (
        "column 'v' is numeric, but may hold thousands, such as '1.234' in row 3: --decimal , "
        "--thousands . reads that as 1234"
    )
    whole = RNG.integers(1, 20_000, 300)
    write_whole = [f"{k:,}".replace(",", ".") for k in whole]
    Path("t.csv").write_text(
        "v,y\n"
        + "".join(f"{v},{'ab'[int(k > 1e4)]}\n" for v, k in zip(write_whole, whole, strict=True))
    )
    _, notes = run(capsys, "fit", "t.csv", "--target", "y")
    assert "may hold thousands" in notes
    options = ["--decimal", ",", "--thousands", "."]
    _, notes = run(capsys, "fit", "t.csv", "--target", "y", *options)
    assert notes == ""


@pytest.mark.parametrize(
    "cells",
    [
        ["1.234", "950.000"],  # all have three decimals
        ["1.234", "950", "1.25"],
        ["1.234", "0.950", "7"],
        ["1.234", "1950"],
        ["1.75", "2", "1.8"],
        ["1", "2", ""],
        ["inf", "1.234", "5"],
    ],
    ids=str,
)
def test_decimals_are_not_noted(cells):
    assert notes_on_points(cells) == []
