"""The search: the results of GridSearchCV, for the price of a few fits."""

import copy
import pickle
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import properboost as pb
from helpers.checks import run_check
from helpers.searches import (
    PLAIN,
    QUICK,
    assert_same_scores,
    has_params,
    integers,
    quick,
    weighted_scores,
)
from properboost import _core
from properboost import progress as progress_module
from properboost.fitting import patience
from properboost.model_selection import boosted_together, cross_validation

pd = pytest.importorskip("pandas")

CONFIGURATIONS = [
    pb.ProperBoostClassifierCV({"gain": [0.5, 2.0]}, cv=2, max_estimators=8, effort=None),
    pb.ProperBoostClassifierCV(
        {"loss": ["gboost", pb.losses.Alpha(0.2)], "gain": 1.0, "n_estimators": 2},
        cv=2,
        scoring="f1_macro",
        effort=None,
    ),
    pb.ProperBoostClassifierCV(
        {"gain": 1.0, "selection": "cyclic"},
        cv=2,
        max_estimators=4,
        class_weight="balanced",
        effort=None,
    ),
    pb.ProperBoostClassifierCV(
        {"gain": 1.0, "weak_learner": "tree", "weak_learner__max_leaf_nodes": [3, 6]},
        cv=2,
        max_estimators=4,
        effort=None,
    ),
]


@parametrize_with_checks(CONFIGURATIONS)
@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
@pytest.mark.filterwarnings("ignore:class_weight makes rows count")
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        # Some checks have classes of one row.
        warnings.filterwarnings("ignore", "The least populated class in y has only 1 member")
        run_check(estimator, check)


# -- the same as scikit-learn's search ------------------------------------------------------------


@pytest.mark.parametrize("selection", _core.selection_names())
@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy", "neg_brier_score", "roc_auc"])
def test_it_finds_what_grid_search_finds(binary, scoring, selection):
    X, y = binary
    shared = {"n_estimators": 7, "selection": selection}
    grid = {
        "loss": ["glog", "gboost"],
        "weak_learner__smoothing": [0.0, 0.1],
        "gain": [0.5, 1.0, 2.0],
    }
    ours = pb.ProperBoostClassifierCV(
        grid | shared, scoring=scoring, rows_per_bin=None, effort=None
    )
    model = pb.ProperBoostClassifier(**PLAIN, **shared, rows_per_bin=None)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)  # those of cv="auto"
    theirs = GridSearchCV(model, grid, scoring=scoring, cv=folds)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the chosen gain")
        ours.fit(X, y)
    theirs.fit(X, y)
    assert_same_scores(ours.cv_results_, theirs.cv_results_)
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-4)
    if scoring == "neg_log_loss":  # no ties
        np.testing.assert_array_equal(
            np.sort(ours.cv_results_["rank_test_score"]),
            np.sort(theirs.cv_results_["rank_test_score"]),
        )
        assert has_params(ours.best_params_, theirs.best_params_)
        np.testing.assert_allclose(
            ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-5, atol=1e-6
        )


@pytest.mark.parametrize(
    "scoring", ["neg_log_loss", "accuracy", "neg_brier_score", "roc_auc_ovr", "f1_macro", None]
)
def test_it_finds_what_grid_search_finds_of_many_classes(ternary, scoring):
    X, y = ternary
    shared = {
        "loss": "ggauss", "n_estimators": 5, "selection": "cyclic",
        "weak_learner": pb.Table(max_cells=None),
    }  # fmt: skip
    space = shared | {"gain": [0.5, 2.0]}
    ours = pb.ProperBoostClassifierCV(
        space, cv=3, scoring=scoring, rows_per_bin=None, effort=None
    ).fit(X, y)
    model = pb.ProperBoostClassifier(**shared, calibration=PLAIN["calibration"], rows_per_bin=None)
    forms, gains = np.repeat(["canonical", "one_vs_rest"], 2).tolist(), [0.5, 2.0]
    assert ours.cv_results_["param_multiclass"].tolist() == forms
    grid = [{"multiclass": ["canonical"], "gain": gains}]
    temperatures = ours.cv_results_["param_calibration__temperature"][2:]
    for gain, t in zip(gains, temperatures, strict=True):
        alone = {"multiclass": ["one_vs_rest"], "gain": [gain]}
        grid.append(alone | {"calibration__temperature": [t]})
    theirs = GridSearchCV(model, grid, cv=3, scoring=scoring).fit(X, y)
    assert_same_scores(ours.cv_results_, theirs.cv_results_)
    if scoring == "neg_log_loss":  # no ties
        assert has_params(ours.best_params_, theirs.best_params_)
        actual, expected = ours.predict_proba(X), theirs.predict_proba(X)
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


