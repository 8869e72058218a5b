"""Sets of classes: their definition, their coverage, subgroups, errors and files."""

import math
import pickle
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline

import properboost as pb
from conformal.conftest import draw
from properboost.conformal.calibration_scores import CalibrationScores, count_needed, find_limit
from properboost.conformal.scores import SCORES, draw_uniform

LEVELS = (0.5, 0.8, 0.9, 0.95)


def covers(sets, X, y, level=0.9, **subgroups):
    """Return whether each row's set has its class."""
    rows = sets.predict_set(X, level, **subgroups)
    return rows[np.arange(len(X)), np.searchsorted(sets.classes_, y)]


def find_sets(probability, class_of_row, new, level, score):
    """Return sets by the quantile of the calibration rows' scores, as the papers define them."""
    scores = SCORES[score](probability, draw_uniform(probability))
    scores = np.sort(scores[np.arange(len(scores)), class_of_row])
    place = math.ceil(Fraction(str(level)) * (len(scores) + 1))
    limit = np.inf if place > len(scores) else scores[place - 1]
    return SCORES[score](new, draw_uniform(new)) <= limit


@pytest.mark.parametrize("level", LEVELS)
def test_the_split_way_is_a_quantile_of_scores(problem, level):
    model, (X, y), (X_new, _) = problem
    known, new = model.predict_proba(X), model.predict_proba(X_new)
    for score in ("lac", "aps") if len(model.classes_) > 2 else ("lac",):
        sets = pb.ConformalClassifier(model, conformity_score=score).fit(X, y)
        expected = find_sets(known, np.searchsorted(model.classes_, y), new, level, score)
        actual = sets.predict_set(X_new, level)
        assert actual.dtype == bool
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("level", LEVELS)
def test_lac_has_the_sets_of_mapie(problem, level):
    mapie = pytest.importorskip("mapie.classification")
    model, (X, y), (X_new, _) = problem
    theirs = mapie.SplitConformalClassifier(model, confidence_level=level, prefit=True)
    _, expected = theirs.conformalize(X, y).predict_set(X_new)
    actual = pb.ConformalClassifier(model).fit(X, y).predict_set(X_new, level)
    np.testing.assert_array_equal(actual, expected[:, :, 0])


@pytest.mark.parametrize("level", LEVELS)
def test_the_cross_way_counts_scores_below_as_cv_plus_does(problem, plain, level):
    """Romano, Sesia and Candès (2020), eq. 10, row by row and class by class."""
    _, (X, y), (X_new, _) = problem
    folds = StratifiedKFold(4)
    sets = pb.ConformalClassifier(plain, cv=folds).fit(X, y)
    below = np.zeros((len(X_new), len(sets.classes_)))
    for train, test in folds.split(X, y):
        model = clone(plain).fit(X[train], y[train])
        known = model.predict_proba(X[test])
        of_class = known[np.arange(len(test)), np.searchsorted(model.classes_, y[test])]
        new = model.predict_proba(X_new)
        below += (of_class[:, None, None] > new).sum(
            axis=0
        )  # a lower probability is a higher score
    expected = below < (len(X) + 1) * level - 1e-9
    np.testing.assert_array_equal(sets.predict_set(X_new, level), expected)


def test_all_models_of_a_row_share_its_random_number(plain):
    X, y = draw(120, 3, 1)
    sets = pb.ConformalClassifier(plain, cv=3, conformity_score="aps").fit(X, y)
    first = sets.models_[0]
    uniform = draw_uniform(first.predict_proba(X))
    for (_, test), model, scores in zip(
        StratifiedKFold(3).split(X, y), sets.models_, sets._scores, strict=True
    ):
        of_classes = SCORES["aps"](model.predict_proba(X[test]), uniform[test])
        true_scores = of_classes[np.arange(len(test)), np.searchsorted(sets.classes_, y[test])]
        np.testing.assert_array_equal(scores.sorted_scores[0], np.sort(true_scores))


