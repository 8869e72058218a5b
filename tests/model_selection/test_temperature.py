"""Temperatures: fitted to scores of rows held out, and chosen by searches."""

import warnings

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

import properboost as pb
from helpers.searches import integers
from properboost.datasets import load_letter
from properboost.losses.probabilities import Link
from properboost.model_selection.temperature import fit_temperature


def draw(n=300, k=4, right=1.5, seed=0):
    """Draw scores; that of the row's class is larger, on average, by `right`."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, k, n)
    scores = rng.normal(size=(n, k))
    scores[np.arange(n), codes] += right
    return scores, codes


def find_loss(temperature, scores, codes, weight=None):
    """Return the log loss with half a row of errors."""
    weight = np.ones(len(codes)) if weight is None else weight
    half_row = 0.5 / weight.sum()
    logs = log_softmax(scores / temperature, axis=1)
    label_logs = logs[np.arange(len(codes)), codes].copy()
    logs[np.arange(len(codes)), codes] = -np.inf
    counts = label_logs > -np.inf
    return -np.sum((weight * (label_logs + half_row * logs.max(axis=1)))[counts])


# -- fitting --------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [3, 26])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("right", [0.4, 1.5, 6.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_has_the_least_log_loss(k, scale, right, weighted):
    scores, codes = draw(k=k, right=right)
    weight = np.random.default_rng(1).uniform(0.0, 4.0, len(codes)) if weighted else None
    temperature = fit_temperature(scale * scores, codes, weight)
    # Every number of four digits near it has a larger loss, except for rounding.
    step = 10.0 ** (np.floor(np.log10(temperature)) - 3)
    near = temperature + step * np.arange(-3, 4)
    losses = np.array([find_loss(t, scale * scores, codes, weight) for t in near])
    assert losses.argmin() in (2, 3, 4)
    far = temperature * np.geomspace(0.01, 100.0, 41)
    assert min(find_loss(t, scale * scores, codes, weight) for t in far) >= losses[3] * (1 - 1e-12)
    assert temperature == float(f"{temperature:.4g}")


def test_where_the_search_begins_does_not_matter():
    scores, codes = draw()
    assert len({fit_temperature(scores, codes, start=t) for t in (1e-6, 0.1, 1.0, 30.0, 1e9)}) == 1


def test_weights_are_frequencies():
    scores, codes = draw()
    weight = np.random.default_rng(1).integers(0, 4, len(codes))
    repeated = fit_temperature(np.repeat(scores, weight, axis=0), np.repeat(codes, weight))
    assert fit_temperature(scores, codes, weight.astype(float)) == repeated


def test_scores_that_are_always_right_have_one_too():
    scores, codes = draw(right=40.0)
    assert np.all(scores.argmax(axis=1) == codes)
    temperature = fit_temperature(scores, codes)
    # A finite loss of an error: about half a row of them is expected.
    worst = np.exp(log_softmax(scores / temperature, axis=1))
    wrong = 1.0 - worst[np.arange(len(codes)), codes]
    assert 0.1 < wrong.sum() < 1.0


def test_uninformative_scores_have_none():
    scores, codes = draw(right=-1.0)
    assert fit_temperature(scores, codes) is None
    assert fit_temperature(-scores, codes) is not None
    assert fit_temperature(np.zeros_like(scores), codes) is None
    assert fit_temperature(scores, codes, np.zeros(len(codes))) is None


def test_a_class_that_was_not_learnt_counts_nowhere():
    scores, codes = draw()
    unknown = scores.copy()
    unknown[:150, 2] = -np.inf
    temperature = fit_temperature(unknown, codes)
    near = temperature * np.array([0.99, 1.0, 1.01])
    assert np.argmin([find_loss(t, unknown, codes) for t in near]) == 1
    learnt = (codes != 2) | (np.arange(len(codes)) >= 150)
    assert fit_temperature(unknown[learnt], codes[learnt]) == temperature
    assert fit_temperature(np.full((3, 2), [-np.inf, 1.0]), np.zeros(3, dtype=int)) is None


@pytest.mark.parametrize("far", [np.inf, 1e308, 1e200])
def test_scores_may_be_of_any_size(far):
    scores, codes = draw()
    low, high = scores.copy(), scores.copy()
    low[codes != 3, 3] = -far  # with these the class is never confused
    unknown = np.where(low == -far, -np.inf, low)
    assert fit_temperature(low, codes) == pytest.approx(fit_temperature(unknown, codes), rel=0.02)
    high[5, (codes[5] + 1) % 4] = far  # which is worse at any temperature than equal probabilities
    assert fit_temperature(high, codes) is None
    assert fit_temperature(1e-300 * scores, codes) == pytest.approx(
        1e-300 * fit_temperature(scores, codes), rel=1e-3
    )


# -- searching ------------------------------------------------------------------------------------

SPACE = {
    "gain": [1.0, 8.0], "n_estimators": 8, "multiclass": "one_vs_rest",
    "weak_learner__max_cells": None,
}  # fmt: skip
FEW = {"cv": 3, "effort": None}
BINS = {"rows_per_bin": None}  # the same in every split
COLUMN = "param_calibration__temperature"


@pytest.fixture(scope="module")
def letters():
    X, y = load_letter(subset="train", return_X_y=True)
    return np.minimum(X[:1300] // 4, 2), y[:1300]


@pytest.fixture(scope="module")
def quartiles(iris):
    X, y = iris
    return np.stack([np.searchsorted(np.quantile(x, [0.25, 0.5, 0.75]), x) for x in X.T], axis=1), y


def predict_held_out(search, params, X, y):
    """Return each split's held-out rows with their raw predictions."""
    model = pb.ProperBoostClassifier(**params, n_estimators=search.space["n_estimators"], **BINS)
    model.set_params(calibration__temperature=None)
    return [
        (test, clone(model).fit(X[train], y[train]).decision_function(X[test]))
        for train, test in StratifiedKFold(search.cv).split(X, y)
    ]


