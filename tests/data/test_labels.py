"""Test labels and weights: accepted values, and how they count."""

from decimal import Decimal

import numpy as np
import pytest
from sklearn.base import clone

import properboost as pb
from helpers.models import same_model
from helpers.small_problem import X, Y, fit

pd = pytest.importorskip("pandas")


def labels(*values):
    return np.resize(np.array(values, dtype=object), 60)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "y"),
        (np.where(Y, np.nan, 0.0), "Input y contains NaN"),
        (np.where(Y, np.inf, 0.0), "Input y contains infinity"),
        (X[:, 0], "Unknown label type: continuous"),
        (Y[:-1], "X and y must have as many rows; got 60 and 59"),
        (np.zeros(60), r"y must hold at least two classes .*; got 1 class: \[0\.0\]"),
        (np.ones((60, 2), dtype=int), "y should be a 1d array of labels, or must hold a prob"),
        (labels("a", None), "y must hold labels of one kind, none missing; got strings and None"),
        (labels("a", np.nan), "none missing; got strings and float"),
        (labels("a", pd.NA), "none missing; got strings and NAType"),
        (labels("a", 1), "labels of one kind, none missing; got strings and int"),
        (labels(0, None), "labels of one kind, none missing; got int and NoneType; leave out the"),
        (labels(0, 1.5), "labels of one kind, none missing; got int and float"),
        (labels(True, 0), "labels of one kind, none missing; got int and bool"),
        (labels(0.0, np.nan), "Input y contains NaN"),
        (labels(2**70, 1), "y must hold integers of 64 bits; got some from 1 to 1180591620"),
        (labels(-1, 2**63), "y must hold integers of 64 bits"),
        (labels(Decimal(1), Decimal(2)), r"got labels of type Decimal: make .* as \.astype"),
        (labels(b"a", b"b"), "got labels of type bytes"),
        (np.ma.masked_array(Y, mask=Y > 0), "y must hold no missing labels; got a masked array"),
        (np.where(Y, np.longdouble(2**53) + np.longdouble(0.5), 0), "labels that float64 has"),
        (np.where(Y, 0.5, 0.0), r"continuous\. .* such as 0\.5, and a classifier fits no"),
        (["a", 1] * 30, "labels of one kind, none missing; got strings and int"),
        (pd.Series([True, None] * 30, dtype="boolean"), "none missing|contains NaN"),
        (pd.Series([2**60, None] * 30, dtype="Int64"), "none missing|contains NaN"),
        (Y.astype("M8[D]"), "y must hold integers, booleans or strings; got labels of type date"),
        (Y.astype("S1"), "y must hold integers, booleans or strings; got labels of type .S1"),
        (Y + 1j, "Complex data not supported"),
        (3, "y"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_labels(y, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fit(y=y)


def test_column_vectors_of_labels_warn():
    with pytest.warns(UserWarning, match="column-vector y"):
        fit(y=Y.reshape(-1, 1))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.where(Y, np.nan, 1.0), "sample_weight contains NaN"),
        (np.where(Y, np.inf, 1.0), "sample_weight contains infinity"),
        (np.where(Y, -1.0, 1.0), "Negative values in data passed to `sample_weight`"),
        (np.ones(59), r"sample_weight.shape == \(59,\), expected \(60,\)"),
        (np.ones((60, 2)), "Sample weights must be 1D"),
        (np.zeros(60), "weights? must|sample_weight must"),
        (1.0 * Y, r"two classes among the rows of positive weight; got 1 class: \[1\]"),
        (["heavy"] * 60, "could not convert string to float"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        fit(weight=weight)


def test_labels_in_series_of_any_library():
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    expected = fit().decision_function(X)
    for y in (
        pd.Series(Y, dtype="Int64"),
        pd.Series(Y, dtype="boolean"),
        pl.Series(Y),
        pa.chunked_array([Y]),
        Y.tolist(),
    ):
        np.testing.assert_array_equal(fit(y=y).decision_function(X), expected)
    for y in (pd.Series(np.where(Y, "b", "a"), dtype="category"), pl.Series(np.where(Y, "b", "a"))):
        assert fit(y=y).classes_.tolist() == ["a", "b"]


def test_classes_of_many_kinds(binary):
    X, y = binary
    expected = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(X, y)
    for labels in (
        np.array([False, True]),
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype=object),
        np.array([-1, 1]),
        np.array([1.0, 2.0]),
        np.array([3, 200], dtype=np.uint8),
    ):
        model = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(X, labels[y])
        assert model.classes_.dtype == labels.dtype
        np.testing.assert_array_equal(model.predict(X), labels[expected.predict(X)])
        assert model.history_["class"].tolist() == [labels[1]] * 5


def test_weights_of_one_are_no_weights(mixed):
    X, y, _ = mixed
    model = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table")
    plain = clone(model).fit(X, y)
    assert same_model(plain, clone(model).fit(X, y, sample_weight=np.ones(len(y))))
    assert same_model(plain, clone(model).fit(X, y, sample_weight=1.0))


@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
def test_class_weights_multiply_sample_weights(mixed):
    X, y, weight = mixed
    factor = np.where(y == "yes", 3.0, 0.5)
    # The number of bins depends on the rows, not on the factors of the classes.
    model = pb.ProperBoostClassifier(n_estimators=10, rows_per_bin=None, weak_learner="table")
    by_class = clone(model).set_params(class_weight={"yes": 3.0, "no": 0.5})
    assert same_model(
        by_class.fit(X, y, sample_weight=weight),
        clone(model).fit(X, y, sample_weight=weight * factor),
    )
    assert same_model(by_class.fit(X, y), clone(model).fit(X, y, sample_weight=factor))


def test_balanced_classes_weigh_the_same(mixed):
    X, y, weight = mixed
    model = pb.ProperBoostClassifier(n_estimators=1, class_weight="balanced", weak_learner="table")
    total = weight.sum()
    factor = {label: total / (2 * weight[y == label].sum()) for label in ("yes", "no")}
    balanced = clone(model).fit(X, y, sample_weight=weight)
    by_hand = clone(model).set_params(class_weight=factor).fit(X, y, sample_weight=weight)
    assert same_model(balanced, by_hand)


@pytest.mark.parametrize(
    "names", [["1", "01"], ["-0", "0"], [2**60, 2**60 + 1], [False, True], [1.0, 2.0]]
)
def test_class_weights_are_found_by_label(mixed, names):
    """scikit-learn would look up "1" under 1."""
    X, y, _ = mixed
    names = sorted(names)
    codes = (y == "yes").astype(int)
    model = pb.ProperBoostClassifier(
        n_estimators=3, class_weight={names[0]: 2.0, names[1]: 0.5}, weak_learner="table"
    )
    expected = clone(model).set_params(class_weight={0: 2.0, 1: 0.5}).fit(X, codes)
    model.fit(X, np.array(names)[codes])
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))


