"""What few features score: the others silent, or the model fitted anew."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, log_loss

import properboost as pb
from properboost.report import feature_subsets as module
from properboost.report.effects import is_additive, list_terms
from properboost.report.feature_subsets import TrainingRows, score_subsets, score_unprotected


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
    model = pb.ProperBoostClassifier(n_estimators=20, interactions=2, outer_bags=4).fit(X, y)
    weight = np.random.default_rng(0).random(400) if weighted else None
    told = score(model, X, y, weight)
    assert [one.n_features for one in told] == [1, 2, 3, 5]
    order = [term.place for term in list_terms(model) if not term.is_pair]
    assert [name for one in told for name in one.added] == [X.columns[j] for j in order]
    assert all(one.fitted is None for one in told)
    own = model.contributions(X, scale="log_odds")
    for one in told:
        heard = {*order[: one.n_features]}
        there = [heard.issuperset(term) for term in own.terms]
        p = 1.0 / (1.0 + np.exp(-own.baseline - own.values[:, there].sum(axis=1)))
        expected = log_loss(y, p, sample_weight=weight)
        assert one.silenced.log_loss == pytest.approx(expected, rel=1e-9)
        assert one.silenced.error == pytest.approx(np.average((p > 0.5) != y, weights=weight))
        assert one.silenced.n_called == len({*(p > 0.5)})
    assert told[-1].silenced.log_loss == pytest.approx(
        log_loss(y, model.predict_proba(X), sample_weight=weight), rel=1e-9
    )


def test_of_several_classes(monkeypatch):
    X, y = make_rows(300, 0, 3)
    model = pb.ProperBoostClassifier(n_estimators=5).fit(X, y)
    last = score(model, X, y)[-1].silenced
    assert last.log_loss == pytest.approx(log_loss(y, model.predict_proba(X)), rel=1e-9)
    monkeypatch.setattr(module, "MOST_ROWS", 200)
    last = score(model, X, y)[-1].silenced
    assert last.log_loss == pytest.approx(log_loss(y[:200], model.predict_proba(X[:200])), rel=1e-9)


@pytest.mark.filterwarnings("ignore:the chosen gain")
@pytest.mark.parametrize(
    ("model", "n_classes"),
    [
        (pb.ProperBoostClassifier(n_estimators=10, interactions=3), 2),
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
    told = score(model, rows, labels, None, TrainingRows(X, y, weight))
    chosen = getattr(model, "best_params_", model.get_params())
    columns = []
    for one in told:
        columns += one.added
        kept = [name for name in X if name in columns or one is told[-1]]
        anew = pb.ProperBoostClassifier(**chosen).fit(X[kept], y, weight)
        p = anew.predict_proba(rows[kept])
        assert one.fitted.log_loss == log_loss(labels, p)
        assert one.fitted.error == pytest.approx(1.0 - accuracy_score(labels, p.argmax(axis=1)))
        assert (one.silenced is None) == (not is_additive(model))
    assert len(told) >= 3
    own = log_loss(labels, model.predict_proba(rows))
    assert told[-1].fitted.log_loss == pytest.approx(own, rel=0.01)


@pytest.mark.parametrize("kind", ["array", "polars", "arrow"])
def test_tables_of_other_libraries(kind):
    X, y = make_rows(200, 0)
    X = X.drop(columns="town")
    expected = score(pb.ProperBoostClassifier(n_estimators=5).fit(X, y), X, y, None,
                     TrainingRows(X, y))  # fmt: skip
    if kind == "array":
        other = X.to_numpy()
    elif kind == "polars":
        other = pytest.importorskip("polars").from_pandas(X)
    else:
        other = pytest.importorskip("pyarrow").Table.from_pandas(X)
    model = pb.ProperBoostClassifier(n_estimators=5).fit(other, y)
    told = score(model, other, y, None, TrainingRows(other, y))
    assert [one.fitted for one in told] == [one.fitted for one in expected]


@pytest.mark.parametrize("by", ["name", "position", "mask"])
def test_parameters_that_speak_of_features_speak_of_those_that_are_left(by):
    X, y = make_rows(300, 0)
    X["town"] = X["town"].cat.codes.astype(float)
    slow = partial(pb.Interactions, learning_rate=0.05)
    given = {
        "name": (["town"], {"a": 1, "c": -1}, [("a", "b"), ("b", "c")]),
        "position": ([4], [1, 0, -1, 0, 0], [(0, 1), (1, 2)]),
        "mask": ([False] * 4 + [True], {0: 1, 2: -1}, slow([("a", "b"), (1, "c")])),
    }[by]
    own = {"categorical_features": given[0], "monotonic_cst": given[1]}
    model = pb.ProperBoostClassifier(n_estimators=10, **own).fit(X, y)
    paired = pb.ProperBoostClassifier(
        n_estimators=10, categorical_features=given[0], interactions=given[2]
    ).fit(X, y)
    for fitted in (model, paired):
        columns, n_used = [], np.count_nonzero(fitted.feature_importances_)
        for one in score(fitted, X, y, None, TrainingRows(X, y)):
            columns += one.added
            kept = [name for name in X if name in columns or one.n_features == n_used]
            narrow = {"categorical_features": ["town"] if "town" in kept else []}
            if fitted is model:
                ways = {"a": 1, "c": -1}
                narrow["monotonic_cst"] = {name: ways[name] for name in kept if name in ways}
            else:
                pairs = [("a", "b"), ("b", "c")]
                left = [p for p in pairs if {*kept}.issuperset(p)]
                narrow["interactions"] = (slow(left) if left and by == "mask" else left) or 0
            anew = pb.ProperBoostClassifier(n_estimators=10, **narrow).fit(X[kept], y)
            assert one.fitted.log_loss == log_loss(y, anew.predict_proba(X[kept]))


def test_what_cannot_be_fitted_anew_is_named(tmp_path):
    X, y = make_rows(200, 0)
    model = pb.ProperBoostClassifier(n_estimators=3).fit(X, y)
    for train, complaint in (
        (TrainingRows(X.drop(columns="a"), y), "X_train: .*names"),
        (TrainingRows(X, y[:9]), "y_train"),
        (TrainingRows(X, y + 5), "y_train must hold labels among"),
        (TrainingRows(X, y * 0), "y_train must hold every class of the model; it lacks 1"),
    ):
        with pytest.raises(ValueError, match=complaint):
            score(model, X, y, None, train)
    with pytest.raises(ValueError, match="X_train: nothing can be fitted to fewer features"):
        score(pb.RadoBoostClassifier().fit(X, y), X, y, None, TrainingRows(X, y))
    scored = pb.ProperBoostClassifier(
        n_estimators=3, early_stopping=pb.EarlyStopping(scoring=lambda model, X, y: 0.0)
    )
    scored.fit(X, y).save_model(tmp_path / "model.json")
    loaded = pb.load_model(tmp_path / "model.json")
    assert score(loaded, X, y)
    with pytest.raises(
        ValueError, match="its file does not hold the parameter early_stopping__scoring"
    ):
        score(loaded, X, y, None, TrainingRows(X, y))
    assert score(loaded.set_params(early_stopping__scoring=None), X, y, None, TrainingRows(X, y))


@pytest.mark.parametrize("learner", ["table", "tree"])
def test_what_the_law_may_protect_is_left_out(learner):
    X, y = make_rows(300, 0)
    rows, labels = make_rows(200, 1)
    own = {"n_estimators": 5, "weak_learner": learner}
    names = {"a": "age", "town": "native town"}
    train = TrainingRows(X.rename(columns=names), y)
    model = pb.ProperBoostClassifier(**own).fit(train.X, y)
    told = score_unprotected(model, rows.rename(columns=names), labels, None, train)
    plain = pb.ProperBoostClassifier(**own).fit(X[["b", "c", "d"]], y)
    assert told.log_loss == log_loss(labels, plain.predict_proba(rows[["b", "c", "d"]]))
    none = pb.ProperBoostClassifier(**own).fit(X, y)
    assert score_unprotected(none, rows, labels, None, TrainingRows(X, y)) is None
    every = TrainingRows(X[["a"]].rename(columns=names), y)
    only = pb.ProperBoostClassifier(**own).fit(every.X, y)
    assert score_unprotected(only, every.X, y, None, every) is None
