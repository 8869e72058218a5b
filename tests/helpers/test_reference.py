"""Test the reference against numbers computed apart from it, brute force and its invariants."""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import quad

import helpers.reference as ref
from helpers.oracles import LOSSES as LOSS_ORACLE
from helpers.oracles import N_TRAIN, TRACE_IDS, TRACES, read_letter

ALL_LOSSES = [
    *[ref.make_loss(name, gain) for name in ref.LOSSES if name != "alpha" for gain in (0.3, 1, 4)],
    *[ref.make_loss("alpha", gain, alpha=a) for a in (0.0, 0.2, 0.5) for gain in (0.5, 1)],
]


def loss_id(loss):
    return f"{loss.name}{getattr(loss, 'alpha', '')}@{loss.gain:g}"


def log_loss(p_of_truth):
    # The traces were made with this clip; saturated GLog and GGauss rows depend on it.
    return -np.log(np.clip(p_of_truth, 1e-12, 1)).mean()


@cache
def letter():
    X, y = read_letter()
    edges = [ref.distinct_edges(column) for column in X[:N_TRAIN].T]
    codes = np.stack([ref.encode(column, e) for column, e in zip(X.T, edges, strict=True)])
    return codes, [ref.FeatureBins.numeric(e) for e in edges], y


def fit_letter(data, n_rows=N_TRAIN, **settings):
    codes, bins, y = letter()
    return ref.fit(codes[:, :n_rows], bins, y[data][:n_rows], **settings)


def letter_test(data):
    codes, _, y = letter()
    return codes[:, N_TRAIN:], y[data][N_TRAIN:]


