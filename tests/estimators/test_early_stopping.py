"""Test early stopping: the score of held-out rows, and the number of estimators in the model."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import get_scorer, log_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import properboost as pb
from helpers.models import LEARNERS, same_model

SEVERAL = [{"multiclass": name} for name in ("softmax", "canonical", "one_vs_rest")]


def split(rows):
    X, y = rows
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    return train_test_split(X, y, weight, random_state=0, stratify=y)


def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400]


def fit(rows, **settings):
    """Fit a model that learns fast; return it, its validation rows, their labels and weights."""
    X, X_val, y, y_val, _, weight = split(rows)
    settings = {
        "n_estimators": 25,
        "gain": 1.0,
        "early_stopping": pb.EarlyStopping(validation_fraction=None, n_iter_no_change=3),
        **settings,
    }
    model = pb.ProperBoostClassifier(**settings)
    return model.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight), X_val, y_val, weight


def two_together():
    """Return rows whose class depends on two features together, and on neither alone."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    F = 2.0 * np.sign(X[:, 0] * X[:, 1]) + X[:, 2]
    return X, (rng.random(600) < 1.0 / (1.0 + np.exp(-F))).astype(int)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("settings", [{}, {"loss": "savage"}, {"early_stopping": False}], ids=str)
def test_scores_are_those_of_staged_predictions(name, settings, binary):
    has_pairs = "interactions" in LEARNERS[name]
    rows = two_together() if has_pairs else binary
    model, X_val, y_val, weight = fit(rows, **LEARNERS[name], **settings)
    assert not has_pairs or model.history_["feature"].max() >= X_val.shape[1]
    staged = [-log_loss(y_val, p, sample_weight=weight) for p in model.staged_predict_proba(X_val)]
    assert len(staged) == model.n_iter_
    np.testing.assert_allclose(model.validation_scores_[: len(staged)], staged, atol=1e-12)


@pytest.mark.parametrize("settings", [*SEVERAL, {"weak_learner": "tree"}], ids=str)
def test_scores_of_several_classes(settings):
    model, X_val, y_val, weight = fit(digits(), **settings)
    staged = [-log_loss(y_val, p, sample_weight=weight) for p in model.staged_predict_proba(X_val)]
    np.testing.assert_allclose(model.validation_scores_[: len(staged)], staged, atol=1e-12)
    assert model.n_iter_ == 1 + int(model.validation_scores_.argmax())


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"selection": "cyclic"},
        {"weak_learner": pb.Tree(max_features=0.5, n_draws=2)},
        {"outer_bags": 4},
        {"outer_bags": 4, "weak_learner": "tree"},
        {"class_weight": "balanced"},
        {"loss": "exponential", "step": "leveraging"},
        {"step": "totally_corrective", "n_estimators": 8},
    ],
    ids=str,
)
def test_the_model_is_the_fit_of_so_many_estimators(settings, binary):
    model, X_val, *_ = fit(binary, **settings)
    X, _, y, *_ = split(binary)
    alone = clone(model).set_params(n_estimators=model.n_iter_).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X_val), alone.predict_proba(X_val))
    assert model.n_iter_ == 1 + int(model.validation_scores_.argmax())


def test_pairs_follow_the_kept_rounds_of_features():
    model, X_val, *_ = fit(two_together(), interactions=2, n_estimators=60)
    features = model.history_["feature"]
    mains = int(np.count_nonzero(features < X_val.shape[1]))
    assert 0 < mains < 60
    X, _, y, *_ = split(two_together())
    pairs = int(np.count_nonzero(features >= X_val.shape[1]))
    assert pairs > 0
    alone = clone(model).set_params(n_estimators=mains, interactions__n_estimators=pairs)
    np.testing.assert_array_equal(alone.fit(X, y).predict_proba(X_val), model.predict_proba(X_val))
    assert model.validation_scores_[: model.n_iter_].argmax() + 1 == model.n_iter_


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "f1_macro", None, "custom"])
def test_any_scorer(scoring, binary):
    def custom(estimator, X, y):
        return -float(np.abs(estimator.predict_proba(X)[:, 1] - y).mean())

    X, X_val, y, y_val, *_ = split(binary)
    model = pb.ProperBoostClassifier(
        n_estimators=12,
        early_stopping=pb.EarlyStopping(scoring=custom if scoring == "custom" else scoring),
        weak_learner="table",
    ).fit(X, y, X_val=X_val, y_val=y_val)
    scorer = custom if scoring == "custom" else get_scorer(scoring or "accuracy")
    assert model.validation_scores_[model.n_iter_ - 1] == pytest.approx(scorer(model, X_val, y_val))


def test_a_scorer_that_fails_leaves_the_model_as_it_was(binary):
    X, X_val, y, y_val, *_ = split(binary)
    model = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(X, y)
    before = model.predict_proba(X_val)

    def fails(*_):
        raise RuntimeError("no score today")

    with pytest.raises(RuntimeError, match="no score today"):
        model.set_params(early_stopping__scoring=fails).fit(
            X[:200], y[:200], X_val=X_val, y_val=y_val
        )
    np.testing.assert_array_equal(model.predict_proba(X_val), before)


