"""Test boosted trees: the engine against the plain reference, and features of trees alone."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import helpers.reference as ref
import properboost as pb
from helpers.engine import (
    LOSSES,
    SINGLE,
    assert_equal_models,
    assert_identical,
    describe_learner,
    make_boosting,
    problem,
    tables,
    train,
)
from helpers.instruction_sets import other_sets, run_with
from helpers.models import same_model
from helpers.searches import assert_same_scores, has_params, integers
from helpers.trees import fit_tree, noisy, weights_by_node
from properboost import _core
from properboost.data.frames import open_table
from properboost.models.ensemble import Rounds
from properboost.parameters.kinds import NOT_SOLVED

pd = pytest.importorskip("pandas")

RESPONSES = _core.response_names()
STEPS = _core.step_names()


# -- against the reference ------------------------------------------------------------------------


def sorted_problem(seed, n=400):
    """Return a problem in the engine's order, which numbers rows alike; some weights are 0."""
    codes, features, bins, y = problem(seed, n)
    order = np.argsort(y, kind="stable")
    weight = np.random.default_rng(seed).uniform(2.0, 8.0, n)
    weight[::9] = 0.0
    return codes[:, order], features, bins, y[order], weight


def raw_predictions(rounds, codes):
    """Return the raw predictions of the engine's trees, added up here."""
    rounds = Rounds.from_native(rounds)
    raw = np.zeros(codes.shape[1])
    for t in range(len(rounds)):
        raw += rounds.table(t)[rounds.find_codes(t, codes, 1)]
    return raw


OPTIONS = [
    {},
    {"max_leaf_nodes": 128},
    {"max_depth": 2, "max_leaf_nodes": 20},
    {"min_child_weight": 20.0},
    {"min_child_weight": 6.0, "max_depth": 4, "max_leaf_nodes": 12},
    {"max_features": 0.5, "seed": 3},
    {"max_features": 0.1, "seed": 3},
    {"subsample": 0.9, "seed": 2**32 - 1, "max_leaf_nodes": 128},
    {"subsample": 0.3, "max_features": 0.7, "min_child_weight": 1.0},
    {"directions": [1, -1, 0, 0]},
    {"directions": [-1, 0, 0, 1], "subsample": 0.8, "max_leaf_nodes": 12},
    {"selection": "unbiased", "max_leaf_nodes": 20},
    {"selection": "unbiased", "max_features": 0.7, "subsample": 0.8, "min_child_weight": 2.0},
    {"grow_policy": "symmetric", "max_depth": 3},
    {"grow_policy": "symmetric", "max_depth": 7},
    {"grow_policy": "symmetric", "max_depth": 4, "min_child_weight": 12.0},
    {"grow_policy": "symmetric", "max_depth": 5, "max_features": 0.5, "subsample": 0.7, "seed": 3},
    {"grow_policy": "symmetric", "max_depth": 4, "directions": [1, -1, 0, 0]},
    {"grow_policy": "symmetric", "max_depth": 4, "selection": "unbiased"},
    {"grow_policy": "symmetric", "max_depth": 6, "selection": "unbiased", "max_features": 0.7,
     "subsample": 0.8, "min_child_weight": 4.0},
    {"interaction_limit": 1, "max_leaf_nodes": 12},
    {"interaction_limit": 2, "max_leaf_nodes": 20, "selection": "unbiased"},
    {"interaction_sets": [[0, 1], [1, 2, 3]], "max_features": 0.7, "seed": 3, "max_leaf_nodes": 20},
    {"interaction_sets": [[0, 1, 2], [3]], "interaction_limit": 2, "max_leaf_nodes": 20},
    {"grow_policy": "symmetric", "max_depth": 5, "interaction_limit": 2},
    {"grow_policy": "symmetric", "max_depth": 4, "interaction_sets": [[0, 2], [1], [2, 3]]},
    {"grow_policy": "symmetric", "max_depth": 4, "interaction_limit": 2, "max_features": 0.5},
]  # fmt: skip