def find_scores(model, parts, X, y, scoring, temperature):
    """Return each split's score through a fitted model's link, at a temperature or without."""
    scores = []
    for test, raw in parts:
        p = Link(model.loss_, "one_vs_rest", 1, temperature).probabilities(raw)
        codes = np.searchsorted(model.classes_, y[test])
        if scoring == "neg_log_loss":
            scores.append(-log_loss(y[test], p, labels=model.classes_))
        elif scoring == "accuracy":
            scores.append(np.mean(p.argmax(axis=1) == codes))
        else:
            scores.append(-np.mean(np.sum((p - np.eye(p.shape[1])[codes]) ** 2, axis=1)))
    return np.array(scores)


@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score", "accuracy"])
@pytest.mark.parametrize("problem", ["letters", "quartiles"])
def test_the_better_of_both_ways_is_taken(problem, scoring, request):
    X, y = request.getfixturevalue(problem)
    space = SPACE if problem == "letters" else SPACE | {"gain": [0.5, 4.0], "loss": "gboost"}
    search = pb.ProperBoostClassifierCV(space, **FEW, scoring=scoring, **BINS).fit(X, y)
    results = search.cv_results_
    for c, params in enumerate(results["params"]):
        parts = predict_held_out(search, params, X, y)
        model = clone(search.best_estimator_).set_params(**params, n_estimators=1).fit(X, y)
        pooled = np.concatenate([raw for _, raw in parts]) / (2.0 * params["gain"])
        codes = np.searchsorted(model.classes_, np.concatenate([y[test] for test, _ in parts]))
        temperature = fit_temperature(pooled, codes)
        ways = {t: find_scores(model, parts, X, y, scoring, t) for t in (None, temperature)}
        means = {t: scores.mean() for t, scores in ways.items()}
        known = params["calibration"].temperature
        taken = None if known is None else temperature
        assert known is None or known == pytest.approx(temperature, rel=1e-3)
        for k, value in enumerate(ways[taken]):
            assert results[f"split{k}_test_score"][c] == pytest.approx(value, rel=1e-3, abs=1e-6)
        assert means[taken] >= max(means.values()) - 1e-9
    if problem == "quartiles":
        assert None in (column := results[COLUMN].tolist())
        assert column != [None, None]
    assert search.temperature_ == search.best_params_["calibration"].temperature
    assert search.temperature_ == search.best_estimator_.temperature_
    assert search.temperature_ == search.best_estimator_.calibration.temperature
    assert search.temperature_ == results[COLUMN][search.best_index_]
    raw = search.decision_function(X)
    expected = Link(search.loss_, "one_vs_rest", 1, search.temperature_).probabilities(raw)
    np.testing.assert_array_equal(search.predict_proba(X), expected)


def test_joint_models_and_two_classes_have_none():
    X, y = integers(n_classes=3)
    both = {name: values for name, values in SPACE.items() if name != "multiclass"}
    search = pb.ProperBoostClassifierCV(both, **FEW).fit(X, y)
    results = search.cv_results_
    assert results[COLUMN].mask.tolist() == [True, True, False, False]
    for params in results["params"]:
        assert params["multiclass"] != "softmax" or params["calibration"].temperature is None
    joint = pb.ProperBoostClassifierCV(SPACE | {"multiclass": "softmax"}, **FEW).fit(X, y)
    two = pb.ProperBoostClassifierCV(SPACE, **FEW).fit(X, y > 0)
    for other in (joint, two):
        assert other.temperature_ is None
        assert other.best_params_["calibration"].temperature is None
        assert COLUMN not in other.cv_results_


