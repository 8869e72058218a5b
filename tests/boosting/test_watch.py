"""What watches a fit while it runs."""

import numpy as np
import pytest

import properboost as pb
from properboost.boosting.ensemble import Rounds
from properboost.boosting.watch import Validation, Watch
from properboost.data.binning import Binning, NumericBins
from properboost.losses import GLog
from properboost.losses.probabilities import Link
from properboost.scoring import HeldOut, find_score

BINNING = Binning((NumericBins(np.array([0.0])),), from_dtype=False)
CODES = np.array([[0, 0, 1, 1]], dtype=np.uint8)
LABELS = np.array([0, 0, 1, 1])


def add(low, high):
    """A round that says so much of the two bins."""
    return [[Rounds.of_tables(np.zeros(1, dtype=np.int64), [np.array([low, high, 0.0])])]]


def validation(scoring="neg_log_loss"):
    return Validation(
        rows=HeldOut(np.arange(4), LABELS, None),
        codes=CODES,
        base=np.zeros((4, 1)),
        link=Link(GLog()),
        score=find_score(scoring, np.array([0, 1]), None),
    )


class Impatient:
    """Is over as soon as something got worse."""

    def __init__(self, _):
        self.scores = []

    def see(self, _, values):
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
    assert watch.best == watch.n_estimators == 2  # nobody said to stop


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
    watch.see(add(-1.0, 1.0))
    one = Watch(BINNING, [[1.0]], validation=validation())
    one.see(add(-1.0, 1.0))
    assert watch.scores[1] == one.scores[0]


def test_the_caller_sees_all_rounds_so_far_and_may_stop():
    seen = []

    def call(find_rounds):
        seen.append(len(find_rounds()[0][0]))
        return len(seen) == 2

    watch = Watch(BINNING, [[1.0]], call=call)
    watch.see(add(0.0, 1.0), repeated=True)  # of an earlier fit
    assert not watch.see(add(0.0, 1.0))
    assert watch.see(add(0.0, 1.0))
    assert seen == [2, 3]


@pytest.mark.parametrize("scoring", ["accuracy", "neg_brier_score"])
def test_scores_are_those_that_were_asked_for(scoring):
    watch = Watch(BINNING, [[1.0]], validation=validation(scoring))
    watch.see(add(-1.0, 1.0))
    p = GLog().probability(-1.0)
    assert watch.scores[0] == pytest.approx({"accuracy": 1.0, "neg_brier_score": -(p**2)}[scoring])


def test_bad_validation_rows_are_named(binary):
    X, y = binary
    model = pb.ProperBoostClassifier(n_estimators=2)
    for given, message in (
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
            model.fit(X, y, **given)
    assert not hasattr(model, "n_features_in_")
