"""Helpers for tests of the command line: a table, and commands that succeed or fail."""

import csv

import numpy as np
import pandas as pd
import pytest

from properboost import __main__ as cli


def table(n=200, seed=0):
    random = np.random.default_rng(seed)
    size = random.normal(size=n).round(2)
    colour = random.choice(["blue", "green", "red"], n)
    flag = random.choice(["TRUE", "false"], n)
    good = size + (colour == "red") + 0.5 * random.normal(size=n) > 0.3
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "size": size,
            "colour": colour,
            "flag": flag,
            "grade": np.where(good, "good", "bad"),
        }
    )


def write(frame, name="train.csv"):
    frame.to_csv(name, index=False)
    return name


def one_fit(arguments):
    """Return the arguments; by default `fit` compares no families and replaces an earlier model."""
    words = [str(argument) for argument in arguments]
    if words[:1] == ["fit"] and "--output" not in words:
        words += ["--force"]
    if words[:1] == ["fit"] and not {"--effort", "rado", "--help"} & {*words}:
        words += ["--effort", "none"]
    return words


def run(capsys, *arguments):
    """Run a command that must succeed; return its stdout and stderr."""
    status = cli.main(one_fit(arguments))
    captured = capsys.readouterr()
    assert status == 0, captured.err
    return captured.out, captured.err


def columns_of(text):
    """Return the columns of a CSV file, with its cells as text."""
    header, *rows = csv.reader(text.splitlines())
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def fail(capsys, *arguments):
    """Run a command that fails because of a file; return its one line."""
    status = cli.main(one_fit(arguments))
    return one_line(capsys, status, 1)


def misuse(capsys, *arguments):
    """Run a command whose arguments are wrong; return its one line."""
    with pytest.raises(SystemExit) as exit_:
        cli.main(one_fit(arguments))
    return one_line(capsys, exit_.value.code, 2)


def one_line(capsys, status, expected):
    captured = capsys.readouterr()
    assert status == expected
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    return line


def fit(capsys, *arguments):
    frame = table()
    return frame, *run(capsys, "fit", write(frame), "--target", "grade", "--drop", "id", *arguments)


def fail_after_notes(capsys, *arguments):
    assert cli.main([*arguments]) == 1
    *notes, line = capsys.readouterr().err.splitlines()
    assert all(note.startswith("properboost: note: ") for note in notes)
    return line
