"""What ULS on given features is made of: the elimination, and rounds that end in time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properboost.fitting.leveraging import ROUND_FIELDS, _eliminate, leverage
from properboost.losses import GBoost, GLog


@given(seed=st.integers(0, 10**6), n=st.integers(1, 8), rank=st.integers(1, 8))
def test_elimination_solves_what_has_a_solution(seed, n, rank):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(n, min(rank, n))) @ rng.normal(size=(min(rank, n), n))
    matrix = half.T @ half
    right = matrix @ rng.normal(size=n)
    kept = matrix.copy()
    found = _eliminate(matrix, right)
    np.testing.assert_array_equal(matrix, kept)
    np.testing.assert_allclose(matrix @ found, right, atol=1e-6 * np.abs(right).max())
    assert np.count_nonzero(found) <= rank


def test_columns_of_nothing_are_never_taken():
    rng = np.random.default_rng(0)
    signed = rng.normal(size=(50, 3)) + 0.2
    signed[:, 1] = 0.0
    for corrected in (1, 3, "so_far", "all"):
        found = leverage(signed.copy(), np.ones(50), GLog(), corrected, 20)
        assert found.coefficients[1] == found.norms[1] == 0.0
        assert 1 not in found.rounds["feature"]
        assert tuple(found.rounds) == ROUND_FIELDS


def test_it_ends_where_nothing_has_an_edge():
    rng = np.random.default_rng(1)
    signed = rng.normal(size=(80, 4)) + 0.1
    reported = []
    found = leverage(
        signed, np.full(80, 2.0), GBoost(0.5), 1, 10_000, lambda *told: reported.append(told)
    )
    n = len(found.rounds["risk"])
    assert n < 500
    assert [done for done, _ in reported] == list(range(1, n + 1))
    assert reported[-1][1] == pytest.approx(found.rounds["risk"][-1] / 160.0)
    assert np.all(np.diff(found.rounds["risk"]) <= 1e-12)
    assert leverage(np.zeros((5, 2)), np.ones(5), GLog(), 1, 9).rounds["risk"].shape == (0,)
