"""Test lines in the leaves of trees: the engine against the plain reference, and invariants."""

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import Ridge

import helpers.reference as ref
import properboost as pb
from helpers.engine import (
    SINGLE,
    assert_equal_models,
    assert_identical,
    describe_learner,
    problem,
    train,
)
from helpers.instruction_sets import other_sets, run_with
from helpers.models import assert_same, same_model
from helpers.reference.joint_boosting import fit_joint
from helpers.trees import fit_tree, noisy
from properboost import _core
from properboost.models.ensemble import Rounds

LINEAR = {"linear_leaves": True, "linear_l2": 3.0}


def linear_problem(seed, n=400):
    """Return a problem in the engine's order, with means of numeric bins and a few weights of 0."""
    codes, features, bins, y = problem(seed, n)
    rng = np.random.default_rng(seed)
    means = [np.empty(0) if isinstance(f, int) else np.sort(rng.normal(size=len(f) + 1))
             for f in features]  # fmt: skip
    bins = [
        feature_bins
        if not feature_bins.n_ordered
        else ref.FeatureBins.numeric(np.zeros(feature_bins.n_ordered - 1), m)
        for feature_bins, m in zip(bins, means, strict=True)
    ]
    order = np.argsort(y, kind="stable")
    weight = rng.uniform(2.0, 8.0, n)
    weight[::9] = 0.0
    return codes[:, order], (features, means), bins, y[order], weight


OPTIONS = [
    {},
    {"max_leaf_nodes": 20},
    {"grow_policy": "symmetric", "max_depth": 3},
    {"max_features": 0.5, "subsample": 0.7, "seed": 3},
    {"grow_policy": "symmetric", "max_depth": 5, "min_child_weight": 4.0, "subsample": 0.8},
    {"linear_l2": 0.5, "lighter": 6.0},
]  # fmt: skip
"""Fields of trees; `lighter` divides the weights, so some leaves have too few rows for lines."""


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("response", ["real", "newton"])
@pytest.mark.parametrize(
    ("loss", "step"), [("glog", "guarded"), ("savage", "line_search"), ("exponential", "unit")]
)
def test_every_option_equals_the_reference(options, response, loss, step):
    codes, features, bins, y, weight = linear_problem(1)
    options = {"max_leaf_nodes": 6, **LINEAR, **options}
    weight /= options.pop("lighter", 1.0)
    common = {"n_estimators": 3, "response": response, "step": step, "learning_rate": 0.6}
    ours = train(
        codes, features, y, weight, loss=loss, gain=0.7, weak_learner="tree", **options, **common
    )
    theirs = ref.fit(
        codes, bins, y, weight, loss=ref.make_loss(loss, 0.7), learner="tree",
        tree=ref.TreeSettings(**options), **common,
    )  # fmt: skip
    assert_equal_models(ours, theirs)
    assert any(line.features for r in theirs for line in r.lines)
    lines = ours.lines
    expected = [line for r in theirs for line in r.lines]
    assert np.diff(lines.offsets).tolist() == [len(line.features) for line in expected]
    assert lines.feature.tolist() == [j for line in expected for j in line.features]
    slopes = np.concatenate([line.slopes for line in expected])
    centers = np.concatenate([line.centers for line in expected])
    means = np.concatenate([line.means for line in expected])
    size = np.abs(slopes).max()
    np.testing.assert_allclose(lines.slope, slopes, rtol=300 * SINGLE, atol=30 * SINGLE * size)
    np.testing.assert_allclose(lines.center, centers, atol=30 * SINGLE)
    np.testing.assert_allclose(lines.mean, means, atol=30 * SINGLE)


