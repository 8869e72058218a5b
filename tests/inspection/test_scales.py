"""Test scales: the values for an otherwise average row, for any loss and number of classes."""

import pickle

import numpy as np
import pytest
from scipy.special import logit

import properboost as pb
from properboost.inspection.scales import check_scale

LOSSES = ["glog", "ggauss", "glaplacian", "gboost", "exponential", "savage", "alpha", "tangent"]
LOGISTIC = ["glog", "exponential", "savage", "alpha"]
SCALES = ["raw", "log_odds", "probability"]

every_loss = pytest.mark.parametrize("loss", LOSSES)
every_scale = pytest.mark.parametrize("scale", SCALES)


@pytest.fixture(scope="module")
def rows():
    """Return numbers with gaps and a category that unseen ones join; the last two interact."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).round(1)
    X[:, 1] = rng.integers(0, 4, 300)
    score = X[:, 0] + (X[:, 1] == 2) * X[:, 2] + rng.logistic(size=300) / 2
    X[::15, 0] = np.nan
    return X, score


def fit(rows, loss, n_classes=2, **settings):
    X, score = rows
    y = np.array(["a", "b", "c"])[np.digitize(score, [-0.5, 0.5] if n_classes == 3 else [0.0])]
    shared = {"n_estimators": 4, "gain": 2.0, "categorical_features": [1], "rows_per_bin": 10}
    return pb.ProperBoostClassifier(loss, **(shared | settings)).fit(X, y)


def of_class(model, X, contributions):
    """Return the probability of the class that each row explains, and of all classes."""
    p = model.predict_proba(X)
    labels = np.broadcast_to(contributions.class_label, len(X))
    return p[np.arange(len(X)), np.searchsorted(model.classes_, labels.astype(str))], p


def log_odds_of(p_class, p, *, against_others):
    """Return log p / (1 - p), or log p less the mean of the others' logarithms."""
    if not against_others:
        return logit(p_class)
    return np.log(p_class) - (np.log(p).sum(axis=1) - np.log(p_class)) / (p.shape[1] - 1)


# -- rows -----------------------------------------------------------------------------------------


@every_loss
@pytest.mark.parametrize("n_classes", [2, 3])
def test_totals_are_the_predictions(rows, loss, n_classes):
    model = fit(rows, loss, n_classes, gain=8.0, interactions=[(1, 2)])
    X, _ = rows
    for scale in SCALES:
        contributions = model.contributions(X, scale=scale)
        p_class, p = of_class(model, X, contributions)
        assert contributions.scale == scale
        if scale == "probability":
            np.testing.assert_allclose(contributions.total, p_class, rtol=1e-12)
        elif scale == "log_odds":
            softmax = model.multiclass_ == "softmax"
            expected = log_odds_of(p_class, p, against_others=softmax)
            np.testing.assert_allclose(contributions.total, expected, atol=1e-11)
            assert contributions.additive == (softmax or (n_classes == 2 and loss in LOGISTIC))
        if contributions.additive:
            sums = contributions.baseline + contributions.values.sum(axis=1)
            np.testing.assert_allclose(
                sums, contributions.total, atol=1e-12 * abs(contributions.values).max()
            )


@every_loss
@every_scale
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_term_alone_explains_the_whole_row(rows, loss, scale, n_classes):
    """With one feature, the row is the average row plus that feature."""
    X, score = rows
    model = fit((X[:, :1], score), loss, n_classes, categorical_features=None, gain=8.0)
    for label in model.classes_.tolist():
        contributions = model.contributions(X[:, :1], label, scale)
        np.testing.assert_allclose(
            contributions.baseline + contributions.values[:, 0], contributions.total, atol=1e-12
        )
        shape = model.shape_function(0, label, scale)
        assert (shape.scale, shape.class_label) == (scale, label)
        expected = {
            "raw": contributions.values[:, 0] + shape.average,
            "log_odds": contributions.values[:, 0],
            "probability": contributions.total,
        }[scale]
        np.testing.assert_allclose(shape(X[:, 0]), expected, atol=1e-12)
        np.testing.assert_allclose(shape.baseline, contributions.baseline, atol=1e-12)


