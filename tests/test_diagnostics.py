"""Diagnostics: the gain against the number of rows, and whether more rows would help."""

import dataclasses
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import get_scorer

from helpers.searches import KINDS, as_kind, integers
from properboost import Calibration, ProperBoostClassifier, ProperBoostClassifierCV, Table
from properboost.datasets import make_two_gaussians
from properboost.diagnostics import GainCurve, gain_curve

EVERY_BIN = Table(max_cells=None)


def make_noise(n, seed):
    """Return five features that are independent of the class."""
    random = np.random.default_rng(seed)
    return random.normal(size=(n, 5)), random.permutation(np.arange(n) % 2)


def make_curve(differences, constant=-0.7, **changes):
    """Return a curve of two gains, whose score at 200 rows is that at 100 plus the differences."""
    differences = np.asarray(differences, dtype=float)
    scores = np.array([np.full_like(differences, -0.6), -0.6 + differences])
    curves = np.stack([scores, scores - 0.01], axis=2)
    best = curves.mean(axis=3).argmax(axis=2)
    values = {
        "sizes": np.array([100, 200]),
        "gains": np.array([1.0, 2.0])[best],
        "scores": curves.mean(axis=3).max(axis=2),
        "grid": np.array([1.0, 2.0]),
        "curves": curves,
        "constant_scores": np.full_like(differences, constant),
        "loss": "glog",
        "n_estimators": 50,
        "scoring": "neg_log_loss",
        "tolerance": 0.01,
    }
    return GainCurve(**values | changes)


# -- BoostLR, section 7.1 -------------------------------------------------------------------------


def two_gaussians_error(size, gain, seeds):
    """Return figure 9's mean squared error of the probabilities after each of 50 rounds."""
    X_test, _, true = make_two_gaussians(4_000, random_state=2**31, return_probability=True)
    errors = np.zeros(50)
    for seed in range(seeds):
        X, y = make_two_gaussians(size, random_state=seed)
        # 16 bins for any sample: each of 10 rows has its own.
        model = ProperBoostClassifier(
            gain=gain,
            n_estimators=50,
            selection="greedy",
            weak_learner=EVERY_BIN,
            calibration=Calibration(slope=1.0),
            max_bins=16,
            rows_per_bin=None,
            n_jobs=1,
        ).fit(X, y)
        curve = [np.mean((p[:, 1] - true) ** 2) for p in model.staged_predict_proba(X_test)]
        errors += np.concatenate([curve, np.full(50 - len(curve), curve[-1])]) / seeds
    return errors


def test_best_gain_falls_as_the_sample_grows():
    gains = (0.5, 4.0, 32.0, 256.0)
    errors = np.array(
        [[two_gaussians_error(n, g, seeds) for g in gains] for n, seeds in ((10, 8), (2_000, 1))]
    )
    small, large = errors.argmin(axis=1)
    assert np.all(small[[0, 1, 4, 9, 49]] > large[[0, 1, 4, 9, 49]])


def test_small_samples_overfit_from_the_first_round_at_small_gains_only():
    small, large = (two_gaussians_error(10, gain, 8) for gain in (0.5, 32.0))
    constant = 0.056  # the error of 1/2 for every row
    assert small[0] > 2 * constant
    assert small[1] > small[0]
    assert np.all(np.diff(large[:4]) < 0)
    assert large[0] < constant


@pytest.fixture(scope="module")
def gaussians():
    X, y = make_two_gaussians(400, random_state=1)
    return gain_curve(X, y, n_repeats=3, n_estimators=20, n_jobs=1, weak_learner=EVERY_BIN)


def test_cross_validated_gain_falls_as_rows_are_added(gaussians):
    assert gaussians.sizes.tolist() == [10, 20, 40, 80, 160, 320]
    assert np.all(np.diff(gaussians.best_gains) <= 0)
    assert gaussians.best_gains[0] >= 4 * gaussians.best_gains[-1]
    assert np.all(np.diff(gaussians.best_scores) > 0)


# -- whether more rows would help -----------------------------------------------------------------

QUICK = {
    "sizes": [0.5, 1.0], "n_repeats": 3, "n_estimators": 20, "n_jobs": 1,
    "weak_learner": EVERY_BIN,
}  # fmt: skip