def draw_leaf(seed):
    """Return rows for one tree, whose weights in the first round are the sample weights."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, 9, 600), rng.integers(0, 6, 600)])
    edges = [np.arange(8.0), np.arange(5.0)]
    means = [np.sort(rng.normal(size=9)), np.sort(rng.normal(size=6))]
    y = np.where(rng.random(600) < 1 / (1 + np.exp(4 - codes[0] + codes[1])), 1.0, -1.0)
    weight = rng.uniform(0.5, 2.0, 600)
    order = np.argsort(y, kind="stable")
    return codes[:, order].astype(np.uint8), edges, means, y[order], weight[order]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("response", ["real", "newton"])
def test_a_leaf_is_a_ridge_model_in_closed_form(seed, response):
    """In the first round, weights and curvatures are the sample weights times a constant."""
    codes, edges, means, y, s = draw_leaf(seed)
    l2 = 7.0
    rounds = train(
        codes, (edges, means), y, s, weak_learner="tree", max_leaf_nodes=4, response=response,
        n_estimators=1, loss="glog", linear_leaves=True, linear_l2=l2,
    )  # fmt: skip
    ours = Rounds.from_native(rounds)
    nodes, lines = ours.find_codes(0, codes, 1), ours.lines
    assert np.diff(lines.offsets).max() == 2
    loss = ref.make_loss("glog", 1.0)
    ratio = float(loss.weight(np.zeros(1))[0] / loss.newton_curvature(np.ones(1), np.zeros(1))[0])
    for node in np.unique(nodes):
        at = nodes == node
        terms = slice(lines.offsets[node], lines.offsets[node + 1])
        if not len(lines.feature[terms]):
            continue
        z = [(means[j] - means[j][0]) / (means[j][-1] - means[j][0]) for j in lines.feature[terms]]
        x = np.stack(
            [of[codes[j, at]] for j, of in zip(lines.feature[terms], z, strict=True)], axis=1
        )
        value = ours.values[node]
        if response == "newton":
            h = s[at]
            target = y[at] * ratio
        else:
            h = s[at] * np.exp(-y[at] * value)
            target = y[at]
        center = np.average(x, axis=0, weights=h)
        deviation = np.sqrt(np.average((x - center) ** 2, axis=0, weights=h))
        penalty = l2 * (h**2 / s[at]).sum() / h.sum()
        model = Ridge(alpha=penalty, fit_intercept=False, solver="cholesky")
        # A constant subtracted from the targets does not change the slopes.
        model.fit((x - center) / deviation, target, sample_weight=h)
        np.testing.assert_allclose(lines.center[terms], center, rtol=1e-9)
        # Slopes are rounding noise where all rows are of one class.
        slopes = model.coef_ / deviation
        np.testing.assert_allclose(lines.slope[terms], slopes, rtol=1e-9, atol=1e-11)


def raw_predictions(rounds, codes, means):
    """Return the raw predictions of the engine's trees and lines, added up here."""
    ours, raw = Rounds.from_native(rounds), np.zeros(codes.shape[1])
    for t in range(len(ours)):
        nodes = ours.find_codes(t, codes, 1)
        raw += ours.table(t)[nodes]
        lines = ours.lines_of(t)
        for k in range(len(lines.offsets) - 1):
            at = nodes == k
            for term in range(lines.offsets[k], lines.offsets[k + 1]):
                m = means[lines.feature[term]]
                z = np.append((m - m[0]) / (m[-1] - m[0]), np.nan)[codes[lines.feature[term], at]]
                added = lines.slope[term] * (z - lines.center[term])
                raw[at] += np.where(np.isnan(z), 0.0, added)
    return raw


