"""Test features that race, and trees grown from some rows, against the plain reference."""

import itertools

import numpy as np
import pytest

import helpers.reference as ref
import properboost as pb
from helpers.engine import assert_equal_models, assert_identical, make_boosting
from helpers.reference.joint_boosting import fit_joint
from properboost import _core
from properboost.parameters import boosting as parameters

pd = pytest.importorskip("pandas")


def make_rows(seed, n=2400, share=0.4, n_features=20):
    """Return codes of features of unequal strength, some of which leave the race."""
    rng = np.random.default_rng(seed)
    features = [
        (5, np.arange(3.0), np.arange(1.0), np.arange(30.0))[j % 4] for j in range(n_features)
    ]
    widths = [f + 2 if isinstance(f, int) else len(f) + 2 for f in features]
    codes = np.array([rng.integers(0, width - 1, n) for width in widths])
    score = sum(
        (codes[j] - codes[j].mean()) / codes[j].std() * (0.5 / (1 + j)) for j in range(n_features)
    )
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-score - np.log(share / (1 - share)))), 1.0, -1.0)
    return codes, features, y


def make_bins(features):
    return [
        ref.FeatureBins.categorical(f) if isinstance(f, int) else ref.FeatureBins.numeric(f)
        for f in features
    ]


def train(codes, features, y, weight=None, *, n_estimators, **settings):
    """Boost one model, with the rows in the order that screens need."""
    order = np.argsort(y > 0, kind="stable").astype(np.int64)
    segments = np.array([0, (y < 0).sum(), len(y)])
    order = _core.sort_for_screens(order, segments)
    boosting = make_boosting(
        codes[:, order], features, segments, [[-1, 1]], [_core.Loss("glog")],
        None if weight is None else weight[order], numbers=order, **settings,
    )  # fmt: skip
    boosting.advance(n_estimators)
    return boosting.rounds(0)


@pytest.mark.parametrize(
    "segments", [[0, 0], [0, 1], [0, 3], [0, 100, 100, 300], [0, 7, 5000, 5001, 20_000]]
)
def test_rows_are_sorted_by_bits_of_their_numbers(segments):
    numbers = np.arange(segments[-1], dtype=np.int64)[::-1] * 7
    order = _core.sort_for_screens(numbers, np.array(segments))
    for first, last in itertools.pairwise(segments):
        bits = [ref.draw_bits(0, 0x73637265656E, n) for n in order[first:last].tolist()]
        assert bits == sorted(bits)
        assert set(order[first:last]) == set(numbers[first:last])


@pytest.mark.parametrize(
    ("learner", "response", "settings"),
    [
        ("table", "real", {"max_cells": 3}),
        ("table", "real", {"max_cells": 5, "min_saving": 0.5, "smoothing": 0.1}),
        ("table", "exact", {}),
        ("table", "newton", {"max_cells": 4, "l2": 1.0}),
        ("stump", "newton", {"learning_rate": 0.3}),
        ("stump", "real", {}),
    ],
)
@pytest.mark.parametrize("share", [0.4, 0.03])
def test_races_equal_the_reference(learner, response, settings, share):
    """Screens have 100 and 400 rows, then all; where positive rows are few, all of them."""
    codes, features, y = make_rows(3, share=share)
    weight = np.random.default_rng(1).choice([1.0, 2.0, 0.25], len(y))
    common = {"selection": "unbiased", "response": response, "n_estimators": 5} | settings
    ours = train(codes, features, y, weight, screening=100, weak_learner=learner, **common)
    theirs = ref.fit(
        codes, make_bins(features), y, weight, loss=ref.make_loss("glog", 1.0), learner=learner,
        screening=100, **common,
    )  # fmt: skip
    assert_equal_models(ours, theirs)
    every = train(codes, features, y, weight, weak_learner=learner, **common)
    assert ours.feature.tolist() != every.feature.tolist()


def test_features_with_directions_race():
    codes, features, y = make_rows(4)
    directions = [0, 1, -1, 1] * 5
    common = {"selection": "unbiased", "n_estimators": 8}
    ours = train(codes, features, y, screening=100, directions=directions, **common)
    theirs = ref.fit(
        codes, make_bins(features), y, loss=ref.make_loss("glog", 1.0), screening=100,
        tree=ref.TreeSettings(directions=directions), **common,
    )  # fmt: skip
    assert_equal_models(ours, theirs)


