"""Searches over families: candidates, dropped ones, messages, and results when cut short."""

import time

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_classification

import properboost as pb
from helpers.products import make_rows
from helpers.searches import search_soon as search
from properboost.model_selection import compare_families, deadline, search_run
from properboost.model_selection.families import FAMILIES
from properboost.model_selection.fit_in_time import FinalFit

NAMES = [family.name for family in FAMILIES]
ADDITIVE = {family.name for family in FAMILIES if family.additive}
READABLE_TREES = {family.name for family in FAMILIES if family.readable} - ADDITIVE


def families_of(model):
    return list(model.family_results_["family"])


def test_without_arguments_families_are_compared_and_the_best_is_one_model():
    X, y = make_rows()
    begin = time.perf_counter()
    model = search().fit(X, y)
    took = time.perf_counter() - begin
    assert families_of(model) == NAMES  # tables are far behind: no pairs
    results = model.family_results_
    assert np.all((results["dropped"] >= 0) & (results["dropped"] <= results["candidates"]))
    assert np.all(results["seconds"] > 0.0)
    assert results["seconds"].sum() < took
    best = int(np.argmax(results["mean_test_score"]))
    assert model.family_ == results["family"][best]
    assert model.best_score_ == results["mean_test_score"][best]
    assert results["behind"][best] == 0.0
    assert np.all(results["behind"] >= 0.0)
    assert results["candidates"].sum() == len(model.cv_results_["params"])
    assert set(model.cv_results_["family"]) == set(NAMES)
    assert "trees" in model.family_  # trees can learn the product


def test_the_report_has_a_line_for_each_family_the_best_first():
    X, y = make_rows(120)
    model = search(effort=2).fit(X, y)
    lines = model.describe_search().splitlines()
    assert lines[0].split() == ["family", "score", "behind", "+-", "candidates", "seconds"]
    assert next(line[:27].strip() for line in lines[1:]) == model.family_
    assert {line[:27].strip() for line in lines[1:]} == {*families_of(model)}
    with pytest.raises(ValueError, match="no families were compared"):
        search({"gain": 1.0}, effort=None).fit(X, y).describe_search()


def test_the_report_ends_with_the_space_and_the_families_that_cannot_have_it():
    X, y = make_rows(120)
    space = {"weak_learner": "tree", "weak_learner__max_depth": [3, 6], "monotonic_cst": (0,) * 4}
    lines = search(space, effort=2).fit(X, y).describe_search().splitlines()
    assert lines[2:] == [
        "kept: weak_learner='tree', weak_learner__max_depth=[3, 6], monotonic_cst=(0, 0, 0, 0)",
        "left out: tables, stumps (weak_learner='tree')",
        (
            "left out: readable symmetric trees, readable trees, symmetric trees with lines "
            "(Tree.linear_leaves must be False with monotonic_cst: a line may rise or fall against "
            "the constraint)"
        ),
    ]


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        ({"weak_learner": "tree"}, "trees"),
        ({"weak_learner__linear_leaves": True}, "lines"),
        ({"weak_learner": pb.Tree(linear_leaves=True, max_depth=3)}, "trees with lines"),
        ({"weak_learner": "table"}, "tables"),
        ({"weak_learner__max_cells": None}, "smooth tables"),
        ({"weak_learner": "stump"}, "stumps"),
        ({"interactions": [1, 2]}, "pairs"),
    ],
)
def test_what_is_chosen_is_the_classifier_of_its_parameters(space, expected):
    X, y = make_rows(150, seed=3)
    model = search({"interactions": 0} | space, calibrate=False).fit(X, y)
    assert expected in model.family_
    again = pb.ProperBoostClassifier(**model.best_params_).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_efforts_are_a_ladder():
    X, y = make_rows(120)
    compared = [families_of(search(effort=effort).fit(X, y)) for effort in (1, 2, 3)]
    assert compared[0] == ["tables", "readable symmetric trees", "symmetric trees with lines"]
    assert compared[1] == [
        "tables",
        "stumps",
        "readable symmetric trees",
        "readable trees",
        "trees",
        "symmetric trees with lines",
    ]
    assert set(compared[1]) < set(compared[2])


