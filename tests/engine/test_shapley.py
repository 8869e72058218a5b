"""Test contributions of trees against Shapley's formula."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import properboost as pb
from helpers.contributions import check_sum, fit
from helpers.instruction_sets import other_sets, run_with
from helpers.shapley import explain
from properboost import _core
from properboost.data.frames import open_table
from properboost.models.lines import Lines
from properboost.models.tree import LEAF, TreeNodes

pd = pytest.importorskip("pandas")

EXACT = 1e-9
"""How far from Shapley's formula contributions of trees of values around 1 may be."""


# -- trees of any shape ---------------------------------------------------------------------------


def draw_tree(rng, widths, n_splits):
    """Draw a tree whose sets of codes and weights are any; some codes are in no set."""
    feature, left = [LEAF], [0]
    sides = [np.zeros((1, 4), np.uint64), np.zeros((1, 4), np.uint64)]
    for _ in range(n_splits):
        k = int(rng.choice(np.flatnonzero(np.array(feature) == LEAF)))
        feature[k], left[k] = int(rng.integers(len(widths))), len(feature)
        branch = rng.choice(3, size=widths[feature[k]], p=[0.45, 0.45, 0.1])
        for side in (0, 1):
            members = sum(1 << int(c) for c in np.flatnonzero(branch == side))
            sides[side][k] = [members >> 64 * w & (1 << 64) - 1 for w in range(4)]
            sides[side] = np.concatenate([sides[side], np.zeros((2, 4), np.uint64)])
        feature, left = [*feature, LEAF, LEAF], [*left, 0, 0]
    weight = rng.choice([0.0, 0.5, 2.0, 1e-200, 1e200], size=(len(feature), 2)) * rng.random()
    return TreeNodes(
        np.array(feature, np.int32), np.array(left, np.int64), *sides, weight,
        np.zeros(len(feature)),
    )  # fmt: skip


def draw_lines(rng, tree, numeric):
    """Draw lines in leaves, of features that may not be split above them."""
    counts = np.where(tree.is_leaf, rng.integers(0, 4, len(tree.feature)), 0)
    counts = np.minimum(counts, len(numeric))
    features = [rng.choice(numeric, n, replace=False) for n in counts if n]
    n_terms = int(counts.sum())
    return Lines(
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.concatenate([np.empty(0), *features]).astype(np.int32),
        *(rng.normal(size=n_terms), rng.random(n_terms), rng.random(n_terms)),
    )


def draw_problem(seed, n_features, n_trees, n_rows, with_lines=True):
    """Draw trees, their lines, the bins of features, and rows' codes."""
    rng = np.random.default_rng(seed)
    kinds = rng.random(n_features) < 0.6  # numeric
    kinds[0] = True
    sizes = rng.integers(2, 30, n_features)
    features = [
        np.arange(size - 1.0) if numeric else int(size)
        for size, numeric in zip(sizes, kinds, strict=True)
    ]
    means = [
        np.sort(rng.normal(size=size)) if numeric else np.empty(0)
        for size, numeric in zip(sizes, kinds, strict=True)
    ]
    bins = _core.Bins(features, means)
    widths = [int(width) for width in bins.widths]
    positions = [np.append((m - m[0]) / (m[-1] - m[0]), np.nan) if len(m) else None for m in means]
    trees = [draw_tree(rng, widths, int(rng.integers(0, 12))) for _ in range(n_trees)]
    values = [rng.normal(size=len(tree.feature)) for tree in trees]
    lines = [draw_lines(rng, tree, np.flatnonzero(kinds)) if with_lines else None for tree in trees]
    codes = np.stack([rng.integers(0, width, n_rows) for width in widths]).astype(np.uint8)
    return trees, values, lines, bins, positions, codes


