"""Test the engine's choices against the plain reference, round by round, and its invariants."""

import itertools
import os
import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import helpers.reference as ref
from helpers.engine import (
    LOSSES,
    assert_equal_models,
    assert_identical,
    make_boosting,
    problem,
    tables,
    train,
)
from helpers.oracles import TRACE_IDS, TRACES, read_letter
from helpers.reference.search import choose
from properboost import _core

SEARCHES = [
    *itertools.product(["table", "stump"], ["greedy", "cyclic", "unbiased"]),
    *itertools.product(["tree"], ["greedy", "unbiased"]),
]
RESPONSES = ["real", "sign", "newton", "exact", "conditional"]
STEPS = ["unit", "guarded", "line_search"]


def list_combinations():
    """Yield every search with each response and step, and every loss with each of these."""
    losses = list(LOSSES)
    for (k, search), (r, response), (s, step) in itertools.product(
        *map(enumerate, (SEARCHES, RESPONSES, STEPS))
    ):
        yield losses[(k + r + len(RESPONSES) * s) % len(losses)], *search, response, step


def test_the_combinations_are_enough():
    combinations = list(list_combinations())
    pairs = {(loss, *search) for loss, *search, _, _ in combinations}
    assert pairs == {(loss, *search) for loss in LOSSES for search in SEARCHES}
    solved = {(loss, response, step) for loss, _, _, response, step in combinations}
    assert solved == set(itertools.product(LOSSES, RESPONSES, STEPS))


@pytest.mark.parametrize(
    ("loss", "weak_learner", "selection", "response", "step"), list(list_combinations())
)
def test_every_combination_equals_the_reference(loss, weak_learner, selection, response, step):
    codes, features, bins, y = problem(0)
    rounds = {"table": 6, "stump": 6, "tree": 3}[weak_learner]
    common = {
        "n_estimators": 2 if selection == "cyclic" else rounds,
        "selection": selection,
        "response": response,
        "step": step,
        "learning_rate": 0.7,
    }
    limits = {"max_leaf_nodes": 6} if weak_learner == "tree" else {}
    ours = train(
        codes, features, y, loss=loss, gain=1.5, weak_learner=weak_learner, **limits, **common
    )
    theirs = ref.fit(
        codes,
        bins,
        y,
        loss=ref.make_loss(loss, 1.5, **LOSSES[loss]),
        learner=weak_learner,
        tree=ref.TreeSettings(**limits),
        **common,
    )
    assert_equal_models(ours, theirs)


@pytest.mark.parametrize("step", ["guarded", "line_search"])
@pytest.mark.parametrize("selection", ["greedy", "cyclic", "unbiased"])
@pytest.mark.parametrize("max_cells", [2, 3, 5])
@pytest.mark.parametrize(
    ("response", "smoothing"),
    [*itertools.product(["real", "sign", "newton", "exact"], [0.0, 0.2]), ("real", 4.0)],
)
def test_tables_of_few_cells_equal_the_reference(response, smoothing, max_cells, selection, step):
    for seed, loss in ((1, "glog"), (2, "gboost")):
        codes, features, bins, y = problem(seed)
        if seed == 2:  # code 3 has no rows, but smoothing gives it weight
            codes[0][codes[0] == 3] = 4
        common = {
            "n_estimators": 2 if selection == "cyclic" else 6,
            "selection": selection,
            "response": response,
            "step": step,
            "learning_rate": 0.7,
            "smoothing": smoothing,
            "max_cells": max_cells,
        }
        ours = train(codes, features, y, loss=loss, gain=1.5, **common)
        theirs = ref.fit(codes, bins, y, loss=ref.make_loss(loss, 1.5), **common)
        assert_equal_models(ours, theirs)
        occupied = [len(set(codes[j])) for j in ours.feature]
        for t, width in enumerate(occupied):
            table = ours.values[ours.offsets[t] : ours.offsets[t + 1]]
            assert len(set(table[table != 0.0])) <= min(max_cells, width)