def test_rows_are_held_out_where_none_are_given(binary):
    X, y = binary
    model = pb.ProperBoostClassifier(
        early_stopping=True, n_estimators=200, random_state=3, weak_learner="table"
    ).fit(X, y)
    assert model.n_iter_ < len(model.validation_scores_) <= 200
    again = clone(model).fit(X.tolist(), y.tolist(), np.ones(len(y)))
    assert same_model(model, again)
    other = clone(model).set_params(random_state=4).fit(X, y)
    assert not same_model(model, other)


def test_groups_are_held_out_whole(binary):
    X, y = binary
    groups = np.arange(len(y)) % 7
    seen = []

    def note(_, X, __):
        seen.append(X[:, -1])
        return 0.0

    table = np.column_stack([X, groups])
    pb.ProperBoostClassifier(
        early_stopping=pb.EarlyStopping(scoring=note, validation_fraction=0.3),
        n_estimators=1,
        weak_learner="table",
    ).fit(table, y, groups=groups)
    held_out = np.unique(seen[0])
    assert len(seen[0]) == np.isin(groups, held_out).sum()
    assert 1 <= len(held_out) < 7


def test_without_early_stopping_scores_are_recorded_only(binary):
    model, *_ = fit(binary, early_stopping=False)
    assert model.n_iter_ == len(model.validation_scores_) == 25


def test_booleans_of_numpy_are_booleans(binary):
    X, y = binary
    model = pb.ProperBoostClassifier(n_estimators=8, random_state=0, weak_learner="table")
    plain = clone(model).set_params(early_stopping=True).fit(X, y)
    assert same_model(clone(model).set_params(early_stopping=np.bool_(True)).fit(X, y), plain)
    without, *_ = fit(binary, early_stopping=np.bool_(False))
    assert without.n_iter_ == len(without.validation_scores_)


def test_history_has_the_scores_of_every_round(binary):
    model, *_ = fit(binary, selection="cyclic")
    history = model.history_
    assert len({len(column) for column in history.values()}) == 1
    n_features = model.n_features_in_
    np.testing.assert_array_equal(
        history["validation_score"],
        np.repeat(model.validation_scores_[: model.n_iter_], n_features),
    )
    model.fit(*binary)
    assert "validation_score" not in model.history_
    assert not hasattr(model, "validation_scores_")


def test_scores_are_kept_in_files(binary, tmp_path):
    model, *_ = fit(binary)
    model.save_model(tmp_path / "model.json")
    loaded = pb.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.validation_scores_, model.validation_scores_)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"early_stopping": "yes"}, "early_stopping must be"),
        ({"early_stopping__n_iter_no_change": 0}, "n_iter_no_change must be"),
        ({"early_stopping__tol": -1.0}, "tol must be"),
        (
            {"early_stopping__validation_fraction": 1.0},
            r"EarlyStopping\.validation_fraction must be above 0 and below 1",
        ),
        ({"early_stopping__scoring": "nonsense"}, "nonsense"),
        ({"early_stopping__scoring": 3}, "scoring must be a scorer's name"),
        (
            {"early_stopping__validation_fraction": 0.001},
            "early_stopping cannot hold out a share of 0.001",
        ),
    ],
)
def test_what_is_refused(settings, message, binary):
    model = pb.ProperBoostClassifier(
        early_stopping=True, n_estimators=2, weak_learner="table"
    ).set_params(**settings)
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(*binary)


def test_threads_do_not_matter(binary):
    one, *_ = fit(binary, n_jobs=1)
    three, *_ = fit(binary, n_jobs=3)
    assert same_model(one, three)
    np.testing.assert_array_equal(one.validation_scores_, three.validation_scores_)


def test_validation_rows_are_routed(binary):
    X, X_val, y, y_val, *_ = split(binary)
    with sklearn.config_context(enable_metadata_routing=True):
        model = pb.ProperBoostClassifier(
            n_estimators=20, gain=0.25, weak_learner="table"
        ).set_fit_request(X_val=True, y_val=True)
        pipeline = make_pipeline(StandardScaler(), model, transform_input=["X_val"])
        pipeline.fit(X, y, X_val=X_val, y_val=y_val)
        assert pipeline[-1].n_iter_ <= len(pipeline[-1].validation_scores_)
        grid = GridSearchCV(model, {"gain": [0.5, 1.0]}, cv=2)
        grid.fit(X, y, X_val=X_val, y_val=y_val)
        assert hasattr(grid.best_estimator_, "validation_scores_")


def test_the_search_has_the_same_words(binary):
    X, y = binary
    search = pb.ProperBoostClassifierCV(space={"gain": [1.0]}, cv=3, effort=None)
    short = clone(search).set_params(n_iter_no_change=3, tol=0.01).fit(X, y)
    assert short.validation_curves_.shape[2] < search.fit(X, y).validation_curves_.shape[2]
