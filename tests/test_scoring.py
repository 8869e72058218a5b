"""Scorers: their arguments, and the use of their results."""

import copy

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
from helpers.searches import KINDS, QUICK, as_kind, assert_same_scores, integers, quick
from properboost._core import rank_scores
from properboost.data.frames import take_rows


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
        space={"gain": [0.5, 8.0], "n_estimators": 6}, cv=2, scoring=score, effort=None
    )
    search.fit(*integers())
    assert search.gain_ == 8.0
    assert search.cv_results_["rank_test_score"].tolist() == [2, 1]
    with pytest.raises(ValueError, match="gave no finite score"):
        search.set_params(scoring=lambda *_: np.nan).fit(*integers())


def test_class_weights_are_no_part_of_the_score():
    X, y = integers()
    shared = {"rows_per_bin": None, "class_weight": {0: 5.0, 1: 1.0}}
    space = {"n_estimators": 5, "selection": "cyclic"}
    ours = pb.ProperBoostClassifierCV(
        space | {"gain": [0.5, 2.0]}, cv=3, **shared, effort=None
    ).fit(X, y)
    table = pb.Table(max_cells=10, min_saving=0.5)
    theirs = GridSearchCV(
        pb.ProperBoostClassifier(weak_learner=table, **shared, **space),
        {"gain": [0.5, 2.0]},
        cv=3,
        scoring="neg_log_loss",
    ).fit(X, y)
    assert_same_scores(ours.cv_results_, theirs.cv_results_)


# -- arguments of scorers -------------------------------------------------------------------------


def log_score(model, X, y):
    return -log_loss(y, model.predict_proba(X)[:, 1])


def in_place(model, X, y):
    """Write into every array within reach."""
    score = log_score(model, X, y)
    for values in (model.decision_function(X), model.predict_proba(X), model.predict(X), y):
        values[...] = values[::-1].copy()
    return score


def weighted_in_place(model, X, y, sample_weight):
    score = -log_loss(y, model.predict_proba(X)[:, 1], sample_weight=sample_weight)
    with pytest.raises(ValueError, match="read-only"):
        sample_weight[:] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        model.classes_[:] = 7
    return score


@pytest.mark.parametrize("weighs", [False, True])
def test_scorers_may_compute_in_what_they_get(weighs):
    X, y = integers()
    weight = np.where(np.arange(len(y)) % 3, 1.0, 2.0) if weighs else None
    score = weighted_in_place if weighs else in_place
    before = X.tobytes(), y.tobytes()

    def fit(scoring):
        model = pb.ProperBoostClassifier(
            early_stopping=pb.EarlyStopping(validation_fraction=0.1, scoring=scoring),
            n_estimators=9,
            weak_learner="table",
        )
        validation = {"X_val": X[:90], "y_val": y[:90]}
        validation |= {"sample_weight_val": weight[:90]} if weighs else {}
        return model.fit(X[90:], y[90:], **validation)

    def search(scoring):
        made = pb.ProperBoostClassifierCV(**QUICK | {"scoring": scoring}, effort=None)
        return made.fit(X, y, weight)

    assert fit(score).validation_scores_ == pytest.approx(
        fit("neg_log_loss").validation_scores_, rel=1e-6
    )
    np.testing.assert_allclose(
        search(score).validation_curves_, search("neg_log_loss").validation_curves_, rtol=1e-6
    )
    assert (X.tobytes(), y.tobytes()) == before


SAME_ROWS = {
    "as they are": lambda X: X,
    "copied": copy.copy,
    "as an array": np.asarray,
    "as objects": lambda X: np.asarray(X, dtype=object),
    "as lists": lambda X: np.asarray(X).tolist(),
    "single": lambda X: np.asarray(X).astype(np.float32),
}
OTHER_ROWS = {
    "sorted": lambda X: take_rows(X, np.argsort(np.asarray(X)[:, 1], kind="stable")),
    "reversed": lambda X: np.asarray(X)[::-1],
    "of zeros": lambda X: np.zeros_like(np.asarray(X)),
    "one changed": lambda X: np.where(np.arange(len(X))[:, None] == 5, 99.0, np.asarray(X)),
    "one missing": lambda X: np.where(np.arange(len(X))[:, None] == 5, np.nan, np.asarray(X)),
    "fewer columns": lambda X: np.asarray(X)[:, :1],
}


