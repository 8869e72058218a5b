"""Test rows that are of every class by a share, against the plain reference on a row per label."""

import numpy as np
import pytest

import helpers.reference as ref
from helpers.engine import assert_equal_models, assert_identical, make_boosting, problem
from helpers.reference.joint_boosting import fit_joint
from properboost import _core
from properboost.engine.soft_labels import SharedRows, number_used

FORMS = [("softmax", "glog"), ("canonical", "ggauss"), ("canonical", "gboost")]
LEARNERS = ["table", "stump", "tree"]


def draw(n_classes, n, seed=1):
    """Return codes, features, bins, the shares of the classes in each row, and weights."""
    codes, features, bins, _ = problem(seed, n)
    rng = np.random.default_rng(seed)
    score = np.stack([np.sin(k + codes[0]) + (codes[1] == k) for k in range(n_classes)])
    shares = rng.multinomial(16, (np.exp(score) / np.exp(score).sum(axis=0)).T).T / 16.0
    return codes, features, bins, shares, rng.exponential(size=n)


def boost(codes, features, shares, form, weight=None, n_estimators=2, **settings):
    """Boost one joint model, all of whose rows are of every class by a share."""
    n_classes, n = shares.shape
    boosting = make_boosting(
        codes, features, [0, n], np.ones((n_classes, 1)), [_core.Loss(form[1], {})] * n_classes,
        weight, classes=n_classes, joint_loss=form[0],
        labels=np.ascontiguousarray(shares, dtype=np.float32), **settings,
    )  # fmt: skip
    boosting.advance(n_estimators)
    return boosting


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("response", ["real", "newton", "exact", "sign"])
@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_rounds_are_those_of_the_reference(form, response, learner):
    selections = ["greedy", "unbiased"] if learner == "tree" else ["greedy", "cyclic", "unbiased"]
    for step, selection in zip(["guarded", "unit", "line_search"], selections, strict=False):
        codes, features, bins, shares, weight = draw(3, 50 if response == "exact" else 120)
        common = {"gain": 1.5, "learning_rate": 0.5, "selection": selection}
        options = {"max_leaf_nodes": 4} if learner == "tree" else {}
        n = 1 if response in ("sign", "exact") else 2
        ours = boost(codes, features, shares, form, weight, n, weak_learner=learner,
                     response=response, step=step, shared_trees=learner == "tree",
                     **common, **options)  # fmt: skip
        label, row = np.nonzero(shares)
        theirs = fit_joint(codes[:, row], bins, label, (shares * weight)[label, row],
                           joint_loss=form[0], loss=form[1], n_estimators=n, learner=learner,
                           response=response, step=step, shared_trees=learner == "tree",
                           tree=ref.TreeSettings(max_leaf_nodes=4), **common)  # fmt: skip
        for k in range(3):
            assert_equal_models(ours.rounds(k), theirs[k], rel=1e-4)


@pytest.mark.parametrize("response", ["real", "newton"])
@pytest.mark.parametrize("n_classes", [6, 9, 17])
def test_batches_of_few_lanes_have_the_same_bits(n_classes, response):
    codes, features, _, shares, _ = draw(n_classes, 500)
    fits = [
        boost(codes, features, shares, FORMS[0], n_estimators=4, response=response, lanes=lanes)
        for lanes in (16, 1)
    ]
    for k in range(n_classes):
        assert_identical(*(fit.rounds(k) for fit in fits))


def boost_one_vs_rest(codes, features, shares, folds, weight, **settings):
    """Boost a model of each class; return them over rows by share, and over a row per label.

    The last of three folds is held out.
    """
    n_classes = len(shares)
    losses = [_core.Loss(settings.pop("loss"), {})] * n_classes
    order = np.argsort(folds, kind="stable")
    sizes = np.bincount(folds)
    by_share = make_boosting(
        codes[:, order], features, np.cumsum([0, *sizes]), np.tile([1, 1, 2], (n_classes, 1)),
        losses, weight[order], labels=np.ascontiguousarray(shares[:, order], dtype=np.float32),
        **settings,
    )  # fmt: skip
    label, row = np.nonzero(shares)
    segment = 3 * label + folds[row]
    sort = np.argsort(segment, kind="stable")
    signs = np.where(np.arange(n_classes)[:, None] == np.repeat(np.arange(n_classes), 3), 1, -1)
    by_label = make_boosting(
        codes[:, row[sort]], features, np.cumsum([0, *np.bincount(segment)]),
        signs * np.tile([1, 1, 2], n_classes), losses, (shares * weight)[label, row][sort],
        **settings,
    )  # fmt: skip
    for boosting in (by_share, by_label):
        boosting.advance(3)  # converged models end by rounding
    return by_share, by_label, np.argsort(order)[row[sort]]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("response", ["real", "newton", "exact", "sign", "conditional"])