TREES = [
    {"max_leaf_nodes": 6},
    {"max_leaf_nodes": 12, "min_child_weight": 12.0},
    {"max_leaf_nodes": 8, "max_features": 0.5, "seed": 3},
    {"grow_policy": "symmetric", "max_depth": 3},
    {"grow_policy": "symmetric", "max_depth": 5, "min_child_weight": 6.0},
    {"max_leaf_nodes": 6, "directions": [1, -1, 0, 0] * 5},
    {"max_leaf_nodes": 8, "linear_leaves": True, "linear_l2": 3.0},
]


@pytest.mark.parametrize(
    ("options", "response"),
    [
        (options, response)
        for options, response in itertools.product(TREES, ["real", "newton", "exact"])
        if response != "exact" or "linear_leaves" not in options
    ],
    ids=str,
)
@pytest.mark.parametrize("share", [0.4, 0.03])
def test_trees_equal_the_reference(options, response, share):
    """Some screens lack rare codes, and rows with these stay at a split."""
    codes, features, y = make_rows(5, n=1800, share=share)
    bins = make_bins(features)
    rng = np.random.default_rng(2)
    for j in (1, 3):
        codes[j, rng.random(len(y)) < 0.003] = bins[j].n_bins - 1
    weight = rng.choice([1.0, 2.0, 0.25], len(y))
    means = [np.sort(rng.normal(size=0 if isinstance(f, int) else len(f) + 1)) for f in features]
    if "linear_leaves" in options:
        bins = [
            ref.FeatureBins.numeric(np.zeros(feature_bins.n_ordered - 1), m)
            if feature_bins.n_ordered
            else feature_bins
            for feature_bins, m in zip(bins, means, strict=True)
        ]
        features = features, means
    common = {"selection": "unbiased", "response": response, "n_estimators": 4,
              "learning_rate": 0.6}  # fmt: skip
    ours = train(
        codes, features, y, weight, screening=150, weak_learner="tree", **common, **options
    )
    theirs = ref.fit(
        codes, bins, y, weight, loss=ref.make_loss("glog", 1.0), learner="tree", screening=150,
        tree=ref.TreeSettings(**options), **common,
    )  # fmt: skip
    assert_equal_models(ours, theirs)
    node_weights = [
        [weight[rows & (y < 0)].sum(), weight[rows & (y > 0)].sum()]
        for r in theirs
        for rows in r.tree.rows
    ]
    np.testing.assert_allclose(ours.trees.weight, node_weights, rtol=1e-12)
    every = train(codes, features, y, weight, weak_learner="tree", **common, **options)
    assert ours.trees.feature.tolist() != every.trees.feature.tolist()


@pytest.mark.parametrize(
    "growth", [{"max_leaf_nodes": 5}, {"grow_policy": "symmetric", "max_depth": 3}], ids=str
)
@pytest.mark.parametrize("response", ["real", "newton"])
def test_shared_trees_equal_the_reference(response, growth):
    """One class is scarce, and screens have all its rows."""
    codes, features, _ = make_rows(6, n=1500, n_features=6)
    rng = np.random.default_rng(0)
    score = np.stack([0.4 * codes[0] - 1, np.sin(codes[1]), 0.05 * codes[3] - 3.5], axis=1)
    classes = (score + rng.gumbel(size=score.shape)).argmax(axis=1)
    weight = rng.exponential(size=len(classes))
    numbers = np.argsort(classes, kind="stable").astype(np.int64)
    segments = np.searchsorted(classes[numbers], np.arange(4))
    numbers = _core.sort_for_screens(numbers, segments)
    options = {"gain": 1.5, "learning_rate": 0.5, "selection": "unbiased", "screening": 240}
    boosting = make_boosting(
        codes[:, numbers], features, segments, np.where(np.eye(3, dtype=bool), 1, -1),
        [_core.Loss("glog")] * 3, weight[numbers], classes=3, joint_loss="softmax",
        weak_learner="tree", response=response, shared_trees=True, numbers=numbers,
        **options, **growth,
    )  # fmt: skip
    boosting.advance(3)
    theirs = fit_joint(
        codes, make_bins(features), classes, weight, joint_loss="softmax", loss="glog",
        n_estimators=3, learner="tree", response=response, shared_trees=True,
        tree=ref.TreeSettings(**growth), **options,
    )  # fmt: skip
    for k in range(3):
        assert_equal_models(boosting.rounds(k), theirs[k], rel=1e-4)