LOSSES_AND_STEPS = [("glog", "guarded"), ("savage", "line_search"), ("exponential", "unit")]


# All options meet all responses; both meet every loss and its step in turn.
@pytest.mark.parametrize(
    ("options", "response", "loss", "step"),
    [
        (options, response, *LOSSES_AND_STEPS[(i + k) % len(LOSSES_AND_STEPS)])
        for i, options in enumerate(OPTIONS)
        for k, response in enumerate(RESPONSES)
    ],
    ids=str,
)
def test_every_option_equals_the_reference(options, response, loss, step):
    codes, features, bins, y, weight = sorted_problem(1)
    options = {"max_leaf_nodes": 6, **options}
    selection = options.pop("selection", "greedy")
    common = {
        "selection": selection,
        "n_estimators": 3,
        "response": response,
        "step": step,
        "learning_rate": 0.6,
    }
    ours = train(
        codes, features, y, weight, loss=loss, gain=0.7, weak_learner="tree", **options, **common
    )
    theirs = ref.fit(
        codes,
        bins,
        y,
        weight,
        loss=ref.make_loss(loss, 0.7),
        learner="tree",
        tree=ref.TreeSettings(**options),
        **common,
    )
    assert_equal_models(ours, theirs)
    assert_equal_nodes(ours, theirs, y[weight > 0], weight[weight > 0])
    # These rows include codes that training never had.
    rng = np.random.default_rng(0)
    others = np.array([rng.integers(0, b.n_bins, 500, dtype=np.uint8) for b in bins])
    np.testing.assert_allclose(
        raw_predictions(ours, others), ref.predict(theirs, others), rtol=1e-4, atol=1e-4
    )


def assert_equal_nodes(ours, theirs, y, weight):
    """Compare the weights of the rows that nodes were grown from, and the savings of splits."""
    node_weights = weights_by_node(theirs, y, weight)
    np.testing.assert_allclose(ours.trees.weight, node_weights, rtol=1e-12)
    saving = np.concatenate([r.tree.saving for r in theirs])
    # A saving is the difference of two sums over the node's rows.
    assert (np.abs(ours.trees.saving - saving) <= 1e-5 * np.sum(node_weights, axis=1)).all()


@pytest.mark.parametrize(
    ("response", "extra"),
    [
        ("newton", {"l2": 3.0}),
        *itertools.product(["real", "exact"], [{"prior": 0.03}, {"prior": 1e-6}]),
    ],
    ids=str,
)
def test_regularised_leaves_equal_the_reference(response, extra):
    codes, features, bins, y, weight = sorted_problem(2)
    common = {"n_estimators": 4, "response": response, **extra}
    ours = train(
        codes, features, y, weight, gain=2.0, weak_learner="tree", max_leaf_nodes=7, **common
    )
    theirs = ref.fit(
        codes,
        bins,
        y,
        weight,
        loss=ref.make_loss("glog", 2.0),
        learner="tree",
        tree=ref.TreeSettings(max_leaf_nodes=7),
        **common,
    )
    assert_equal_models(ours, theirs)


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("step", STEPS)
def test_a_stump_is_a_tree_of_two_leaves(response, step):
    codes, features, _, y, weight = sorted_problem(3)
    common = {"response": response, "step": step, "gain": 0.6, "n_estimators": 8}
    stump = train(codes, features, y, weight, weak_learner="stump", **common)
    tree = train(codes, features, y, weight, weak_learner="tree", max_leaf_nodes=2, **common)
    roots = tree.trees.feature[tree.offsets[:-1]]
    cut = roots >= 0  # else one value fits all rows, and a stump still names a feature
    assert cut[:2].all()
    np.testing.assert_array_equal(roots[cut], stump.feature[cut])
    np.testing.assert_allclose(tree.cost, stump.cost, rtol=SINGLE)
    np.testing.assert_allclose(tree.step, stump.step, rtol=30 * SINGLE)
    np.testing.assert_allclose(tree.risk, stump.risk, rtol=SINGLE)
    # Only codes of training are compared: unseen codes add 0 in a stump.
    np.testing.assert_allclose(
        raw_predictions(tree, codes.astype(np.uint8)), add_up(stump, codes), rtol=1e-4, atol=1e-5
    )


