"""Test boosted trees: the engine against the plain reference, limits, errors and lanes."""

import itertools

import numpy as np
import pytest

import helpers.reference as ref
import properboost as pb
from helpers.engine import (
    LOSSES,
    SINGLE,
    assert_equal_models,
    assert_identical,
    describe_learner,
    make_boosting,
    sorted_problem,
    tables,
    train,
)
from helpers.instruction_sets import other_sets, run_with
from helpers.trees import fit_tree, noisy, weights_by_node
from properboost import _core
from properboost.data.frames import open_table
from properboost.models.ensemble import Rounds

pd = pytest.importorskip("pandas")

RESPONSES = _core.response_names()
STEPS = _core.step_names()


# -- against the reference ------------------------------------------------------------------------


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
    tables = pb.ProperBoostClassifier(weak_learner="table", **shared).fit(X, y)
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
