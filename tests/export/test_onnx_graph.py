import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import properboost as pb
from helpers.data_files import need
from helpers.exports import (
    MODELS,
    find_edge_rows,
    find_raw,
    fit,
    fit_edited_trees,
    fit_merged_lines,
    fit_ordered,
    make_frame,
    make_rows,
)
from properboost.datasets._adult import ADULT
from properboost.export import onnx_graph, to_onnx
from properboost.export.description import describe

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

OUTPUTS = ("label", "probabilities", "raw")


def open_graph(model, **options):
    graph = to_onnx(model, **{"outputs": OUTPUTS, **options})
    onnx.checker.check_model(graph, full_check=True)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 2
    settings.log_severity_level = 3
    return onnxruntime.InferenceSession(graph.SerializeToString(), settings)


def check(model, X, inputs=None, **options):
    session = open_graph(model, **options)
    label, p, raw = session.run(None, {"X": X} if inputs is None else inputs)
    np.testing.assert_array_equal(raw, find_raw(model, X))
    assert np.abs(p - model.predict_proba(X)).max() <= 1e-14
    np.testing.assert_array_equal(label, model.predict(X))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_raw_predictions_have_the_bits(name, n_classes):
    model, X = fit(n_classes, **MODELS[name])
    check(model, X)
    check(model, X[:1])


@pytest.mark.parametrize(
    "parameters", [{}, {"weak_learner": "tree"}, {"weak_learner": pb.Tree(linear_leaves=True)}]
)
def test_one_vs_rest(parameters):
    model, X = fit(3, multiclass="one_vs_rest", **parameters)
    check(model, X)


@pytest.mark.parametrize("loss", ["ggauss", "gboost", "tangent"])
def test_links(loss):
    check(*fit(2, loss=loss, gain=0.1))


def test_joint_canonical():
    check(*fit(3, loss="glaplacian", gain=0.1))


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("loss", ["glog", "ggauss", "tangent"])
def test_ordered_classes(loss, named):
    check(*fit_ordered(4, named=named, loss=loss, gain=0.5))
    check(*fit_ordered(4, named=named, moving=True, loss=loss, weak_learner="table"))
    check(*fit_ordered(2, named=named, loss=loss, weak_learner="tree"))


def test_other_estimators():
    X, y = make_rows(2)
    for model in (pb.ARBoostClassifier(n_estimators=5), pb.UDTClassifier(max_leaf_nodes=6)):
        model.fit(X, y)
        check(model, find_edge_rows(model, X))
    finite = np.clip(np.nan_to_num(X), -5.0, 5.0)
    check(pb.RadoBoostClassifier(n_rados=200, n_estimators=50).fit(finite, y), finite)
    X, y = make_rows(3)
    check(pb.AdaBoostMH(n_estimators=5).fit(X, y), X)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_merged_models_with_lines(n_classes):
    check(*fit_merged_lines(n_classes))


def test_more_trees_than_are_summed_in_one_thread():
    model, X = fit(2, weak_learner=pb.Tree(max_leaf_nodes=3), n_estimators=120)
    for n in (1, 30, len(X)):
        check(model, X[:n])


def feed(table, missing=""):
    return {
        name: column.where(column.notna(), missing).to_numpy(object)[:, None]
        if name == "town"
        else column.to_numpy(float)[:, None]
        for name, column in table.items()
    }


@pytest.mark.parametrize("name", MODELS)
def test_categories_and_hostile_names(name):
    table, y, new = make_frame()
    model = pb.ProperBoostClassifier(n_estimators=8, **MODELS[name]).fit(table, y)
    check(model, new, feed(new))
    session = open_graph(model)
    assert [port.name for port in session.get_inputs()] == list(new)
    assert [port.name for port in session.get_outputs()] == ["label_", "probabilities", "raw"]


def test_trees_that_were_edited():
    model, new = fit_edited_trees()
    check(model, new, feed(new))


def test_models_of_no_rounds_and_of_boolean_labels():
    X = np.ones((40, 2))
    y = np.arange(40) % 2 == 0
    check(pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(X, y), X)


