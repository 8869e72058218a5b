"""Test how columns of a file become features of a model."""

import numpy as np

import properboost as pb
from helpers.commands import columns_of, fail, fail_after_notes, fit, run, table, write


def test_columns_are_matched_by_name(capsys):
    frame, _, _ = fit(capsys)
    in_order, notes = run(capsys, "predict", "model.json", "train.csv")
    assert "ignored, because the model does not use them: 'id', 'grade'" in notes
    assert "order" not in notes
    write(frame[["flag", "size", "colour"]], "other.csv")
    out, notes = run(capsys, "predict", "model.json", "other.csv")
    assert out == in_order
    assert "matched by name" in notes
    assert "ignored" not in notes


def test_unseen_categories_are_noted(capsys):
    frame, _, _ = fit(capsys)
    frame["colour"] = "mauve"
    out, notes = run(capsys, "predict", "model.json", write(frame, "new.csv"), "--raw")
    assert (
        "column 'colour' holds categories that training did not have (200 cells, such as 'mauve')"
        in (notes)
    )
    model = pb.load_model("model.json")
    rest = sum(model.shape_function(f)(frame[f].to_numpy()) for f in ("size", "flag"))
    np.testing.assert_allclose([*map(float, columns_of(out)["raw_good"])], rest, rtol=1e-12)


def test_model_fitted_in_python_on_numbered_categories(capsys):
    frame = table()[["size", "id"]].assign(id=lambda f: f["id"] % 4)
    y = (frame["id"] == 2) ^ (frame["size"] > 1)
    model = pb.ProperBoostClassifier(
        n_estimators=9, categorical_features=["id"], weak_learner="table"
    ).fit(frame, y)
    model.save_model("python.json")
    out, _ = run(capsys, "predict", "python.json", write(frame), "--raw")
    raw = columns_of(out)["raw_True"]
    assert [*map(float, raw)] == model.decision_function(frame).tolist()


def test_columns_that_do_not_fit_the_model(capsys):
    frame, _, _ = fit(capsys)
    write(frame.drop(columns=["size", "flag"]), "less.csv")
    assert "the file lacks the columns 'size', 'flag'; it has 'id'" in fail_after_notes(
        capsys, "predict", "model.json", "less.csv"
    )
    frame["size"] = frame["size"].astype(str).where(frame["id"] != 7, "tall")
    assert "column 'size' was numeric in training, but row 8 holds 'tall'" in fail_after_notes(
        capsys, "predict", "model.json", write(frame, "text.csv")
    )


def test_model_without_column_names(capsys):
    frame = table()
    pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(
        frame[["size"]].to_numpy(), frame["grade"]
    ).save_model("array.json")
    line = fail(capsys, "predict", "array.json", write(frame))
    assert line == "properboost: error: array.json: the model was fitted without column names"