@pytest.mark.parametrize("selection", ["greedy", "cyclic", "unbiased"])
@pytest.mark.parametrize(
    ("response", "smoothing"), [("real", 0.0), ("real", 0.2), ("newton", 0.0), ("exact", 0.1)]
)
def test_cuts_that_may_be_chance_are_not_made(response, smoothing, selection):
    for seed, loss, min_saving in ((1, "glog", 0.4), (2, "gboost", 1.0)):
        codes, features, bins, y = problem(seed)
        weight = np.random.default_rng(seed).integers(1, 4, len(y)).astype(float)
        common = {
            "n_estimators": 2 if selection == "cyclic" else 4,
            "selection": selection,
            "response": response,
            "learning_rate": 0.7,
            "smoothing": smoothing,
            "max_cells": 5,
            "min_saving": min_saving,
        }
        ours = train(codes, features, y, weight, loss=loss, gain=1.5, **common)
        theirs = ref.fit(
            codes, bins, y, loss=ref.make_loss(loss, 1.5), sample_weight=weight, **common
        )
        assert_equal_models(ours, theirs)


def best_cut(positive, rows, ordered):
    """Return Pearson's chi-square of the best cut in two; shares set the order of categories."""
    order = np.arange(len(rows)) if ordered else np.argsort(positive / rows, kind="stable")
    left, n_left = np.cumsum(positive[order])[:-1], np.cumsum(rows[order])[:-1]
    n, share = rows.sum(), positive.sum() / rows.sum()
    variances = share * (1.0 - share) * n_left * (n - n_left) / n
    return np.max((left - share * n_left) ** 2 / variances)


@pytest.mark.parametrize("ordered", [False, True])
def test_an_uninformative_feature_is_rarely_cut(ordered):
    """A cut must save more than `min_saving` times the best cut's mean by chance."""
    rng = np.random.default_rng(7)
    rows = np.full(30, 67)
    drawn = [best_cut(rng.binomial(rows, 0.4), rows, ordered) for _ in range(4000)]
    by_chance = np.mean(drawn)
    assert _core.freedom_of_best_cut(30, ordered) == pytest.approx(by_chance, rel=0.05)
    decided = {0.5: [], 1.0: [], 2.0: []}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        feature = np.arange(29.0) if ordered else 30
        codes, y = rng.integers(0, 30, (1, 2000)), rng.choice([-1, 1], 2000, p=[0.4, 0.6])
        best = best_cut(np.bincount(codes[0], y > 0), np.bincount(codes[0]), ordered)
        for least, cuts in decided.items():
            model = train(codes, [feature], y, n_estimators=1, max_cells=4, min_saving=least)
            table = model.values[model.offsets[0] : model.offsets[1]][:30]
            is_cut = len(set(table)) > 1
            # Hellinger's distance differs from chi-square.
            if abs(best / (least * by_chance) - 1.0) > 0.15:
                cuts.append(is_cut)
                assert is_cut == (best > least * by_chance)
    assert min(map(len, decided.values())) > 15
    assert {*decided[1.0]} == {False, True}


@pytest.mark.parametrize("response", ["real", "newton"])
@pytest.mark.parametrize("selection", ["greedy", "cyclic", "unbiased"])
def test_boosting_ends_where_no_cut_beats_chance(selection, response):
    rng = np.random.default_rng(4)
    features = [np.arange(9.0), 6]
    bins = [ref.FeatureBins.numeric(features[0]), ref.FeatureBins.categorical(6)]
    codes, y = np.stack([rng.integers(0, 10, 900), rng.integers(0, 6, 900)]), np.ones(900)
    y[:700] = -1.0
    common = {"n_estimators": 60, "selection": selection, "response": response,
              "learning_rate": 0.3, "max_cells": 4, "min_saving": 3.0}  # fmt: skip
    ours = train(codes, features, y, loss="glog", gain=1.0, **common)
    theirs = ref.fit(codes, bins, y, loss=ref.make_loss("glog", 1.0), **common)
    assert_equal_models(ours, theirs)
    assert 1 < len(theirs) < 60
    F = sum(round_.added(codes) for round_ in theirs)
    scatter = np.sqrt(200 * 700 / 900)  # the deviation of the number of positive rows
    assert abs((1 / (1 + np.exp(-F)) - (y > 0)).sum()) < np.sqrt(0.1) * scatter


