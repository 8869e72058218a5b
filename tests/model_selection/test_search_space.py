"""What a search tries: gains, losses, and whatever else was given."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

import properboost as pb
from helpers.searches import QUICK, integers, weighted_scores
from properboost.parameters.declare import declared
from properboost.parameters.shared import PairParameters

pd = pytest.importorskip("pandas")


@pytest.mark.parametrize(
    ("loss", "n", "least", "most", "max_cells"),
    [
        ("glog", 2000, 0.25, 16.0, None),
        ("savage", 2000, 0.5, 32.0, None),
        ("glog", 250, 0.25, 32.0, None),
        ("glog", 250, 0.25, 16.0, 16),
        ("savage", 2000, 0.5, 32.0, 16),
    ],
)
@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
def test_gains_by_default(loss, n, least, most, max_cells):
    X = np.arange(float(n)).reshape(-1, 1) % 3
    search = pb.ProperBoostClassifierCV(
        loss, cv=2, n_estimators=1, max_cells=max_cells, effort=None
    )
    search.fit(X, X[:, 0] > 0)
    gains = search.cv_results_["param_gain"].astype(float)
    n_gains = 16 if max_cells is None else 8  # where cuts are careful the gain matters less
    assert len(gains) == n_gains
    assert (gains[0], gains[-1]) == (least, most)
    steps = np.diff(np.log(gains))
    np.testing.assert_allclose(steps, np.log(most / least) / (n_gains - 1), rtol=0.03)
    weighted = clone(search).fit(X[: n // 2], X[: n // 2, 0] > 0, np.full(n // 2, 2.0))
    np.testing.assert_array_equal(
        weighted.cv_results_["param_gain"], search.cv_results_["param_gain"]
    )


def test_what_is_searched(binary):
    X, y = binary
    search = pb.ProperBoostClassifierCV(
        ["alpha", pb.losses.GBoost(), "gboost"],
        alphas=[0.1, 0.4, 0.1],
        gains=[2, 0.5],
        smoothings=[0.2],
        priors=[None, 0.01],
        cv=2,
        n_estimators=2,
        rows_per_bin=None,
        effort=None,
    ).fit(X, y)
    results = search.cv_results_
    assert results["param_loss"].tolist() == ["alpha"] * 8 + ["gboost"] * 4
    assert results["param_alpha"].tolist() == [0.1] * 4 + [0.4] * 4 + [None] * 4
    assert results["param_prior"].tolist() == [None, None, 0.01, 0.01] * 3
    assert results["param_gain"].tolist() == [2.0, 0.5] * 6
    assert set(results["param_smoothing"]) == {0.2}
    assert set(results) == {
        "params", "param_loss", "param_alpha", "param_gain", "param_smoothing", "param_prior",
        "param_selection", "param_max_cells", "param_min_saving", "n_estimators",
        "split0_test_score", "split1_test_score", "mean_test_score", "std_test_score",
        "rank_test_score",
    }  # fmt: skip
    for i, params in enumerate(results["params"]):
        model = pb.ProperBoostClassifier(**params, n_estimators=2, rows_per_bin=None)
        scores = weighted_scores(model, X, y, np.ones(240), StratifiedKFold(2))
        np.testing.assert_allclose(results["mean_test_score"][i], np.mean(scores), rtol=1e-4)
    best = results["params"][search.best_index_]
    assert search.best_params_ == {**best, "n_estimators": 2}
    assert search.loss_.gain == search.gain_ == best["gain"]
    assert search.alpha_ == search.loss_.parameters.get("alpha")
    assert (search.smoothing_, search.prior_) == (best["smoothing"], best["prior"])
    assert pd.DataFrame(results).shape == (12, 15)


def test_a_named_alpha_loss_has_its_default_alpha(binary):
    search = pb.ProperBoostClassifierCV("alpha", **QUICK, effort=None).fit(*binary)
    assert search.alpha_ == 0.25
    assert (
        pb.ProperBoostClassifierCV(pb.losses.Alpha(0.4), **QUICK, effort=None).fit(*binary).alpha_
        == 0.4
    )
    assert pb.ProperBoostClassifierCV(**QUICK, effort=None).fit(*binary).alpha_ is None


def test_alphas_and_gains_of_any_binding(binary):
    losses = [
        pb.losses.from_pdf(stats.logistic(), pb.losses.Savage(2.0), alpha=alpha)
        for alpha in (0.0, 1.0)
    ]
    grid = pb.ProperBoostClassifierCV(losses, gains=[1.0, 2.0], cv=3, n_estimators=4, effort=None)
    grid.fit(*binary)
    assert grid.cv_results_["param_alpha"].tolist() == [0.0, 0.0, 1.0, 1.0]
    for name in ("glog", "savage"):  # which these two are, of another gain
        unit = pb.losses.get_loss(name).gain_unit
        alone = pb.ProperBoostClassifierCV(
            name, gains=[unit, 2.0 * unit], cv=3, n_estimators=4, effort=None
        ).fit(*binary)
        own = grid.validation_curves_[2 * (name == "savage") :][:2]
        np.testing.assert_allclose(own, alone.validation_curves_, rtol=1e-4)
    assert grid.alpha_ == grid.loss_.alpha


def test_the_gain_of_the_link_apart(binary):
    gains = [0.5, 2.0, 4.0]
    losses = [
        pb.losses.from_pdf(stats.logistic(), pb.losses.Savage(2.0), alpha=gain, gain=gain)
        for gain in gains
    ]
    search = pb.ProperBoostClassifierCV(losses, gains=None, cv=3, n_estimators=4, effort=None)
    search.fit(*binary)
    results = search.cv_results_
    assert results["param_gain"].tolist() == results["param_alpha"].tolist() == gains
    v = np.linspace(-9.0, 9.0, 99)
    np.testing.assert_allclose(search.loss_.binding(v), pb.losses.Savage(2.0).binding(v), atol=1e-6)
    for i, params in enumerate(results["params"]):
        model = pb.ProperBoostClassifier(**params, n_estimators=4)
        scores = weighted_scores(model, *binary, np.ones(240), StratifiedKFold(3))
        np.testing.assert_allclose(results["mean_test_score"][i], np.mean(scores), rtol=1e-4)
    named = pb.ProperBoostClassifierCV(["glog", "savage"], **QUICK, effort=None)
    named.set_params(gains=None)
    assert set(named.fit(*binary).cv_results_["param_gain"]) == {1.0}


FREE = [
    {"response": "exact"},
    {"response": "newton", "step": "unit"},
    {"response": "newton", "step": "guarded"},
    {"step": "line_search"},
    {"response": "sign", "step": "line_search", "weak_learner": "stump"},
    {"response": "sign", "step": "leveraging", "weak_learner": "stump"},
    {"step": "totally_corrective", "weak_learner": "stump"},
]


BOUND = [{}, {"response": "sign"}, {"response": "newton", "l2": 1.0},
         {"response": "newton", "l2": 1.0, "step": "line_search"}, {"step": "unit"}]  # fmt: skip


@pytest.mark.parametrize("settings", FREE, ids=str)
def test_where_the_gain_cannot_matter_one_is_fitted(binary, settings):
    X, y = binary
    search = pb.ProperBoostClassifierCV(cv=2, n_estimators=5, **settings, effort=None)
    with pytest.warns(UserWarning, match=r"the gain cannot matter.*Only gain 1 is fitted"):
        search.fit(X, y)
    assert search.cv_results_["param_gain"].tolist() == [1.0]
    with pytest.warns(UserWarning, match="Only gain 3 is fitted"):
        clone(search).set_params(gains=[3.0, 0.5]).fit(X, y)
    clone(search).set_params(gains=[2.0]).fit(X, y)  # nothing to warn of
    # It is so.
    p = [
        pb.ProperBoostClassifier(gain=gain, n_estimators=5, **settings).fit(X, y).predict_proba(X)
        for gain in (0.5, 4.0)
    ]
    np.testing.assert_allclose(*p, rtol=1e-9)


@pytest.mark.parametrize("settings", BOUND, ids=str)
def test_elsewhere_gains_are_tried(binary, settings):
    X, y = binary
    search = pb.ProperBoostClassifierCV(**QUICK, selection="greedy", **settings, effort=None).fit(
        X, y
    )
    assert np.ptp(search.cv_results_["mean_test_score"]) > 1e-4


def test_a_gain_at_the_end_of_those_given():
    X = np.random.default_rng(0).normal(size=(100, 2))
    search = pb.ProperBoostClassifierCV(gains=[2.0, 1.0, 4.0], cv=2, n_estimators=3, effort=None)
    with pytest.warns(UserWarning, match="the chosen gain 1 is the smallest of gains: a smaller"):
        search.fit(X, X[:, 0] > 0)
    noise = np.random.default_rng(1).integers(0, 2, 100)
    with pytest.warns(UserWarning, match="the chosen gain 4 is the largest of gains: a larger"):
        search.fit(X, noise)
    search.set_params(gains=[2.0, 1.0]).fit(X, noise)  # with two given, one of these is wanted


def test_a_generator_is_no_list():
    """It would be empty in the next fit."""
    search = pb.ProperBoostClassifierCV(gains=(gain for gain in [0.5, 1.0]), effort=None)
    with pytest.raises(TypeError, match=r"gains must be 'auto' or a list .*\(generator\)"):
        search.fit(*integers(60))


def test_parameters_are_the_classifiers():
    """Whatever the classifier takes, the search takes, and passes on or chooses."""
    ours = pb.ProperBoostClassifierCV(effort=None).get_params()
    theirs = pb.ProperBoostClassifier().get_params()
    chosen = {
        "loss",
        "n_estimators",
        "selection",
        "max_cells",
        "min_saving",
        "weak_learner",
        "response",
        "n_draws",
        "outer_bags",
        *declared(PairParameters),
    }
    chosen.add("learning_rate")  # the gains that are searched shrink the steps of trees, too
    others = {"gain", "prior", "smoothing", "interaction_estimators", "temperature"}
    others |= {"intercept", "slope"}  # of what is calibrated
    others |= {
        "early_stopping",
        "validation_fraction",
        "warm_start",
        "warm_start_bins",
    }  # splits hold rows out
    assert set(theirs) - set(ours) == others
    for name in set(theirs) & set(ours) - chosen:
        assert ours[name] == theirs[name]


def test_tables_of_few_cells_are_searched_beside_those_of_every_bin():
    X, y = integers()
    lists = {
        "gains": [1.0, 4.0], "max_cells": [None, 3, "auto"], "n_estimators": 6, "cv": 3,
        "rows_per_bin": None,
    }  # fmt: skip
    search = pb.ProperBoostClassifierCV(**lists, effort=None).fit(X, y)
    results = search.cv_results_
    assert results["param_max_cells"].tolist() == [None, None, 3, 3, "auto", "auto"]
    means = results["mean_test_score"]
    assert means[2:4].tolist() == means[4:].tolist()  # 240 rows are few
    for k in (1, 3):
        settings = {**results["params"][k], "n_estimators": 6, "rows_per_bin": None}
        scores = weighted_scores(
            pb.ProperBoostClassifier(**settings), X, y, np.ones(len(y)), StratifiedKFold(3)
        )
        assert means[k] == pytest.approx(np.mean(scores), rel=1e-4)
    assert pb.ProperBoostClassifierCV(weak_learner="stump", **lists, effort=None).fit(
        X, y
    ).cv_results_["param_gain"].tolist() == [1.0, 4.0]


def test_lists_of_what_has_no_meaning_are_not_searched():
    X, y = integers()
    ignored = {
        "max_leaf_nodes": [4, 8],
        "subsample": [0.5, 1.0],
        "learning_rate": [0.1, 1.0],
        "smoothings": [0.0, 0.1],
        "priors": [None, 0.1],
    }
    settings = {"weak_learner": "stump", "response": "sign", "step": "leveraging"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = pb.ProperBoostClassifierCV(
            "glog", n_estimators=3, **settings, **ignored, effort=None
        ).fit(X, y)
        plain = pb.ProperBoostClassifierCV("glog", n_estimators=3, **settings, effort=None).fit(
            X, y
        )
    assert len(search.cv_results_["params"]) == 1
    np.testing.assert_array_equal(search.decision_function(X), plain.decision_function(X))