def test_readable_models_are_sums_of_functions_of_at_most_three_features():
    X, y = make_rows()
    model = search(readable=True).fit(X, y)
    assert set(families_of(model)) == ADDITIVE | READABLE_TREES | {"pairs"}
    assert model.shape_function(2).values.size > 1
    assert max(len(term.features) for term in model.terms_) in (2, 3)


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        ({"weak_learner": "tree"}, {name for name in NAMES if "trees" in name}),
        ({"weak_learner": "stump"}, {"stumps", "pairs"}),
        ({"selection": "cyclic", "interactions": 0}, {"tables", "smooth tables", "stumps"}),
        ({"selection": ["cyclic", "greedy"], "interactions": 0}, {*NAMES}),
        ({"weak_learner__smoothing": [0.0], "interactions": 0}, {"tables", "smooth tables"}),
        ({"interactions": 1}, ADDITIVE | {"pairs"}),
        ({"weak_learner__grow_policy": "symmetric"},
         {"symmetric trees", "symmetric trees with lines", "readable symmetric trees"}),
        ({"weak_learner__linear_leaves": [True, False], "weak_learner__max_leaf_nodes": 8},
         {"trees", "trees with lines", "readable trees"}),
        ({"weak_learner__interaction_cst": [2, 3], "interactions": 0},
         {name for name in NAMES if "trees" in name}),
        ({"weak_learner": [pb.Tree(max_depth=3), "table"], "interactions": 0},
         {"trees", "tables", "smooth tables"}),
        ({"response": "exact", "interactions": 0},
         {"tables", "smooth tables", "stumps", "trees", "symmetric trees"}),
        ({"outer_bags": pb.Bags(4, tables=False), "interactions": 0}, ADDITIVE),
    ],
    ids=lambda value: str(sorted(value)) if isinstance(value, set) else str(value),
)  # fmt: skip
def test_a_value_restricts_the_search_to_the_families_that_have_it(space, expected):
    X, y = make_rows(120)
    model = search(space, max_estimators=10).fit(X, y)
    assert set(families_of(model)) == expected


def test_what_no_family_has_is_searched_as_lists():
    X, y = make_rows(120)
    space = {"weak_learner": "rule", "gain": [2.0, 4.0], "weak_learner__min_child_weight": 0.1}
    model = search(space).fit(X, y)
    assert model.family_results_ is None
    assert model.family_ is None
    assert len(model.cv_results_["params"]) == 2


def test_a_list_of_which_a_value_is_in_no_family_is_searched_as_one():
    X, y = make_rows(120)
    for learners in (["rule", "tree"], [pb.Rule(max_conditions=1), "table"]):
        model = search({"weak_learner": learners, "gain": 2.0}).fit(X, y)
        assert model.family_ is None
        assert len(model.cv_results_["params"]) == 2


def test_readable_trees_have_a_limit():
    X, y = make_rows(120)
    for effort, limit in ((2, 5), (None, None)):
        with pytest.raises(ValueError, match="readable must be False with weak_learner='tree'"):
            search(
                {"weak_learner": "tree", "weak_learner__interaction_cst": limit},
                readable=True, effort=effort,
            ).fit(X, y)  # fmt: skip
    for space in ({"weak_learner": "tree"}, {"weak_learner": pb.Tree(interaction_cst=2)}):
        model = search(space, readable=True, effort=2, max_estimators=10).fit(X, y)
        assert model.terms_


def test_no_step_changes_what_is_given():
    X, y = make_rows(150)
    space = {"weak_learner": "tree", "weak_learner__max_features": [0.5, 1.0], "gain": 1.0}
    columns = search(space).fit(X, y).cv_results_
    assert set(columns["param_weak_learner__max_features"]) == {0.5, 1.0}
    assert set(columns["param_gain"]) == {1.0}
    assert len(set(columns["param_weak_learner__max_depth"].compressed())) > 2  # a step did