def test_another_moves_where_the_least_likely_feature_is_shrunk_to_nothing(monkeypatch):
    tried = []

    def see(*args):
        tried.append(len(args[-1]))
        return choose(*args)

    monkeypatch.setattr("helpers.reference.boosting.choose", see)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        features = [np.arange(5.0), 30, 24]
        bins = [ref.FeatureBins.numeric(features[0])]
        bins += [ref.FeatureBins.categorical(n) for n in features[1:]]
        codes = np.stack([rng.integers(0, n, 250) for n in (6, 30, 24)])
        y = np.where(rng.random(250) < 0.35 + 0.06 * codes[0], 1.0, -1.0)
        common = {"n_estimators": 12, "selection": "unbiased", "learning_rate": 0.5,
                  "max_cells": 3, "min_saving": 0.7}  # fmt: skip
        ours = train(codes, features, y, loss="glog", gain=1.0, **common)
        theirs = ref.fit(codes, bins, y, loss=ref.make_loss("glog", 1.0), **common)
        assert_equal_models(ours, theirs)
    assert np.count_nonzero(tried) > 30


def many_categories(seed, n=1500):  # the engine would sample a class of more rows
    """Return features of 60 and of 200 categories, with rows of very unequal numbers."""
    rng = np.random.default_rng(seed)
    features = [60, 200, np.arange(5.0)]
    bins = [ref.FeatureBins.categorical(f) for f in (60, 200)]
    bins.append(ref.FeatureBins.numeric(np.arange(5.0)))
    codes = np.array(
        [
            rng.geometric(0.08, n) % 60,
            rng.integers(0, 200, n),
            rng.integers(0, 6, n),
        ]
    )
    effect = rng.normal(0.0, 0.7, 60)
    score = effect[codes[0]] + 0.2 * codes[2] - 0.5
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), 1.0, -1.0)
    return codes, features, bins, y


@pytest.mark.parametrize(
    "learner",
    [{}, {"max_cells": 4}, {"weak_learner": "stump"}, {"smoothing": 0.2}],
    ids=str,
)
@pytest.mark.parametrize("response", ["real", "newton", "exact"])
def test_shrunk_categories_equal_the_reference(response, learner):
    codes, features, bins, y = many_categories(3)
    for weight in (None, np.random.default_rng(1).integers(0, 4, len(y)) * 0.7):
        common = {"selection": "unbiased", "response": response, "n_estimators": 4}
        ours = train(codes, features, y, weight, gain=2.0, **common, **learner)
        settings = {"learner" if name == "weak_learner" else name: v for name, v in learner.items()}
        theirs = ref.fit(
            codes, bins, y, weight, loss=ref.make_loss("glog", 2.0), **common, **settings
        )
        assert_equal_models(ours, theirs)
        assert 0 in ours.feature.tolist()


@pytest.mark.parametrize("max_cells", [0, 4])
@pytest.mark.parametrize("response", ["real", "newton"])
def test_uninformative_categories_are_shrunk(response, max_cells):
    """Rare categories are shrunk more than frequent ones."""
    codes, features, _, y = many_categories(4, 20_000)
    step = {"gain": 2.0, "response": response, "step": "unit", "n_estimators": 1}
    scatter = {}
    for selection in ("unbiased", "greedy"):
        only = train(codes[1:2], features[1:2], y, selection=selection, max_cells=max_cells, **step)
        scatter[selection] = tables(only)[0][:200].std()
    assert 0 < scatter["unbiased"] < 0.25 * scatter["greedy"]
    fits = [
        train(codes[:1], features[:1], y, selection=selection, **step)
        for selection in ("unbiased", "greedy")
    ]
    rows = np.bincount(codes[0], minlength=60)
    mean = fits[1].values[:60] @ rows / rows.sum()
    shrunk = (fits[0].values[:60] - mean) / (fits[1].values[:60] - mean)
    many, few = rows > 500, (rows > 0) & (rows < 40)
    assert 0.8 < np.median(shrunk[many]) < 1.05
    assert np.median(shrunk[few]) < np.median(shrunk[many]) - 0.15


