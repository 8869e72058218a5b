"""Test the parts of ULS on given features: the elimination, and rounds that end in time."""

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
    original = matrix.copy()
    solution, solved = _eliminate(matrix, right)
    np.testing.assert_array_equal(matrix, original)
    np.testing.assert_allclose(matrix @ solution, right, atol=1e-6 * np.abs(right).max())
    assert np.count_nonzero(solved) <= rank
    assert not solution[~solved].any()


@pytest.mark.parametrize("corrected", [2, 3, "so_far", "all"])
@pytest.mark.parametrize("size", [1e-3, 1e-5, 1e-7, 1e-10])
def test_a_feature_that_hardly_varies_has_the_slope_of_its_variation(size, corrected):
    """Such a feature was once taken to depend on the ones, and its edge for separated classes.

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
    leveraged = leverage(SignedColumns(sides[:, None] * columns), ones, GLog(), corrected, 10)
    assert leveraged.rounds["exact"].all()
    assert len(leveraged.rounds["risk"]) <= 3
    rounding = 1e-15 / size
    least = expected.rounds["risk"][-1]
    assert leveraged.rounds["risk"][-1] == pytest.approx(least, rel=1e-9 + rounding / 100)
    np.testing.assert_allclose(
        columns @ leveraged.coefficients, wide @ expected.coefficients, atol=1e-9 + rounding
    )


def test_columns_of_nothing_are_never_taken():
    rng = np.random.default_rng(0)
    signed = rng.normal(size=(50, 3)) + 0.2
    signed[:, 1] = 0.0
    for corrected in (1, 3, "so_far", "all"):
        leveraged = leverage(SignedColumns(signed.copy()), np.ones(50), GLog(), corrected, 20)
        assert leveraged.coefficients[1] == leveraged.norms[1] == 0.0
        assert 1 not in leveraged.rounds["feature"]
        assert tuple(leveraged.rounds) == ROUND_FIELDS


def test_it_ends_where_nothing_has_an_edge():
    rng = np.random.default_rng(1)
    signed = rng.normal(size=(80, 4)) + 0.1
    reported = []
    leveraged = leverage(
        SignedColumns(signed), np.full(80, 2.0), GBoost(0.5), 1, 10_000,
        lambda *arguments: reported.append(arguments),
    )  # fmt: skip
    n = len(leveraged.rounds["risk"])
    assert n < 500
    assert [done for done, _ in reported] == list(range(1, n + 1))
    assert reported[-1][1] == pytest.approx(leveraged.rounds["risk"][-1] / 160.0)
    assert np.all(np.diff(leveraged.rounds["risk"]) <= 1e-12)
    nothing = leverage(SignedColumns(np.zeros((5, 2))), np.ones(5), GLog(), 1, 9)
    assert nothing.rounds["risk"].shape == (0,)
