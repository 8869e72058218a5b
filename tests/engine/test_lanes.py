"""Test that a lane is the model trained alone, whatever lanes share its pack."""

import itertools
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.engine import LOSSES, assert_identical, make_boosting, problem, train
from helpers.folds import N_FOLDS, folded, raw_predictions, roles_of
from helpers.instruction_sets import assert_same_in_all_sets, load_with
from properboost import _core

# Relative tolerance of raw predictions of lanes and of models that lack the held-out rows.
RAW = 1e-4


def assert_lane_equals_model(boosting, m, codes, features, y, in_training, weight, **settings):
    """Compare lane m, trained on these rows, with the engine's model of them alone."""
    weights = None if weight is None else weight[in_training]
    alone = train(codes[:, in_training], features, y[in_training], weights, **settings)
    lane = boosting.rounds(m)
    assert lane.feature.tolist() == alone.feature.tolist()
    np.testing.assert_allclose(lane.risk, alone.risk, rtol=1e-5)
    expected = raw_predictions(alone, codes)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(raw_predictions(lane, codes), expected, rtol=0, atol=RAW * scale)
    held_out = boosting.held_out(m)
    np.testing.assert_allclose(held_out, expected[~in_training], rtol=0, atol=RAW * scale)
    return expected


def assert_curves_end_at(boosting, m, raw, y, weight, loss, gain):
    """Check the lane's last held-out scores, of all rows and of each class, against these rows."""
    p = np.array(loss.probability(raw / gain))
    right = np.where(y > 0, p, 1 - p)
    each = [-np.log(np.maximum(right, 2.3e-16)), (raw > 0) != (y > 0), (1 - right) ** 2]
    weight = np.ones(len(y)) if weight is None else weight
    expected = [
        [np.average(s[rows], weights=weight[rows]) if weight[rows].any() else np.nan for s in each]
        for rows in (slice(None), y < 0, y > 0)
    ]
    np.testing.assert_allclose(boosting.curves(m)[..., -1].T, expected, rtol=1e-4, atol=1e-6)


PARAMETERS = ("loss", "response", "step", "learner", "weighted")
CASES = [
    ("glog", "real", "guarded", "table", False),
    ("glog", "real", "unit", "table", False),
    ("gboost", "real", "unit", "stump", True),
    ("ggauss", "real", "guarded", "table", True),
    ("glaplacian", "exact", "unit", "table", True),
    ("gboost", "newton", "unit", "stump", True),
    ("exponential", "newton", "line_search", "table", True),
    ("savage", "real", "guarded", "stump", True),
    ("savage", "exact", "guarded", "table", False),
    ("alpha", "sign", "line_search", "table", False),
]


@pytest.mark.parametrize(PARAMETERS, CASES)
@pytest.mark.parametrize("selection", ["greedy", "cyclic", "unbiased"])
@pytest.mark.parametrize("n", [3, 7, 21])
def test_a_lane_has_the_bits_of_a_model_by_itself(
    loss, response, step, learner, weighted, selection, n
):
    codes, features, _, _, weight, segments = folded(weighted=weighted)
    native = _core.Loss(loss, LOSSES[loss])
    common = {"selection": selection, "response": response, "step": step, "weak_learner": learner}
    together, apart = (
        make_boosting(
            codes, features, segments, [roles_of(k % (N_FOLDS + 1)) for k in range(n)],
            [native] * n, weight, gain=np.geomspace(0.1, 8.0, n), lanes=lanes, **common,
        )
        for lanes in (16, 1)
    )  # fmt: skip
    for boosting in (together, apart):
        boosting.advance(6)
        boosting.advance(6)
    for m in range(n):
        assert_identical(together.rounds(m), apart.rounds(m))
        np.testing.assert_array_equal(together.curves(m), apart.curves(m))
        np.testing.assert_array_equal(together.held_out(m), apart.held_out(m))


