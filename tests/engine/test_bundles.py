"""Test that features summed jointly give the models of features summed one by one."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import helpers.reference as ref
from helpers.engine import OPTIONS, SINGLE, assert_identical, make_boosting, train
from helpers.folds import N_FOLDS, raw_predictions, roles_of
from helpers.instruction_sets import other_sets, run_with
from properboost import _core

FEW = 16_384  # with fewer rows several lanes never sum joint cells
# The tolerance of costs: sign and newton form them from float32 sums or their differences.
COST = {"real": 1e-6, "exact": 1e-6, "sign": SINGLE, "newton": SINGLE}
RAW = 1e-4  # relative to the largest raw prediction

FEATURES = {  # each is edges, or a number of categories
    "pairs": [np.arange(63.0)] * 5,
    "the largest pairs": [np.arange(64.0)] * 4,
    "triples": [np.arange(13.0)] * 8,
    "a dozen of two bins": [np.arange(1.0)] * 12,
    "categories": [2, 5, 12, 30, 3, 1, 60, 4],
    "nothing but missing values": [np.array([])] * 9 + [np.arange(4.0)],
    "wide ones beside narrow ones": [
        np.arange(254.0), np.arange(1.0), 254, np.arange(20.0), 3, np.arange(100.0), 7,
        np.arange(200.0), np.arange(2.0), np.arange(63.0),
    ],
    "one narrow among wide ones": [np.arange(254.0), np.arange(2.0), 254],
    "from 2 to 64 bins": [np.arange(float(k)) for k in (1, 63, 2, 40, 3, 20, 5, 14, 8, 10, 33, 1)],
}  # fmt: skip
ROWS = {"pairs": 72_001, "the largest pairs": 72_001}  # such bundles pay from this many rows on
IN_LANES = [name for name in FEATURES if name not in [*ROWS, "one narrow among wide ones"]]


def width(feature):
    return feature + 2 if isinstance(feature, int) else len(feature) + 2


def draw(features, n, seed=0):
    """Return codes, with missing and unseen ones, and labels that depend on all of them."""
    rng = np.random.default_rng(seed)
    codes = np.array(
        [rng.choice(width(f), n, p=rng.dirichlet(np.full(width(f), 0.7))) for f in features]
    )
    strength = rng.permutation(1 / np.arange(1, len(features) + 1))
    effects = [k * rng.normal(size=width(f)) for k, f in zip(strength, features, strict=True)]
    raw = sum(effect[c] for effect, c in zip(effects, codes, strict=True))
    y = np.where(raw + rng.logistic(size=n) > 0, 1.0, -1.0)
    return codes.astype(np.uint8), y


def bins_of(features):
    make = {True: ref.FeatureBins.categorical, False: ref.FeatureBins.numeric}
    return [make[isinstance(f, int)](f) for f in features]


def widen(codes, features):
    """Return the same rows with features of 256 codes, which no bundle can take.

    Most codes have no rows, so look-up tables give the same models.
    """
    codes = codes.copy()
    for code, f in zip(codes, features, strict=True):
        bins = f if isinstance(f, int) else len(f) + 1
        code[code >= bins] += np.uint8(max(0, 254 - bins))
    return codes, [254] * len(features)


def assert_same_model(ours, theirs, codes, expected, response):
    """Compare rounds with the features, costs and raw predictions of another model."""
    features, costs = theirs
    assert ours.feature.tolist() == list(features)
    np.testing.assert_allclose(ours.cost, costs, rtol=COST[response])
    np.testing.assert_allclose(
        raw_predictions(ours, codes), expected, rtol=0, atol=RAW * np.abs(expected).max()
    )


def assert_equals_reference(codes, features, y, weight=None, *, response, n_estimators, **options):
    """Compare the engine with the reference; return the engine's rounds."""
    common = {"response": response, "n_estimators": n_estimators, **options}
    learner = {"learner": common.pop("weak_learner", "table")}
    loss = ref.make_loss("glog", 1.5)
    theirs = ref.fit(codes, bins_of(features), y, weight, loss=loss, **learner, **common)
    ours = train(codes, features, y, weight, gain=1.5, weak_learner=learner["learner"], **common)
    history = [r.feature for r in theirs], [r.cost for r in theirs]
    assert_same_model(ours, history, codes, ref.predict(theirs, codes), response)
    return ours


def assert_same_bits_alone(ours, codes, features, y, weight=None, **options):
    """Compare with features summed one by one: sums are whole numbers, so all bits are equal."""
    wide_codes, wide = widen(codes, features)
    alone = train(wide_codes, wide, y, weight, gain=1.5, **options)
    for name in ("feature", "cost", "step", "risk"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(alone, name))


