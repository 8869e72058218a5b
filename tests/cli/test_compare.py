"""Test ``properboost compare``: the tables, the picture, and what it refuses."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import properboost as pb
from helpers.commands import fail, misuse, run, table, write


def fit_two(capsys):
    """Save a model of all columns and one that lacks a column."""
    write(table())
    arguments = ("fit", "train.csv", "--target", "grade", "--test-size", "0")
    run(capsys, *arguments, "--drop", "id", "--output", "all.json", "--effort", "none")
    few = ("--drop", "id", "size", "--output", "few.json", "--effort", "none")
    run(capsys, *arguments, *few)


def test_the_tables_are_those_of_the_function(capsys):
    fit_two(capsys)
    rows = table(n=300, seed=1).assign(often=[1.0, 2.0, 0.0] * 100, who=[*range(100)] * 3)
    write(rows, "test.csv")
    options = ("--target", "grade", "--sample-weight", "often", "--groups", "who", "--rows", "2")
    out, _ = run(capsys, "compare", "few.json", "all.json", "test.csv", *options)
    rows = rows[rows["often"] > 0.0]
    X = rows[["size", "colour", "flag"]].astype({"colour": "category", "flag": "category"})

    class Few:
        """The model of few columns, on all of them."""

        model = pb.load_model("few.json")
        classes_ = model.classes_

        def fit(self): ...

        def predict(self, X):
            return self.model.predict(X[["colour", "flag"]])

        def predict_proba(self, X):
            return self.model.predict_proba(X[["colour", "flag"]])

    expected = pb.compare(
        {"few.json": Few(), "all.json": pb.load_model("all.json")},
        X,
        rows["grade"],
        sample_weight=rows["often"],
        groups=rows["who"],
        n_disagreements=2,
    )
    assert out == f"{expected}\n"
    assert expected.find_better("log_loss") == "all.json"


def test_the_picture_is_written_and_not_replaced(capsys):
    pytest.importorskip("matplotlib")
    fit_two(capsys)
    write(table(seed=1), "test.csv")
    options = ("few.json", "all.json", "test.csv", "--target", "grade", "--output", "scores.png")
    run(capsys, "compare", *options)
    assert Path("scores.png").read_bytes()[:4] == b"\x89PNG"
    assert "--force replaces it" in fail(capsys, "compare", *options)


def test_what_is_refused(capsys):
    fit_two(capsys)
    write(table(seed=1), "test.csv")
    options = ("test.csv", "--target", "grade")
    assert "different files" in fail(capsys, "compare", "all.json", "all.json", *options)
    words = fail(capsys, "compare", "all.json", "few.json", "test.csv", "--target", "size")
    assert "'size' is a feature" in words
    words = fail(capsys, "compare", "all.json", "few.json", "test.csv", "--target", "none")
    assert "none" in words
    other = table(seed=1).assign(grade=pd.Series(["good", "bad", "ugly", "bad"] * 50))
    write(other, "other.csv")
    options = ("--target", "grade", "--test-size", "0", "--output", "other.json")
    run(capsys, "fit", "other.csv", *options, "--effort", "none")
    words = fail(capsys, "compare", "all.json", "other.json", "test.csv", "--target", "grade")
    assert "same classes" in words
    files = ("compare", "all.json", "other.json", "test.csv", "--target", "grade")
    words = misuse(capsys, *files, "--rows", "-1")
    assert "argument --rows: must be a whole number of at least 0; got -1" in words
    words = misuse(capsys, *files, "--level", "95")
    assert "argument --level: must be above 0 and below 1; got 95" in words


def test_ordered_classes_are_compared_with_a_softmax(capsys):
    rows = table()
    rows["grade"] = np.digitize(rows["size"], [-0.5, 0.5])
    X, y = rows[["size"]], rows["grade"]
    models = {
        "ordered.json": pb.OrderedClassifier(),
        "softmax.json": pb.ProperBoostClassifier(weak_learner="table"),
    }
    for name, model in models.items():
        model.fit(X, y).save_model(name)
    files = ("ordered.json", "softmax.json", write(rows, "test.csv"))
    out, _ = run(capsys, "compare", *files, "--target", "grade")
    for name in models:
        models[name] = pb.load_model(name)
    assert str(pb.compare(models, X, y)) in out