@pytest.mark.parametrize(PARAMETERS, CASES)
@pytest.mark.parametrize("selection", ["greedy", "cyclic", "unbiased"])
@pytest.mark.parametrize("n", [3, 7, 21])
def test_a_lane_is_the_model_alone(loss, response, step, learner, weighted, selection, n):
    codes, features, y, fold, weight, segments = folded(weighted=weighted)
    gains = np.geomspace(0.3, 8.0, n)
    folds = np.arange(n) % (N_FOLDS + 1)  # one in four lanes leaves nothing out
    native = _core.Loss(loss, LOSSES[loss])
    common = {"selection": selection, "response": response, "step": step, "weak_learner": learner}
    boosting = make_boosting(
        codes, features, segments, [roles_of(f) for f in folds], [native] * n, weight,
        gain=gains, n_threads=2, **common,
    )  # fmt: skip
    boosting.advance(4)
    boosting.advance(3)
    for m in range(n):
        in_training = fold != folds[m]
        raw = assert_lane_equals_model(
            boosting, m, codes, features, y, in_training, weight,
            loss=loss, gain=gains[m], n_estimators=7, **common,
        )  # fmt: skip
        if not in_training.all():
            weights = None if weight is None else weight[~in_training]
            assert_curves_end_at(
                boosting, m, raw[~in_training], y[~in_training], weights, native, gains[m]
            )


def test_lanes_have_losses_priors_and_smoothings_of_their_own():
    codes, features, _y, _fold, _, segments = folded()
    grid = list(itertools.product([0.0, 0.2, 0.5], [1e-4, 1e-2], [0.0, 0.25]))
    alphas, priors, smoothings = np.transpose(grid)
    native = {alpha: _core.Loss("alpha", {"alpha": alpha}) for alpha in set(alphas)}
    roles = [roles_of(0)] * len(grid)
    boosting = make_boosting(
        codes, features, segments, roles, [native[a] for a in alphas],
        prior=priors, smoothing=smoothings,
    )  # fmt: skip
    boosting.advance(6)
    for m, (alpha, prior, smoothing) in enumerate(grid):
        alone = make_boosting(
            codes, features, segments, roles[:1], [native[alpha]], prior=prior, smoothing=smoothing
        )
        alone.advance(6)
        a, b = boosting.rounds(m), alone.rounds(0)
        assert a.feature.tolist() == b.feature.tolist()
        np.testing.assert_allclose(a.values, b.values, rtol=1e-3, atol=1e-5)


def test_lanes_of_different_classes_share_a_pack():
    """One-vs-rest lanes have the same rows with different labels."""
    codes, features, _, y = problem(5, n=1500)
    label = np.random.default_rng(5).integers(0, 5, len(y)) + 3 * (y > 0)
    order = np.argsort(label, kind="stable")
    counts = np.bincount(label)
    roles = np.where(np.eye(len(counts), dtype=bool), 1, -1)
    glog = _core.Loss("glog", {})
    boosting = make_boosting(
        codes[:, order], features, np.cumsum([0, *counts]), roles, [glog] * len(counts)
    )
    boosting.advance(15)
    for k in range(len(counts)):
        alone = train(codes, features, np.where(label == k, 1.0, -1.0), n_estimators=15)
        lane = boosting.rounds(k)
        assert lane.feature.tolist() == alone.feature.tolist()
        expected = raw_predictions(alone, codes)
        np.testing.assert_allclose(
            raw_predictions(lane, codes), expected, rtol=0, atol=RAW * np.abs(expected).max()
        )


@pytest.mark.parametrize("selection", ["greedy", "cyclic", "unbiased"])
def test_the_least_gains_are_one_model(selection):
    """Every step is shortened, and margins must stay within float32's precision."""
    codes, features, _, y = problem(6)
    raw = []
    for gain in (1e-3, 1e-8, 1e-12, 1e-30, 1e-310):
        rounds = train(codes, features, y, gain=gain, n_estimators=4, selection=selection)
        raw.append(raw_predictions(rounds, codes) / gain)
        risk = np.mean(np.logaddexp(0.0, -y * raw[-1]))
        np.testing.assert_allclose(rounds.risk[-1] / gain, risk, rtol=1e-5)
    for other in raw[1:]:
        np.testing.assert_allclose(other, raw[0], rtol=1e-3, atol=1e-3)


def test_rows_without_a_role_count_nowhere():
    codes, features, y, fold, _, segments = folded()
    glog = _core.Loss("glog", {})
    ignored = roles_of(1)
    # One of three folds is held out, and one unused.
    ignored[roles_of(2) == 2 * np.sign(ignored)] = 0
    boosting = make_boosting(codes, features, segments, [ignored] * 4, [glog] * 4)
    boosting.advance(8)
    alone = train(codes[:, fold == 0], features, y[fold == 0], n_estimators=8)
    expected = raw_predictions(alone, codes)
    for m in range(4):
        np.testing.assert_allclose(boosting.held_out(m), expected[fold == 1], rtol=1e-4, atol=1e-4)
    assert_curves_end_at(boosting, 0, expected[fold == 1], y[fold == 1], None, glog, 1.0)