LABELS = {
    "booleans": (np.array([False, True]), np.bool_),
    "small integers": (np.array([-1, 1], dtype=np.int8), np.int64),
    "the ends of int64": (np.array([-(2**63), 2**63 - 1]), np.int64),
    "unsigned integers": (np.array([0, 2**63 - 1], dtype=np.uint64), np.int64),
    "integers beyond int64": (np.array([2**63 + 5, 2**64 - 1], dtype=np.uint64), np.uint64),
    "half precision": (np.array([0, 1], dtype=np.float16), np.float32),
    "single precision": (np.array([0, 1], dtype=np.float32), np.float32),
    "double precision": (np.array([0.0, 1.0]), np.float64),
    "more than double precision": (np.array([0, 1], dtype=np.longdouble), np.float64),
    "texts": (np.array(["é", ""]), np.object_),
    "objects": (np.array(["a\0b", "a"], dtype=object), np.object_),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_have_the_type_of_predict(name):
    labels, dtype = LABELS[name]
    X, y = make_rows(2)
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(X, labels[y])
    check(model, X)
    (label,) = open_graph(model, outputs="label").run(None, {"X": X})
    assert label.dtype == dtype


def test_a_graph_is_compared_with_what_it_declares(monkeypatch):
    """Labels of a type that the graph does not declare would fail in runtimes only."""
    finish = onnx_graph._finish
    monkeypatch.setattr(
        onnx_graph,
        "_finish",
        lambda graph, *arguments: graph.cast(finish(graph, *arguments), "FLOAT"),
    )
    X, y = make_rows(2)
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(X, y)
    with pytest.raises(onnx.shape_inference.InferenceError, match="Inferred elem type differs"):
        to_onnx(model)


def test_texts_that_are_no_unicode_are_refused_by_name():
    X = np.array([["\ud800"], ["b"]] * 40, dtype=object)
    y = np.arange(80) % 2
    model = pb.ProperBoostClassifier(
        n_estimators=2, categorical_features=[0], weak_learner="table"
    ).fit(X, y)
    with pytest.raises(
        ValueError, match=r"the category '.ud800' of column 'x0' is no Unicode text"
    ):
        to_onnx(model)
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(y[:, None], X[:, 0])
    with pytest.raises(ValueError, match=r"a label is no Unicode text: '.ud800'"):
        to_onnx(model)


def test_integers_that_doubles_merge_are_no_categories():
    y = np.arange(80) % 2
    table = pd.DataFrame({"c": pd.Categorical([2**53, 1] * 40)})
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(table, y)
    with pytest.raises(ValueError, match="9007199254740992 of column 'c' has the double of other"):
        to_onnx(model)


def test_a_tree_deeper_than_functions_call_each_other():
    X = np.arange(3000.0)[:, None]
    y, weight = np.arange(3000) % 2, np.maximum(0.7 ** np.arange(3000.0), 1e-300)
    model = pb.UDTClassifier(max_leaf_nodes=None, min_child_weight=0.0, normalize_weights=True)
    check(model.fit(X, y, weight), X)


def test_the_string_of_missing_values_is_nobodys_category():
    y = np.arange(80) % 2
    table = pd.DataFrame({"c": pd.Categorical(["", "b"] * 40)})
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(table, y)
    with pytest.raises(ValueError, match="missing='' is a category of column 'c'"):
        to_onnx(model)
    to_onnx(model, missing="none")
    with pytest.raises(TypeError, match="missing must be a string; got None"):
        to_onnx(model, missing=None)


def test_a_column_without_a_name_is_refused():
    table = pd.DataFrame({"": pd.Categorical(["a", "b"] * 40), "c": 1.0})
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(
        table, np.arange(80) % 2
    )
    with pytest.raises(ValueError, match="'' is no name"):
        to_onnx(model)


def test_adult():
    """ADULT is a real table with categories and missing values."""
    need(*ADULT.files)
    X, y = pb.datasets.load_adult(subset="train", dropna=False, return_X_y=True)
    new = pb.datasets.load_adult(subset="test", dropna=False, return_X_y=True)[0][:500]
    for parameters in ({"interactions": 5}, {"weak_learner": "tree"}):
        model = pb.ProperBoostClassifier(n_estimators=20, **parameters).fit(X[:3000], y[:3000])
        inputs = {
            name: column.astype(object).where(column.notna(), "").to_numpy()[:, None]
            if column.dtype == "category"
            else column.to_numpy(float)[:, None]
            for name, column in new.items()
        }
        check(model, new, inputs)


values = st.floats(allow_nan=True, allow_infinity=True, width=64)


@given(st.lists(st.tuples(values, values), min_size=8, max_size=30), st.integers(0, 1))
@settings(max_examples=15, deadline=None)
def test_any_rows(rows, trees):
    X = np.array(rows)
    y = np.arange(len(X)) % 2
    parameters = [{}, {"weak_learner": pb.Tree(min_child_weight=1.0)}][trees]
    model = pb.ProperBoostClassifier(n_estimators=4, rows_per_bin=None, **parameters).fit(X, y)
    check(model, np.concatenate([X, -X, X[:, ::-1]]))


def test_linear_models_have_nothing_for_values_that_are_not_finite():
    """The model refuses missing values, and no label may be made of them."""
    X, y = make_rows(2)
    finite = np.clip(np.nan_to_num(X), -5.0, 5.0)
    model = pb.RadoBoostClassifier(n_rados=200, n_estimators=50).fit(finite, y)
    strange = np.stack([finite[0]] * 4)
    strange[[0, 1, 2], np.flatnonzero(model.coef_)[:1]] = np.nan, np.inf, -np.inf
    (raw,) = open_graph(model, outputs="raw").run(None, {"X": strange})
    assert np.isnan(raw).tolist() == [True, True, True, False]
    assert raw[3] == model.decision_function(strange[3:])[0]
    labels = open_graph(model, outputs="label")
    assert labels.run(None, {"X": strange[3:]})[0] == model.predict(strange[3:])
    for row in strange[:3]:
        with pytest.raises(Exception, match="out of data bounds"):
            labels.run(None, {"X": row[None]})


@pytest.mark.filterwarnings("ignore:the log loss of the training rows")
def test_numbers_that_are_others_in_single_precision():
    """onnxruntime drops a term or factor that it takes for 0 or 1."""
    X, y = make_rows(2)
    rare = np.arange(len(y)) % 5 == 0
    small = pb.ProperBoostClassifier(gain=1e-100, n_estimators=3, weak_learner="table").fit(X, rare)
    assert small.ensemble_.intercepts
    check(small, X)
    check(*fit(2, gain=1.0 + 2.0**-26, n_estimators=30))
    # No class has a probability above 0 against the rest, so all share the same one.
    check(
        *fit(
            3,
            loss="tangent",
            calibration=pb.Calibration(slope=128),
            multiclass="one_vs_rest",
            n_estimators=5,
        )
    )


def test_lines_of_leaves_that_rise_with_no_feature():
    table, y, new = make_frame()
    model = pb.ProperBoostClassifier(weak_learner=pb.Tree(linear_leaves=True), n_estimators=3)
    model.fit(table[["town"]], y)
    assert not describe(model).has_lines
    check(model, new[["town"]], feed(new[["town"]]))