@pytest.mark.parametrize("response", ["real", "newton"])
@pytest.mark.parametrize("form", ["softmax", "canonical"])
@pytest.mark.parametrize("shared_trees", [False, True])
def test_joint_models_equal_the_reference(response, form, shared_trees):
    codes, (features, means), bins, _, weight = linear_problem(3)
    classes = np.sort((codes[0] + codes[1] + np.arange(400) % 3) % 3)
    weight[weight == 0] = 1.0
    options = {"max_leaf_nodes": 5, **LINEAR}
    learner = _core.WeakLearner(describe_learner("tree", **options))
    loss = _core.Loss("glog", {})
    rows = _core.Rows(
        codes.astype(np.uint8), _core.Bins(features, means),
        np.searchsorted(classes, np.arange(4)), weight=weight,
    )  # fmt: skip
    roles = 2 * np.eye(3, dtype=np.int8) - 1
    models = [_core.Model(loss, learner, of_class, gain=0.8) for of_class in roles]
    algorithm = _core.AdditiveBoosting(
        response=response, classes=3, joint_loss=form, lanes=1, shared_trees=shared_trees
    )
    boosting = _core.Boosting(rows, models, algorithm)
    boosting.advance(3)
    theirs = fit_joint(
        codes, bins, classes, weight, joint_loss=form, loss="glog", gain=0.8, n_estimators=3,
        learner="tree", response=response, tree=ref.TreeSettings(**options),
        shared_trees=shared_trees,
    )  # fmt: skip
    for k in range(3):
        assert any(line.features for r in theirs[k] for line in r.lines)
        ours = raw_predictions(boosting.rounds(k), codes.astype(np.uint8), means)
        np.testing.assert_allclose(ours, ref.predict(theirs[k], codes), rtol=2e-3, atol=1e-3)
        # The margins of boosting are the sums of the rounds.
        np.testing.assert_allclose(boosting.raw(k), ours, rtol=1e-5, atol=1e-5)


# -- means of bins --------------------------------------------------------------------------------


def test_means_are_of_the_training_values():
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=5000), rng.lognormal(0, 9, 5000), rng.integers(0, 7, 5000)]
    X[::11, 0] = np.nan
    weight = 10.0 ** rng.uniform(-12, 0, 5000)
    for w in (None, weight):
        edges = _core.find_edges(X, max_bins=40)
        bins = _core.Bins(edges)
        codes = bins.encode(X)
        means = bins.find_means(X, weight=w)
        for j, of_bins in enumerate(means):
            for b, mean in enumerate(of_bins):
                at = codes[j] == b
                expected = np.average(X[at, j], weights=None if w is None else w[at])
                assert mean == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_order_of_rows_changes_a_mean(dtype):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=3000), 10.0 ** rng.uniform(-30, 30, 3000)])[:, None]
    X = X.astype(dtype)
    weight = 10.0 ** rng.uniform(-12, 3, len(X))
    bins = _core.Bins(_core.find_edges(X, max_bins=5))
    for w in (None, weight):
        (here,) = bins.find_means(X, weight=w)
        for threads in (1, 3):
            order = rng.permutation(len(X))
            (there,) = bins.find_means(X, order, None if w is None else w[order], threads)
            np.testing.assert_array_equal(here, there)


@pytest.mark.parametrize(
    ("values", "means"),
    [
        ([1.0, 2.0, np.inf, -np.inf], [1.0, 1.0, 2.0, 2.0]),
        ([np.inf, -np.inf], [0.0, 0.0]),
        ([1.7e308, -1.7e308, 0.0], [-1.7e308, 0.0, 1.7e308]),
        ([5e-324, 0.0], [0.0, 5e-324]),
        ([np.nan, 3.0], [3.0]),
    ],
    ids=str,
)
def test_extreme_values_have_finite_means(values, means):
    X = np.repeat(values, 3)[:, None]
    (actual,) = _core.Bins(_core.find_edges(X)).find_means(X)
    np.testing.assert_allclose(actual, means, rtol=1e-15)