def test_splits_of_drawn_rows_are_those_of_all_on_average():
    """A row counts for as many as it was unlikely, so the best cut is the same, and what it saves.

    Weights of many rows differ, and sums of so many drawn rows are narrow.
    """
    rng = np.random.default_rng(7)
    n = 40_000
    codes = rng.integers(0, 30, (3, n)).astype(np.uint8)
    score = 4.0 * (codes[0] > 11) + 3.0 * np.isin(codes[1], [3, 4]) - 2.0
    y = np.where(rng.logistic(size=n) < score, 1.0, -1.0)
    weight = rng.exponential(size=n)
    settings = {"weak_learner": "tree", "max_leaf_nodes": 2, "selection": "unbiased",
                "n_estimators": 8, "response": "newton"}  # fmt: skip
    features = [np.arange(29.0)] * 3
    every = train(codes, features, y, weight, **settings)
    ours = train(codes, features, y, weight, screening=12_000, **settings)
    np.testing.assert_array_equal(ours.trees.feature[:6], every.trees.feature[:6])
    np.testing.assert_array_equal(ours.trees.goes_left[:6], every.trees.goes_left[:6])
    np.testing.assert_allclose(ours.cost[:6], every.cost[:6], rtol=1e-6)
    np.testing.assert_allclose(ours.trees.saving[0], every.trees.saving[0], rtol=0.05)
    assert ours.trees.saving[0] != every.trees.saving[0]


def test_a_screen_that_no_split_helps_is_not_the_last():
    """One row in 200 has the flag, and most screens have no such row."""
    n = 4000
    codes = np.array([np.arange(n) % 200 == 0], dtype=np.uint8)
    y = np.where((np.arange(n) % 2 == 0) ^ (codes[0] == 1), 1.0, -1.0)
    ours = train(
        codes, [[0.5]], y, screening=40, weak_learner="tree", max_leaf_nodes=2, n_estimators=40,
        selection="unbiased", response="newton",
    )  # fmt: skip
    leaves = np.diff(ours.offsets) == 1
    assert leaves.any()
    assert not leaves.all()
    assert len(leaves) == 40


@pytest.mark.parametrize("learner", ["table", "tree", "rule"])
@pytest.mark.parametrize("share", [0.5, 0.03])
def test_screens_of_most_rows_are_none(learner, share):
    """A screen of more than half the rows is all rows, even if a scarce class made it smaller."""
    codes, features, y = make_rows(0, share=share)
    common = {"selection": "unbiased", "n_estimators": 5, "weak_learner": learner}
    every = train(codes, features, y, **common)
    for screening in (1200, 1240, 10**6):
        assert_identical(train(codes, features, y, screening=screening, **common), every)


