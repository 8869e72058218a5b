"""Test `ThresholdMoves`: thresholds of rows stay in order, at a distance from each other."""

import numpy as np

from properboost.models.threshold_moves import LEAST_GAP, ThresholdMoves


def test_moves_keep_the_order_of_thresholds():
    rng = np.random.default_rng(0)
    thresholds = np.array([-1.0, 0.0, 0.5, 3.0])
    moves = ThresholdMoves((0, 2), (rng.normal(size=(5, 4)), rng.normal(size=(3, 4))))
    codes = np.array([rng.integers(0, 5, 99), np.zeros(99), rng.integers(0, 3, 99)], np.uint8)
    moved = moves.add_to(thresholds, codes)
    for row, (first, _, last) in zip(moved, codes.T, strict=True):
        wanted = moves.tables[0][first] + moves.tables[1][last]
        factors = np.linspace(0.0, 1.0, 100_001)
        gaps = np.diff(thresholds + factors[:, None] * wanted, axis=1)
        is_far = (gaps >= LEAST_GAP * np.diff(thresholds)).all(axis=1)
        np.testing.assert_allclose(row, thresholds + factors[is_far].max() * wanted, atol=1e-4)


def test_equal_thresholds_stay_equal():
    moves = ThresholdMoves((0,), (np.array([[0.5, -0.5, 0.0], [0.0, 0.0, 0.0]]),))
    moved = moves.add_to(np.array([1.0, 1.0, 2.0]), np.array([[0, 1]], np.uint8))
    np.testing.assert_allclose(moved, [[1.0, 1.0, 2.0]] * 2, atol=1e-12)