def draw_weight(n, seed=1):
    """Return weights, a few of them 0."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(n) < 0.01, 0.0, 0.3 * rng.integers(1, 6, n))


@pytest.mark.parametrize("name", FEATURES)
@pytest.mark.parametrize("response", ["real", "newton"])
@pytest.mark.parametrize("weighted", [False, True])
def test_joint_sums_give_the_reference_model(name, response, weighted):
    features = FEATURES[name]
    codes, y = draw(features, ROWS.get(name, 17_003))
    weight = draw_weight(len(y)) if weighted else None
    common = {"response": response, "n_estimators": 6}
    ours = assert_equals_reference(codes, features, y, weight, **common)
    assert_same_bits_alone(ours, codes, features, y, weight, **common)


@pytest.mark.parametrize("name", ["triples", "a dozen of two bins", "from 2 to 64 bins"])
@pytest.mark.parametrize("response", ["real", "newton"])
def test_bundles_large_and_small_crowded_and_not(name, response):
    """More rows allow larger bundles; with few rows only the narrowest features share one."""
    for n in (60, 500, 3_001, 40_000, 90_001):
        codes, y = draw(FEATURES[name], n, seed=8)
        common = {"response": response, "n_estimators": 3}
        assert_equals_reference(codes, FEATURES[name], y, draw_weight(n), **common)


@pytest.mark.parametrize(
    ("response", "options"),
    [
        ("sign", {}),
        ("exact", {}),
        ("real", {"weak_learner": "stump"}),
        ("newton", {"weak_learner": "stump", "l2": 2.0}),
        ("real", {"smoothing": 0.2}),
        ("newton", {"step": "line_search"}),
    ],
    ids=str,
)
def test_joint_sums_serve_every_response_and_learner(response, options):
    features = [*FEATURES["from 2 to 64 bins"][:7], 4, 9]
    codes, y = draw(features, 17_500, seed=1)
    assert_equals_reference(codes, features, y, response=response, n_estimators=4, **options)


@pytest.mark.parametrize("n", [FEW - 1, FEW, FEW + 1, 2 * FEW - 1, 2 * FEW + 257])
def test_rows_that_fill_no_block(n):
    features = FEATURES["triples"]
    codes, y = draw(features, n, seed=2)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, n)
    common = {"response": "real", "n_estimators": 4}
    ours = assert_equals_reference(codes, features, y, weight, **common)
    assert_same_bits_alone(ours, codes, features, y, weight, **common)


@settings(max_examples=12)
@given(
    features=st.lists(
        st.one_of(
            st.integers(1, 64),
            st.sampled_from([1, 2, 3, 62, 200, 254]).map(lambda k: np.arange(float(k))),
        ),
        min_size=1,
        max_size=14,
    ),
    response=st.sampled_from(["real", "newton"]),
    seed=st.integers(0, 1000),
)
def test_any_features_may_share_bundles(features, response, seed):
    codes, y = draw(features, 20_000, seed)
    weight = np.random.default_rng(seed).uniform(0.5, 2, len(y))
    assert_equals_reference(codes, features, y, weight, response=response, n_estimators=2)


# -- segments and lanes ---------------------------------------------------------------------------


def in_segments(codes, y, part):
    """Sort rows by class and part; return codes, y, part, segments, classes of the segments."""
    n_parts = part.max() + 1
    key = (y > 0) * n_parts + part
    order = np.argsort(key, kind="stable")
    segments = np.cumsum([0, *np.bincount(key, minlength=2 * n_parts)])
    return codes[:, order], y[order], part[order], segments, np.repeat([-1, 1], n_parts)


@pytest.mark.parametrize("response", ["real", "newton"])
def test_segments_left_out_leave_gaps(response):
    """Used, held-out and ignored segments alternate; some are empty, of one row, or very long."""
    features = FEATURES["from 2 to 64 bins"]
    codes, y = draw(features, 150_000, seed=3)
    share = np.array([0.6, 0.03, 0.05, 0.2, 0.0, 0.1, 0.02])
    part = np.random.default_rng(3).choice(7, len(y), p=share)
    part[:2] = 4, 4
    y[:2] = -1, 1  # part 4 has one row of each class
    codes, y, part, segments, side = in_segments(codes, y, part)
    used = np.tile([1, 2, 1, 1, 1, 0, 1], 2)
    glog = _core.Loss("glog", {})
    boosting = make_boosting(
        codes, features, segments, [side * used], [glog], gain=1.5, response=response
    )
    boosting.advance(4)
    counted = (part != 1) & (part != 5)
    theirs = ref.fit(
        codes[:, counted], bins_of(features), y[counted],
        loss=ref.make_loss("glog", 1.5), n_estimators=4, response=response,
    )  # fmt: skip
    history = [r.feature for r in theirs], [r.cost for r in theirs]
    expected = ref.predict(theirs, codes)
    assert_same_model(boosting.rounds(0), history, codes, expected, response)
    np.testing.assert_allclose(
        boosting.held_out(0), expected[part == 1], rtol=0, atol=RAW * np.abs(expected).max()
    )


def make_lanes(n, codes, features, segments, weight=None, n_threads=1, **options):
    """Return lanes of several gains, of which one in four leaves nothing out."""
    gains = np.geomspace(0.4, 6.0, n)
    folds = np.arange(n) % (N_FOLDS + 1)
    boosting = make_boosting(
        codes, features, segments, [roles_of(f) for f in folds], [_core.Loss("glog", {})] * n,
        weight, gain=gains, n_threads=n_threads, **options,
    )  # fmt: skip
    return boosting, gains, folds


@pytest.mark.parametrize("name", IN_LANES)
@pytest.mark.parametrize("response", ["real", "newton"])
@pytest.mark.parametrize("n", [3, 7, 13])
def test_lanes_summed_jointly_are_models_summed_alone(name, response, n):
    features = FEATURES[name]
    codes, y = draw(features, 25_000, seed=4)
    rng = np.random.default_rng(4)
    codes, y, fold, segments, _ = in_segments(codes, y, rng.integers(0, N_FOLDS, len(y)))
    # The last tests have many rows of one weight.
    plain = n == 7 and name in ("triples", "categories", "from 2 to 64 bins")
    weight = None if plain else rng.uniform(0.5, 2.0, len(y))
    wide_codes, wide = widen(codes, features)
    boosting, gains, folds = make_lanes(n, codes, features, segments, weight, response=response)
    apart, _, _ = make_lanes(n, wide_codes, wide, segments, weight, response=response)
    for lanes in (boosting, apart):
        lanes.advance(4)
    for m in range(n):
        in_training = fold != folds[m]
        weights = None if weight is None else weight[in_training]
        alone = train(
            wide_codes[:, in_training], wide, y[in_training], weights,
            gain=gains[m], response=response, n_estimators=4,
        )  # fmt: skip
        lane, expected = boosting.rounds(m), raw_predictions(alone, wide_codes)
        assert_same_model(lane, (alone.feature, alone.cost), codes, expected, response)
        np.testing.assert_allclose(lane.risk, alone.risk, rtol=1e-5)
        np.testing.assert_allclose(
            boosting.held_out(m), expected[~in_training], rtol=0, atol=RAW * np.abs(expected).max()
        )
        for field in ("feature", "cost", "risk", "step"):
            np.testing.assert_array_equal(getattr(lane, field), getattr(apart.rounds(m), field))


# -- the same bits --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("response", ["real", "newton"])
def test_threads_do_not_change_joint_sums(n, response):
    features = [f for name in IN_LANES for f in FEATURES[name]]
    codes, y = draw(features, 30_000, seed=5)
    rng = np.random.default_rng(5)
    codes, y, _, segments, _ = in_segments(codes, y, rng.integers(0, N_FOLDS, len(y)))
    weight = rng.uniform(0.5, 2.0, len(y))
    models = []
    for n_threads in (1, 2, 3, 5):
        boosting, _, _ = make_lanes(
            n, codes, features, segments, weight, n_threads, response=response
        )
        boosting.advance(2)
        models.append([boosting.rounds(m) for m in range(n)])
    for others in models[1:]:
        for ours, theirs in zip(others, models[0], strict=True):
            assert_identical(ours, theirs)


def test_every_instruction_set_sums_the_same_bits():
    features = FEATURES["wide ones beside narrow ones"] + FEATURES["a dozen of two bins"]
    codes, y = draw(features, 21_000, seed=6)
    rng = np.random.default_rng(6)
    codes, _, _, segments, _ = in_segments(codes, y, rng.integers(0, N_FOLDS, len(y)))
    weight = rng.uniform(0.5, 2.0, len(y))
    problems = [
        (n, w, OPTIONS | {"response": response})
        for n, w, response in itertools.product([1, 3, 7, 13], [None, weight], ["real", "newton"])
    ]
    expected = []
    for n, w, options in problems:
        boosting, _, _ = make_lanes(n, codes, features, segments, w, **options)
        boosting.advance(2)
        expected.append([boosting.rounds(m) for m in range(n)])
    roles = np.array([roles_of(m % (N_FOLDS + 1)) for m in range(16)], dtype=np.int8)
    program = """