def make_steep(n, seed):
    """Draw ten features, six without effect: twice as many rows as 300 are worth some 4%."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 10))
    F = X @ np.array([1, 1, 0.5, 0.5, 0, 0, 0, 0, 0, 0])
    return X, (random.random(n) < 1 / (1 + np.exp(-F))).astype(int)


def test_more_rows_would_help_where_the_score_still_rises():
    answers = [gain_curve(*make_steep(300, seed), **QUICK).answer for seed in range(5)]
    # 20 of 30 samples with 3 repeats had "yes", 24 with 5 repeats, and none had "no".
    assert answers.count("yes") >= 2
    assert "no" not in answers


def test_more_rows_would_not_help_two_gaussians_of_20000():
    X, y = make_two_gaussians(20_000, random_state=0)
    curve = gain_curve(X, y, **QUICK | {"n_repeats": 2})
    assert curve.answer == "no"
    assert curve.change.high < 0.01 * 0.59
    assert curve.reading.startswith("Would more rows help?  Probably not.\n")


def test_a_few_rows_never_seem_enough():
    """Two Gaussians of 40 rows: more would help, which so few can hardly show."""
    curves = [gain_curve(*make_two_gaussians(40, random_state=s), **QUICK) for s in range(6)]
    assert "no" not in {curve.answer for curve in curves}


@pytest.mark.parametrize("n", [60, 400])
def test_noise_gives_no_answer(n):
    curves = [gain_curve(*make_noise(n, seed), **QUICK) for seed in range(4)]
    assert {curve.answer for curve in curves} == {"unknown"}
    assert all("features are uninformative" in curve.reading for curve in curves)


@pytest.mark.parametrize(
    ("differences", "answer"),
    [
        (np.full((2, 5), 0.02), "yes"),
        (np.full((2, 5), 0.001), "no"),
        (np.full((2, 5), -0.02), "no"),
        ([[0.02, -0.02, 0.05, 0.0, 0.03]], "unknown"),
    ],
)
def test_answer_is_that_of_the_last_doubling(differences, answer):
    curve = make_curve(differences)
    assert curve.answer == answer
    assert curve.change.mean == pytest.approx(np.mean(differences))
    words = {"yes": "Probably yes.", "no": "Probably not.", "unknown": "Unknown."}
    assert words[answer] in curve.reading
    # A model that is no better than none makes a flat curve meaningless.
    assert make_curve(differences, constant=-0.5).answer == "unknown"


def test_intervals_are_those_of_the_formulas():
    differences = np.array([[0.01, 0.03, 0.02, 0.04], [0.02, 0.04, 0.03, 0.03]])
    curve = make_curve(differences)
    within = differences.var(axis=1, ddof=1).mean() / 4
    between = differences.mean(axis=1).var(ddof=1)
    half = 1.943 * np.sqrt(within - between + between / 2)  # t of 6 degrees of freedom, 95%
    low, high = curve.change[1:]
    assert (low, high) == pytest.approx((0.0275 - half, 0.0275 + half), rel=1e-3)
    half = 1.895 * np.sqrt(differences.var(ddof=1) * (1 / 8 + 1 / 3))  # t of 7
    assert curve.advantage == pytest.approx((0.1275, 0.1275 - half, 0.1275 + half), rel=1e-3)


def test_more_repeats_do_not_make_it_sure():
    one = np.array([[0.0, 0.02, 0.01, 0.03, 0.01]])
    few, many = make_curve(one).change, make_curve(np.repeat(one, 50, axis=0)).change
    assert many.high - many.mean > 0.7 * (few.high - few.mean)


def test_half_of_the_rows_is_what_the_largest_size_is_compared_with():
    differences = np.full((1, 5), 0.02)
    far = make_curve(differences, sizes=np.array([10, 200]))
    assert (far.change, far.answer) == (None, "unknown")
    assert "about half" in far.reading
    curves = np.repeat(make_curve(differences).curves[:1], 3, axis=0) * np.array(
        [1.2, 1.1, 1.0]
    ).reshape(3, 1, 1, 1)
    near = make_curve(differences, sizes=np.array([60, 110, 200]), curves=curves)
    assert near.change.mean == pytest.approx(0.06)


def test_the_reading_has_the_numbers(gaussians):
    reading = gaussians.reading
    assert "from 160 to 320 training rows" in reading
    assert f"{gaussians.best_scores[-2]:.4f} to {gaussians.best_scores[-1]:.4f}" in reading
    assert f"{gaussians.best_gains[-1]:.3g}" in reading
    assert "20 estimators with glog" in reading


@pytest.mark.parametrize(
    ("gains", "end"), [([64, 128, 256], "smallest"), ([0.3, 0.5, 1], "largest")]
)
def test_the_reading_warns_at_the_ends_of_the_gains(gains, end):
    X, y = make_two_gaussians(100, random_state=0)
    if end == "smallest":
        X = X + 3 * y[:, None]
    curve = gain_curve(X, y, gains=gains, n_repeats=1, n_estimators=20)
    assert f"The best is the {end} tried" in curve.reading


def test_of_gains_as_good_the_largest_is_taken():
    curve = make_curve(np.zeros((1, 5)), curves=np.full((2, 1, 2, 5), -0.6))
    assert curve.best_gains.tolist() == [2.0, 2.0]
    assert curve.as_good.all()


def test_gains_that_are_worse_beyond_doubt_are_not_as_good():
    assert make_curve(np.zeros((1, 5))).as_good.tolist() == [[True, False]] * 2


# -- what is measured -----------------------------------------------------------------------------


def test_at_all_rows_it_is_the_search():
    X, y = make_steep(500, 0)
    shared = {"n_estimators": 10, "weak_learner": "table", "weak_learner__max_cells": None}
    curve = gain_curve(X, y, sizes=[1.0], gains=[1, 4, 16], n_repeats=1, **shared)
    assert curve.sizes.tolist() == [400]
    means = curve.curves[0, 0].mean(axis=1)
    # Folds differ, as they are shuffled: to within the noise of 500 rows.
    space = {"gain": [1, 4, 16], "selection": "cyclic", **shared}
    search = ProperBoostClassifierCV(space, refit=False, effort=None).fit(X, y)
    np.testing.assert_allclose(means, search.cv_results_["mean_test_score"], atol=0.02)
    assert curve.scores == pytest.approx(means.max())
    assert curve.gains == curve.grid[means.argmax()]


def test_small_sizes_have_the_bins_of_small_tables():
    """Scores at 80 of 1,600 rows are those of fits to 80 rows, not to 80 rows in 16 bins."""
    X, y = make_two_gaussians(2_000, random_state=3)
    curve = gain_curve(X, y, sizes=[80], gains=[0.25], n_repeats=4, n_estimators=20)
    alone = []
    for seed in range(8):
        train = np.random.default_rng(seed).choice(len(y), 80, replace=False)
        model = ProperBoostClassifier(
            gain=0.25, n_estimators=20, selection="cyclic", weak_learner="table"
        )
        p = model.fit(X[train], y[train]).predict_proba(np.delete(X, train, 0))
        alone.append(np.mean(np.log(p[np.arange(len(p)), np.delete(y, train)])))
    # With 16 bins the same models have -1.0.
    assert curve.best_scores[0] == pytest.approx(np.mean(alone), abs=0.04)


def test_sizes_are_rows_or_shares():
    X, y = make_noise(100, 0)
    curve = gain_curve(X, y, sizes=[0.5, 30, 1.0, 40], gains=[1, 2], n_repeats=1, n_estimators=1)
    assert curve.sizes.tolist() == [30, 40, 80]


def test_every_class_is_in_the_smallest_size():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 2))
    y = np.repeat(["a", "b", "c"], [180, 10, 10])
    curve = gain_curve(X, y, sizes=[3, 10, 1.0], gains=[1, 4], n_repeats=2, n_estimators=2)
    assert np.all(np.isfinite(curve.curves))


def test_tables_scores_and_parameters_are_passed_on():
    X, y = make_steep(120, 1)
    frame = pd.DataFrame(X).assign(kind=pd.Categorical(np.where(X[:, 0] > 0, "up", "down")))
    frame.columns = frame.columns.astype(str)
    curve = gain_curve(
        frame,
        np.where(y == 1, "yes", "no"),
        loss="exponential",
        scoring="roc_auc",
        sizes=[0.5, 1.0],
        n_repeats=2,
        n_estimators=3,
        cv=3,
        class_weight="balanced",
        max_bins=8,
        prior=1e-2,
        n_jobs=1,
    )
    assert (curve.loss, curve.scoring) == ("exponential", "roc_auc")
    assert curve.grid[0] == 0.5  # 1 / (2 mu), mu = 1
    assert np.all(curve.constant_scores == 0.5)
    assert curve.best_scores[-1] > 0.6
    assert curve.curves.shape == (2, 2, len(curve.grid), 3)


@pytest.mark.parametrize("kind", KINDS)
def test_scorers_may_read_the_table(mixed, kind):
    X, y, _ = mixed
    rows_known = []

    def score(estimator, rows, labels):
        """Minus the Brier score, rows of many visits counting more."""
        visits = np.asarray(rows[:, -1] if kind == "numpy" else rows["visits"])
        p = estimator.predict_proba(rows)[:, 1]
        rows_known.append(visits.sum())
        return -np.average((p - (labels == "yes")) ** 2, weights=1 + visits)

    few = {"sizes": [0.5, 1.0], "gains": [1, 4], "n_repeats": 2, "n_estimators": 10, "n_jobs": 1}
    curve = gain_curve(as_kind(kind, X), y, scoring=score, **few)
    assert curve.scoring == "score"
    assert curve.advantage.low > 0.0
    assert all(visits > 0 for visits in rows_known)
    # The constant is the share of the training rows, which are nearly all rows not held out.
    constant = -np.average((np.mean(y == "yes") - (y == "yes")) ** 2, weights=1 + X["visits"])
    assert curve.constant_scores.mean() == pytest.approx(constant, rel=1e-3)


def test_a_scorer_that_fails_fails():
    def fail(*_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        gain_curve(*make_noise(60, 0), scoring=fail)


def test_unknown_scores_are_never_best():
    curves = np.full((2, 1, 2, 5), -0.6)
    curves[:, :, 1, 0] = np.nan
    curve = make_curve(np.zeros((1, 5)), curves=curves)
    assert curve.best_gains.tolist() == [1.0, 1.0]
    assert curve.as_good.tolist() == [[True, False]] * 2


def test_constant_prediction_is_that_of_the_training_rows():
    X, _ = make_noise(100, 0)
    y = np.arange(100) < 20
    curve = gain_curve(X, y, sizes=[1.0], gains=[1, 2], n_repeats=1, n_estimators=1)
    entropy = 0.2 * np.log(0.2) + 0.8 * np.log(0.8)
    np.testing.assert_allclose(curve.constant_scores, entropy)


@pytest.mark.parametrize("loss", ["ggauss", "exponential"])
@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy", "roc_auc_ovr"])
def test_constant_prediction_is_scikit_learns(loss, scoring):
    X, _ = make_noise(120, 0)
    y = np.repeat(["a", "b", "c"], [60, 40, 20])
    few = {"sizes": [1.0], "gains": [1, 2], "n_repeats": 1, "n_estimators": 1, "cv": 4}
    curve = gain_curve(
        X, y, loss=loss, scoring=scoring, class_weight={"a": 1, "b": 2, "c": 1}, **few
    )
    # Every fold holds a quarter of each class.
    model = DummyClassifier(strategy="prior").fit(X, y, np.where(y == "b", 2.0, 1.0))
    np.testing.assert_allclose(curve.constant_scores, get_scorer(scoring)(model, X, y))


def test_same_seed_same_curve():
    X, y = make_noise(100, 0)
    few = {"gains": [1, 4], "n_repeats": 2, "n_estimators": 3}
    curves = [gain_curve(X, y, random_state=s, **few).curves for s in (None, 0, 1)]
    np.testing.assert_array_equal(curves[0], curves[1])
    assert not np.array_equal(curves[0], curves[2])


def test_curve_is_frozen(gaussians):
    with pytest.raises(dataclasses.FrozenInstanceError):
        gaussians.tolerance = 0.5


def test_plot_is_that_of_plots(gaussians, monkeypatch):
    monkeypatch.setattr("properboost.diagnostics.plot_gain_curve", lambda *drawn: drawn)
    assert gaussians.plot("axes") == (gaussians, "axes")


# -- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"sizes": "all"}, ValueError, "sizes must be 'auto' or a list of numbers; got 'all'"),
        ({"sizes": 5}, TypeError, "sizes must be 'auto' or a list of numbers; got 5"),
        ({"sizes": []}, ValueError, "sizes must not be empty"),
        ({"sizes": [81]}, ValueError, r"sizes\[0\] must be between 2 and 80; got 81"),
        ({"sizes": [20, 1.5]}, ValueError, r"sizes\[1\] must be between 0 and 1; got 1.5"),
        ({"sizes": [0.001]}, ValueError, r"sizes\[0\] must leave a row for each of 2 classes"),
        ({"gains": "many"}, ValueError, "gains must be 'auto' or a list of numbers; got 'many'"),
        ({"gains": iter([1, 2])}, TypeError, r"gains must be 'auto' or .*\(list_iterator\)"),
        ({"gains": 2}, TypeError, "gains must be 'auto' or a list of numbers; got 2"),
        ({"gains": [-1]}, ValueError, r"gains\[0\] must be above 0"),
        ({"gains": []}, ValueError, "gains must not be empty"),
        ({"n_repeats": 0}, ValueError, "n_repeats must be at least 1"),
        ({"n_estimators": "auto"}, TypeError, "n_estimators must be an integer"),
        ({"selection": ["greedy", "cyclic"]}, TypeError, "selection must be one of"),
        ({"cv": 1}, ValueError, "cv must be at least 2"),
        ({"cv": [([0], [1])]}, TypeError, "cv must be an integer"),
        ({"tolerance": -1}, ValueError, "tolerance must be at least 0"),
        ({"prior": [None, 0.1]}, TypeError, r"prior must be a finite number .*\[None, 0.1\]"),
        ({"max_cells": 3}, TypeError, r"parameter max_cells: write .*Table\(max_cells"),
        ({"interactions": 3}, TypeError, "unexpected parameter interactions"),
        ({"max_bins": 1}, ValueError, "max_bins must be between 2 and 255; got 1"),
        ({"response": "exact"}, ValueError, "response='exact'.* the gain cannot matter"),
        ({"max_estimators": 5}, TypeError, "unexpected parameter max_estimators"),
        ({"refit": False}, TypeError, "unexpected parameter refit"),
        ({"colour": "red"}, TypeError, "parameter colour: it accepts categorical_features, "),
    ],
)
def test_wrong_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        gain_curve(*make_noise(100, 0), **arguments)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(20), "y must hold at least two classes"),
        (np.arange(20) == 3, r"y must have at least two rows of each class; got \[19, 1\] rows"),
        (np.arange(19) % 2, "X and y must have as many rows; got 20 and 19"),
    ],
)
def test_every_class_needs_two_rows(y, message):
    with pytest.raises(ValueError, match=message):
        gain_curve(np.zeros((20, 1)), y)


def test_a_best_gain_at_the_end_is_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gain_curve(*make_noise(60, 0), gains=[1, 2, 4], n_repeats=1, n_estimators=5)


def test_the_gain_is_of_one_coupling():
    X, y = integers(n_classes=3)
    settings = {"sizes": [60], "n_repeats": 1, "gains": [1.0, 4.0], "cv": 2, "n_estimators": 3}
    curves = {
        multiclass: gain_curve(X, y, multiclass=multiclass, random_state=0, **settings).curves
        for multiclass in ("auto", "softmax", "one_vs_rest")
    }
    np.testing.assert_array_equal(curves["auto"], curves["softmax"])
    assert np.all(curves["auto"] != curves["one_vs_rest"])
    with pytest.raises(TypeError, match="multiclass must be one of"):
        gain_curve(X, y, multiclass=["softmax"], **settings)
    with pytest.raises(ValueError, match="multiclass must not be 'softmax' with loss='gboost'"):
        gain_curve(X, y, loss="gboost", multiclass="softmax", **settings)
