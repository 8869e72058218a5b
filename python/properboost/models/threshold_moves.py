"""Moves of the thresholds of ordered classes: a table for each feature, a column per threshold."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ThresholdMoves"]

Array = NDArray[np.float64]

LEAST_GAP = 0.1
"""The least distance of neighbouring thresholds of a row, as a share of their usual one."""

LEAST_DISTANCE = 1e-100
"""The least distance by which moves are divided, where thresholds are equal."""


@dataclass(frozen=True, eq=False)
class ThresholdMoves:
    """Tables that features add to the thresholds; the mean of each is 0 over the training rows."""

    features: tuple[int, ...]
    tables: tuple[Array, ...]
    """The moves of each feature's codes, (n_codes, n_thresholds)."""

    def of_codes(self, codes: NDArray[np.uint8]) -> Array:
        """Return the moves of rows with these codes, (n_rows, n_thresholds)."""
        parts = zip(self.features, self.tables, strict=True)
        moves: Array = sum(table[codes[feature]] for feature, table in parts)
        return moves

    def add_to(self, thresholds: Array, codes: NDArray[np.uint8]) -> Array:
        """Return the thresholds of rows with these codes, (n_rows, n_thresholds), ascending.

        Where a row's moves would bring neighbours too close, or past each other, all its moves are
        made shorter by the same factor.
        """
        parts = zip(self.features, self.find_nearer(thresholds), strict=True)
        nearer = sum(table[codes[feature]] for feature, table in parts)
        factor = np.maximum(np.max(nearer, axis=1, initial=1.0, keepdims=True), 1.0)
        moved: Array = thresholds + self.of_codes(codes) / factor
        return moved

    def find_nearer(self, thresholds: Array) -> list[Array]:
        """Return how much of the distance of neighbours each move may take it takes, by feature."""
        most = (1.0 - LEAST_GAP) * np.maximum(np.diff(thresholds), LEAST_DISTANCE)
        return [-np.diff(table, axis=1) / most for table in self.tables]