@pytest.mark.parametrize(
    "options",
    [
        {"max_leaf_nodes": 60},
        {"grow_policy": "symmetric", "max_depth": 5, "response": "newton"},
        {"weak_learner": "rule"},
    ],
    ids=str,
)
def test_nodes_have_all_rows(options):
    """Several threads share this many rows; rows with rare codes stay at the splits."""
    rng = np.random.default_rng(4)
    n = 60_000
    codes = np.stack([rng.integers(0, 40, n), np.minimum(rng.zipf(1.3, n) - 1, 200)])
    y = np.where(np.sin(codes[0]) + 1.5 * (codes[1] % 3) + rng.logistic(size=n) > 0, 1.0, -1.0)
    weight = rng.choice([1.0, 2.0, 0.25], n)
    settings = {"weak_learner": "tree", "selection": "unbiased", "n_estimators": 3} | options
    ours, alike = (
        train(codes.astype(np.uint8), [np.arange(39.0), 202], y, weight, screening=3000,
              n_threads=n_threads, **settings)
        for n_threads in (1, 3)
    )  # fmt: skip
    assert_identical(ours, alike)
    stayed = 0.0
    for t in range(len(ours.feature)):
        nodes_of_tree = slice(ours.offsets[t], ours.offsets[t + 1])
        feature, left = ours.trees.feature[nodes_of_tree], ours.trees.left[nodes_of_tree]
        nodes = np.zeros(n, dtype=int)
        for k in np.flatnonzero(feature >= 0):
            code = codes[feature[k]]
            for sets, child in ((ours.trees.goes_left, 0), (ours.trees.goes_right, 1)):
                words = sets[nodes_of_tree][k][code // 64] >> (code % 64).astype(np.uint64)
                nodes[(nodes == k) & (words & np.uint64(1) > 0)] = left[k] + child
        weights_of_nodes = np.stack(
            [np.bincount(nodes, weight * (y == sign), len(left)) for sign in (-1, 1)]
        )
        stayed += weights_of_nodes[:, feature >= 0].sum()
        for k in reversed(np.flatnonzero(feature >= 0)):
            weights_of_nodes[:, k] += (
                weights_of_nodes[:, left[k]] + weights_of_nodes[:, left[k] + 1]
            )
        np.testing.assert_allclose(ours.trees.weight[nodes_of_tree], weights_of_nodes.T, rtol=1e-12)
    assert stayed > 0


def make_table(n, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({f"x{j}": rng.normal(size=n).round(1 + j % 2) for j in range(12)})
    X["town"] = pd.Categorical(rng.choice(list("abcde"), n))
    score = X["x0"] + 0.5 * X["x3"] - 0.3 * X["x7"] + (X["town"] == "a") + rng.logistic(size=n)
    return X, np.digitize(score, [0.0, 1.0][: n_classes - 1])


SETTINGS = {"screening": 200, "n_estimators": 12, "rows_per_bin": 20}


def saved(model, folder):
    model.set_params(n_jobs=None).save_model(folder / "model.json")
    return (folder / "model.json").read_bytes()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"weak_learner": "stump", "response": "newton"},
        {"interactions": 2},
        {"outer_bags": 4},
        {"multiclass": "one_vs_rest"},
        {"multiclass": "softmax"},
        {"weak_learner": "tree"},
        {"weak_learner": pb.Tree(grow_policy="symmetric"), "multiclass": "softmax"},
        {"weak_learner": pb.Tree(linear_leaves=True), "response": "newton"},
        {"weak_learner": "rule"},
    ],
    ids=str,
)
def test_threads_and_going_on_do_not_matter(settings, tmp_path):
    X, y = make_table(3000, n_classes=3 if "multiclass" in settings else 2)
    settings = SETTINGS | {"random_state": 0} | settings
    once = pb.ProperBoostClassifier(**settings, n_jobs=1).fit(X, y)
    expected = once.decision_function(X)
    threads = pb.ProperBoostClassifier(**settings, n_jobs=3).fit(X, y)
    assert saved(once, tmp_path) == saved(threads, tmp_path)
    every = pb.ProperBoostClassifier(**settings | {"screening": None}, n_jobs=1).fit(X, y)
    assert not np.array_equal(every.decision_function(X), expected)
    if "interactions" in settings or "outer_bags" in settings:
        return
    parts = pb.ProperBoostClassifier(**settings | {"n_estimators": 5, "warm_start": True})
    parts.fit(X, y).set_params(n_estimators=12).fit(X, y)
    np.testing.assert_array_equal(parts.decision_function(X), expected)


@pytest.mark.parametrize(
    "settings",
    [
        {"selection": "greedy"},
        {"selection": "cyclic"},
        {"selection": "unbiased", "response": "sign"},
        {"selection": "unbiased", "weak_learner": "tree", "subsample": 0.5},
    ],
    ids=str,
)
def test_nothing_else_is_screened(settings):
    codes, features, y = make_rows(7, n=1500)
    ours = train(codes, features, y, screening=200, n_estimators=3, **settings)
    assert_identical(ours, train(codes, features, y, n_estimators=3, **settings))