def add_up(rounds, codes):
    raw = np.zeros(codes.shape[1])
    for step, table, feature in zip(rounds.step, tables(rounds), rounds.feature, strict=True):
        raw += step * table[codes[feature]]
    return raw


# -- level by level -------------------------------------------------------------------------------


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


def test_a_search_compares_policies_with_their_own_limits():
    X, y = noisy()
    names = ("grow_policy", "max_leaf_nodes", "max_depth")
    limits = zip(names, (["best_first", "symmetric"], [None, 4, 8], [2, None]), strict=True)
    search = pb.ProperBoostClassifierCV(
        {
            "gain": [10.0], "weak_learner": "tree", "n_estimators": 4,
            **{f"weak_learner__{name}": values for name, values in limits},
        }, cv=3, effort=None,
    ).fit(X, y)  # fmt: skip
    learners = [params["weak_learner"] for params in search.cv_results_["params"]]
    tried = [tuple(getattr(learner, name) for name in names) for learner in learners]
    assert tried == [
        ("best_first", None, 2), ("best_first", None, None), ("best_first", 4, 2),
        ("best_first", 4, None), ("best_first", 8, 2), ("best_first", 8, None),
        ("symmetric", None, 2), ("symmetric", None, None),
    ]  # fmt: skip
    again = clone(search.best_estimator_).fit(X, y)
    np.testing.assert_array_equal(search.decision_function(X), again.decision_function(X))


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


# -- chance ---------------------------------------------------------------------------------------


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


# -- directions -----------------------------------------------------------------------------------


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