# -- invariants -----------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    response=st.sampled_from(["real", "newton"]),
    policy=st.sampled_from(["best_first", "symmetric"]),
    loss=st.sampled_from(["glog", "exponential", "savage", "gboost"]),
    n_classes=st.integers(2, 3),
    strategy=st.sampled_from(["multi_output_tree", "one_output_per_tree"]),
    l2=st.sampled_from([0.0, 1e-9, 1.0, 1e6]),
    subsample=st.sampled_from([1.0, 0.6]),
)
def test_hostile_tables_have_finite_lines_and_a_risk_that_falls(
    seed, response, policy, loss, n_classes, strategy, l2, subsample
):
    rng = np.random.default_rng(seed)
    n = 200
    a = rng.normal(size=n)
    X = np.c_[
        a, a, 1e-9 * rng.normal(size=n) + a, np.ones(n), np.where(a > 0, np.nan, a),
        rng.choice([np.inf, -np.inf, 1e308, -1e308, 0.0], n), 10.0 ** rng.uniform(-300, 300, n),
    ]  # fmt: skip
    y = a + rng.normal(size=n)
    y = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)
    weight = 10.0 ** rng.uniform(-12, 0, n) if seed % 2 else np.ones(n)
    weight /= weight.mean()
    if loss in ("exponential", "savage"):  # joint models exclude these losses
        strategy = "multi_output_tree"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit_tree(
            X, y, weight, response=response, grow_policy=policy, loss=loss, linear_leaves=True,
            linear_l2=l2, subsample=subsample, multi_strategy=strategy, rows_per_bin=None,
            max_depth=4, min_child_weight=0.0,
        )  # fmt: skip
        raw = model.decision_function(X)
    assert np.isfinite(raw).all()
    for rounds in model.ensemble_.models:
        risk = rounds.risk
        assert (np.diff(risk) <= 1e-6 * np.abs(risk[:-1]) + 1e-7).all()
        if rounds.lines is not None:
            assert np.isfinite(rounds.lines.slope).all()
            for places in (rounds.lines.center, rounds.lines.mean):
                assert ((places >= 0) & (places <= 1)).all()


def test_nothing_extrapolates():
    X, y = noisy(n=600)
    model = fit_tree(X, y, linear_leaves=True, n_estimators=20)
    far = np.where(X[:50] > 0, 1e300, -1e300)
    edge = np.where(X[:50] > 0, X.max(axis=0), X.min(axis=0))
    np.testing.assert_array_equal(model.decision_function(far), model.decision_function(edge))


def test_missing_values_and_categories_have_no_part_in_lines():
    pd = pytest.importorskip("pandas")
    X, y = noisy(n=800, d=3)
    X[::3, 0] = np.nan
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["town"] = pd.Categorical(np.arange(800) % 5)
    model = fit_tree(frame, y, linear_leaves=True, n_estimators=4)
    plain = model.ensemble_.binning
    rounds = model.ensemble_.models[0]
    assert set(rounds.lines.feature.tolist()) <= {0, 1, 2}
    gone = pd.DataFrame({name: np.full(9, np.nan) for name in "abc"})
    gone["town"] = pd.Categorical(np.arange(9) % 5, categories=range(5))
    codes = plain.encode(_open(model, gone), None, 1)
    raw = sum(rounds.table(t)[rounds.find_codes(t, codes, 1)] for t in range(len(rounds)))
    np.testing.assert_allclose(model.decision_function(gone) - model.ensemble_.intercept, raw)


def _open(model, X):
    from properboost.data.frames import open_table

    return open_table(model, X, reset=False)