def test_couplings_to_choose_from(ternary):
    X, y = ternary
    both = ["glog", "exponential"]
    settings = {"cv": 2, "scoring": "neg_log_loss", "effort": None}

    def search(**space):
        space = {"gain": [1.0, 4.0], "n_estimators": 4} | space
        return pb.ProperBoostClassifierCV(space, **settings).fit(X, y)

    forms = ["softmax", "canonical", "one_vs_rest"]
    usual = search()
    assert usual.cv_results_["param_multiclass"].tolist() == np.repeat(forms[::2], 2).tolist()
    every = search(multiclass=forms)
    several = search(loss=both).cv_results_
    pairs = zip(several["param_loss"], several["param_multiclass"], strict=True)
    assert list(pairs) == [(loss, form) for form in forms[::2] for loss in both for _ in range(2)
                           if loss == "glog" or form == "one_vs_rest"]  # fmt: skip
    for form in forms:
        one = search(multiclass=form)
        assert one.multiclass_ == one.best_estimator_.multiclass_ == form
        same_form = every.cv_results_["param_multiclass"] == form
        same_form &= every.cv_results_["param_loss"] == "glog"
        np.testing.assert_array_equal(
            every.cv_results_["mean_test_score"][same_form], one.cv_results_["mean_test_score"]
        )
    assert every.multiclass_ == every.best_params_["multiclass"]
    listed = search(multiclass=["one_vs_rest", "softmax"])
    assert set(listed.cv_results_["param_multiclass"]) == {"one_vs_rest", "softmax"}
    usual = search(multiclass="auto")
    assert usual.multiclass_ == "softmax"
    assert usual.best_params_["multiclass"] == "auto"
    with pytest.raises(
        ValueError, match="multiclass must not be 'softmax' with loss='exponential'"
    ):
        search(loss=both, multiclass="softmax")
    with pytest.raises(ValueError, match="multiclass must be one of"):
        search(multiclass=["joint"])


def test_two_classes_have_no_coupling(binary):
    X, y = binary
    space = quick(multiclass=["softmax", "one_vs_rest"])
    search = pb.ProperBoostClassifierCV(**space, effort=None).fit(X, y)
    assert search.multiclass_ is None
    assert "param_multiclass" not in search.cv_results_
    assert len(search.cv_results_["params"]) == 2  # which differ in their gains
    assert search.best_params_["multiclass"] == "softmax"


def test_a_class_that_a_fold_lacks_has_a_finite_score(ternary):
    X, y = ternary
    rare = np.where(np.arange(len(y)) == 7, 3, y)  # one row: no fold can train and test on it
    space = {"gain": 1.0, "n_estimators": 20, "multiclass": ["softmax", "canonical"]}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")
        search = pb.ProperBoostClassifierCV(space, cv=3, effort=None).fit(X, rare)
    scores = search.cv_results_["mean_test_score"]
    assert np.all(np.isfinite(scores))
    assert np.all(scores > np.log(np.finfo(float).eps) / len(y) * 2 - 1.0)


