"""The values that a space may have, and the errors about those that no search can use."""

import re
import warnings

import numpy as np
import pytest

import properboost as pb
from helpers.searches import integers
from properboost.model_selection.families import check_search, list_plans
from properboost.model_selection.search_space import Candidate


def design_search(space, **settings):
    return check_search(pb.ProperBoostClassifierCV(space, **settings))


def fit(space, **settings):
    search = pb.ProperBoostClassifierCV(space, max_estimators=3, cv=2, n_jobs=1, **settings)
    with warnings.catch_warnings(action="ignore"):
        return search.fit(*integers(120))


def list_families(space, effort=3):
    """Return the plans of a search for 200 rows of two classes, by family."""
    search = pb.ProperBoostClassifierCV(space, effort=effort)
    plans = list_plans(search, check_search(search), 200.0, np.array([100.0, 100.0]))
    return {plan.name: plan for plan in plans}


@pytest.mark.parametrize(
    ("space", "effort", "message"),
    [
        ({"interactions": 0, "interactions__smoothing": 0.3}, 1,
         "must not have 'interactions__smoothing' without pairs"),
        ({"interactions": [0, []], "interactions__n_estimators": 2}, None, "without pairs"),
        ({"interactions__pairs": 0, "interactions__smoothing": 0.3}, 3, "without pairs"),
        ({"weak_learner": pb.Tree(), "weak_learner__max_features": 0.5}, 3,
         "'weak_learner__max_features' beside weak_learner=Tree(): an object stays whole"),
        ({"weak_learner": ["tree", pb.Table()], "weak_learner__max_depth": 3}, 3,
         "beside weak_learner=Table(): an object stays whole"),
        ({"interactions": [3, pb.Interactions(2)], "interactions__smoothing": 0.2}, 3,
         "beside interactions=Interactions(pairs=2): an object stays whole"),
        ({"outer_bags": pb.Bags(8), "outer_bags__tables": True}, 3, "an object stays whole"),
        ({"outer_bags": 8, "outer_bags__n_bags": 8}, 3, "which has a n_bags itself"),
        ({"calibration": None, "calibration__slope": 1.0}, 3, "which has a slope itself"),
        ({"weak_learner__max_leaf_nodes": 8}, 1,
         "effort=1: Tree.max_leaf_nodes must be None with grow_policy='symmetric'"),
        ({"weak_learner__max_leaf_nodes": 8}, 1, "; effort=2 has readable trees with it"),
        ({"weak_learner__linear_leaves": False}, 1,
         "has weak_learner__linear_leaves=False, which no family has with effort=1; effort=2 has"),
        ({"weak_learner__max_features": 1.0, "weak_learner__n_draws": 3}, 3,
         "where nothing is drawn"),
        ({"weak_learner__max_depth": [5, 9]}, 1, "max_depth=9, which no family has with effort=1"),
        ({"weak_learner__max_depth": [5, 9]}, 1,
         "at most 7 with grow_policy='symmetric'; effort=2 has readable trees"),
        ({"weak_learner__max_conditions": 3}, 3, "effort=3; add 'weak_learner': 'rule'"),
        ({"weak_learner__max_depth": 3}, None,
         "is no field of a Table, the weak_learner if none is named; add 'weak_learner': 'tree'"),
        ({"weak_learner__max_depth": 3, "weak_learner__max_cells": 3}, 3,
         "no weak_learner has all of max_cells, max_depth"),
        ({"weak_learner": ["tree", "table"], "weak_learner__max_depth": [3, 4]}, 3,
         'write [pb.Tree(max_depth=3), pb.Tree(max_depth=4), "table"]'),
        ({"weak_learner": ["tree", "table"], "weak_learner__max_depth": [1, 2, 3, 4, 5, 6, 7]},
         None, "pb.Tree(max_depth=6), ...]"),
        ({"weak_learner": ["tree", "table"], "weak_learner__max_depth": 3,
          "weak_learner__max_cells": 5}, 3, "write [pb.Tree(max_depth=3), pb.Table(max_cells=5)]"),
        ({"weak_learner": "stump", "weak_learner__max_depth": 3}, 3, "is no field of a Stump"),
        ({"learning_rate": (0.1, 0.2)}, 3, "a tuple or an array is one value: write a list"),
        ({"learning_rate": np.array([0.1, 0.2])}, 3, "is one value: write a list to search"),
        ({"interactions": [(0, 1), (1, 2)]}, 3, "must have [[(0, 1), (1, 2)]] as 'interactions'"),
        ({"interactions": (0, 10)}, 3, "is one value: write a list to search"),
        ({"estimator": None}, 3, "space must not have 'estimator': "),
        ({"gains": [1, 2]}, 3, "space has 'gains', which is no parameter of the classifier: write"),
        ({"weak_learner__depths": 3}, 3, "space has 'weak_learner__depths', which is no"),
    ],
    ids=str,
)  # fmt: skip
def test_what_no_search_can_keep_is_refused(space, effort, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        design_search(space, effort=effort)


def test_a_learner_that_cannot_be_read_is_refused_by_a_readable_search():
    message = "no family has with effort=3 and readable=True$"
    with pytest.raises(ValueError, match=message):
        design_search({"weak_learner__linear_leaves": False}, readable=True)


@pytest.mark.parametrize(
    ("name", "value", "number"),
    [
        ("weak_learner", ["tree", pb.Tree(), "tree", pb.Tree(), pb.Tree(max_depth=3)], 3),
        ("interactions", [2, pb.Interactions(2), pb.Interactions(2), 2, [(0, 1)], [(0, 1)]], 3),
        ("monotonic_cst", [[0, 1], [0, 1], (0, 1), {"a": 1}, {"a": 1}, None], 4),
        ("loss", ["glog", pb.losses.GLog(1.0), pb.losses.GLog(1.0)], 2),
        ("gain", [1, 1.0, np.float64(1.0), None], 2),
    ],
)
def test_equal_values_are_one_choice(name, value, number):
    """A name or a number leaves fields to the search, so it differs from every object."""
    assert len(design_search({name: value}, effort=None).space.choices[name]) == number


def test_an_object_in_a_list_leaves_the_name_beside_it_to_the_search():
    plans = list_families({"weak_learner": [pb.Tree(max_depth=3), "tree"]})
    trees = plans["trees"]
    whole = [c for c in trees.candidates if c.keeps_learner]
    by_name = [c for c in trees.candidates if not c.keeps_learner]
    assert {c.params["weak_learner"].n_draws for c in whole} == {1}
    assert {c.params["weak_learner"].n_draws for c in by_name} == {16}
    alone = list_families({"weak_learner": "tree"})["trees"]
    assert _list_settings(trees, by_name[0]) == _list_settings(alone, alone.candidates[0])
    assert all(
        step.candidate.params["weak_learner"] == pb.Tree(max_depth=3)
        for candidate in whole
        for step in trees.list_steps(candidate)
    )
    assert _list_settings(trees, whole[0])


def _list_settings(plan, candidate: Candidate):
    return [step.settings for step in plan.list_steps(candidate)]


def test_tables_of_any_number_of_cells_are_a_family():
    plans = list_families({"weak_learner__max_cells": 5})
    assert {*plans} == {"tables"}
    cells = {c.params["weak_learner"].max_cells for c in plans["tables"].candidates}
    assert cells == {5}
    steps = _list_settings(plans["tables"], plans["tables"].candidates[0])
    assert steps
    assert not any("weak_learner__max_cells" in settings for settings in steps)
    both = list_families({"weak_learner__max_cells": [None, "auto"]})
    assert {*both} == {"tables", "smooth tables"}
    assert {*list_families({"weak_learner": pb.Table(max_cells=5)})} == {"tables"}
    assert {*list_families({"weak_learner": pb.Table(max_cells=None)})} == {"smooth tables"}
    assert list_families({"weak_learner__max_cells": 5}, effort=1)["tables"].candidates
    assert {*list_families({})} >= {"tables", "smooth tables"}


@pytest.mark.parametrize(
    ("space", "effort", "left_out"),
    [
        ({"weak_learner": "rule"}, 1,
         [("left out: tables, readable symmetric trees, symmetric trees with lines "
          "(weak_learner='rule')")]),
        ({"weak_learner": pb.Tree(max_depth=3)}, 1,
         [("left out: tables, readable symmetric trees, symmetric trees with lines "
          "(weak_learner=Tree(max_depth=3))")]),
        ({"weak_learner": ["rule", "table"]}, 1,
         ["left out: tables (weak_learner='rule')",
          ("left out: readable symmetric trees, symmetric trees with lines "
          "(weak_learner=['rule', 'table'])")]),
    ],
    ids=str,
)  # fmt: skip
def test_a_search_that_no_family_could_serve_lists_what_was_left_out(space, effort, left_out):
    lines = fit(space, effort=effort).describe_search().splitlines()
    written = f"kept: weak_learner={space['weak_learner']!r}"
    assert lines == [written, *left_out, "no family has it: the lists alone were compared"]


def test_reasons_are_short():
    lines = design_search({"response": "conditional"}, effort=2).describe()
    assert len(lines) == 2
    assert ";" not in lines[1]
