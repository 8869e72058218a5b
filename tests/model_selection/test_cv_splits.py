"""Splits: those of any splitter, as parts of the rows that the engine trains on or leaves out."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

import properboost as pb
from helpers.searches import KINDS, PLAIN, QUICK, as_kind, assert_same_scores, integers
from properboost.data.labels import read_rows
from properboost.data.sorted_rows import HELD_OUT, LEARNS
from properboost.model_selection import cv_splits as splits

GROUPS = np.arange(240) % 7


@pytest.mark.parametrize(
    "cv",
    [
        2,
        KFold(3, shuffle=True, random_state=0),
        StratifiedKFold(4, shuffle=True, random_state=1),
        GroupKFold(3),
        LeaveOneGroupOut(),
        StratifiedGroupKFold(3),
        PredefinedSplit(np.arange(240) % 4 - 1),
        StratifiedShuffleSplit(3, test_size=0.3, random_state=0),
        # Some rows are on neither side; there are more splits than one order of the rows allows.
        ShuffleSplit(9, test_size=0.2, train_size=0.5, random_state=0),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=6, random_state=0),
        [(np.arange(0, 160), np.arange(160, 240)), (np.arange(240) % 3 > 0, np.arange(0, 240, 3))],
    ],
    ids=str,
)
def test_any_splitter(cv):
    X, y = integers()
    shared = {"n_estimators": 5, "selection": "cyclic"}
    groups = GROUPS if "Group" in type(cv).__name__ else None
    space = {"gain": [0.5, 2.0], **shared}
    ours = pb.ProperBoostClassifierCV(space, cv=cv, rows_per_bin=None, effort=None)
    ours.fit(X, y, groups=groups)
    theirs = GridSearchCV(
        pb.ProperBoostClassifier(**PLAIN, **shared, rows_per_bin=None),
        {"gain": [0.5, 2.0]},
        cv=cv,
        scoring="neg_log_loss",
    )
    assert_same_scores(ours.cv_results_, theirs.fit(X, y, groups=groups).cv_results_)


def test_splits_are_gathered_while_their_parts_are_few():
    X, y = integers()
    rows = splits.Rows(np.arange(2), y.astype(np.uint8), None, None, 240.0)
    for cv, most in (
        (StratifiedKFold(60), 1),
        (RepeatedStratifiedKFold(n_splits=5, n_repeats=5, random_state=0), 3),
        (ShuffleSplit(9, test_size=0.3, random_state=0), 2),
    ):
        groups = splits.find_splits(cv, X, rows, None)
        assert len(groups) <= most
        expected = list(cv.split(X, y))
        assert sum(len(group.roles) for group in groups) == len(expected)
        for group in groups:
            assert group.roles.shape[1] <= splits.MOST_PARTS
            for s, roles in enumerate(group.roles):
                of_row = roles[group.part]
                train, test = expected[group.first + s]
                np.testing.assert_array_equal(np.flatnonzero(of_row == LEARNS), np.sort(train))
                np.testing.assert_array_equal(np.flatnonzero(of_row == HELD_OUT), np.sort(test))


def test_a_row_of_weight_zero_is_no_row():
    X, y = integers()
    weight = (np.arange(240) % 4 > 0).astype(float)
    counted = weight > 0
    model = pb.ProperBoostClassifierCV(**QUICK, effort=None)
    wild = np.where(counted[:, None], X, np.nan)
    a = clone(model).fit(wild, np.where(counted, y, 7), weight)
    b = clone(model).fit(X[counted], y[counted])
    np.testing.assert_array_equal(a.validation_curves_, b.validation_curves_)
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    # Ready-made splits number the rows of the call.
    ready = [(np.arange(120), np.arange(120, 240)), (np.arange(120, 240), np.arange(120))]
    renumbered = [
        tuple(np.flatnonzero(np.isin(np.flatnonzero(counted), r)) for r in s) for s in ready
    ]
    a = clone(model).set_params(cv=ready).fit(wild, np.where(counted, y, 7), weight)
    b = clone(model).set_params(cv=renumbered).fit(X[counted], y[counted])
    np.testing.assert_array_equal(a.validation_curves_, b.validation_curves_)


def test_a_class_that_a_split_does_not_train_on_has_probability_zero():
    X, y = integers(n_classes=3)
    first = np.flatnonzero(y != 2)
    cv = [
        (first[:100], np.setdiff1d(np.arange(240), first[:100])),
        (np.arange(200), np.arange(200, 240)),
    ]
    search = pb.ProperBoostClassifierCV(
        **QUICK | {"cv": cv}, rows_per_bin=None, scoring="accuracy", effort=None
    )
    search.fit(X, y)
    train, test = cv[0]
    two = pb.ProperBoostClassifier(
        weak_learner=PLAIN["weak_learner"],
        n_estimators=6,
        gain=0.5,
        rows_per_bin=None,
        selection="cyclic",
    ).fit(X[train], y[train])
    score = search.cv_results_["split0_test_score"][0]
    assert score == pytest.approx(two.score(X[test], y[test]))
    search.set_params(scoring="neg_log_loss").fit(X, y)
    p = np.column_stack([two.predict_proba(X[test]), np.zeros(len(test))])
    expected = -log_loss(y[test], p)
    assert search.cv_results_["split0_test_score"][0] == pytest.approx(expected, rel=1e-4)


@settings(max_examples=10)
@given(seed=st.integers(0, 1000), shift=st.integers(0, 3))
def test_rows_in_any_order_within_their_splits(seed, shift):
    X, y = integers(120, seed=1)
    fold = (np.arange(120) + shift) % 3
    order = np.random.default_rng(seed).permutation(120)
    model = pb.ProperBoostClassifierCV({"gain": [0.5, 2.0], "n_estimators": 4}, effort=None)
    a = clone(model).set_params(cv=PredefinedSplit(fold)).fit(X, y)
    b = clone(model).set_params(cv=PredefinedSplit(fold[order])).fit(X[order], y[order])
    np.testing.assert_allclose(a.validation_curves_, b.validation_curves_, rtol=1e-4)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-4, atol=1e-5)


@settings(max_examples=10)
@given(
    roles=st.lists(st.lists(st.integers(0, 2), min_size=60, max_size=60), min_size=1, max_size=6)
)
def test_any_splits_give_what_fits_on_them_give(roles):
    X, y = integers(60, seed=2)
    X[:10], y[:10] = np.arange(10)[:, None] % 5, np.arange(10) < 5
    cv = []
    for role in np.array(roles):
        role[:10] = 1  # all values and both classes: the bins of every fit are the same
        role[10] = 2
        cv.append((np.flatnonzero(role == 1), np.flatnonzero(role == 2)))
    shared = {"gain": 1.0, "n_estimators": 3, "selection": "cyclic"}
    search = pb.ProperBoostClassifierCV(shared, cv=cv, rows_per_bin=None, effort=None).fit(X, y)
    for k, (train, test) in enumerate(cv):
        model = pb.ProperBoostClassifier(**PLAIN, **shared, rows_per_bin=None)
        model.fit(X[train], y[train])
        expected = -log_loss(y[test], model.predict_proba(X[test]), labels=[0, 1])
        assert search.validation_curves_[0, k, -1] == pytest.approx(expected, rel=1e-4)


# -- what users get wrong -------------------------------------------------------------------------

X0, Y0 = integers(60)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ("five", "Expected .?cv.? as an integer"),
        (1, "cv must be at least 2"),
        (50, "cv must be at most 30"),
        ([], "cv must give at least one split"),
        ([([0, 1, 60], [2])], "training rows of split 0 must be positions from 0 to 59"),
        ([([0, -1], [2])], "must be positions from 0 to 59; got -1"),
        ([(range(30), [31, 31])], "the test rows of split 0 must all be different; got 31"),
        ([(range(30), range(20, 40))], "split 0 has rows both in training and in the test"),
        ([(range(30), [])], "cv: split 0 has no test row"),
        ([(range(30), [0.5])], "the test rows of split 0 must be a list of positions"),
        ([(range(40), range(40, 60)), ([], [1])], "split 1 .* rows are of no class"),
        (GroupKFold(2), "'groups' parameter should not be None"),
        ([(np.flatnonzero(Y0), np.flatnonzero(Y0 == 0))],
         "cv: split 0 must train on rows of at least two classes; .* are of class 1 only"),
    ],
    ids=str,
)  # fmt: skip
def test_bad_splits(cv, message):
    with pytest.raises((ValueError, TypeError), match=message):
        pb.ProperBoostClassifierCV(**QUICK | {"cv": cv}, effort=None).fit(X0, Y0)


@pytest.mark.parametrize("groups", [np.arange(59), np.zeros((60, 2)), 3])
def test_bad_groups(groups):
    with pytest.raises(ValueError, match="groups must have an entry for each of the 60 rows"):
        pb.ProperBoostClassifierCV(**QUICK, effort=None).fit(X0, Y0, groups=groups)


def test_more_folds_than_rows_of_any_class_are_refused():
    X = np.arange(5.0)[:, None]
    with pytest.raises(ValueError, match="cv must be at most 3, the rows of the largest class"):
        pb.ProperBoostClassifierCV(cv=5).fit(X, [0, 0, 0, 1, 1])


@pytest.mark.parametrize(
    ("counts", "effort", "expected"),
    [
        ((750, 750), 1, 1),  # one split that holds out a fifth
        ((750, 750), 2, 1),
        ((749, 750), 1, 3),  # a fifth would be too few
        ((500, 500), 2, 3),
        ((500, 500), 3, 5),
        ((499, 500), 2, 5),  # too few rows
        ((980, 19), 2, 5),  # a rare class
        ((4, 30), 3, 5),
        ((3, 4), 3, 4),
        ((500, 500), None, 5),
        ((500, 500), 4, 10),  # folds are cut twice
        ((500, 500), 5, 15),
    ],
)
def test_how_many_splits_there_are(counts, effort, expected):
    y = np.repeat([0, 1], counts)
    X = np.arange(len(y), dtype=float)[:, None] % 7
    space = {"interactions": 0, "gain": 1.0}
    search = pb.ProperBoostClassifierCV(space, effort=effort, readable=True, max_estimators=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # folds of a rare class
        search.set_params(calibrate=False).fit(X, y)
    assert search.n_splits_ == expected


def test_what_belongs_together_stays_together():
    y = np.repeat([0, 1], 1000)
    X = np.zeros((2000, 1))
    rows = read_rows(y, 2000)
    for choose in (splits.choose_folds, splits.choose_split):
        for _, held_out in choose(rows, grouped=False, in_blocks=True).split(X, y):
            assert np.sum(np.diff(held_out) > 1) == 1  # a block of either class
    for _, held_out in splits.choose_folds(rows, grouped=False).split(X, y):
        assert np.diff(np.sort(held_out)).max() < 60  # from everywhere
    [(_, held_out)] = splits.choose_split(rows, grouped=False).split(X, y)
    [(_, again)] = splits.choose_split(rows, grouped=False).split(X, y)
    np.testing.assert_array_equal(again, held_out)
    assert np.diff(np.sort(held_out)).max() < 60  # from everywhere
    groups = np.arange(2000) % 30
    for train, test in splits.choose_split(rows, grouped=True).split(X, y, groups):
        assert not set(groups[test]) & set(groups[train])


class WritingSplitter:
    """A splitter that writes into its arguments where it can, then yields another's folds."""

    def __init__(self):
        self.refused = 0

    def split(self, X, y, groups=None):
        folds = list(StratifiedKFold(3).split(np.zeros((len(y), 1)), y))
        for values in (X, y, groups):
            if isinstance(values, np.ndarray) and not values.flags.writeable:
                self.refused += 1
            elif isinstance(values, np.ndarray):
                values[...] = values[::-1].copy()
            elif hasattr(values, "iloc"):
                values.iloc[:] = values.iloc[::-1].to_numpy()
            elif hasattr(values, "replace_column"):
                values.replace_column(0, values.get_column("c0") * 0)
        for train, test in folds:
            yield train, test
            train[:] = test[0]  # the caller has already read it

    def get_n_splits(self, X=None, y=None, groups=None):
        return 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_splitter_that_writes_changes_nothing(kind):
    X, y = integers()
    groups = GROUPS.copy()
    frame = pytest.importorskip("pandas").DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    table = X if kind == "numpy" else as_kind(kind, frame)
    before = X.tobytes(), y.tobytes(), groups.tobytes(), np.asarray(table).tobytes()
    plain = pb.ProperBoostClassifierCV(**QUICK | {"cv": StratifiedKFold(3)}, effort=None)
    written = pb.ProperBoostClassifierCV(**QUICK | {"cv": WritingSplitter()}, effort=None)
    plain.fit(table, y)
    written.fit(table, y, groups=groups)
    np.testing.assert_array_equal(written.validation_curves_, plain.validation_curves_)
    assert written.cv.refused == (3 if kind == "numpy" else 2)
    assert (X.tobytes(), y.tobytes(), groups.tobytes(), np.asarray(table).tobytes()) == before
