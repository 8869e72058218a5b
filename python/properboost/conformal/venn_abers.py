"""Venn-Abers pairs: two isotonic regressions, with the new row in either class.

For a new row of score s, p1 is the isotonic regression of the calibration rows and the new row as
a positive one, at s; p0 is the same with the new row as a negative one (Vovk, Petej and Fedorova
2015, Large-scale probabilistic predictors with and without guarantees of validity, NIPS).  Both
are step functions of s, which are computed once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["VennAbersTable", "merge"]

Point: TypeAlias = tuple[int, int]
"""Sums over rows: their number, and how many are positive."""


@dataclass(frozen=True, eq=False)
class VennAbersTable:
    """The pairs (p0, p1) of every score, as step functions."""

    scores: NDArray[np.float64]
    """The distinct scores of the calibration rows, ascending."""
    lower: NDArray[np.float64]
    """p0 of a score that is not below so many of `scores`."""
    upper: NDArray[np.float64]
    """p1 of a score that is above so many of `scores`."""

    @classmethod
    def of(cls, scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> VennAbersTable:
        """Return the pairs by calibration rows, given their scores and classes."""
        distinct, place = np.unique(scores, return_inverse=True)
        n_rows = np.bincount(place, minlength=len(distinct))
        n_positive = np.bincount(place[positive], minlength=len(distinct))
        upper = _find_upper(n_rows, n_positive)
        # With scores and classes reversed p0 becomes 1 - p1.
        lower = 1.0 - _find_upper(n_rows[::-1], (n_rows - n_positive)[::-1])[::-1]
        return cls(distinct, lower, upper)

    def find_pairs(
        self, scores: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return p0 and p1 of each score."""
        lower = self.lower[np.searchsorted(self.scores, scores, side="right")]
        return lower, self.upper[np.searchsorted(self.scores, scores, side="left")]


def merge(p0: NDArray[np.float64], p1: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability whose log loss is at worst as far from that of p0 as from that of p1.

    Vovk, Petej and Fedorova (2015), section 4.
    """
    return p1 / (1.0 - p0 + p1)


def _find_upper(n_rows: NDArray[np.intp], n_positive: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return p1 at each distinct score, and above them all (algorithms 1 and 2 of the paper).

    An isotonic regression is the slope of the lower convex hull of cumulative sums.  The new row's
    step of (1, 1) comes first, and then moves past one score after the other.  Each move lowers one
    point; only the hull to the right of it matters.  Sums are whole, so that no turn is rounded.
    """
    points: list[Point] = [(-1, -1), (0, 0)]
    points += zip(np.cumsum(n_rows).tolist(), np.cumsum(n_positive).tolist(), strict=True)
    corners = _find_hull(points)
    upper = np.ones(len(n_rows) + 1)
    for j in range(len(n_rows)):
        left, right = corners[-1], corners[-2]
        upper[j] = (right[1] - left[1]) / (right[0] - left[0])
        before, at, after = points[j : j + 3]
        moved = (before[0] + after[0] - at[0], before[1] + after[1] - at[1])
        points[j + 1] = moved
        if _turns_left(left, moved, right):
            corners.pop()
            _push(corners, moved)
    return upper


def _find_hull(points: list[Point]) -> list[Point]:
    """Return the corners of the lower convex hull from right to left."""
    corners: list[Point] = []
    for point in reversed(points):
        _push(corners, point)
    return corners


def _push(corners: list[Point], point: Point) -> None:
    """Put a point to the left of a hull, without the corners that it hides."""
    while len(corners) > 1 and not _turns_left(point, corners[-1], corners[-2]):
        corners.pop()
    corners.append(point)


def _turns_left(a: Point, b: Point, c: Point) -> bool:
    """Whether b is below the line from a to c."""
    return (b[0] - a[0]) * (c[1] - a[1]) > (b[1] - a[1]) * (c[0] - a[0])
