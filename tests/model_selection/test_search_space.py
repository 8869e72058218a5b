"""The candidates of a search: gains, losses, and any other values of the space."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

import properboost as pb
from helpers.searches import QUICK, integers, quick, weighted_scores
from properboost.model_selection.families import check_search

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
    space = {"loss": loss, "n_estimators": 1, "weak_learner__max_cells": max_cells}
    search = pb.ProperBoostClassifierCV(space, cv=2, effort=None)
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
    space = {
        "loss": [*(pb.losses.Alpha(alpha) for alpha in (0.1, 0.4, 0.1)), "gboost"],
        "gain": [2, 0.5],
        "weak_learner__smoothing": [0.2],
        "prior": [None, 0.01],
        "n_estimators": 2,
    }
    search = pb.ProperBoostClassifierCV(space, cv=2, rows_per_bin=None, effort=None).fit(X, y)
    results = search.cv_results_
    assert results["param_loss"].tolist() == ["alpha"] * 8 + ["gboost"] * 4
    assert results["param_alpha"].tolist() == [0.1] * 4 + [0.4] * 4 + [None] * 4
    assert results["param_prior"].tolist() == [None, None, 0.01, 0.01] * 3
    assert results["param_gain"].tolist() == [2.0, 0.5] * 6
    assert set(results["param_weak_learner__smoothing"]) == {0.2}
    of_tables = {f"param_weak_learner__{name}" for name in ("max_cells", "min_saving", "smoothing")}
    assert set(results) == of_tables | {
        "params", "param_weak_learner", "param_loss", "param_alpha", "param_gain", "param_prior",
        "param_selection", "param_learning_rate", "n_estimators",
        "split0_test_score", "split1_test_score",
        "mean_test_score", "std_test_score", "rank_test_score",
    }  # fmt: skip
    for i, params in enumerate(results["params"]):
        model = pb.ProperBoostClassifier(**params, n_estimators=2, rows_per_bin=None)
        scores = weighted_scores(model, X, y, np.ones(240), StratifiedKFold(2))
        np.testing.assert_allclose(results["mean_test_score"][i], np.mean(scores), rtol=1e-4)
    best = results["params"][search.best_index_]
    assert search.best_params_ == {**best, "n_estimators": 2}
    assert search.loss_.gain == search.gain_ == best["gain"]
    assert set(results["param_weak_learner"]) == {"table"}
    assert pd.DataFrame(results).shape == (12, 17)


@pytest.mark.parametrize(("loss", "alpha"), [("alpha", 0.25), (pb.losses.Alpha(0.4), 0.4)])
def test_a_named_alpha_loss_has_its_default_alpha(binary, loss, alpha):
    search = pb.ProperBoostClassifierCV(**quick(loss=loss), effort=None).fit(*binary)
    assert set(search.cv_results_["param_alpha"]) == {alpha}
    plain = pb.ProperBoostClassifierCV(**QUICK, effort=None).fit(*binary)
    assert "param_alpha" not in plain.cv_results_


def test_alphas_and_gains_of_any_binding(binary):
    losses = [
        pb.losses.from_pdf(stats.logistic(), pb.losses.Savage(2.0), alpha=alpha)
        for alpha in (0.0, 1.0)
    ]
    few = {"n_estimators": 4}
    space = few | {"loss": losses, "gain": [1.0, 2.0]}
    grid = pb.ProperBoostClassifierCV(space, cv=3, effort=None).fit(*binary)
    assert grid.cv_results_["param_alpha"].tolist() == [0.0, 0.0, 1.0, 1.0]
    for name in ("glog", "savage"):  # which these two are, of another gain
        unit = pb.losses.get_loss(name).gain_unit
        space = few | {"loss": name, "gain": [unit, 2.0 * unit]}
        alone = pb.ProperBoostClassifierCV(space, cv=3, effort=None).fit(*binary)
        curves = grid.validation_curves_[2 * (name == "savage") :][:2]
        np.testing.assert_allclose(curves, alone.validation_curves_, rtol=1e-4)
    assert grid.best_params_["loss"].alpha == grid.loss_.alpha


def test_the_gain_of_the_link_apart(binary):
    gains = [0.5, 2.0, 4.0]
    losses = [
        pb.losses.from_pdf(stats.logistic(), pb.losses.Savage(2.0), alpha=gain, gain=gain)
        for gain in gains
    ]
    space = {"loss": losses, "gain": None, "n_estimators": 4}
    search = pb.ProperBoostClassifierCV(space, cv=3, effort=None).fit(*binary)
    results = search.cv_results_
    assert results["param_gain"].tolist() == results["param_alpha"].tolist() == gains
    v = np.linspace(-9.0, 9.0, 99)
    np.testing.assert_allclose(search.loss_.binding(v), pb.losses.Savage(2.0).binding(v), atol=1e-6)
    for i, params in enumerate(results["params"]):
        model = pb.ProperBoostClassifier(**params, n_estimators=4)
        scores = weighted_scores(model, *binary, np.ones(240), StratifiedKFold(3))
        np.testing.assert_allclose(results["mean_test_score"][i], np.mean(scores), rtol=1e-4)
    assert {params["gain"] for params in results["params"]} == {None}


@pytest.mark.parametrize("learner", ["table", "stump", "tree", "rule"])
def test_without_a_gain_losses_by_name_have_that_of_a_fit(binary, learner):
    losses = ["glog", "savage", "tangent"]
    space = {"loss": losses, "gain": [None, 2.0], "weak_learner": learner, "n_estimators": 4}
    search = pb.ProperBoostClassifierCV(space, cv=3, effort=None).fit(*binary)
    gains = search.cv_results_["param_gain"].tolist()
    for k, params in enumerate(search.cv_results_["params"]):
        assert params["gain"] == (None, 2.0)[k % 2]
        fitted = pb.ProperBoostClassifier(**params, n_estimators=1).fit(*binary)
        assert fitted.loss_.gain == gains[k]
    again = pb.ProperBoostClassifier(**search.best_params_).fit(*binary)
    np.testing.assert_array_equal(again.predict_proba(binary[0]), search.predict_proba(binary[0]))


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
    space = {"n_estimators": 5, **settings}
    search = pb.ProperBoostClassifierCV(space, cv=2, effort=None)
    with pytest.warns(UserWarning, match=r"the gain cannot matter.*Only gain 1 is fitted"):
        search.fit(X, y)
    assert search.cv_results_["param_gain"].tolist() == [1.0]
    with pytest.warns(UserWarning, match="Only gain 3 is fitted"):
        clone(search).set_params(space=space | {"gain": [3.0, 0.5]}).fit(X, y)
    clone(search).set_params(space=space | {"gain": 2.0}).fit(X, y)  # nothing to warn of
    # The gain indeed does not matter.
    p = [
        pb.ProperBoostClassifier(gain=gain, n_estimators=5, **settings).fit(X, y).predict_proba(X)
        for gain in (0.5, 4.0)
    ]
    np.testing.assert_allclose(*p, rtol=1e-9)


@pytest.mark.parametrize("settings", BOUND, ids=str)
def test_elsewhere_gains_are_tried(binary, settings):
    X, y = binary
    settings = quick(selection="greedy", **settings)
    search = pb.ProperBoostClassifierCV(**settings, effort=None).fit(X, y)
    assert np.ptp(search.cv_results_["mean_test_score"]) > 1e-4


def test_a_gain_at_the_end_of_those_given():
    X = np.random.default_rng(0).normal(size=(100, 2))
    space = {"gain": [2.0, 1.0, 4.0], "n_estimators": 3}
    search = pb.ProperBoostClassifierCV(space, cv=2, effort=None)
    with pytest.warns(UserWarning, match="gain 1 is the smallest of the space: a smaller"):
        search.fit(X, X[:, 0] > 0)
    noise = np.random.default_rng(1).integers(0, 2, 100)
    with pytest.warns(UserWarning, match="gain 4 is the largest of the space: a larger"):
        search.fit(X, noise)
    search.set_params(space=space | {"gain": [2.0, 1.0]})
    search.fit(X, noise)  # of two, one is wanted


@pytest.mark.parametrize(
    "gains",
    [(0.5, 1.0), np.array([0.5, 1.0]), iter([0.5, 1.0])],
    ids=["tuple", "array", "iterator"],
)
def test_only_a_list_is_searched(gains):
    search = pb.ProperBoostClassifierCV({"gain": gains}, effort=None)
    with pytest.raises(TypeError, match=r"gain must be a finite number above 0, or None; got"):
        search.fit(*integers(60))


def test_lists_that_are_values_stand_in_lists():
    X, y = integers()
    directions = [[1, 0, 0, 0], [0, 0, 0, 0], (0, -1, 0, 0), None]
    space = {"monotonic_cst": directions, "gain": 1.0, "n_estimators": 3}
    search = pb.ProperBoostClassifierCV(space, cv=2, effort=None).fit(X, y)
    assert search.cv_results_["param_monotonic_cst"].tolist() == directions
    with pytest.raises(TypeError, match=r"^space must have \[\[1, 0, 0, 0\]\] as 'monotonic_cst'"):
        search.set_params(space={"monotonic_cst": [1, 0, 0, 0]}).fit(X, y)
    with pytest.raises(TypeError, match=r"^space must have \[\[\(0, 1\)\]\] as 'interactions'"):
        search.set_params(space={"interactions": [(0, 1)]}).fit(X, y)


def test_every_parameter_of_the_classifier_is_the_searchs_or_may_be_in_its_space():
    ours = pb.ProperBoostClassifierCV().get_params()
    assert len(ours) <= 24
    classifier = pb.ProperBoostClassifier(weak_learner="table")
    for name, value in classifier.get_params().items():
        if name in ours:
            assert ours[name] == value
        elif name in ("early_stopping", "warm_start"):
            with pytest.raises(ValueError, match=f"space must not have '{name}': "):
                pb.ProperBoostClassifierCV({name: value}).fit(*integers(60))
        elif name != "n_estimators":  # of which the default is a rule of the classifier
            check_search(pb.ProperBoostClassifierCV({name: value}, effort=None))


def test_tables_of_few_cells_are_searched_beside_those_of_every_bin():
    X, y = integers()
    settings = {"cv": 3, "rows_per_bin": None, "effort": None}
    space = {"gain": [1.0, 4.0], "weak_learner__max_cells": [None, 3, "auto"], "n_estimators": 6}
    results = pb.ProperBoostClassifierCV(space, **settings).fit(X, y).cv_results_
    cells = results["param_weak_learner__max_cells"].tolist()
    assert cells == [None, None, 3, 3, "auto", "auto"]
    means = results["mean_test_score"]
    assert means[2:4].tolist() == means[4:].tolist()  # 240 rows are few
    for k in (1, 3):
        params = {**results["params"][k], "n_estimators": 6, "rows_per_bin": None}
        scores = weighted_scores(
            pb.ProperBoostClassifier(**params), X, y, np.ones(len(y)), StratifiedKFold(3)
        )
        assert means[k] == pytest.approx(np.mean(scores), rel=1e-4)


def test_bins_of_several_learners_are_in_the_model():
    """All candidates share bins, which are fewer where a table has one cell for every bin."""
    X, y = np.random.default_rng(0).normal(size=(600, 2)), np.arange(600) % 2
    space = {"weak_learner__max_cells": [None, 3], "gain": 1.0, "n_estimators": 3}
    search = pb.ProperBoostClassifierCV(space, cv=2, effort=None).fit(X, y)
    for params in search.cv_results_["params"]:
        of_all = pb.ProperBoostClassifier(**params, n_estimators=1).fit(X, y)
        assert len(of_all.shape_function(0).values) == len(search.shape_function(0).values)


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({"weak_learner__max_depth": [3]}, "max_depth is no field of a Table, the weak_learner if"),
        ({"weak_learner": ["tree", "table"], "weak_learner__max_depth": [3, 6]}, "of a Table"),
        ({"weak_learner": "tree", "selection": ["cyclic", "greedy"]}, "must not be 'cyclic'"),
        ({"weak_learner": "stump", "response": "sign", "prior": [0.1]}, "prior must be None"),
        ({"step": "leveraging", "weak_learner": "stump", "learning_rate": [0.1]},
         "learning_rate must be None"),
        ({"loss": ["glog", "savage"], "step": "leveraging"}, "loss='savage'"),
        ({"l2": [0.0, 1.0]}, "l2 must be 0.0 with response='real'"),
        ({"interactions": [0, 1], "weak_learner": "tree"}, "interactions must be 0 with"),
        ({"interactions": 1, "interactions__smoothing": 0.3, "response": "exact"}, "at most 0.25"),
        ({"weak_learner": "tree", "weak_learner__max_features": 1.0, "weak_learner__n_draws": 2},
         "n_draws must be 1"),
    ],
    ids=str,
)  # fmt: skip
def test_a_value_that_no_combination_has_is_refused(space, message):
    search = pb.ProperBoostClassifierCV({"n_estimators": 2, **space}, effort=None)
    with pytest.raises(ValueError, match=message):
        search.fit(*integers(60))


def test_combinations_that_do_not_go_together_are_left_out():
    space = {"response": ["real", "newton"], "l2": [0.0, 1.0], "gain": 1.0, "n_estimators": 2}
    search = pb.ProperBoostClassifierCV(space, effort=None).fit(*integers(60))
    results = search.cv_results_
    pairs = zip(results["param_response"], results["param_l2"], strict=True)
    assert {*pairs} == {("real", 0.0), ("newton", 0.0), ("newton", 1.0)}


def test_what_has_no_effect_is_as_if_it_were_not_there():
    """Values to begin with that have none beside the space are left at the classifier's default."""
    X, y = integers()
    space = {"weak_learner": "stump", "response": "sign", "step": "leveraging", "n_estimators": 3}
    with warnings.catch_warnings(action="ignore"):
        search = pb.ProperBoostClassifierCV(space, effort=None).fit(X, y)
    assert len(search.cv_results_["params"]) == 1
    assert search.best_estimator_.learning_rate is None
    space = {"response": "sign", "n_estimators": 3, "gain": 1.0}
    search = pb.ProperBoostClassifierCV(space, effort=None).fit(X, y)
    assert search.best_params_["weak_learner"].min_saving == 0.0


