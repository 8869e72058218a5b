"""Test joint models against the plain reference and the binary model."""

import itertools

import numpy as np
import pytest

import helpers.reference as ref
from helpers.engine import assert_equal_models, assert_identical, make_boosting, problem
from helpers.reference.joint_boosting import fit_joint
from properboost import _core

CANONICAL = ["glog", "ggauss", "glaplacian", "gboost"]
FORMS = [("softmax", "glog"), *(("canonical", name) for name in CANONICAL)]
RESPONSES = ["real", "newton", "exact", "sign"]
LEARNERS = ["table", "stump", "tree"]


def several_classes(seed, n_classes, n=300):
    """Return codes of four features and classes that depend on them."""
    codes, features, bins, _ = problem(seed, n)
    rng = np.random.default_rng(seed)
    score = np.stack([np.sin(k + codes[0]) + (codes[1] == k) + 0.3 * codes[2] * np.cos(k)
                      for k in range(n_classes)], axis=1)  # fmt: skip
    classes = (score + 0.5 * rng.gumbel(size=score.shape)).argmax(axis=1)
    classes[:n_classes] = np.arange(n_classes)
    order = np.argsort(classes, kind="stable")
    return codes[:, order], features, bins, classes[order]


def boost(codes, features, classes, form, n_estimators, weight=None, **settings):
    joint_loss, name = form
    n_classes = classes.max() + 1
    segments = np.searchsorted(classes, np.arange(n_classes + 1))
    roles = np.where(np.eye(n_classes, dtype=bool), 1, -1)
    loss = _core.Loss(name, {})
    boosting = make_boosting(
        codes, features, segments, roles, [loss] * n_classes, weight, classes=int(n_classes),
        joint_loss=joint_loss, **settings,
    )  # fmt: skip
    boosting.advance(n_estimators)
    return boosting


def rounds_of(boosting, n_classes):
    return [boosting.rounds(k) for k in range(n_classes)]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_rounds_are_those_of_the_reference(form, response, learner):
    selections = ["greedy", "unbiased"] if learner == "tree" else ["greedy", "cyclic", "unbiased"]
    steps = ["guarded", "unit", "line_search"]
    for step, selection in zip(steps, itertools.cycle(selections), strict=False):
        codes, features, bins, classes = several_classes(1, 3, 50 if response == "exact" else 150)
        rng = np.random.default_rng(0)
        weight = rng.exponential(size=len(classes))
        common = {"gain": 1.5, "learning_rate": 0.5, "selection": selection}
        options = {"max_leaf_nodes": 4} if learner == "tree" else {}
        n = 1 if response in ("sign", "exact") else 2
        ours = boost(codes, features, classes, form, n, weight, weak_learner=learner,
                     response=response, step=step, **common, **options)  # fmt: skip
        theirs = fit_joint(codes, bins, classes, weight, joint_loss=form[0], loss=form[1],
                           n_estimators=n, learner=learner, response=response, step=step,
                           tree=ref.TreeSettings(max_leaf_nodes=4), **common)  # fmt: skip
        for k in range(3):
            assert_equal_models(ours.rounds(k), theirs[k], rel=1e-4)


@pytest.mark.parametrize("response", ["real", "newton"])
@pytest.mark.parametrize("form", [FORMS[0], FORMS[2]], ids=" ".join)
def test_rounds_that_move_nothing_leave_the_others_as_they_are(form, response):
    codes, features, bins, classes = several_classes(1, 3, 240)
    noise = np.random.default_rng(3).integers(0, 9, (4, len(classes)))
    codes = np.concatenate([noise[:2], codes, noise[2:]]).astype(codes.dtype)
    extra = [np.arange(8.0)] * 2
    features = [*extra, *features, *extra]
    bins = [ref.FeatureBins.numeric(edges) for edges in extra] * 2
    bins[2:2] = several_classes(1, 3, 240)[2]
    options = {"gain": 1.5, "learning_rate": 0.4, "selection": "cyclic", "max_cells": 3,
           "min_saving": 1.0, "response": response}  # fmt: skip
    ours = boost(codes, features, classes, form, 6, **options)
    again = boost(codes, features, classes, form, 6, risk_of_tables=False, **options)
    theirs = fit_joint(codes, bins, classes, joint_loss=form[0], loss=form[1], n_estimators=6,
                       **options)  # fmt: skip
    still = np.array([[not round_.table.any() for round_ in of_class] for of_class in theirs]).all(
        axis=0
    )
    assert still[:-1][~still[1:]].any()  # a round moves after one that did not
    for k in range(3):
        assert_equal_models(ours.rounds(k), theirs[k], rel=1e-4)
        np.testing.assert_array_equal(again.rounds(k).values, ours.rounds(k).values)
        np.testing.assert_array_equal(again.rounds(k).step, ours.rounds(k).step)


