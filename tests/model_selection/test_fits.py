"""Fits on one split, and their progress callbacks."""

import numpy as np

from properboost.losses.builtin import GLog
from properboost.losses.probabilities import Link
from properboost.model_selection.fits import Progress, SplitFits
from properboost.scoring import HeldOutRows


def make_fits(fitted):
    held_out = HeldOutRows(np.array([4, 5]), np.array([0, 1]), None)

    def fit(candidate):
        fitted.append(candidate)
        return np.full(2, float(candidate))

    return SplitFits(3, held_out, [Link(GLog(), None)] * 3, 7, fit), held_out


def test_candidates_of_one_split_are_fitted_on_demand():
    fitted = []
    fits, held_out = make_fits(fitted)
    assert (fits.candidates, fits.splits, fits.n_estimators) == (range(3), range(3, 4), 7)
    progress = Progress(None)
    fits.advance([(0, 3), (2, 3)], 0, 7, progress)
    assert fitted == [0, 2]
    assert progress.done == 14
    assert fits.held_out(3) is held_out
    np.testing.assert_array_equal(fits.raw(2, 3), [2.0, 2.0])


def test_progress_is_reported_once_there_is_a_score():
    calls = []
    progress = Progress(lambda done, best: calls.append((done, best)))
    assert progress.from_here() is None
    progress.show()
    assert calls == []
    progress.done, progress.best = 10, -0.5
    progress.show()
    progress.from_here()(3, 0.0)
    assert calls == [(10, -0.5), (13, -0.5)]
