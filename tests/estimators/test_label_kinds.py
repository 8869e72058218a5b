"""Test labels of every kind: the model of their codes, bit for bit, with their own classes."""

import pickle
import sys
from functools import cache

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_sample_weight

import properboost as pb
from helpers.label_kinds import KINDS
from properboost.data.labels import LabelReader, find_classes, read_rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
SCORE = X[:, 0] + 0.5 * RNG.normal(size=90)

CASES = [(name, n) for name, kind in KINDS.items() for n in {2: [2], 3: [2, 3]}[kind.most]]

each_kind = pytest.mark.parametrize("name", KINDS)
each_case = pytest.mark.parametrize(("name", "n_classes"), CASES)

MODELS = {
    "tables": lambda: pb.ProperBoostClassifier(n_estimators=3, n_jobs=1, weak_learner="table"),
    "a tree": pb.UDTClassifier,
    "votes": lambda: pb.ARBoostClassifier(n_estimators=3),
    "rados": lambda: pb.RadoBoostClassifier(n_rados=30, n_estimators=5),
    "ULS": lambda: pb.ULSClassifier(n_estimators=5),
    "a search": lambda: pb.ProperBoostClassifierCV(space={"gain": [1.0]}, max_estimators=3, cv=2),
}


def codes_of(n_classes):
    return np.digitize(SCORE, [0.0] if n_classes == 2 else [-0.5, 0.5])


@cache
def by_code(model, n_classes):
    return MODELS[model]().fit(X, codes_of(n_classes))


def raw_of(model, rows=X):
    return getattr(model, "decision_function", model.predict_proba)(rows)


def assert_is_model_of(kind, model, expected, folder=None):
    """Check that the model has these classes, and predicts as the model of their codes."""
    kind.check(model.classes_)
    np.testing.assert_array_equal(raw_of(model), raw_of(expected))
    predicted = model.predict(X)
    kind.check(np.unique(predicted))
    assert predicted.tolist() == model.classes_[expected.predict(X)].tolist()


@each_case
def test_fits(name, n_classes):
    kind, codes = KINDS[name], codes_of(n_classes)
    expected = by_code("tables", n_classes)
    model = MODELS["tables"]().fit(X, kind.make(codes))
    assert_is_model_of(kind, model, expected)
    assert model.score(X, kind.make(codes)) == expected.score(X, codes)
    np.testing.assert_array_equal(model.margins(X, kind.make(codes)), expected.margins(X, codes))
    assert model.history_["class"].tolist() == kind.values[expected.history_["class"]].tolist()


@each_kind
def test_other_estimators(name):
    kind, codes = KINDS[name], codes_of(2)
    for which in MODELS.keys() - {"tables"}:
        expected = by_code(which, 2)
        model = MODELS[which]().fit(X, kind.make(codes))
        assert_is_model_of(kind, model, expected)
        assert model.score(X, kind.make(codes)) == expected.score(X, codes)


@each_case
def test_files_and_pickles(name, n_classes, tmp_path):
    kind, expected = KINDS[name], by_code("tables", n_classes)
    model = MODELS["tables"]().fit(X, kind.make(codes_of(n_classes)))
    model.save_model(tmp_path / "model.json")
    loaded = pb.load_model(tmp_path / "model.json")
    assert loaded.classes_.dtype == model.classes_.dtype
    assert_is_model_of(kind, loaded, expected)
    assert_is_model_of(kind, pickle.loads(pickle.dumps(model)), expected)
    scorer = pickle.loads(pickle.dumps(loaded.compile()))
    assert scorer.predict(X[:1]).tolist() == model.predict(X[:1]).tolist()


ARGUMENTS = {
    "watched": lambda y, classes: ({}, {"X_val": X[60:], "y_val": y[60:]}),
    "weighted": lambda y, classes: ({}, {"sample_weight": (X[:, 1] > 0) + np.arange(90) % 3}),
    "held out": lambda y, classes: ({"early_stopping": True}, {}),
    "balanced": lambda y, classes: ({"class_weight": "balanced"}, {}),
    "weighted by class": lambda y, classes: ({"class_weight": {classes[0]: 2, classes[1]: 1}}, {}),
}


@cache
def arguments_by_code(how):
    settings, arguments = ARGUMENTS[how](codes_of(2), [0, 1])
    return MODELS["tables"]().set_params(**settings).fit(X, codes_of(2), **arguments)


@each_kind
def test_rows_that_are_watched_held_out_or_weighted(name):
    kind = KINDS[name]
    y = kind.make(codes_of(2))
    for how, give in ARGUMENTS.items():
        settings, arguments = give(y, kind.classes(2).tolist())
        model = MODELS["tables"]().set_params(**settings).fit(X, y, **arguments)
        assert_is_model_of(kind, model, arguments_by_code(how))


