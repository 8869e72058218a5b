"""Means of scores over splits, and the best of them."""

import numpy as np

from properboost.model_selection.cross_validation import describe_results
from properboost.model_selection.cv_scores import (
    CVScores,
    find_best,
    find_best_numbers,
    mean_known,
    mean_scores,
)

NAN = np.nan


def test_a_score_of_nan_is_never_best():
    scores = np.array([[0.9, np.nan], [0.2, 0.4], [0.1, 0.1]])
    means = mean_scores(scores)
    np.testing.assert_allclose(means, [-np.inf, 0.3, 0.1])
    assert find_best(means) == 1
    params = [{"a": k} for k in range(3)]
    results = describe_results(params, params, scores)
    assert results["rank_test_score"].tolist() == [3, 1, 2]


def test_of_equals_the_last_preferred_is_best():
    means = np.array([0.5, 0.75, 0.75, 0.75])
    assert find_best(means) == 1
    assert find_best(means, np.array([9.0, 1.0, 3.0, 3.0])) == 2


def test_means_over_the_splits_that_a_candidate_ran_on():
    scores = np.array([
        [[1.0, 2.0, NAN], [3.0, 4.0, NAN]],
        [[1.0, NAN, 3.0], [NAN, NAN, NAN]],
        [[NAN, NAN, NAN], [NAN, NAN, NAN]],
        [[1.0, 2.0, 3.0], [NAN, 6.0, NAN]],
    ])  # fmt: skip
    none = -np.inf
    np.testing.assert_array_equal(
        mean_scores(scores), [[2.0, 3.0, none], [none] * 3, [none] * 3, [none, 4.0, none]]
    )
    np.testing.assert_array_equal(
        mean_known(scores), [[2.0, 3.0, none], [1.0, none, 3.0], [none] * 3, [none, 4.0, none]]
    )


def test_scores_of_more_candidates_are_joined_at_the_longest():
    parts = [CVScores(np.full((2, n, 3, n), float(n)), np.full((n, n), 0.5)) for n in (1, 2)]
    joined = CVScores.join(parts)
    assert joined.values.shape == (2, 3, 3, 2)
    assert np.isnan(joined.values[:, 0, :, 1]).all()
    np.testing.assert_array_equal(joined.values[:, 1:], 2.0)
    assert joined.temperatures.shape == (3, 2)


def test_where_each_candidate_is_best():
    values = np.zeros((2, 3, 2, 3))
    values[0] = [[[1, 3, 3]] * 2, [[1, 2, NAN]] * 2, [[3, 1, 2], [NAN] * 3]]
    values[1, 0, :, 2] = 1.0  # where scores tie, log loss counts
    scores = CVScores(values, np.full((3, 3), NAN))
    best, best_at = find_best_numbers(scores, any_number=True)
    assert (best, best_at.tolist()) == (0, [2, 1, 0])
    best, best_at = find_best_numbers(scores, any_number=False)
    assert (best, best_at.tolist()) == (0, [2, 2, 2])
