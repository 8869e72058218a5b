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
)


def test_models_that_share_trees_share_terms():
    joint, _ = fit(3, weak_learner="tree")
    apart, _ = fit(3, weak_learner="tree", multiclass="one_vs_rest")
    assert {term.models for term in describe(joint).terms} == {(0, 1, 2)}
    assert {term.models for term in describe(apart).terms} == {(0,), (1,), (2,)}
    assert len(describe(apart).terms_of(1)) == len(apart._ensemble.models[1])


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
        (lambda X, y: pb.ProperBoostClassifier(), NotFittedError, "not fitted"),
        (lambda X, y: LogisticRegression().fit(X, y), TypeError, "LogisticRegression"),
        (
            lambda X, y: pb.ARBoostClassifier(damping=0.5, n_estimators=3).fit(X, y),
            ValueError,
            "damping=0.5",
        ),
        (
            lambda X, y: pb.ProperBoostClassifier(n_estimators=3).fit(X, y, init_score=1.0),
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
    with pytest.raises(ValueError, match="'c' has strings and numbers"):
        describe(pb.ProperBoostClassifier(n_estimators=2).fit(mixed, y))
    large = pd.DataFrame({"c": pd.Categorical([2**53 + 1, 1] * 40)})
    with pytest.raises(ValueError, match="9007199254740993 of column 'c' is no double"):
        describe(pb.ProperBoostClassifier(n_estimators=2).fit(large, y))


def test_encoded_rows_are_places():
    table, y, new = make_frame()
    model = pb.ProperBoostClassifier(n_estimators=2).fit(table, y)
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
