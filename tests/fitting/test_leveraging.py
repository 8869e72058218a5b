"""The parts of ULS on given features: the elimination, and rounds that end in time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properboost.fitting.leveraging import ROUND_FIELDS, _eliminate, leverage
from properboost.fitting.signed_columns import SignedColumns
from properboost.losses import GBoost, GLog


@given(seed=st.integers(0, 10**6), n=st.integers(1, 8), rank=st.integers(1, 8))
def test_elimination_solves_what_has_a_solution(seed, n, rank):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(n, min(rank, n))) @ rng.normal(size=(min(rank, n), n))
    matrix = half.T @ half
    right = matrix @ rng.normal(size=n)
    kept = matrix.copy()
    found, solved = _eliminate(matrix, right)
    np.testing.assert_array_equal(matrix, kept)
    np.testing.assert_allclose(matrix @ found, right, atol=1e-6 * np.abs(right).max())
    assert np.count_nonzero(solved) <= rank
    assert not found[~solved].any()


@pytest.mark.parametrize("corrected", [2, 3, "so_far", "all"])
@pytest.mark.parametrize("size", [1e-3, 1e-5, 1e-7, 1e-10])
def test_a_feature_that_hardly_varies_has_the_slope_of_its_variation(size, corrected):
    """It was taken to depend on the ones, and what edge it had for a sign of separated classes.

    A third column does depend on both: twice the feature less the ones.
    """
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    sides = np.where(x + rng.logistic(size=300) > 0.3, 1.0, -1.0)
    ones = np.ones(300)
    feature = 1.0 + size * x
    wide = np.stack([ones, (feature - 1.0) / size], axis=1)
    expected = leverage(SignedColumns(sides[:, None] * wide), ones, GLog(), "all", 1)
    columns = np.stack([ones, feature, 2.0 * feature - ones], axis=1)
    found = leverage(SignedColumns(sides[:, None] * columns), ones, GLog(), corrected, 10)
    assert found.rounds["exact"].all()
    assert len(found.rounds["risk"]) <= 3
    rounding = 1e-15 / size
    least = expected.rounds["risk"][-1]
    assert found.rounds["risk"][-1] == pytest.approx(least, rel=1e-9 + rounding / 100)
    np.testing.assert_allclose(
        columns @ found.coefficients, wide @ expected.coefficients, atol=1e-9 + rounding
    )


def test_columns_of_nothing_are_never_taken():
    rng = np.random.default_rng(0)
    signed = rng.normal(size=(50, 3)) + 0.2
    signed[:, 1] = 0.0
    for corrected in (1, 3, "so_far", "all"):
        found = leverage(SignedColumns(signed.copy()), np.ones(50), GLog(), corrected, 20)
        assert found.coefficients[1] == found.norms[1] == 0.0
        assert 1 not in found.rounds["feature"]
        assert tuple(found.rounds) == ROUND_FIELDS


def test_it_ends_where_nothing_has_an_edge():
    rng = np.random.default_rng(1)
    signed = rng.normal(size=(80, 4)) + 0.1
    reported = []
    found = leverage(
        SignedColumns(signed), np.full(80, 2.0), GBoost(0.5), 1, 10_000,
        lambda *told: reported.append(told),
    )  # fmt: skip
    n = len(found.rounds["risk"])
    assert n < 500
    assert [done for done, _ in reported] == list(range(1, n + 1))
    assert reported[-1][1] == pytest.approx(found.rounds["risk"][-1] / 160.0)
    assert np.all(np.diff(found.rounds["risk"]) <= 1e-12)
    nothing = leverage(SignedColumns(np.zeros((5, 2))), np.ones(5), GLog(), 1, 9)
    assert nothing.rounds["risk"].shape == (0,)
