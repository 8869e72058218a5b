import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import properboost as pb
from helpers.exports import make_frame, make_rows
from properboost.export import register

skl2onnx = pytest.importorskip("skl2onnx")
onnxruntime = pytest.importorskip("onnxruntime")
types = pytest.importorskip("skl2onnx.common.data_types")


def open_graph(model, options=None, **settings):
    register()
    graph = skl2onnx.to_onnx(
        model, options=options, target_opset={"": 18, "ai.onnx.ml": 3}, **settings
    )
    return onnxruntime.InferenceSession(graph.SerializeToString())


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_pipeline_ends_with_our_classifier(kind, n_classes):
    X, y = make_rows(n_classes)
    X = np.clip(np.nan_to_num(X), -5.0, 5.0).astype(kind)
    model = make_pipeline(
        StandardScaler(), pb.ProperBoostClassifier(n_estimators=5, weak_learner="table")
    ).fit(X, y)
    session = open_graph(model, {id(model): {"zipmap": False}}, X=X[:1])
    label, p = session.run(None, {"X": X})
    if kind is np.float64:
        assert np.abs(p - model.predict_proba(X)).max() <= 1e-12
    assert np.mean(label == model.predict(X)) > 0.98
    raw = {id(model[-1]): {"zipmap": False, "raw_scores": True}}
    label, scores = open_graph(model, raw, X=X[:1]).run(None, {"X": X})
    assert scores.shape == (len(X), n_classes)
    np.testing.assert_array_equal(scores.argmax(axis=1), label)


def test_dictionaries_are_made_unless_tensors_are_requested():
    X, y = make_rows(2)
    model = make_pipeline(pb.ProperBoostClassifier(n_estimators=3, weak_learner="table")).fit(
        X, y == 1
    )
    label, p = open_graph(model, X=X[:1]).run(None, {"X": X})
    assert [row[1] for row in p] == pytest.approx(model.predict_proba(X)[:, 1], abs=1e-6)
    np.testing.assert_array_equal(label, model.predict(X))


def test_columns_of_strings_and_numbers():
    table, y, new = make_frame()
    table, new = (frame[["select", "town", "x0"]] for frame in (table, new))
    model = make_pipeline(pb.ProperBoostClassifier(n_estimators=5, weak_learner="table")).fit(
        table, y
    )
    initial_types = [
        (name, (types.StringTensorType if name == "town" else types.DoubleTensorType)([None, 1]))
        for name in table
    ]
    session = open_graph(model, {id(model): {"zipmap": False}}, initial_types=initial_types)
    rows = {
        name: column.where(column.notna(), "").to_numpy(object if name == "town" else float)[
            :, None
        ]
        for name, column in new.items()
    }
    label, p = session.run(None, rows)
    assert np.abs(p - model.predict_proba(new)).max() <= 1e-14
    np.testing.assert_array_equal(label, model.predict(new))


def test_an_input_of_another_kind_is_refused_by_name():
    table, y, _ = make_frame()
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(table[["town"]], y)
    with pytest.raises(ValueError, match="column 'town' of the model strings"):
        open_graph(model, initial_types=[("town", types.DoubleTensorType([None, 1]))])


@pytest.mark.parametrize("zipmap", [True, False, "columns"])
@pytest.mark.parametrize(
    "labels",
    [
        np.array([0.0, 1.0]),
        np.array([0, 1], dtype=np.float32),
        np.array([0, 1], dtype=np.longdouble),
        np.array([0, 1], dtype=np.uint64),
        np.array([False, True]),
        np.array(["a", "b"]),
    ],
    ids=lambda labels: labels.dtype.name,
)
def test_labels_are_integers_or_strings(labels, zipmap):
    X, y = make_rows(2)
    X = np.clip(np.nan_to_num(X), -5.0, 5.0)
    model = make_pipeline(
        StandardScaler(), pb.ProperBoostClassifier(n_estimators=2, weak_learner="table")
    )
    model.fit(X, labels[y])
    session = open_graph(model, {id(model): {"zipmap": zipmap}}, X=X[:1])
    label = session.run(None, {"X": X})[0]
    assert label.dtype == (object if labels.dtype.kind == "U" else np.int64)
    np.testing.assert_array_equal(label, model.predict(X))


def test_labels_beyond_64_bits_are_refused_by_name():
    X, y = make_rows(2)
    labels = np.array([1, 2**64 - 1], dtype=np.uint64)
    model = make_pipeline(pb.ProperBoostClassifier(n_estimators=2, weak_learner="table")).fit(
        X, labels[y]
    )
    with pytest.raises(ValueError, match="the label 18446744073709551615 is no 64-bit integer"):
        open_graph(model, X=X[:1])
