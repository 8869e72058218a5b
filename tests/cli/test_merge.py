"""Test ``properboost merge``: the mean of models, its record, and its errors."""

from pathlib import Path

import numpy as np
import pytest

import properboost as pb
from helpers.commands import fail, misuse, run, table, write

FILES = ("north.json", "south.json")
FIT = ("--target", "grade", "--drop", "id", "--n-estimators", "9", "--weak-learner", "table")


@pytest.fixture
def sites(capsys):
    """Write the models of two sites to files, and return the rows of the first."""
    for seed, (file, n) in enumerate(zip(FILES, (120, 60), strict=True)):
        frame = table(n, seed)
        run(capsys, "fit", write(frame), *FIT, "--gain", 1 + seed, "--output", file)
    X = table(120)[["size", "colour", "flag"]]
    return [pb.load_model(f) for f in FILES], X.astype({"colour": "category", "flag": "category"})


def test_the_merged_model_is_that_of_python(capsys, sites):
    models, X = sites
    out, notes = run(capsys, "merge", *FILES, "--output", "both.json.gz")
    assert notes == ""
    assert out == "Wrote the merged model, with the weights 0.6667, 0.3333, to both.json.gz.\n"
    merged, expected = pb.load_model("both.json.gz"), pb.merge_models(models)
    np.testing.assert_array_equal(merged.decision_function(X), expected.decision_function(X))
    assert merged.edits_ == expected.edits_
    assert Path("both.json.gz").read_bytes().startswith(b"\x1f\x8b")


def test_weights_and_a_reason_reach_the_record(capsys, sites):
    models, X = sites
    options = ("--weights", 1, 3, "--reason", "two sites", "--output", "both.json")
    run(capsys, "merge", *FILES, *options)
    merged = pb.load_model("both.json")
    expected = pb.merge_models(models, [1, 3]).predict_proba(X)
    np.testing.assert_array_equal(merged.predict_proba(X), expected)
    out, _ = run(capsys, "inspect", "both.json")
    assert "  2 models merged, with weights 0.25, 0.75; reason: two sites" in out


def test_ordered_classes_are_merged(capsys, sites):
    _, X = sites
    grade = np.digitize(X["size"], [-0.5, 0.5])
    models = []
    for k, file in enumerate(FILES):
        base = pb.ProperBoostClassifier(n_estimators=5)
        model = pb.OrderedClassifier(base, moving_thresholds=False).fit(X[k::2], grade[k::2])
        model.save_model(file)
        models.append(model)
    out, _ = run(capsys, "merge", *FILES, "--output", "both.json")
    assert "with the weights 0.5, 0.5" in out
    merged, expected = pb.load_model("both.json"), pb.merge_models(models)
    np.testing.assert_array_equal(merged.predict_proba(X), expected.predict_proba(X))


@pytest.mark.filterwarnings("default")  # the warning becomes a note
def test_what_is_joined_is_noted(capsys):
    random = np.random.default_rng(0)
    for file, shift in zip(FILES, (0.0, 1e-3), strict=True):
        frame = table(2000).assign(size=random.permutation(np.arange(2000.0)) + shift)
        frame["grade"] = frame["size"] % 3 > 1
        fine = ("--max-bins", 255, "--weak-learner", "table",
                "--max-cells", "none", "--rows-per-bin", "none")  # fmt: skip
        run(capsys, "fit", write(frame[["size", "grade"]]), "--target", "grade", *fine,
            "--n-estimators", 5, "--output", file)  # fmt: skip
    _, notes = run(capsys, "merge", *FILES, "--output", "both.json")
    (note,) = notes.splitlines()
    assert note.startswith("properboost: note: the models have more bins together than one model")
    assert "in size the bins or cells that differ least were joined" in note


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("a.json b.json", "required: --output"),
        ("a.json --output m.json", "there must be two models or more; got 1"),
        ("a.json b.json --weights 1 --output m", "--weights must be 2 numbers, one for each model"),
        ("a.json b.json --output m --weights 1 0", "--weights: must be finite and above 0; got 0"),
        ("a.json b.json --output m --weights 1 nan", "must be finite and above 0; got nan"),
        ("a.json b.json --output m --weights 1 inf", "must be finite and above 0; got inf"),
        ("a.json b.json --output m --weights 1 much", "--weights: invalid"),
    ],
)
def test_wrong_arguments(capsys, arguments, complaint):
    assert complaint in misuse(capsys, "merge", *arguments.split())


def test_models_that_do_not_go_together_are_named_by_their_files(capsys, sites):
    _, X = sites
    write(table().drop(columns="flag"), "less.csv")
    run(capsys, "fit", "less.csv", *FIT, "--output", "less.json")
    line = fail(capsys, "merge", *FILES, "less.json", "--output", "both.json")
    assert "models must have the same number of features; that of north.json is 3, that of " in line
    assert line.endswith("less.json 2")
    pb.UDTClassifier(max_leaf_nodes=4).fit(X, table(120)["grade"]).save_model("tree.json")
    line = fail(capsys, "merge", "north.json", "tree.json", "--output", "both.json")
    assert line == (
        "properboost: error: tree.json must be a ProperBoostClassifier, or a search for one; got "
        "UDTClassifier"
    )
    assert not Path("both.json").exists()


def test_files_are_replaced_only_with_force(capsys, sites):
    before = Path("south.json").read_bytes()
    line = fail(capsys, "merge", *FILES, "--output", "south.json")
    assert "south.json: the file exists; --force replaces it" in line
    assert Path("south.json").read_bytes() == before
    run(capsys, "merge", *FILES, "--output", "south.json", "--force")
    assert pb.load_model("south.json").edits_[0]["method"] == "merge_models"
    line = fail(capsys, "merge", "none.json", "south.json", "--output", "both.json")
    assert "none.json: No such file" in line


def test_models_of_other_spellings_are_noted(capsys, sites):
    """The merged model has no spelling, so the user gives it to predict."""
    frame = table(60, 1)
    frame.to_csv("swiss.csv", index=False, decimal=",", sep=";")
    options = ("--sep", ";", "--decimal", ",", "--output", "south.json", "--force")
    run(capsys, "fit", "swiss.csv", *FIT, *options)
    _, notes = run(capsys, "merge", *FILES, "--output", "both.json")
    assert "spell numbers in different ways" in notes
    run(capsys, "predict", "both.json", "swiss.csv", "--sep", ";", "--decimal", ",")
    _, notes = run(capsys, "merge", "south.json", "south.json", "--output", "one.json")
    assert notes == ""
    run(capsys, "predict", "one.json", "swiss.csv", "--sep", ";")
