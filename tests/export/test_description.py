import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import properboost as pb
from helpers.exports import fit, make_frame, make_rows
from properboost.export.description import (
    Linear,
    check_outputs,
    describe,
    encode_rows,
    read_classes,
)


def test_models_that_share_trees_share_terms():
    joint, _ = fit(3, weak_learner="tree")
    apart, _ = fit(3, weak_learner="tree", multiclass="one_vs_rest")
    assert {term.models for term in describe(joint).terms} == {(0, 1, 2)}
    assert {term.models for term in describe(apart).terms} == {(0,), (1,), (2,)}
    assert len(describe(apart).terms_of(1)) == len(apart.ensemble_.models[1])


def test_a_search_is_its_best_estimator():
    X, y = make_rows(2)
    search = pb.ProperBoostClassifierCV(effort=1, cv=2).fit(X, y)
    best = describe(search.best_estimator_)
    assert len(describe(search).terms) == len(best.terms) > 0


def test_rados_are_coefficients_and_tables():
    table, y, _ = make_frame()
    table = table[["c'; --", "town"]]
    described = describe(pb.RadoBoostClassifier(None, n_rados=400, n_estimators=200).fit(table, y))
    kinds = [isinstance(term, Linear) for term in described.terms]
    assert kinds == [True, False]


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda X, y: pb.ProperBoostClassifier(weak_learner="table"), NotFittedError, "not fitted"),
        (lambda X, y: LogisticRegression().fit(X, y), TypeError, "LogisticRegression"),
        (
            lambda X, y: pb.ARBoostClassifier(damping=0.5, n_estimators=3).fit(X, y),
            ValueError,
            "damping=0.5",
        ),
        (
            lambda X, y: pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(
                X, y, init_score=1.0
            ),
            ValueError,
            "init_score",
        ),
    ],
)
def test_what_cannot_be_exported_is_refused_by_name(make, error, words):
    X, y = make_rows(2)
    model = make(np.nan_to_num(X[6:]), y[6:])
    with pytest.raises(error, match=words):
        describe(model)


def test_categories_that_no_column_holds_are_refused():
    y = np.arange(80) % 2
    mixed = pd.DataFrame({"c": pd.Categorical(["a", 1] * 40)})
    with pytest.raises(ValueError, match="'c' has both strings and numbers"):
        describe(pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(mixed, y))
    large = pd.DataFrame({"c": pd.Categorical([2**53 + 1, 1] * 40)})
    with pytest.raises(ValueError, match="9007199254740993 of column 'c' is no double"):
        describe(pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(large, y))


def test_categories_may_be_integers_of_any_size():
    y = np.arange(80) % 2
    large = pd.DataFrame({"c": pd.Categorical([10**400, 1] * 40)})
    with pytest.raises(
        ValueError, match="of column 'c' is no double: convert the column to strings"
    ):
        describe(pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(large, y))


class Spoken(str):
    """String whose printed form is another text."""

    def __str__(self):
        return "spoken"


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        (np.array([False, True]), np.bool_),
        (np.array([False, True], dtype=object), np.bool_),
        (np.array([1, 2], dtype=object), np.int64),
        (np.array([1, 2**64 - 1], dtype=object), np.uint64),
        (np.array([-1, 1], dtype=np.int16), np.int64),
        (np.array([0, 2**63 - 1], dtype=np.uint64), np.int64),
        (np.array([0, 2**63], dtype=np.uint64), np.uint64),
        (np.array([0.0, 1.5], dtype=np.float16), np.float32),
        (np.array([0.0, 1.5], dtype=np.float32), np.float32),
        (np.array([0.0, 1.5]), np.float64),
        (np.array([0.0, 1.5], dtype=np.longdouble), np.float64),
        (np.array(["a", "b"]), np.object_),
        (np.array([Spoken("a"), Spoken("b")], dtype=object), np.object_),
    ],
)
def test_labels_are_of_a_type_that_others_have(labels, dtype):
    read = read_classes(labels)
    assert read.dtype == dtype
    assert [*read] == [*labels]
    if dtype is np.object_:
        assert {type(label) for label in read} == {str}
        assert [str(label) for label in read] == ["a", "b"]


def test_labels_that_others_do_not_have_are_refused():
    fine = np.nextafter(np.longdouble(1), np.longdouble(2))
    for labels in (np.array([fine, 2]), np.array([1, np.longdouble("1e4000")])):
        if labels.dtype.itemsize > 8 and fine != float(fine):
            with pytest.raises(ValueError, match="of y is no double, and no other system has it"):
                read_classes(labels)
    for values in ([-1, 2**64 - 1], [1, 2**64], ["a", 1], [0.5, 1.5]):
        with pytest.raises(ValueError, match="neither all strings nor all integers of 64 bits"):
            read_classes(np.array(values, dtype=object))
    with pytest.raises(TypeError, match=r"labels of type datetime64\[s\] cannot be exported"):
        read_classes(np.array([0, 1], dtype="M8[s]"))


def test_encoded_rows_are_places():
    table, y, new = make_frame()
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(table, y)
    rows = encode_rows(model, new)
    assert rows.shape == new.shape
    np.testing.assert_array_equal(rows[:, 1], new.iloc[:, 1])
    codes = table["town"].cat.codes.replace(-1, np.nan)
    np.testing.assert_array_equal(rows[20:, 4], codes[20:])
    assert set(rows[:20, 4]) == {float(len(table["town"].cat.categories))}


def test_outputs_are_named():
    assert check_outputs("raw", ("label", "raw")) == ("raw",)
    for wrong in ((), ("raw", "raw"), ("margin",)):
        with pytest.raises(ValueError, match=r"outputs must be some of \['label', 'raw'\]"):
            check_outputs(wrong, ("label", "raw"))
