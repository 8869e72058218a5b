"""Flat parameters of earlier files, read into objects; values without effect are left out."""

import copy
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import properboost as pb
from helpers.documents import JSON, change
from properboost.estimators.earlier_parameters import make_earlier
from properboost.losses.registry import get_loss
from properboost.model_selection.earlier_search import drop_ineffective, make_earlier_search

KEPT = Path(__file__).resolve().parent / "kept_files"

LINES = pb.Tree(max_leaf_nodes=4, n_draws=2, linear_leaves=True)

PAIRS = pb.Interactions([["size", "age"], ["town", 1]], n_estimators=5, learning_rate=0.5)

ALPHAS = {
    "loss": [get_loss("alpha", alpha=0.1), get_loss("alpha", alpha=0.3)],
    "gain": [0.5, 1.0, 2.0],
    "interactions": [2],
    "interactions__learning_rate": 0.5,
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("format_4/histogram", {"weak_learner": pb.Table(max_cells=None, smoothing=0.1)}),
        ("format_4/pairs", {"interactions": PAIRS, "calibration": None, "outer_bags": 0}),
        ("format_4/monomial", {"weak_learner": pb.Rule(max_conditions=3, max_features=1.0)}),
        ("format_7/lines_in_leaves", {"weak_learner": LINES}),
        ("format_8/early_stopping", {
            "early_stopping": pb.EarlyStopping(validation_fraction=0.1, n_iter_no_change=2)}),
        ("format_9/errors_of_bags", {"outer_bags": pb.Bags(4, tables=False)}),
        ("format_10/temperature", {
            "calibration": pb.Calibration(slope=0.9, intercept=[0.1, -0.2, 0.1], temperature=1.3)}),
        ("format_11/multi_output_tree", {
            "weak_learner": pb.Tree(grow_policy="symmetric", max_depth=2)}),
        ("format_11/bags_classes", {"weak_learner": "table", "interactions": 1, "outer_bags": 4}),
        ("format_11/votes_labels", {"weak_learner": "table"}),
        ("format_11/votes_classes", {"weak_learner": "tree", "max_leaf_nodes": 4}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_flat_parameters_are_read_into_objects(name, expected):
    model = pb.load_model(KEPT / f"{name}.json")
    assert {name: getattr(model, name) for name in expected} == expected


def test_searches_have_a_space():
    search = pb.load_model(KEPT / "format_7/search.json")
    assert search.space.items() >= ALPHAS.items()
    assert (search.effort, search.cv, search.max_estimators) == (None, 3, 4)
    assert search.best_params_["weak_learner"] == pb.Table(
        max_cells=10, min_saving=0.5, smoothing=0.1
    )
    assert search.best_params_["interactions"] == search.best_estimator_.interactions
    assert pb.ProperBoostClassifier(**search.best_params_).loss == search.best_estimator_.loss
    assert "param_weak_learner__smoothing" in search.cv_results_
    assert search.cv_results_["params"][0]["weak_learner__max_cells"] == 10
    assert "interactions__learning_rate" in search.interaction_results_
    families = pb.load_model(KEPT / "format_11/families.json")
    assert families.space == {"screening": None}
    assert (families.effort, families.readable) == (1, True)


@pytest.mark.parametrize(
    ("flat", "expected"),
    [
        ({"max_depth": 3}, {}),
        ({"weak_learner": "stump", "max_cells": 4, "smoothing": 0.5}, {"weak_learner": "stump"}),
        ({"max_cells": None, "min_saving": 1.0}, {"weak_learner": pb.Table(max_cells=None)}),
        ({"response": "sign", "min_saving": 1.0}, {"response": "sign"}),
        ({"l2": 1.0}, {}),
        ({"response": "newton", "l2": 1.0}, {"response": "newton", "l2": 1.0}),
        ({"response": "newton", "prior": 0.1}, {"response": "newton"}),
        ({"step": "leveraging", "learning_rate": 0.5}, {"step": "leveraging"}),
        ({"selection": "greedy", "screening": 40}, {"selection": "greedy"}),
        (
            {"weak_learner": "tree", "subsample": 0.5, "screening": 40},
            {"weak_learner": pb.Tree(subsample=0.5)},
        ),
        ({"weak_learner": "tree", "selection": "cyclic"}, {"weak_learner": "tree"}),
        ({"weak_learner": "monomial", "max_literals": 3}, {
            "weak_learner": pb.Rule(max_conditions=3)}),
        ({"weak_learner": "tree", "linear_l2": 1.0, "max_literals": 3}, {"weak_learner": "tree"}),
        (
            {"weak_learner": "tree", "max_features": 1.0, "n_draws": 4},
            {"weak_learner": pb.Tree(max_features=1.0)},
        ),
        (
            {"weak_learner": "tree", "n_draws": 4, "outer_bags": 4, "bag_tables": False},
            {"weak_learner": "tree", "outer_bags": 4},
        ),
        (
            {"weak_learner": "tree", "multi_strategy": "one_output_per_tree", "loss": "savage"},
            {"weak_learner": "tree", "loss": "savage"},
        ),
        ({"interaction_rate": 0.5}, {}),
        ({"bag_tables": False}, {}),
        ({"multiclass": "softmax", "temperature": 2.0}, {"multiclass": "softmax"}),
        ({"temperature": 2.0}, {}),
        ({"slope": 1.0, "intercept": None}, {"calibration": None}),
        ({"validation_fraction": 0.3, "n_iter_no_change": 5}, {
            "early_stopping": pb.EarlyStopping(validation_fraction=None, n_iter_no_change=5)}),
        ({"early_stopping": True, "validation_fraction": 0.3}, {
            "early_stopping": pb.EarlyStopping(validation_fraction=0.3)}),
        ({"early_stopping": True}, {"early_stopping": True}),
        ({"early_stopping": False, "n_iter_no_change": 5, "tol": 0.0}, {"early_stopping": False}),
        ({"early_stopping": True, "tol": 0.0}, {"early_stopping": pb.EarlyStopping(tol=0.0)}),
        ({"early_stopping": False, "scoring": "roc_auc"}, {
            "early_stopping": pb.EarlyStopping(
                validation_fraction=None, n_iter_no_change=None, scoring="roc_auc")}),
        ({"warm_start": True, "warm_start_bins": "new"}, {"warm_start": "new_bins"}),
        ({"warm_start": False, "warm_start_bins": "new"}, {}),
    ],
    ids=str,
)  # fmt: skip
def test_what_had_no_effect_is_left_out(flat, expected):
    expected = pb.ProperBoostClassifier(**{"weak_learner": "table"} | expected).get_params()
    assert make_earlier(pb.ProperBoostClassifier, **flat).get_params() == expected


@pytest.mark.parametrize(
    ("flat", "space"),
    [
        ({}, {}),
        ({"max_cells": 10, "min_saving": 0.5, "gains": "auto", "smoothings": "auto"}, {}),
        ({"gains": None}, {"gain": None}),
        ({"smoothings": None}, {"weak_learner__smoothing": [0.1]}),
        ({"priors": [None, 0.1]}, {"prior": [None, 0.1]}),
        ({"max_depth": [3, 6]}, {}),
        ({"weak_learner": "tree", "max_depth": [3, 6], "max_cells": 4}, {
            "weak_learner": "tree", "weak_learner__max_depth": [3, 6]}),
        ({"weak_learner": "tree", "selection": ["greedy", "cyclic"]}, {
            "weak_learner": "tree", "selection": ["greedy"]}),
        ({"effort": 3, "max_depth": 3}, {"weak_learner": "tree", "weak_learner__max_depth": 3}),
        ({"effort": 3, "readable": True, "max_depth": 3}, {}),
        ({"effort": 3, "smoothings": [0.5]}, {
            "weak_learner": "table", "weak_learner__smoothing": [0.5]}),
        ({"interactions": 0, "interaction_rate": 0.5}, {"interactions": 0}),
        ({"interactions": [0, 3], "interaction_smoothing": [0.0, 0.1]}, {
            "interactions": [0, 3], "interactions__smoothing": [0.0, 0.1]}),
        ({"monotonic_cst": [1, -1]}, {"monotonic_cst": (1, -1)}),
        ({"outer_bags": 4, "bag_tables": False}, {"outer_bags": 4, "outer_bags__tables": False}),
        ({"bag_tables": False, "l2": 1.0}, {}),
        ({"loss": ["glog", "alpha"], "alphas": [0.1]}, {
            "loss": ["glog", get_loss("alpha", alpha=0.1)]}),
    ],
    ids=str,
)  # fmt: skip
def test_what_differs_from_the_defaults_of_earlier_searches_is_their_space(flat, space):
    now = {"effort": None, "max_cells": 10, "min_saving": 0.5, "outer_bags": "auto"}
    search = make_earlier_search(
        pb.ProperBoostClassifierCV, {}, **(now | {"screening": "auto", "calibrate": True} | flat)
    )
    drop_ineffective(search)
    assert (search.space or {}) == space
    assert search.effort == flat.get("effort")


FLAT = {
    name: json.loads((KEPT / f"format_11/{name}.json").read_text("ascii"))
    for name in ("histogram", "tree_classes", "pairs", "errors_of_bags", "search", "families")
}


@pytest.mark.parametrize("name", FLAT)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_change_of_a_parameter_gives_a_model_or_a_value_error(name, tmp_path, data):
    parameter = data.draw(st.sampled_from([*FLAT[name]["parameters"], "candles"]))
    changed = change(copy.deepcopy(FLAT[name]), ("parameters", parameter), data.draw(JSON))
    (tmp_path / "model.json").write_text(json.dumps(changed))
    try:
        loaded = pb.load_model(tmp_path / "model.json")
    except ValueError as error:
        assert "model.json: " in str(error)  # noqa: PT017
        return
    assert parameter != "candles"
    loaded.save_model(tmp_path / "again.json")
    assert pb.load_model(tmp_path / "again.json").get_params() == loaded.get_params()