@pytest.mark.parametrize("selection", ["greedy", "cyclic", "unbiased"])
def test_lanes_that_are_dropped_do_not_disturb_the_others(selection):
    codes, features, _y, _fold, _, segments = folded()
    gains = np.geomspace(0.5, 8.0, 20)
    glog = _core.Loss("glog", {})
    roles = [roles_of(0)] * len(gains)
    common = {"gain": gains, "selection": selection}
    whole = make_boosting(codes, features, segments, roles, [glog] * 20, **common)
    whole.advance(9)
    thinned = make_boosting(codes, features, segments, roles, [glog] * 20, **common)
    thinned.advance(2)
    before = thinned.held_out(1), thinned.curves(1)
    remaining = np.array([0, 3, 5, 17])
    thinned.advance(3, models=remaining)  # packs of 16 and 4 lanes become packs of 4 and 1
    thinned.advance(4, models=remaining[:1])
    assert thinned.n_estimators.tolist() == [
        9 if m == 0 else 5 if m in remaining else 2 for m in range(20)
    ]
    np.testing.assert_array_equal(thinned.held_out(1), before[0])
    np.testing.assert_array_equal(thinned.curves(1), before[1])
    for m, n in [(0, 9), (3, 5), (17, 5), (19, 2)]:
        np.testing.assert_allclose(
            thinned.curves(m), whole.curves(m)[..., :n], rtol=1e-5, atol=1e-7
        )
    np.testing.assert_allclose(thinned.held_out(0), whole.held_out(0), rtol=1e-4, atol=1e-5)


CONTINUED = [
    *({"selection": selection} for selection in ("greedy", "cyclic", "unbiased")),
    {"step": "line_search"},
    {"weak_learner": "tree", "response": "newton", "learning_rate": 0.3},
]


@pytest.mark.parametrize("settings", CONTINUED, ids=str)
def test_lanes_may_be_continued_later(settings):
    codes, features, _y, _fold, _, segments = folded()
    gains = np.geomspace(0.5, 8.0, 20)
    losses = [_core.Loss("glog", {})] * 12 + [_core.Loss("exponential", {})] * 8
    roles = [roles_of(k % 3) for k in range(len(gains))]
    common = {"gain": gains, **settings}
    whole = make_boosting(codes, features, segments, roles, losses, **common)
    whole.advance(9)
    in_turns = make_boosting(codes, features, segments, roles, losses, **common)
    first = np.array([0, 3, 5, 17])
    others = np.setdiff1d(np.arange(20), first)
    in_turns.advance(2, keep_others=True)
    in_turns.advance(3, models=first, keep_others=True)
    in_turns.advance(7, models=others, keep_others=True)
    in_turns.advance(4, models=first)
    for m in range(20):
        np.testing.assert_array_equal(in_turns.curves(m), whole.curves(m))
        np.testing.assert_array_equal(in_turns.held_out(m), whole.held_out(m))


@given(
    n=st.integers(1, 40),
    n_threads=st.integers(1, 4),
    selection=st.sampled_from(["greedy", "cyclic", "unbiased"]),
    response=st.sampled_from(["real", "newton", "exact"]),
    seed=st.integers(0, 5),
)
@settings(max_examples=15, deadline=None)
def test_lanes_do_not_depend_on_threads(n, n_threads, selection, response, seed):
    codes, features, _y, _fold, weight, segments = folded(seed, n=3000, weighted=True)
    rng = np.random.default_rng(seed)
    roles = [roles_of(f) for f in rng.integers(0, N_FOLDS, n)]
    gain = rng.uniform(0.2, 10.0, n)
    glog = _core.Loss("glog", {})

    def boost(n_threads):
        boosting = make_boosting(
            codes, features, segments, roles, [glog] * n, weight,
            gain=gain, selection=selection, response=response, n_threads=n_threads,
        )  # fmt: skip
        boosting.advance(4)
        return [(boosting.rounds(m).values, boosting.curves(m)) for m in range(n)]

    for (values, curves), (others, other_curves) in zip(boost(1), boost(n_threads), strict=True):
        np.testing.assert_array_equal(values, others)
        np.testing.assert_array_equal(curves, other_curves)


