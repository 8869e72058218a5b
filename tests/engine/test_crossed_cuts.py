"""Test grids of few cells: a cut of one feature, and cuts of the other on either side."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

import properboost as pb
from helpers.engine import train
from helpers.reference.cells import Statistics, bin_statistics
from helpers.reference.learners import crossed_cells

TIE = 1e-7

GRIDS = [
    (5, 4, 5, 4),
    (2, 2, 2, 2),
    (6, 4, 5, 4),  # the first feature has missing values
    (5, 5, 4, 4),  # both features have
    (4, 6, 0, 6),  # the first feature is categorical
    (5, 3, 0, 0),
    (3, 5, 3, 0),
    (1, 5, 1, 5),
    (4, 1, 4, 0),
]


def draw(seed, grid, n=300):
    """Return codes of a grid, some of them without rows, labels and weights."""
    rng = np.random.default_rng(seed)
    size = grid[0] * grid[1]
    share = rng.exponential(size=size) * (rng.random(size) < 0.8)
    codes = rng.choice(size, n, p=share / share.sum())
    effect = rng.normal(size=size) * 0.5
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-effect[codes])), 1.0, -1.0)
    return codes, y, rng.exponential(size=n)


def share_cells(values, cells):
    """Return whether codes of a cell share a value; codes of no cell must have 0."""
    assert np.all(values[cells < 0] == 0.0)
    return all(len(set(values[cells == k])) <= 1 for k in range(4))


@pytest.mark.parametrize("response", ["real", "newton"])
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_the_cells_are_the_best_of_all_crossed_cuts(grid, response):
    curvature = 0.0
    for seed in range(12):
        codes, y, weight = draw(seed, grid)
        rounds = train(
            codes[None, :], [grid], y, weight, n_estimators=1, max_cells=4, response=response,
            selection="greedy", step="unit",
        )  # fmt: skip
        width = grid[0] * grid[1] + 2
        # At F = 0 weights and curvatures are proportional to the sample weights.
        curvature = weight if response == "newton" else np.zeros(len(y))
        stats = bin_statistics(codes, width, y, weight, curvature)
        best = crossed_cells(stats, grid, response, 0.0, TIE)
        assert share_cells(rounds.values[:width], best.cells)
        values = {float(rounds.values[np.flatnonzero(best.cells == k)[0]])
                  for k in range(4) if np.any(best.cells == k)}  # fmt: skip
        assert len(values) == len(set(best.cells[best.cells >= 0]))


@pytest.mark.parametrize("grid", [(3, 3, 3, 3), (2, 8, 2, 8), (8, 8, 8, 8), (6, 6, 0, 6)], ids=str)
def test_what_they_save_by_chance(grid):
    rng = np.random.default_rng(0)
    size = grid[0] * grid[1]
    rows, saved = np.ones(size, int), []
    for _ in range(150):
        z = rng.normal(size=size)
        stats = Statistics(np.maximum(z, 0), np.maximum(-z, 0), np.ones(size), rows)
        score = crossed_cells(stats, grid, "newton", 0.0, TIE).score
        saved.append(float(score) - z.sum() ** 2 / size)
    cuts = np.array(grid[:2]) - 1.0
    of = np.where(np.array(grid[2:]) > 0, 1.8 * np.log(cuts), 2 / np.pi * 2 * (cuts - 1))
    # The charge for sets is a little more than they save by chance.
    assert np.mean(saved) == pytest.approx(3 + of.sum(), rel=0.1 if min(grid) > 0 else 0.25)


@pytest.mark.parametrize("min_saving", [0.0, 1e9])
def test_rows_beside_the_grid_get_nothing(min_saving):
    grid = (3, 3, 3, 3)
    codes, y, weight = draw(0, grid)
    y = np.where(np.random.default_rng(1).random(len(y)) < 0.3, 1.0, -1.0)
    settings = {"n_estimators": 1, "max_cells": 4, "selection": "greedy", "step": "unit"}
    values = train(codes[None, :], [grid], y, weight, min_saving=min_saving, **settings).values
    assert np.all(values[9:11] == 0.0)
    assert (len(set(values[:9])) == 1) == (min_saving > 0.0)
    assert np.all(values[:9] != 0.0)


DIRECTED = [
    ((4, 6, 4, 0), [1, 0]),
    ((6, 4, 0, 4), [0, 1]),
    ((4, 6, 3, 5), [1, 1]),
    ((4, 4, 4, 4), [1, -1]),
]


@pytest.mark.parametrize("response", ["real", "newton"])
@pytest.mark.parametrize(("grid", "directions"), DIRECTED, ids=str)
def test_directions_hold_inside_the_grid_and_add_0_outside(grid, directions, response):
    for seed in range(40):
        codes, y, weight = draw(seed, grid, 120)
        values = train(
            codes[None, :], [grid], y, weight, n_estimators=1, max_cells=4, response=response,
            selection="greedy", step="unit", directions=directions,
        ).values  # fmt: skip
        assert np.all(values[grid[0] * grid[1] :] == 0.0)
        table = values[: grid[0] * grid[1]].reshape(grid[:2])
        for axis, direction in enumerate(directions):
            lines = np.moveaxis(table, axis, 0)[: grid[2 + axis]]
            assert direction == 0 or np.all(direction * np.diff(lines, axis=0) >= 0.0)


def waves(n=3000):
    """Return rows whose class depends on two numbers together, and on neither alone."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    X[rng.random(n) < 0.1, 0] = np.nan
    f = 2.0 * np.sign(np.nan_to_num(X[:, 0], nan=1.0) * X[:, 1])
    return X, (rng.random(n) < 1 / (1 + np.exp(-f))).astype(int)


@pytest.mark.parametrize("learner", ["table", "stump"])
def test_an_effect_of_no_feature_alone_is_found(learner):
    X, y = waves()
    interactions = pb.Interactions(1, learning_rate=0.5, smoothing=0.0)
    model = pb.ProperBoostClassifier(weak_learner=learner, interactions=interactions)
    model.fit(X[:2000], y[:2000])
    assert [tuple(pair) for pair in model.pairs_] == [(0, 1)]
    bayes = np.log1p(np.exp(-2.0)) + 2.0 / (1 + np.exp(2.0))
    assert log_loss(y[2000:], model.predict_proba(X[2000:])) < bayes + 0.1


@pytest.mark.parametrize("learner", ["table", "stump"])
def test_few_cells_are_in_order(learner):
    X, y = waves(1000)
    interactions = pb.Interactions([(0, 1)], learning_rate=1.0)
    model = pb.ProperBoostClassifier(
        weak_learner=learner, interactions=interactions, monotonic_cst=[0, 1, 0, 0]
    ).fit(X, y)
    at = np.repeat(X[:20], 50, axis=0)
    at[:, 1] = np.tile(np.linspace(-3, 3, 50), 20)
    raw = model.decision_function(at).reshape(20, 50)
    assert np.diff(raw, axis=1).min() >= 0.0
    assert np.diff(raw, axis=1).max() > 0.0
