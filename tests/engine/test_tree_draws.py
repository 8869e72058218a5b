"""Test trees of drawn rows and features, and the part of chance in what they choose."""

import numpy as np
import pytest

import properboost as pb
from helpers.models import same_model
from helpers.trees import fit_tree, noisy
from properboost import _core

RESPONSES = _core.response_names()


@pytest.mark.parametrize("drawn", [{"max_features": 0.4}, {"subsample": 0.5}], ids=str)
def test_draws_are_the_seeds(drawn):
    X, y = noisy()
    model = fit_tree(X, y, random_state=3, **drawn)
    assert same_model(model, fit_tree(X, y, random_state=3, **drawn))
    assert same_model(fit_tree(X, y, **drawn), fit_tree(X, y, random_state=0, **drawn))
    for other in (0, 4, 2**32 - 1):
        assert not same_model(model, fit_tree(X, y, random_state=other, **drawn))
    assert same_model(fit_tree(X, y, random_state=3), fit_tree(X, y, random_state=4))


def test_every_round_draws_rows_anew():
    X, y = noisy(n=1000)
    trees = fit_tree(X, y, subsample=0.3, n_estimators=30).ensemble_.models[0]
    drawn = trees.trees.weight[trees.offsets[:-1]].sum(axis=1)
    assert len(set(drawn)) > 10
    # Each count is that of 1000 coins; the bounds are deviations of a count and of the mean.
    deviation = np.sqrt(1000 * 0.3 * 0.7)
    assert np.abs(drawn - 300).max() < 4 * deviation
    assert np.abs(drawn.mean() - 300) < 4 * deviation / np.sqrt(30)


def test_a_share_of_the_features_is_at_least_one():
    X, y = noisy(d=3)
    trees = fit_tree(X, y, max_features=1e-9, n_estimators=40, max_leaf_nodes=2)
    roots = trees.ensemble_.models[0].trees.feature
    # Every node has one drawn feature to split, so noise is chosen, too.
    assert set(roots[roots >= 0]) == {0, 1, 2}
    best = fit_tree(X, y, n_estimators=1, max_leaf_nodes=2).ensemble_.models[0].trees.feature[0]
    assert np.mean(roots[roots >= 0] == best) < 0.6


@pytest.mark.parametrize("policy", [{"max_leaf_nodes": 2}, {"grow_policy": "symmetric"}], ids=str)
def test_categories_of_few_rows_are_no_more_likely_than_numbers(policy):
    """Each category has two rows, few of them positive: roots of products differ by much."""
    chosen = {"unbiased": 0, "greedy": 0}
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.integers(0, 50, 100), rng.normal(size=(100, 3))])
        y = rng.random(100) < 0.2
        for selection in chosen:
            model = fit_tree(
                X, y, n_estimators=1, max_depth=1, min_child_weight=1.0, selection=selection,
                categorical_features=[0], calibration=pb.Calibration(slope=1.0), **policy,
            )  # fmt: skip
            chosen[selection] += model.feature_importances_[0] > 0
    assert chosen["unbiased"] <= 60 / 4
    assert chosen["greedy"] > 60 * 0.9


@pytest.mark.parametrize("response", RESPONSES)
def test_chance_gets_another_try(response):
    """All rows are alike and balanced: no split helps, though a draw might have."""
    X, y = np.ones((20, 2)), np.arange(20) % 2
    settings = {"response": response, "n_estimators": 9}
    assert fit_tree(X, y, **settings).n_iter_ == 0
    # One feature leaves nothing to draw.
    assert fit_tree(X[:, :1], y, max_features=0.5, **settings).n_iter_ == 0
    for drawn in ({"subsample": 0.5}, {"max_features": 0.5}):
        model = fit_tree(X, y, **settings, **drawn)
        assert model.n_iter_ == 9
        assert not model.decision_function(X).any()


def test_boosting_goes_on_after_a_round_that_does_not_help():
    X, y = noisy(n=14, d=1, seed=4)
    model = fit_tree(X, y, subsample=0.3, n_estimators=60, min_child_weight=0.0)
    history = model.history_
    idle = history["step"] == 0
    first = np.flatnonzero(idle)[0]
    assert not idle[first:].all()
    risk = history["risk"]
    assert risk[-1] < risk[first]
    assert (np.diff(risk) <= 1e-6).all()
    same = np.flatnonzero(idle[1:]) + 1
    np.testing.assert_array_equal(risk[same], risk[same - 1])
    # Trees that were not added have no savings, whatever their splits.
    rounds = model.ensemble_.models[0]
    of_idle = np.repeat(idle, np.diff(rounds.offsets))
    assert (rounds.trees.feature[of_idle] >= 0).any()
    assert not rounds.trees.saving[of_idle].any()
    assert rounds.trees.saving.any()