def small_problem(seed=0, n=300, d=4, n_bins=6, missing=True, labels=True):
    """Return random codes; the last feature is categorical, the others ordered with gaps."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_bins, (d, n))
    bins = [ref.FeatureBins(n_bins + 1, n_bins, n_bins) for _ in range(d - 1)]
    bins.append(ref.FeatureBins.categorical(n_bins))
    if missing:
        codes[:, : n // 10] = rng.permuted(codes[:, : n // 10], axis=1)
        codes[0, rng.random(n) < 0.15] = n_bins
        codes[d - 1, rng.random(n) < 0.1] = n_bins
    signal = 0.6 * (codes[0] - 2.5) - 0.9 * (codes[1] > 3) + 1.2 * (codes[-1] % 2)
    y = np.where(rng.logistic(size=n) < signal, 1.0, -1.0) if labels else None
    return codes, bins, y


# ------------------------------------------------------------------------------------------ losses


@pytest.mark.parametrize(
    ("name", "key"), [(name, key) for name, table in LOSS_ORACLE.items() for key in table]
)
def test_losses_equal_the_oracle(name, key):
    expected = LOSS_ORACLE[name][key]
    if name == "alpha":
        alpha, gain = map(float, key.split(","))
        loss = ref.make_loss(name, gain, alpha=alpha)
    else:
        loss = ref.make_loss(name, float(key))
    v = np.array(expected["margin"])
    for what in ("loss", "weight", "curvature", "probability"):
        if what in expected:
            # The oracle itself cancels to 1e-16 where 1 - erf or 1 - exp is tiny.
            np.testing.assert_allclose(
                getattr(loss, what)(v), expected[what], rtol=1e-11, atol=1e-15, err_msg=what
            )
    if "loss_margin" in expected:
        assert loss.loss_margin == pytest.approx(expected["loss_margin"], rel=1e-14)


@pytest.mark.parametrize("loss", ALL_LOSSES, ids=loss_id)
def test_loss_parts_agree_with_each_other(loss):
    v = loss.gain * np.linspace(-6, 6, 97)
    h = 1e-5 * loss.gain
    slope = (loss.loss(v + h) - loss.loss(v - h)) / (2 * h)
    np.testing.assert_allclose(loss.weight(v), -slope, rtol=1e-7, atol=1e-9)
    bend = (loss.weight(v - h) - loss.weight(v + h)) / (2 * h)
    # GLaplacian's curvature has a corner at 0, where a central difference sees its mean.
    np.testing.assert_allclose(loss.curvature(v), bend, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(loss.probability(v) + loss.probability(-v), 1, rtol=1e-14)

    p = np.concatenate([np.geomspace(1e-9, 0.4, 40), [0.5], np.linspace(0.6, 0.999, 40)])
    f = loss.link(p)
    np.testing.assert_allclose(loss.probability(f), p, rtol=1e-10)
    # The link is the best raw prediction under p, and C* is the risk there.
    np.testing.assert_allclose(p * loss.weight(f), (1 - p) * loss.weight(-f), rtol=1e-7)
    risk = p * loss.loss(f) + (1 - p) * loss.loss(-f)
    np.testing.assert_allclose(loss.minimum_risk(p), risk, rtol=1e-9)
    np.testing.assert_allclose(loss.minimum_risk([0.0, 1.0]), 0, atol=1e-300)


@pytest.mark.parametrize("loss", ALL_LOSSES, ids=loss_id)
def test_losses_keep_their_tails(loss):
    v = loss.gain * np.array([-150.0, -100, -30, -8, 8, 30, 100, 150])
    for values in (loss.loss(v), loss.weight(v), loss.curvature(v), loss.probability(v)):
        assert np.isfinite(values).all()
    right = v > 0
    if loss.name != "ggauss":  # e^-u^2 leaves the range of a double before u = 100
        assert (loss.loss(v)[right] > 0).all()
        assert (loss.weight(v)[right] > 0).all()
        assert (loss.probability(v) > 0).all()
    assert (np.diff(loss.loss(v)[right]) <= 0).all()
    # -(log loss)' = weight / loss, so the tails must fall together, not in steps.
    if loss.name in ("glog", "exponential", "savage"):
        rate = {"glog": 1, "exponential": 1, "savage": 4}[loss.name]
        far = v >= 30 * loss.gain
        np.testing.assert_allclose(
            loss.gain * loss.weight(v)[far] / loss.loss(v)[far], rate, rtol=1e-10
        )


@pytest.mark.parametrize("alpha", [0.0, 0.01, 0.125, 0.25, 0.375, 0.49, 0.5])
def test_alpha_is_the_integral_of_its_weight(alpha):
    loss = ref.make_loss("alpha", alpha=alpha)
    for v in (-8.0, -2.0, -0.3, 0.0, 0.3, 2.0, 8.0):
        tail, _ = quad(loss.weight, v, v + 4, epsabs=0, epsrel=1e-12)
        middle, _ = quad(loss.weight, v + 4, v + 40, epsabs=0, epsrel=1e-12)
        rest, _ = quad(loss.weight, v + 40, np.inf, epsabs=1e-18)
        assert float(loss.loss(v)) == pytest.approx(tail + middle + rest, rel=1e-10)


def test_alpha_ends_are_glog_and_the_exponential():
    v = np.linspace(-20, 20, 81)
    log, exponential = ref.make_loss("glog", 0.7), ref.make_loss("exponential", 1.4)
    low = ref.make_loss("alpha", 0.7, alpha=0.0)
    high = ref.make_loss("alpha", 0.7, alpha=0.5)
    for what in ("loss", "weight", "curvature", "probability"):
        np.testing.assert_allclose(getattr(low, what)(v), getattr(log, what)(v), rtol=1e-13)
        np.testing.assert_allclose(
            getattr(high, what)(v), getattr(exponential, what)(v), rtol=1e-13
        )


def test_savage_newton_curvature_is_the_expected_one():
    loss = ref.make_loss("savage", 0.8)
    raw = np.linspace(-3, 3, 31)
    p = loss.probability(raw)
    expected = p * loss.curvature(raw) + (1 - p) * loss.curvature(-raw)
    np.testing.assert_allclose(loss.newton_curvature(np.ones(31), raw), expected, rtol=1e-10)
    assert (loss.curvature(raw) < 0).any()


# ------------------------------------------------------------------------------- edges and codes


def test_distinct_values_get_a_bin_each():
    values = np.array([3.0, 1.0, np.nan, 1.0, 7.0])
    edges = ref.distinct_edges(values)
    assert edges.tolist() == [2.0, 5.0]
    assert ref.encode(values, edges).tolist() == [1, 0, 3, 0, 2]
    assert ref.encode([2.0, np.nextafter(2.0, 3.0)], edges).tolist() == [0, 1]
    assert ref.quantile_edges(values, max_bins=3).tolist() == [2.0, 5.0]
    assert ref.quantile_edges([np.nan, np.nan]).size == 0


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1.0, np.nextafter(1.0, 2.0)),
        (np.nextafter(1.0, 0.0), 1.0),
        (5e-324, 1e-323),
        (-5e-324, 0.0),
        (0.0, 5e-324),
        (1.7e308, np.finfo(float).max),
        (-1.7e308, 1.7e308),
        (1.7e308, np.inf),
        (np.finfo(float).max, np.inf),
        (-np.inf, 0.0),
        (-np.inf, np.finfo(float).min),
        (-np.inf, np.inf),
    ],
)
def test_midpoint_separates(a, b):
    edge = ref.midpoint(a, b)
    assert a <= edge < b
    assert ref.encode([a, b], np.array([edge])).tolist() == [0, 1]


def test_infinite_edges_are_as_stated():
    assert ref.midpoint(0.0, np.inf) == np.finfo(float).max
    assert ref.midpoint(-np.inf, 0.0) == -np.inf
    assert ref.midpoint(-np.inf, np.inf) == np.finfo(float).max


@pytest.mark.parametrize(
    ("weights", "max_bins", "expected"),
    [
        # Four equal values of weight 1 on either side of a heavy one: 3 bins left, quotas 1.5
        # and 1.5, the tie goes to the earlier run.
        ([1, 1, 1, 1, 8, 1, 1, 1, 1], 4, [[0, 1], [2, 3], [4], [5, 6, 7, 8]]),
        # A light run too small for a bin of its own joins the next heavy value ...
        ([1, 50, 20, 19, 18, 17, 16, 15], 4, [[0, 1], [2, 3], [4, 5], [6, 7]]),
        # ... and at the end the heavy value before it.
        ([20, 19, 18, 17, 16, 15, 50, 1], 4, [[0, 1], [2, 3], [4, 5], [6, 7]]),
        # No heavy value: plain quantiles, a bin closes as soon as its share is reached.
        ([1] * 9, 4, [[0, 1, 2], [3, 4], [5, 6], [7, 8]]),
        ([1, 1, 1, 3, 1, 1, 1, 1], 2, [[0, 1, 2, 3], [4, 5, 6, 7]]),
        # Exactly 1 / max_bins of the weight is not heavy.
        ([2, 2, 1, 1, 1, 1], 4, [[0], [1], [2, 3], [4, 5]]),
    ],
)
def test_quantile_rule(weights, max_bins, expected):
    values = np.arange(len(weights), dtype=float)
    codes = ref.encode(values, ref.quantile_edges(values, weights, max_bins))
    bins = [np.flatnonzero(codes == b).tolist() for b in range(codes.max() + 1)]
    assert bins == expected


def test_shared_bins_respect_room():
    # Quotas 4.5, 0.25, 0.25: the first run has 2 values only, so the others share the excess.
    assert ref.bins._share_bins([18.0, 1.0, 1.0], [2, 3, 3], 5) == [2, 2, 1]
    assert ref.bins._share_bins([1.0, 1.0, 1.0], [5, 5, 5], 4) == [2, 1, 1]


@pytest.mark.parametrize("seed", range(60))
def test_quantile_edges_keep_their_promises(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(50, 800))
    values = np.round(rng.standard_cauchy(n), int(rng.integers(0, 3)))
    values[rng.random(n) < rng.choice([0, 0.3, 0.7])] = 0.0
    values[rng.random(n) < 0.05] = rng.choice([np.inf, -np.inf, np.nan])
    weight = rng.integers(0, 4, n).astype(float)
    max_bins = int(rng.integers(2, 40))
    edges = ref.quantile_edges(values, weight, max_bins)
    assert len(edges) + 1 <= max_bins
    assert (np.diff(edges) > 0).all()
    present = ~np.isnan(values) & (weight > 0)
    codes = ref.encode(values, edges)
    assert set(codes[present]) == set(range(len(edges) + 1))  # no bin is empty
    distinct = np.unique(values[present])
    if len(distinct) <= max_bins:
        assert len(edges) + 1 == len(distinct)
    else:
        total = weight[present].sum()
        rows = np.repeat(values[present], weight[present].astype(int))
        heavy = [x for x in distinct if (rows == x).sum() * max_bins > total]
        # Heavy values never share a bin with each other.
        assert len({int(c) for c in ref.encode(heavy, edges)}) == len(heavy)
        np.testing.assert_array_equal(edges, ref.quantile_edges(rows, None, max_bins))


# ---------------------------------------------------------------------------- LETTER's oracle


@pytest.mark.parametrize(
    "trace",
    TRACES,
    ids=TRACE_IDS,
)
def test_letter_trace(trace):
    data = trace["data"]
    loss = ref.make_loss(trace["loss"], trace["gain"])
    settings = {
        "loss": loss,
        "n_estimators": trace["rounds"],
        "response": trace["response"],
        "step": trace["step"],
    }
    codes, y = letter_test(data)

    # The traces break exact ties only, so with a tie width of rounding size all of it must agree.
    rounds = fit_letter(data, tie=1e-9, **settings)
    raw = ref.predict(rounds, codes)
    assert len(rounds) == trace["rounds"]
    compare_first_rounds(rounds, trace)
    assert rounds[-1].risk == pytest.approx(trace["train_risk"], rel=1e-12)
    assert int((y * raw <= 0).sum()) == trace["test_errors"]
    assert log_loss(loss.probability(y * raw)) == pytest.approx(trace["test_log_loss"], abs=6e-7)

    # The project's ties are 1e-7 wide: late rounds may take a feature as good as the best.
    rounds = fit_letter(data, **settings)
    raw = ref.predict(rounds, codes)
    compare_first_rounds(rounds, trace)
    assert rounds[-1].risk == pytest.approx(trace["train_risk"], rel=2e-3)
    allowed = max(3, 0.005 * trace["test_errors"])
    assert abs(int((y * raw <= 0).sum()) - trace["test_errors"]) <= allowed
    assert log_loss(loss.probability(y * raw)) == pytest.approx(trace["test_log_loss"], abs=1.5e-3)


def compare_first_rounds(rounds, trace):
    for ours, theirs in zip(rounds, trace["first_rounds"], strict=False):
        assert ours.cost == pytest.approx(theirs["score"], rel=1e-9)
        assert ours.step == pytest.approx(theirs["step"], rel=1e-7)
        if ours.feature != theirs["feature"]:
            # On LETTER.p1 the majority class fills every bin of several features: their sign tables
            # are all -1, their scores equal but for rounding, and the trace took one at random.
            assert trace["data"] == "LETTER.p1"
            assert trace["response"] == "sign"
            _, bins, _ = letter()
            assert set(ours.table[: bins[ours.feature].n_ordered]) == {-1.0}


@pytest.mark.parametrize(
    ("data", "n_estimators", "plain", "prior", "h", "smooth"),
    [
        ("LETTER.p1", 240, 0.0519, 0.0515, 0.1, 0.0495),
        ("LETTER.p2", 400, 0.4004, 0.3960, 0.2, 0.3924),
    ],
)
def test_regularised_tables_on_letter(data, n_estimators, plain, prior, h, smooth):
    codes, y = letter_test(data)
    loss = ref.make_loss("gboost", 2.0)

    def best(**settings):
        # In every case the best of 600 rounds is among these.
        rounds = fit_letter(data, loss=loss, n_estimators=n_estimators, **settings)
        staged = ref.staged_predict(rounds, codes)
        return min(log_loss(loss.probability(y * raw)) for raw in staged)

    assert best() == pytest.approx(plain, abs=1e-4)
    assert best(prior=1e-3) == pytest.approx(prior, abs=1e-4)
    seen = best(smoothing=h)
    assert seen == pytest.approx(smooth, abs=1e-4)
    # Choosing the feature on plain weights and then smoothing its table is worse.
    assert best(smoothing=h, smoothing_in_score=False) > seen + 5e-4


# ------------------------------------------------------------------- gain, learning rate, weights


@pytest.mark.parametrize("response", ["real", "sign"])
@pytest.mark.parametrize("step", ["unit", "guarded"])
@pytest.mark.parametrize(
    ("name", "gain"), [("glog", 3.0), ("gboost", 0.3), ("savage", 7.0), ("ggauss", 2.5)]
)
def test_gain_is_the_inverse_of_the_learning_rate(name, gain, response, step):
    settings = {"n_estimators": 40, "response": response, "step": step}
    a_loss, b_loss = ref.make_loss(name, gain), ref.make_loss(name)
    a = fit_letter("LETTER.p2", loss=a_loss, **settings)
    b = fit_letter("LETTER.p2", loss=b_loss, learning_rate=1 / gain, **settings)
    assert [r.feature for r in a] == [r.feature for r in b]
    codes, _ = letter_test("LETTER.p2")
    f_a, f_b = ref.predict(a, codes), ref.predict(b, codes)
    np.testing.assert_allclose(f_a, gain * f_b, rtol=1e-12, atol=1e-12 * np.abs(f_a).max())
    np.testing.assert_allclose(a_loss.probability(f_a), b_loss.probability(f_b), rtol=1e-11)


@pytest.mark.parametrize("data", ["LETTER.p1", "LETTER.p2"])
@pytest.mark.parametrize("name", ["glog", "gboost"])
def test_the_wrong_link_is_badly_calibrated(name, data):
    gain = 10.0
    loss = ref.make_loss(name, gain)
    codes, y = letter_test(data)
    raw = ref.predict(fit_letter(data, loss=loss, n_estimators=50), codes)
    least = log_loss(loss.probability(y * raw))
    rival = log_loss(ref.make_loss(name).probability(y * raw))
    assert rival > 1.1 * least


@pytest.mark.parametrize("name", ["glog", "exponential", "savage"])
@pytest.mark.parametrize(
    ("response", "step"),
    [("real", "line_search"), ("sign", "line_search"), ("newton", "unit"), ("exact", "unit")],
)
def test_where_the_gain_cannot_matter(name, response, step):
    # A power of two scales doubles exactly, but a first stationary point is looked for on a grid
    # of steps that does not scale, so savage only has to agree where both find the same root.
    codes, bins, y = small_problem(3)
    settings = {"n_estimators": 12, "response": response, "step": step}
    one = ref.fit(codes, bins, y, loss=ref.make_loss(name, 1.0), **settings)
    two = ref.fit(codes, bins, y, loss=ref.make_loss(name, 2.0), **settings)
    assert [r.feature for r in one] == [r.feature for r in two]
    np.testing.assert_allclose(2 * ref.predict(one, codes), ref.predict(two, codes), rtol=1e-9)


@pytest.mark.parametrize("response", ["real", "sign", "newton", "exact"])
@pytest.mark.parametrize("learner", ["table", "stump"])
@pytest.mark.parametrize("step", ["guarded", "line_search"])
def test_weight_two_is_the_row_twice(response, learner, step):
    codes, bins, y = small_problem(1, n=200)
    weight = np.random.default_rng(5).integers(0, 3, 200)
    settings = {
        "loss": ref.make_loss("glog", 0.8),
        "n_estimators": 10,
        "response": response,
        "learner": learner,
        "step": step,
    }
    a = ref.fit(codes, bins, y, weight, **settings)
    rows = np.repeat(np.arange(200), weight)
    b = ref.fit(codes[:, rows], bins, y[rows], **settings)
    assert [r.feature for r in a] == [r.feature for r in b]
    for x, z in zip(a, b, strict=True):
        np.testing.assert_allclose(x.table, z.table, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose([x.step, x.cost, x.risk], [z.step, z.cost, z.risk], rtol=1e-9)


# -------------------------------------------------------------------------------- weak learners


@pytest.mark.parametrize("response", ["real", "sign", "newton"])
@pytest.mark.parametrize("seed", range(4))
def test_stump_is_the_best_of_all_cuts(response, seed):
    codes, bins, y = small_problem(seed, n=120, d=3, n_bins=4)
    loss = ref.make_loss("glog")
    stump = ref.fit(
        codes, bins, y, loss=loss, n_estimators=1, learner="stump", response=response, step="unit"
    )[0]

    def value(feature, left):
        inside = np.isin(codes[feature], left)
        total = 0.0
        for cell in (inside, ~inside):
            plus, minus = (cell & (y > 0)).sum(), (cell & (y < 0)).sum()
            if response == "real":
                total -= np.sqrt(plus * minus) / len(y)
            elif response == "sign":
                total += abs(plus - minus) / len(y)
            elif cell.any():
                total += ((plus - minus) / 2) ** 2 / (cell.sum() / 4)
        return total

    # Any subset of a feature's bins, where only contiguous ones (and missing) are allowed for
    # ordered features and, by the share theorem, no subset of categories beats a prefix.
    best = -np.inf
    for j, b in enumerate(bins):
        if b.n_ordered:
            best = max(best, value(j, [b.missing]))
            for cut in range(1, b.n_ordered):
                for side in ([], [b.missing]):
                    best = max(best, value(j, [*range(cut), *side]))
        else:
            present = np.unique(codes[j])
            for mask in range(1, 2 ** len(present) - 1):
                best = max(best, value(j, [c for i, c in enumerate(present) if mask >> i & 1]))
    sign = -1 if response == "real" else 1
    assert stump.cost == pytest.approx(sign * best, rel=1e-9)
    left = np.flatnonzero(stump.table == stump.table[0])
    assert len(np.unique(stump.table[np.unique(codes[stump.feature])])) <= 2
    assert value(stump.feature, left) == pytest.approx(best, rel=1e-9)


def test_stump_values_of_bins_without_rows():
    codes = np.array([[0, 0, 3, 3, 0, 3]])
    y = np.array([1.0, 1, -1, -1, 1, -1])
    settings = {"n_estimators": 1, "learner": "stump", "loss": ref.make_loss("glog")}
    ordered = ref.fit(codes, [ref.FeatureBins(6, 5, 5)], y, **settings)[0].table
    low = np.log((0 + 1 / 12) / (0.5 + 1 / 12)) / 2  # two cells with rows: e = 1 / (6 * 2)
    # Cuts after bins 0, 1 and 2 tie; the first wins, so bins 1 and 2 lie on the right.
    np.testing.assert_allclose(ordered, [-low, low, low, low, low, 0.0], rtol=1e-14)
    unordered = ref.fit(codes, [ref.FeatureBins(6, 0, 5)], y, **settings)[0].table
    np.testing.assert_allclose(unordered, [-low, 0, 0, low, 0, 0], rtol=1e-14)


def test_missing_rows_go_where_they_fit_and_left_on_a_tie():
    # Missing rows are positive, like the right side.
    codes = np.array([[0, 0, 1, 1, 2, 2]])
    bins = [ref.FeatureBins(3, 2, 2)]
    settings = {"n_estimators": 1, "learner": "stump", "loss": ref.make_loss("glog")}
    table = ref.fit(codes, bins, [-1, -1, 1, 1, 1, 1], **settings)[0].table
    assert table[2] == table[1] > 0 > table[0]
    # Balanced missing rows: both sides score the same.
    table = ref.fit(codes, bins, [-1, -1, 1, 1, 1, -1], **settings)[0].table
    assert table[2] == table[0] < 0 < table[1]


def test_near_ties_go_to_the_lower_feature():
    codes, bins, y = small_problem(2, d=2, missing=False)
    codes = np.stack([codes[0], codes[0], codes[1]])
    bins = [bins[0], bins[0], bins[1]]
    loss = ref.make_loss("glog")
    assert ref.fit(codes, bins, y, loss=loss, n_estimators=1)[0].feature == 0
    assert ref.first_best([3.0, 1.0 + 5e-7, 1.0], "real", 1e-6) == 1
    assert ref.first_best([3.0, 1.0 + 2e-6, 1.0], "real", 1e-6) == 2
    assert ref.first_best([0.0, 1.0 - 5e-7, 1.0], "sign", 1e-6) == 1
    assert ref.first_best([0.0, 0.0], "real", 1e-6) == 0


# ----------------------------------------------------------------------------------- responses


def test_tables_by_hand():
    codes = np.array([[0, 0, 0, 1, 1, 2, 3]])
    bins = [ref.FeatureBins(6, 5, 5)]  # bin 4 and missing have no rows
    y = np.array([1.0, 1, -1, -1, -1, 1, -1])
    plus = np.array([2, 0, 1, 0, 0, 0]) / 7
    minus = np.array([1, 2, 0, 1, 0, 0]) / 7
    settings = {"loss": ref.make_loss("glog"), "n_estimators": 1, "step": "unit"}

    def table(**more):
        return ref.fit(codes, bins, y, **settings, **more)[0].table

    for prior, e in ((None, 1 / (7 * 4)), (0.01, 0.01)):
        expected = np.log((plus + e) / (minus + e)) / 2
        np.testing.assert_allclose(table(prior=prior), expected, rtol=1e-13)
    np.testing.assert_array_equal(table(response="sign"), [1, -1, 1, -1, 0, 0])
    newton = table(response="newton", l2=0.5)
    slope, curvature = 7 * (plus - minus) / 2, np.array([3, 2, 1, 1, 0, 0]) / 4
    np.testing.assert_allclose(newton, slope / (curvature + 0.5), rtol=1e-13)

    h = 0.2
    smooth = table(smoothing=h)
    p = np.array([0.8 * 2 + 0.2 * 0, 0.6 * 0 + 0.2 * 3, 0.6, 0.2, 0.0, 0.0]) / 7
    m = np.array([0.8 * 1 + 0.2 * 2, 0.6 * 2 + 0.2 * 1, 0.2 * 3, 0.6, 0.2, 0.0]) / 7
    e = 1 / (7 * 4)
    np.testing.assert_allclose(smooth, np.log((p + e) / (m + e)) / 2, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("h", [0.2, 0.25, 0.3, 4.0, 1e4])
def test_smoothing_keeps_the_mass_and_its_bounds(h):
    a = np.array([5.0, 1, 0, 2, 9, 4])
    out = ref.smooth_ordered(a, h, 4)
    assert out.sum() == pytest.approx(a.sum(), rel=1e-12)
    assert out.min() >= 0.0
    assert out[:4].max() <= 5.0
    np.testing.assert_array_equal(out[4:], a[4:])
    np.testing.assert_array_equal(ref.smooth_ordered(a, h, 0), a)
    np.testing.assert_array_equal(ref.smooth_ordered(a, h, 1), a)
    np.testing.assert_allclose(ref.smooth_ordered(np.ones(5), h, 5), 1, rtol=1e-11)


@pytest.mark.parametrize("h", [0.1, 0.25, 0.26, 4.0, 25.0])
def test_smoothing_spreads_with_variance_2h(h):
    unit = np.zeros(255)
    unit[127] = 1.0
    out = ref.smooth_ordered(unit, h, 255)
    assert out @ (np.arange(255) - 127.0) ** 2 == pytest.approx(2 * h, rel=1e-3)


@pytest.mark.parametrize("name", ["glog", "gboost", "savage"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_exact_values_are_stationary(name, smoothing):
    codes, bins, y = small_problem(4)
    weight = np.random.default_rng(1).random(len(y)) + 0.5
    loss = ref.make_loss(name, 1.5)
    rounds = ref.fit(
        codes,
        bins,
        y,
        weight,
        loss=loss,
        n_estimators=4,
        response="exact",
        step="unit",
        smoothing=smoothing,
    )
    raw = np.zeros(len(y))
    cap = float(loss.link(1 - 1 / (2 * weight.sum())))
    for one in rounds:
        c, b = codes[one.feature], bins[one.feature]
        pseudo = 1 / len(np.unique(c))  # e S
        for cell in np.unique(c):
            assert abs(one.table[cell]) < cap
            share = ref.smooth_ordered(np.eye(b.n_bins)[cell], smoothing, b.n_ordered)[c]

            def risk(z, share=share, pseudo=pseudo, raw=raw):
                rows = (weight * share * loss.loss(y * (raw + z))).sum()
                return rows + pseudo * (loss.loss(z) + loss.loss(-z))

            z = one.table[cell]
            assert (risk(z + 1e-4) - risk(z - 1e-4)) / 2e-4 == pytest.approx(0, abs=1e-6)
            assert risk(z) <= risk(0)
        raw = raw + one.step * one.table[c]


# --------------------------------------------------------------------------- steps and stopping


@pytest.mark.parametrize("name", ["glog", "gboost", "exponential", "savage"])
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_steps_are_stationary_or_bounded(name, rate):
    codes, bins, y = small_problem(6)
    loss = ref.make_loss(name, 0.4)
    settings = {"loss": loss, "n_estimators": 15, "learning_rate": rate}

    def slopes(rounds):
        raw = np.zeros(len(y))
        for one in rounds:
            g = one.table[codes[one.feature]]
            yield one, lambda a, g=g, raw=raw: (y * g * loss.weight(y * (raw + a * g))).mean()
            raw = raw + one.step * g

    guarded = ref.fit(codes, bins, y, step="guarded", **settings)
    for one, slope in slopes(guarded):
        assert 0 < one.step <= rate
        assert slope(one.step) == pytest.approx(0, abs=1e-12) or (
            one.step == rate and slope(rate) > 0
        )
    search = ref.fit(codes, bins, y, step="line_search", **settings)
    for one, slope in slopes(search):
        assert slope(one.step / rate) == pytest.approx(0, abs=1e-12)
    unit = ref.fit(codes, bins, y, step="unit", **settings)
    assert {one.step for one in unit} == {rate}


def test_line_search_with_the_exponential_is_adaboost():
    codes, bins, y = small_problem(7)
    rounds = ref.fit(
        codes,
        bins,
        y,
        loss=ref.make_loss("exponential"),
        n_estimators=20,
        learner="stump",
        response="sign",
        step="line_search",
    )
    w, risk = np.ones(len(y)) / len(y), 1.0
    for one in rounds:
        h = one.table[codes[one.feature]]
        error = w[h != y].sum()
        assert one.step == pytest.approx(np.log((1 - error) / error) / 2, rel=1e-9)
        w = w * np.exp(-one.step * y * h)
        risk *= w.sum()
        w /= w.sum()
        assert one.risk == pytest.approx(risk, rel=1e-9)


@pytest.mark.parametrize(
    ("response", "step"),
    [
        ("sign", "line_search"),
        ("real", "line_search"),
        ("newton", "line_search"),
        ("exact", "unit"),
    ],
)
@pytest.mark.parametrize("name", ["exponential", "glog", "savage"])
def test_separable_rows_move_no_further_than_the_cap(response, step, name):
    codes = np.array([[0] * 6 + [1] * 4])
    y = np.array([1.0] * 6 + [-1.0] * 4)
    loss = ref.make_loss(name, 1.3)
    cap = float(loss.link(1 - 1 / 20))
    rounds = ref.fit(
        codes, [ref.FeatureBins(3, 2, 2)], y, loss=loss, n_estimators=5, response=response,
        step=step, learning_rate=0.5, prior=1e-9,
    )  # fmt: skip
    moved = [0.5 * np.abs(one.table).max() for one in rounds]
    if step == "line_search":
        moved = [one.step * np.abs(one.table).max() for one in rounds]
    assert max(moved) <= 0.5 * cap * (1 + 1e-12)
    if response != "newton":  # newton's F is at most 2 sigma, here below the cap
        assert moved[0] == pytest.approx(0.5 * cap, rel=1e-9)


def test_boosting_stops_when_nothing_can_be_gained():
    loss = ref.make_loss("glog")
    bins = [ref.FeatureBins(3, 2, 2)]
    balanced = np.array([[0, 0, 1, 1]])
    assert ref.fit(balanced, bins, [1, -1, 1, -1], loss=loss) == []  # a table of zeros
    one_bin = [ref.FeatureBins(2, 1, 1)]
    constant = ref.fit(
        np.zeros((1, 4), int), one_bin, [1, 1, 1, -1], loss=loss, learner="stump", n_estimators=1
    )
    # A feature that cannot be cut still has the classes' shares; here e is 1/4.
    assert constant[0].table == pytest.approx([np.log(1 / 0.5) / 2, 0])
    # Weights that have all underflowed.
    far = ref.fit(
        np.array([[0, 1]]),
        bins,
        [1, -1],
        loss=ref.make_loss("ggauss", 0.01),
        n_estimators=9,
        step="unit",
    )
    assert len(far) < 9
    assert far[-1].risk == 0


def test_rounds_add_up_to_the_prediction_and_its_risk():
    codes, bins, y = small_problem(8)
    loss = ref.make_loss("gboost", 0.7)
    rounds = ref.fit(codes, bins, y, loss=loss, n_estimators=25, learning_rate=0.5, smoothing=0.1)
    staged = list(ref.staged_predict(rounds, codes))
    np.testing.assert_array_equal(staged[-1], ref.predict(rounds, codes))
    risks = [loss.loss(y * raw).mean() for raw in staged]
    np.testing.assert_allclose([one.risk for one in rounds], risks, rtol=1e-12)
    assert (np.diff(risks) < 0).all()
