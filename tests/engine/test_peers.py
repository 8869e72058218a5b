"""Test that rows spread over several processes give the bits of one process with all rows."""

import numpy as np
import pytest

from helpers.engine import LOSSES, assert_identical, make_boosting, problem
from helpers.peers import Meeting
from properboost import _core

TREE = {"weak_learner": "tree", "max_leaf_nodes": 8, "response": "newton"}
MEANS = [np.arange(8.0), np.arange(5.0), np.empty(0), np.arange(3.0)]
FITS = {
    "greedy": {},
    "unbiased": {"selection": "unbiased"},
    "cyclic": {"selection": "cyclic", "n_estimators": 3},
    "cyclic, unbounded": {"selection": "cyclic", "n_estimators": 3, "loss": "exponential"},
    "newton": {"response": "newton"},
    "in several advances": {"selection": "unbiased", "advances": (3, 4)},
    "exact": {"response": "exact", "n_estimators": 4},
    "searched": {"step": "line_search", "loss": "gboost"},
    "stumps": {"weak_learner": "stump", "selection": "unbiased"},
    "rules": {"weak_learner": "rule"},
    "trees": {**TREE, "selection": "unbiased"},
    "trees of weights": {**TREE, "response": "real"},
    "symmetric trees": {
        **TREE,
        "grow_policy": "symmetric",
        "max_depth": 3,
        "selection": "unbiased",
    },
    "lines": {**TREE, "linear_leaves": True, "linear_l2": 3.0},
    "limited trees": {**TREE, "interaction_limit": 2, "interaction_sets": [[0, 1], [1, 2, 3]]},
}
JOINT = {"classes": 3, "joint_loss": "canonical"}
OF_CLASSES = {
    "greedy": JOINT,
    "cyclic": {**JOINT, "selection": "cyclic", "n_estimators": 3},
    "cyclic, less chance": {
        **JOINT,
        "selection": "cyclic",
        "n_estimators": 6,
        "max_cells": 3,
        "min_saving": 1.0,
    },
    "exact": {**JOINT, "response": "exact", "n_estimators": 4},
    "softmax": {**JOINT, "joint_loss": "softmax", "response": "newton"},
    "trees": {**JOINT, **TREE},
    "shared trees": {**JOINT, **TREE, "shared_trees": True, "selection": "unbiased"},
    "one against the rest": {},
}


def deal(rng, n, parties):
    """Assign rows to parties, some of which get one row or none."""
    party = rng.integers(0, min(parties, 2) if parties < 3 else parties - 2, n)
    if parties > 2:
        party[0] = parties - 2
    return party


def boost(meeting, parties, settings, codes, segment_of, n_segments, roles, weight, base=None):
    """Fit the models of all parties; `parties` is each row's. Without a meeting there is one."""
    settings = dict(settings)
    name = settings.pop("loss", "glog")
    n_estimators = settings.pop("n_estimators", 8)
    advances = settings.pop("advances", ())
    features = settings.pop("features")
    n_parties = 1 if meeting is None else len(meeting.brought)
    rows_of_parties = [np.flatnonzero(parties == k) for k in range(n_parties)]

    def fit(k):
        order = rows_of_parties[k][np.argsort(segment_of[rows_of_parties[k]], kind="stable")]
        boosting = make_boosting(
            codes[:, order], features,
            np.searchsorted(segment_of[order], np.arange(n_segments + 1)), roles,
            [_core.Loss(name, LOSSES[name])] * len(roles),
            None if weight is None else weight[order],
            base=None if base is None else np.ascontiguousarray(base[:, order]),
            share=None if meeting is None else meeting.place(k), **settings,
        )  # fmt: skip
        for n in np.diff([0, *advances, n_estimators]):
            boosting.advance(int(n))
        return boosting

    if meeting is None:
        return [fit(0)]
    return meeting.run([lambda k=k: fit(k) for k in range(len(rows_of_parties))])