def test_fine_steps_come_with_effort():
    X, y = make_rows(150)
    space = {"weak_learner": "tree", "weak_learner__grow_policy": "symmetric"}
    weights = [
        set(
            search(space, effort=effort)
            .fit(X, y)
            .cv_results_["param_weak_learner__min_child_weight"]
        )
        for effort in (3, 4)
    ]
    assert weights[0] == {0.1}
    assert {0.01, 0.1} <= weights[1]


def test_no_step_changes_an_object():
    X, y = make_rows(150)
    y = np.where(X[:, 0] > 0.5, 2, y)
    trees = [pb.Tree(max_leaf_nodes=4), pb.Tree(max_leaf_nodes=8, max_features=1.0)]
    model = search({"weak_learner": trees}).fit(X, y)
    tried = [params["weak_learner"] for params in model.cv_results_["params"]]
    assert all(tree in trees for tree in tried)
    assert len(tried) > 4  # steps changed something else
    assert model.best_params_["weak_learner"] in trees


def test_trees_that_draw_nothing_are_fitted_once():
    X, y = make_rows(150)
    model = search({"weak_learner": "tree", "weak_learner__max_features": 1.0}).fit(X, y)
    assert model.best_params_["weak_learner"].n_draws == 1
    assert search({"weak_learner": "tree"}).fit(X, y).best_params_["weak_learner"].n_draws == 16
    bags = search({"weak_learner": "tree", "outer_bags": 4}, effort=2).fit(X, y)
    assert bags.best_params_["weak_learner"].n_draws == 1
    space = {"weak_learner": "tree", "weak_learner__n_draws": 3}
    model = search(space).fit(X, y)
    assert {*model.cv_results_["param_weak_learner__n_draws"]} == {3}
    assert 1.0 not in model.cv_results_["param_weak_learner__max_features"]


def test_tables_are_tried_with_fewer_cells_and_with_newton_steps():
    X, y = make_rows(150)
    tables = {"weak_learner": "table", "interactions": 0, "gain": 1.0}
    columns = search(tables | {"learning_rate": 1.0}).fit(X, y).cv_results_
    assert "param_response" not in columns
    assert set(columns["param_learning_rate"]) == {1.0}
    columns = search(tables, effort=4).fit(X, y).cv_results_
    tried = {name: columns[f"param_{name}"].tolist() for name in ("response", "learning_rate")}
    assert {*zip(*tried.values(), strict=True)} == {("real", 1.0), ("newton", 0.2)}
    assert set(columns["param_weak_learner__max_cells"]) == {3, 10, None}


@pytest.mark.parametrize("settings", [{"prior": 0.01}, {"criterion": "gini"}])
def test_no_step_leads_to_newton_where_that_would_change_what_is_given(settings):
    X, y = make_rows(150)
    space = {"weak_learner": "stump", "interactions": 0, "gain": 1.0}
    model = search(space | settings).fit(X, y)
    assert "param_response" not in model.cv_results_
    assert model.best_params_.items() >= settings.items()
    # Trees then start with another response.
    trees = search({"weak_learner": "tree", **settings}, effort=2).fit(X, y)
    assert "param_response" not in trees.cv_results_
    assert trees.best_params_.items() >= settings.items()


def test_a_step_to_newton_has_the_score_and_the_model_of_its_parameters():
    X, y = make_rows(200)
    space = {"weak_learner": "stump", "interactions": 0, "gain": 1.0}
    columns = search(space, readable=True).fit(X, y).cv_results_
    at = columns["param_response"].tolist().index("newton")
    names = ("response", "learning_rate", "l2", "selection")
    space |= {name: columns["params"][at][name] for name in names}
    again = search(space, effort=None, rows_per_bin=20.0).fit(X, y)
    assert again.best_score_ == pytest.approx(columns["mean_test_score"][at], rel=1e-9)


