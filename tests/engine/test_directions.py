"""Directions of features in look-up tables, stumps and rules; those of trees are in test_trees."""

import numpy as np
import pytest

import helpers.reference as ref
from helpers.engine import assert_equal_models, assert_identical, problem, train

RESPONSES = ["real", "sign", "newton", "exact"]


# -- the plain implementation ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"smoothing": 0.1},
        {"max_cells": 3},
        {"max_cells": 4, "smoothing": 0.2},
        {"weak_learner": "stump"},
        {"prior": 0.03},
        {"l2": 5.0},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("selection", "directions"),
    [
        ("greedy", [1, -1, 0, 1]),
        ("greedy", [-1, 1, 0, -1]),
        ("unbiased", [1, -1, 0, 1]),
        ("unbiased", [-1, 1, 0, -1]),
        ("cyclic", [1, -1, 0, 0]),  # a table that is all one cell has a slope of rounding errors
    ],
    ids=str,
)
@pytest.mark.parametrize("response", RESPONSES)
def test_tables_equal_the_reference(options, selection, directions, response):
    codes, features, bins, y = problem(3)
    weight = np.random.default_rng(3).uniform(0.2, 3.0, len(y))
    # Later cycles cut what is nearly nothing.
    options = {"n_estimators": 2 if selection == "cyclic" else 4, "gain": 0.8, **options}
    gain, learner = options.pop("gain"), options.pop("weak_learner", "histogram")
    common = {"selection": selection, "response": response, **options}
    ours = train(
        codes, features, y, weight, gain=gain, weak_learner=learner, directions=directions, **common
    )
    theirs = ref.fit(
        codes,
        bins,
        y,
        weight,
        loss=ref.make_loss("glog", gain),
        learner=learner,
        tree=ref.TreeSettings(directions=directions),
        **common,
    )
    assert_equal_models(ours, theirs)
    for r in theirs:
        steps = np.diff(r.table[: bins[r.feature].n_ordered])
        assert (directions[r.feature] * steps >= 0).all()