@pytest.mark.parametrize("loss", ["glog", "exponential", "savage"])
def test_independent_models_are_those_of_a_row_for_each_label(loss, response, learner):
    if (learner, response) == ("tree", "newton"):
        pytest.skip("rows of trees have no third number")
    for n, n_classes in ((200, 2), (5000, 3)):  # many rows are summed in 32 bits
        if response == "exact" and n > 200:
            continue
        codes, features, _, shares, weight = draw(n_classes, n)
        folds = np.random.default_rng(2).integers(3, size=n)
        other = "unbiased" if learner == "tree" else "cyclic"
        for selection, step in (("greedy", "guarded"), (other, "line_search")):
            by_share, by_label, place = boost_one_vs_rest(
                codes, features, shares, folds, weight, loss=loss, response=response,
                selection=selection, step=step, weak_learner=learner,
            )  # fmt: skip
            for k in range(n_classes):
                raw = by_label.raw(k)
                np.testing.assert_allclose(by_share.raw(k)[place], raw, rtol=0.0, atol=1e-5)
                curves = by_share.curves(k), by_label.curves(k)
                np.testing.assert_allclose(*curves, rtol=1e-5, atol=1e-7)


def test_rows_are_numbered_among_those_with_labels():
    used, place = number_used(np.array([4, 1, 4, 2]), 5)
    assert used.tolist() == [1, 2, 4]
    assert place.tolist() == [2, 0, 2, 1]
    everything, same = number_used(np.array([2, 0, 1, 0]), 3)
    assert everything is None
    assert same.tolist() == [2, 0, 1, 0]


def test_rows_add_up_the_weights_of_their_labels():
    weight = np.array([0.5, 1.0, 1.5, 0.25])
    shared = SharedRows.of(np.array([3, 1, 3, 1]), np.array([0, 0, 1, 2]), weight, (3, 4))
    assert shared.rows.tolist() == [1, 3]
    assert shared.first.tolist() == [1, 0]
    assert shared.weight.tolist() == [1.25, 2.0]
    np.testing.assert_allclose(shared.shares, [[0.8, 0.25], [0.0, 0.75], [0.2, 0.0]], rtol=1e-7)


def test_other_models_are_refused():
    codes, features, _, shares, _ = draw(3, 60)
    labels = np.ascontiguousarray(shares, dtype=np.float32)
    losses = [_core.Loss("glog", {})] * 3
    joint = {"classes": 3, "joint_loss": "softmax"}
    whole = np.ones((3, 1))

    def refuse(message, segments, roles, **settings):
        with pytest.raises(ValueError, match=message):
            make_boosting(codes, features, segments, roles, losses, **settings)

    refuse("shape .n_models, n_rows.", [0, 60], whole, labels=labels[:2], **joint)
    refuse("are negative", [0, 60], -whole, labels=labels)
    refuse("solved for", [0, 60], whole, labels=labels, step="totally_corrective")
    refuse("of several segments", [0, 30, 60], np.ones((3, 2)), labels=labels, **joint)
    refuse("a screen", [0, 60], whole, labels=labels, screening=10, **joint)
    refuse("of one class", [0, 60], [[1], [-1], [-1]], labels=labels, **joint)
    lines = {"weak_learner": "tree", "linear_leaves": True, "shared_trees": True}
    refuse("with lines", [0, 60], whole, labels=labels, **lines, **joint)
    refuse("a tree of each class", [0, 60], whole, labels=labels, weak_learner="tree", **joint)