@pytest.mark.parametrize("policy", ["best_first", "symmetric"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_predictions_are_those_of_the_fit(policy, n_classes):
    X, _ = noisy(n=900)
    y = np.searchsorted([-0.5, 0.5][: n_classes - 1], X[:, 0] * X[:, 1] + X[:, 2])
    model = fit_tree(X, y, linear_leaves=True, grow_policy=policy, n_estimators=8)
    whole = model.decision_function(X)
    *_, staged = model.staged_decision_function(X)
    np.testing.assert_allclose(staged, whole, rtol=1e-12, atol=1e-13)
    parts = np.concatenate([model.decision_function(part) for part in np.array_split(X, 30)])
    np.testing.assert_array_equal(parts, whole)  # few rows are walked, many looked up
    assert same_model(model, clone(model).set_params(n_jobs=2).fit(X, y))


def test_bits_do_not_depend_on_threads():
    codes, features, _, y, weight = linear_problem(7, n=30_000)
    fits = [
        train(codes, features, y, weight, weak_learner="tree", n_estimators=3, subsample=0.8,
              n_threads=n, **LINEAR)
        for n in (1, 2, 4)
    ]  # fmt: skip
    for other in fits[1:]:
        assert_identical(fits[0], other)
        np.testing.assert_array_equal(fits[0].lines.slope, other.lines.slope)


@pytest.mark.parametrize("response", ["real", "newton"])
def test_weights_are_frequencies(response):
    X, y = noisy(n=400)
    X[::7, 0] = np.nan
    weight = np.random.default_rng(0).integers(0, 4, 400).astype(float)
    rows = np.repeat(np.arange(400), weight.astype(int))
    shared = {"linear_leaves": True, "response": response}
    weighted, repeated = fit_tree(X, y, weight, **shared), fit_tree(X[rows], y[rows], **shared)
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), rtol=1e-5, atol=1e-6
    )
    both = (model.ensemble_.binning.features for model in (weighted, repeated))
    for one, other in zip(*both, strict=True):
        np.testing.assert_allclose(one.means, other.means, rtol=1e-14)
    weighted_rows = weight > 0
    assert same_model(
        weighted, fit_tree(X[weighted_rows], y[weighted_rows], weight[weighted_rows], **shared)
    )


def test_files_hold_lines(tmp_path):
    X, y = noisy()
    model = fit_tree(X, y, linear_leaves=True, linear_l2=2.0)
    model.save_model(tmp_path / "model.json")
    loaded = pb.load_model(tmp_path / "model.json")
    assert_same(model, loaded, X)
    means = model.ensemble_.models[0].lines.mean
    np.testing.assert_array_equal(loaded.ensemble_.models[0].lines.mean, means)
    document = json.loads((tmp_path / "model.json").read_text())
    for wrong in (-0.1, 1.1):
        document["models"][0]["lines"][0]["mean"][0] = wrong
        (tmp_path / "wrong.json").write_text(json.dumps(document))
        with pytest.raises(ValueError, match=r"lines\[0\]\.mean must hold numbers from 0 to 1"):
            pb.load_model(tmp_path / "wrong.json")
    plain = fit_tree(X, y)
    plain.save_model(tmp_path / "plain.json")
    document = json.loads((tmp_path / "plain.json").read_text())
    assert "means" not in document["features"][0]
    assert "lines" not in document["models"][0]
    for name in ("linear_leaves", "linear_l2"):
        del document["parameters"]["weak_learner"]["Tree"][name]
    (tmp_path / "old.json").write_text(json.dumps(document))
    old = pb.load_model(tmp_path / "old.json")
    assert old.weak_learner.linear_leaves is False
    np.testing.assert_array_equal(old.decision_function(X), plain.decision_function(X))


def test_a_search_compares_lines():
    X, y = noisy(n=600)
    space = {"gain": [1.0], "weak_learner": "tree", "n_estimators": 10}
    lists = {"weak_learner__linear_leaves": [False, True], "weak_learner__linear_l2": [5.0, 50.0]}
    search = pb.ProperBoostClassifierCV(space | lists, cv=3, effort=None).fit(X, y)
    learners = [params["weak_learner"] for params in search.cv_results_["params"]]
    tried = [(learner.linear_leaves, learner.linear_l2) for learner in learners]
    assert tried == [(False, 5.0), (True, 5.0), (True, 50.0)]
    scores = search.cv_results_["mean_test_score"]
    assert len(set(scores)) == 3
    for linear in (False, True):
        one = pb.ProperBoostClassifierCV(
            space | {"weak_learner__linear_leaves": linear}, cv=3, calibrate=False, effort=None
        ).fit(X, y)
        assert one.cv_results_["mean_test_score"][0] == scores[int(linear)]
        again = clone(one.best_estimator_).fit(X, y)
        np.testing.assert_array_equal(one.decision_function(X), again.decision_function(X))
        assert (one.ensemble_.binning.features[0].means is None) == (not linear)