def make_numbers(kind):
    X, y = integers()
    X = X.astype(float)
    X[::11, 2] = np.nan
    frame = pytest.importorskip("pandas").DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    return as_kind(kind, frame) if kind != "numpy" else X, y


def score_with(kind, change, **settings):
    table, y = make_numbers(kind)

    def score(model, X, y):
        return log_score(model, change(X), y)

    score.__name__ = "changed"
    parameters = QUICK | {"scoring": score} | settings
    return pb.ProperBoostClassifierCV(**parameters, effort=None).fit(table, y).best_score_


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SAME_ROWS)
def test_rows_that_come_back_in_another_form_are_the_same(name, kind):
    assert score_with(kind, SAME_ROWS[name]) == score_with(kind, lambda X: X)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OTHER_ROWS)
def test_other_rows_are_refused(name, kind):
    with pytest.raises(ValueError, match="requested other rows than those it received"):
        score_with(kind, OTHER_ROWS[name])


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_a_scorer_changes_are_refused_or_cannot_be(kind):
    def change(X):
        if kind == "numpy":
            X[:, 0] = 0.0
        elif kind == "pandas":
            X.iloc[:] = X.iloc[::-1].to_numpy()
        elif kind == "polars":
            X.replace_column(0, X.get_column("c0") * 0)
        else:
            X = X.set_column(0, "c0", X.column(1))
        return X

    with pytest.raises(ValueError, match=r"other rows|read-only"):
        score_with(kind, change)


@pytest.mark.parametrize("order", [None, "reversed"])
def test_so_they_are_with_early_stopping(order):
    X, y = integers()

    def score(model, rows, labels):
        return log_score(model, rows[::-1] if order else rows, labels)

    model = pb.ProperBoostClassifier(
        early_stopping=pb.EarlyStopping(validation_fraction=0.1, scoring=score),
        n_estimators=5,
        weak_learner="table",
    )
    if order is None:
        assert model.fit(X, y).n_iter_ > 0
    else:
        with pytest.raises(ValueError, match="other rows"):
            model.fit(X, y)


def test_categories_and_missing_values_that_come_back_are_the_same(mixed):
    X, y, _ = mixed

    def score(model, rows, labels):
        again = rows.copy(), rows.astype(object), rows.to_numpy()
        scores = {accuracy_score(labels, model.predict(form)) for form in (rows, *again)}
        assert len(scores) == 1
        return scores.pop()

    assert (
        0.0
        < pb.ProperBoostClassifierCV(**QUICK | {"scoring": score}, effort=None)
        .fit(X, y)
        .best_score_
        <= 1.0
    )


# -- errors of users -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        ("nonsense", "scoring must be the name of a scorer.*got 'nonsense'"),
        (["accuracy"], r"scoring must be a scorer's name.*; got \['accuracy'\]"),
        (3, "scoring must be a scorer's name"),
        (accuracy_score, "scoring"),
        (lambda *_: "good", "scoring must return a number; .* gave 'good'"),
        (lambda *_: None, "scoring must return a number; .* gave None"),
        (lambda e, x, y: np.sum(e.predict(x[:3])), "requested 3 rows"),
    ],
)
def test_bad_scorers(scoring, message):
    with pytest.raises((ValueError, TypeError), match=message):
        pb.ProperBoostClassifierCV(**QUICK | {"scoring": scoring}, effort=None).fit(*integers(60))


def test_a_split_without_a_class_is_named():
    X, y = np.arange(40.0)[:, None] % 7, np.repeat([0, 1, 2, 3], [20, 2, 10, 8])
    search = pb.ProperBoostClassifierCV(
        effort=None, scoring="average_precision", space={"n_estimators": 3}
    )
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
    sample_weight = weight if weighs else None
    actual = rank_scores(raw.astype(float), positive, sample_weight)
    counts = weight > 0.0 if weighs else np.ones(len(raw), bool)
    if len(set(positive[counts])) < 2:
        assert np.isnan(actual).all()
        return
    weighting = {"sample_weight": sample_weight}
    expected = (
        roc_auc_score(positive, raw, **weighting),
        average_precision_score(positive, raw, **weighting),
    )
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "balanced_accuracy"])
@pytest.mark.parametrize("weighs", [False, True])
def test_the_search_scores_as_scikit_learn_does(scoring, weighs):
    X, y = integers()
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighs else None

    def score(estimator, rows, labels, sample_weight=None):
        weighting = {"sample_weight": sample_weight}
        if scoring == "balanced_accuracy":
            return balanced_accuracy_score(labels, estimator.predict(rows), **weighting)
        find = roc_auc_score if scoring == "roc_auc" else average_precision_score
        return find(labels, estimator.decision_function(rows), **weighting)

    settings = {**QUICK, "class_weight": {0: 3.0, 1: 1.0}, "effort": None}
    ours = pb.ProperBoostClassifierCV(**settings, scoring=scoring).fit(X, y, weight)
    theirs = pb.ProperBoostClassifierCV(**settings, scoring=score).fit(X, y, weight)
    known = ~np.isnan(theirs.validation_curves_)
    assert known.any()
    np.testing.assert_allclose(ours.validation_curves_[known], theirs.validation_curves_[known])