@pytest.mark.parametrize("seed", [0, 1, 2, 44, 338])
def test_cycles_one_by_one_are_those_of_a_long_fit(seed):
    """Cycles agree also where a round moves nothing but its units differ from the last move's."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.choice([3, 4, 8]))
    n = int(rng.integers(n_classes * 8, n_classes * 60))
    form = FORMS[int(rng.choice([0, 2]))]
    codes, features, _, classes = several_classes(seed, n_classes, n)
    base = rng.normal(scale=float(rng.choice([0.5, 1, 2, 4])), size=(n_classes, n))
    options = {
        "learning_rate": float(rng.choice([0.3, 1.0])),
        "min_saving": float(rng.choice([0.5, 1.5])),
        "step": str(rng.choice(["guarded", "line_search"])),
        "response": str(rng.choice(["real", "newton"])),
        "selection": "cyclic",
        "max_cells": 3,
        "base": base,
    }
    long = boost(codes, features, classes, form, 5, **options)
    short = boost(codes, features, classes, form, 1, **options)
    for _ in range(4):
        short.advance(1)
    for k in range(n_classes):
        one, other = long.rounds(k), short.rounds(k)
        for name in ("feature", "values", "step", "risk"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("selection", ["greedy", "unbiased"])
@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("form", [FORMS[0], FORMS[2]], ids=" ".join)
def test_shared_trees_are_those_of_the_reference(form, response, selection):
    for seed, n_classes, weighted in ((1, 3, True), (5, 4, False), (6, 9, False)):
        n = (30 if response == "exact" else 60) * n_classes
        codes, features, bins, classes = several_classes(seed, n_classes, n)
        rng = np.random.default_rng(0)
        # Weights rounded at random decide ties, and equal weights give `sign` many ties.
        weight = rng.exponential(size=len(classes)) if weighted or response == "sign" else None
        options = {"gain": 1.5, "learning_rate": 0.5, "selection": selection}
        n = 1 if response in ("sign", "exact") else 3
        for growth in ({"max_leaf_nodes": 5}, {"grow_policy": "symmetric", "max_depth": 3}):
            tree = {"min_child_weight": 0.5, **growth}
            ours = boost(codes, features, classes, form, n, weight, weak_learner="tree",
                         response=response, shared_trees=True, **options, **tree)  # fmt: skip
            theirs = fit_joint(codes, bins, classes, weight, joint_loss=form[0], loss=form[1],
                               n_estimators=n, learner="tree", response=response,
                               shared_trees=True, tree=ref.TreeSettings(**tree),
                               **options)  # fmt: skip
            for k in range(n_classes):
                assert_equal_models(ours.rounds(k), theirs[k], rel=1e-4)


def test_shared_trees_of_two_classes_are_those_of_the_binary_model():
    codes, features, _, classes = several_classes(12, 2)
    segments = np.searchsorted(classes, np.arange(3))
    weight = np.random.default_rng(0).exponential(size=len(classes))
    loss = _core.Loss("glog", {})
    for response in ("newton", "real"):
        settings = {"weak_learner": "tree", "max_leaf_nodes": 4, "subsample": 0.5,
                    "min_child_weight": 2.0, "response": response}  # fmt: skip
        form = ("softmax", "glog")
        joint = boost(codes, features, classes, form, 10, weight, shared_trees=True, **settings)
        binary = make_boosting(codes, features, segments, [[-1, 1]], [loss], weight, **settings)
        binary.advance(10)
        np.testing.assert_allclose(joint.raw(1), binary.raw(0), rtol=1e-5, atol=1e-5)


def test_shared_trees_keep_light_rows():
    """Weights span 12 orders of magnitude; rounding for the search must not reach the leaves."""
    codes, features, _, classes = several_classes(8, 4, 500)
    weight = 10.0 ** np.random.default_rng(0).uniform(-12, 0, len(classes))
    weight[:4] = 1.0
    growths = [{}, {"grow_policy": "symmetric", "max_depth": 6}]
    for response, growth in itertools.product(("newton", "real", "exact"), growths):
        boosting = boost(codes, features, classes, ("softmax", "glog"), 20, weight,
                         weak_learner="tree", response=response, shared_trees=True,
                         **growth)  # fmt: skip
        rounds = rounds_of(boosting, 4)
        assert np.all(np.diff(rounds[0].risk) <= 1e-6 * rounds[0].risk[:-1])
        assert all(np.isfinite(of_class.values).all() for of_class in rounds)


@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_two_classes_are_the_binary_model(form):
    codes, features, _, classes = several_classes(2, 2)
    kinds = itertools.product(LEARNERS, ["real", "newton", "exact"], ["guarded", "unit"])
    for learner, response, step in kinds:
        settings = {"weak_learner": learner, "response": response, "step": step,
                    "learning_rate": 0.7, "gain": 1.3}  # fmt: skip
        joint = boost(codes, features, classes, form, 10, **settings)
        segments = np.searchsorted(classes, np.arange(3))
        binary = make_boosting(
            codes, features, segments, [[-1, 1]], [_core.Loss(form[1], {})], **settings
        )
        binary.advance(10)
        one, other, expected = joint.rounds(1), joint.rounds(0), binary.rounds(0)
        assert one.feature.tolist() == expected.feature.tolist() == other.feature.tolist()
        np.testing.assert_allclose(one.risk, 2.0 * expected.risk, rtol=1e-5)
        raw = joint.raw(1)
        np.testing.assert_allclose(raw, -joint.raw(0), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(raw, binary.raw(0), rtol=1e-5, atol=1e-5)
        if learner != "tree":  # nodes of trees may be in another order
            np.testing.assert_allclose(one.values, expected.values, rtol=1e-4, atol=1e-5)


def test_trees_of_some_rows_are_those_of_the_binary_model():
    codes, features, _, classes = several_classes(12, 2)
    segments = np.searchsorted(classes, np.arange(3))
    weight = np.random.default_rng(0).exponential(size=len(classes))
    settings = {"weak_learner": "tree", "max_leaf_nodes": 4, "subsample": 0.5, "response": "newton"}
    joint = boost(codes, features, classes, ("softmax", "glog"), 10, weight, **settings)
    loss = _core.Loss("glog", {})
    binary = make_boosting(codes, features, segments, [[-1, 1]], [loss], weight, **settings)
    binary.advance(10)
    np.testing.assert_allclose(joint.raw(1), binary.raw(0), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("step", ["guarded", "line_search"])
@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_the_joint_risk_never_rises(form, step):
    codes, features, _, classes = several_classes(3, 5, 600)
    for learner, response in itertools.product(["table", "stump", "rule", "tree"], RESPONSES):
        shares = learner == "tree" and response in ("newton", "exact")
        boosting = boost(codes, features, classes, form, 30, weak_learner=learner,
                         response=response, step=step, shared_trees=shares)  # fmt: skip
        risk = boosting.rounds(0).risk
        assert np.all(np.diff(risk) <= 1e-6 * risk[:-1])
        for k in range(1, 5):
            np.testing.assert_array_equal(boosting.rounds(k).risk, risk)


@pytest.mark.parametrize("form", FORMS[:2], ids=" ".join)
@pytest.mark.parametrize("n_classes", [3, 16, 17, 40])
def test_threads_do_not_matter(form, n_classes):
    codes, features, _, classes = several_classes(4, n_classes, 20_000)
    for settings in (
        {"weak_learner": "table", "selection": "greedy"},
        {"weak_learner": "table", "selection": "cyclic"},
        {"weak_learner": "tree"},
        {"weak_learner": "tree", "shared_trees": True},
        {"weak_learner": "tree", "shared_trees": True, "grow_policy": "symmetric", "max_depth": 5},
    ):
        fits = [
            boost(codes, features, classes, form, 2, response="newton", n_threads=n, **settings)
            for n in (1, 3)
        ]
        for k in range(n_classes):
            assert_identical(fits[0].rounds(k), fits[1].rounds(k))


@pytest.mark.parametrize("selection", ["greedy", "cyclic", "unbiased"])
@pytest.mark.parametrize("n_classes", [3, 16, 17, 18, 33])  # the last batch has 1 lane, or more
def test_a_weight_of_2_is_the_row_twice(n_classes, selection):
    codes, features, _, classes = several_classes(10, n_classes, 1_000)
    weight = np.random.default_rng(0).integers(1, 4, len(classes))
    twice = np.repeat(np.arange(len(classes)), weight)
    settings = {"response": "newton", "selection": selection}
    form = ("softmax", "glog")
    one = boost(codes, features, classes, form, 2, weight.astype(float), **settings)
    other = boost(codes[:, twice], features, classes[twice], form, 2, **settings)
    for k in range(n_classes):
        assert one.rounds(k).feature.tolist() == other.rounds(k).feature.tolist()
        np.testing.assert_allclose(
            one.rounds(k).values, other.rounds(k).values, rtol=1e-4, atol=1e-4
        )


@pytest.mark.parametrize("form", FORMS[:3], ids=" ".join)
def test_joint_models_that_are_boosted_together_are_those_alone(form):
    codes, features, _, classes = several_classes(5, 4)
    segments = np.searchsorted(classes, np.arange(5))
    roles = np.where(np.eye(4, dtype=bool), 1, -1)
    gains = np.repeat([0.25, 0.5, 1.0, 2.0, 16.0], 4)
    loss = _core.Loss(form[1], {})
    together = make_boosting(
        codes, features, segments, np.tile(roles, (5, 1)), [loss] * 20, gain=gains,
        classes=4, joint_loss=form[0], response="newton",
    )  # fmt: skip
    together.advance(20)
    for g, gain in enumerate(gains[::4]):
        alone = boost(codes, features, classes, form, 20, gain=float(gain), response="newton")
        for k in range(4):
            assert_identical(together.rounds(4 * g + k), alone.rounds(k))


@pytest.mark.parametrize("learner", ["table", "tree"])
@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_boosting_goes_on_where_it_was(form, learner):
    codes, features, _, classes = several_classes(11, 5)
    settings = {"response": "newton", "weak_learner": learner}
    at_once = boost(codes, features, classes, form, 9, **settings)
    in_parts = boost(codes, features, classes, form, 3, **settings)
    in_parts.advance(6)
    for k in range(5):
        assert_identical(at_once.rounds(k), in_parts.rounds(k))


def test_rows_held_out_are_predicted_and_not_learnt_from():
    codes, features, _, classes = several_classes(6, 3)
    segments = np.searchsorted(classes, np.arange(4))
    cuts = np.sort(np.concatenate([segments, (segments[:-1] + segments[1:]) // 2]))
    sign = np.where(np.eye(3, dtype=bool), 1, -1).repeat(2, axis=1)
    roles = sign * np.tile([1, 2], 3)
    loss = _core.Loss("glog", {})
    joint = {"classes": 3, "joint_loss": "softmax"}
    split = make_boosting(codes, features, cuts, roles, [loss] * 3, **joint)
    split.advance(10)
    learnt = np.concatenate([np.arange(a, b) for a, b in zip(cuts[:-1:2], cuts[1::2], strict=True)])
    left = np.setdiff1d(np.arange(len(classes)), learnt)
    alone = boost(codes[:, learnt], features, classes[learnt], ("softmax", "glog"), 10)
    for k in range(3):
        assert_identical(split.rounds(k), alone.rounds(k))
        rounds = split.rounds(k)
        raw = np.zeros(len(left))
        for t, (a, b) in enumerate(itertools.pairwise(rounds.offsets)):
            raw += rounds.step[t] * rounds.values[a:b][codes[rounds.feature[t], left]]
        np.testing.assert_allclose(split.held_out(k), raw, rtol=1e-4, atol=1e-4)


def test_what_does_not_fit_together_is_refused():
    codes, features, _, classes = several_classes(7, 3)
    segments = np.searchsorted(classes, np.arange(4))
    roles = np.where(np.eye(3, dtype=bool), 1, -1)
    loss = _core.Loss("glog", {})

    def make(roles=roles, joint_loss="softmax", loss=loss, classes=3, **settings):
        make_boosting(codes, features, segments, roles, [loss] * len(roles), classes=classes,
                      joint_loss=joint_loss, **settings).advance(1)  # fmt: skip

    with pytest.raises(ValueError, match="one per class"):
        make(roles[:2])
    with pytest.raises(ValueError, match="one class"):
        make(np.ones_like(roles))
    with pytest.raises(ValueError, match="the same rows"):
        make(np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 2]]))
    with pytest.raises(ValueError, match="share"):
        make(gain=[1.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="solved for"):
        make(step="leveraging")
    with pytest.raises(ValueError, match="joint"):
        make(joint_loss="hinge")
    with pytest.raises(ValueError, match="softmax"):
        make(loss=_core.Loss("gboost", {}))
