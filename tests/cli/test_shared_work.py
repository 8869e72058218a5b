"""Test outputs of commands: files, refusals to replace them, and safe text for terminals."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd

import properboost as pb
from helpers.commands import fail, fail_after_notes, fit, misuse, run, table, write
from properboost.cli.output import show


def test_a_wrong_output_is_refused_before_the_fit(capsys):
    write(table())
    for output in ("none/model.json", "."):
        line = fail(capsys, "fit", "missing.csv", "--target", "grade", "--output", output)
        assert f"{output}: " in line
        assert "folder" in line


def test_files_are_replaced_only_with_force(capsys):
    write(table())
    command = ["fit", "train.csv", "--target", "grade", "--output", "model.json"]
    run(capsys, *command)
    before = Path("model.json").read_bytes()
    line = fail(capsys, *command, "--gain", "3")
    assert line == ("properboost: error: model.json: the file exists; --force replaces it")
    assert Path("model.json").read_bytes() == before
    run(capsys, *command, "--gain", "3", "--force")
    assert Path("model.json").read_bytes() != before

    predicting = ["predict", "model.json", "train.csv", "--output"]
    run(capsys, *predicting, "out.csv")
    assert "out.csv: the file exists; --force" in fail(capsys, *predicting, "out.csv")
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


STRANGE = "\x1b[31m\x07\x0b\u202e"
SPELLED = r"\x1b[31m\x07\x0b\u202e"


def test_names_cannot_control_a_terminal(capsys):
    """Control characters of names, cells, classes and files do not reach the terminal."""
    rows = table().rename(columns={"size": f"size{STRANGE}", "flag": f"{STRANGE}\nflag"})
    rows = rows.replace({"good": f"good{STRANGE}", "red": f"red{STRANGE}"}).drop(columns="id")
    write(rows)
    words = []
    options = ["fit", "train.csv", "--target", "grade"]
    words += run(capsys, *options, "--output", f"m{STRANGE}.json")
    for learner in ("rado", "properboost"):
        words += run(capsys, *options, "--model", learner, "--output", f"{learner}.json")
    words += run(capsys, "inspect", f"m{STRANGE}.json")
    new = write(rows.replace({f"red{STRANGE}": f"pink{STRANGE}"}), "new.csv")
    for command in ("predict", "report"):
        _, notes = run(capsys, command, "properboost.json", new, "--output", f"{command}.out")
        words.append(notes)
    lacking = write(rows.drop(columns=f"size{STRANGE}"), "lacking.csv")
    words.append(fail(capsys, "predict", "properboost.json", lacking))
    worded = write(rows.assign(**{f"size{STRANGE}": STRANGE}), "worded.csv")
    words.append(fail_after_notes(capsys, "predict", "properboost.json", worded))
    words.append(misuse(capsys, "predict", "properboost.json", new, f"--{STRANGE}"))
    words.append(fail(capsys, "inspect", f"none{STRANGE}.json"))
    for text in words:
        assert all(line.isprintable() for line in text.split("\n")), text
    assert sum(SPELLED in text for text in words) >= 8
    assert f"good{STRANGE}" in pd.read_csv("predict.out").to_csv()  # cells of data stay as they are


def test_what_an_output_cannot_encode_is_spelled(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", newline="\n")
    monkeypatch.setattr(sys, "stdout", stream)
    show("é is in m\udcff.json\nand \x1b")
    stream.flush()
    assert stream.buffer.getvalue() == b"\\xe9 is in m\\udcff.json\nand \\x1b\n"


def test_files_of_any_name_are_written(capsys):
    """The last line names the file, and must not fail after all other work is done."""
    name = os.fsdecode(b"m\xff.json")
    write(table())
    out, _ = run(capsys, "fit", "train.csv", "--target", "grade", "--output", name)
    assert r"to m\udcff.json" in out
    assert Path(name).exists()
    assert r"m\udcff.json: ProperBoostClassifier" in run(capsys, "inspect", name)[0]


def test_a_classifier_around_another_is_for_python(capsys):
    rows = table()
    X, y = rows.select_dtypes("number").drop(columns="grade", errors="ignore"), rows["grade"]
    model = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(X, y)
    pb.ConformalClassifier(model).fit(X, y).save_model("sets.json")
    write(rows)
    for command in (["predict", "sets.json", "train.csv"], ["export", "sets.json", "--to", "sql"],
                    ["merge", "sets.json", "sets.json", "--output", "both.json"]):  # fmt: skip
        assert "sets.json: it holds a ConformalClassifier" in fail(capsys, *command)


def test_a_report_of_ordered_classes_is_refused_with_the_commands_that_read_them(capsys):
    rows = table()
    X, y = rows[["size"]], rows["grade"]
    pb.OrderedClassifier(classes=["bad", "good"]).fit(X, y).save_model("ordered.json")
    line = fail(capsys, "report", "ordered.json", write(rows))
    assert "ordered.json: it holds ordered classes, which have no report: inspect shows" in line
    assert line.endswith("compare has their scores")