def assert_same_in_parts(settings, n_classes, weighted, based=False):
    codes, features, _, y = problem(3, 600)
    rng = np.random.default_rng(5)
    n = codes.shape[1]
    classes = (y > 0).astype(int) if n_classes == 2 else (y > 0) + (codes[0] > 4)
    fold = rng.integers(0, 3, n)
    segment_of, n_segments = 3 * classes + fold, 3 * n_classes
    weight = rng.uniform(0.2, 3.0, n) if weighted else None
    signs = [1] if n_classes == 2 else range(n_classes)
    roles = [  # the models hold the last fold out
        [(1 if s // 3 == k else -1) * (2 if s % 3 == 2 else 1) for s in range(n_segments)]
        for k in signs
    ]
    features = (features, MEANS) if settings.get("linear_leaves") else features
    options = {**settings, "features": features}
    # One row is far from all others, and all parties must use its bound on the margins.
    base = rng.normal(size=(len(roles), n)) * np.where(np.arange(n) == 5, 30.0, 0.5)
    base = base if based else None
    (whole,) = boost(
        None, np.zeros(n, int), options, codes, segment_of, n_segments, roles, weight, base
    )
    for parties in (2, 4):
        meeting = Meeting(parties)
        parts = boost(
            meeting, deal(rng, n, parties), options, codes, segment_of, n_segments, roles, weight,
            base,
        )  # fmt: skip
        assert meeting.calls > 4
        for part in parts:
            for k in range(len(roles)):
                assert_identical(part.rounds(k), whole.rounds(k))
                np.testing.assert_array_equal(part.curves(k), whole.curves(k))
            np.testing.assert_array_equal(part.code_counts, whole.code_counts)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", FITS)
def test_parts_of_the_rows_give_the_bits_of_all(name, weighted):
    assert_same_in_parts(FITS[name], 2, weighted)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", OF_CLASSES)
def test_parts_of_the_rows_of_several_classes(name, weighted):
    assert_same_in_parts(OF_CLASSES[name], 3, weighted)


@pytest.mark.parametrize("first_part", [0, 3], ids=["one without rows", "parts apart"])
@pytest.mark.parametrize("n_models", [2, 4, 14])
@pytest.mark.parametrize("selection", ["greedy", "cyclic", "unbiased"])
def test_models_that_learn_from_other_rows(selection, n_models, first_part):
    """Models allow several batches, and a party's rows alone must not decide between them."""
    codes, features, _, y = problem(3, 600)
    rng = np.random.default_rng(7)
    fold = rng.integers(0, 6, len(y))
    roles = []
    # Each model leaves out three parts of six, and the last ones hold out one.
    for k in range(n_models):
        roles_of_folds = np.isin(np.arange(6), (np.arange(3) + k) % 6).astype(int)
        roles_of_folds[(k + 4) % 6] = 2 if k > 6 else 0
        roles.append(np.concatenate([-roles_of_folds, roles_of_folds]).tolist())
    settings = {"features": features, "selection": selection}
    settings["gain"] = np.geomspace(0.2, 8.0, n_models)
    rows = codes, 6 * (y > 0) + fold, 12, roles, None
    (whole,) = boost(None, np.zeros(len(y), int), settings, *rows)
    for part in boost(Meeting(2), (fold < first_part).astype(int), settings, *rows):
        for k in range(n_models):
            assert_identical(part.rounds(k), whole.rounds(k))
            np.testing.assert_array_equal(part.curves(k), whole.curves(k))


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", ["greedy", "cyclic, unbounded", "newton", "trees"])
def test_parts_that_start_from_raw_predictions(name, weighted):
    assert_same_in_parts(FITS[name], 2, weighted, based=True)
    if name in OF_CLASSES:
        assert_same_in_parts(OF_CLASSES[name], 3, weighted, based=True)


@pytest.mark.parametrize(
    ("name", "a_table"),
    [
        ("greedy", 1), ("unbiased", 1), ("newton", 1), ("stumps", 1), ("cyclic", 1),
        ("exponential", 1), ("cyclic, unbounded", 2),
    ],
)  # fmt: skip
def test_a_table_takes_one_meeting(name, a_table):
    """The sums for the next plan are requested before the new weights are known."""
    codes, features, _, y = problem(3, 600)
    settings = FITS.get(name, {"loss": "exponential", "selection": "unbiased"})
    n_estimators, calls = 30, []
    for more in (0, n_estimators):
        options = {**settings, "features": features, "n_estimators": 2 + more, "learning_rate": 0.3}
        meeting = Meeting(2)
        parties = np.arange(len(y)) % 2
        boost(meeting, parties, options, codes, (y > 0).astype(int), 2, [[-1, 1]], None)
        calls.append(meeting.calls)
    tables = n_estimators * (len(codes) if settings.get("selection") == "cyclic" else 1)
    # A few sums are repeated, after weights have halved or a step was corrected.
    assert a_table * tables <= calls[1] - calls[0] <= 1.5 * a_table * tables


@pytest.mark.parametrize("learner", ["table", "stump"])
@pytest.mark.parametrize("selection", ["greedy", "unbiased"])
def test_weights_that_grow_beyond_what_was_foreseen(selection, learner):
    settings = {
        "loss": "exponential", "response": "newton", "step": "unit", "learning_rate": 9.0,
        "selection": selection, "weak_learner": learner,
    }  # fmt: skip
    assert_same_in_parts(settings, 2, weighted=True)
    codes, features, _, y = problem(3, 600)
    options = {**settings, "features": features, "n_estimators": 3}
    (model,) = boost(
        None, np.zeros(len(y)), options, codes, (y > 0).astype(int), 2, [[-1, 1]], None
    )
    assert (model.rounds(0).risk > 4.0).any()  # the risk is the mean weight, at first 1


def test_nothing_is_summed_for_a_plan_that_is_not_made():
    codes, features, _, y = problem(3, 600)
    calls = []
    for advances in ((), range(1, 20)):
        meeting = Meeting(2)
        settings = {"features": features, "n_estimators": 20, "advances": advances}
        settings |= {"selection": "unbiased", "learning_rate": 0.3}
        parties = np.arange(len(y)) % 2
        boost(meeting, parties, settings, codes, (y > 0).astype(int), 2, [[-1, 1]], None)
        calls.append(meeting.calls)
    assert calls[1] <= calls[0] + 19 + 5  # each advance begins with a pass that moves nothing


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"step": "totally_corrective"}, "steps that are solved for"),
    ],
)
def test_what_depends_on_the_order_of_rows_is_refused(settings, message):
    codes, features, _, y = problem(0)
    with pytest.raises(ValueError, match=message):
        make_boosting(
            codes[:, np.argsort(y)], features, [0, (y < 0).sum(), len(y)], [[-1, 1]],
            [_core.Loss("glog", {})], share=Meeting(1).place(0), **{"lanes": 1, **settings},
        )  # fmt: skip


def test_errors_of_peers_end_a_fit():
    codes, features, _, y = problem(0)

    def fail(sums, most):
        raise ConnectionError("the others are gone")

    with pytest.raises(ConnectionError, match="others are gone"):
        make_boosting(
            codes[:, np.argsort(y)], features, [0, (y < 0).sum(), len(y)], [[-1, 1]],
            [_core.Loss("glog", {})], share=fail,
        ).advance(3)  # fmt: skip