@pytest.mark.parametrize("few", [{"n_estimators": 8}, {}], ids=str)
def test_selection_is_searched_too(binary, few):
    X, y = binary
    space = {"gain": [0.5, 2.0], **few}
    settings = {"cv": 3, "effort": None}
    listed = space | {"selection": ["greedy", "cyclic"]}
    both = pb.ProperBoostClassifierCV(listed, **settings).fit(X, y)
    results = both.cv_results_
    assert results["param_selection"].tolist() == ["greedy", "greedy", "cyclic", "cyclic"]
    for k, selection in enumerate(["greedy", "cyclic"]):
        alone = space | {"selection": selection}
        one = pb.ProperBoostClassifierCV(alone, **settings).fit(X, y)
        for name in ("mean_test_score", "n_estimators"):
            np.testing.assert_array_equal(
                results[name][2 * k : 2 * k + 2], one.cv_results_[name], err_msg=name
            )
        if both.best_params_["selection"] == selection:
            np.testing.assert_array_equal(both.predict_proba(X), one.predict_proba(X))
    assert both.best_estimator_.selection == both.best_params_["selection"]


@pytest.mark.parametrize("problem", ["binary", "ternary"])
def test_weights_count_in_training_and_in_scores(problem, request):
    X, y = request.getfixturevalue(problem)
    weight = np.random.default_rng(0).integers(1, 5, len(y)) / 2
    shared = {"n_estimators": 5, "selection": "cyclic"}
    space = shared | {"gain": [0.5, 2.0]}
    ours = pb.ProperBoostClassifierCV(space, cv=3, rows_per_bin=None, effort=None)
    ours.fit(X, y, weight)
    for i, params in enumerate(ours.cv_results_["params"]):
        searched = {name: params[name] for name in {"gain", "multiclass"} & params.keys()}
        model = pb.ProperBoostClassifier(**PLAIN, **searched, **shared, rows_per_bin=None)
        model.set_params(calibration__temperature=params["calibration"].temperature)
        expected = weighted_scores(model, X, y, weight, StratifiedKFold(3))
        actual = [ours.cv_results_[f"split{k}_test_score"][i] for k in range(3)]
        np.testing.assert_allclose(actual, expected, rtol=1e-4)
    if problem == "binary":
        by_name = clone(ours).set_params(
            scoring=make_scorer(log_loss, greater_is_better=False, response_method="predict_proba")
        )
        np.testing.assert_allclose(
            by_name.fit(X, y, weight).best_score_, ours.best_score_, rtol=1e-5
        )


def test_tables_with_categories_and_missing_values(mixed):
    X, y, weight = mixed
    search = pb.ProperBoostClassifierCV(**QUICK, effort=None).fit(X, y, weight)
    assert search.feature_names_in_.tolist() == ["age", "town", "visits"]
    twin = pb.ProperBoostClassifier(**search.best_params_).fit(X, y, weight)
    np.testing.assert_allclose(search.predict_proba(X), twin.predict_proba(X), rtol=1e-5, atol=1e-6)
    for a, b in zip(search.ensemble_.bin_weights, twin.ensemble_.bin_weights, strict=True):
        np.testing.assert_array_equal(a, b)
    assert search.shape_function("town").categories == ("Bonn", "Kiel", "Ulm")
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for frame in (pl.from_pandas(X), pa.Table.from_pandas(X)):
        other = clone(search).fit(frame, y, weight)
        np.testing.assert_array_equal(other.validation_curves_, search.validation_curves_)