@settings(max_examples=30, deadline=None)
@given(
    scores=st.lists(st.integers(0, 6), min_size=1, max_size=30),
    level=st.sampled_from([0.1, 0.5, 0.8, 0.9, 0.95]),
)
def test_exchangeable_scores_are_covered_at_the_level(scores, level):
    """Each score in turn is the new row's: among all turns the share of hits is the coverage."""
    hits = 0
    for k, new in enumerate(scores):
        others = np.sort(np.array(scores[:k] + scores[k + 1 :], dtype=float))
        calibration = CalibrationScores([others])
        below = calibration.count_below(np.array([[float(new)]]), np.zeros(1, dtype=np.intp))
        hits += bool(below[0, 0] < find_limit(len(others), level))
    assert Fraction(hits, len(scores)) >= Fraction(str(level))


@settings(max_examples=50, deadline=None)
@given(level=st.floats(0.01, 0.999))
def test_fewer_rows_than_needed_exclude_no_class(level):
    needed = count_needed(level)
    assert find_limit(needed, level) <= needed
    assert find_limit(needed - 1, level) > needed - 1


@pytest.mark.parametrize(("cv", "least"), [(None, 0.9), (5, 0.88)])
def test_new_rows_are_covered(plain, cv, least):
    """Over 20 draws of 100 calibration rows the mean coverage is that of the level."""
    model = clone(plain).fit(*draw(300, 3, 0))
    X_new, y_new = draw(2_000, 3, 99)
    shares = []
    for seed in range(20):
        sets = pb.ConformalClassifier(model if cv is None else plain, cv=cv)
        sets.fit(*draw(100, 3, 1_000 + seed))
        shares.append(covers(sets, X_new, y_new).mean())
    error = np.std(shares) / np.sqrt(20) + np.sqrt(0.9 * 0.1 / 2_000)
    assert least - 2 * error < np.mean(shares) < 0.97


def test_subgroups_are_a_loop_over_subgroups(problem):
    model, (X, y), (X_new, _) = problem
    where, where_new = np.where(X[:, 2] > 0.3, "north", "south"), X_new[:, 2] > 0.3
    where_new = np.where(where_new, "north", "south")
    sets = pb.ConformalClassifier(model).fit(X, y, subgroups=where)
    actual = sets.predict_set(X_new, 0.8, subgroups=where_new)
    for place in ("north", "south"):
        alone = pb.ConformalClassifier(model).fit(X[where == place], y[where == place])
        expected = alone.predict_set(X_new[where_new == place], 0.8)
        np.testing.assert_array_equal(actual[where_new == place], expected)
        assert sets.n_calibration_rows_[place] == alone.n_calibration_rows_


def test_per_class_is_a_loop_over_classes_and_subgroups(problem):
    model, (X, y), (X_new, _) = problem
    is_north = X[:, 2] > 0.0
    sets = pb.ConformalClassifier(model, per_class=True).fit(X, y, subgroups=is_north)
    actual = sets.predict_set(X_new, 0.8, subgroups=X_new[:, 2] > 0.0)
    known, new = model.predict_proba(X), model.predict_proba(X_new)
    for k, label in enumerate(model.classes_):
        for place in (False, True):
            rows, at = (y == label) & (is_north == place), (X_new[:, 2] > 0.0) == place
            expected = find_sets(known[rows][:, [k]], np.zeros(sum(rows), int), new, 0.8, "lac")
            np.testing.assert_array_equal(actual[at, k], expected[at, k])


def test_rare_classes_are_covered_per_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12_000, 3))
    y = X[:, 0] + rng.normal(size=12_000) > 2.2
    model = pb.ProperBoostClassifier(weak_learner="table").fit(X[:2_000], y[:2_000])
    is_rare = y[6_000:]
    assert is_rare.mean() < 0.1
    shares = []
    for per_class in (False, True):
        sets = pb.ConformalClassifier(model, per_class=per_class).fit(
            X[2_000:6_000], y[2_000:6_000]
        )
        shares.append(covers(sets, X[6_000:], y[6_000:])[is_rare].mean())
    assert shares[0] < 0.6
    assert abs(shares[1] - 0.9) < 3 * np.sqrt(0.09 * (1 / 200 + 1 / is_rare.sum()))


