"""Test directions of features in trees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.engine import LOSSES
from helpers.trees import fit_tree, noisy
from properboost import _core
from properboost.parameters.kinds import NOT_SOLVED

pd = pytest.importorskip("pandas")

RESPONSES = _core.response_names()


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**16),
    directions=st.tuples(*[st.sampled_from([-1, 0, 1])] * 3),
    loss=st.sampled_from(sorted(LOSSES)),
    response=st.sampled_from(RESPONSES),
    step=st.sampled_from(NOT_SOLVED),
    leaves=st.integers(2, 30),
    subsample=st.sampled_from([1.0, 0.6]),
    policy=st.sampled_from(["best_first", "symmetric"]),
)
def test_predictions_follow_their_directions(
    seed, directions, loss, response, step, leaves, subsample, policy
):
    rng = np.random.default_rng(seed)
    n = 120
    frame = pd.DataFrame(rng.integers(0, 12, (n, 3)).astype(float), columns=["a", "b", "c"])
    frame["town"] = pd.Categorical(rng.choice(["Bonn", "Kiel", "Ulm"], n))
    raw = np.sin(frame["a"]) * (frame["b"] - 4) + 0.3 * frame["c"] * (frame["town"] == "Ulm")
    y = raw + rng.logistic(size=n) > raw.mean()
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    frame["town"] = frame["town"].astype("category")
    model = fit_tree(
        frame,
        y,
        loss=loss,
        response=response,
        step=step,
        subsample=subsample,
        min_child_weight=0.0,
        rows_per_bin=None,
        monotonic_cst=[*directions, 0],
        **({"max_leaf_nodes": leaves} if policy == "best_first" else {"grow_policy": policy}),
    )
    others = frame.iloc[rng.integers(0, n, 12)].reset_index(drop=True)
    others["town"] = pd.Categorical(rng.choice(["Bonn", "Kiel", "Ulm", "Rome", None], 12))
    grid = np.r_[-np.inf, np.linspace(-1, 13, 57), np.inf]
    for name, direction in zip("abc", directions, strict=True):
        if direction == 0:
            continue
        rows = others.loc[np.repeat(others.index, len(grid))]
        rows = rows.assign(**{name: np.tile(grid, len(others))})
        steps = np.diff(model.decision_function(rows).reshape(len(others), -1), axis=1)
        assert (direction * steps >= 0).all()


def test_directions_hold_where_the_labels_are_against_them():
    X, y = noisy(d=3)
    free = fit_tree(X, y)
    grid = np.zeros((50, 3))
    grid[:, 2] = np.linspace(-3, 3, 50)
    assert np.diff(free.decision_function(grid)).max() > 0
    falling = fit_tree(X, y, monotonic_cst=[0, 0, -1])
    assert np.diff(falling.decision_function(grid)).max() <= 0
    rising = fit_tree(X, y, monotonic_cst=[0, 0, 1])
    # A direction that the labels follow costs little.
    assert rising.score(X, y) > free.score(X, y) - 0.05 > falling.score(X, y)
    assert rising.feature_importances_[2] > 0.1