def test_logistic_effects_are_raw_ones_divided_by_a_constant(rows):
    for loss, factor in (("glog", 1.0), ("exponential", 2.0), ("savage", 2.0)):
        model = fit(rows, loss, gain=3.0)
        raw, log_odds = (model.shape_function(0, scale=scale) for scale in ("raw", "log_odds"))
        # for exponential and savage, f* is half the log-odds, or that of the paper's gain 1
        ratio = (raw.values - raw.average)[0] / log_odds.values[0]
        np.testing.assert_allclose(ratio, model.loss_.link(0.75) / np.log(3.0))
        np.testing.assert_allclose(log_odds.values * ratio, raw.values - raw.average, atol=1e-12)
        assert ratio == pytest.approx(3.0 / factor)


def test_a_softmax_with_a_temperature_adds_up(rows):
    X, _ = rows
    model = fit(
        rows, "savage", 3, multiclass="one_vs_rest", calibration=pb.Calibration(temperature=1.7)
    )
    assert model.temperature_ == 1.7
    contributions = model.contributions(X, scale="log_odds")
    p_class, p = of_class(model, X, contributions)
    assert contributions.additive
    expected = log_odds_of(p_class, p, against_others=True)
    np.testing.assert_allclose(contributions.total, expected, atol=1e-12)
    np.testing.assert_allclose(
        contributions.baseline + contributions.values.sum(axis=1), expected, atol=1e-12
    )


def test_effects_of_all_classes_add_up_to_nothing_against_the_others(rows):
    model = fit(rows, "glog", 3)
    total = sum(model.shape_function(0, label, "log_odds").values for label in "abc")
    np.testing.assert_allclose(total, 0.0, atol=1e-12)


# -- functions ------------------------------------------------------------------------------------


@every_loss
@every_scale
@pytest.mark.parametrize("n_classes", [2, 3])
def test_functions_agree_with_rows(rows, loss, scale, n_classes):
    X, _ = rows
    model = fit(rows, loss, n_classes, interactions=[(1, 2)])
    rows_of_b = model.contributions(X, "b", scale)
    shift = rows_of_b.baseline if scale == "probability" else 0.0
    for j in range(3):
        shape = model.shape_function(j, "b", scale)
        expected = rows_of_b.values[:, j] + (shape.average if scale == "raw" else shift)
        np.testing.assert_allclose(shape(X[:, j]), expected, atol=1e-12)
        assert shape.additive == rows_of_b.additive
        if shape.additive and scale != "raw":
            weighted_sum = shape.weights @ shape.values + shape.missing_weight * shape.missing_value
            assert weighted_sum / 300 == pytest.approx(0.0, abs=1e-12)
    pair = model.term_function((1, 2), "b", scale)
    np.testing.assert_allclose(pair(X[:, 1], X[:, 2]), rows_of_b.values[:, 3] + shift, atol=1e-12)
    assert pair.average == pytest.approx(shift)
    assert pair.axis_label == shape.axis_label


@every_scale
def test_unseen_categories_have_nothing_of_a_table(rows, scale):
    """Their raw prediction comes from the tables of the other features alone."""
    X, score = rows
    model = fit((X[:, 1:2], score), "glog", categorical_features=[0])
    unseen = model.shape_function(0, scale=scale)([7.0])
    total = model.contributions([[7.0]], scale=scale)
    expected = {"raw": [0.0], "log_odds": total.values[:, 0], "probability": total.total}[scale]
    np.testing.assert_allclose(unseen, expected, atol=1e-12)


# -- intervals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["glog", "glaplacian", "savage"])
@every_scale
@pytest.mark.parametrize("n_classes", [2, 3])
def test_ends_of_intervals_are_turned_as_values_are(rows, loss, scale, n_classes):
    X, _ = rows
    model = fit(rows, loss, n_classes, outer_bags=4, interactions=[(1, 2)])
    contributions = model.contributions(X[:40], scale=scale)
    low, high = contributions.interval(0.8)
    assert (low <= contributions.values).all()
    assert (high >= contributions.values).all()
    assert (low < high).any()
    assert (contributions.standard_errors is None) == (not contributions.additive)
    for function in (model.shape_function(0, "b", scale), model.term_function((1, 2), "b", scale)):
        low, high = function.interval()
        assert (low <= function.values).all()
        assert (high >= function.values).all()
        assert function.within_noise in (True, False)
        assert (function.standard_errors is None) == (not function.additive)
    shape = model.shape_function(0, "b", scale)
    low, high = shape.missing_interval()
    assert low < shape.missing_value < high


