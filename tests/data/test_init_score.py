"""Test raw predictions that a fit starts from."""

import numpy as np
import pytest

from properboost.data.init_score import read_init_score


@pytest.mark.parametrize(
    ("scores", "n_models", "expected"),
    [
        (0.5, 1, [[0.5], [0.5]]),
        ([1, 2], 1, [[1.0], [2.0]]),
        ([[1.0], [2.0]], 1, [[1.0], [2.0]]),
        (2, 3, [[2.0] * 3] * 2),
        ([[1, 2, 3], [4, 5, 6]], 3, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    ],
)
def test_shapes(scores, n_models, expected):
    np.testing.assert_array_equal(read_init_score(scores, 2, n_models), expected)


@pytest.mark.parametrize(
    ("scores", "n_models", "message"),
    [
        ([1.0, 2.0, 3.0], 1, r"init_score must have shape \(2,\), \(2, 1\); got \(3,\)"),
        ([1.0, 2.0], 3, r"init_score must have shape \(\) or \(2, 3\); got \(2,\)"),
        ([1.0, np.nan], 1, "init_score must hold finite numbers of at most 1e"),
        ([1.0, np.inf], 1, "init_score must hold finite numbers of at most 1e"),
        (["a", "b"], 1, "init_score must be an array of numbers"),
    ],
)
def test_what_is_refused(scores, n_models, message):
    with pytest.raises(ValueError, match=message):
        read_init_score(scores, 2, n_models)
