"""Test ``properboost predict --changes``: the changes are the model's, and turn the rows."""

import numpy as np
import pandas as pd
import pytest

import properboost as pb
from helpers.commands import columns_of, fail, fit, misuse, run, table, write


def prepare(frame):
    return frame[["size", "colour", "flag"]].astype({"colour": "category", "flag": "category"})


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"to": "good", "keep": ["colour"]}])
def test_changes_are_those_of_the_model(capsys, classes, options):
    frame = table(seed=3)
    if classes == 3:
        frame["grade"] = frame["grade"].where(frame["id"] % 5 > 0, "fair")
    run(capsys, "fit", write(frame), "--target", "grade", "--drop", "id")
    model, X = pb.load_model("model.json"), prepare(frame)
    words = [
        *(["--to", options["to"]] if options else []),
        *(["--keep", *options["keep"]] if options else []),
    ]
    out, notes = run(capsys, "predict", "model.json", "train.csv", "--changes", *words)
    plain, _ = run(capsys, "predict", "model.json", "train.csv")
    written, before = columns_of(out), columns_of(plain)
    features = ["size", "colour", "flag"]
    assert [*written] == [*before, "changed_class", *(f"change_{name}" for name in features)]
    assert {name: written[name] for name in before} == before
    expected = model.changes(X, **options)
    changed = X.copy()
    for row, change in enumerate(expected):
        cells = {name: written[f"change_{name}"][row] for name in features}
        new = {} if change is None else {one.feature: one.value for one in change.features}
        assert written["changed_class"][row] == ("" if change is None else change.to)
        assert {name for name, cell in cells.items() if cell} == {*new}
        for name, value in new.items():
            assert value == (float(cells[name]) if name == "size" else cells[name])
            changed.loc[row, name] = value
    turned = np.array([change is not None for change in expected])
    assert turned.any()
    after = model.predict(changed[turned])
    assert after.tolist() == [label for label in written["changed_class"] if label]
    if options:
        assert set(written["change_colour"]) == {""}
        assert f"{expected.n_missed} rows are 'good' already, or have no change" in notes
        assert set(after) == {"good"}


def test_a_search_of_trees_is_noted(capsys):
    frame = table()
    for k in range(3):
        frame[f"x{k}"] = np.roll(frame["size"], k + 1)
    good = frame["size"] * frame["x0"] + frame["x1"] * frame["x2"] > 0.0
    frame["grade"] = np.where(good, "good", "bad")
    run(capsys, "fit", write(frame), "--target", "grade", "--drop", "id", "--weak-learner", "tree")
    model = pb.load_model("model.json")
    assert not hasattr(model, "terms_")
    _, notes = run(capsys, "predict", "model.json", "train.csv", "--changes")
    assert "a search made the changes" in notes


def test_batches_have_the_types_of_the_features(capsys):
    """The colour of red rows need not change, so that its column is empty in the first batch."""
    pytest.importorskip("pyarrow")
    frame = table()
    red = frame["colour"] == "red"
    frame["grade"] = np.where(red & (frame["size"] > 0.0), "good", "bad")
    run(capsys, "fit", write(frame), "--target", "grade", "--drop", "id")
    frame = pd.concat([frame[red], frame[~red]], ignore_index=True)
    frame.to_parquet("rows.parquet", row_group_size=40)
    run(capsys, "predict", "model.json", "rows.parquet", "--changes", "--output", "o.parquet")
    run(capsys, "predict", "model.json", write(frame, "rows.csv"), "--changes", "--output", "o.csv")
    written, text = pd.read_parquet("o.parquet"), pd.read_csv("o.csv")
    assert len(written) == 200
    assert written["change_colour"][:40].isna().all()
    assert set(written["change_colour"][40:].dropna()) == {"red"}
    for name in ("changed_class", "change_colour", "change_size"):
        both = [part[name].astype(object).fillna("").tolist() for part in (written, text)]
        assert both[0] == both[1]
    assert written["change_size"].dtype == np.float64


@pytest.mark.parametrize("option", [["--to", "good"], ["--keep", "size"]])
def test_options_need_changes(capsys, option):
    line = misuse(capsys, "predict", "model.json", "train.csv", *option)
    assert f"{option[0]} needs --changes" in line


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--to", "fair"], "--to must be one of 'bad', 'good'; got 'fair'"),
        (["--keep", "shape"], "model.json: keep: the name 'shape' is unknown"),
    ],
)
def test_wrong_options_are_named(capsys, options, message):
    frame, *_ = fit(capsys)
    new = write(frame[["size", "colour", "flag"]], "new.csv")
    assert message in fail(capsys, "predict", "model.json", new, "--changes", *options)


def test_models_without_changes_are_named(capsys):
    frame, *_ = fit(capsys)
    new = write(frame[["size", "colour", "flag"]], "new.csv")
    pb.LeastCostClassifier(pb.load_model("model.json")).save_model("model.json")
    line = fail(capsys, "predict", "model.json", new, "--changes")
    assert line.endswith("model.json: a LeastCostClassifier has no changes")
