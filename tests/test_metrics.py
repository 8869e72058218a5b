"""The papers' metrics: numbers computed by hand, the published tables, and invariants."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm
from sklearn.metrics import brier_score_loss

import properboost as pb
from properboost import metrics

probabilities = arrays(float, st.integers(1, 40), elements=st.floats(0.0, 1.0))

# BoostLR's Table 4: errors (%) and cross-entropies of AdaBoost, LogitBoost, GLog, GBoost, GGauss
# and GLaplace on ten data sets.
METHODS = ("AdaBoost", "LogitBoost", "GLog", "GBoost", "GGauss", "GLaplace")
ERRORS = """
11.4 11.4 9.4 6.4 14 28 6.6 21.8 41.2 28.2
11.6 12.4 10 6.6 13.4 48.6 6.8 21.2 39.6 28.4
11.2 11.4 8 5.6 12.4 11.8 7 18.8 38.2 27
12.6 11.6 21 18.6 17.6 7.2 6 21.8 37.6 28.6
13.6 14.4 9 6 13 8.8 7.6 18.4 38.4 30.6
12 12.8 9 5 12.4 8.2 6.6 20.8 40.6 31.6
"""
CROSS_ENTROPIES = """
4.59 4.19 5.47 3.94 5.77 3.61 4.71 3.48 3.442 3.461
4.75 3.85 5.47 3.861 5.65 3.57 4.64 3.426 3.438 3.48
4.20 3.46 4.59 3.80 5.42 3.67 3.89 3.421 3.40 3.49
3.77 4.60 5.33 3.69 5.21 3.65 3.83 3.406 3.41 3.44
4.07 3.44 4.70 3.71 5.49 3.62 3.87 3.429 3.439 3.53
3.81 3.48 4.58 3.76 5.31 3.63 3.81 3.41 3.42 3.45
"""
BASELINES, TUNED = [0, 1], [2, 3, 4, 5]


def read(table):
    return np.array([line.split() for line in table.split("\n") if line], dtype=float)


# -- mean squared error of probabilities ----------------------------------------------------------


def test_probability_mse_by_hand():
    true, estimated = [0.5, 0.2, 1.0], [0.4, 0.5, 1.0]
    assert metrics.probability_mse(true, estimated) == pytest.approx((0.01 + 0.09) / 3)
    weighted = metrics.probability_mse(true, estimated, sample_weight=[3, 1, 0])
    assert weighted == pytest.approx((0.03 + 0.09) / 4)


@given(probabilities, st.randoms())
def test_both_columns_of_two_classes_agree_with_one(p, random):
    q = np.array([random.random() for _ in p])
    one = metrics.probability_mse(p, q)
    both = metrics.probability_mse(*(np.column_stack([1 - x, x]) for x in (p, q)))
    assert both == pytest.approx(one, abs=1e-15)
    assert 0.0 <= one <= 1.0
    assert metrics.probability_mse(p, p) == 0.0


def test_probability_mse_is_the_brier_score_without_its_noise():
    rng = np.random.default_rng(0)
    true, estimated = rng.random(200_000), rng.random(200_000)
    y = rng.random(200_000) < true
    noise = brier_score_loss(y, true)
    mse = metrics.probability_mse(true, estimated)
    # Six standard errors of a mean of differences below 1.
    assert brier_score_loss(y, estimated) - noise == pytest.approx(mse, abs=6 / 200_000**0.5)


# -- quantised cross-entropy ----------------------------------------------------------------------


def test_quantised_cross_entropy_by_hand():
    # Bins [0, 1/2) and [1/2, 1]: one true probability of four is in the first, and, with one more
    # for each bin, two estimates of four.
    true, estimated = [0.1, 0.5, 0.7, 1.0], [0.49, 0.9]
    expected = -(0.25 * math.log2(2 / 4) + 0.75 * math.log2(2 / 4))
    assert metrics.quantized_cross_entropy(estimated, true, n_bins=2) == pytest.approx(expected)
    floor = -(0.25 * math.log2(0.25) + 0.75 * math.log2(0.75))
    assert metrics.quantized_entropy(true, n_bins=2) == pytest.approx(floor)
    weighted = metrics.quantized_cross_entropy(
        estimated, true, n_bins=2, base=math.e, pseudo_count=0.5, sample_weight=[2, 5]
    )
    expected = -(0.25 * math.log(2.5 / 8) + 0.75 * math.log(5.5 / 8))
    assert weighted == pytest.approx(expected)


def test_true_probabilities_are_even_unless_given():
    assert metrics.quantized_entropy() == pytest.approx(math.log2(10))
    even = np.arange(0.05, 1, 0.1)
    assert metrics.quantized_cross_entropy(even) == pytest.approx(math.log2(10))
    crowded = metrics.quantized_cross_entropy(np.repeat([0.0, 1.0], 30), pseudo_count=1)
    assert crowded == pytest.approx(-(8 * math.log2(1 / 70) + 2 * math.log2(31 / 70)) / 10)


@given(probabilities, probabilities, st.integers(2, 20), st.floats(0.01, 10.0))
def test_the_entropy_is_the_floor(estimated, true, n_bins, pseudo_count):
    for measured in (true, None):
        floor = metrics.quantized_entropy(measured, n_bins=n_bins)
        value = metrics.quantized_cross_entropy(
            estimated, measured, n_bins=n_bins, pseudo_count=pseudo_count
        )
        assert -1e-12 <= floor <= math.log2(n_bins) + 1e-12
        assert floor - 1e-12 <= value < math.inf
        if value > floor:
            assert metrics.drop(value, value + 1.0, floor) >= 0.0


def test_no_pseudo_count_is_too_small_or_too_large():
    crowded = [0.05] * 5
    assert metrics.quantized_cross_entropy(crowded, pseudo_count=1e308) == pytest.approx(
        metrics.quantized_entropy()
    )
    actual = metrics.quantized_cross_entropy(crowded, pseudo_count=5e-324, base=math.e)
    assert actual == pytest.approx(0.9 * (math.log(5) - math.log(5e-324)))


def test_many_rows_of_true_probabilities_reach_the_floor():
    true = norm.cdf(np.linspace(-3, 3, 100_000))
    floor = metrics.quantized_entropy(true)
    assert metrics.quantized_cross_entropy(true[::-1], true) == pytest.approx(floor, abs=1e-6)
    assert metrics.quantized_cross_entropy(true**2, true) > floor + 0.05


def test_the_published_drops_have_the_entropy_of_even_bits():
    """BoostLR's Tables 3 and 4 do not print H; these columns' digits determine it to 0.02."""
    best = read(CROSS_ENTROPIES)
    reference, value = best[BASELINES].min(axis=0), best[TUNED].min(axis=0)
    columns = {0: 0.6452, 1: 0.7653, 2: 0.4156, 6: 0.6276}  # of Table 4: printed drop
    for column, printed in columns.items():
        r, v = reference[column], value[column]
        assert r - (r - v) / printed == pytest.approx(metrics.quantized_entropy(), abs=0.011)
        assert metrics.drop(v, r, metrics.quantized_entropy()) == pytest.approx(printed, abs=0.012)


# -- margins --------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["glog", "gboost", "savage", "exponential"])
def test_normalized_margins_are_those_of_the_link(binary, loss):
    X, y = binary
    model = pb.ProperBoostClassifier(loss, gain=2.0, n_estimators=5, weak_learner="table").fit(X, y)
    expected = 2.0 * model.loss_.probability(model.margins(X, y)) - 1.0
    normalized = model.margins(X, y, normalized=True)
    np.testing.assert_allclose(normalized, expected, rtol=0, atol=1e-15)
    both = model.predict_proba(X)
    np.testing.assert_array_equal(metrics.normalized_margins(y, both), normalized)
    one = metrics.normalized_margins(y, both[:, 1])
    np.testing.assert_allclose(one, normalized, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(normalized > 0, model.predict(X) == y)


def test_normalized_margins_of_three_classes(iris):
    p = [[0.2, 0.5, 0.3], [0.6, 0.4, 0.0], [0.0, 0.0, 1.0]]
    margins = metrics.normalized_margins(["b", "b", "c"], p, labels=["a", "b", "c"])
    np.testing.assert_allclose(margins, [0.2, -0.2, 1.0])
    X, y = iris
    model = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(X, y)
    margins = metrics.normalized_margins(y, model.predict_proba(X))
    np.testing.assert_array_equal(model.margins(X, y, normalized=True), margins)


def test_any_classifier_has_normalized_margins(binary):
    X, y = binary
    tree = pb.UDTClassifier(max_leaf_nodes=4).fit(X, y)
    margins = metrics.normalized_margins(y, tree.predict_proba(X), labels=tree.classes_)
    np.testing.assert_array_equal(margins > 0, tree.predict(X) == y)


def test_margin_distribution_by_hand():
    at, shares = metrics.margin_distribution([0.5, -0.2, 0.5, 0.9])
    np.testing.assert_array_equal(at, [-0.2, 0.5, 0.9])
    np.testing.assert_array_equal(shares, [0.25, 0.75, 1.0])
    _, shares = metrics.margin_distribution([0.5, -0.2, 0.9], sample_weight=[1, 2, 5])
    np.testing.assert_array_equal(shares, [0.25, 0.375, 1.0])
    at, shares = metrics.margin_distribution([0.5, -0.2], [1.0, -0.2, -0.3])
    np.testing.assert_array_equal(at, [1.0, -0.2, -0.3])
    np.testing.assert_array_equal(shares, [1.0, 0.5, 0.0])


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 3)), min_size=1, max_size=30).filter(
        lambda rows: any(weight for _, weight in rows)
    ),
    st.lists(st.floats(-1, 1), min_size=1),
)
def test_margin_distribution_is_the_share_up_to_each_threshold(rows, thresholds):
    margins, weight = np.array(rows).T
    at, shares = metrics.margin_distribution(margins, thresholds, sample_weight=weight)
    expected = [weight[margins <= threshold].sum() / weight.sum() for threshold in thresholds]
    np.testing.assert_array_equal(at, thresholds)
    np.testing.assert_allclose(shares, expected, rtol=1e-15)
    repeated = metrics.margin_distribution(np.repeat(margins, weight.astype(int)), thresholds)
    np.testing.assert_array_equal(shares, repeated[1])
    at, shares = metrics.margin_distribution(margins, sample_weight=weight)
    assert np.all(np.diff(at) > 0)
    assert np.all(np.diff(shares) >= 0)
    assert shares[-1] == 1.0


# -- methods on data sets -------------------------------------------------------------------------


def test_drop_by_hand():
    assert metrics.drop(5.0, 10.0) == 0.5
    assert metrics.drop(5.0, 7.0, 4.0) == pytest.approx(2 / 3)
    assert metrics.drop(8.0, 7.0, 4.0) == pytest.approx(-1 / 3)
    np.testing.assert_array_equal(metrics.drop([0.0, 10.0], [10.0, 10.0]), [1.0, 0.0])


def test_drops_of_errors_are_the_published_ones():
    errors = read(ERRORS)
    drops = metrics.drop(errors[TUNED].min(axis=0), errors[BASELINES].min(axis=0))
    printed = [1.7, 0, 14.9, 21.9, 7.5, 74.3, 9.1, 13.2, 5.0, 4.2]
    np.testing.assert_allclose(100 * drops, printed, atol=0.1)  # the paper cuts digits off


def test_wins_are_the_published_ones():
    errors = read(ERRORS)
    assert metrics.win_counts(errors).tolist() == [1, 0, 5, 3, 1, 2]
    against = metrics.win_counts(errors, rivals=BASELINES)
    assert against[TUNED].tolist() == [9, 3, 6, 6]
    cross_entropies = read(CROSS_ENTROPIES)
    # The paper prints 4 for GBoost, whose cross-entropies are the least of columns 1, 4, 5, 8, 10.
    assert metrics.win_counts(cross_entropies).tolist() == [0, 1, 1, 5, 1, 2]
    against = metrics.win_counts(cross_entropies, rivals=BASELINES)
    assert against[TUNED].tolist() == [8, 8, 6, 9]


def test_wins_and_ranks_by_hand():
    scores = [[1.0, 2.0, 5.0], [1.0, 3.0, 4.0], [2.0, 3.0, 3.0]]
    assert metrics.win_counts(scores).tolist() == [2, 1, 1]
    assert metrics.win_counts(scores, greater_is_better=True).tolist() == [1, 1, 2]
    assert metrics.win_counts(scores, rivals=[1]).tolist() == [2, 3, 2]
    np.testing.assert_allclose(
        metrics.average_ranks(scores), [(1.5 + 1 + 3) / 3, (1.5 + 2.5 + 2) / 3, (3 + 2.5 + 1) / 3]
    )


tables = st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(
    lambda shape: arrays(float, shape, elements=st.integers(0, 4))
)


@given(tables)
def test_ranks_add_up_and_turn_around(scores):
    methods = len(scores)
    ranks = metrics.average_ranks(scores)
    assert ranks.sum() == pytest.approx(methods * (methods + 1) / 2)
    assert ranks.min() >= 1.0
    assert ranks.max() <= methods
    turned = metrics.average_ranks(scores, greater_is_better=True)
    np.testing.assert_allclose(turned, methods + 1 - ranks)
    np.testing.assert_array_equal(metrics.average_ranks(-scores), turned)
    np.testing.assert_array_equal(metrics.average_ranks(scores**3), ranks)


@given(tables)
def test_somebody_wins_every_data_set(scores):
    wins = metrics.win_counts(scores)
    assert wins.sum() >= scores.shape[1]
    assert wins.max() <= scores.shape[1]
    alone = [metrics.win_counts(column[:, None]) for column in scores.T]
    np.testing.assert_array_equal(wins, np.sum(alone, axis=0))
    np.testing.assert_array_equal(wins, metrics.win_counts(scores, rivals=list(range(len(scores)))))


# -- what is wrong --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: metrics.probability_mse([0.5], [1.5]), ValueError, r"between 0 and 1; got 1\.5"),
        (lambda: metrics.probability_mse([np.nan], [0.5]), ValueError, "true_probability must be"),
        (lambda: metrics.probability_mse([0.5, 0.5], [0.5]), ValueError, r"shapes \(1,\) and \(2,"),
        (lambda: metrics.probability_mse([], []), ValueError, "with at least a row"),
        (
            lambda: metrics.probability_mse([0.5], [0.5], sample_weight=[0]),
            ValueError,
            "(?i)sample.weight",
        ),
        (
            lambda: metrics.quantized_cross_entropy([[0.3, 0.7]]),
            ValueError,
            r"probability must have shape \(n_rows,\) with",
        ),
        (
            lambda: metrics.quantized_cross_entropy([0.5], n_bins=1),
            ValueError,
            "n_bins must be between 2 and 1000000; got 1",
        ),
        (lambda: metrics.quantized_entropy(n_bins=10**12), ValueError, "n_bins must be between"),
        (
            lambda: metrics.probability_mse(["a"], ["b"]),
            ValueError,
            "true_probability must hold numbers: .*'a'",
        ),
        (
            lambda: metrics.normalized_margins([0, 1], [0.1, 0.2], labels=[1, 0]),
            ValueError,
            r"labels must be different and in ascending order; got \[1, 0\]",
        ),
        (
            lambda: metrics.normalized_margins([0, 1, 1], [0.1, 0.2]),
            ValueError,
            r"probability must have a row for each label in y; got shapes \(2,\) and \(3,\)",
        ),
        (lambda: metrics.drop(np.nan, 2.0), ValueError, "value must be finite; got nan"),
        (lambda: metrics.drop(1.0, [np.inf]), ValueError, "reference must be finite"),
        (lambda: metrics.drop(1.0, 2.0, -np.inf), ValueError, "floor must be finite"),
        (lambda: metrics.win_counts([["a"]]), ValueError, "scores must hold numbers: .*'a'"),
        (lambda: metrics.average_ranks([[None, {}]]), TypeError, "scores must hold numbers"),
        (
            lambda: metrics.quantized_cross_entropy([0.5], pseudo_count=0),
            ValueError,
            "pseudo_count must be above 0; got 0",
        ),
        (lambda: metrics.quantized_entropy(base=1), ValueError, "base must be above 1; got 1"),
        (
            lambda: metrics.normalized_margins([0, 1, 2], [0.1, 0.2, 0.3]),
            ValueError,
            r"each of the labels \[0, 1, 2\]",
        ),
        (
            lambda: metrics.normalized_margins([1, 1], [0.1, 0.2]),
            ValueError,
            r"each of the labels \[1\]",
        ),
        (
            lambda: metrics.normalized_margins([0, 3], [0.1, 0.2], labels=[0, 1]),
            ValueError,
            r"y must hold labels among \[0, 1\]; got .*3",
        ),
        (lambda: metrics.margin_distribution([]), ValueError, "margins must be finite numbers"),
        (lambda: metrics.margin_distribution([np.inf]), ValueError, "1 not finite"),
        (lambda: metrics.margin_distribution([0.1], 0.0), ValueError, "thresholds must be finite"),
        (lambda: metrics.drop(1.0, 2.0, 2.0), ValueError, "reference must be above floor"),
        (lambda: metrics.win_counts([1.0, 2.0]), ValueError, r"\(n_methods, n_datasets\)"),
        (lambda: metrics.average_ranks([[np.nan]]), ValueError, "1 not finite"),
        (
            lambda: metrics.win_counts([[1.0], [2.0]], rivals=[2]),
            ValueError,
            r"rivals\[0\] must be between 0 and 1; got 2",
        ),
        (lambda: metrics.win_counts([[1.0]], rivals=[]), ValueError, "rivals must not be empty"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


# -- ordered classes ------------------------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(n_classes=st.integers(2, 6), seed=st.integers(0, 1000))
def test_the_ranked_probability_score_is_its_double_sum(n_classes, seed):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(n_classes), size=7)
    y, weight = rng.integers(0, n_classes, 7), rng.integers(1, 4, 7)
    classes = np.arange(n_classes)
    total = 0.0
    for row, label, w in zip(p, y, weight, strict=True):
        for k in range(n_classes - 1):
            total += w * (sum(row[: k + 1]) - (label <= k)) ** 2 / (n_classes - 1)
    score = metrics.ranked_probability_score(y, p, classes=classes, sample_weight=weight)
    assert score == pytest.approx(total / weight.sum())
    names = np.array(list("fedcba"))[:n_classes]  # columns in another order than that of text
    assert metrics.ranked_probability_score(
        names[y], p, classes=names, sample_weight=weight
    ) == pytest.approx(score)
    if n_classes == 2:
        brier = np.average((p[:, 1] - y) ** 2, weights=weight)
        assert score == pytest.approx(brier)


def test_the_ranked_probability_score_refuses_other_columns():
    with pytest.raises(ValueError, match=r"a column for each of 3 classes"):
        metrics.ranked_probability_score([0, 1, 2], np.full((3, 2), 0.5))
    with pytest.raises(ValueError, match=r"y must hold labels among \[0, 1\]; got 2"):
        metrics.ranked_probability_score([0, 1, 2], np.full((3, 2), 0.5), classes=[0, 1])