@pytest.mark.parametrize("loss", LOSSES)
def test_ends_of_probabilities_are_those_of_raw_predictions(rows, loss):
    """For two classes, ends are the interval of raw predictions through the link."""
    model = fit(rows, loss, outer_bags=4)
    raw, p = model.shape_function(0), model.shape_function(0, scale="probability")
    baseline = raw.baseline - raw.average
    for end, expected in zip(p.interval(), raw.interval(), strict=True):
        np.testing.assert_allclose(end, model.loss_.probability(baseline + expected), atol=1e-12)
    ends = [model.loss_.probability(baseline + end) for end in raw.missing_interval()]
    np.testing.assert_allclose(p.missing_interval(), ends, atol=1e-12)
    other = model.shape_function(0, "a", "probability")
    np.testing.assert_allclose(other.values, 1.0 - p.values, atol=1e-12)
    np.testing.assert_allclose(other.interval()[0], 1.0 - p.interval()[1], atol=1e-12)


def test_standard_errors_of_a_softmax_are_those_of_what_is_added(rows):
    """The standard errors are those of each bag's effects in log-odds."""
    model = fit(rows, "glog", 3, outer_bags=4)
    shape = model.shape_function(0, "b", "log_odds")
    bags = []
    for bag in model.ensemble_.standard_errors.bags:
        alone = pb.ProperBoostClassifier(weak_learner="table")
        alone.__dict__.update(model.__dict__, ensemble_=bag)
        bags.append(alone.shape_function(0, "b", "log_odds").values)
    np.testing.assert_allclose(
        model.ensemble_.standard_errors.of(bags), shape.standard_errors, atol=1e-12
    )


# -- classes and errors ---------------------------------------------------------------------------


def test_without_a_class_a_function_has_the_one_it_moves_most(rows):
    model = fit(rows, "glog", 3, interactions=[(1, 2)])
    for ask in (lambda c: model.shape_function(0, c), lambda c: model.term_function((1, 2), c)):
        sizes = {}
        for label in "abc":
            function = ask(label)
            sizes[label] = np.sum(function.weights * abs(function.values - function.average))
        assert ask(None).class_label == max(sizes, key=sizes.get)


def test_unknown_scales_are_named(rows):
    model = fit(rows, "glog", interactions=[(1, 2)])
    for ask in (
        lambda scale: model.shape_function(0, scale=scale),
        lambda scale: model.term_function((1, 2), scale=scale),
        lambda scale: model.contributions(rows[0], scale=scale),
        check_scale,
    ):
        with pytest.raises(
            ValueError, match=r"scale must be one of 'raw', 'log_odds', .*; got 'F'"
        ):
            ask("F")
        with pytest.raises(TypeError, match="scale must be one of"):
            ask(None)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_axes_are_labelled_with_their_scale(rows, n_classes):
    logistic, other = fit(rows, "glog", n_classes), fit(rows, "ggauss", n_classes)
    against = "\nagainst the others" if n_classes == 3 else ""
    labels = [
        model.shape_function(0, "b", scale).axis_label
        for model, scale in ((logistic, "raw"), (logistic, "log_odds"), (other, "log_odds"))
    ]
    assert labels == [
        "added to F of b",
        f"added to the log-odds of b{against}",
        "change of the log-odds of b\nat the average row",
    ]
    p = logistic.shape_function(0, "b", "probability").axis_label
    assert p == "probability of b,\nthe rest average"
    change = logistic.contributions(rows[0], "b", "probability").axis_label
    assert change == "change of the probability of b\nat the average row"


def test_what_is_explained_can_be_pickled(rows):
    model = fit(rows, "ggauss", 3, outer_bags=4, interactions=[(1, 2)])
    for explained in (
        model.shape_function(0, scale="log_odds"),
        model.term_function((1, 2), scale="log_odds"),
        model.contributions(rows[0], scale="log_odds"),
    ):
        loaded = pickle.loads(pickle.dumps(explained))
        np.testing.assert_array_equal(loaded.values, explained.values)
        np.testing.assert_array_equal(loaded.interval(), explained.interval())