# -- what trees learn -----------------------------------------------------------------------------


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("response", RESPONSES)
def test_trees_learn_interactions(loss, response):
    """The labels are the exclusive or of two features, each uninformative alone."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 4)).astype(float)
    X[:, :2] = np.tile([[0, 0], [0, 1], [1, 0], [1, 1]], (100, 1))
    y = X[:, 0] != X[:, 1]
    shared = {"loss": loss, "response": response, "n_estimators": 5}
    # A draw or a random correlation must break the tie of the first split.
    tree = fit_tree(X, y, **shared, max_leaf_nodes=16, min_child_weight=0.0)
    assert tree.score(X, y) == 1.0
    tables = pb.ProperBoostClassifier(**shared).fit(X, y)
    assert tables.score(X, y) < 0.65


def test_importances_find_the_relevant_features():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(1000, 4)), columns=list("abcd"))
    frame["town"] = pd.Categorical(rng.choice(["Bonn", "Kiel", "Ulm"], 1000))
    raw = 3 * frame["a"] * (frame["town"] == "Ulm") + 2 * frame["c"]
    y = raw + rng.logistic(size=1000) > 0
    importances = fit_tree(frame, y, min_child_weight=5.0).feature_importances_
    assert importances.sum() == pytest.approx(1.0, rel=1e-12)
    assert set(np.argsort(importances)[-3:]) == {0, 2, 4}
    assert importances[[1, 3]].max() < 0.5 * importances[[0, 2, 4]].min()


@pytest.mark.parametrize("scale", [2.0**-30, 3.0, 1e6])
@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
def test_what_splits_save_is_in_the_unit_of_the_weights(scale):
    X, y = noisy()
    weight = np.random.default_rng(0).uniform(1.0, 2.0, len(y))
    settings = {"n_estimators": 1, "min_child_weight": 0.0, "rows_per_bin": None}
    ours, theirs = (
        fit_tree(X, y, w, **settings).ensemble_.models[0].trees for w in (weight, scale * weight)
    )
    np.testing.assert_allclose(theirs.saving, scale * ours.saving, rtol=1e-9)
    np.testing.assert_allclose(theirs.weight, scale * ours.weight, rtol=1e-12)


def test_many_classes(iris):
    X, y = iris
    labels = np.array(["a", "b", "c"])[y]
    model = fit_tree(X[::2], labels[::2], n_estimators=20, learning_rate=0.3)
    probability = model.predict_proba(X[1::2])
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-12)
    assert model.score(X[1::2], labels[1::2]) > 0.9
    assert model.history_["class"].tolist() == np.repeat(["a", "b", "c"], 20).tolist()
    assert set(model.history_["feature"]) == {-1}


def test_limits_are_kept():
    X, y = noisy(n=500)
    weight = np.random.default_rng(0).uniform(0.5, 1.5, len(y))
    limits = {"max_leaf_nodes": 9, "max_depth": 4, "min_child_weight": 6.0}
    model = fit_tree(X, y, weight, n_estimators=3, loss="exponential", **limits)
    rounds, binning = model.ensemble_.models[0], model.ensemble_.binning
    codes = binning.encode(open_table(model, X, reset=False), None, 1)
    before = np.zeros(len(X))
    for t, raw in enumerate(model.staged_decision_function(X)):
        tree = rounds.trees.part(*rounds.offsets[t : t + 2])
        assert 2 <= tree.is_leaf.sum() <= 9
        assert tree.depth <= 4
        row_weights = weight * model.loss_.weight(np.where(y, before, -before))
        leaf_weights = np.bincount(rounds.find_codes(t, codes, 1), row_weights)
        assert leaf_weights[tree.is_leaf].min() >= 6.0 * (1 - 1e-6)
        before = raw


@pytest.mark.parametrize("depth", [1, 2])
def test_a_tree_that_nothing_more_can_be_learnt_from_is_the_last(depth):
    # Two values have one class each: after one split every leaf is pure.
    X = np.repeat([[0.0], [1.0]], 50, axis=0)
    y = np.repeat([0, 1], 50)
    model = fit_tree(X, y, max_depth=depth, n_estimators=3)
    leaves = np.diff(model.ensemble_.models[0].offsets)
    assert set(leaves) == {3}
    # With rows of both classes at each value there is nothing to learn.
    nothing = fit_tree(np.tile(X, (2, 1)), np.r_[y, 1 - y], max_depth=depth)
    assert nothing.n_iter_ == 0
    np.testing.assert_array_equal(nothing.predict_proba(X), 0.5)
    np.testing.assert_array_equal(nothing.feature_importances_, [0.0])


# -- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_leaf_nodes": 1}, "max_leaf_nodes must be between 2 and 128, or None; got 1"),
        ({"max_leaf_nodes": 129}, "max_leaf_nodes must be between 2 and 128, or None; got 129"),
        ({"max_leaf_nodes": 8.0}, "max_leaf_nodes must be an integer"),
        ({"max_depth": 0}, "max_depth must be between 1 and"),
        (
            {"max_depth": 8, "grow_policy": "symmetric"},
            "max_depth must be at most 7 with grow_policy='symmetric'; got 8",
        ),
        (
            {"grow_policy": "level"},
            "grow_policy must be one of 'best_first', 'symmetric'; got 'level'",
        ),
        ({"max_depth": 2.5}, "max_depth must be an integer"),
        ({"min_child_weight": -0.1}, r"min_child_weight must be at least 0; got -0\.1"),
        ({"min_child_weight": np.nan}, "min_child_weight must be a finite number"),
        ({"max_features": 0.0}, r"max_features must be above 0 and at most 1; got 0\.0"),
        ({"max_features": 1.5}, r"max_features must be between 0 and 1; got 1\.5"),
        ({"max_features": "sqrt"}, "max_features must be a finite number"),
        ({"subsample": 0}, "subsample must be above 0 and at most 1; got 0"),
        ({"subsample": -0.5}, r"subsample must be between 0 and 1; got -0\.5"),
        ({"subsample": None}, "subsample must be a finite number"),
        ({"monotonic_cst": 1}, "monotonic_cst must be a list, a dict or None; got 1"),
        ({"monotonic_cst": np.eye(3, dtype=int)}, "monotonic_cst must be a list, a dict or None"),
        ({"monotonic_cst": "up"}, "monotonic_cst must be a list, a dict or None; got 'up'"),
        ({"monotonic_cst": [1, 0]}, "an entry for each of the 3 features; got 2"),
        ({"monotonic_cst": [1, 0, 0, 0]}, "an entry for each of the 3 features; got 4"),
        ({"monotonic_cst": [2, 0, 0]}, r"monotonic_cst\[0\] must be between -1 and 1; got 2"),
        ({"monotonic_cst": [0.5, 0, 0]}, r"monotonic_cst\[0\] must be an integer .*; got 0\.5"),
        ({"monotonic_cst": [0, "up", 0]}, r"monotonic_cst\[1\] must be an integer .*; got 'up'"),
        ({"monotonic_cst": [True, 0, 0]}, r"monotonic_cst\[0\] must be an integer .*; got True"),
        ({"monotonic_cst": {"a": -2}}, r"monotonic_cst\['a'\] must be between -1 and 1; got -2"),
        ({"monotonic_cst": [0, 0, 1]}, "monotonic_cst must be 0 for feature 2, .* categorical"),
        ({"monotonic_cst": {"town": -1}}, "monotonic_cst must be 0 for feature 2"),
        ({"monotonic_cst": {"d": 1}}, "monotonic_cst: the name 'd' is unknown"),
        ({"monotonic_cst": {3: 1}}, "monotonic_cst must be between 0 and 2; got 3"),
    ],
    ids=str,
)
def test_bad_parameters(parameters, message):
    X, y = noisy(n=60, d=2)
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["town"] = pd.Categorical(np.where(y, "Bonn", "Ulm"))
    with pytest.raises((ValueError, TypeError), match=message):
        fit_tree(frame, y, **parameters)


# -- searches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem_", ["two classes", "three classes", "weighted"])
def test_a_search_finds_what_grid_search_finds(problem_):
    X, y = integers(n_classes=3 if problem_ == "three classes" else 2)
    weight = np.random.default_rng(1).integers(1, 4, len(y)) if problem_ == "weighted" else None
    shared = {"weak_learner": "tree", "n_estimators": 5}
    of_rows = {"rows_per_bin": None, "random_state": 2}
    lists = {
        "weak_learner__max_leaf_nodes": [2, 6],
        "learning_rate": [0.3, 1.0],
        "weak_learner__min_child_weight": [0.0, 4.0],
        "weak_learner__max_features": [0.5, 1.0],
    }
    gains = [0.5, 1.0, 2.0] if problem_ == "two classes" else [1.0]
    if problem_ == "three classes":
        lists["multiclass"] = ["softmax", "one_vs_rest"]
    space = {"gain": gains, **lists, **shared}
    ours = pb.ProperBoostClassifierCV(space, cv=3, effort=None, **of_rows)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the chosen gain")
        ours.fit(X, y, weight)
    # The search chooses the temperature of one-vs-rest models.
    names = ["gain", *lists, "calibration__temperature"]
    tried = [pb.ProperBoostClassifier(**p).get_params() for p in ours.cv_results_["params"]]
    assert len(tried) == len(gains) * np.prod([len(values) for values in lists.values()])
    theirs = GridSearchCV(
        pb.ProperBoostClassifier(calibration=pb.Calibration(slope=1.0), **shared, **of_rows),
        [{name: [params[name]] for name in names} for params in tried],
        cv=3,
        scoring="neg_log_loss",
    )
    theirs.fit(X, y, **({} if weight is None else {"sample_weight": weight}))
    for name, values in lists.items():
        assert set(ours.cv_results_[f"param_{name}"]) == set(values)
    if weight is None:  # GridSearchCV scores without weights
        assert_same_scores(ours.cv_results_, theirs.cv_results_)
        assert has_params(ours.best_params_, theirs.best_params_)
    assert isinstance(ours.best_estimator_.weak_learner, pb.Tree)
    again = clone(theirs.estimator).set_params(**ours.best_params_).fit(X, y, weight)
    np.testing.assert_array_equal(ours.decision_function(X), again.decision_function(X))


def test_subsample_is_searched_and_reported():
    X, y = integers()
    name = "weak_learner__subsample"
    space = {"gain": [1.0], "n_estimators": 4, "weak_learner": "tree", name: [0.3, 0.6, 1.0]}
    search = pb.ProperBoostClassifierCV(space, cv=3, effort=None).fit(X, y)
    results = search.cv_results_
    assert results[f"param_{name}"].tolist() == [0.3, 0.6, 1.0]
    assert [p["weak_learner"].subsample for p in results["params"]] == [0.3, 0.6, 1.0]
    assert len(set(results["mean_test_score"])) == 3
    chosen = search.best_estimator_.weak_learner
    assert search.best_params_["weak_learner"] == chosen
    assert chosen == results["params"][search.best_index_]["weak_learner"]
    # A single value needs no search.
    fixed = pb.ProperBoostClassifierCV(space | {name: 0.3}, cv=3, effort=None).fit(X, y)
    assert len(fixed.cv_results_["params"]) == 1
    assert fixed.best_estimator_.weak_learner.subsample == 0.3
    assert fixed.cv_results_["mean_test_score"][0] == results["mean_test_score"][0]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"max_leaf_nodes": [4, 1]}, "Tree.max_leaf_nodes must be between 2 and 128, .*; got 1"),
        ({"subsample": []}, "must not have an empty list of 'weak_learner__subsample'"),
        ({"max_depth": [2, 0]}, "Tree.max_depth must be between 1 and .*; got 0"),
        (
            {"max_depth": [8], "grow_policy": ["symmetric"]},
            "max_depth must be at most 7 with grow_policy='symmetric'; got 8",
        ),
    ],
    ids=str,
)
def test_bad_lists(fields, message):
    X, y = integers(60)
    space = {"gain": [1.0], "n_estimators": 2, "weak_learner": "tree"}
    space |= {f"weak_learner__{name}": values for name, values in fields.items()}
    with pytest.raises((ValueError, TypeError), match=message):
        pb.ProperBoostClassifierCV(space, cv=2, effort=None).fit(X, y)


# -- lanes and instruction sets -------------------------------------------------------------------


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("drawn", [{}, {"subsample": 0.6, "max_features": 0.5}], ids=str)
def test_held_out_rows_are_scored_by_the_same_trees(response, drawn):
    """Curves equal the scores of walked rows, whether or not rounds are stored."""
    codes, features, _, y, weight = sorted_problem(4, n=500)
    weight = np.where(weight == 0, 1.0, weight)
    held_out = np.arange(len(y)) % 3 == 0
    order = np.lexsort((held_out, y))
    codes, y, held_out, weight = (
        codes[:, order].astype(np.uint8),
        y[order],
        held_out[order],
        weight[order],
    )
    segments = np.cumsum([0, *np.bincount(2 * (y > 0) + held_out)])
    native = _core.Loss("gboost", {})
    settings = {
        "weak_learner": "tree",
        "max_leaf_nodes": 6,
        "response": response,
        "gain": 0.8,
        **drawn,
    }
    both = [
        make_boosting(
            codes, features, segments, [[-1, -2, 1, 2]], [native], weight, keep_rounds=keep_rounds,
            **settings,
        )
        for keep_rounds in (True, False)
    ]  # fmt: skip
    for boosting in both:
        boosting.advance(3)
        boosting.advance(4)
    np.testing.assert_array_equal(both[0].curves(0), both[1].curves(0))
    np.testing.assert_array_equal(both[0].held_out(0), both[1].held_out(0))
    rounds = Rounds.from_native(both[0].rounds(0))
    raw = np.zeros(len(y))
    for t, curve in enumerate(both[0].curves(0)[:, 0].T):
        raw += rounds.table(t)[rounds.find_codes(t, codes, 1)]
        p = np.array(native.probability(raw[held_out] / 0.8))
        right = np.where(y[held_out] > 0, p, 1 - p)
        each = [-np.log(right), (raw[held_out] > 0) != (y[held_out] > 0), (1 - right) ** 2]
        expected = [np.average(score, weights=weight[held_out]) for score in each]
        np.testing.assert_allclose(curve, expected, rtol=1e-4, atol=1e-6)
    assert t == 6
    np.testing.assert_allclose(both[0].held_out(0), raw[held_out], rtol=1e-4, atol=1e-5)


def test_models_beside_each_other_are_the_models_alone():
    """Models differ in losses, gains and learners' options, and some stop earlier."""
    codes, features, _, y, _ = sorted_problem(5)
    segments = [0, (y < 0).sum(), len(y)]
    natives = {name: _core.Loss(name, LOSSES[name]) for name in ("glog", "savage")}
    losses = [natives[name] for name in ("glog", "savage", "glog", "savage", "glog")]
    gains = [0.5, 0.5, 2.0, 1.0, 1.0]
    learner = {"weak_learner": "tree", "max_leaf_nodes": 5, "subsample": 0.7, "seed": 1}
    together = make_boosting(
        codes, features, segments, [[-1, 1]] * 5, losses, gain=gains, n_threads=2, **learner
    )
    together.advance(2)
    together.advance(3, models=np.array([0, 3]))
    assert together.n_estimators.tolist() == [5, 2, 2, 5, 2]
    for m, (loss, gain) in enumerate(zip(losses, gains, strict=True)):
        alone = make_boosting(codes, features, segments, [[-1, 1]], [loss], gain=gain, **learner)
        alone.advance(int(together.n_estimators[m]))
        assert_identical(together.rounds(m), alone.rounds(0))


