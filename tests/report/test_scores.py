"""Scores, calibration and reliability agree with scikit-learn, and intervals have coverage."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, confusion_matrix, log_loss, roc_auc_score

from properboost import LeastCostClassifier
from properboost.report import scores
from properboost.report.scores import evaluate


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr(scores, "MOST_RESAMPLES", 99)
    monkeypatch.setattr(scores, "FEWEST_RESAMPLES", 99)


def two_classes(n, seed, slope=1.0, shift=0.0):
    """Draw probabilities; the true log-odds are theirs times the slope, plus the shift."""
    rng = np.random.default_rng(seed)
    z = 1.5 * rng.normal(size=n).round(2)
    codes = (rng.random(n) < 1.0 / (1.0 + np.exp(-slope * z - shift))).astype(np.intp)
    p = 1.0 / (1.0 + np.exp(-z))
    return np.stack([1.0 - p, p], axis=1), codes, z


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_scikit_learns(weighted):
    probability, codes, z = two_classes(400, 0, slope=0.6)
    weight = np.random.default_rng(1).integers(1, 4, 400).astype(float) if weighted else None
    predicted = probability.argmax(axis=1)
    evaluation = evaluate(probability, codes, predicted, weight)
    weighting = {"sample_weight": weight}
    expected = {
        "error": np.average(predicted != codes, weights=weight),
        "log_loss": log_loss(codes, probability, **weighting),
        "brier": brier_score_loss(codes, probability[:, 1], **weighting),
        "auc": roc_auc_score(codes, probability[:, 1], **weighting),
    }
    for name, value in expected.items():
        score = evaluation.scores[name]
        assert score.model.value == pytest.approx(value, rel=1e-12)
        assert score.model.low < value < score.model.high
    share = np.average(codes, weights=weight)
    constant = np.tile([1.0 - share, share], (400, 1))
    loss = evaluation.scores["log_loss"]
    assert loss.constant == pytest.approx(log_loss(codes, constant, **weighting), rel=1e-12)
    assert loss.saving.value == pytest.approx(loss.constant - loss.model.value, rel=1e-12)
    assert evaluation.scores["auc"].saving.value == pytest.approx(expected["auc"] - 0.5, rel=1e-12)
    np.testing.assert_array_equal(
        evaluation.confusion, confusion_matrix(codes, predicted, **weighting)
    )

    fit = LogisticRegression(C=np.inf, tol=1e-10).fit(z[:, None], codes, sample_weight=weight)
    reliability = evaluation.reliability
    assert reliability.slope.value == pytest.approx(fit.coef_[0, 0], rel=1e-4)
    assert reliability.intercept.value == pytest.approx(fit.intercept_[0], abs=1e-4)
    assert reliability.slope.is_off(1.0)  # the truth is 0.6
    assert reliability.slope.high < 1.0


def test_scores_of_several_classes():
    rng = np.random.default_rng(0)
    probability = rng.dirichlet(np.ones(4), 300)
    codes = np.array([rng.choice(4, p=p) for p in probability])
    predicted = probability.argmax(axis=1)
    evaluation = evaluate(probability, codes, predicted)
    assert evaluation.scores["log_loss"].model.value == pytest.approx(log_loss(codes, probability))
    auc = roc_auc_score(codes, probability, multi_class="ovr")
    assert evaluation.scores["auc"].model.value == pytest.approx(auc)
    brier = np.mean(np.sum((probability - np.eye(4)[codes]) ** 2, axis=1))
    assert evaluation.scores["brier"].model.value == pytest.approx(brier)
    assert evaluation.reliability.intercept is None
    assert not evaluation.reliability.slope.is_off(1.0)
    assert evaluation.reliability.observed == pytest.approx(np.mean(predicted == codes))
    np.testing.assert_array_equal(evaluation.confusion, confusion_matrix(codes, predicted))
    # Where all log-odds are doubled, half the slope is right.
    doubled = probability**2 / np.sum(probability**2, axis=1, keepdims=True)
    half = evaluate(doubled, codes, predicted).reliability.slope
    assert half.value == pytest.approx(evaluation.reliability.slope.value / 2.0, rel=1e-6)


def test_intervals_have_about_their_nominal_coverage(monkeypatch):
    monkeypatch.setattr(scores, "MOST_RESAMPLES", 39)
    monkeypatch.setattr(scores, "FEWEST_RESAMPLES", 39)
    truth, hits = 0.0, 0
    for seed in range(25):
        probability, codes, _ = two_classes(150, seed)
        bias = evaluate(probability, codes, codes, confidence_level=0.8).reliability.bias
        hits += bias.low <= truth <= bias.high
    # With these limits, one such test in 10,000 fails at random.
    low, high = stats.binom.ppf([5e-5, 1.0 - 5e-5], 25, 0.8)
    assert low <= hits <= high


def test_reliability_is_by_tenths():
    probability, codes, _ = two_classes(300, 3)
    evaluation = evaluate(probability, codes, codes)
    bins, p = evaluation.reliability.bins, probability[:, 1]
    assert sum(tenth.weight for tenth in bins) == 300
    for tenth in bins:
        rows = (p >= tenth.low) & ((p < tenth.high) | (tenth.high == 1.0))
        assert tenth.weight == rows.sum()
        assert tenth.predicted == pytest.approx(p[rows].mean())
        assert tenth.observed.value == pytest.approx(codes[rows].mean())
        test = stats.binomtest(int(codes[rows].sum()), int(rows.sum()))
        wilson = test.proportion_ci(0.9, "wilson")
        assert (tenth.observed.low, tenth.observed.high) == pytest.approx((wilson.low, wilson.high))


def test_limits_have_their_costs():
    probability, codes, _ = two_classes(300, 5)
    weight = np.arange(1.0, 301.0)
    p = probability[:, 1]
    limits = evaluate(probability, codes, (p > 0.5).astype(int), weight).limits
    assert [limit.at for limit in limits] == pytest.approx(np.arange(1, 10) / 10)
    for limit in limits:
        called = (p > limit.at).astype(int)
        (right, false), (missed, hit) = confusion_matrix(codes, called, sample_weight=weight)
        assert limit.called == pytest.approx((false + hit) / weight.sum())
        assert limit.missed == pytest.approx(missed / (missed + hit))
        assert limit.false_alarms == pytest.approx(false / (right + false))
        assert limit.wrong == pytest.approx((false + missed) / weight.sum())
    at_half = evaluate(probability, codes, np.ones(300, dtype=int)).limits[4]
    assert (at_half.called, at_half.missed) == (1.0, 0.0)  # what was predicted counts
    assert np.isnan(evaluate(probability, np.ones(300, dtype=int), codes).limits[0].false_alarms)
    assert evaluate(np.full((6, 3), 1 / 3), np.arange(6) % 3, np.zeros(6, dtype=int)).limits == ()


@pytest.mark.parametrize("several", [False, True])
def test_costs_of_decisions_are_those_of_the_classifier(several):
    """The judge is `LeastCostClassifier`, around a model that returns its table."""

    class Table(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
            return self

        def predict_proba(self, X):
            return X

    rng = np.random.default_rng(3)
    n_classes = 3 if several else 2
    probability = rng.dirichlet(np.full(n_classes, 0.7), 400)
    codes = np.array([rng.choice(n_classes, p=p) for p in probability])
    weight = rng.integers(1, 4, 400).astype(float)
    table = Table().fit(probability, codes)
    matrix = rng.uniform(0.0, 5.0, (n_classes, n_classes)) + 1.0
    np.fill_diagonal(matrix, 0.5)
    predicted = probability.argmax(axis=1)
    evaluation = evaluate(probability, codes, predicted, weight, costs=matrix)
    costs, classifier = evaluation.costs, LeastCostClassifier(table, matrix)
    least = classifier.mean_cost(probability, codes, sample_weight=weight)
    usual = np.average(matrix[codes, predicted], weights=weight)
    assert costs.least.value == pytest.approx(least)
    assert costs.most_probable.value == pytest.approx(usual)
    assert costs.saving.value == pytest.approx(usual - least)
    assert costs.saving.low < costs.saving.value < costs.saving.high
    always = [np.average(matrix[codes, k], weights=weight) for k in range(n_classes)]
    assert costs.constant == pytest.approx(min(always))
    assert costs.constant_class == np.argmin(always)
    assert evaluation.ratios == ()
    if several:
        assert costs.limit is None
    else:
        assert costs.limit.cost == pytest.approx(least)
        assert costs.limit in evaluation.limits
        half = next(limit for limit in evaluation.limits if limit.at == 0.5)
        assert half.cost == pytest.approx(usual)
    # Costs draw no other rows: the scores have the bits of an evaluation without.
    assert evaluate(probability, codes, predicted, weight).scores == evaluation.scores


def test_limits_follow_from_the_ratio_of_costs():
    probability, codes, _ = two_classes(500, 4)
    evaluation = evaluate(probability, codes, probability.argmax(axis=1))
    assert evaluation.costs is None
    for one in evaluation.ratios:
        called = probability[:, 1] >= 1.0 / (1.0 + one.ratio)
        paid = one.ratio * np.mean(~called & (codes == 1)) + np.mean(called & (codes == 0))
        assert one.limit.at == pytest.approx(1.0 / (1.0 + one.ratio))
        assert one.limit.cost == pytest.approx(paid)
        at_half = evaluate(
            probability, codes, probability.argmax(axis=1), costs=np.array([[0, 1], [one.ratio, 0]])
        ).costs.most_probable.value
        assert one.relative_cost == pytest.approx(paid / at_half)
    ratios = [one.ratio for one in evaluation.ratios]
    assert ratios == sorted(ratios)
    perfect = evaluate(np.eye(2)[codes], codes, codes)
    assert all(np.isnan(one.relative_cost) for one in perfect.ratios)


def test_a_limit_of_costs_at_a_tenth_is_listed_once():
    probability, codes, _ = two_classes(300, 5)
    predicted = probability.argmax(axis=1)
    for ratio, at in ((4.0, 0.2), (1.0, 0.5)):
        limits = evaluate(
            probability, codes, predicted, costs=np.array([[0, 1.0], [ratio, 0]])
        ).limits
        assert [limit.at for limit in limits] == pytest.approx(np.arange(1, 10) / 10)
        assert sum(limit.at == at for limit in limits) == 1


def test_unknowable_scores_are_left_out():
    # Probabilities that separate the classes have no calibration, and one row has no interval.
    codes = np.array([0, 0, 1, 1])
    apart = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]])
    evaluation = evaluate(apart, codes, codes)
    assert not evaluation.reliability.slope.is_known
    assert evaluation.scores["auc"].model.value == 1.0
    assert not evaluate(apart[:1], codes[:1], codes[:1]).scores["log_loss"].model.is_known
    assert np.isnan(evaluate(apart[:2], codes[:2], codes[:2]).scores["auc"].model.value)


def test_draws_are_the_seeds():
    probability, codes, _ = two_classes(100, 5)
    first, again, other = (
        evaluate(probability, codes, codes, random_state=seed).scores["log_loss"].model
        for seed in (0, 0, 1)
    )
    assert first == again != other


def test_what_was_missed_and_kept_is_by_class():
    codes, predicted = np.array([0, 0, 1, 1, 1, 2]), np.array([0, 1, 1, 1, 0, 1])
    probability = np.full((6, 3), 0.1)
    probability[np.arange(6), predicted] = 0.8
    weight = np.array([1.0, 3.0, 1.0, 1.0, 2.0, 1.0])
    evaluation = evaluate(probability, codes, predicted, weight)
    assert [estimate.value for estimate in evaluation.missed] == pytest.approx([0.75, 0.5, 1.0])
    assert [estimate.value for estimate in evaluation.precision[:2]] == pytest.approx(
        [1.0 / 3.0, 2.0 / 6.0]
    )
    assert not evaluation.precision[2].is_known  # nothing was called so