def test_steps_go_beyond_the_ends_of_the_first_gains():
    X, y = make_rows(200)
    y = np.random.default_rng(1).permutation(y)
    space = {"weak_learner": "stump", "interactions": 0}
    model, first = (search(space, effort=n, max_estimators=60).fit(X, y) for n in (3, 2))
    assert model.best_score_ >= first.best_score_
    assert len(model.cv_results_["params"]) > len(first.cv_results_["params"])
    assert max(model.cv_results_["param_gain"]) > max(first.cv_results_["param_gain"])


class Patient(search_run.Race):
    """A race that drops no candidate."""

    def choose_first(self, _n_splits):
        return 0

    def is_lost(self, _candidate, _most):
        return False


@pytest.mark.parametrize("space", [None, {"multiclass": ["softmax", "one_vs_rest"]}], ids=str)
def test_who_stays_in_the_race_has_the_scores_of_a_search_that_drops_nobody(space, monkeypatch):
    X, y = (
        make_rows(1000)
        if space is None
        else make_classification(
            700, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0
        )
    )
    racing = search(space, cv=5).fit(X, y)
    monkeypatch.setattr(search_run, "Race", Patient)
    patient = search(space, cv=5).fit(X, y)
    assert not patient.cv_results_["dropped"].any()
    known = dict(zip(map(str, patient.cv_results_["params"]), range(10**6), strict=False))
    dropped = racing.cv_results_["dropped"]
    assert 0 < dropped.sum() < len(dropped)
    compared = 0
    for k, params in enumerate(racing.cv_results_["params"]):
        other = known.get(str(params))
        if other is None:  # steps of another candidate
            continue
        ours, theirs = racing.validation_curves_[k], patient.validation_curves_[other]
        ran = ~np.isnan(ours)
        assert ran[:2].any(axis=1).all()
        np.testing.assert_array_equal(ours[ran], theirs[:, : ours.shape[1]][ran])
        compared += ran[2:].any()
        if not dropped[k]:
            for name in (f"split{s}_test_score" for s in range(5)):
                assert racing.cv_results_[name][k] == patient.cv_results_[name][other]
    assert compared >= 8


def test_who_can_learn_no_more_on_the_last_splits_goes_on_on_the_first(monkeypatch):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    X = np.column_stack([y + random.normal(size=200), random.normal(size=200)])
    X[:60, 0] = 0.0  # on these rows the last splits train
    constant, others = np.arange(60), np.arange(60, 200)
    X[constant] = 0.0
    y[constant] = constant < 30
    cv = [(np.setdiff1d(others, test), test) for test in (others[::2], others[1::2])]
    cv += [(constant, others[k::3]) for k in range(3)]
    monkeypatch.setattr(search_run, "are_representative", lambda _: True)
    settings = {"cv": cv, "effort": 2, "n_iter_no_change": 40, "refit": False, "calibrate": False}
    racing = search(**settings).fit(X, y)
    monkeypatch.setattr(search_run, "Race", Patient)
    patient = search(**settings).fit(X, y)
    assert racing.family_ == patient.family_
    assert racing.n_estimators_ == patient.n_estimators_ > 1
    assert racing.best_score_ == patient.best_score_


def test_few_rows_are_weak_evidence_on_some_of_the_splits():
    results = search(cv=5).fit(*make_rows(300)).cv_results_
    assert results["dropped"].any()
    assert np.isfinite(results["mean_test_score"]).all()


def test_who_is_dropped_on_the_first_splits_has_no_score_on_the_others():
    X, y = make_rows(1000)
    results = search(cv=5).fit(X, y).cv_results_
    scores = np.stack([results[f"split{s}_test_score"] for s in range(5)])
    early = np.isnan(scores[2:]).all(axis=0)
    assert early.any()
    assert results["dropped"][early].all()
    assert np.isfinite(scores[:2]).all()
    assert np.isfinite(scores[:, ~early]).all()
    assert np.isnan(results["mean_test_score"][early]).all()
    assert results["rank_test_score"][early].min() > results["rank_test_score"][~early].max()
    assert {*results["family"][~early]} == {*NAMES}  # the report has one of each


