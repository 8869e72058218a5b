"""The most regularised of the candidates that are as good as the best."""

import dataclasses

import numpy as np
import pytest

import properboost as pb
from properboost.model_selection.families import check_search, list_plans
from properboost.model_selection.one_standard_error import regularize

GAINS = [1.0, 2.0, 4.0]
SPLITS = np.array([-0.02, 0.0, 0.02])  # a standard error of 0.0115


def make_candidates(*families, losses=("glog",)):
    """Return candidates of each loss and gain, gains changing fastest, in each family."""
    search = pb.ProperBoostClassifierCV({"loss": list(losses), "gain": GAINS}, effort=None)
    (grid,) = list_plans(search, check_search(search), 100.0, np.array([50.0, 50.0]))
    return [dataclasses.replace(c, family=name) for name in families for c in grid.candidates]


def choose(candidates, means, families=(None,), *, any_number=True):
    """Regularise by the mean scores of candidates after each estimator."""
    means = np.array(means)
    best_at = means.argmax(axis=1)
    best = int(means.max(axis=1).argmax())
    curves = means[:, None, :] + SPLITS[:, None]
    return regularize(candidates, families, curves, best_at, best, any_number=any_number)


def test_the_largest_gain_with_the_fewest_estimators_that_will_do():
    candidates = make_candidates(None)
    means = [[0.7, 0.8, 0.8], [0.7, 0.79, 0.795], [0.6, 0.7, 0.78]]
    assert choose(candidates, means) == (1, 1)
    assert choose(candidates, means, any_number=False) == (1, 2)


@pytest.mark.parametrize(("other", "chosen"), [(0.792, (2, 1)), (0.788, (1, 1))])
def test_as_good_is_within_one_standard_error(other, chosen):
    assert choose(make_candidates(None), [[0.7, 0.8], [0.7, 0.799], [0.7, other]]) == chosen


def test_without_families_the_loss_is_that_of_the_best():
    candidates = make_candidates(None, losses=("glog", "gboost"))
    assert [c.loss.name for c in candidates] == ["glog"] * 3 + ["gboost"] * 3
    means = [[0.8]] * 6
    means[4] = [0.801]
    assert choose(candidates, means) == (5, 0)


def test_a_simple_family_that_will_do_is_taken():
    candidates = make_candidates("simple", "other")
    means = [[0.70], [0.793], [0.792], [0.80], [0.80], [0.81]]
    families = ["simple", "other"]
    assert choose(candidates, means, families) == (5, 0)  # 0.793 is too low
    means[5] = [0.80]
    assert choose(candidates, means, families) == (2, 0)
    assert choose(candidates, means, families[::-1]) == (5, 0)
