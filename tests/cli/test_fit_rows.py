"""Test that `fit` reads and describes rows before it imports scikit-learn, where a user watches."""

import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from helpers.commands import fail, misuse, run, table, write
from properboost.__main__ import main
from properboost.cli.fit_rows import RowsAhead, read_ahead
from properboost.cli.row_file import RowFileReader

FIRST_LINES = """
import io, sys

class Stdout(io.StringIO):
    def write(self, text):
        print(text.split(":")[0], "sklearn" in sys.modules, file=sys.stderr, flush=True)
        raise SystemExit

sys.stdout = Stdout()
from properboost.__main__ import main
main(["fit", "train.csv", "--target", "grade", "--verbose", "--gain", "2"])
"""

FIT = ["fit", "train.csv", "--target", "grade", "--drop", "id", "--n-estimators", "3"]


def test_rows_are_described_before_scikit_learn_is_imported():
    write(table())
    command = [sys.executable, "-c", FIRST_LINES]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert shown.stderr.endswith("\ntrain.csv False\n")


def test_a_file_is_read_once_and_described_once(capsys, monkeypatch):
    write(table().assign(name=[f"n{k}" for k in range(200)]))
    files, read = [], RowFileReader.read

    def count(self, file, *arguments, **options):
        files.append(file)
        return read(self, file, *arguments, **options)

    monkeypatch.setattr(RowFileReader, "read", count)
    plain, notes = run(capsys, *FIT)
    watched, news = run(capsys, *FIT, "--verbose")
    assert watched == plain
    assert [line for line in news.splitlines() if "note: " in line] == notes.splitlines() != []
    assert files == ["train.csv", "train.csv"]


@pytest.mark.parametrize(
    "others",
    [
        ["--help"],
        ["train.csv"],  # twice
        ["--drop", "grade"],
        ["--drop", "nothing"],
        ["--sep", ";;"],
        ["--decimal", ",", "--thousands", ","],
        ["--output", "train.csv"],
        ["--eval"],
    ],
    ids=" ".join,
)
def test_unclear_arguments_are_left_to_the_command(capsys, others):
    write(table())
    assert read_ahead([*FIT, *others]) is None
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""


def test_other_files_are_left_to_the_command():
    pytest.importorskip("pyarrow")
    table().to_parquet("train.parquet")
    assert read_ahead(["fit", "train.parquet", "--target", "grade"]) is None
    assert read_ahead(["fit", "missing.csv", "--target", "grade"]) is None
    assert read_ahead(["fit", "-", "--target", "grade"]) is None


def test_the_value_of_another_option_is_no_file():
    write(table())
    ahead = read_ahead(["fit", "--gain", "2", "train.csv", "--target", "grade"])
    assert ahead.arguments.file == "train.csv"


def test_rows_of_other_arguments_are_not_taken():
    ahead = RowsAhead("rows", Namespace(file="a.csv", target="y"))
    assert ahead.match(Namespace(file="a.csv", target="y", gain=2.0)) == "rows"
    assert ahead.match(Namespace(file="b.csv", target="y")) is None


def test_errors_are_those_of_the_command(capsys):
    write(table())
    wrong = ["fit", "train.csv", "--target", "grad", "--effort", "none"]
    plain = fail(capsys, *wrong)
    Path("model.json").unlink(missing_ok=True)
    assert run_verbose(capsys, *wrong) == plain
    assert misuse(capsys, *FIT, "--sep", ";;").endswith("--help)")


def run_verbose(capsys, *arguments):
    """Return the error of a command that names the file first."""
    assert main([*arguments, "--verbose"]) == 1
    first, line = capsys.readouterr().err.splitlines()
    assert first.startswith("Reading train.csv (")
    return line