PROGRAM = """
result = []
for codes, features, segments, weight, response, loss, learner in data:
    roles = np.array([-1, 1], np.int8)
    model = _core.Model(_core.Loss(loss, {}), _core.WeakLearner(learner), roles)
    boosting = _core.Boosting(
        _core.Rows(codes, _core.Bins(features), segments, weight=weight), [model],
        _core.AdditiveBoosting(response=response),
    )
    boosting.advance(3)
    rounds, trees = boosting.rounds(0), boosting.rounds(0).trees
    forest = _core.Forest(
        trees.feature, trees.left, trees.goes_left, trees.goes_right, rounds.offsets, rounds.values
    )
    table = [column.astype(np.int32 if isinstance(f, int) else float)
             for column, f in zip(codes, features)]
    scores = _core.ForestScores(_core.Bins(features), [forest]).predict_raw(table)
    result.append([rounds.values, rounds.step, rounds.risk, rounds.cost, trees.feature,
                   trees.goes_left, trees.goes_right, trees.weight, trees.saving, scores])
"""


def test_every_instruction_set_grows_the_same_trees():
    cases = []
    for k, (response, loss) in enumerate(
        itertools.product(RESPONSES, ("glog", "savage", "exponential"))
    ):
        codes, features, _, y, weight = sorted_problem(k, n=2000)
        codes, y, weight = codes[:, weight > 0], y[weight > 0], weight[weight > 0]
        options = {"max_leaf_nodes": 12, "subsample": 0.8 if k % 2 else 1.0, "seed": k}
        if k % 3 == 2:
            options |= {"grow_policy": "symmetric", "max_depth": 5}
        learner = describe_learner("tree", **options)
        segments = np.array([0, (y < 0).sum(), len(y)])
        cases.append((codes.astype(np.uint8), features, segments, weight, response, loss, learner))
    here = {"_core": _core, "np": np, "data": cases}
    exec(PROGRAM, here)
    for other in other_sets():
        for ours, theirs in zip(run_with(other, PROGRAM, cases), here["result"], strict=True):
            for one, another in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(one, another)