def test_a_search_does_not_depend_on_threads():
    X, y = make_rows(200)
    one, four = (search(n_jobs=n).fit(X, y) for n in (1, 4))
    assert one.best_params_ == four.best_params_
    np.testing.assert_array_equal(one.validation_curves_, four.validation_curves_)
    np.testing.assert_array_equal(one.predict_proba(X), four.predict_proba(X))


def test_several_classes():
    X, y = load_wine(return_X_y=True)
    model = search(effort=3, max_estimators=30).fit(X, y)
    assert model.score(X, y) > 0.95
    assert {p.get("multiclass") for p in model.cv_results_["params"]} == {"softmax", "one_vs_rest"}
    assert model.family_ in families_of(model)


def test_losses_and_weights_and_scorers_are_the_requested_ones():
    X, y = make_rows(150)
    weight = np.linspace(0.5, 2.0, len(y))
    model = search({"loss": ["gboost", "exponential"]}, scoring="roc_auc", effort=2)
    model.fit(X, y, sample_weight=weight)
    assert set(model.cv_results_["param_loss"]) == {"gboost", "exponential"}
    assert 0.5 < model.best_score_ <= 1.0


def test_the_simplest_family_within_one_standard_error():
    X, y = make_classification(200, 5, n_informative=2, n_redundant=0, random_state=2)
    model = search({"interactions": 0}, one_standard_error=True).fit(X, y)
    results = model.family_results_
    best = int(np.argmax(results["mean_test_score"]))
    least = results["mean_test_score"][best] - results["standard_error"][best]
    enough = results["mean_test_score"] >= least
    assert model.family_ == results["family"][np.argmax(enough)]
    assert not model.cv_results_["dropped"].any()  # simple ones may be slow


# -- cut short -------------------------------------------------------------------------------------


def test_a_time_limit_leaves_the_best_so_far():
    X, y = make_rows()
    with pytest.warns(UserWarning, match="time_limit of 1e-06 seconds is over"):
        model = search(time_limit=1e-6).fit(X, y)
    assert model.ended_ == "time_limit"
    assert families_of(model) == ["tables"]
    assert np.isfinite(model.predict_proba(X)).all()


def test_a_time_limit_counts_for_pairs():
    X, y = make_rows(100)
    space = {"weak_learner": "stump", "gain": 2.0}
    with pytest.warns(UserWarning, match="time_limit"):
        assert families_of(search(space, time_limit=1e-6).fit(X, y)) == ["stumps"]


@pytest.mark.parametrize(("affordable", "n_draws"), [(3.7, 3), (0.2, 1), (99.0, 8)])
def test_a_limited_time_averages_as_many_draws_as_fit_into_it(monkeypatch, affordable, n_draws):
    monkeypatch.setattr(FinalFit, "count_affordable", lambda _: affordable)
    X, y = make_rows(100)
    limited = {"effort": 2, "time_limit": 1000.0}
    trees = {
        "weak_learner": "tree",
        "weak_learner__max_depth": 2,
        "weak_learner__interaction_cst": None,
    }
    model = search(trees, **limited).fit(X, y)
    assert model.best_params_["weak_learner"].n_draws == n_draws
    pinned = {**trees, "weak_learner__n_draws": 2}
    assert search(pinned, **limited).fit(X, y).best_params_["weak_learner"].n_draws == 2


@pytest.mark.parametrize(("affordable", "n_bags"), [(5.9, 5), (3.9, 0), (99.0, 16)])
def test_a_limited_time_averages_as_many_bags_as_fit_into_it(monkeypatch, affordable, n_bags):
    monkeypatch.setattr(FinalFit, "count_affordable", lambda _: affordable)
    X, y = make_rows(200)
    model = search({"weak_learner": "stump"}, effort=3, time_limit=1000.0).fit(X, y)
    assert model.best_params_.get("outer_bags", 0) == n_bags