def test_class_weights_of_other_labels_are_refused(mixed):
    X, y, _ = mixed
    model = pb.ProperBoostClassifier(
        n_estimators=3, class_weight={"yes": 2.0}, weak_learner="table"
    )
    usual = model.fit(X, y).decision_function(X)  # the other class has the factor 1
    model.set_params(class_weight={"yes": 2.0, "no": 1.0, "perhaps": 3.0})
    np.testing.assert_array_equal(model.fit(X, y).decision_function(X), usual)
    model.set_params(class_weight={"yes": 2.0, "No": 1.0})
    with pytest.raises(ValueError, match=r"labels among \['no', 'yes'\]; got 'No'\.  A label that"):
        model.fit(X, y)


def test_class_weights_by_labels_of_any_kind_are_saved(tmp_path):
    X, y = np.arange(60.0).reshape(-1, 1), (np.arange(60) > 20).astype(float)
    for kind in (np.longdouble, np.float32, np.uint8, np.bool_, int):
        model = pb.ProperBoostClassifier(
            n_estimators=2, class_weight={kind(0): 2.0, kind(1): 1.0}, weak_learner="table"
        )
        model.fit(X, y).save_model(tmp_path / "model.json")
        assert pb.load_model(tmp_path / "model.json").class_weight == {0: 2.0, 1: 1.0}