@pytest.mark.parametrize(
    ("response", "extra"),
    [
        *itertools.product(
            ["real", "sign", "newton", "exact"],
            [{"smoothing": 0.15}, {"smoothing": 0.25, "prior": 1e-3}, {"prior": 0.02}],
        ),
        *itertools.product(["real", "sign", "newton"], [{"smoothing": 0.3}, {"smoothing": 90.0}]),
        ("newton", {"l2": 3.0}),
    ],
    ids=str,
)
def test_regularised_tables_equal_the_reference(response, extra):
    codes, features, bins, y = problem(1)
    for weight in (None, np.random.default_rng(1).integers(0, 4, len(y)) * 0.7):
        ours = train(codes, features, y, weight, gain=2.0, response=response, **extra)
        theirs = ref.fit(
            codes,
            bins,
            y,
            weight,
            loss=ref.make_loss("glog", 2.0),
            n_estimators=20,
            response=response,
            **extra,
        )
        assert_equal_models(ours, theirs, rel=1e-4)


@pytest.mark.parametrize("trace", TRACES, ids=TRACE_IDS)
def test_letter_trace(trace):
    x, labels = read_letter()
    x, y = x.astype(np.float32), labels[trace["data"]]
    edges = _core.find_edges(x[:4000])
    bins = _core.Bins(edges)
    rounds = train(
        bins.encode(x[:4000]),
        edges,
        y[:4000],
        loss=trace["loss"],
        gain=trace["gain"],
        n_estimators=trace["rounds"],
        response=trace["response"],
        step=trace["step"],
    )
    first = trace["first_rounds"]
    np.testing.assert_allclose(rounds.cost[:12], [r["score"] for r in first], rtol=1e-6)
    np.testing.assert_allclose(rounds.step[:12], [r["step"] for r in first], rtol=1e-5)
    for feature, table, r in zip(rounds.feature, tables(rounds), first, strict=False):
        if feature != r["feature"]:
            # In every bin of several features the negative class is the majority. Their tables are
            # -1 and their scores equal: the oracle took one by rounding noise, the engine takes the
            # lowest.
            assert (trace["data"], trace["response"]) == ("LETTER.p1", "sign")
            assert set(table[:-1]) == {-1.0}
    starts = np.concatenate([[0], np.cumsum(bins.widths)])
    collapsed = np.zeros((1, starts[-1]))
    for feature, table, step in zip(rounds.feature, tables(rounds), rounds.step, strict=True):
        collapsed[0, starts[feature] : starts[feature + 1]] += step * table
    raw = _core.predict_raw(x[4000:], bins, collapsed)[:, 0]
    errors = int((y[4000:] * raw <= 0).sum())
    assert abs(errors - trace["test_errors"]) <= max(3, 0.005 * trace["test_errors"])


# ---------------------------------------------------------------------------------- invariants


