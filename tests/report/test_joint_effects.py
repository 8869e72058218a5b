"""Sentences on joint effects, and the colours and intervals of their maps."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import properboost as pb
from properboost.report.effects import list_pair_effects, list_terms
from properboost.report.joint_effects import (
    describe_cell,
    describe_joint_effect,
    find_reach,
    make_maps,
    name_cell,
)
from properboost.report.wording import signed


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(3_000, 3)), columns=["a", "b", "c"])
    z = 2.0 * np.sign(X["a"] * X["b"]) * (1.0 + (X["c"] > 0.0)) + rng.logistic(size=len(X))
    return X, (z > 0.0).astype(int)


@pytest.fixture(scope="module")
def model(data):
    learner = pb.Tree(max_depth=3, grow_policy="symmetric")
    return pb.ProperBoostClassifier(weak_learner=learner, n_estimators=30, outer_bags=4).fit(*data)


def list_joint(model):
    terms = [term for term in list_terms(model) if term.is_pair]
    return {e.term.name: e for e in list_pair_effects(model, terms, 1, "ill")}


def test_two_numbers_that_act_together_have_sentences(model):
    effect = list_joint(model)["a and b"]
    quarters, strongest, cells = describe_joint_effect(effect, 0.9)
    assert quarters == (
        "By and large, “ill” is more probable where a and b are both low or both high, and less "
        "where only one is high."
    )
    assert strongest.startswith("Strongest for sure: +")
    up, down = re.findall(r"([+−][\d.]+) percentage points where", strongest)
    assert (up[0], down[0]) == ("+", "−")
    (shown,) = make_maps(effect.probability, 0.9)
    few = shown.weights < 10.0
    low, high = (end - effect.probability.average for end in shown.ends)
    assert few.any()
    assert cells == (
        f"{np.sum(few & (shown.weights > 0.0))} of {np.count_nonzero(shown.weights)} cells had "
        f"fewer than 10 training rows; {np.sum(~few & (low <= 0.0) & (high >= 0.0))} of the others "
        "may be nothing, as their intervals have 0."
    )
    flipped = replace(effect, log_odds=replace(effect.log_odds, values=-effect.log_odds.values))
    assert (
        "“ill” is less probable where a and b are both low or both high, and more where"
        in (describe_joint_effect(flipped, 0.9)[0])
    )
    # Where a map may be chance, its shape has no sentence.
    doubtful = replace(effect, term=replace(effect.term, within_noise=True))
    assert describe_joint_effect(doubtful, 0.9) == [cells]


def test_the_strongest_cells_are_those_of_the_surest_effects(model):
    effect = list_joint(model)["a and b"]
    function = effect.probability
    (shown,) = make_maps(function, 0.9)
    low = np.where(shown.weights >= 10.0, shown.ends[0] - function.average, -np.inf)
    i, j = np.unravel_index(int(low.argmax()), low.shape)
    named = (
        f"where {name_cell(function, shown, i, j)} ({describe_cell(function, shown, i, j, 0.9)})"
    )
    assert named in describe_joint_effect(effect, 0.9)[1]


def test_cells_have_intervals_and_rows_also_of_three_features(model):
    joint = list_joint(model)
    for name in ("a and b", "a and b and c"):
        function = joint[name].log_odds
        for shown in make_maps(function, 0.9):
            i, j = np.argwhere(shown.weights > 0.0)[0]
            words = describe_cell(function, shown, i, j, 0.9)
            low, high = (signed(end[i, j]) for end in shown.ends)
            assert words.startswith(f"90% interval {low} to {high}")
            assert ("may be nothing" in words) == (
                shown.ends[0][i, j] <= 0.0 <= shown.ends[1][i, j]
            )
            rows = shown.weights[i, j]
            assert words.endswith(f"{rows:,.0f} training row{'s' if rows != 1.0 else ''}")
            place = name_cell(function, shown, i, j)
            assert place.count(", ") == len(function.labels) - 1


def test_without_bags_cells_of_many_rows_are_named(data):
    learner = pb.Tree(max_depth=2, grow_policy="symmetric")
    model = pb.ProperBoostClassifier(weak_learner=learner, n_estimators=30).fit(*data)
    effect = list_joint(model)["a and b"]
    (shown,) = make_maps(effect.probability, 0.9)
    assert shown.ends is None
    for sentence in describe_joint_effect(effect, 0.9):
        assert "interval" not in sentence
        for rows in re.findall(r"\(([\d,]+) training rows", sentence):
            assert int(rows.replace(",", "")) >= 100


def test_cells_of_few_rows_do_not_set_the_ends_of_the_colours(model):
    function = list_joint(model)["a and b"].log_odds
    (shown,) = make_maps(function, 0.9)
    assert 4 <= max(shown.weights.shape) <= 12  # 3,000 rows are 20 in each of 12 x 12 cells
    heavy = np.full(shown.weights.shape, 50.0)
    values = np.where(np.arange(values_size := heavy.size) % 7 == 0, -0.5, 1.0).reshape(heavy.shape)
    wild, light = values.copy(), heavy.copy()
    wild[0, 0], light[0, 0] = 30.0, 1.0
    assert find_reach(function, [shown._replace(values=wild, weights=light)]) == 1.0
    # Where all cells have few rows, they set them.
    few = np.full(heavy.shape, 1.0)
    assert find_reach(function, [shown._replace(values=values, weights=few)]) == 1.0
    # A stronger effect that 2% of the rows have is not cut off.
    wild.ravel()[: values_size // 50 + 1] = 4.0
    assert find_reach(function, [shown._replace(values=wild, weights=heavy)]) == 4.0


def test_categories_are_neither_low_nor_high():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=2_000), "kind": rng.choice(["x", "y"], 2_000)})
    X["kind"] = pd.Categorical(X["kind"])
    z = 2.0 * np.where(X["kind"] == "x", 1.0, -1.0) * np.sign(X["a"]) + rng.logistic(size=2_000)
    model = pb.ProperBoostClassifier(interactions=1, weak_learner="table").fit(X, z > 0.0)
    effect = list_joint(model)["a and kind"]
    assert effect.are_numbers == (True, False)
    assert not any("both" in sentence for sentence in describe_joint_effect(effect, 0.9))
