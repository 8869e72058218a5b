"""Test directions of features in tables, stumps and rules; `test_tree_directions` has trees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

import helpers.reference as ref
import properboost as pb
from helpers.data_files import need
from helpers.engine import (
    assert_equal_models,
    assert_identical,
    make_boosting,
    problem,
    tables,
    train,
)
from properboost import _core
from properboost.datasets._adult import ADULT
from properboost.parameters.kinds import NOT_SOLVED, SOLVED

RESPONSES = ["real", "sign", "newton", "exact", "conditional"]


# -- the plain implementation ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"smoothing": 0.1},
        {"max_cells": 3},
        {"max_cells": 4, "smoothing": 0.2},
        {"weak_learner": "stump"},
        {"prior": 0.03},
        {"l2": 5.0},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("selection", "directions"),
    [
        ("greedy", [1, -1, 0, 1]),
        ("greedy", [-1, 1, 0, -1]),
        ("unbiased", [1, -1, 0, 1]),
        ("unbiased", [-1, 1, 0, -1]),
        ("cyclic", [1, -1, 0, 0]),  # the slope of a table of one cell is rounding noise
    ],
    ids=str,
)
@pytest.mark.parametrize("response", RESPONSES)
def test_tables_equal_the_reference(options, selection, directions, response):
    codes, features, bins, y = problem(3)
    weight = np.random.default_rng(3).uniform(0.2, 3.0, len(y))
    # Later cycles cut residuals that are nearly 0.
    options = {"n_estimators": 2 if selection == "cyclic" else 4, "gain": 0.8, **options}
    gain, learner = options.pop("gain"), options.pop("weak_learner", "table")
    common = {"selection": selection, "response": response, **options}
    ours = train(
        codes, features, y, weight, gain=gain, weak_learner=learner, directions=directions, **common
    )
    theirs = ref.fit(
        codes,
        bins,
        y,
        weight,
        loss=ref.make_loss("glog", gain),
        learner=learner,
        tree=ref.TreeSettings(directions=directions),
        **common,
    )
    assert_equal_models(ours, theirs)
    for r in theirs:
        steps = np.diff(r.table[: bins[r.feature].n_ordered])
        assert (directions[r.feature] * steps >= 0).all()


FEW_LEAVES = {"tree": {"max_leaf_nodes": 4}}


@pytest.mark.parametrize("learner", ["table", "stump", "rule", "tree"])
@pytest.mark.parametrize("selection", ["greedy", "unbiased"])
def test_a_feature_that_may_only_move_the_wrong_way_is_left(learner, selection):
    rng = np.random.default_rng(0)
    y = np.repeat([-1.0, 1.0], 300)
    strong = np.where(rng.random(600) < 0.9, y > 0, y < 0)
    weak = np.where(rng.random(600) < 0.6, y > 0, y < 0)
    codes = np.array([strong, weak], dtype=np.uint8)
    ours = train(
        codes, [np.arange(1.0)] * 2, y, weak_learner=learner, selection=selection,
        directions=[-1, 1], n_estimators=5, **FEW_LEAVES.get(learner, {}),
    )  # fmt: skip
    assert len(ours.feature) > 0
    used = ours.feature if ours.trees is None else ours.trees.feature
    assert set(used[used >= 0]) == {1}
    assert ours.risk[-1] < 2 * np.log(2)


@pytest.mark.parametrize("learner", ["table", "stump", "rule", "tree"])
def test_no_direction_is_none(learner):
    codes, features, _, y = problem(5)
    common = {"weak_learner": learner, "selection": "unbiased", **FEW_LEAVES.get(learner, {})}
    assert_identical(
        train(codes, features, y, directions=[0, 0, 0, 0], **common),
        train(codes, features, y, **common),
    )


@pytest.mark.parametrize("learner", ["table", "stump", "rule"])
def test_lanes_equal_models_alone(learner):
    """Lanes train on the folds that a search would use."""
    codes, features, _, y = problem(6)
    order = np.argsort(y, kind="stable")
    segments = [0, (y < 0).sum(), len(y)]
    losses = [_core.Loss("glog", {})] * 3
    settings = {
        "weak_learner": learner, "directions": [1, -1, 0, -1], "selection": "unbiased",
        **({"max_cells": 4} if learner == "table" else {}),
    }  # fmt: skip
    gains = [0.5, 1.0, 2.0]

    def boost(gains):
        boosting = make_boosting(
            codes[:, order], features, segments, [[-1, 1]] * len(gains), losses[: len(gains)],
            gain=gains, **settings,
        )  # fmt: skip
        boosting.advance(10)
        return [boosting.rounds(m) for m in range(len(gains))]

    for rounds, gain in zip(boost(gains), gains, strict=True):
        (alone,) = boost([gain])
        assert rounds.feature.tolist() == alone.feature.tolist()
        np.testing.assert_allclose(rounds.values, alone.values, rtol=1e-3, atol=1e-4)
        for j, table in zip(rounds.feature, tables(rounds), strict=True):
            if j >= 0:
                n = 8 if j == 0 else 5 if j == 1 else 3
                assert ([1, -1, 0, -1][j] * np.diff(table[: n if j != 2 else 1]) >= 0).all()


# -- the estimators -------------------------------------------------------------------------------

GRID = np.r_[-np.inf, np.linspace(-3.5, 3.5, 36), np.inf]


def steps_along(model, rows, j):
    """Return the changes of the raw prediction from value to value of one feature."""
    moved = np.repeat(rows, len(GRID), axis=0)
    moved[:, j] = np.tile(GRID, len(rows))
    return np.diff(model.decision_function(moved).reshape(len(rows), -1), axis=1)


def assert_follows(model, rows, directions):
    for j, direction in enumerate(directions):
        if direction:
            assert (direction * steps_along(model, rows, j) >= 0.0).all()


def waves(n=300, seed=0, missing=0.08):
    """Return three numbers, a category, and labels that are not monotonic in them."""
    rng = np.random.default_rng(seed)
    X = np.c_[rng.normal(size=(n, 3)), rng.integers(0, 4, n)]
    raw = np.sin(2 * X[:, 0]) + X[:, 1] * (X[:, 0] > 0) - 0.7 * X[:, 2] + (X[:, 3] == 2)
    y = (raw + rng.logistic(size=n) > 0).astype(int)
    X[:, :3][rng.random((n, 3)) < missing] = np.nan
    return X, y


LEARNERS = [
    pb.Table(max_cells=None),
    pb.Table(max_cells=4),
    pb.Stump(),
    pb.Rule(min_child_weight=0.0),
    pb.Rule(max_conditions=4, subsample=0.7),
    pb.Tree(),
]


@settings(max_examples=80)
@given(
    seed=st.integers(0, 2**16),
    directions=st.tuples(*[st.sampled_from([-1, 0, 1])] * 3),
    learner=st.sampled_from(LEARNERS),
    loss=st.sampled_from(["glog", "savage", "exponential"]),
    response=st.sampled_from(RESPONSES),
    step=st.sampled_from(NOT_SOLVED),
    selection=st.sampled_from(["unbiased", "greedy", "cyclic"]),
    smoothing=st.sampled_from([0.0, 0.2, 30.0]),
    prior=st.sampled_from([None, 0.1]),
    l2=st.sampled_from([0.0, 10.0]),
    pairs=st.sampled_from([0, 2, [(0, 1)], [(0, 3), (1, 2)]]),
    weighted=st.booleans(),
)
def test_predictions_follow_their_directions(
    seed, directions, learner, loss, response, step, selection, smoothing, prior, l2, pairs,
    weighted,
):  # fmt: skip
    X, y = waves(150, seed)
    rng = np.random.default_rng(seed)
    weight = rng.choice([0.0, 0.3, 2.0], len(y)) if weighted else None
    # Parameters without an effect stay at their defaults.
    options = {"selection": selection} if selection != "cyclic" or not learner.is_grown else {}
    if response in ("real", "exact", "conditional"):
        options["prior"] = prior
    if response == "newton":
        options["l2"] = l2
    if isinstance(learner, pb.Table):
        wide = min(smoothing, 0.25) if response == "exact" else smoothing
        learner = learner.replace(smoothing=wide)
        options["interactions"] = pb.Interactions(pairs, learning_rate=1.0) if pairs else 0
    model = pb.ProperBoostClassifier(
        loss=loss,
        weak_learner=learner,
        response=response,
        step=step,
        categorical_features=[3],
        rows_per_bin=10,
        n_estimators=6,
        monotonic_cst=[*directions, 0],
        **options,
    ).fit(X, y, weight)
    rows = X[rng.integers(0, len(X), 12)]
    rows[:, 3] = rng.choice([0, 1, 2, 3, 7, np.nan], 12)
    assert_follows(model, rows, directions)
    risk = model.history_["risk"]
    if step == "guarded":
        assert (np.diff(risk, prepend=np.inf if len(risk) else 0.0) <= 1e-6 * risk).all()


def test_an_undirected_feature_is_as_free_as_before():
    X, y = waves(2000)
    options = {"selection": "cyclic", "n_estimators": 1, "categorical_features": [3]}
    free = pb.ProperBoostClassifier(**options).fit(X, y)
    directed = pb.ProperBoostClassifier(monotonic_cst={0: -1}, **options).fit(X, y)
    assert (np.diff(free.shape_function(0).values) > 0).any()
    assert not (np.diff(directed.shape_function(0).values) > 0).any()
    # The other features hardly make up for the first one's lost effect.
    for j in (1, 2, 3):
        a, b = free.shape_function(j).values, directed.shape_function(j).values
        assert np.corrcoef(a, b)[0, 1] > 0.99
    grown = pb.ProperBoostClassifier(
        n_estimators=100, categorical_features=[3], weak_learner="table"
    ).fit(X, y)
    rising = clone(grown).set_params(monotonic_cst={1: 1, 2: -1}).fit(X, y)
    # Directions that the labels follow cost nothing, and the sine may still rise and fall.
    assert rising.score(X, y) > grown.score(X, y) - 0.02
    values = rising.shape_function(0).values
    assert (np.diff(values) > 0).any()
    assert (np.diff(values) < 0).any()


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_constant_columns_and_labels_against_all_directions(learner):
    rng = np.random.default_rng(0)
    X = np.c_[np.ones(200), np.full(200, np.nan), rng.normal(size=(200, 2))]
    y = (X[:, 2:].sum(axis=1) + 0.3 * rng.normal(size=200) > 0).astype(int)
    if learner.is_grown:
        learner = learner.replace(max_features=1.0)
    for sign in (1, -1):
        model = pb.ProperBoostClassifier(
            weak_learner=learner, n_estimators=8, monotonic_cst=[sign] * 4
        ).fit(X, y)
        assert_follows(model, X[:9], [sign] * 4)
        assert (model.score(X, y) > 0.8) == (sign > 0)


def test_pairs_of_two_directions_add_to_single_features():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (4000, 2))
    y = (X.min(axis=1) > 0) ^ (rng.random(4000) < 0.05)
    mains = pb.ProperBoostClassifier(
        n_estimators=60, monotonic_cst=[1, 1], weak_learner="table"
    ).fit(X, y)
    interactions = pb.Interactions(1, learning_rate=0.5)
    pairs = clone(mains).set_params(interactions=interactions).fit(X, y)
    assert_follows(pairs, X[:50], [1, 1])
    # These pairs are weaker than pairs whose order counts only together with single features.
    assert log_loss(y, pairs.predict_proba(X)) < 0.98 * log_loss(y, mains.predict_proba(X))


def test_a_search_follows_them_in_every_lane():
    X, y = waves()
    model = pb.ProperBoostClassifierCV(
        space={"gain": [0.5, 2.0], "weak_learner__smoothing": [0.0, 0.2],
            "selection": ["unbiased", "cyclic"], "interactions": [0, 1],
            "monotonic_cst": [[-1, 1, -1, 0]]}, cv=3,
        max_estimators=20, categorical_features=[3], effort=None
    ).fit(X, y)  # fmt: skip
    assert_follows(model, X[:30], [-1, 1, -1])
    plain = pb.ProperBoostClassifierCV(
        space={"gain": [0.5, 2.0], "n_estimators": 6, "monotonic_cst": [[-1, 0, 0, 0]],
            "selection": "greedy"}, cv=3, effort=None,
    ).fit(X, y)  # fmt: skip
    one = clone(plain.best_estimator_)
    assert one.monotonic_cst == [-1, 0, 0, 0]
    for k, (train_rows, test_rows) in enumerate(StratifiedKFold(3).split(X, y)):
        # The search finds its bins on all rows.
        fitted = one.fit(X[train_rows], y[train_rows])
        score = -log_loss(y[test_rows], fitted.predict_proba(X[test_rows]))
        assert plain.cv_results_[f"split{k}_test_score"][plain.best_index_] == pytest.approx(
            score, abs=0.05
        )


def test_age_and_schooling_raise_incomes():
    need(*ADULT.files)
    X, y = pb.datasets.load_adult(subset="train", return_X_y=True)
    X_test, y_test = pb.datasets.load_adult(subset="test", return_X_y=True)
    directions = {"age": 1, "education-num": 1}
    free = pb.ProperBoostClassifier(n_estimators=300, weak_learner="table").fit(X, y)
    directed = pb.ProperBoostClassifier(
        n_estimators=300, monotonic_cst=directions, weak_learner="table"
    ).fit(X, y)
    assert (np.diff(free.shape_function("age").values) < 0).any()
    for name in directions:
        assert (np.diff(directed.shape_function(name).values) >= 0).all()
    losses = [log_loss(y_test, model.predict_proba(X_test)) for model in (free, directed)]
    assert losses[1] < losses[0] + 0.01


@pytest.mark.parametrize("learner", ["table", "stump", "rule", "tree"])
@pytest.mark.parametrize("step", SOLVED)
def test_solved_steps_may_be_negative(learner, step):
    X, y = waves()
    model = pb.ProperBoostClassifier(weak_learner=learner, step=step, monotonic_cst=[1, 0, 0, 0])
    with pytest.raises(ValueError, match=f"monotonic_cst must be None with step='{step}': a step"):
        model.fit(X, y)


def test_the_engine_refuses_what_it_cannot_keep():
    codes, features, _, y = problem(0)
    with pytest.raises(ValueError, match="directions must have an entry per feature"):
        train(codes, features, y, directions=[1, 0])
    with pytest.raises(ValueError, match="directions must be none with steps that are solved for"):
        train(codes, features, y, directions=[1, 0, 0, 0], step="leveraging")
    votes = _core.VoteBoosting(_core.Vote("plurality", 2), [0, 1])
    rows = _core.Rows(np.array([[0, 1]], dtype=np.uint8), _core.Bins([3]), np.array([0, 1, 2]))
    learner = _core.WeakLearner({"name": "stump", "directions": [1]})
    model = _core.Model(_core.Loss("exponential", {}), learner, np.array([1, -1], dtype=np.int8))
    boosting = _core.Boosting(rows, [model], votes)
    with pytest.raises(ValueError, match="directions must be none for weak classifiers that vote"):
        boosting.advance(1)