def test_the_table_is_of_all_rows():
    X, y = make_table(3000)
    model = pb.ProperBoostClassifier(**SETTINGS | {"n_estimators": 1}).fit(X, y)
    j = int(model.history_["feature"][0])
    alone = pb.ProperBoostClassifier(n_estimators=1, rows_per_bin=20, weak_learner="table").fit(
        X.iloc[:, [j]], y
    )
    np.testing.assert_array_equal(
        model.decision_function(X), alone.decision_function(X.iloc[:, [j]])
    )


@pytest.mark.parametrize("rare", [False, True])
def test_the_cells_of_a_rule_are_of_all_rows(rare):
    """A rule does not hold for towns that no screen had."""
    X, y = make_table(3000)
    if rare:
        rng = np.random.default_rng(0)
        towns = rng.integers(0, 150, len(X))
        X, y = X[["town"]].assign(town=pd.Categorical(towns)), (towns % 3 == 0) ^ (X["x0"] > 1)
    model = pb.ProperBoostClassifier(
        weak_learner=pb.Rule(min_child_weight=0.0), screening=200, n_estimators=1,
        response="newton", step="unit", learning_rate=1.0, gain=1.0,
    ).fit(X, y)  # fmt: skip
    values, cell = np.unique(model.decision_function(X), return_inverse=True)
    mean = np.bincount(cell, y) / np.bincount(cell)
    assert len(values) == 2
    np.testing.assert_allclose(np.diff(values), np.diff(mean) / 0.25, rtol=1e-5)


def test_a_search_fits_what_it_chose():
    X, y = make_table(3000)
    search = pb.ProperBoostClassifierCV(
        {"gain": [0.5, 2.0], "screening": 200},
        effort=None,
        cv=3,
        max_estimators=20,
        rows_per_bin=20,
    ).fit(X, y)
    settings = search.best_params_ | {"screening": 200, "rows_per_bin": 20}
    plain = pb.ProperBoostClassifier(**settings).fit(X, y)
    np.testing.assert_array_equal(
        search.best_estimator_.decision_function(X), plain.decision_function(X)
    )


def test_tables_that_are_cut_already_have_the_same_bits(tmp_path):
    X, y = make_table(3000)
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    X["y"], X["weight"] = y, weight
    table = pb.QuantizedTable.from_batches(X, label="y", weight="weight", rows_per_bin=20)
    ours = pb.ProperBoostClassifier(**SETTINGS).fit(X.drop(columns=["y", "weight"]), y, weight)
    there = pb.ProperBoostClassifier(**SETTINGS).fit(table)
    assert saved(ours, tmp_path) == saved(there, tmp_path)


# -- screens by default ----------------------------------------------------------------------------


def test_tall_tables_are_screened():
    rng = np.random.default_rng(4)
    X = rng.integers(0, 50, (262_144, 12)).astype(np.float32)
    # All features are nearly equally strong.
    y = X.sum(axis=1) - 300.0 + 40.0 * rng.logistic(size=len(X)) > 0
    rare = np.zeros(len(X), dtype=bool)
    rare[rng.choice(len(X), 8191, replace=False)] = True

    def raw(X, y, screening):
        model = pb.ProperBoostClassifier(
            n_estimators=4,
            screening=screening,
            calibration=pb.Calibration(slope=1.0),
            weak_learner="table",
        )
        return model.fit(X, y).decision_function(X[:5000])

    screened = raw(X, y, "auto")
    np.testing.assert_array_equal(screened, raw(X, y, 32_768))
    assert not np.array_equal(screened, raw(X, y, None))
    np.testing.assert_array_equal(raw(X[1:], y[1:], "auto"), raw(X[1:], y[1:], None))
    np.testing.assert_array_equal(raw(X, rare, "auto"), raw(X, rare, None))


@pytest.fixture
def tall_from_2000(monkeypatch):
    """Lower the limits, so that tables of 2000 rows are screened."""
    limits = {"SCREEN": 200, "TREE_SCREEN": 200, "LEAST_SCREENED": 2000, "LEAST_OF_CLASS": 500}
    for name, value in limits.items():
        monkeypatch.setattr(parameters, name, value)


