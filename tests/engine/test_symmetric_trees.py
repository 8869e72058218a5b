"""Test symmetric trees: all nodes of a level share their split."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.engine import assert_identical, sorted_problem, train
from helpers.models import same_model
from helpers.trees import fit_tree
from properboost import _core

pd = pytest.importorskip("pandas")

RESPONSES = _core.response_names()


def questions_of(trees, nodes):
    """Return the features and sets of codes of the splits among these nodes."""
    return {
        (trees.feature[k], trees.goes_left[k].tobytes(), trees.goes_right[k].tobytes())
        for k in nodes
        if trees.feature[k] >= 0
    }


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    depth=st.integers(1, 7),
    response=st.sampled_from(RESPONSES),
    n_classes=st.integers(2, 4),
    multi_strategy=st.sampled_from(["multi_output_tree", "one_output_per_tree"]),
    floor=st.sampled_from([0.0, 1.0, 5.0]),
)
def test_nodes_of_a_level_share_their_split(
    seed, depth, response, n_classes, multi_strategy, floor
):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 3)).round(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nansum(X[:, :2], axis=1) + rng.normal(size=150)
    y = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)
    if response == "conditional":  # this response learns each class against the rest
        multi_strategy = "multi_output_tree"
    model = fit_tree(
        X, y, grow_policy="symmetric", max_depth=depth, response=response, n_estimators=4,
        multi_strategy=multi_strategy, min_child_weight=floor, rows_per_bin=None,
    )  # fmt: skip
    risk = model.history_["risk"]
    for rounds in model.ensemble_.models:
        for begin, end in itertools.pairwise(rounds.offsets):
            trees = rounds.trees
            assert len(questions_of(trees, range(begin, end))) <= depth
            assert trees.part(begin, end).depth <= depth
            assert (trees.weight[begin:end].sum(axis=1) > 0).all()  # no leaf is without rows
    if model.n_iter_ > 1 and n_classes == 2:
        assert (np.diff(risk) <= 1e-6 * risk[:-1]).all()


def test_a_scarce_branch_does_not_forbid_a_level():
    """A node with no rows on one side of the best cut waits for the next level."""
    cells = [  # x, z, last, positive rows of 20: x is 1 where z is
        (0, 0, 0, 3), (0, 0, 1, 5), (1, 0, 0, 9), (1, 0, 1, 11), (1, 1, 0, 18), (1, 1, 1, 19),
    ]  # fmt: skip
    X = np.repeat([cell[:3] for cell in cells], 20, axis=0).astype(float)
    y = np.concatenate([np.arange(20) < positive for *_, positive in cells])
    model = fit_tree(
        X, y, grow_policy="symmetric", n_estimators=1, max_depth=3, min_child_weight=0.0,
        rows_per_bin=None,
    )  # fmt: skip
    trees = model.ensemble_.models[0].trees
    x, z, last = 0, 1, 2
    assert trees.feature.tolist() == [z, x, last, last, last, *[-1] * 6]
    np.testing.assert_array_equal(trees.left[:5], [1, 3, 9, 5, 7])


@pytest.mark.parametrize("response", RESPONSES)
def test_levels_of_odd_tables_are_finite(response):
    rng = np.random.default_rng(0)
    n = 300
    X = np.c_[np.zeros(n), np.full(n, np.nan), rng.integers(0, 2, n), rng.normal(size=n)]
    y = (X[:, 3] > 0) ^ (rng.random(n) < 0.05)
    weight = 10.0 ** rng.uniform(-12, 0, n)
    weight /= weight.mean()
    settings = {"grow_policy": "symmetric", "max_depth": 7, "min_child_weight": 0.0}
    for labels in (y, X[:, 3] > 0, (3 * rng.random(n)).astype(int)):
        model = fit_tree(X, labels, weight, response=response, n_estimators=10, **settings)
        assert np.isfinite(model.predict_proba(X)).all()
    constant = fit_tree(X[:, :2], y, grow_policy="symmetric")
    assert np.ptp(constant.decision_function(X[:, :2])) == 0.0


@pytest.mark.parametrize("selection", ["greedy", "unbiased"])
def test_levels_do_not_depend_on_threads(selection):
    codes, features, _, y, weight = sorted_problem(7, n=30_000)
    fits = [
        train(codes, features, y, weight, weak_learner="tree", grow_policy="symmetric", max_depth=6,
              n_estimators=3, selection=selection, max_features=0.7, subsample=0.8, n_threads=n)
        for n in (1, 2, 4)
    ]  # fmt: skip
    for other in fits[1:]:
        assert_identical(fits[0], other)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.integers(2, 3),
    growth=st.sampled_from(
        [{"grow_policy": "symmetric", "max_depth": d} for d in (2, 5, 7)]
        + [{"max_leaf_nodes": leaves} for leaves in (2, 8, 9, 40)]
    ),
)
def test_rows_that_are_looked_up_end_where_walked_ones_do(seed, n_classes, growth):
    """Many rows are scored by the bits of their splits; few rows walk the tree."""
    rng = np.random.default_rng(seed)
    n = 1500
    frame = pd.DataFrame(rng.normal(size=(n, 2)).round(1), columns=["a", "b"])
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    frame["c"] = rng.integers(0, 9, n) * 1.0  # training has no missing value here
    frame["town"] = pd.Categorical(rng.integers(0, 30, n).astype(str))
    y = (frame["a"].fillna(0) + frame["town"].astype(int) % 3 + rng.normal(size=n)).to_numpy()
    y = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)
    model = fit_tree(frame[:300], y[:300], n_estimators=8, max_features=0.6, **growth)
    frame.loc[::7, "c"] = np.nan
    whole = model.decision_function(frame)
    parts = [model.decision_function(frame[i : i + 100]) for i in range(0, n, 100)]
    np.testing.assert_array_equal(whole, np.concatenate(parts))


@pytest.mark.parametrize(
    ("n", "n_classes", "depth"), [(300, 2, 4), (1000, 2, 5), (3000, 2, 6), (300, 9, 5)]
)
def test_few_rows_have_few_levels(n, n_classes, depth):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 2)), np.arange(n) % n_classes
    shared = {"n_estimators": 2, "min_child_weight": 0.0, "grow_policy": "symmetric"}
    model, other = fit_tree(X, y, **shared), fit_tree(X, y, max_depth=depth, **shared)
    assert same_model(model, other)
    assert not same_model(model, fit_tree(X, y, max_depth=depth - 1, **shared))
