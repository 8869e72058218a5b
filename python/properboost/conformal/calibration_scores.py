"""The conformity scores of held-out rows, by subgroup, and the counts that make sets of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from properboost.data.distinct import find_distinct

__all__ = ["CalibrationScores", "count_needed", "find_limit"]


def find_limit(n_rows: int, confidence_level: float) -> int:
    """Return ceil((n + 1) x level): a class is in a set if fewer scores are below its own.

    The level counts as it is written, so that 0.9 is nine tenths.
    """
    return math.ceil((n_rows + 1) * Fraction(repr(confidence_level)))


def count_needed(confidence_level: float) -> int:
    """Return the least number of rows at which a set may lack a class."""
    miss = 1 - Fraction(repr(confidence_level))
    return math.ceil(1 / miss) - 1


@dataclass(frozen=True, eq=False)
class CalibrationScores:
    """The sorted scores of the rows that one model did not see, an array for each subgroup."""

    sorted_scores: Sequence[NDArray[np.float64]]

    @classmethod
    def of(
        cls, scores: NDArray[np.float64], subgroup: NDArray[np.intp], n_subgroups: int
    ) -> CalibrationScores:
        """Return the scores of rows by their subgroup."""
        return cls([np.sort(scores[subgroup == k]) for k in range(n_subgroups)])

    @property
    def n_rows(self) -> NDArray[np.int64]:
        """The number of rows of each subgroup."""
        return np.array([len(scores) for scores in self.sorted_scores], dtype=np.int64)

    def count_below(
        self, scores: NDArray[np.float64], subgroup: NDArray[np.intp]
    ) -> NDArray[np.int64]:
        """Return how many scores of its subgroup are below each score of a row's classes."""
        below = np.empty(scores.shape, dtype=np.int64)
        for k in find_distinct(subgroup):
            rows = subgroup == k
            below[rows] = np.searchsorted(self.sorted_scores[k], scores[rows], side="left")
        return below