def test_weights_count_in_the_temperature():
    X, y = integers(n_classes=3)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    twice = np.repeat(np.arange(len(y)), weight)
    splits = [(np.arange(240) % 3 != k, np.arange(240) % 3 == k) for k in range(3)]
    repeated = [tuple(np.flatnonzero(rows[twice]) for rows in split) for split in splits]
    settings = FEW | {"class_weight": {0: 2.0, 1: 1.0, 2: 1.0}, **BINS}
    counted, spelt = (
        pb.ProperBoostClassifierCV(SPACE, **settings | {"cv": cv})
        for cv in (splits, repeated)
    )  # fmt: skip
    counted.fit(X, y, weight)
    spelt.fit(X[twice], y[twice])
    temperatures, expected = (s.cv_results_[COLUMN].tolist() for s in (counted, spelt))
    assert None not in expected
    np.testing.assert_allclose(temperatures, expected, rtol=1e-3)


def test_a_class_that_a_split_lacks_has_a_finite_score():
    X, y = integers(n_classes=3)
    rare = np.where(np.arange(len(y)) == 7, 3, y)  # one row: no fold can train and test on it
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")
        search = pb.ProperBoostClassifierCV(SPACE, **FEW).fit(X, rare)
        without = pb.ProperBoostClassifierCV(SPACE, **FEW).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    least = np.log(np.finfo(float).eps) / len(y)  # the row's share, once in all splits
    assert np.all(scores > without.cv_results_["mean_test_score"] + 1.5 * least)
    temperatures, expected = (s.cv_results_[COLUMN].tolist() for s in (search, without))
    np.testing.assert_allclose(temperatures, expected, rtol=0.1)


def test_a_callable_sees_the_temperature():
    X, y = integers(n_classes=3)
    largest = {}

    def score(estimator, rows, labels):
        p = estimator.predict_proba(rows)
        largest.setdefault(labels.tobytes(), []).append(p.max())
        return -log_loss(labels, p, labels=estimator.classes_)

    space = SPACE | {"gain": [8.0]}
    ours = pb.ProperBoostClassifierCV(space, **FEW, scoring=score).fit(X, y)
    named = pb.ProperBoostClassifierCV(space, **FEW, scoring="neg_log_loss").fit(X, y)
    np.testing.assert_allclose(ours.validation_curves_, named.validation_curves_, rtol=1e-12)
    assert ours.temperature_ == named.temperature_ is not None
    assert all(len(set(values)) > len(values) / 2 for values in largest.values())


def test_a_search_for_pairs_fits_its_own():
    X, y = integers(600, n_classes=3)
    y = np.where((X[:, 0] > 2) != (X[:, 1] > 2), 0, y)
    pairs = {"interactions": [0, 1], "interactions__learning_rate": 1.0}
    search = pb.ProperBoostClassifierCV(SPACE | pairs, **FEW).fit(X, y)
    results = search.interaction_results_
    best = int(np.argmax(results["mean_test_score"]))
    assert results["interactions"][best] == 1
    assert search.temperature_ == results["calibration__temperature"][best]
    assert search.temperature_ != results["calibration__temperature"][0]
    assert search.temperature_ == search.best_params_["calibration"].temperature
    none = pb.ProperBoostClassifierCV(SPACE | {"interactions": 0}, **FEW).fit(X, y)
    assert none.temperature_ == results["calibration__temperature"][0]


def test_the_one_of_fewer_estimators_has_its_own():
    X, y = integers(n_classes=3)
    space = {
        "gain": [8.0], "multiclass": "one_vs_rest", "weak_learner__max_cells": None,
        "weak_learner__smoothing": [0.0],
    }  # fmt: skip
    settings = FEW | {"max_estimators": 30}
    best = pb.ProperBoostClassifierCV(space, **settings).fit(X, y)
    few = pb.ProperBoostClassifierCV(space, **settings, one_standard_error=True).fit(X, y)
    assert few.n_estimators_ < best.n_estimators_
    space |= {"n_estimators": few.n_estimators_}
    alone = pb.ProperBoostClassifierCV(space, **settings).fit(X, y)
    assert few.temperature_ == alone.temperature_ != best.temperature_
