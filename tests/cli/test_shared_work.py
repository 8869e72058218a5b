"""Outputs of commands: what is written, and what is not replaced."""

import subprocess
import sys
from pathlib import Path

from helpers.commands import fail, fit, run, table, write


def test_wrong_output_is_heard_of_before_the_work(capsys):
    write(table())
    for output in ("none/model.json", "."):
        line = fail(capsys, "fit", "missing.csv", "--target", "grade", "--output", output)
        assert f"{output}: " in line
        assert "folder" in line


def test_nothing_is_replaced_unless_told(capsys):
    write(table())
    given = ["fit", "train.csv", "--target", "grade", "--output", "model.json"]
    run(capsys, *given)
    before = Path("model.json").read_bytes()
    line = fail(capsys, *given, "--gain", "3")
    assert line == (
        "properboost: error: model.json: there is such a file already; --force replaces it"
    )
    assert Path("model.json").read_bytes() == before
    run(capsys, *given, "--gain", "3", "--force")
    assert Path("model.json").read_bytes() != before

    predicting = ["predict", "model.json", "train.csv", "--output"]
    run(capsys, *predicting, "out.csv")
    assert "out.csv: there is such a file already; --force" in fail(capsys, *predicting, "out.csv")
    run(capsys, *predicting, "out.csv", "--force")
    Path("link.csv").symlink_to("out.csv")
    assert "--force replaces it" in fail(capsys, *predicting, "link.csv")
    Path("dangling.csv").symlink_to("new.csv")
    run(capsys, *predicting, "dangling.csv")
    assert Path("new.csv").exists()


def test_devices_and_descriptors_are_written_to(capsys):
    fit(capsys)
    run(capsys, "predict", "model.json", "train.csv", "--output", "/dev/null")
    command = [sys.executable, "-m", "properboost", "predict", "model.json", "train.csv"]
    for _ in range(2):
        with Path("out.csv").open("wb") as file:
            subprocess.run(
                [*command, "--output", "/dev/stdout"], stdout=file, check=True, timeout=300
            )
    out, _ = run(capsys, "predict", "model.json", "train.csv")
    assert Path("out.csv").read_text() == out
