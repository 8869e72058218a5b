"""Scores of feature subsets: the others silenced, or the model fitted again."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, log_loss

import properboost as pb
from properboost.report import feature_subsets as module
from properboost.report.effects import is_additive, list_terms
from properboost.report.feature_subsets import TrainingSet, score_subsets, score_unprotected


def make_rows(n, seed, n_classes=2):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)).round(1), columns=["a", "b", "c", "d"])
    X["town"] = pd.Categorical(rng.choice(["Ulm", "Bonn", "Kiel"], n), ["Ulm", "Bonn", "Kiel"])
    z = X["a"] + 2.0 * X["b"] * np.sign(X["a"]) + 0.5 * X["c"] + (X["town"] == "Ulm")
    return X, np.digitize(z + rng.logistic(size=n), [0.0, 1.5][: n_classes - 1])


def score(model, X, y, weight=None, train=None):
    codes = np.searchsorted(model.classes_, y)
    terms = list_terms(model)
    return score_subsets(model, terms, X, codes, weight, train, is_additive=is_additive(model))


@pytest.mark.parametrize("weighted", [False, True])
def test_others_are_silent(weighted):
    X, y = make_rows(400, 0)
    model = pb.ProperBoostClassifier(
        n_estimators=20, interactions=2, outer_bags=4, weak_learner="table"
    ).fit(X, y)
    weight = np.random.default_rng(0).random(400) if weighted else None
    subsets = score(model, X, y, weight)
    assert [subset.n_features for subset in subsets] == [1, 2, 3, 5]
    order = [term.place for term in list_terms(model) if not term.is_pair]
    assert [name for subset in subsets for name in subset.added] == [X.columns[j] for j in order]
    assert all(subset.fitted is None for subset in subsets)
    contributions = model.contributions(X, scale="log_odds")
    for subset in subsets:
        used = {*order[: subset.n_features]}
        there = [used.issuperset(term) for term in contributions.terms]
        p = 1.0 / (
            1.0 + np.exp(-contributions.baseline - contributions.values[:, there].sum(axis=1))
        )
        expected = log_loss(y, p, sample_weight=weight)
        assert subset.silenced.log_loss == pytest.approx(expected, rel=1e-9)
        assert subset.silenced.error == pytest.approx(np.average((p > 0.5) != y, weights=weight))
        assert subset.silenced.n_called == len({*(p > 0.5)})
    assert subsets[-1].silenced.log_loss == pytest.approx(
        log_loss(y, model.predict_proba(X), sample_weight=weight), rel=1e-9
    )


def test_of_several_classes(monkeypatch):
    X, y = make_rows(300, 0, 3)
    model = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(X, y)
    last = score(model, X, y)[-1].silenced
    assert last.log_loss == pytest.approx(log_loss(y, model.predict_proba(X)), rel=1e-9)
    monkeypatch.setattr(module, "MOST_ROWS", 200)
    last = score(model, X, y)[-1].silenced
    assert last.log_loss == pytest.approx(log_loss(y[:200], model.predict_proba(X[:200])), rel=1e-9)


@pytest.mark.filterwarnings("ignore:the chosen gain")
@pytest.mark.parametrize(
    ("model", "n_classes"),
    [
        (pb.ProperBoostClassifier(n_estimators=10, interactions=3, weak_learner="table"), 2),
        (pb.ProperBoostClassifier(n_estimators=5, weak_learner="tree"), 3),
        (
            pb.ProperBoostClassifierCV({"gain": [1.0, 2.0]}, effort=None, cv=2, max_estimators=5),
            2,
        ),
    ],
    ids=["tables", "trees", "search"],
)
@pytest.mark.parametrize("saved", [False, True])
def test_fitted_anew(tmp_path, model, n_classes, saved):
    X, y = make_rows(300, 0, n_classes)
    weight = np.random.default_rng(0).random(300)
    rows, labels = make_rows(200, 1, n_classes)
    model = model.fit(X, y, weight)
    if saved:
        model.save_model(tmp_path / "model.json")
        model = pb.load_model(tmp_path / "model.json")
    subsets = score(model, rows, labels, None, TrainingSet(X, y, weight))
    chosen = getattr(model, "best_params_", model.get_params())
    columns = []
    for subset in subsets:
        columns += subset.added
        names = [name for name in X if name in columns or subset is subsets[-1]]
        anew = pb.ProperBoostClassifier(**chosen).fit(X[names], y, weight)
        p = anew.predict_proba(rows[names])
        assert subset.fitted.log_loss == log_loss(labels, p)
        assert subset.fitted.error == pytest.approx(1.0 - accuracy_score(labels, p.argmax(axis=1)))
        assert (subset.silenced is None) == (not is_additive(model))
    assert len(subsets) >= 3
    expected = log_loss(labels, model.predict_proba(rows))
    assert subsets[-1].fitted.log_loss == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("kind", ["array", "polars", "arrow"])
def test_tables_of_other_libraries(kind):
    X, y = make_rows(200, 0)
    X = X.drop(columns="town")
    model = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(X, y)
    expected = score(model, X, y, None, TrainingSet(X, y))
    if kind == "array":
        other = X.to_numpy()
    elif kind == "polars":
        other = pytest.importorskip("polars").from_pandas(X)
    else:
        other = pytest.importorskip("pyarrow").Table.from_pandas(X)
    model = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(other, y)
    subsets = score(model, other, y, None, TrainingSet(other, y))
    assert [subset.fitted for subset in subsets] == [subset.fitted for subset in expected]


@pytest.mark.parametrize("by", ["name", "position", "mask"])
def test_parameters_of_features_follow_the_features_that_are_left(by):
    X, y = make_rows(300, 0)
    X["town"] = X["town"].cat.codes.astype(float)
    slow = partial(pb.Interactions, learning_rate=0.05)
    forms = {
        "name": (["town"], {"a": 1, "c": -1}, [("a", "b"), ("b", "c")]),
        "position": ([4], [1, 0, -1, 0, 0], [(0, 1), (1, 2)]),
        "mask": ([False] * 4 + [True], {0: 1, 2: -1}, slow([("a", "b"), (1, "c")])),
    }[by]
    settings = {"categorical_features": forms[0], "monotonic_cst": forms[1]}
    model = pb.ProperBoostClassifier(n_estimators=10, **settings).fit(X, y)
    paired = pb.ProperBoostClassifier(
        n_estimators=10, categorical_features=forms[0], interactions=forms[2], weak_learner="table"
    ).fit(X, y)
    for fitted in (model, paired):
        columns, n_used = [], np.count_nonzero(fitted.feature_importances_)
        for subset in score(fitted, X, y, None, TrainingSet(X, y)):
            columns += subset.added
            names = [name for name in X if name in columns or subset.n_features == n_used]
            narrow = {"categorical_features": ["town"] if "town" in names else []}
            if fitted is model:
                ways = {"a": 1, "c": -1}
                narrow["monotonic_cst"] = {name: ways[name] for name in names if name in ways}
            else:
                pairs = [("a", "b"), ("b", "c")]
                left = [p for p in pairs if {*names}.issuperset(p)]
                narrow["interactions"] = (slow(left) if left and by == "mask" else left) or 0
            anew = pb.ProperBoostClassifier(n_estimators=10, **narrow).fit(X[names], y)
            assert subset.fitted.log_loss == log_loss(y, anew.predict_proba(X[names]))


def test_what_cannot_be_fitted_anew_is_named(tmp_path):
    X, y = make_rows(200, 0)
    model = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(X, y)
    for train, complaint in (
        (TrainingSet(X.drop(columns="a"), y), "X_train: .*names"),
        (TrainingSet(X, y[:9]), "y_train"),
        (TrainingSet(X, y + 5), "y_train must hold labels among"),
        (TrainingSet(X, y * 0), "y_train must hold every class of the model; it lacks 1"),
    ):
        with pytest.raises(ValueError, match=complaint):
            score(model, X, y, None, train)
    with pytest.raises(ValueError, match="X_train must be None for this"):
        score(pb.RadoBoostClassifier().fit(X, y), X, y, None, TrainingSet(X, y))
    scored = pb.ProperBoostClassifier(
        n_estimators=3,
        early_stopping=pb.EarlyStopping(scoring=lambda model, X, y: 0.0),
        weak_learner="table",
    )
    scored.fit(X, y).save_model(tmp_path / "model.json")
    loaded = pb.load_model(tmp_path / "model.json")
    assert score(loaded, X, y)
    with pytest.raises(ValueError, match="its file lacks the parameter early_stopping__scoring"):
        score(loaded, X, y, None, TrainingSet(X, y))
    assert score(loaded.set_params(early_stopping__scoring=None), X, y, None, TrainingSet(X, y))


@pytest.mark.parametrize("learner", ["table", "tree"])
def test_what_the_law_may_protect_is_left_out(learner):
    X, y = make_rows(300, 0)
    rows, labels = make_rows(200, 1)
    settings = {"n_estimators": 5, "weak_learner": learner}
    names = {"a": "age", "town": "native town"}
    train = TrainingSet(X.rename(columns=names), y)
    model = pb.ProperBoostClassifier(**settings).fit(train.X, y)
    scores = score_unprotected(model, rows.rename(columns=names), labels, None, train)
    plain = pb.ProperBoostClassifier(**settings).fit(X[["b", "c", "d"]], y)
    assert scores.log_loss == log_loss(labels, plain.predict_proba(rows[["b", "c", "d"]]))
    none = pb.ProperBoostClassifier(**settings).fit(X, y)
    assert score_unprotected(none, rows, labels, None, TrainingSet(X, y)) is None
    every = TrainingSet(X[["a"]].rename(columns=names), y)
    only = pb.ProperBoostClassifier(**settings).fit(every.X, y)
    assert score_unprotected(only, every.X, y, None, every) is None
