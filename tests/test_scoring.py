"""Scorers: what they are given, and what becomes of what they return."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    log_loss,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import properboost as pb
from helpers.searches import KINDS, QUICK, as_kind, assert_same_scores, integers
from properboost._core import rank_scores


@pytest.mark.parametrize("kind", KINDS)
def test_a_callable_gets_the_rows_of_the_split(mixed, kind):
    X, y, _ = mixed
    table = as_kind(kind, X)
    seen = set()

    def score(estimator, rows, labels):
        assert type(rows) is type(table)
        assert estimator.classes_.tolist() == ["no", "yes"]
        raw = estimator.decision_function(rows)
        np.testing.assert_array_equal(estimator.predict(rows), np.where(raw > 0, "yes", "no"))
        assert estimator.predict_proba(rows).shape == (len(labels), 2)
        ages = rows[:, 0] if kind == "numpy" else rows["age"]
        seen.add(frozenset(zip(np.nan_to_num(np.asarray(ages, dtype=float)), labels, strict=True)))
        return accuracy_score(labels, estimator.predict(rows))

    settings = {**QUICK, "cv": StratifiedKFold(3)}
    ours = pb.ProperBoostClassifierCV(**settings, scoring=score, effort=None).fit(table, y)
    built_in = pb.ProperBoostClassifierCV(**settings, scoring="accuracy", effort=None).fit(table, y)
    np.testing.assert_allclose(ours.validation_curves_, built_in.validation_curves_)
    rows = list(zip(X["age"].fillna(0.0), y, strict=True))
    tests = [test for _, test in StratifiedKFold(3).split(X, y)]
    assert seen == {frozenset(rows[i] for i in test) for test in tests}


def test_a_callable_may_take_weights():
    X, y = integers()
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)

    def weighted(estimator, rows, labels, sample_weight):
        return accuracy_score(labels, estimator.predict(rows), sample_weight=sample_weight)

    def plain(estimator, rows, labels):
        return accuracy_score(labels, estimator.predict(rows))

    settings = {**QUICK, "scoring": "accuracy"}
    expected = (
        pb.ProperBoostClassifierCV(**settings, effort=None).fit(X, y, weight).validation_curves_
    )
    ours = pb.ProperBoostClassifierCV(**settings | {"scoring": weighted}, effort=None).fit(
        X, y, weight
    )
    np.testing.assert_allclose(ours.validation_curves_, expected)
    other = pb.ProperBoostClassifierCV(**settings | {"scoring": plain}, effort=None).fit(
        X, y, weight
    )
    assert not np.allclose(other.validation_curves_, expected)


def test_scores_of_nan_are_never_best():
    def score(estimator, rows, _):
        return np.nan if estimator.predict_proba(rows).max() > 0.8 else 0.5

    search = pb.ProperBoostClassifierCV(
        gains=[0.5, 8.0], cv=2, n_estimators=6, scoring=score, effort=None
    )
    search.fit(*integers())
    assert search.gain_ == 8.0
    assert search.cv_results_["rank_test_score"].tolist() == [2, 1]
    with pytest.raises(ValueError, match="gave no finite score"):
        search.set_params(scoring=lambda *_: np.nan).fit(*integers())


def test_class_weights_are_no_part_of_the_score():
    X, y = integers()
    shared = {"rows_per_bin": None, "n_estimators": 5, "class_weight": {0: 5.0, 1: 1.0}}
    shared["selection"] = "cyclic"
    ours = pb.ProperBoostClassifierCV(gains=[0.5, 2.0], cv=3, **shared, effort=None).fit(X, y)
    theirs = GridSearchCV(
        pb.ProperBoostClassifier(max_cells=10, min_saving=0.5, **shared),
        {"gain": [0.5, 2.0]},
        cv=3,
        scoring="neg_log_loss",
    ).fit(X, y)
    assert_same_scores(ours.cv_results_, theirs.cv_results_)


# -- what users get wrong -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        ("nonsense", "'scoring' parameter .* Got 'nonsense'"),
        (["accuracy"], r"scoring must be a scorer's name.*; got \['accuracy'\]"),
        (3, "scoring must be a scorer's name"),
        (accuracy_score, "scoring"),
        (lambda *_: "good", "scoring must return a number; .* gave 'good'"),
        (lambda *_: None, "scoring must return a number; .* gave None"),
        (lambda e, x, y: np.sum(e.predict(x[:3])), "asked for 3 rows"),
    ],
)
def test_bad_scorers(scoring, message):
    with pytest.raises((ValueError, TypeError), match=message):
        pb.ProperBoostClassifierCV(**QUICK | {"scoring": scoring}, effort=None).fit(*integers(60))


def test_a_split_without_a_class_is_named():
    X, y = np.arange(40.0)[:, None] % 7, np.repeat([0, 1, 2, 3], [20, 2, 10, 8])
    search = pb.ProperBoostClassifierCV(effort=None, scoring="average_precision", n_estimators=3)
    message = r"scoring='average_precision' needs rows of every class; .* none of \[1\]"
    with pytest.raises(ValueError, match=message), pytest.warns(UserWarning, match="least pop"):
        search.fit(X, y)


# -- rankings, and either class --------------------------------------------------------------------


@given(
    rows=st.lists(
        st.tuples(st.integers(-3, 3), st.booleans(), st.sampled_from([0.0, 0.5, 1.0, 3.0])),
        min_size=1,
        max_size=40,
    ),
    weighs=st.booleans(),
)
def test_rankings_are_scored_as_scikit_learn_does(rows, weighs):
    raw, positive, weight = (np.array(column) for column in zip(*rows, strict=True))
    given_weight = weight if weighs else None
    found = rank_scores(raw.astype(float), positive, given_weight)
    counts = weight > 0.0 if weighs else np.ones(len(raw), bool)
    if len(set(positive[counts])) < 2:
        assert np.isnan(found).all()
        return
    own = {"sample_weight": given_weight}
    expected = roc_auc_score(positive, raw, **own), average_precision_score(positive, raw, **own)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "balanced_accuracy"])
@pytest.mark.parametrize("weighs", [False, True])
def test_the_search_scores_as_scikit_learn_does(scoring, weighs):
    X, y = integers()
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighs else None

    def score(estimator, rows, labels, sample_weight=None):
        own = {"sample_weight": sample_weight}
        if scoring == "balanced_accuracy":
            return balanced_accuracy_score(labels, estimator.predict(rows), **own)
        find = roc_auc_score if scoring == "roc_auc" else average_precision_score
        return find(labels, estimator.decision_function(rows), **own)

    settings = {**QUICK, "class_weight": {0: 3.0, 1: 1.0}, "effort": None}
    ours = pb.ProperBoostClassifierCV(**settings, scoring=scoring).fit(X, y, weight)
    theirs = pb.ProperBoostClassifierCV(**settings, scoring=score).fit(X, y, weight)
    known = ~np.isnan(theirs.validation_curves_)
    assert known.any()
    np.testing.assert_allclose(ours.validation_curves_[known], theirs.validation_curves_[known])


@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy", "neg_brier_score"])
def test_the_engine_scores_without_the_weights_of_classes(scoring):
    X, y = integers()
    weight = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    settings = {**QUICK, "class_weight": {0: 50.0, 1: 0.5}, "effort": None, "scoring": scoring}
    ours = pb.ProperBoostClassifierCV(**settings).fit(X, y, weight)
    settings["class_weight"] = {0: 5e7, 1: 0.5e-1}  # too far apart for the engine's means
    apart = pb.ProperBoostClassifierCV(**settings | {"n_estimators": 1}).fit(X, y, weight)
    assert np.isfinite(apart.validation_curves_[..., -1]).all()

    def score(estimator, rows, labels, sample_weight):
        own = {"sample_weight": sample_weight}
        if scoring == "accuracy":
            return accuracy_score(labels, estimator.predict(rows), **own)
        p = estimator.predict_proba(rows)
        find = log_loss if scoring == "neg_log_loss" else brier_score_loss
        return -find(labels, p if scoring == "neg_log_loss" else p[:, 1], **own)

    settings = {**QUICK, "class_weight": {0: 50.0, 1: 0.5}, "effort": None, "scoring": score}
    theirs = pb.ProperBoostClassifierCV(**settings).fit(X, y, weight)
    known = ~np.isnan(theirs.validation_curves_)
    np.testing.assert_allclose(
        ours.validation_curves_[known], theirs.validation_curves_[known], rtol=1e-5
    )


def test_a_missing_class_has_no_ranking_and_a_balanced_accuracy_of_the_other():
    X, y = integers()
    test = np.flatnonzero(y == 1)[::3]
    cv = [(np.setdiff1d(np.arange(len(y)), test), test)]
    settings = {**QUICK, "cv": cv, "effort": None}
    one = pb.ProperBoostClassifierCV(**settings, scoring="balanced_accuracy").fit(X, y)
    other = pb.ProperBoostClassifierCV(**settings, scoring="accuracy").fit(X, y)
    np.testing.assert_allclose(one.validation_curves_, other.validation_curves_)
    with pytest.raises(ValueError, match="gave no finite score"):
        pb.ProperBoostClassifierCV(**settings, scoring="roc_auc").fit(X, y)