def test_without_rounds_the_curves_are_the_same():
    codes, features, _y, _fold, _, segments = folded()
    glog = _core.Loss("glog", {})
    curves = []
    for keep_rounds in (True, False):
        boosting = make_boosting(
            codes, features, segments, [roles_of(0)] * 3, [glog] * 3,
            gain=[0.5, 1.0, 2.0], keep_rounds=keep_rounds,
        )  # fmt: skip
        boosting.advance(8)
        assert len(boosting.rounds(1).feature) == (8 if keep_rounds else 0)
        curves.append([boosting.curves(m) for m in range(3)])
    np.testing.assert_array_equal(*curves)


def test_a_lane_that_nothing_helps_ends_by_itself():
    codes = np.array([[0, 0, 0, 0, 1, 1, 1, 1]])  # one round fits exactly, and no other is left
    features = [np.array([0.0])]
    glog = _core.Loss("glog", {})
    # The first has nothing to learn; the second has the classes.
    roles = [[-1, 1, -1, 1], [-1, -1, 1, 1]]
    for selection in ("greedy", "cyclic"):
        boosting = make_boosting(
            codes, features, [0, 2, 4, 6, 8], roles, [glog] * 2, selection=selection
        )
        boosting.advance(5)
        assert boosting.n_estimators.tolist() == [0, 5]
        assert len(boosting.rounds(0).feature) == 0


# -- instruction sets -----------------------------------------------------------------------------

DIGEST = """
import hashlib
import numpy as np
from scipy import stats
from properboost import _core
from properboost.losses import from_pdf
from helpers.engine import LOSSES, make_boosting
from helpers.folds import N_FOLDS, folded, roles_of

digest = hashlib.sha256()
codes, features, y, fold, weight, segments = folded(n=3000, weighted=True)
tables = [from_pdf(stats.logistic()), from_pdf(stats.t(2, scale=2.0))]
natives = [_core.Loss(name, parameters) for name, parameters in LOSSES.items()]
for loss in natives + [table.native for table in tables]:
    u = np.linspace(-90, 90, 7001, dtype=np.float32)
    for part in ("loss", "weight", "curvature", "probability"):
        digest.update(np.array(getattr(loss, "engine_" + part)(u)).tobytes())
    runs = (1, "greedy", "real"), (3, "cyclic", "newton"), (20, "greedy", "real")
    for n, selection, response in runs:
        roles = [roles_of(m % N_FOLDS) for m in range(n)]
        boosting = make_boosting(
            codes, features, segments, roles, [loss] * n, weight,
            gain=np.geomspace(0.5, 4, n), selection=selection, response=response,
        )
        boosting.advance(4)
        for m in range(n):
            digest.update(boosting.rounds(m).values.tobytes())
            digest.update(boosting.curves(m).tobytes())
result = digest.hexdigest()
"""


def test_every_instruction_set_gives_the_same_bits():
    assert_same_in_all_sets(DIGEST)


@pytest.mark.skipif(
    "PROPERBOOST_INSTRUCTION_SET" in os.environ,
    reason="a set was asked for",
)
def test_the_best_instruction_set_is_chosen():
    best = next(name for name in ("avx512", "avx2", "baseline") if load_with(name).returncode == 0)
    assert _core.instruction_set == best


def test_an_unknown_instruction_set_is_refused():
    refused = load_with("mmx")
    assert refused.returncode != 0
    assert "PROPERBOOST_INSTRUCTION_SET must be one of" in refused.stderr
    assert "got 'mmx'" in refused.stderr


@pytest.mark.parametrize("selection", ["cyclic", "greedy"])
@pytest.mark.parametrize("response", ["real", "newton"])
def test_the_risk_of_an_estimator_is_that_after_its_last_table(selection, response):
    codes, features, _y, _fold, weight, segments = folded(weighted=True)
    native = _core.Loss("gboost", {})
    each, last = (
        make_boosting(
            codes, features, segments, [roles_of(f) for f in (0, 1, 2)], [native] * 3, weight,
            selection=selection, response=response, risk_of_tables=of_tables,
        )
        for of_tables in (True, False)
    )  # fmt: skip
    for boosting in (each, last):
        boosting.advance(2)
        boosting.advance(1)
    tables = len(features) if selection == "cyclic" else 1
    for m in range(3):
        a, b = each.rounds(m), last.rounds(m)
        assert a.values.tolist() == b.values.tolist()
        assert b.risk.tolist() == np.repeat(a.risk[tables - 1 :: tables], tables).tolist()