@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy", "neg_brier_score"])
@pytest.mark.filterwarnings("ignore:class_weight makes rows count")
def test_the_engine_scores_without_the_weights_of_classes(scoring):
    X, y = integers()
    weight = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    settings = {**QUICK, "class_weight": {0: 50.0, 1: 0.5}, "effort": None, "scoring": scoring}
    ours = pb.ProperBoostClassifierCV(**settings).fit(X, y, weight)
    settings["class_weight"] = {0: 5e7, 1: 0.5e-1}  # too far apart for the engine's means
    apart = pb.ProperBoostClassifierCV(**settings | quick(n_estimators=1)).fit(X, y, weight)
    assert np.isfinite(apart.validation_curves_[..., -1]).all()

    def score(estimator, rows, labels, sample_weight):
        weighting = {"sample_weight": sample_weight}
        if scoring == "accuracy":
            return accuracy_score(labels, estimator.predict(rows), **weighting)
        p = estimator.predict_proba(rows)
        find = log_loss if scoring == "neg_log_loss" else brier_score_loss
        return -find(labels, p if scoring == "neg_log_loss" else p[:, 1], **weighting)

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


def test_a_score_of_two_classes_is_refused_by_name_with_three(iris):
    search = pb.ProperBoostClassifierCV(scoring="roc_auc", effort=None, space={"gain": [1.0]}, cv=2)
    with pytest.raises(ValueError, match=r"scoring='roc_auc' cannot be used: multi_class must be"):
        search.fit(*iris)


@pytest.mark.parametrize(
    ("short", "name", "n_classes"),
    [("auc", "roc_auc", 2), ("logloss", "neg_log_loss", 3), ("auc", "roc_auc_ovr", 3)],
)
def test_short_names_are_those_of_scikit_learn(short, name, n_classes):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(90, 2)), np.arange(90) % n_classes
    scores = [
        pb.ProperBoostClassifierCV(effort=None, space={"gain": [1.0, 4.0]}, scoring=scoring, cv=3)
        .fit(X, y)
        .best_score_
        for scoring in (short, name)
    ]
    assert scores[0] == scores[1]


def test_unknown_names_are_answered_with_the_usual_ones():
    X = np.arange(20.0)[:, None]
    search = pb.ProperBoostClassifierCV(effort=None, scoring="accuracie")
    with pytest.raises(ValueError, match=r"scoring must be .*'auc'.*got 'accuracie', .*'accuracy'"):
        search.fit(X, X[:, 0] > 9)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_rps_is_the_ranked_probability_score(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3))
    y = np.digitize(X[:, 0] + rng.logistic(size=240), [-1.0, 0.5, 2.0][: n_classes - 1])
    weight = rng.integers(1, 4, 240).astype(float)
    model = pb.ProperBoostClassifier(
        n_estimators=4,
        early_stopping=pb.EarlyStopping(scoring="rps", n_iter_no_change=None),
        weak_learner="table",
    ).fit(X[:160], y[:160], X_val=X[160:], y_val=y[160:], sample_weight_val=weight[160:])
    expected = [
        -pb.metrics.ranked_probability_score(y[160:], p, sample_weight=weight[160:])
        for p in model.staged_predict_proba(X[160:])
    ]
    np.testing.assert_allclose(model.validation_scores_, expected)
    search = pb.ProperBoostClassifierCV(
        {"gain": [1.0, 2.0]}, cv=3, scoring="rps", effort=None, max_estimators=4
    ).fit(X, y)
    name = "neg_ranked_probability_score"
    again = search.set_params(scoring=name).fit(X, y)
    assert -0.25 < again.best_score_ < -0.01
