"""Test ``properboost export``: predictions of other systems from its files, and its errors."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import properboost as pb
from helpers.commands import fail, fit, misuse, run

FEATURES = ["size", "colour", "flag"]
FEW = ("--n-estimators", "9")


def expect():
    """Return the loaded model, and a function that makes its features of a file's rows."""
    model = pb.load_model("model.json")
    return model, lambda frame: frame[FEATURES].astype({"colour": "category", "flag": "category"})


def test_sqlite_predicts_by_the_query(capsys):
    frame, *_ = fit(capsys, *FEW)
    asked = ("--dialect", "sqlite", "--table", "main", "my rows", "--keep", "id")
    asked += ("--columns", "SIZE", "colour", "flag", "--outputs", "label", "raw", "probabilities")
    out, notes = run(capsys, "export", "model.json", "--to", "sql", *asked)
    assert notes == ""
    assert out.endswith("\n")
    connection = sqlite3.connect(":memory:")
    frame.rename(columns={"size": "SIZE"}).to_sql("my rows", connection, index=False)
    answers = sorted(connection.execute(out).fetchall())
    connection.close()
    model, prepare = expect()
    X = prepare(frame)
    assert [row[0] for row in answers] == frame["id"].tolist()
    assert [row[1] for row in answers] == model.predict(X).tolist()
    assert [row[2] for row in answers] == model.decision_function(X).tolist()
    p = np.array([row[3:] for row in answers])
    np.testing.assert_allclose(p, model.predict_proba(X), rtol=0, atol=1e-14)

    run(capsys, "export", "model.json", "--to", "sql", *asked, "--output", "model.sql")
    assert Path("model.sql").read_text("utf-8") == out


def test_without_options_the_query_is_that_of_python(capsys):
    fit(capsys, *FEW)
    out, _ = run(capsys, "export", "model.json", "--to", "sql")
    assert out == pb.export.to_sql(pb.load_model("model.json")) + "\n"


def test_queries_are_utf8_whatever_the_terminal_reads():
    x = np.arange(60.0)
    table = pd.DataFrame({"é☃": x})
    pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(table, x > 9.0).save_model(
        "model.json"
    )
    expected = pb.export.to_sql(pb.load_model("model.json")) + "\n"
    assert '_r."é☃"' in expected
    asked = [sys.executable, "-m", "properboost", "export", "model.json", "--to", "sql"]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(asked, env=environment, capture_output=True, check=True)
    assert ended.stdout.decode("utf-8") == expected


def test_onnxruntime_predicts_by_the_graph(capsys):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    frame, *_ = fit(capsys, *FEW)
    asked = ("--outputs", "raw", "label", "--missing", "(none)", "--output", "model.onnx")
    out, notes = run(capsys, "export", "model.json", "--to", "onnx", *asked)
    assert (out, notes) == ("", "")
    frame.loc[0, "colour"] = None
    cells = frame[FEATURES].fillna({"colour": "(none)"})
    inputs = {name: cells[[name]].to_numpy() for name in FEATURES}
    session = runtime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    raw, label = session.run(None, inputs)
    model, prepare = expect()
    X = prepare(frame)
    np.testing.assert_array_equal(raw.ravel(), model.decision_function(X))
    assert label.ravel().tolist() == model.predict(X).tolist()


def test_treelite_predicts_by_the_checkpoint(capsys):
    treelite = pytest.importorskip("treelite")
    frame, *_ = fit(capsys, *FEW, "--weak-learner", "table")
    run(capsys, "export", "model.json", "--to", "treelite", "--output", "model.treelite")
    model, prepare = expect()
    X = prepare(frame)
    trees = treelite.Model.deserialize("model.treelite")
    raw = treelite.gtil.predict(trees, pb.export.encode_rows(model, X))
    np.testing.assert_array_equal(raw.ravel(), model.decision_function(X))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("", "required: --to"),
        ("--to pmml", "--to: invalid choice: 'pmml'"),
        ("--to onnx", "--to onnx needs --output"),
        ("--to treelite", "--to treelite needs --output"),
        ("--to onnx --output m --dialect sqlite", "--dialect cannot be combined with --to onnx"),
        ("--to sql --missing none", "--missing cannot be combined with --to sql"),
        ("--to treelite --output m --outputs raw", "--outputs cannot be combined with --to"),
        ("--to sql --dialect oracle", "--dialect: invalid choice: 'oracle'"),
        ("--to sql --outputs odds", "--outputs: invalid choice: 'odds'"),
        ("--to sql --outputs raw raw", "each once; got ['raw', 'raw']"),
    ],
)
def test_wrong_arguments(capsys, arguments, complaint):
    assert complaint in misuse(capsys, "export", "m.json", *arguments.split())


def test_outputs_are_checked_before_the_model_is_read(capsys):
    Path("there.sql").write_text("mine")
    for output in ("none/model.sql", "there.sql"):
        line = fail(capsys, "export", "no.json", "--to", "sql", "--output", output)
        assert line.startswith(f"properboost: error: {output}: ")
    assert Path("there.sql").read_text() == "mine"
    fit(capsys, *FEW)
    run(capsys, "export", "model.json", "--to", "sql", "--output", "there.sql", "--force")
    assert Path("there.sql").read_text() != "mine"


@pytest.mark.parametrize(
    ("name", "module"), [("onnx", "onnx"), ("treelite", "treelite.model_builder")]
)
def test_a_missing_package_is_named(capsys, monkeypatch, name, module):
    fit(capsys, *FEW)
    monkeypatch.setitem(sys.modules, module, None)
    line = fail(capsys, "export", "model.json", "--to", name, "--output", "m")
    assert f"pip install 'properboost[{name}]'" in line
    assert not Path("m").exists()


def test_what_cannot_be_exported_is_named(capsys):
    pytest.importorskip("treelite")
    fit(capsys, "--weak-learner", "tree", "--linear-leaves", "--n-estimators", "2")
    line = fail(capsys, "export", "model.json", "--to", "treelite", "--output", "m")
    assert line.startswith("properboost: error: model.json: ProperBoostClassifier with linear_leav")
    assert not Path("m").exists()
    line = fail(capsys, "export", "model.json", "--to", "sql", "--columns", "size")
    assert "model.json: columns must name 3 columns" in line