@each_kind
def test_batches(name):
    """Batches have a label column of each library; NumPy's types and objects are in pandas."""
    pd = pytest.importorskip("pandas")
    kind = KINDS[name]
    n_classes = kind.most
    codes = codes_of(n_classes)
    if kind.values.dtype == np.float16:
        pytest.skip("not every library has columns of float16")

    def batches(size):
        for begin in range(0, 90, size):
            y = kind.make(codes[begin : begin + size])
            frame = pd.DataFrame(X[begin : begin + size], columns=[*"abc"])
            if type(y).__module__.startswith("polars"):
                yield sys.modules["polars"].from_pandas(frame).with_columns(y.alias("y"))
            elif type(y).__module__.startswith("pyarrow"):
                arrow = sys.modules["pyarrow"]
                yield arrow.Table.from_pandas(frame).append_column("y", y)
            elif isinstance(y, pd.Series):
                yield frame.assign(y=y.array)
            elif isinstance(y, np.ndarray) and y.dtype.kind == "T":
                yield frame.assign(y=y.astype(object))
            else:
                yield frame.assign(y=pd.Series(y, dtype=getattr(y, "dtype", object)))

    table = pb.QuantizedTable.from_batches(lambda: batches(40), "y")
    model = MODELS["tables"]().fit(table)
    # Pandas has no such columns, and makes them columns of objects.
    if kind.values.dtype.kind != "U":
        kind.check(model.classes_)
    assert model.classes_.tolist() == kind.classes(n_classes).tolist()
    expected = MODELS["tables"]().fit(pd.DataFrame(X, columns=[*"abc"]), codes)
    frame = pd.DataFrame(X, columns=[*"abc"])
    np.testing.assert_array_equal(raw_of(model, frame), raw_of(expected, frame))
    scores = pb.batches.evaluate(model, batches(7), "y")
    ours = pb.batches.evaluate(expected, [frame.assign(y=codes)], "y")
    assert scores == pytest.approx(ours, rel=1e-12)


@each_case
def test_labels_are_found_among_those_of_other_kinds_that_are_equal(name, n_classes):
    kind, codes = KINDS[name], codes_of(n_classes)
    y = kind.make(codes)
    for other in KINDS.values():
        if other.values.tolist() == kind.values.tolist():
            np.testing.assert_array_equal(find_classes(y, 90, other.classes(n_classes)), codes)
    unknown = kind.values[:1]
    with pytest.raises(ValueError, match="y must hold labels among"):
        find_classes(y, 90, unknown)


def test_large_integers_are_not_compared_as_floats():
    classes = np.array([2**60, 2**60 + 1])
    for y in (np.array([2**60 + 1], dtype=np.uint64), np.array([2**60 + 1], dtype=object)):
        assert find_classes(y, 1, classes).tolist() == [1]
    for y in (np.array([2.0**60 + 256]), np.array([2**60 + 2], dtype=np.uint64), ["1"], [True]):
        with pytest.raises(ValueError, match="y must hold labels among"):
            find_classes(y, 1, classes)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        find_classes([0.0, np.nan], 2, np.array([0, 1]))


@pytest.mark.parametrize(
    ("batches", "expected"),
    [
        ([np.array([True]), np.array([2, 1])], np.array([1, 2])),
        ([np.array([1], dtype=np.int8), np.array([300])], np.array([1, 300])),
        ([np.array([1]), np.array([2**63], dtype=np.uint64)], np.array([1, 2**63], np.uint64)),
        ([np.array([2**62]), np.array([0], dtype=np.uint64)], np.array([0, 2**62])),
        ([np.array([1]), np.array([2.0])], np.array([1.0, 2.0])),
        ([np.array(["a"]), np.array(["bcd"])], np.array(["a", "bcd"])),
        ([np.array(["b"]), np.array(["a"], dtype=object)], np.array(["a", "b"], dtype=object)),
    ],
)
def test_types_of_batches_are_joined(batches, expected):
    reader = LabelReader()
    for batch in batches:
        reader.read(batch, len(batch))
    labels = reader.sort()[0]
    assert labels.dtype == expected.dtype
    assert labels.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "batches",
    [
        [np.array([-1]), np.array([2**63], dtype=np.uint64)],
        [np.array([2**60 + 1]), np.array([0.0])],
    ],
)
def test_batches_of_labels_that_no_type_has_are_refused(batches):
    reader = LabelReader()
    for batch in batches:
        reader.read(batch, len(batch))
    with pytest.raises(ValueError, match="y must hold labels of one type in all batches"):
        reader.sort()


def test_classes_that_fail_to_compare_are_noticed(monkeypatch):
    """Members of an Enum once failed to compare, so that all rows fell into one class."""
    from properboost.data import labels

    monkeypatch.setattr(labels, "_find_codes", lambda y, _: np.zeros(len(y), dtype=np.uint8))
    with pytest.raises(AssertionError, match="lack rows"):
        read_rows(np.array([0, 1]), 2)


def test_nearly_as_many_classes_as_rows_are_warned_of():
    for y in (np.arange(60.0) // 1.5, np.arange(60).astype(str)):
        with pytest.warns(UserWarning, match=r"different labels in 60 rows.*fits no regression"):
            read_rows(np.floor(y) if y.dtype.kind == "f" else y, 60)
    read_rows(np.arange(60), 60)


def test_weights_by_classes_are_scikit_learns():
    kind, codes = KINDS["objects: int"], codes_of(2)
    weight = compute_sample_weight("balanced", kind.make(codes).astype(np.int64))
    model = MODELS["tables"]().fit(X, kind.make(codes), weight)
    assert_is_model_of(kind, model, MODELS["tables"]().fit(X, codes, weight))