def test_values_of_the_final_model_are_the_users():
    X, y = integers(240, 3)
    wanted = pb.Calibration(slope=0.9, intercept="share", temperature=0.7)
    space = {"multiclass": "one_vs_rest", "calibration": wanted, "gain": 1.0, "n_estimators": 5}
    search = pb.ProperBoostClassifierCV(space, cv=3, effort=None).fit(X, y)
    assert search.best_params_["calibration"] is wanted
    assert search.calibration_ is None
    assert search.temperature_ == 0.7
    plain = search.set_params(space=space | {"calibration": None}).fit(X, y)
    assert plain.temperature_ is None
    bags = search.set_params(space=space | {"outer_bags": pb.Bags(4, tables=False)}).fit(X, y)
    assert bags.best_params_["outer_bags"] == pb.Bags(4, tables=False)
    for name, values in (("n_estimators", [3, 4]), ("calibration", [None]), ("outer_bags", [0])):
        with pytest.raises(ValueError, match=f"space must have one value of '{name}'"):
            search.set_params(space={name: values}).fit(X, y)


def test_the_space_stays_as_it_was_written():
    tree, directions = pb.Tree(max_depth=3), [[0, 1, 0, 0]]
    space = {"weak_learner": [tree, "table"], "monotonic_cst": directions, "gain": 1}
    written = dict(space)
    search = pb.ProperBoostClassifierCV(space, max_estimators=3).fit(*integers(120))
    assert search.space is space
    assert space == written
    assert space["weak_learner"][0] is tree
    assert tree == pb.Tree(max_depth=3)
    assert clone(search).space == space
    assert search.get_params()["space"] is space
    assert "Tree(max_depth=3)" in repr(search)
