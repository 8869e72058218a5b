"""Test that sample weights of any size are frequencies, with a warning where that is unlikely."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import properboost as pb
from properboost import _core
from properboost.data.weights import read_training_weights, scale_factors

HARDLY_MEANT = "a weight is a number of equal rows.*normalize_weights=True"

SEARCH = {"cv": 2}
SEARCH_SPACE = {"n_estimators": 8}
CONFIGURATIONS = [
    *(
        pb.ProperBoostClassifier(n_estimators=20, weak_learner=learner, **settings)
        for learner in ("table", "stump", "tree", "rule")
        for settings in (
            {},
            {"response": "newton", "l2": 1.0},
            {"response": "exact"},
            {"loss": "savage", "step": "unit"},
        )
    ),
    pb.ProperBoostClassifier(n_estimators=20, response="sign", weak_learner="table"),
    pb.ProperBoostClassifier(
        n_estimators=20, selection="cyclic", class_weight="balanced", weak_learner="table"
    ),
    pb.ProperBoostClassifier(n_estimators=20, interactions=2, weak_learner="table"),
    pb.ProperBoostClassifier(n_estimators=20, prior=1e-3, weak_learner="table"),
    pb.ProperBoostClassifier(n_estimators=20, rows_per_bin=None, weak_learner="table"),
    pb.ProperBoostClassifierCV(space={**SEARCH_SPACE, "gain": [1.0, 2.0]}, **SEARCH, effort=None),
    pb.ProperBoostClassifierCV(
        space={**SEARCH_SPACE, "gain": [1.0, 2.0], "weak_learner": "tree"}, **SEARCH, effort=None
    ),
    pb.ARBoostClassifier(n_estimators=10),
    pb.ARBoostClassifier(n_estimators=10, weak_learner="tree"),
    pb.ARBoostClassifierCV([1.0, 2.0], cv=2, n_estimators=5),
    pb.UDTClassifier(),
    pb.UDTClassifier("entropy", max_leaf_nodes=None),
    pb.CART(),
    pb.LogitBoost(n_estimators=10),
]
"""All estimators and searches: thirty of them."""


def probability(model, X, y, weight=None):
    return clone(model).fit(X, y, sample_weight=weight).predict_proba(X)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (400, 4))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + 0.3 * rng.normal(size=400) > 0


@pytest.mark.parametrize("model", CONFIGURATIONS, ids=str)
def test_weights_that_sum_to_1_are_warned_of_and_can_be_scaled(model, data):
    X, y = data
    weight = np.full(len(y), 1 / len(y))
    plain = clone(model).fit(X, y)
    with pytest.warns(UserWarning, match="400 rows count as 1: " + HARDLY_MEANT):
        clone(model).fit(X, y, sample_weight=weight)
    scaled = clone(model).set_params(normalize_weights=True).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(plain.predict_proba(X), scaled.predict_proba(X))


@pytest.mark.parametrize("exponent", [-323, -310, -300, -100, -12, -3, -1, 1, 3, 12, 100, 300, 308])
@pytest.mark.parametrize("learner", ["table", "stump", "tree", "rule"])
def test_uniform_weights_of_any_size_are_as_good_as_none_or_warned_of(exponent, learner):
    X, y = np.random.default_rng(1).normal(size=(600, 3)), None
    y = X[:, 0] + X[:, 1] * X[:, 2] > 0
    X, held_out, y, labels = train_test_split(X, y, random_state=0)
    weight = np.full(len(y), 10.0**exponent)
    model = pb.ProperBoostClassifier(n_estimators=20, weak_learner=learner)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        weighted = clone(model).fit(X, y, weight).predict_proba(held_out)
    assert np.isfinite(weighted).all()
    plain = log_loss(labels, model.fit(X, y).predict_proba(held_out))
    assert warned or log_loss(labels, weighted) <= 1.1 * plain
    scaled = clone(model).set_params(normalize_weights=True).fit(X, y, weight)
    np.testing.assert_array_equal(scaled.predict_proba(held_out), model.predict_proba(held_out))


@pytest.mark.parametrize(
    "weight",
    [
        np.ones(5),
        np.full(5, 1.0) * (np.arange(5) > 1),
        np.array([0.4, 1.0, 1.7, 0.2, 2.0]),
        np.array([12.0, 3.0, 40.0, 7.0, 1.0]),  # these may be counts
    ],
)
def test_weights_that_may_be_counts_pass_in_silence(weight):
    weights = read_training_weights(weight, np.zeros(5), False)
    np.testing.assert_array_equal(1.0 if weights is None else weights, weight)


LABELS = np.array([0, 0, 1, 1, 1])


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("weight", "counts"),
    [
        ([12, 3, 40, 7, 1], True),  # the mean is 12.6
        ([22, 13, 40, 17, 8], True),  # the mean is 20
        ([22, 13, 40, 17, 9], False),  # the mean is above 20
        ([12285, 190000, 1484705, 43000, 77000], False),  # weights of a survey
        ([2, 2, 9, 9, 9], False),  # weights of classes
        ([0, 2, 9, 9, 9], False),
        ([2, 3, 9, 9, 9], True),
    ],
)
def test_large_weights_are_warned_of_unless_they_may_be_counts(weight, counts, whole):
    """The sum over the number of rows decides; the type of the weights hardly matters."""
    weight = np.array(weight) if whole else np.array(weight) * 1.01
    if counts and whole:
        assert read_training_weights(weight, LABELS, False) is not None
        return
    with pytest.warns(UserWarning, match=HARDLY_MEANT) as heard:
        weights = read_training_weights(weight, LABELS, False)
    np.testing.assert_array_equal(weights, weight)
    assert ("If they are counts of rows" in str(heard[0].message)) == whole
    assert read_training_weights(weight, LABELS, True).mean() <= 1.0 + 1e-12


@given(
    weight=st.lists(st.integers(0, 40), min_size=5, max_size=5),
    factor=st.sampled_from([1, 7, 10**5]),
    kind=st.sampled_from([np.int64, np.uint32, np.float32, np.float64]),
)
def test_the_type_of_weights_makes_no_difference(weight, factor, kind):
    weight = np.array(weight) * factor
    assume(weight.any())
    heard = []
    for typed in (weight.astype(kind), weight.astype(np.float64)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            weights = read_training_weights(typed, LABELS, False)
        np.testing.assert_array_equal(1.0 if weights is None else weights, weight)
        heard.append([str(one.message) for one in caught])
    assert heard[0] == heard[1]
    mean = weight.sum() / np.count_nonzero(weight)
    assert heard[0] or mean <= 20.0


def test_counts_are_the_rows_again_however_many(data):
    X, y = data
    X = np.rint(X)
    rows, codes = np.unique(np.column_stack([X, y]), axis=0, return_inverse=True)
    count = np.bincount(codes) * 5
    model = pb.ProperBoostClassifier(n_estimators=20, rows_per_bin=None, weak_learner="table")
    again = np.repeat(rows, count, axis=0)
    expected = model.fit(again[:, :4], again[:, 4]).predict_proba(X)
    assert 3.0 < count.mean() <= 20.0
    probability = model.fit(rows[:, :4], rows[:, 4], count).predict_proba(X)  # no warning comes
    np.testing.assert_allclose(probability, expected, rtol=1e-6)


def test_uniform_weights_of_some_rows_are_ones(data):
    X, y = data
    counted = np.arange(len(y)) % 3 > 0
    model = pb.ProperBoostClassifier(n_estimators=5, normalize_weights=True, weak_learner="table")
    actual = model.fit(X, y, 7.0 * counted).predict_proba(X)
    np.testing.assert_array_equal(actual, model.fit(X[counted], y[counted]).predict_proba(X))


@given(st.lists(st.just(0.0) | st.floats(5e-324, 1.7e308), min_size=1, max_size=9))
@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
def test_any_weights_keep_their_ratios_far_from_the_ends_of_the_range(weights):
    weight = np.array(weights)
    assume(weight.any())
    for normalize in (False, True):
        scaled = read_training_weights(weight, weight, normalize)
        scaled = np.ones(len(weight)) if scaled is None else scaled
        mean = scaled.sum() / np.count_nonzero(weight)
        if normalize:
            assert mean == pytest.approx(1.0, rel=1e-15)
        else:
            assert 2.0**-102 <= mean <= 2.0**102
        shares, expected = (w / w.max() / (w / w.max()).sum() for w in (scaled, weight))
        np.testing.assert_allclose(shares, expected, rtol=1e-14, atol=1e-200)


def test_the_largest_weights_are_not_lost(data):
    """Sums of weights that overflow once left features a single bin."""
    X, _ = data
    ratio = np.random.default_rng(0).uniform(0.5, 1.5, len(X))
    usual = _core.find_edges(X, ratio, 20)
    for scale in (2.0**-1020, 2.0**1022, 1.1e308):
        edges = _core.find_edges(X, ratio * scale, 20)
        for ours, theirs in zip(edges, usual, strict=True):
            assert len(ours) == 19
            if scale != 1.1e308:
                np.testing.assert_array_equal(ours, theirs)
    beside_one = np.where(np.arange(len(X)) == 7, 1e300, 1e-300)
    assert all(len(edges) == 19 for edges in _core.find_edges(X, beside_one, 20))


def test_weights_too_small_beside_others_do_not_count(data):
    X, y = data
    weight = np.where(y, 1e-300, 1e300)
    with (
        pytest.warns(UserWarning, match="sample_weight has a mean"),
        pytest.raises(ValueError, match="two classes among the rows of positive weight"),
    ):
        pb.ProperBoostClassifier(weak_learner="table").fit(X, y, weight)


def test_factors_may_make_rows_count_for_next_to_nothing():
    factor, totals = np.array([1e-200, 3e-200]), np.array([10.0, 20.0])
    with pytest.warns(UserWarning, match="count 2.33e-200 times as often"):
        assert scale_factors(factor, totals, False) is factor
    for wrong, total in ((0.0, "0.0"), (np.inf, "inf")):
        with pytest.raises(ValueError, match=f"must have a positive finite sum; got {total}"):
            scale_factors(np.array([wrong, wrong]), totals, False)


def test_factors_of_classes(data):
    X, y = data
    plain = probability(pb.ProperBoostClassifier(n_estimators=5, weak_learner="table"), X, y)
    for factor in (1e-3, 500.0):
        both = pb.ProperBoostClassifier(
            n_estimators=5, class_weight={False: factor, True: factor}, weak_learner="table"
        )
        with pytest.warns(UserWarning, match=f"count {factor:g} times as often.*normalize_weights"):
            both.fit(X, y)
        both.set_params(normalize_weights=True)
        np.testing.assert_array_equal(probability(both, X, y), plain)
    rare = pb.ProperBoostClassifier(
        n_estimators=5, class_weight={False: 1.0, True: 4.0}, weak_learner="table"
    )
    probability(rare, X, y)  # no warning
    rare.set_params(class_weight={False: 1.0, True: 50.0})
    with pytest.warns(UserWarning, match="count 26.* times as often.*normalize_weights"):
        rare.fit(X, y)
    rare.set_params(normalize_weights=True, rows_per_bin=None)
    factor = np.where(y, 50.0, 1.0)
    by_hand = pb.ProperBoostClassifier(n_estimators=5, rows_per_bin=None, weak_learner="table")
    np.testing.assert_allclose(
        probability(rare, X, y), probability(by_hand, X, y, factor / factor.mean()), rtol=1e-6
    )
    rare.set_params(normalize_weights=False, class_weight={False: 1e308, True: 1e308})
    message = "sample_weight, times class_weight, must have a positive finite sum; got inf"
    with pytest.raises(ValueError, match=message):
        rare.fit(X, y)
