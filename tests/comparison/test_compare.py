"""Test `compare`: scores are scikit-learn's, and intervals those of plain references."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import properboost as pb
from properboost.comparison.compare import compare_predictions
from properboost.comparison.scores import Predictions

NAMES = ("first", "second")
SCORES = ["log_loss", "brier_score", "error_rate", "roc_auc"]


def draw(n, seed, slopes=(1.0, 0.6)):
    """Draw the predictions of two models, and the classes."""
    rng = np.random.default_rng(seed)
    z = 1.5 * rng.normal(size=n)
    codes = (rng.random(n) < 1.0 / (1.0 + np.exp(-z))).astype(np.intp)
    pair = []
    for slope in slopes:
        p = 1.0 / (1.0 + np.exp(-slope * z - 0.5 * rng.normal(size=n)))
        pair.append(Predictions(np.stack([1.0 - p, p], axis=1), (p > 0.5).astype(np.intp)))
    return pair, codes


def compare(pair, codes, **options):
    options = {
        "sample_weight": None,
        "groups": None,
        "n_disagreements": 3,
        "confidence_level": 0.95,
    } | options
    return compare_predictions(NAMES, pair, np.arange(2), codes, **options)


def score_all(predictions, codes, weight=None):
    p = predictions.probability[:, 1]
    return np.array(
        [
            log_loss(codes, p, sample_weight=weight),
            brier_score_loss(codes, p, sample_weight=weight),
            np.average(predictions.predicted != codes, weights=weight),
            roc_auc_score(codes, p, sample_weight=weight),
        ]
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_scikit_learns(weighted):
    pair, codes = draw(300, 0)
    weight = np.random.default_rng(1).integers(0, 4, 300).astype(float) if weighted else None
    result = compare(pair, codes, sample_weight=weight)
    assert [*result.contrasts] == SCORES
    first, second = (score_all(each, codes, weight) for each in pair)
    np.testing.assert_allclose(result.scores["first"], first, rtol=1e-12)
    np.testing.assert_allclose(result.scores["difference"], second - first, atol=1e-12)
    assert result.n_rows == (300 if weight is None else np.count_nonzero(weight))


def area(p, codes):
    ranks, positive = stats.rankdata(p), codes == 1
    n = np.count_nonzero(positive)
    return (ranks[positive].sum() - n * (n + 1) / 2) / n / (len(codes) - n)


def test_intervals_are_near_a_paired_bootstraps():
    n, rng = 1500, np.random.default_rng(2)
    pair, codes = draw(n, 3)
    result = compare(pair, codes)
    p, wrong = (
        np.stack([each.probability[:, 1] for each in pair]),
        np.stack([each.predicted != codes for each in pair]),
    )
    of_rows = [-np.log(np.where(codes == 1, p, 1.0 - p)), (p - codes) ** 2, wrong]
    of_rows = np.array([second - 1.0 * first for first, second in of_rows])
    drawn = []
    for _ in range(4000):
        rows = rng.integers(0, n, n)
        areas = [area(q[rows], codes[rows]) for q in p]
        drawn.append([*of_rows[:, rows].mean(axis=1), areas[1] - areas[0]])
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    # The ends of 4000 resamples are themselves uncertain by 1.1% of the width (one deviation).
    reach = 0.05 * (high - low)
    assert np.all(np.abs(result.scores["low"] - low) < reach)
    assert np.all(np.abs(result.scores["high"] - high) < reach)


def test_means_have_the_paired_t_interval():
    pair, codes = draw(200, 4)
    result = compare(pair, codes, confidence_level=0.8)
    losses = [-np.log(each.probability[np.arange(200), codes]) for each in pair]
    expected = stats.ttest_rel(losses[1], losses[0]).confidence_interval(0.8)
    difference = result.contrasts["log_loss"].difference
    assert (difference.low, difference.high) == pytest.approx((expected.low, expected.high))


def test_areas_have_delongs_error():
    pair, codes = draw(150, 5)
    positive, negative = codes == 1, codes == 0
    placements = []
    for each in pair:
        p = each.probability[:, 1].round(1)  # with ties
        above = (p[positive][:, None] > p[negative]) + 0.5 * (p[positive][:, None] == p[negative])
        placements.append((above.mean(axis=1), above.mean(axis=0)))
    of_positive, of_negative = (second - first for first, second in zip(*placements, strict=True))
    m, n = len(of_positive), len(of_negative)
    variance = of_positive.var() / m + of_negative.var() / n
    rounded = [Predictions(each.probability.round(1), each.predicted) for each in pair]
    difference = compare(rounded, codes).contrasts["roc_auc"].difference
    assert difference.value == pytest.approx(of_positive.mean())
    reach = stats.t.ppf(0.975, 149) * np.sqrt(variance * 150 / 149)
    assert difference.high - difference.value == pytest.approx(reach)


def test_the_slopes_error_is_the_robust_one_of_a_logistic_regression():
    pair, codes = draw(400, 6)
    slope = compare(pair, codes).calibrations["slope"].first
    p = pair[0].probability[:, 1]
    z = np.stack([np.log(p / (1.0 - p)), np.ones(400)], axis=1)
    fit = LogisticRegression(C=np.inf, tol=1e-10).fit(z[:, :1], codes)
    assert slope.value == pytest.approx(fit.coef_[0, 0], rel=1e-4)
    q = fit.predict_proba(z[:, :1])[:, 1]
    bread = np.linalg.inv((z * (q * (1.0 - q))[:, None]).T @ z)
    meat = (z * ((codes - q) ** 2)[:, None]).T @ z
    error = np.sqrt((bread @ meat @ bread)[0, 0] * 400 / 399)
    reach = stats.t.ppf(0.975, 399) * error
    assert slope.high - slope.value == pytest.approx(reach, rel=1e-3)


@settings(deadline=None, max_examples=20)
@given(n=st.integers(8, 40), seed=st.integers(0, 99), times=st.integers(2, 4))
def test_copies_of_rows_in_groups_are_no_evidence(n, seed, times):
    pair, codes = draw(n, seed)
    if len(set(codes.tolist())) < 2:
        return
    once = compare(pair, codes).scores
    copies = [
        Predictions(np.repeat(each.probability, times, axis=0), np.repeat(each.predicted, times))
        for each in pair
    ]
    labels = np.repeat(codes, times)
    grouped = compare(copies, labels, groups=np.repeat(np.arange(n), times))
    assert (grouped.n_rows, grouped.n_units) == (n * times, n)
    for column in ("first", "difference", "low", "high"):
        np.testing.assert_allclose(grouped.scores[column], once[column], atol=1e-12)
    alone = compare(copies, labels).scores
    assert np.all(alone["high"] - alone["low"] <= once["high"] - once["low"])


@settings(deadline=None, max_examples=20)
@given(n=st.integers(8, 60), seed=st.integers(0, 99))
def test_the_second_against_the_first_is_the_opposite(n, seed):
    pair, codes = draw(n, seed)
    one, other = compare(pair, codes), compare(pair[::-1], codes)
    np.testing.assert_allclose(one.scores["difference"], -other.scores["difference"], atol=1e-12)
    np.testing.assert_allclose(one.scores["low"], -other.scores["high"], atol=1e-12)
    np.testing.assert_array_equal(one.decisions, other.decisions.T)
    np.testing.assert_array_equal(one.disagreements["row"], other.disagreements["row"])


def test_the_better_model_is_named_by_the_direction_of_the_score():
    pair, codes = draw(3000, 7, slopes=(0.2, 1.0))
    assert compare(pair, codes).scores["better"].tolist() == ["second"] * 4
    assert compare(pair[::-1], codes).scores["better"].tolist() == ["first"] * 4
    assert compare([pair[0], pair[0]], codes).scores["better"].tolist() == ["unclear"] * 4


def test_disagreements_are_the_rows_that_differ_most():
    pair, codes = draw(100, 8)
    weight = np.ones(100)
    distances = np.abs(pair[0].probability - pair[1].probability)[:, 1]
    weight[distances.argmax()] = 0.0
    result = compare(pair, codes, sample_weight=weight)
    top = np.argsort(-distances)[1:4]
    np.testing.assert_array_equal(result.disagreements["row"], top)
    np.testing.assert_allclose(result.disagreements["distance"], distances[top])
    np.testing.assert_array_equal(result.disagreements["class"], codes[top])
    p = pair[1].probability[top, codes[top]]
    np.testing.assert_allclose(result.disagreements["p_second"], p)
    assert result.mean_distance == pytest.approx(np.average(distances, weights=weight))
    right = [each.predicted == codes for each in pair]
    only_second = np.sum((~right[0] & right[1])[weight > 0.0])
    assert result.decisions[0, 1] == only_second
    assert f"only second in {only_second / 99:.2%}" in str(result)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return train_test_split(X, y, random_state=0)


def test_models_of_other_libraries(cancer):
    X, X_test, y, y_test = cancer
    linear = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    tables = pb.ProperBoostClassifier(n_jobs=1, weak_learner="table").fit(X, y)
    result = pb.compare({"linear": linear, "tables": tables}, X_test, y_test)
    assert result.contrasts["log_loss"].first.value == pytest.approx(
        log_loss(y_test, linear.predict_proba(X_test))
    )
    assert str(result).splitlines()[0].split()[1:3] == ["linear", "tables"]


def test_several_classes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = np.array(["a", "b", "c"])[y]
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    pair = [
        LogisticRegression(max_iter=1000).fit(X, y),
        pb.ProperBoostClassifier(n_jobs=1, weak_learner="table").fit(X, y),
    ]
    result = pb.compare(pair, X_test, y_test)
    p = pair[1].predict_proba(X_test)
    expected = roc_auc_score(y_test, p, multi_class="ovr")
    assert result.contrasts["roc_auc"].second.value == pytest.approx(expected)
    assert [*result.calibrations] == ["bias", "slope"]
    assert set(result.disagreements["class"].tolist()) <= {"a", "b", "c"}


def test_rows_of_one_class_have_no_area(cancer):
    X, X_test, y, y_test = cancer
    model = pb.ProperBoostClassifier(n_jobs=1, weak_learner="table").fit(X, y)
    rows = y_test == 1
    result = pb.compare([model, model], X_test[rows], y_test[rows])
    assert np.isnan(result.contrasts["roc_auc"].first.value)
    assert result.find_better("roc_auc") == "unclear"
    assert "unknown" in str(result)
    assert repr(result) == str(result)
    one = pb.compare([model, model], X_test[:1], y_test[:1])
    assert np.isnan(one.contrasts["log_loss"].difference.low)


def test_wrong_arguments_are_named(cancer):
    X, X_test, y, y_test = cancer
    model = pb.ProperBoostClassifier(n_jobs=1, n_estimators=5, weak_learner="table").fit(X, y)
    other = pb.ProperBoostClassifier(n_jobs=1, n_estimators=5, weak_learner="table").fit(
        X, y.map({0: "no", 1: "yes"})
    )
    absent = np.where(y_test == 1, np.nan, 1.0)
    cases = [
        (([model], X_test, y_test), {}, ValueError, "models must be two"),
        ((model, X_test, y_test), {}, TypeError, "models must be a list of two classifiers"),
        ((["a", "b"], X_test, y_test), {}, TypeError, "models must be a classifier .*; got 'a'"),
        (({"low": model, "b": model}, X_test, y_test), {}, ValueError, "names of columns"),
        (([model, other], X_test, y_test), {}, ValueError, "same classes"),
        (([model, StandardScaler()], X_test, y_test), {}, TypeError, "predict_proba"),
        (([model, LogisticRegression()], X_test, y_test), {}, NotFittedError, "must be fitted"),
        (([model, model], X_test, y_test[:-1]), {}, ValueError, "y"),
        (([model, model], X_test, y_test), {"confidence_level": 1}, ValueError, "confidence_level"),
        (([model, model], X_test, y_test), {"n_disagreements": -1}, ValueError, "n_disagreements"),
        (([model, model], X_test, y_test), {"groups": [1]}, ValueError, "groups"),
        (([model, model], X_test, y_test), {"groups": absent}, ValueError, "no missing entries"),
    ]
    for arguments, options, error, message in cases:
        with pytest.raises(error, match=message):
            pb.compare(*arguments, **options)
    with pytest.raises(ValueError, match=r"score must be one of 'log_loss'.*; got 'auc'"):
        pb.compare([model, model], X_test, y_test).find_better("auc")