# -- curves ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("selection", _core.selection_names())
@pytest.mark.parametrize("loss", ["glog", "savage", "ggauss"])
def test_curves_are_the_scores_of_every_stage(binary, loss, selection):
    X, y = binary
    shared = {"loss": loss, "n_estimators": 9, "selection": selection}
    space = shared | {"gain": [0.5, 2.0]}
    cv = StratifiedKFold(3)
    curves = {
        scoring: pb.ProperBoostClassifierCV(
            space, cv=cv, scoring=scoring, rows_per_bin=None, effort=None
        )
        .fit(X, y)
        .validation_curves_
        for scoring in ("neg_log_loss", "accuracy", "neg_brier_score")
    }
    for curve in curves.values():
        assert curve.shape == (2, 3, 9)
    for i, gain in enumerate([0.5, 2.0]):
        for k, (train, test) in enumerate(cv.split(X, y)):
            model = pb.ProperBoostClassifier(
                **shared, gain=gain, weak_learner=PLAIN["weak_learner"], calibration=None,
                rows_per_bin=None,
            ).fit(X[train], y[train])  # fmt: skip
            for t, p in enumerate(model.staged_predict_proba(X[test])):
                expected = {
                    "neg_log_loss": -log_loss(y[test], p),
                    "accuracy": accuracy_score(y[test], p[:, 1] > 0.5),
                    "neg_brier_score": -brier_score_loss(y[test], p[:, 1]),
                }
                for scoring, value in expected.items():
                    actual = curves[scoring][i, k, t]
                    assert actual == pytest.approx(value, rel=1e-4, abs=1e-6), (scoring, gain, k, t)


def test_other_scores_are_looked_at_now_and_then(binary, ternary):
    looked_at = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 19, 20]
    assert list(cross_validation.make_schedule(20)) == looked_at
    for problem, scoring in ((binary, "roc_auc"), (ternary, "neg_log_loss")):
        search = pb.ProperBoostClassifierCV(
            {"gain": [0.5, 2.0], "n_estimators": 20}, cv=2, scoring=scoring, effort=None
        ).fit(*problem)
        known = ~np.isnan(search.validation_curves_)
        assert (np.flatnonzero(known.all(axis=(0, 1))) + 1).tolist() == looked_at
        assert known.any(axis=(0, 1)).sum() == len(looked_at)


def test_a_model_that_learns_no_more_stays_as_it_is():
    X = np.ones((40, 1))
    y = np.arange(40) % 2
    for scoring, value in (
        ("neg_log_loss", -np.log(2)),
        ("accuracy", 0.5),
        ("neg_brier_score", -0.25),
    ):
        search = pb.ProperBoostClassifierCV(
            {"gain": [0.5, 2.0], "n_estimators": 4}, cv=2, scoring=scoring, effort=None
        )
        np.testing.assert_allclose(search.fit(X, y).validation_curves_, value)
        np.testing.assert_array_equal(search.predict_proba(X), 0.5)
        search = clone(search).set_params(space={"gain": [0.5, 2.0]}).fit(X, y)
        assert search.n_estimators_ == 1


# -- choosing -------------------------------------------------------------------------------------


def noisy(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + 2 * rng.normal(size=n) > 0).astype(int)


def test_the_number_of_estimators_is_that_of_the_best_mean():
    X, y = noisy()
    space = {"gain": [0.5, 1.0, 8.0], "weak_learner__max_cells": None}
    search = pb.ProperBoostClassifierCV(space, cv=3, effort=None)
    with warnings.catch_warnings(action="ignore"):
        search.fit(X, y)
    means = np.nan_to_num(search.validation_curves_.mean(axis=1), nan=-np.inf)
    results = search.cv_results_
    np.testing.assert_array_equal(results["n_estimators"], means.argmax(axis=1) + 1)
    np.testing.assert_array_equal(results["mean_test_score"], means.max(axis=1))
    assert search.best_score_ == means.max()
    assert search.best_index_ == means.max(axis=1).argmax()
    assert search.n_estimators_ == search.n_iter_ == results["n_estimators"][search.best_index_]
    assert search.best_params_["n_estimators"] == search.n_estimators_
    # Larger gains take smaller steps, so the search waits longer for them.
    assert np.all(np.diff(results["n_estimators"]) > 0)
    # A cap that was not reached changes no result.
    capped = clone(search).set_params(max_estimators=search.validation_curves_.shape[2] + 50)
    with warnings.catch_warnings(action="ignore"):
        capped.fit(X, y)
    np.testing.assert_array_equal(capped.validation_curves_, search.validation_curves_)


