"""Test labels of every kind in other systems: the model's labels, or a refusal by name."""

import sqlite3

import numpy as np
import pytest

import properboost as pb
from helpers.label_kinds import KINDS
from properboost import export

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
CODES = {2: (X[:, 0] > 0.0).astype(int), 3: np.digitize(X[:, 0], [-0.5, 0.5])}

# Exports use the classes of a model alone, so kinds of equal classes are tested once.
SEEN = {}
for name, kind in KINDS.items():
    SEEN.setdefault((kind.values.dtype.str, *kind.values.tolist()), name)
CASES = [(name, n) for name in SEEN.values() for n in sorted({2, KINDS[name].most})]

each_case = pytest.mark.parametrize(("name", "n_classes"), CASES)


def fit(name, n_classes):
    kind = KINDS[name]
    model = pb.ProperBoostClassifier(n_estimators=3, n_jobs=1, weak_learner="table")
    return model.fit(X, kind.make(CODES[n_classes]))


def or_refused(write, model, **options):
    """Return the written model; None if labels are refused, which the error must state."""
    refusal = ""
    try:
        return write(model, **options)
    except (TypeError, ValueError) as error:
        refusal = str(error)
    assert "label" in refusal or "class" in refusal, refusal
    assert write(model, **options | {"outputs": ["raw"]})
    return None


@each_case
def test_onnx(name, n_classes):
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    model = fit(name, n_classes)
    graph = or_refused(export.to_onnx, model, outputs=["label", "raw"])
    if graph is None:
        return
    onnx.checker.check_model(graph, full_check=True)
    label, raw = runtime.InferenceSession(graph.SerializeToString()).run(None, {"X": X})
    expected = model.predict(X)
    assert label.dtype.kind in {"b": "bi", "U": "O"}.get(
        expected.dtype.kind, expected.dtype.kind + "i"
    )
    assert label.tolist() == expected.tolist()
    np.testing.assert_array_equal(raw, model.decision_function(X))


def connect(database):
    if database == "sqlite":
        return sqlite3.connect(":memory:")
    return pytest.importorskip("duckdb").connect()


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
@each_case
def test_sql(name, n_classes, database):
    model = fit(name, n_classes)
    query = or_refused(
        export.to_sql, model, dialect=database, table="t", keep=["row"],
        columns=["a", "b"], outputs=["label", "raw"],
    )  # fmt: skip
    if query is None:
        return
    connection = connect(database)
    connection.execute("CREATE TABLE t (row INTEGER, a DOUBLE, b DOUBLE)")
    rows = [(k, *row) for k, row in enumerate(X.tolist())]
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    answers = sorted(connection.execute(query).fetchall())
    connection.close()
    labels = [row[1] for row in answers]
    expected = model.predict(X)
    assert {isinstance(label, str) for label in labels} == {expected.dtype.kind in "OU"}
    assert labels == expected.tolist()
    raw = np.array([row[2:] for row in answers], dtype=float)
    np.testing.assert_array_equal(raw.reshape(len(X), -1).squeeze(), model.decision_function(X))


@each_case
def test_treelite(name, n_classes):
    treelite = pytest.importorskip("treelite")
    model = fit(name, n_classes)
    rows = export.encode_rows(model, X)
    predictions = treelite.gtil.predict(export.to_treelite(model), rows, nthread=1)
    expected = model.decision_function(X)
    np.testing.assert_array_equal(predictions.reshape(expected.shape), expected)
