"""Test the columns that ``properboost predict`` writes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import properboost as pb
from helpers.commands import columns_of, fail, fail_after_notes, fit, run, table, write
from properboost.cli import predict
from properboost.cli.parquet_parts import ParquetParts


def prepared(frame):
    return frame[["size", "colour", "flag"]].astype({"colour": "category", "flag": "category"})


@pytest.mark.parametrize(
    "model",
    [
        pb.ProperBoostClassifier(n_estimators=5, weak_learner="tree"),
        pb.ARBoostClassifier(1.5, n_estimators=5, weak_learner="tree"),
        pb.WeightBoost(n_estimators=5),
    ],
    ids=str,
)
def test_models_without_shape_functions_predict(capsys, model):
    frame, *_ = fit(capsys)
    y = (frame["grade"] == frame["grade"].iloc[0]).astype(int)
    X = prepared(frame)
    model.fit(X, y).save_model("model.json")
    out, _ = run(capsys, "predict", "model.json", "train.csv", "--raw")
    np.testing.assert_allclose([float(row) for row in out.split()[1:]], model.decision_function(X))


def test_several_classes(capsys):
    frame = table()
    frame["grade"] = np.digitize(frame["size"], [-0.5, 0.5])
    run(capsys, "fit", write(frame), "--target", "grade", "--drop", "id", "colour")
    out, _ = run(capsys, "predict", "model.json", "train.csv", "--raw")
    assert out.splitlines()[0] == "raw_0,raw_1,raw_2"
    out, _ = run(capsys, "predict", "model.json", "train.csv")
    expected = pb.load_model("model.json").predict_proba(frame[["size", "flag"]])
    written = columns_of(out)
    assert list(written) == ["class", "p_0", "p_1", "p_2"]
    assert [*map(int, written["class"])] == expected.argmax(1).tolist()
    assert [*map(float, written["p_1"])] == expected[:, 1].tolist()


@pytest.mark.parametrize("classes", [2, 3])
def test_intervals_are_beside_probabilities(capsys, classes):
    frame = table()
    if classes > 2:
        frame["grade"] = np.digitize(frame["size"], [-0.5, 0.5])
    train = ("fit", write(frame), "--target", "grade", "--drop", "id", "--n-estimators", 9)
    report, note = run(capsys, *train, "--outer-bags", 16)
    assert note == ""
    assert "held out" in report
    model, X = pb.load_model("model.json"), prepared(frame)
    low, high = np.moveaxis(model.predict_interval(X, 0.8), 2, 0)
    assert (low < high).any()
    out, _ = run(capsys, "predict", "model.json", "train.csv", "--interval", 0.8)
    written = columns_of(out)
    labels = model.classes_.tolist()
    columns = [f"{end}_{label}" for label in labels for end in ("p", "low", "high")]
    assert list(written) == ["class", *columns]
    for k, label in enumerate(labels):
        assert [*map(float, written[f"low_{label}"])] == low[:, k].tolist()
        assert [*map(float, written[f"high_{label}"])] == high[:, k].tolist()
    out, _ = run(capsys, "predict", "model.json", "train.csv", "--interval", 0.8, "--proba")
    assert out.splitlines()[0] == ",".join(columns)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "predict_interval needs a model that was fitted with outer_bags"),
        (["--outer-bags", 4, "--no-bag-tables"], "tables=True"),
        (["--outer-bags", 4, "--weak-learner", "tree"], "Tree(interaction_cst=3)"),
        (["--model", "rado"], "a RadoBoostClassifier has no intervals"),
    ],
)
def test_models_without_intervals_are_named(capsys, options, message):
    frame, *_ = fit(capsys, *options)
    new = write(frame[["size", "colour", "flag"]], "new.csv")
    line = fail(capsys, "predict", "model.json", new, "--interval", "0.9")
    assert line.startswith("properboost: error: model.json: ")
    assert message in line


def test_a_search_fits_bags_of_what_it_chose(capsys):
    _, report, _ = fit(capsys, "--gain", "auto", "--outer-bags", 4, "--n-estimators", 5)
    assert "chosen by" in report
    out, _ = run(capsys, "predict", "model.json", "train.csv", "--interval", "0.9")
    assert "high_good" in out.splitlines()[0]


@pytest.mark.parametrize("classes", [2, 3])
def test_contributions_are_beside_predictions(capsys, classes):
    frame = table()
    if classes == 3:
        frame["grade"] = frame["grade"].where(frame["id"] % 5 > 0, "fair")
    options = ["--target", "grade", "--drop", "id", "--interactions", "1"]
    run(capsys, "fit", write(frame), *options)
    model, X = pb.load_model("model.json"), prepared(frame)
    out, _ = run(capsys, "predict", "model.json", "train.csv", "--explain")
    plain, _ = run(capsys, "predict", "model.json", "train.csv")
    written = columns_of(out)
    assert [*written][: 1 + classes] == [*columns_of(plain)]
    (pair,) = model.pairs_
    terms = ["size", "colour", "flag", " and ".join(pair)]
    labels = model.classes_.tolist() if classes == 3 else ["good"]
    assert [*written][1 + classes :] == [
        name
        for label in labels
        for name in (f"baseline_{label}", *(f"contribution_{label}_{term}" for term in terms))
    ]
    for label in labels:
        expected = model.contributions(X, label, scale="log_odds")
        assert {*map(float, written[f"baseline_{label}"])} == {expected.baseline}
        for k, term in enumerate(terms):
            values = [*map(float, written[f"contribution_{label}_{term}"])]
            assert values == expected.values[:, k].tolist()
    if classes == 2:
        total = sum(np.array([*map(float, written[name])]) for name in [*written][3:])
        p = np.array([*map(float, written["p_good"])])
        np.testing.assert_allclose(total, np.log(p / (1.0 - p)), atol=1e-9)
    out, _ = run(capsys, "predict", "model.json", "train.csv", "--explain", "--raw")
    if classes == 2:
        written = columns_of(out)
        total = sum(np.array([*map(float, written[name])]) for name in [*written][1:])
        np.testing.assert_allclose(total, [*map(float, written["raw_good"])], atol=1e-12)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (pb.UDTClassifier(max_leaf_nodes=4), "m.json: a UDTClassifier has no contributions"),
        (pb.WeightBoost(n_estimators=3), "m.json: the part of a round depends on the sum"),
    ],
    ids=["udt", "damped"],
)
def test_models_without_contributions_are_named(model, message, capsys):
    frame = table()
    model.fit(prepared(frame), frame["grade"]).save_model("m.json")
    write(prepared(frame))
    run(capsys, "predict", "m.json", "train.csv")
    assert fail(capsys, "predict", "m.json", "train.csv", "--explain").startswith(
        f"properboost: error: {message}"
    )


def test_contributions_of_one_name_are_refused(capsys):
    frame = table().rename(columns={"size": "c", "colour": "b_c"})[["c", "b_c", "grade"]]
    frame["grade"] = np.array(["a", "a_b", "d"])[frame.index % 3]
    run(capsys, "fit", write(frame), "--target", "grade")
    line = fail_after_notes(capsys, "predict", "model.json", "train.csv", "--explain")
    assert "two columns of contributions would be called 'contribution_a_b_c'" in line


@pytest.mark.parametrize("file", ["train.csv", "t.parquet", "t.arrow"])
def test_rows_without_a_prediction_are_an_error(capsys, monkeypatch, file):
    """A user would paste a file that lacks a line beside the wrong rows."""
    pytest.importorskip("pyarrow")
    frame, *_ = fit(capsys)
    frame.to_parquet("t.parquet")
    frame.to_feather("t.arrow")
    whole = predict._Columns.make
    monkeypatch.setattr(predict._Columns, "make", lambda *arguments: whole(*arguments)[1:])
    line = fail_after_notes(capsys, "predict", "model.json", file, "--output", "out.csv")
    assert line == f"properboost: error: {file}: 200 rows have 199 predictions"
    assert not Path("out.csv").exists()


def test_rows_that_are_not_read_are_an_error(capsys, monkeypatch):
    pytest.importorskip("pyarrow")
    frame, *_ = fit(capsys)
    frame.to_parquet("t.parquet")
    whole = ParquetParts.open

    def one_more(file):
        return replace(whole(file), n_rows=201)

    monkeypatch.setattr(ParquetParts, "open", one_more)
    line = fail_after_notes(capsys, "predict", "model.json", "t.parquet", "--output", "out.csv")
    assert line == "properboost: error: t.parquet: 200 rows were read of 201"
    assert not Path("out.csv").exists()


@pytest.fixture
def ordered(capsys):
    """Return a model of ordered classes of a file, and the rows."""
    frame = table()
    frame["grade"] = np.array(["low", "middle", "top"])[np.digitize(frame["size"], [-0.5, 0.5])]
    write(frame)
    model = pb.OrderedClassifier(classes=["low", "middle", "top"])
    model.fit(prepared(frame), frame["grade"]).save_model("model.json")
    return model, prepared(frame)


def test_ordered_classes_have_probabilities_and_f(capsys, ordered):
    model, X = ordered
    written = columns_of(run(capsys, "predict", "model.json", "train.csv", "--jobs", 1)[0])
    assert [*written] == ["class", "p_low", "p_middle", "p_top"]
    assert written["class"] == model.predict(X).tolist()
    for k, label in enumerate(model.classes_):
        assert [*map(float, written[f"p_{label}"])] == model.predict_proba(X)[:, k].tolist()
    explain = ("predict", "model.json", "train.csv", "--raw", "--explain")
    written = columns_of(run(capsys, *explain)[0])
    terms = [f"contribution_{name}" for name in X]
    assert [*written] == ["raw", "baseline", *terms]
    raw = np.array(written["raw"], dtype=float)
    np.testing.assert_array_equal(raw, model.estimator_.decision_function(X))
    parts = [np.array(written[name], dtype=float) for name in ("baseline", *terms)]
    np.testing.assert_allclose(sum(parts), raw, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--explain"], "ordered classes have contributions to the raw prediction alone: add"),
        (["--interval", "0.9"], "ordered classes have no intervals; --set has sets of classes"),
    ],
)
def test_what_ordered_classes_lack_is_named(capsys, ordered, options, message):
    _, X = ordered
    X.to_csv("new.csv", index=False)
    assert f"model.json: {message}" in fail(capsys, "predict", "model.json", "new.csv", *options)


def test_ordered_classes_have_changes_where_thresholds_stay(capsys, ordered):
    _, X = ordered
    X.to_csv("new.csv", index=False)
    grade = np.array(["low", "middle", "top"])[np.digitize(X["size"], [-0.5, 0.5])]
    one_scale = pb.OrderedClassifier(classes=["low", "middle", "top"], moving_thresholds=False)
    one_scale.fit(X, grade).save_model("model.json")
    written = columns_of(run(capsys, "predict", "model.json", "new.csv", "--changes")[0])
    changes = one_scale.changes(X)
    assert written["changed_class"] == [change.to for change in changes]
    moving = pb.OrderedClassifier(classes=["low", "middle", "top"], moving_thresholds=True)
    moving.fit(X, np.where(X["colour"] == "red", "middle", grade)).save_model("model.json")
    line = fail(capsys, "predict", "model.json", "new.csv", "--changes")
    assert line.endswith("move them: fit with moving_thresholds=False")
    written = columns_of(run(capsys, "predict", "model.json", "new.csv", "--raw")[0])
    assert [*written] == ["raw", "threshold_1", "threshold_2"]
    thresholds = moving.row_thresholds(X)
    np.testing.assert_array_equal(np.array(written["threshold_2"], float), thresholds[:, 1])
    assert "moved by" in run(capsys, "inspect", "model.json")[0]


def test_decisions_by_cost_have_no_raw_predictions(capsys):
    frame, *_ = fit(capsys)
    pb.LeastCostClassifier(pb.load_model("model.json")).save_model("model.json")
    new = write(frame[["size", "colour", "flag"]], "new.csv")
    line = fail(capsys, "predict", "model.json", new, "--raw")
    assert line.endswith("model.json: a LeastCostClassifier has no raw predictions")