@pytest.mark.parametrize("response", ["real", "newton", "exact"])
def test_threads_and_repeats_give_the_same_bits(response):
    # With this many rows a histogram is summed in parts, more of them with more threads.
    codes, features, _, y = problem(2, n=200_000)
    weight = np.random.default_rng(2).uniform(0.5, 2, len(y))
    one = train(codes, features, y, weight, response=response, gain=0.4)
    assert_identical(one, train(codes, features, y, weight, response=response, gain=0.4))
    for n_threads in (2, 3, 7):
        more = train(codes, features, y, weight, response=response, gain=0.4, n_threads=n_threads)
        assert_identical(one, more)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 1000),
    st.floats(0.01, 100),
    st.sampled_from(["glog", "ggauss", "glaplacian", "gboost", "exponential", "savage", "alpha"]),
    st.sampled_from(["unit", "guarded"]),
    st.sampled_from(["real", "sign"]),
)
def test_gain_is_one_over_the_learning_rate(seed, gain, loss, step, response):
    codes, features, _, y = problem(seed, n=150)
    common = {"loss": loss, "step": step, "response": response}
    a = train(codes, features, y, gain=gain, **common)
    b = train(codes, features, y, gain=1.0, learning_rate=1 / gain, **common)
    np.testing.assert_array_equal(a.feature, b.feature)
    np.testing.assert_array_equal(a.values, b.values)
    np.testing.assert_allclose(a.step, gain * b.step, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-290, 1e-30, 1e30, 1e290])