@pytest.mark.parametrize(
    ("settings", "screening"),
    [
        ({}, 200),
        ({"weak_learner": "stump", "response": "newton"}, 200),
        ({"interactions": 2}, 200),
        ({"outer_bags": 4}, 200),
        ({"multiclass": "softmax"}, 200),
        ({"weak_learner": "tree"}, 400),
        ({"weak_learner": "tree", "multiclass": "softmax"}, 600),
        ({"weak_learner": pb.Tree(grow_policy="symmetric", linear_leaves=True)}, 400),
        ({"weak_learner": pb.Tree(max_leaf_nodes=31)}, 400),
        ({"weak_learner": pb.Tree(max_leaf_nodes=32)}, None),
        ({"weak_learner": "rule"}, None),
        ({"selection": "greedy"}, None),
        ({"response": "sign"}, None),
    ],
    ids=str,
)
@pytest.mark.usefixtures("tall_from_2000")
def test_what_is_screened_by_default(settings, screening):
    X, y = make_table(3000, n_classes=3 if "multiclass" in settings else 2)
    settings = {"n_estimators": 6, "rows_per_bin": 20, "random_state": 0} | settings
    ours = pb.ProperBoostClassifier(**settings).fit(X, y).decision_function(X)
    named = pb.ProperBoostClassifier(**settings, screening=screening).fit(X, y)
    np.testing.assert_array_equal(ours, named.decision_function(X))


@pytest.mark.usefixtures("tall_from_2000")
def test_a_search_screens_where_its_fit_does():
    X, y = make_table(3000)
    space = {"gain": [0.5, 2.0], "selection": "unbiased"}
    settings = {"effort": None, "cv": 3, "max_estimators": 12}
    ours = pb.ProperBoostClassifierCV(space, **settings).fit(X, y)
    named = pb.ProperBoostClassifierCV(space | {"screening": 200}, **settings).fit(X, y)
    np.testing.assert_array_equal(ours.decision_function(X), named.decision_function(X))
    every = pb.ProperBoostClassifierCV(space | {"screening": None}, **settings).fit(X, y)
    assert not np.array_equal(ours.decision_function(X), every.decision_function(X))
    plain = pb.ProperBoostClassifier(**ours.best_params_).fit(X, y)
    np.testing.assert_array_equal(
        ours.best_estimator_.decision_function(X), plain.decision_function(X)
    )


@pytest.mark.usefixtures("tall_from_2000")
def test_quantized_tables_give_the_same_model_at_the_defaults(tmp_path):
    X, y = make_table(3000)
    X["y"] = y
    table = pb.QuantizedTable.from_batches(X, label="y")
    table.save(tmp_path / "rows.codes")
    features = X.drop(columns="y")

    def raw(*rows, **screening):
        model = pb.ProperBoostClassifier(n_estimators=6, **screening).fit(*rows)
        return model.decision_function(features)

    screened = raw(features, y)
    assert not np.array_equal(screened, raw(features, y, screening=None))
    for quantized in (table, pb.QuantizedTable.open(tmp_path / "rows.codes")):
        np.testing.assert_array_equal(raw(quantized), screened)


@pytest.mark.parametrize(
    "learner", [pb.Table(max_cells=None), pb.Tree(max_leaf_nodes=2, max_features=1.0)], ids=str
)
def test_a_rare_class_is_seen_whole(learner):
    """Half of 30 positive rows among 40,000 have the flag; a tenth of them would hide it."""
    rng = np.random.default_rng(2)
    n, n_seen = 40_000, 0
    for _ in range(5):
        X = rng.normal(size=(n, 30)).astype(np.float32)
        y = np.arange(n) % (n // 30) == 0
        X[:, 17] = rng.random(n) < np.where(y, 0.5, 0.02)
        model = pb.ProperBoostClassifier(n_estimators=1, screening=1000, weak_learner=learner)
        shares = model.fit(X, y).feature_importances_
        n_seen += shares.argmax() == 17
    assert n_seen == 5


@pytest.mark.parametrize("value", [0, -1, 2.5, "all"])
def test_values_that_are_none(value):
    X, y = make_table(100)
    with pytest.raises((TypeError, ValueError), match="screening must be"):
        pb.ProperBoostClassifier(screening=value, weak_learner="table").fit(X, y)
