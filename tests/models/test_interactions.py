"""Pairs: two features taken as one, from the grid over both to the model's pair functions."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import properboost as pb
from helpers.products import make_interactions
from properboost import _core
from properboost.data.binning import Binning, CategoricalBins, NumericBins
from properboost.models.interactions import MOST_CELLS, find_levels, make_pair, purify

# ------------------------------------------------------------------------------------ the grid


@given(
    hnp.arrays(np.float64, st.integers(2, 60), elements=st.sampled_from([0.0, 1.0, 2.0, 7.5])),
    st.integers(1, 20),
)
def test_levels_of_a_numeric_feature_are_runs_of_bins(weight, most):
    bins = NumericBins(np.arange(len(weight) - 2.0))
    level, ordered = find_levels(bins, weight, most)
    values, missing = level[:-1], level[-1]
    has_missing = weight[-1] > 0
    assert (missing >= 0) == has_missing
    if not weight[:-1].any():
        return
    assert set(np.diff(values)) <= {0, 1}
    assert (values[0], values[-1]) == (0, ordered - 1)
    level_weights = np.bincount(values, weight[:-1])
    assert (level_weights > 0).all()  # no level that no row has
    assert ordered <= max(1, most - has_missing)
    if has_missing:
        assert missing == ordered
    if np.count_nonzero(weight[:-1]) <= most - has_missing:
        assert ordered == np.count_nonzero(weight[:-1])


def test_few_bins_keep_a_level_each_and_the_lightest_neighbours_share():
    level, ordered = find_levels(NumericBins(np.arange(4.0)), np.array([5.0, 1, 1, 9, 4, 0]), 4)
    assert level.tolist() == [0, 1, 1, 2, 3, -1]
    assert ordered == 4


def test_rare_categories_share_the_last_level():
    bins = CategoricalBins(("a", "b", "c", "d"))
    weight = np.array([1.0, 8, 2, 0, 3, 0])  # missing weighs 3; no row was unseen
    level, ordered = find_levels(bins, weight, 3)
    assert level.tolist() == [1, 0, 1, -1, 2, -1]
    assert ordered == 0


def test_a_grid_has_no_more_cells_than_codes():
    bins = Binning(tuple(NumericBins(np.arange(n - 1.0)) for n in (200, 3, 16, 16)), True)
    weights = [np.append(np.ones(n), 0.0) for n in (200, 3, 16, 16)]
    sizes = {}
    for a, b in itertools.combinations(range(4), 2):
        pair = make_pair(bins, weights, a, b, MOST_CELLS)
        assert pair.n_cells <= MOST_CELLS
        sizes[a, b] = pair.n_first, pair.n_second
    assert sizes == {
        (0, 1): (84, 3), (0, 2): (15, 16), (0, 3): (15, 16), (1, 2): (3, 16), (1, 3): (3, 16),
        (2, 3): (16, 15),
    }  # fmt: skip


def test_codes_of_pairs():
    bins = Binning((NumericBins(np.array([0.5])), CategoricalBins(("a", "b"))), True)
    weights = [np.array([2.0, 2, 1]), np.array([3.0, 2, 0, 0])]
    pair = make_pair(bins, weights, 0, 1, MOST_CELLS)
    assert (pair.n_first, pair.n_second, pair.ordered) == (3, 2, (2, 0))
    grid = list(itertools.product(range(3), range(4)))
    codes = np.array(grid, dtype=np.uint8).T.copy()
    expected = [2 * a + b if b < 2 else 7 for a, b in grid]  # of no cell: missing and unseen towns
    assert _core.encode_pairs([pair.native], codes)[0].tolist() == expected
    many = np.tile(codes, 3000)
    for n_threads in (1, 2, 3):
        got = _core.encode_pairs([pair.native] * 3, many, n_threads)
        np.testing.assert_array_equal(got, np.tile(expected, (3, 3000)))


@pytest.fixture(scope="module")
def interactions():
    return make_interactions()


# ------------------------------------------------------------------------------- reading the model


def test_nearly_equal_features_are_distinguished():
    weight = np.eye(15) * 1000 + np.eye(15, k=1)
    grid = np.random.default_rng(0).normal(size=(15, 15))
    a, b = purify(grid, weight * 1e305)
    grid -= a[:, None] + b[None, :]
    for axis in (0, 1):
        np.testing.assert_allclose(np.average(grid, axis=axis, weights=weight), 0, atol=1e-9)


@pytest.mark.parametrize("shape", [(1, 1), (3, 4), (16, 15)])
def test_purified_tables_have_no_means_left(shape):
    random = np.random.default_rng(0)
    grid, weight = random.normal(size=shape), random.exponential(size=shape)
    weight[random.random(shape) < 0.3] = 0.0
    a, b = purify(grid, weight)
    grid -= a[:, None] + b[None, :]
    np.testing.assert_allclose((weight * grid).sum(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose((weight * grid).sum(axis=1), 0, atol=1e-9)


@pytest.mark.parametrize("shape", [(3, 4), (1, 9), (16, 15), (2, 127), (127, 2)])
@pytest.mark.parametrize("decades", [10, 30, 250])
def test_the_lightest_levels_are_purified_as_exactly_as_the_heaviest(shape, decades):
    """The normal equations were off by 7e-7 at ten decades of weights, and by 160 at twenty."""
    random = np.random.default_rng(0)
    grid = random.normal(size=shape)
    weight = 10.0 ** random.uniform(-decades / 2, decades / 2, shape)
    weight[random.random(shape) < 0.3] = 0.0
    a, b = purify(grid, weight)
    pure = grid - (a[:, None] + b)
    for axis in (0, 1):
        means = (weight * pure).sum(axis=axis) / np.maximum(weight.sum(axis=axis), 1e-300)
        np.testing.assert_allclose(means, 0, atol=1e-12)
    for effects in purify(pure, weight):
        np.testing.assert_allclose(effects, 0, atol=1e-11)


def test_raw_predictions_are_the_sum_of_the_functions(interactions):
    X, y = interactions
    X = X.copy()
    X[::7, 1] = np.nan
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["c"] = pd.Categorical(np.where(X[:, 2] > 0, "x", "y"))
    model = pb.ProperBoostClassifier(interactions=4, n_estimators=40, weak_learner="table").fit(
        frame, y
    )
    rows = frame.iloc[:500].copy()
    rows.loc[:20, "a"] = np.nan  # of which training had none
    rows["c"] = rows["c"].cat.add_categories("z")
    rows.loc[30:50, "c"] = "z"
    total = np.zeros(len(rows))
    for name in frame:
        total += model.shape_function(name)(rows[name].to_numpy())
    for a, b in model.pairs_:
        function = model.term_function((b, a))
        weights = function.weights
        assert weights.sum() == pytest.approx(3000)
        for axis in (0, 1):
            np.testing.assert_allclose((weights * function.values).sum(axis=axis), 0, atol=1e-6)
        assert tuple(map(len, function.levels)) == function.values.shape
        total += function(rows[a].to_numpy(), rows[b].to_numpy())
    np.testing.assert_allclose(model.decision_function(rows), total, atol=1e-9)
    contributions = model.contributions(rows)
    np.testing.assert_allclose(
        contributions.baseline + contributions.values.sum(axis=1), total, atol=1e-9
    )


def test_pairs_contribute(interactions):
    X, y = interactions
    model = pb.ProperBoostClassifier(interactions=2, n_estimators=30, weak_learner="table").fit(
        X, y
    )
    contributions = model.contributions(X)
    assert contributions.names[-2:] == ("feature 1 and feature 4", "feature 2 and feature 5")
    assert contributions.values.shape == (3000, 8)
    np.testing.assert_allclose(
        contributions.baseline + contributions.values.sum(axis=1),
        model.decision_function(X),
        atol=1e-9,
    )
    np.testing.assert_allclose(contributions.values.mean(axis=0), 0, atol=1e-9)
    function = model.term_function((1, 4))
    np.testing.assert_allclose(contributions.values[:, 6], function(X[:, 1], X[:, 4]), atol=1e-9)


def test_levels_in_words():
    X = pd.DataFrame({"n": [0.0, 0.0, 1.0, 1.0] * 30, "town": ["a", "b", "a", "b"] * 30})
    y = np.tile([0, 1, 1, 0], 30)
    model = pb.ProperBoostClassifier(
        interactions=1, categorical_features=["town"], weak_learner="table"
    ).fit(X, y)
    function = model.term_function(("n", "town"))
    assert function.levels == (("<= 0.5", "> 0.5"), ("a", "b"))
    assert np.sign(function.values).tolist() == [[-1, 1], [1, -1]]
    assert function.names == ("n", "town")
    assert model.score(X, y) == 1.0
    negative = model.term_function(("n", "town"), class_=0)
    np.testing.assert_array_equal(negative.values, -function.values)


def test_staged_predictions_and_history(interactions):
    X, y = interactions
    for selection, per_main, per_pair in (("greedy", 1, 1), ("cyclic", 6, 2)):
        model = pb.ProperBoostClassifier(
            interactions=pb.Interactions(2, n_estimators=7),
            n_estimators=5,
            selection=selection,
            weak_learner="table",
        ).fit(X, y)
        stages = list(model.staged_decision_function(X))
        assert model.n_iter_ == len(stages) == 12
        np.testing.assert_allclose(stages[-1], model.decision_function(X), atol=1e-12)
        feature = model.history_["feature"]
        assert len(feature) == 5 * per_main + 7 * per_pair
        assert (feature[: 5 * per_main] < 6).all()
        assert (feature[5 * per_main :] >= 6).all()
        mains = pb.ProperBoostClassifier(
            n_estimators=5, selection=selection, weak_learner="table"
        ).fit(X, y)
        np.testing.assert_array_equal(stages[4], list(mains.staged_decision_function(X))[-1])
        assert (np.diff(model.history_["risk"]) < 1e-9).all()


# ------------------------------------------------------------------------------------ as the rest


def test_threads_change_nothing(interactions):
    X, y = interactions
    models = [
        pb.ProperBoostClassifier(
            interactions=5, n_estimators=20, n_jobs=n, weak_learner="table"
        ).fit(X, y)
        for n in (1, 2, 3)
    ]
    for model in models[1:]:
        assert model.pairs_ == models[0].pairs_
        np.testing.assert_array_equal(model.decision_function(X), models[0].decision_function(X))


def test_a_weight_of_two_is_the_row_twice(interactions):
    X, y = interactions
    random = np.random.default_rng(3)
    weight = random.integers(0, 3, len(X))
    settings = {"interactions": 3, "n_estimators": 20}
    a = pb.ProperBoostClassifier(**settings).fit(X, y, weight)
    rows = np.repeat(np.arange(len(X)), weight)
    b = pb.ProperBoostClassifier(**settings).fit(X[rows], y[rows])
    assert a.pairs_ == b.pairs_
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("response", ["real", "sign", "newton", "exact"])
def test_every_response(interactions, response):
    X, y = interactions
    for learner in ("table", "stump"):
        model = pb.ProperBoostClassifier(
            weak_learner=learner, response=response, step="line_search", learning_rate=0.3,
            interactions=[(1, 4)], n_estimators=30,
        ).fit(X, y)  # fmt: skip
        risk = model.history_["risk"]
        assert risk[-1] < risk[29] - 0.03
        assert (np.diff(risk) < 1e-6).all()


def test_classes_share_their_pairs():
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (2000, 3))
    y = 2 * (X[:, 0] * X[:, 1] > 0) + (X[:, 2] > 0)
    model = pb.ProperBoostClassifier(interactions=1, n_estimators=30, weak_learner="table").fit(
        X, y
    )
    assert model.pairs_ == [(0, 1)]
    assert model.score(X, y) > 0.9
    function = model.term_function((0, 1), class_=2)
    assert function(0.5, 0.5) > 0 > function(0.5, -0.5)


def test_pickled_and_saved(interactions, tmp_path):
    X, y = interactions
    model = pb.ProperBoostClassifier(
        interactions=2, n_estimators=10, selection="cyclic", weak_learner="table"
    ).fit(X, y)
    model.save_model(tmp_path / "model.json")
    for twin in (
        pb.load_model(tmp_path / "model.json"),
        pickle.loads(pickle.dumps(model)),
    ):
        np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))
        assert twin.pairs_ == model.pairs_
        np.testing.assert_array_equal(twin.pair_importances_, model.pair_importances_)
        np.testing.assert_array_equal(twin.feature_importances_, model.feature_importances_)
        np.testing.assert_array_equal(
            twin.term_function((1, 4)).values, model.term_function((1, 4)).values
        )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"interactions": -1}, "interactions must be at least 0|between 0"),
        ({"interactions": 1.5}, "interactions must be an integer"),
        ({"interactions": "all"}, "interactions must be an integer"),
        ({"interactions": [(0, 1, 2)]}, r"interactions\[0\] must be two features"),
        ({"interactions": [(0, 0)]}, r"interactions\[0\] must be two different features"),
        ({"interactions": [(0, 1), (1, 0)]}, r"interactions\[1\] must be two different features"),
        ({"interactions": [(0, 99)]}, r"interactions\[0\] must be between 0 and 5"),
        ({"interactions": [("a", "b")]}, r"interactions\[0\]: the name 'a' is unknown"),
        ({"interactions": 1, "weak_learner": "tree"}, "interactions must be 0 with weak_learner="),
        (
            {"interactions": 2, "interactions__learning_rate": 0.0},
            r"Interactions\.learning_rate must be above 0",
        ),
        (
            {"interactions": 2, "interactions__smoothing": -0.3},
            r"Interactions\.smoothing must be between 0 and 10000",
        ),
        (
            {"interactions": 2, "interactions__n_estimators": 0},
            r"Interactions\.n_estimators must be",
        ),
    ],
    ids=str,
)
def test_wrong_settings(interactions, settings, message):
    X, y = interactions
    with pytest.raises((ValueError, TypeError), match=message):
        pb.ProperBoostClassifier(weak_learner="table").set_params(**settings).fit(X, y)


def test_unknown_pairs_are_refused(interactions):
    X, y = interactions
    model = pb.ProperBoostClassifier(interactions=1, n_estimators=5, weak_learner="table").fit(X, y)
    with pytest.raises(ValueError, match="no term of 0 and 1; see terms_"):
        model.term_function((0, 1))
    for learner in ("tree", "rule"):
        refused = {"interactions": 2, "weak_learner": learner}
        for model in (
            pb.ProperBoostClassifierCV(refused, effort=None), pb.ProperBoostClassifier(**refused)
        ):  # fmt: skip
            with pytest.raises(ValueError, match=f"be 0 with weak_learner='{learner}'"):
                model.fit(X, y)
    with pytest.raises(TypeError, match=r"^interactions must be an integer"):
        pb.ProperBoostClassifierCV(space={"interactions": 1.5}, effort=None).fit(X, y)


def test_a_search_on_one_feature_finds_no_pair(interactions):
    X, y = interactions
    search = pb.ProperBoostClassifierCV(
        space={"interactions": [0, 5]}, max_estimators=3, cv=2, effort=None
    )
    search.fit(X[:, :1], y)
    assert search.best_params_["interactions"] == 0
    assert search.pairs_ == []
    assert pb.ProperBoostClassifier(weak_learner="tree").fit(X, y).pairs_ == []


def test_raw_predictions_of_any_size_leave_finite_gradients():
    """A warning from numpy would be an error here."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=300) > 0
    model = pb.ProperBoostClassifier(
        weak_learner="stump",
        response="sign",
        n_estimators=1,
        gain=1e-18,
        learning_rate=4000.0,
        interactions=1,
    )
    assert len(model.fit(X, y).pairs_) == 1


def test_rates_of_pairs_are_named_where_they_are_too_large():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] * X[:, 1] > 0
    model = pb.ProperBoostClassifier(
        "savage",
        gain=1e4,
        response="sign",
        step="unit",
        n_estimators=5,
        interactions=1,
        weak_learner="table",
    )
    with pytest.raises(
        ValueError, match=r"interactions__learning_rate=1e\+304 make .* that of interactions small"
    ):
        model.set_params(interactions__learning_rate=1e304).fit(X, y)
    model.set_params(loss="glog", interactions__learning_rate=1.0).fit(X, y)
    with pytest.raises(ValueError, match=r"for pairs, that of interactions\) must be smaller"):
        model.set_params(interactions__learning_rate=1e304).fit(X, y)
