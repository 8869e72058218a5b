"""Test the watch over a fit while it runs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example
from hypothesis import given as drawn
from hypothesis import strategies as st
from sklearn.metrics import make_scorer, precision_score

import properboost as pb
from properboost.data.binning import Binning, NumericBins
from properboost.fitting.patience import Patience
from properboost.fitting.watch import Validation, Watch
from properboost.losses import GLog
from properboost.losses.probabilities import Link
from properboost.models.ensemble import Rounds
from properboost.scoring import HeldOutRows, find_score

BINNING = Binning((NumericBins(np.array([0.0])),), from_dtype=False)
CODES = np.array([[0, 0, 1, 1]], dtype=np.uint8)
LABELS = np.array([0, 0, 1, 1])


def add(low, high, rounds=1):
    """Return rounds that each add these values to the two bins."""
    tables = [np.array([low, high, 0.0])] * rounds
    return [[Rounds.of_tables(np.zeros(rounds, dtype=np.int64), tables)]]


def validation(scoring="neg_log_loss"):
    return Validation(
        rows=HeldOutRows(np.arange(4), LABELS, None),
        codes=CODES,
        base=np.zeros((4, 1)),
        link=Link(GLog()),
        score=find_score(scoring, np.array([0, 1]), None),
    )


class Impatient:
    """Patience that ends as soon as a score got worse."""

    def __init__(self, _):
        self.scores = []

    def add(self, _, values):
        self.scores.append(values[0, 0])

    def is_over(self, _):
        return len(self.scores) > 1 and self.scores[-1] < max(self.scores)


def test_it_scores_what_was_added_so_far():
    watch = Watch(BINNING, [[0.5]], validation=validation())
    assert not watch.see(add(-1.0, 1.0))
    assert not watch.see(add(-1.0, 3.0))
    expected = [
        validation().rate(np.array([F]).T) for F in ([-0.5, -0.5, 0.5, 0.5], [-1, -1, 2, 2])
    ]
    np.testing.assert_allclose(watch.scores, expected)
    assert watch.best == watch.n_estimators == 2  # no criterion stopped it


def test_the_best_is_kept_where_boosting_stops():
    watch = Watch(BINNING, [[1.0]], validation=validation(), patience=Impatient)
    assert [watch.see(add(*tables)) for tables in ((-1.0, 1.0), (-1.0, 1.0), (9.0, -9.0))] == [
        False,
        False,
        True,
    ]
    assert watch.best == 2


def test_nothing_new_is_no_estimator():
    watch = Watch(BINNING, [[1.0]], validation=validation())
    assert not watch.see([[Rounds.of_tables(np.zeros(0, dtype=np.int64), [])]])
    assert watch.scores == []


def test_several_fits_are_averaged():
    watch = Watch(BINNING, [[1.0], [1.0]], validation=validation())
    watch.see([*add(-1.0, 1.0), *add(-3.0, 3.0)])
    one = Watch(BINNING, [[1.0]], validation=validation())
    one.see(add(-2.0, 2.0))
    np.testing.assert_allclose(watch.scores, one.scores)


def test_rounds_that_all_change_are_taken_anew():
    watch = Watch(BINNING, [[1.0]], validation=validation(), restarts=True)
    watch.see(add(5.0, 5.0))
    watch.see(add(-2.0, 2.0, rounds=2))
    watch.see(add(-2.0, 2.0, rounds=2))  # the same rounds again, as no round was added
    one = Watch(BINNING, [[1.0]], validation=validation())
    one.see(add(-4.0, 4.0))
    assert watch.scores[1:] == one.scores


def test_the_caller_sees_all_rounds_so_far_and_may_stop():
    seen = []

    def call(find_rounds):
        seen.append(len(find_rounds()[0][0]))
        return len(seen) == 2

    watch = Watch(BINNING, [[1.0]], call=call)
    watch.see(add(0.0, 1.0), repeated=True)  # this round is of an earlier fit
    assert not watch.see(add(0.0, 1.0))
    assert watch.see(add(0.0, 1.0))
    assert seen == [2, 3]


@pytest.mark.parametrize("scoring", ["accuracy", "neg_brier_score"])
def test_scores_are_those_of_the_scoring_parameter(scoring):
    watch = Watch(BINNING, [[1.0]], validation=validation(scoring))
    watch.see(add(-1.0, 1.0))
    p = GLog().probability(-1.0)
    assert watch.scores[0] == pytest.approx({"accuracy": 1.0, "neg_brier_score": -(p**2)}[scoring])


def score_by(values):
    """Return a scorer that gives these values one after the other, for any input."""
    values = iter(values)
    return lambda *_: next(values)


UNDEFINED = [np.nan, -np.inf]


@drawn(
    scores=st.lists(st.sampled_from([*UNDEFINED, -1.0, 0.0, 0.5]), min_size=1, max_size=12),
    stops=st.booleans(),
)
@example(scores=[np.nan, 0.5, 0.0], stops=True)
@example(scores=UNDEFINED, stops=True)
def test_undefined_scores_are_never_the_best(scores, stops):
    watch = Watch(
        BINNING, [[1.0]], validation=replace(validation(), score=score_by(scores)),
        patience=(lambda n: Patience(n, 99, 0.0)) if stops else None,
    )  # fmt: skip
    assert not any(watch.see(add(-0.1, 0.1)) for _ in scores)
    defined = [score for score in scores if score > -np.inf]
    best = scores.index(max(defined)) + 1 if stops and defined else len(scores)
    assert watch.best == best
    if stops and not defined:
        with pytest.raises(ValueError, match=r"^scoring='rare' gave no finite score .* after any"):
            watch.check_scores("rare")
    elif len(defined) < len(scores):
        counts = f"after {len(scores) - len(defined)} of {len(scores)} estimators"
        with pytest.warns(UserWarning, match=f"scoring='rare' gave no finite .* {counts}"):
            watch.check_scores("rare")
    else:
        watch.check_scores("rare")


def test_pairs_follow_all_features_while_no_score_is_defined():
    """All features stay, as no defined score favours fewer rounds."""
    X = np.random.default_rng(0).integers(0, 2, (300, 3))
    y = X[:, 0] ^ X[:, 1]
    settings = {"interactions": 1, "n_estimators": 4, "weak_learner": pb.Table(max_cells=None)}
    scores = [np.nan] * 4 + [0.1, 0.3, 0.2, np.nan]
    model = pb.ProperBoostClassifier(
        early_stopping=pb.EarlyStopping(scoring=score_by(scores)), **settings
    )
    with pytest.warns(UserWarning, match="after 5 of 8 estimators"):
        model.fit(X, y, X_val=X, y_val=y)
    assert (model.history_["feature"] >= 3).tolist() == [False] * 4 + [True] * 2
    np.testing.assert_array_equal(model.history_["validation_score"], scores[:6])


RARE = make_scorer(precision_score, zero_division=np.nan)


@pytest.mark.parametrize(
    "learner",
    [
        {},
        {"weak_learner": "tree"},
        {"outer_bags": 4},
        {"step": "totally_corrective", "n_estimators": 9, "learning_rate": None},
        {"selection": "cyclic", "n_estimators": 200},
    ],
    ids=str,
)
def test_a_score_may_be_undefined_at_first(learner):
    """The first models predict no positive class, so their precision is 0/0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = (X[:, 0] + 0.7 * rng.normal(size=3000) > 1.8).astype(int)
    settings = {
        "n_estimators": 60,
        "weak_learner": "table",
        "gain": 8.0,
        "learning_rate": 0.3,
        "calibration": pb.Calibration(intercept=None),
    } | learner
    model = pb.ProperBoostClassifier(early_stopping=pb.EarlyStopping(scoring=RARE), **settings)
    with pytest.warns(UserWarning, match=r"scoring=make_scorer\(precision_score"):
        model.fit(X[:1500], y[:1500], X_val=X[1500:], y_val=y[1500:])
    scores = model.validation_scores_
    assert np.isnan(scores[0])
    assert model.n_iter_ == 1 + int(np.nanargmax(scores)) > 1
    assert model.predict(X[1500:]).sum() > 0