def test_a_row_has_the_same_set_in_any_batch(plain):
    sets = pb.ConformalClassifier(plain, cv=3, conformity_score="aps").fit(*draw(150, 3, 0))
    X, _ = draw(40, 3, 2)
    whole = sets.predict_set(X, 0.8)
    one_by_one = np.vstack([sets.predict_set(X[k : k + 1], 0.8) for k in range(len(X))])
    np.testing.assert_array_equal(one_by_one, whole)


def test_larger_levels_have_larger_sets(problem):
    model, calibration, (X_new, _) = problem
    sets = pb.ConformalClassifier(model).fit(*calibration)
    smaller, larger = sets.predict_set(X_new, 0.6), sets.predict_set(X_new, 0.95)
    assert np.all(larger[smaller])
    assert larger.sum() > smaller.sum()


def test_predictions_are_the_mean_of_the_models(plain):
    X, y = draw(150, 3, 0)
    sets = pb.ConformalClassifier(plain, cv=3).fit(X, y)
    mean = np.mean([model.predict_proba(X) for model in sets.models_], axis=0)
    np.testing.assert_array_equal(sets.predict_proba(X), mean)
    np.testing.assert_array_equal(sets.predict(X), sets.classes_[mean.argmax(axis=1)])
    assert sets.score(X, y) == np.mean(sets.predict(X) == y)


def test_folds_keep_groups_together_and_frames_stay_frames(plain):
    X, y = draw(120, 3, 0)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    groups = np.arange(120) // 4
    sets = pb.ConformalClassifier(plain, cv=GroupKFold(3)).fit(frame, y, groups=groups)
    assert list(sets.feature_names_in_) == ["a", "b", "c"]
    assert sets.n_features_in_ == 3
    train, _ = next(GroupKFold(3).split(X, y, groups))
    expected = clone(plain).fit(frame.iloc[train], y[train]).predict_proba(frame)
    np.testing.assert_array_equal(sets.models_[0].predict_proba(frame), expected)


def test_other_classifiers_may_be_inside():
    X, y = draw(200, 3, 0)
    inside = make_pipeline(LogisticRegression()).fit(X, y)
    sets = pb.ConformalClassifier(inside).fit(*draw(100, 3, 1))
    assert covers(sets, *draw(300, 3, 2)).mean() > 0.8
    with pytest.raises(TypeError, match="a class that can be saved; got a Pipeline"):
        sets.save_model("nowhere.json")


# -- clones, pickles, files ------------------------------------------------------------------------


def test_a_clone_of_the_split_way_keeps_the_fitted_model(problem, plain):
    model, (X, y), (X_new, _) = problem
    sets = pb.ConformalClassifier(model).fit(X, y)
    copy = clone(sets)
    assert copy.estimator is model
    assert not hasattr(copy, "models_")
    np.testing.assert_array_equal(copy.fit(X, y).predict_set(X_new), sets.predict_set(X_new))
    crossed = clone(pb.ConformalClassifier(model, cv=3))
    assert not hasattr(crossed.estimator, "classes_")
    assert (
        clone(pb.ConformalClassifier(plain, cv=3).set_params(estimator__gain=2.0)).estimator.gain
        == 2.0
    )


@pytest.mark.parametrize("cv", [None, 3])
@pytest.mark.parametrize("compact", [False, True])
def test_files_and_pickles_keep_every_set(problem, plain, cv, compact, tmp_path):
    model, (X, y), (X_new, _) = problem
    sets = pb.ConformalClassifier(model if cv is None else plain, cv=cv, per_class=True)
    sets.fit(X, y, subgroups=X[:, 2] > 0.0)
    sets.save_model(tmp_path / "sets.json.gz", compact=compact)
    loaded = pb.load_model(tmp_path / "sets.json.gz")
    subgroups = X_new[:, 2] > 0.0
    expected = sets.predict_set(X_new, subgroups=subgroups)
    for twin in (loaded, pickle.loads(pickle.dumps(sets))):
        assert str(twin) == str(sets)
        np.testing.assert_array_equal(twin.predict_set(X_new, subgroups=subgroups), expected)
        np.testing.assert_array_equal(twin.predict_proba(X_new), sets.predict_proba(X_new))
    assert loaded.is_compact is compact
    assert sets.is_compact is False