codes, features, segments, roles, problems = data
bins, loss, result = _core.Bins(features), _core.Loss("glog", {}), []
for n, weight, options in problems:
    learner = _core.WeakLearner({"name": "table"})
    models = [_core.Model(loss, learner, own, gain=gain)
              for own, gain in zip(roles, np.geomspace(0.4, 6.0, n))]
    rows = _core.Rows(codes, bins, segments, weight=weight)
    boosting = _core.Boosting(rows, models, _core.AdditiveBoosting(**options))
    boosting.advance(2)
    rounds = [boosting.rounds(m) for m in range(n)]
    result += [[(r.feature, r.cost, r.step, r.risk, r.values) for r in rounds]]
"""
    for other in other_sets():
        data = codes, features, segments, roles, problems
        for theirs, ours in zip(run_with(other, program, data), expected, strict=True):
            for (*arrays,), r in zip(theirs, ours, strict=True):
                for a, b in zip(arrays, (r.feature, r.cost, r.step, r.risk, r.values), strict=True):
                    np.testing.assert_array_equal(a, b)


# -- errors of rounding, and ties --------------------------------------------------------


def assert_no_drift(codes, y, response, n_lanes):
    """Compare a model of two-bin features, alone or as a lane, with the reference."""
    features = [np.arange(1.0)] * len(codes)
    order = np.argsort(y, kind="stable")
    codes, y = codes[:, order].astype(np.uint8), y[order]
    theirs = ref.fit(
        codes, bins_of(features), y,
        loss=ref.make_loss("glog", 1.5), n_estimators=8, response=response,
    )  # fmt: skip
    boosting = make_boosting(
        codes, features, [0, (y < 0).sum(), len(y)], [[-1, 1]] * n_lanes,
        [_core.Loss("glog", {})] * n_lanes, gain=1.5, response=response,
    )  # fmt: skip
    boosting.advance(8)
    history = [r.feature for r in theirs], [r.cost for r in theirs]
    assert_same_model(boosting.rounds(0), history, codes, ref.predict(theirs, codes), response)


@pytest.mark.parametrize("response", ["real", "newton"])
@pytest.mark.parametrize("n_lanes", [1, 3])
def test_rare_events_are_summed_without_drift(response, n_lanes):
    """Most rows have one weight and fall into one joint cell."""
    rng = np.random.default_rng(7)
    codes = rng.random((12, 60_000)) < 0.05
    raw = (codes * rng.normal(size=(12, 1))).sum(axis=0) - 1.5
    y = np.where(raw + rng.logistic(size=raw.size) > 0, 1.0, -1.0)
    assert_no_drift(codes, y, response, n_lanes)


def test_features_that_go_together_are_summed_without_drift():
    """Seven features are nearly equal: no code is common, but half the rows share a joint cell."""
    rng = np.random.default_rng(0)
    same = rng.random(130_000) < 0.5
    codes = np.concatenate([np.tile(same, (7, 1)), rng.random((7, len(same))) < 0.3])
    codes[:7] ^= rng.random((7, len(same))) < 0.002
    raw = (codes * rng.normal(size=(14, 1))).sum(axis=0)
    y = np.where(raw - raw.mean() + rng.logistic(size=raw.size) > 0, 1.0, -1.0)
    assert_no_drift(codes, y, "real", 1)


def assert_first_wins(once, codes, y, rng, response):
    """Check that, of 8 features and their copies in random order, the first of each is chosen."""
    which = rng.permutation(np.arange(16) % 8)
    first = [np.flatnonzero(which == k)[0] for k in range(8)]
    ours = train(codes[which], [once[k] for k in which], y, response=response, n_estimators=10)
    assert set(ours.feature) <= set(first)


@pytest.mark.parametrize("n", [20_000, 40_000])
@pytest.mark.parametrize("response", ["real", "sign", "newton"])
def test_of_equal_features_the_first_wins_whatever_bundles_hold_them(response, n):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        once = [np.arange(float(k)) for k in rng.integers(1, 20, 8)]
        codes, y = draw(once, n, seed)
        assert_first_wins(once, codes, y, rng, response)


@pytest.mark.parametrize("response", ["sign", "newton"])
def test_of_equal_features_without_a_common_code_the_first_wins(response):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        once = [np.arange(float(k)) for k in rng.integers(20, 60, 8)]
        codes = np.array([rng.integers(0, width(f), 40_000) for f in once], dtype=np.uint8)
        raw = sum(
            rng.normal(size=width(f))[c] / (1 + j)
            for j, (f, c) in enumerate(zip(once, codes, strict=True))
        )
        y = np.where(raw + rng.logistic(size=raw.size) > 0, 1.0, -1.0)
        assert_first_wins(once, codes, y, rng, response)