def test_a_step_that_would_outlast_the_time_is_not_begun(monkeypatch):
    """The clock goes a second a look: estimators beyond the time are never boosted."""
    X, y = make_rows(200)
    free = search({"weak_learner": "table"}, effort=1).fit(X, y)
    now = [0.0]

    def look():
        now[0] += 1.0
        return now[0]

    monkeypatch.setattr(search_run.time, "perf_counter", look)
    monkeypatch.setattr(deadline.time, "monotonic", lambda: now[0])
    with pytest.warns(UserWarning, match="the best of"):
        model = search({"weak_learner": "table"}, effort=1, time_limit=20.0).fit(X, y)
    assert model.ended_ == "time_limit"
    assert model.validation_curves_.shape[2] < free.validation_curves_.shape[2]
    assert now[0] < 20.0 + 5.0


def test_the_chosen_model_is_scored_on_the_rows_that_the_splits_hold_out():
    """Without a calibration that helps, these are the scores of the comparison."""
    X, y = make_rows(300)
    model = search({"weak_learner": "stump"}, effort=1, cv=4).fit(X, y)
    scores, calibration = model.held_out_scores_, model.calibration_
    assert scores["rows"] == len(X)
    saved = calibration["gain"] if calibration["kept"] else 0.0
    assert scores["log_loss"] == pytest.approx(-model.best_score_ - saved, abs=0.02)
    by_accuracy = search(
        {"weak_learner": "stump"}, effort=1, cv=4, calibrate=True, scoring="accuracy"
    ).fit(X, y)
    if not by_accuracy.calibration_["kept"]:
        accuracy = by_accuracy.held_out_scores_["accuracy"]
        assert accuracy == pytest.approx(by_accuracy.best_score_, abs=1e-12)
    assert 0.4 < scores["accuracy"] <= 1.0
    plain = search({"weak_learner": "stump"}, effort=1, cv=4, calibrate=False).fit(X, y)
    assert plain.held_out_scores_ is None


class Interrupted:
    """A score that is interrupted once, at a certain call."""

    def __init__(self, times):
        self.left = times

    def __call__(self, estimator, X, y):
        self.left -= 1
        if self.left == -1:
            raise KeyboardInterrupt
        return estimator.score(X, y)


def test_an_interrupt_leaves_the_best_so_far(monkeypatch):
    monkeypatch.setattr(compare_families, "CLIMBS", {})
    X, y = make_rows(100)
    counted = Interrupted(10**9)
    levels = {"weak_learner__grow_policy": "symmetric"}
    search(levels, effort=2, calibrate=False, scoring=counted).fit(X, y)
    of_the_first = 10**9 - counted.left
    with pytest.warns(UserWarning, match="the search was interrupted"):
        model = search(effort=2, scoring=Interrupted(of_the_first + 5)).fit(X, y)
    assert model.ended_ == "interrupted"
    assert families_of(model) == ["symmetric trees with lines"]
    model.predict(X)


def test_an_interrupt_before_anything_is_known_is_one():
    X, y = make_rows(100)
    model = search(scoring=Interrupted(2))
    with pytest.raises(KeyboardInterrupt, match="before the first candidates were finished"):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


# -- files -----------------------------------------------------------------------------------------


def test_files_hold_what_was_compared(tmp_path):
    X, y = make_rows(120)
    model = search(effort=2).fit(X, y)
    model.save_model(tmp_path / "model.json")
    loaded = pb.load_model(tmp_path / "model.json")
    assert loaded.family_ == model.family_
    assert loaded.ended_ is None
    assert loaded.get_params() == model.get_params()
    for name, values in model.family_results_.items():
        np.testing.assert_array_equal(loaded.family_results_[name], values)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