def test_a_file_may_hold_sets_around_calibrated_probabilities(problem, tmp_path):
    model, (X, y), (X_new, _) = problem
    calibrated = pb.VennAbersClassifier(model).fit(X[:100], y[:100])
    sets = pb.ConformalClassifier(calibrated).fit(X[100:], y[100:])
    sets.save_model(tmp_path / "sets.json")
    loaded = pb.load_model(tmp_path / "sets.json")
    np.testing.assert_array_equal(loaded.predict_set(X_new), sets.predict_set(X_new))


# -- errors ----------------------------------------------------------------------------------------


def test_errors_name_the_argument(problem, plain):
    model, (X, y), (X_new, _) = problem
    sets = pb.ConformalClassifier(model).fit(X, y)
    by_place = pb.ConformalClassifier(model).fit(X, y, subgroups=X[:, 2] > 0.0)
    always = np.full(len(X_new), "x")
    wrong = [
        (lambda: sets.predict_set(X_new, 1.0), "confidence_level must be above 0 and below 1"),
        (lambda: sets.predict_set(X_new, subgroups=always), "subgroups must be None"),
        (lambda: by_place.predict_set(X_new), "subgroups must be given, as in fit; got None"),
        (lambda: by_place.predict_set(X_new, subgroups=always), "among those of fit.*got.*'x'"),
        (lambda: by_place.predict_set(X_new, subgroups=[True]), "an entry for each of the 80 rows"),
        (
            lambda: pb.ConformalClassifier(model).fit(
                X, y, subgroups=[None, *["a"] * (len(X) - 1)]
            ),
            "subgroups must have no missing entries; row 0 has one",
        ),
        (lambda: pb.ConformalClassifier(model).fit(None, y), "X must have the shape"),
        (
            lambda: pb.ConformalClassifier(plain).fit(X, y),
            "estimator must be fitted; this .* is not: fit it to other rows than these, or",
        ),
        (lambda: pb.ConformalClassifier(model).fit(X, ["z"] * len(X)), "y must hold labels among"),
        (
            lambda: pb.ConformalClassifier(model).fit(X, y, groups=np.arange(len(X))),
            "groups must be None with cv=None",
        ),
        (
            lambda: pb.ConformalClassifier(model, conformity_score="raps").fit(X, y),
            "conformity_score must be one of 'lac'",
        ),
        (
            lambda: pb.ConformalClassifier(plain, cv=ShuffleSplit(3, random_state=0)).fit(X, y),
            "cv must hold out every row once",
        ),
        (
            lambda: pb.ConformalClassifier(plain, cv=KFold(2)).fit(X[:40], ["a"] * 39 + ["b"]),
            "cv: split . must train on rows of every class; it has none of 'b'",
        ),
    ]
    for call, message in wrong:
        with pytest.raises(ValueError, match=message):
            call()
    for method in ("predict", "predict_proba", "predict_set"):
        with pytest.raises(NotFittedError):
            getattr(pb.ConformalClassifier(model), method)(X)
    with pytest.raises(NotFittedError):
        pb.ConformalClassifier(plain).fit(X, y)
    for estimator in (None, "lac", pb.ConformalClassifier):
        with pytest.raises(TypeError, match="estimator must be a classifier with predict_proba"):
            pb.ConformalClassifier(estimator).fit(X, y)


def test_aps_needs_three_classes_and_a_failed_fit_leaves_the_former(plain):
    model = clone(plain).fit(*draw(100, 2, 0))
    X, y = draw(100, 2, 1)
    sets = pb.ConformalClassifier(model).fit(X, y)
    before = sets.predict_set(X)
    with pytest.raises(
        ValueError, match="conformity_score must be 'lac' for two classes; got 'aps'"
    ):
        sets.set_params(conformity_score="aps").fit(X[:50], y[:50])
    np.testing.assert_array_equal(sets.set_params(conformity_score="lac").predict_set(X), before)


def test_few_rows_warn_that_sets_have_all_classes(problem):
    model, (X, y), (X_new, _) = problem
    sets = pb.ConformalClassifier(model).fit(X[:18], y[:18])
    with pytest.warns(UserWarning, match=re.escape("level 0.95 needs at least 19")):
        assert sets.predict_set(X_new, 0.95).all()
    assert not sets.predict_set(X_new, 0.9).all()