@pytest.mark.parametrize("classes", [2, 3])
def test_scores_that_are_never_defined_are_refused(classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.arange(90) % classes
    model = pb.ProperBoostClassifier(
        n_estimators=3,
        early_stopping=pb.EarlyStopping(scoring=lambda *_: -np.inf),
        weak_learner="table",
    )
    with pytest.raises(ValueError, match="gave no finite score of the validation rows after any"):
        model.fit(X, y, X_val=X, y_val=y)
    assert not hasattr(model, "classes_")
    model.set_params(early_stopping__n_iter_no_change=None)
    with pytest.warns(UserWarning, match="after 3 of 3 estimators$"):
        model.fit(X, y, X_val=X, y_val=y)
    assert model.n_iter_ == 3
    if classes == 2:
        with pytest.raises(ValueError, match=r"^scoring='roc_auc' gave no finite score"):
            pb.ProperBoostClassifier(
                early_stopping=pb.EarlyStopping(scoring="roc_auc"), weak_learner="table"
            ).fit(X, y, X_val=X[::2], y_val=y[::2])


def test_what_separates_rows_is_scored_once():
    """Boosting with solved steps may end with an estimator that adds nothing."""
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    y = np.array([0, 0, 1, 1])
    model = pb.ULS(n_estimators=4)
    with pytest.warns(UserWarning, match="no finite optimal coefficients"):
        model.fit(X, y, X_val=X, y_val=y)
    assert len(model.validation_scores_) == model.n_iter_ == 1


def test_bad_validation_rows_are_named(binary):
    X, y = binary
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table")
    for arguments, message in (
        ({"X_val": X[:, :3], "y_val": y}, "X_val: X has 3 features"),
        ({"X_val": X, "y_val": y[:9]}, "X_val and y_val must have as many rows; got 569 and 9"),
        ({"X_val": X[:3], "y_val": [0, 1, 2]}, r"y_val must hold labels among \[0, 1\]; got 2"),
        ({"X_val": X}, "X_val must be given with y_val only"),
        ({"y_val": y}, "y_val must be given with X_val only"),
        ({"sample_weight_val": 1.0}, "sample_weight_val must be given with X_val only"),
        ({"X_val": X, "y_val": y, "sample_weight_val": -y}, "sample_weight_val: "),
        ({"X_val": X, "y_val": y, "init_score_val": y}, "init_score_val must be given with init"),
        ({"X_val": X, "y_val": y, "init_score": y}, "init_score_val must be given with init_score"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, **arguments)
    assert not hasattr(model, "n_features_in_")