def test_a_chosen_model_without_lines_has_no_means():
    X, y = noisy(n=300)
    y = X[:, 0] > 0
    search = pb.ProperBoostClassifierCV(
        {
            "gain": [1.0], "n_estimators": 2,
            "weak_learner": [pb.Tree(), pb.Tree(linear_leaves=True, linear_l2=1e9)],
        }, cv=3, calibrate=False, effort=None,
    ).fit(X, y)  # fmt: skip
    means = search.ensemble_.binning.features[0].means
    assert (means is None) == (not search.best_estimator_.weak_learner.linear_leaves)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        *[
            ({name: value}, rf"Tree\.linear_leaves must be False with {name}='{value}': ")
            for name, values in {
                "response": ["sign", "exact", "conditional"],
                "step": ["leveraging", "totally_corrective"],
            }.items()
            for value in values
        ],
        (
            {"monotonic_cst": [1, 0, 0, 0, 0]},
            r"Tree\.linear_leaves must be False with monotonic_cst: ",
        ),
        ({"linear_l2": -1.0}, "linear_l2 must be"),
    ],
    ids=str,
)
def test_what_has_no_lines_refuses_them(settings, what):
    X, y = noisy()
    with pytest.raises(ValueError, match=what):
        fit_tree(X, y, linear_leaves=True, **settings)


PROGRAM = """
result = []
for codes, features, means, segments, weight, learner in data:
    model = _core.Model(
        _core.Loss("glog", {}), _core.WeakLearner(learner), np.array([-1, 1], np.int8)
    )
    rows = _core.Rows(codes, _core.Bins(features, means), segments, weight=weight)
    boosting = _core.Boosting(rows, [model], _core.AdditiveBoosting())
    boosting.advance(4)
    rounds = boosting.rounds(0)
    result.append([rounds.values, rounds.lines.slope, rounds.lines.center,
                   rounds.lines.mean, boosting.raw(0)])
"""


def test_bits_do_not_depend_on_the_instruction_set():
    codes, (features, means), _, y, weight = linear_problem(5, n=3000)
    weight[weight == 0] = 1.0
    segments = np.array([0, (y < 0).sum(), len(y)])
    cases = [
        (
            codes.astype(np.uint8), features, means, segments, weight,
            describe_learner("tree", **LINEAR, **options),
        )
        for options in ({"max_leaf_nodes": 9}, {"grow_policy": "symmetric", "max_depth": 4})
    ]  # fmt: skip
    here = {"_core": _core, "np": np, "data": cases}
    exec(PROGRAM, here)
    for other in other_sets():
        for ours, theirs in zip(run_with(other, PROGRAM, cases), here["result"], strict=True):
            for one, another in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(one, another)


@pytest.mark.parametrize("settings", [{"response": "sign"}, {"step": "leveraging"}], ids=str)
def test_the_engine_refuses_lines_that_nothing_fits(settings):
    """Estimators refuse these settings earlier, by the names of their parameters."""
    codes, (features, means), *_ = linear_problem(0, n=60)
    bins = _core.Bins(features, means)
    rows = _core.Rows(codes.astype(np.uint8), bins, np.array([0, 30, 60]))
    learner = _core.WeakLearner(describe_learner("tree", linear_leaves=True))
    model = _core.Model(_core.Loss("glog", {}), learner, np.array([-1, 1], np.int8))
    with pytest.raises(ValueError, match="lines must be none with this response"):
        _core.Boosting(rows, [model], _core.AdditiveBoosting(**settings))
