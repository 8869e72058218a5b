"""Classifiers with Venn-Abers pairs: around a fitted model, and around the models of folds."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

import properboost as pb
from helpers.venn_abers_package import find_pairs_by_package


def by_class(pairs):
    """Return pairs with an axis of classes, also of two."""
    return pairs if pairs.ndim == 3 else pairs[:, np.newaxis]


def test_each_class_is_calibrated_against_the_others(problem):
    model, (X, y), (X_new, _) = problem
    calibrated = pb.VennAbersClassifier(model).fit(X, y)
    pairs = by_class(calibrated.predict_multiprobability(X_new))
    probability, new = model.predict_proba(X), model.predict_proba(X_new)
    classes = model.classes_ if len(model.classes_) > 2 else model.classes_[1:]
    merged = []
    for at, label in enumerate(classes):
        k = np.flatnonzero(model.classes_ == label)[0]
        by_package, expected = find_pairs_by_package(probability[:, k], y == label, new[:, k])
        np.testing.assert_allclose(pairs[:, at], expected, atol=1e-9)
        merged.append(by_package)
    total = np.sum(merged, axis=0) if len(classes) > 2 else 1.0
    expected = np.array(merged) / total
    actual = calibrated.predict_proba(X_new)
    np.testing.assert_allclose(actual[:, -len(classes) :], expected.T, atol=1e-9)
    np.testing.assert_allclose(actual.sum(axis=1), 1.0)
    assert np.all((actual > 0.0) & (actual < 1.0))


def test_folds_are_joined_by_geometric_means(problem, plain):
    _, (X, y), (X_new, _) = problem
    folds = StratifiedKFold(3)
    calibrated = pb.VennAbersClassifier(plain, cv=folds).fit(X, y)
    pairs = []
    for train, test in folds.split(X, y):
        model = clone(plain).fit(X[train], y[train])
        of_fold = pb.VennAbersClassifier(model).fit(X[test], y[test])
        pairs.append(by_class(of_fold.predict_multiprobability(X_new)))
    p0, p1 = np.moveaxis(np.array(pairs), -1, 0)
    p0 = 1.0 - np.prod(1.0 - p0, axis=0) ** (1 / 3)  # Vovk et al. (2015), section 4
    p1 = np.prod(p1, axis=0) ** (1 / 3)
    actual = by_class(calibrated.predict_multiprobability(X_new))
    np.testing.assert_allclose(actual, np.stack([p0, p1], axis=-1), atol=1e-12)
    if len(calibrated.classes_) == 2:
        merged = (p1 / (1.0 - p0 + p1))[:, 0]
        np.testing.assert_allclose(calibrated.predict_proba(X_new)[:, 1], merged, atol=1e-12)
    assert set(calibrated.predict(X_new)) <= set(calibrated.classes_)


def test_it_calibrates_overconfident_probabilities():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6_000, 2))
    y = rng.random(6_000) < 1.0 / (1.0 + np.exp(-X[:, 0]))
    overconfident = pb.ProperBoostClassifier(
        calibration=pb.Calibration(slope=4.0), weak_learner="table"
    ).fit(X[:1_000], y[:1_000])
    calibrated = pb.VennAbersClassifier(overconfident).fit(X[1_000:4_000], y[1_000:4_000])

    def log_loss(model):
        p = model.predict_proba(X[4_000:])[:, 1]
        return -np.log(np.where(y[4_000:], p, 1.0 - p)).mean()

    true = 1.0 / (1.0 + np.exp(-X[4_000:, 0]))
    least = -(true * np.log(true) + (1.0 - true) * np.log1p(-true)).mean()
    assert log_loss(calibrated) - least < 0.2 * (log_loss(overconfident) - least)


def test_they_are_no_confidence_intervals():
    """The true probability is between p0 and p1 far more rarely than an interval would hold it."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4_000, 2))
    true = 1.0 / (1.0 + np.exp(-2.0 * X[:, 0]))
    y = rng.random(4_000) < true
    model = pb.ProperBoostClassifier(weak_learner="table").fit(X[:1_000], y[:1_000])
    calibrated = pb.VennAbersClassifier(model).fit(X[1_000:2_000], y[1_000:2_000])
    p0, p1 = calibrated.predict_multiprobability(X[2_000:]).T
    assert np.mean((p0 <= true[2_000:]) & (true[2_000:] <= p1)) < 0.5


@pytest.mark.parametrize("cv", [None, 3])
def test_files_keep_every_bit(problem, plain, cv, tmp_path):
    model, (X, y), (X_new, _) = problem
    calibrated = pb.VennAbersClassifier(model if cv is None else plain, cv=cv).fit(X, y)
    calibrated.save_model(tmp_path / "model.json")
    loaded = pb.load_model(tmp_path / "model.json")
    for method in ("predict_multiprobability", "predict_proba", "predict"):
        expected = getattr(calibrated, method)(X_new)
        np.testing.assert_array_equal(getattr(loaded, method)(X_new), expected)
    refitted = clone(loaded).fit(X, y)
    np.testing.assert_array_equal(refitted.predict_proba(X_new), calibrated.predict_proba(X_new))
