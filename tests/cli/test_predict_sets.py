"""Test ``properboost predict --set``: the sets are those of split conformal prediction."""

import numpy as np
import pandas as pd
import pytest

import properboost as pb
from helpers.commands import columns_of, fail, fail_after_notes, fit, misuse, run, table, write

SETS = ("--set", "0.8", "--calibration", "held.csv", "--target", "grade")


def prepare(frame):
    return frame[["size", "colour", "flag"]].astype({"colour": "category", "flag": "category"})


@pytest.fixture
def fresh():
    rows = table(150, seed=5)
    write(rows, "held.csv")
    return rows


@pytest.mark.parametrize("costs", [None, {"good": 9.0, "bad": 1.0}])
def test_sets_are_those_of_the_object(capsys, fresh, costs):
    frame, *_ = fit(capsys)
    model = pb.load_model("model.json")
    if costs is not None:
        model = pb.LeastCostClassifier(model, costs)
        model.save_model("model.json")
    out, notes = run(capsys, "predict", "model.json", "train.csv", *SETS)
    plain, _ = run(capsys, "predict", "model.json", "train.csv")
    assert "ignored" in notes
    written, X = columns_of(out), prepare(frame)
    assert [*written] == [*columns_of(plain), "set_bad", "set_good"]
    sets = pb.ConformalClassifier(model).fit(prepare(fresh), fresh["grade"])
    expected = sets.predict_set(X, 0.8)
    for k, label in enumerate(("bad", "good")):
        assert written[f"set_{label}"] == [str(inside) for inside in expected[:, k].tolist()]
    assert expected.any(axis=1).mean() > 0.5


def test_sets_hold_the_class_as_often_as_promised(capsys):
    """Over 40 files of calibration and new rows, to within two standard errors."""
    fit(capsys)
    covered = []
    for seed in range(40):
        rows = table(160, seed=100 + seed)
        write(rows[:60], "held.csv")
        write(rows[60:], "new.csv")
        out, _ = run(capsys, "predict", "model.json", "new.csv", *SETS)
        written = columns_of(out)
        covered += [
            np.mean([written[f"set_{y}"][i] == "True" for i, y in enumerate(rows["grade"][60:])])
        ]
    error = np.std(covered) / np.sqrt(len(covered))
    assert abs(np.mean(covered) - 0.8 - 0.5 / 61) < 0.5 / 61 + 2.0 * error


def test_batches_have_the_sets_of_the_whole(capsys, fresh, monkeypatch):
    pytest.importorskip("pyarrow")
    frame, *_ = fit(capsys)
    pd.concat([frame] * 3).to_parquet("rows.parquet", row_group_size=100)
    fresh.to_parquet("held.parquet")
    options = ("--set", "0.8", "--calibration", "held.parquet", "--target", "grade")
    run(capsys, "predict", "model.json", "rows.parquet", *options, "--output", "o.parquet")
    written = pd.read_parquet("o.parquet")
    assert len(written) == 600
    sets = pb.ConformalClassifier(pb.load_model("model.json"))
    expected = sets.fit(prepare(fresh), fresh["grade"]).predict_set(prepare(frame), 0.8)
    np.testing.assert_array_equal(
        written[["set_bad", "set_good"]].to_numpy(), np.concatenate([expected] * 3)
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "0.8", "--target", "grade"], "--set needs --calibration"),
        (["--set", "0.8", "--calibration", "held.csv"], "--set needs --target"),
        (["--calibration", "held.csv"], "--calibration needs --set"),
        (["--target", "grade"], "--target needs --set"),
        (["--set", "1.5", *SETS[2:]], "must be above 0 and below 1; got 1.5"),
    ],
)
def test_options_go_together(capsys, options, message):
    assert message in misuse(capsys, "predict", "model.json", "train.csv", *options)


@pytest.mark.parametrize(
    ("change", "target", "message"),
    [
        (lambda rows: rows.drop(columns="grade"), "grade", "held.csv: the file lacks the column"),
        (lambda rows: rows.drop(columns="size"), "grade", "held.csv: the file lacks the column"),
        (lambda rows: rows.assign(grade="fair"), "grade", "classes that training did not have"),
        (lambda rows: rows, "size", "column 'size' is a feature of the model"),
    ],
)
def test_wrong_calibration_rows_are_named(capsys, change, target, message):
    fit(capsys)
    write(change(table(seed=5)), "held.csv")
    options = ("--set", "0.8", "--calibration", "held.csv", "--target", target)
    assert message in fail_after_notes(capsys, "predict", "model.json", "train.csv", *options)


@pytest.mark.filterwarnings("always:the level 0.8 needs at least 4 calibration rows")
def test_too_few_rows_are_noted(capsys):
    fit(capsys)
    write(table(3, seed=5), "held.csv")
    out, notes = run(capsys, "predict", "model.json", "train.csv", *SETS)
    assert "needs at least 4 calibration rows, and there are 3" in notes
    assert set(columns_of(out)["set_good"]) == {"True"}


def test_a_missing_file_is_named(capsys):
    fit(capsys)
    assert "held.csv" in fail(capsys, "predict", "model.json", "train.csv", *SETS)