@pytest.mark.parametrize("response", ["real", "sign", "newton", "exact"])
def test_extreme_sample_weights_stay_finite(scale, response):
    codes, features, _, y = problem(4)
    common = {"loss": "exponential", "response": response, "step": "unit", "prior": 1e-3}
    rounds = train(codes, features, y, np.full(len(y), scale), **common)
    assert np.isfinite(rounds.values).all()
    assert np.isfinite(rounds.risk).all()
    if response in ("real", "sign"):  # their tables do not depend on the weight of a row
        plain = train(codes, features, y, **common)
        np.testing.assert_array_equal(rounds.feature, plain.feature)
        np.testing.assert_allclose(rounds.values, plain.values, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_pure_cells_give_finite_models(loss):
    """Tables and steps tend to infinity on separable rows with a tiny gain."""
    codes = np.array([[0, 0, 1, 1]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    for response, step in itertools.product(
        ["real", "sign", "newton", "exact"], ["unit", "guarded", "line_search"]
    ):
        rounds = train(
            codes, [np.array([0.0])], y, loss=loss, gain=0.05, response=response, step=step
        )
        for name in ("cost", "step", "risk", "values"):
            assert np.isfinite(getattr(rounds, name)).all()


@pytest.mark.parametrize("weak_learner", ["table", "stump"])
@pytest.mark.parametrize("response", ["real", "sign", "newton", "exact"])
@pytest.mark.parametrize("scale", [1e-18, 1e15, 1e18, 1e290])
def test_line_searches_end_and_learn_whatever_rows_weigh(weak_learner, response, scale):
    # Beyond a weight of 2^53 an error of half a row is 0 in float64, and its link infinite.
    codes, features, _, y = problem(13)
    options = {"weak_learner": weak_learner, "response": response, "step": "line_search"}
    for loss in ("glog", "exponential", "savage"):
        rounds = train(codes, features, y, np.full(len(y), scale), loss=loss, prior=1e-3, **options)
        at_zero = _core.Loss(loss, {}).loss(np.zeros(1))[0]
        assert rounds.risk[-1] < 0.95 * at_zero
        assert (np.diff(rounds.risk) <= 1e-6 * at_zero).all()


@pytest.mark.parametrize("loss", ["ggauss", "glog", "exponential", "gboost"])
def test_line_searches_reach_their_minimiser_beside_pure_cells(loss):
    """Few rows move the wrong way: the minimiser lies beyond the link of 1 - 1/(2S)."""
    codes = np.array([[0] * 40 + [1] * 40])
    y = np.array([-1.0] * 40 + [1.0] * 39 + [-1.0])
    weight = np.where(np.arange(80) == 79, 1e-3, 1.0)
    reference_loss = ref.make_loss(loss, 0.5)
    options = {"gain": 0.5, "response": "sign", "step": "line_search", "n_estimators": 1}
    rounds = train(codes, [np.array([0.0])], y, weight, loss=loss, **options)
    moved = rounds.step[0] * tables(rounds)[0][codes[0]]

    def find_risk(factor):
        return float(weight @ reference_loss.loss(y * factor * moved))

    assert rounds.step[0] > reference_loss.link(1.0 - 1.0 / 160.0)
    assert find_risk(1.0) < min(find_risk(0.99), find_risk(1.01))


def test_cells_of_equal_weight_have_no_sign():
    """Sums of 0.1, 0.2 and 0.3 differ by rounding, so the other cell decides on the round."""
    codes = np.array([[0, 0, 0, 1, 1]])
    y = np.array([1.0, 1.0, -1.0, 1.0, -1.0])
    weight = np.array([0.1, 0.2, 0.3, 2.0, 1.0])
    rounds = train(codes, [np.array([0.0])], y, weight, response="sign", gain=1.0, n_estimators=1)
    np.testing.assert_array_equal(tables(rounds)[0][:2], [0.0, 1.0])


def test_overflow_is_an_error_not_a_number():
    codes, features, _, y = problem(5)
    with pytest.raises(ValueError, match=r"learning_rate \(.* must be smaller.* not finite"):
        train(codes, features, y, loss="exponential", gain=1.0, step="unit", learning_rate=1e300)


def test_exact_responses_refuse_wide_smoothing():
    codes, features, _, y = problem(5)
    with pytest.raises(ValueError, match=r"smoothing must be at most 0.25 with a response"):
        train(codes, features, y, loss="glog", gain=1.0, response="exact", smoothing=0.26)


@pytest.mark.parametrize("smoothing", [0.0, 0.2, 3.0])
def test_guarded_steps_never_raise_the_risk(smoothing):
    codes, features, _, y = problem(6)
    for loss in LOSSES:
        rounds = train(
            codes, features, y, loss=loss, gain=0.2, smoothing=smoothing, n_estimators=60
        )
        assert (np.diff(rounds.risk) <= 1e-6 * rounds.risk[:-1]).all()


# --------------------------------------------------------------------------- errors and manners


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weak_learner": "x"}, "must be one of 'table', 'stump', 'tree', 'rule'; got"),
        (
            {"response": "x"},
            "response must be one of 'real', 'sign', 'newton', 'exact', 'conditional'; got 'x'",
        ),
        ({"step": ""}, "step must be one of 'unit', 'guarded', .*; got ''"),
    ],
)
def test_unknown_names_list_the_known_ones(change, message):
    codes, features, _, y = problem(7)
    with pytest.raises(ValueError, match=message):
        train(codes, features, y, **change)


def test_codes_and_segments_are_checked():
    features = [np.array([0.0])]
    codes = np.array([[0, 1, 2, 0]], dtype=np.uint8)

    def call(codes=codes, segments=(0, 2, 4), roles=((-1, 1),), **extra):
        losses = [_core.Loss("glog", {})]
        make_boosting(codes, features, np.array(segments), roles, losses, **extra).advance(1)

    call()
    for bad, message in [
        ({"codes": codes + np.uint8(1)}, "width"),
        ({"codes": codes[:, :0]}, "empty"),
        ({"codes": np.vstack([codes, codes])}, "n_features"),
        ({"segments": (0, 2, 5)}, "segments"),
        ({"segments": (1, 2, 4)}, "segments"),
        ({"segments": (0, 3, 2, 4)}, "segments"),
        ({"roles": ((1,),)}, "roles"),
        ({"roles": ((1, -3),)}, "roles"),
        ({"roles": ((2, -2),)}, "training rows"),
        ({"weight": np.ones(3)}, "weight"),
    ]:
        with pytest.raises(ValueError, match=message):
            call(**bad)


def test_progress_is_reported_and_its_exceptions_stop_the_fit():
    codes, features, _, y = problem(8, n=100_000)
    seen = []

    def stop_at_the_third(done, risk):
        seen.append((done, risk))
        if len(seen) == 3:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        train(codes, features, y, n_estimators=10**9, progress=stop_at_the_third, n_threads=2)
    done, risk = np.transpose(seen)
    assert (np.diff(done) > 0).all()
    assert (np.diff(risk) <= 1e-9).all()
    assert 0 < risk[0] < np.log(2)


@pytest.fixture
def interruptible():
    """Restore Python's handler of SIGINT, which some shells have ignored for the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_stops_a_fit(interruptible):
    codes, features, _, y = problem(9, n=100_000)
    threading.Timer(0.3, lambda: os.kill(os.getpid(), 2)).start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        train(codes, features, y, n_estimators=10**9, n_threads=2)
    assert time.perf_counter() - start < 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_works():
    codes, features, _, y = problem(10, n=100_000)
    parent = train(codes, features, y, n_threads=2)  # the team's threads exist from here on
    child = os.fork()
    if child == 0:
        same = np.array_equal(train(codes, features, y, n_threads=2).values, parent.values)
        os._exit(0 if same else 1)
    for _ in range(600):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.1)
    os.kill(child, 9)
    pytest.fail("the child hangs")


def test_fits_in_several_threads_at_once():
    codes, features, _, y = problem(11, n=50_000)
    expected = train(codes, features, y).values
    results = []
    threads = [
        threading.Thread(
            target=lambda: results.append(train(codes, features, y, n_threads=2).values)
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for values in results:
        np.testing.assert_array_equal(values, expected)


def test_a_senseless_number_of_threads_does_no_harm():
    codes, features, _, y = problem(12, n=100_000)
    assert_identical(train(codes, features, y), train(codes, features, y, n_threads=10**6))


@pytest.mark.parametrize("name", ["gain", "learning_rate", "prior"])
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_numbers_of_a_model_are_checked(name, value):
    loss, learner = _core.Loss("glog", {}), _core.WeakLearner({"name": "table"})
    roles = np.array([1, -1], dtype=np.int8)
    with pytest.raises(ValueError, match=f"{name} must be finite and above 0"):
        _core.Model(loss, learner, roles, **{name: value})


def test_rows_are_drawn_by_their_numbers():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 8, (3, 200)).astype(np.uint8)
    y = np.repeat([-1.0, 1.0], 100)
    other = np.r_[100:0:-1, 200:100:-1] - 1  # each class stays in its block
    drawn = {"weak_learner": "tree", "subsample": 0.5, "n_estimators": 3, "max_leaf_nodes": 6}

    def fit(order, numbers):
        rounds = train(codes[:, order], [8] * 3, y[order], numbers=numbers, **drawn)
        return np.concatenate(tables(rounds))

    same = np.arange(200)
    np.testing.assert_array_equal(fit(same, same), fit(same, None))
    np.testing.assert_array_equal(fit(other, other), fit(same, same))
    assert not np.array_equal(fit(other, same), fit(same, same))
    with pytest.raises(ValueError, match="numbers must have 200 entries"):
        fit(same, same[1:])


def test_none_is_no_object_of_the_engine():
    loss, learner = _core.Loss("glog", {}), _core.WeakLearner({"name": "table"})
    roles = np.array([1, -1], dtype=np.int8)
    bins = _core.Bins([3])
    codes = np.array([[0, 1]], dtype=np.uint8)
    rows = _core.Rows(codes, bins, np.array([0, 1, 2]))
    algorithm = _core.AdditiveBoosting()
    calls = [
        lambda: _core.Model(None, learner, roles),
        lambda: _core.Model(loss, None, roles),
        lambda: _core.Rows(codes, None, np.array([0, 1, 2])),
        lambda: _core.Boosting(None, [], algorithm),
        lambda: _core.Boosting(rows, [None], algorithm),
        lambda: _core.Boosting(rows, [_core.Model(loss, learner, roles)], None),
        lambda: _core.VoteBoosting(None, [0, 1]),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()