def test_a_configuration_stops_where_it_improves_no_more():
    X, y = noisy()
    search = pb.ProperBoostClassifierCV(
        {"gain": [0.5, 8.0]}, cv=3, max_estimators=1000, effort=None
    ).fit(X, y)
    run = np.isfinite(search.validation_curves_).all(axis=1).sum(axis=1)
    best = search.cv_results_["n_estimators"]
    wait = np.maximum(patience.LEAST_WAIT, patience.WAIT_SHARE * best)
    assert np.all(run <= 1.3 * (best + wait))  # the horizon grows by a quarter each time
    assert run[0] < run[1] < 1000
    capped = clone(search).set_params(max_estimators=7).fit(X, y)
    assert capped.validation_curves_.shape == (2, 3, 7)


def test_labels_that_do_not_move_yet_do_not_end_the_search():
    """No row is predicted as the rare class for long, so accuracy is the larger class's share."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (1000, 2)).astype(float)
    y = (rng.random(1000) < np.where((X == 0).all(axis=1), 0.9, 0.1)).astype(int)
    search = pb.ProperBoostClassifierCV(
        {"gain": 16.0}, cv=2, scoring="accuracy", max_estimators=400, effort=None
    )
    mean = search.fit(X, y).validation_curves_[0].mean(axis=0)
    assert np.flatnonzero(mean > mean[0])[0] > patience.LEAST_WAIT
    assert search.score(X, y) > max(np.mean(y), 1 - np.mean(y))


def test_ties_go_to_the_least_log_loss(binary):
    X, y = binary
    search = pb.ProperBoostClassifierCV(
        {"gain": [0.5, 1.0, 4.0]}, cv=3, scoring="accuracy", max_estimators=60, effort=None
    )
    with warnings.catch_warnings(action="ignore"):
        search.fit(X, y)
    log_losses = pb.ProperBoostClassifierCV(
        {"gain": [0.5, 1.0, 4.0], "n_estimators": 60}, cv=3, effort=None
    )
    with warnings.catch_warnings(action="ignore"):
        curves = log_losses.fit(X, y).validation_curves_.mean(axis=1)
    means = search.validation_curves_.mean(axis=1)
    tied = np.argwhere(means == np.nanmax(means))
    best = max(tied.tolist(), key=lambda place: curves[tuple(place)])
    assert best == [search.best_index_, search.n_estimators_ - 1]


@pytest.mark.parametrize("few", [{}, {"n_estimators": 12}], ids=str)
def test_one_standard_error(few):
    X, y = noisy()
    space = {"loss": ["glog", "gboost"], "gain": [0.5, 1.0, 2.0, 4.0, 8.0], **few}
    with warnings.catch_warnings(action="ignore"):
        plain = pb.ProperBoostClassifierCV(space, cv=5, effort=None).fit(X, y)
        careful = clone(plain).set_params(one_standard_error=True).fit(X, y)
    curves, n = plain.validation_curves_, plain.n_estimators_
    np.testing.assert_array_equal(curves, careful.validation_curves_)
    scores = curves[plain.best_index_, :, n - 1]
    least = plain.best_score_ - scores.std(ddof=1) / np.sqrt(5)
    assert careful.best_score_ >= least
    assert careful.loss_.name == plain.loss_.name
    assert careful.gain_ >= plain.gain_
    means = np.nan_to_num(curves.mean(axis=1), nan=-np.inf)
    for i, params in enumerate(plain.cv_results_["params"]):
        if params["loss"] == plain.loss_.name and params["gain"] > careful.gain_:
            assert plain.cv_results_["mean_test_score"][i] < least
    if not few:
        assert np.all(means[careful.best_index_, : careful.n_estimators_ - 1] < least)
        assert careful.n_estimators_ < careful.cv_results_["n_estimators"][careful.best_index_]
    else:
        assert careful.n_estimators_ == 12


# -- the fitted model -----------------------------------------------------------------------------


@pytest.mark.parametrize("selection", _core.selection_names())
@pytest.mark.parametrize("problem", ["binary", "ternary"])
def test_the_refitted_model_is_a_fitted_classifier(problem, selection, request):
    X, y = request.getfixturevalue(problem)
    search = pb.ProperBoostClassifierCV(**quick(selection=selection), effort=None).fit(X, y)
    model = pb.ProperBoostClassifier(**search.best_params_).fit(X, y)
    for method in ("decision_function", "predict_proba", "predict"):
        actual, expected = (getattr(m, method)(X) for m in (search, model))
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)
    stages = zip(search.staged_predict_proba(X), model.staged_predict_proba(X), strict=True)
    for actual, expected in stages:
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)
    # Cycles end where no cut is left.
    ends_early = (problem, selection) == ("binary", "cyclic")
    assert search.n_iter_ == model.n_iter_ == (2 if ends_early else 6)
    np.testing.assert_array_equal(search.history_["feature"], model.history_["feature"])
    np.testing.assert_allclose(search.feature_importances_, model.feature_importances_, rtol=1e-3)
    np.testing.assert_allclose(search.margins(X, y), model.margins(X, y), rtol=1e-4, atol=1e-5)
    label = search.classes_[-1]
    assert search.shape_function(0, label).values == pytest.approx(
        model.shape_function(0, label).values, rel=1e-4, abs=1e-5
    )
    best = search.best_estimator_
    assert type(best) is pb.ProperBoostClassifier
    np.testing.assert_array_equal(best.predict_proba(X), search.predict_proba(X))
    assert best.get_params().items() >= search.best_params_.items()


def test_without_refit_there_are_results_only(binary):
    X, y = binary
    search = pb.ProperBoostClassifierCV(**QUICK, effort=None).fit(X, y)
    refitted = search.best_params_
    search.set_params(refit=False).fit(X, y)
    assert search.best_params_ == refitted
    assert search.classes_.tolist() == [0, 1]
    assert not hasattr(search, "best_estimator_")
    for use in (lambda: search.predict(X), lambda: search.history_):
        with pytest.raises(NotFittedError, match="fitted with refit=False"):
            use()
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        pb.ProperBoostClassifierCV(effort=None).predict(X)


def test_a_failed_search_leaves_the_previous_model(binary):
    X, y = binary
    search = pb.ProperBoostClassifierCV(**QUICK, effort=None).fit(X, y)
    before = search.predict_proba(X), search.validation_curves_
    with pytest.raises(ValueError, match="1 class"):
        search.fit(X[:, :2], np.zeros(240))
    with pytest.raises(ZeroDivisionError):
        search.set_params(scoring=lambda *_: 1 / 0).fit(X[:, :2], y)
    np.testing.assert_array_equal(search.predict_proba(X), before[0])
    assert search.validation_curves_ is before[1]


def test_copies_and_pickles(binary):
    X, y = binary
    search = pb.ProperBoostClassifierCV(**QUICK, effort=None).fit(X, y)
    for twin in (copy.deepcopy(search), pickle.loads(pickle.dumps(search))):
        np.testing.assert_array_equal(twin.predict_proba(X), search.predict_proba(X))
        np.testing.assert_array_equal(twin.validation_curves_, search.validation_curves_)


def test_it_works_in_pipelines(binary):
    X, y = binary
    model = make_pipeline(StandardScaler(), pb.ProperBoostClassifierCV(**QUICK, effort=None))
    assert model.fit(X, y).score(X, y) > 0.6


# -- invariance -----------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", ["binary", "ternary"])
def test_threads_change_nothing(problem, request):
    X, y = request.getfixturevalue(problem)
    X, y = np.tile(X, (20, 1)), np.tile(y, 20)
    a, b = (
        pb.ProperBoostClassifierCV(**QUICK, n_jobs=n_jobs, effort=None).fit(X, y)
        for n_jobs in (1, 3)
    )
    np.testing.assert_array_equal(a.validation_curves_, b.validation_curves_)
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


def test_passes_change_nothing(binary, monkeypatch):
    X, y = binary
    space = {"gain": np.geomspace(0.5, 8, 5).tolist(), "weak_learner__smoothing": [0, 0.1]}
    with warnings.catch_warnings(action="ignore"):
        a = pb.ProperBoostClassifierCV(space, cv=2, effort=None).fit(X, y)
        monkeypatch.setattr(boosted_together, "MARGIN_BYTES", 8 * 240 * 2 * 3)  # three
        b = pb.ProperBoostClassifierCV(space, cv=2, effort=None).fit(X, y)
    np.testing.assert_allclose(a.validation_curves_, b.validation_curves_, rtol=1e-5)
    assert a.best_params_ == b.best_params_


# -- progress -------------------------------------------------------------------------------------


@pytest.mark.parametrize("bar", [True, False])
def test_progress_of_the_whole_search(binary, bar, capsys, monkeypatch):
    if not bar:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    else:
        pytest.importorskip("tqdm")
    search = pb.ProperBoostClassifierCV(
        {"gain": [0.5, 2.0]}, cv=3, max_estimators=50, verbose=1, effort=None
    )
    search.fit(*binary)
    output = capsys.readouterr()
    assert output.out == ""
    assert "300/300" in output.err  # what stops early counts as done
    assert "best neg_log_loss -0." in output.err
    assert f"{search.n_estimators_}/{search.n_estimators_}" in output.err


def test_an_interrupt_stops_the_search(monkeypatch):
    calls = []

    def interrupt(done, _):
        calls.append(done)
        if done > 200:
            raise KeyboardInterrupt

    monkeypatch.setattr(progress_module, "_print_lines", lambda *_: interrupt)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    X, y = noisy(20_000)
    search = pb.ProperBoostClassifierCV(
        {"gain": 8.0, "n_estimators": 100_000}, cv=2, verbose=1, effort=None
    )
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert not hasattr(search, "classes_")
    assert calls == sorted(calls)


# -- errors of users -----------------------------------------------------------------------------

X0, Y0 = integers(60)


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ("gain", "space must be a mapping .*, or None; got 'gain'"),
        ({3: [1.0]}, "space must have names as keys; got 3"),
        ({"n_jobs": 2}, "space must not have 'n_jobs', which is a parameter of the search itself"),
        ({"effort": [1, 2]}, "'effort', which is a parameter of the search itself"),
        ({"early_stopping": True}, "space must not have 'early_stopping': cv="),
        ({"warm_start": True}, "space must not have 'warm_start': every search begins anew"),
        ({"callbacks": []}, "space must not have 'callbacks': "),
        ({"num_leaves": 31}, r"has 'num_leaves', .*: LightGBM's .*max_leaf_nodes"),
        ({"max_depth": 3}, r"has 'max_depth', .*: .*Tree\(max_depth"),
        ({"gains": [1.0]}, r"has 'gains', .*: .*\"gain\""),
        ({"weak_learner__depth": 3}, "has 'weak_learner__depth', which is no"),
        ({"gain__factor": 3}, "has 'gain__factor', which is no"),
        ({"loss": "logistic"}, "loss must be one of"),
        ({"loss": []}, "space must not have an empty list of 'loss'"),
        ({"loss": ["glog", 3]}, "loss must be one of .*, or a loss object"),
        ({"loss": pb.losses.GLog(2.0)}, r"GLog\(gain=2.0\) has its own gain.*\[2.0\]"),
        ({"loss": pb.losses.GLog(2.0), "gain": 3.0}, r"GLog\(gain=2.0\) has its own gain"),
        ({"gain": "grid"}, "gain must be a finite number above 0, or None; got 'grid'"),
        ({"gain": [1.0, 0.0]}, r"gain must be above 0, or None; got 0\.0"),
        ({"weak_learner": "histogram"}, "weak_learner='histogram' is 'table' now"),
        ({"weak_learner": ["tree", "forest"]}, "weak_learner must be one of"),
        ({"weak_learner__smoothing": [0.0, -0.3]}, r"Table.smoothing must be between 0 and 10000"),
        ({"weak_learner__smoothing": [0.0, 0.3], "response": "exact"},
         r"smoothing must be at most 0\.25 with response='exact'; got 0\.3"),
        ({"weak_learner": pb.Tree(max_depth=3), "weak_learner__max_depth": [4]},
         r"'weak_learner__max_depth' beside weak_learner=Tree\(max_depth=3\)"),
        ({"interactions": 10, "interactions__pairs": 5}, "'interactions__pairs' beside"),
        ({"calibration": None, "calibration__slope": 0.9}, "'calibration__slope' beside"),
        ({"outer_bags": 8, "outer_bags__n_bags": 16}, "'outer_bags__n_bags' beside"),
        ({"prior": {0.1}}, r"prior must be a finite number above 0, or None; got \{0.1\} \(set\)"),
        ({"prior": [None, 0.0]}, r"prior must be above 0, or None; got 0\.0"),
        ({"n_estimators": "all"}, "n_estimators must be an integer .*; got 'all'"),
        ({"n_estimators": None}, "space must have an integer as 'n_estimators'"),
        ({"n_estimators": [3]}, "space must have one value of 'n_estimators'"),
        ({"n_estimators": 0}, "n_estimators must be between 1 and"),
        ({"selection": ["greedy", 3]}, "selection must be one of .*; got 3"),
        ({"interactions": -1}, "interactions must be .*; got -1"),
        ({"l2": -1.0}, "l2 must be at least 0"),
        ({"learning_rate": 0}, "learning_rate must be above 0"),
    ],
    ids=str,
)  # fmt: skip
def test_bad_spaces(space, message):
    for effort in (None, 2):
        with pytest.raises((ValueError, TypeError), match=message):
            pb.ProperBoostClassifierCV(space, effort=effort).fit(X0, Y0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_estimators": 0}, "max_estimators must be between 1 and"),
        ({"max_estimators": "many"}, "max_estimators must be an integer"),
        ({"one_standard_error": "yes"}, "one_standard_error must be True or False; got 'yes'"),
        ({"refit": "accuracy"}, "refit must be True or False; got 'accuracy'"),
        ({"effort": 6}, "effort must be between 1 and 5, or None; got 6"),
    ],
    ids=str,
)
def test_bad_parameters(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        pb.ProperBoostClassifierCV(**{**QUICK, "effort": None, **settings}).fit(X0, Y0)


def test_an_unknown_keyword_is_answered_by_what_to_write():
    with pytest.raises(TypeError, match=r"has no parameter 'gains': .*space={\"gain\""):
        pb.ProperBoostClassifierCV(gains=[1.0, 2.0])
    with pytest.raises(ValueError, match=r"has no parameter 'weak_learner': .*space="):
        pb.ProperBoostClassifierCV().set_params(weak_learner="tree")


def test_iris_without_a_number_tuned():
    X, y = load_iris(return_X_y=True)
    space = {"loss": "gboost"}
    search = pb.ProperBoostClassifierCV(space, cv=3, max_estimators=60, effort=None).fit(X, y)

    def score(model):
        return cross_val_score(model, X, y, cv=3, scoring="neg_log_loss").mean()

    # The chosen model scores as reported; only the temperature is fitted to all splits at once.
    chosen = pb.ProperBoostClassifier(**search.best_params_)
    assert score(chosen) == pytest.approx(search.best_score_, rel=0.02)
    assert search.best_score_ > max(
        score(pb.ProperBoostClassifier("gboost", weak_learner="table")), score(GaussianNB())
    )
    assert cross_val_score(chosen, X, y, cv=3).mean() > 0.95