def make_forest(trees, values, lines):
    """Return the engine's forest of these trees, and the weight of its nodes."""
    joined = TreeNodes.join(trees)
    offsets = np.cumsum([0, *(len(tree.feature) for tree in trees)])
    forest = _core.Forest(
        joined.feature, joined.left, joined.goes_left, joined.goes_right, offsets,
        np.concatenate([np.empty(0), *values]),
        None if lines[0] is None else Lines.join(lines).native,
    )  # fmt: skip
    return forest, joined.weight.sum(axis=1)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 10), st.integers(1, 4), st.booleans())
def test_they_are_shapley_values(seed, n_features, n_trees, with_lines):
    trees, values, lines, bins, positions, codes = draw_problem(
        seed, n_features, n_trees, 3, with_lines
    )
    forest, weight = make_forest(trees, values, lines)
    added, baseline = forest.contributions(codes, bins, weight)
    parts = [
        explain(tree, its_values, its_lines, positions, codes)
        for tree, its_values, its_lines in zip(trees, values, lines, strict=True)
    ]
    np.testing.assert_allclose(added, sum(part for part, _ in parts), atol=EXACT)
    assert baseline == pytest.approx(sum(mean for _, mean in parts), abs=EXACT)


def test_a_long_path_of_many_features():
    """A chain of 127 splits on as many features: an integrand of degree 126."""
    n = 127
    feature = np.array([k // 2 if k % 2 == 0 and k < 2 * n else LEAF for k in range(2 * n + 1)])
    # Node 0 has the children 1 (a leaf) and 2, node 2 the children 3 and 4, and so on.
    left = np.where(feature == LEAF, 0, np.arange(2 * n + 1) + 1)
    sides = [np.zeros((2 * n + 1, 4), np.uint64) for _ in range(2)]
    for side in (0, 1):
        sides[side][feature != LEAF, 0] = 1 << side
    rng = np.random.default_rng(0)
    values, weight = rng.normal(size=2 * n + 1), rng.random(2 * n + 1)
    forest = _core.Forest(
        feature.astype(np.int32), left.astype(np.int64), *sides,
        np.array([0, 2 * n + 1]), values,
    )  # fmt: skip
    codes = rng.choice(2, size=(n, 40), p=[0.03, 0.97]).astype(np.uint8)
    bins = _core.Bins([2] * n)
    added, baseline = forest.contributions(codes, bins, weight)
    tree = _core.Tree(feature.astype(np.int32), left.astype(np.int64), *sides)
    raw = values[tree.find_nodes(codes)]
    np.testing.assert_allclose(added.sum(axis=1) + baseline, raw, atol=1e-12)


@pytest.mark.parametrize("with_lines", [False, True])
def test_bits_do_not_depend_on_threads_nor_on_other_rows(with_lines):
    *problem, bins, _, codes = draw_problem(1, 9, 40, 1000, with_lines)
    forest, weight = make_forest(*problem)
    expected, mean = forest.contributions(codes, bins, weight)
    for n_threads in (2, 3, 7):
        added, its_mean = forest.contributions(codes, bins, weight, n_threads)
        np.testing.assert_array_equal(added, expected)
        assert its_mean == mean
    for rows in (slice(0, 1), slice(37, 100), slice(999, 1000)):
        part, _ = forest.contributions(np.ascontiguousarray(codes[:, rows]), bins, weight)
        np.testing.assert_array_equal(part, expected[rows])
    none, its_mean = forest.contributions(codes[:, :0], bins, weight)
    assert (none.shape, its_mean) == ((0, 9), mean)


PROGRAM = """
result = []
for features, means, forest, codes, weight in data:
    added, mean = _core.Forest(*forest).contributions(codes, _core.Bins(features, means), weight)
    result.append([added, mean])
"""


def test_bits_do_not_depend_on_the_instruction_set():
    X, y, _ = interacting()
    model = fit(X, y, pb.Tree(max_leaf_nodes=12, linear_leaves=True))
    rounds, binning = model.ensemble_.models[0], model.ensemble_.binning
    trees = rounds.trees
    forest = (
        trees.feature, trees.left, trees.goes_left, trees.goes_right, rounds.offsets,
        rounds.values, rounds.lines.native,
    )  # fmt: skip
    codes = binning.encode(open_table(model, X, reset=False), None, 1)
    means = [getattr(feature, "means", None) for feature in binning.features]
    means = [np.empty(0) if of_feature is None else of_feature for of_feature in means]
    features = [feature.native for feature in binning.features]
    cases = [(features, means, forest, codes, trees.weight.sum(axis=1))]
    here = {"_core": _core, "np": np, "data": cases}
    exec(PROGRAM, here)
    for other in other_sets():
        for ours, theirs in zip(run_with(other, PROGRAM, cases), here["result"], strict=True):
            np.testing.assert_array_equal(ours[0], theirs[0])
            assert ours[1] == theirs[1]


def test_arguments_are_checked():
    *problem, bins, _, codes = draw_problem(2, 4, 3, 10)
    forest, weight = make_forest(*problem)
    with pytest.raises(ValueError, match="codes must have shape"):
        forest.contributions(codes[:3], bins, weight)
    with pytest.raises(ValueError, match=r"weight must have \d+ entries"):
        forest.contributions(codes, bins, weight[1:])
    for wrong in (-1.0, np.nan):
        with pytest.raises(ValueError, match="weight must be at least 0"):
            forest.contributions(codes, bins, np.full(len(weight), wrong))
    with pytest.raises(ValueError, match="forests must"):
        forest.contributions(codes[:1], _core.Bins([np.arange(3.0)]), weight)
    sets = np.zeros((4, 4), np.uint64)
    shared = _core.Forest(
        np.array([0, 0, -1, -1], np.int32), np.array([1, 2, 0, 0]), sets, sets,
        np.array([0, 4]), np.zeros(4),
    )  # fmt: skip
    with pytest.raises(ValueError, match="must have one parent"):
        shared.contributions(codes, bins, np.ones(4))
    leaves = np.zeros((256, 4), np.uint64)
    large = _core.Forest(
        np.full(256, -1, np.int32), np.zeros(256, np.int64), leaves, leaves,
        np.array([0, 256]), np.zeros(256),
    )  # fmt: skip
    with pytest.raises(ValueError, match="at most 255 nodes"):
        large.contributions(codes, bins, np.ones(256))


# -- sets that cross, sides without weight --------------------------------------------------------


def make_tree(nodes):
    """Make a tree from (feature, left, codes that go left, codes that go right, weight)."""
    feature, left, goes_left, goes_right, weight = zip(*nodes, strict=True)
    sets = [
        np.array([[sum(1 << c for c in codes), 0, 0, 0] for codes in side], dtype=np.uint64)
        for side in (goes_left, goes_right)
    ]
    return TreeNodes(
        np.array(feature, dtype=np.int32),
        np.array(left, dtype=np.int64),
        *sets,
        np.array([[w / 4, 3 * w / 4] for w in weight]),
        np.zeros(len(feature)),
    )


LEAF_OF_WEIGHT = (LEAF, 0, (), ())


# Feature 0 is split into {0, 1, 2, 3} and {4, 5}. Below feature 1 it is split into {0, 1}, {2, 3}
# on one side and {0, 2}, {1, 3} on the other. No order of the codes makes all three sets
# neighbours.
CROSSING = [
    (0, 1, (0, 1, 2, 3), (4, 5), 30.0),
    (1, 3, (0,), (1,), 21.0),
    (*LEAF_OF_WEIGHT, 9.0),
    (0, 5, (0, 1), (2, 3), 8.0),
    (0, 7, (0, 2), (1, 3), 13.0),
    *((*LEAF_OF_WEIGHT, w) for w in (5.0, 3.0, 6.0, 7.0)),
]


def explain_natively(tree, values, codes):
    forest, weight = make_forest([tree], [values], [None])
    return forest.contributions(codes, _core.Bins([250] * len(codes)), weight)


@pytest.mark.parametrize("weights", [None, (0.0, 0.0), (0.0, 2.0), (2.0, 0.0), (1e-200, 1e200)])
def test_sets_that_cross_and_sides_without_weight(weights):
    """Files may hold sides without weight."""
    nodes = [list(node) for node in CROSSING]
    if weights is not None:
        nodes[5][-1], nodes[6][-1] = weights
    values = np.array([0.5, 1.0, -2.0, 0.25, -0.5, 3.0, 1.0, -4.0, 2.0])
    codes = np.array([(c, d) for c in range(7) for d in range(3)], dtype=np.uint8).T
    tree = make_tree(nodes)
    added, mean = explain_natively(tree, values, codes)
    expected, baseline = explain(tree, values, None, None, codes)
    np.testing.assert_allclose(added, expected, atol=1e-12)
    assert mean == pytest.approx(baseline, abs=1e-12)
    ends = tree.native.find_nodes(codes)
    np.testing.assert_allclose(added.sum(axis=1) + mean, values[ends], atol=1e-12)


def test_one_feature_gets_all_there_is():
    tree = make_tree([(0, 1, (0, 3), (1, 4), 4.0), *((*LEAF_OF_WEIGHT, w) for w in (1.0, 3.0))])
    codes = np.array([[0, 1, 2, 3, 4]], dtype=np.uint8)
    added, mean = explain_natively(tree, np.array([7.0, 1.0, 5.0]), codes)
    assert mean == pytest.approx(4.0, abs=1e-12)
    np.testing.assert_allclose(added[:, 0] + mean, [1.0, 5.0, 7.0, 1.0, 5.0], atol=1e-12)


# -- fitted models --------------------------------------------------------------------------------


def interacting(n=1500, n_classes=2):
    """Return numbers, counts and categories that interact, some missing, labels and weights."""
    rng = np.random.default_rng(0)
    number, count = rng.normal(size=n).round(1), rng.poisson(3, n)
    town, trade = rng.integers(0, 12, n), rng.integers(0, 6, n)
    raw = number * np.sin(town) + (trade % 3 - 1) * (count > 3) * number + np.cos(5 * town * trade)
    frame = pd.DataFrame(
        {
            "number": number,
            "count": count,
            "town": pd.Categorical(town.astype(str)),
            "trade": pd.Categorical(trade.astype(str)),
        }
    )
    frame.loc[rng.random(n) < 0.1, "number"] = np.nan
    frame.loc[rng.random(n) < 0.1, "town"] = None
    raw = raw + 0.5 * rng.logistic(size=n)
    edges = np.quantile(raw, np.arange(1, n_classes) / n_classes)
    return frame, np.searchsorted(edges, raw), rng.integers(1, 4, n).astype(float)


def strangers(frame):
    """Return rows as in training, and rows with categories and gaps that training lacked."""
    rows = frame.iloc[:24].copy()
    for name, start in (("trade", 4), ("town", 8)):
        changed = rows[name].astype(object)
        changed.iloc[start : start + 8] = "unseen"
        rows[name] = changed.astype("category")
    rows["count"] = rows["count"].astype(float)
    rows.iloc[14:20, 1] = np.nan
    return rows


def by_path(model):
    """Return the model without its terms, by which short paths would be explained."""
    model.ensemble_ = replace(model.ensemble_, grids=None)
    return model


def explain_model(model, rows, m):
    """Return the contributions of the trees of one class, and their baseline, by the formula."""
    rounds, binning = model.ensemble_.models[m], model.ensemble_.binning
    codes = binning.encode(open_table(model, rows, reset=False), None, 1)
    positions = [
        binning.find_positions(j) if getattr(feature, "means", None) is not None else None
        for j, feature in enumerate(binning.features)
    ]
    parts = [
        explain(rounds.tree(t), rounds.table(t), rounds.lines_of(t), positions, codes)
        for t in range(len(rounds))
    ]
    baseline = float(model.ensemble_.intercept[m]) + sum(mean for _, mean in parts)
    return sum(added for added, _ in parts), baseline


TREES = [
    (pb.Tree(max_leaf_nodes=12), {}),
    (pb.Tree(max_leaf_nodes=31), {"response": "newton", "learning_rate": 0.3}),
    (pb.Tree(max_leaf_nodes=12, subsample=0.5), {"monotonic_cst": {"number": 1}}),
    (pb.Tree(grow_policy="symmetric", max_depth=4), {}),
    (pb.Tree(max_leaf_nodes=12, linear_leaves=True), {}),
    (pb.Tree(max_leaf_nodes=20, linear_leaves=True, subsample=0.7), {"response": "newton"}),
    (pb.Tree(grow_policy="symmetric", max_depth=4, linear_leaves=True), {}),
]
"""Trees of constants and of lines, of both growths."""


@pytest.mark.parametrize(("tree", "options"), TREES)
def test_of_two_classes(tree, options):
    X, y, weight = interacting()
    model = by_path(fit(X, y, tree, weight, n_estimators=2, **options))
    rows = strangers(X)
    contributions = model.contributions(rows)
    check_sum(contributions, model.decision_function(rows))
    expected, baseline = explain_model(model, rows, 0)
    np.testing.assert_allclose(contributions.values, expected, atol=1e-12 * abs(expected).max())
    assert contributions.baseline == pytest.approx(baseline, abs=1e-12)


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize("strategy", ["multi_output_tree", "one_output_per_tree"])
def test_of_five_classes(lines, strategy):
    X, y, weight = interacting(n_classes=5)
    tree = pb.Tree(max_leaf_nodes=12, linear_leaves=lines, multi_strategy=strategy)
    model = by_path(fit(X, y, tree, weight, n_estimators=2))
    rows = strangers(X)
    parts = [explain_model(model, rows, m) for m in range(5)]
    added = np.stack([part for part, _ in parts])
    baselines = np.array([baseline for _, baseline in parts])
    raw = model.decision_function(rows)
    for m in range(5):
        contributions = model.contributions(rows, m)
        check_sum(contributions, raw[:, m] - raw.mean(axis=1))
        np.testing.assert_allclose(contributions.values, added[m] - added.mean(axis=0), atol=1e-12)
        expected = baselines[m] - baselines.mean()
        assert contributions.baseline == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_baseline_is_the_mean_of_the_training_rows(lines, weighted):
    X, y, weight = interacting()
    tree = pb.Tree(max_leaf_nodes=20, linear_leaves=lines)
    model = fit(X, y, tree, weight if weighted else None)
    mean = np.average(model.decision_function(X), weights=weight if weighted else None)
    assert model.contributions(X[:1]).baseline == pytest.approx(mean, abs=1e-11)


def test_warm_starts_and_threads_keep_the_means():
    X, y, weight = interacting()
    tree = pb.Tree(max_leaf_nodes=12, linear_leaves=True)
    long = fit(X, y, tree, weight, n_estimators=6, n_jobs=3)
    short = fit(X, y, tree, weight, n_estimators=3, n_jobs=1, warm_start=True)
    short.set_params(n_estimators=6).fit(X, y, weight)
    lines, others = (model.ensemble_.models[0].lines for model in (long, short))
    assert len(lines.mean) > 0
    assert not np.array_equal(lines.mean, lines.center)
    np.testing.assert_array_equal(others.mean, lines.mean)


def test_merged_models_have_them():
    X, y, _ = interacting()
    tree = pb.Tree(max_leaf_nodes=12)
    parts = [fit(X[rows], y[rows], tree) for rows in (np.arange(1500) < 900, np.arange(1500) > 500)]
    merged = pb.merge_models(parts)
    rows = strangers(X)
    check_sum(merged.contributions(rows), merged.decision_function(rows))
