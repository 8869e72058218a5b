"""Steps: how far to go along a look-up table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scipy.optimize import brentq

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from helpers.reference.settings import Training


def doubling_grid(start: float, stop: float) -> list[float]:
    """Return start, 2 start, 4 start, ... below stop, then stop itself."""
    grid = []
    a = start
    while a < stop:
        grid.append(a)
        a *= 2
    return [*grid, stop]


def first_stationary(slope: Callable[[float], float], grid: Sequence[float]) -> float:
    """Return the root of `slope`, positive at 0, before the first point where it is not positive.

    Without such a point of the grid it is the last one. For a convex risk that is the minimiser or
    the end of the grid, whatever its other points are.
    """
    before = 0.0
    for a in grid:
        if slope(a) <= 0:
            # Only the relative precision is set, so the root of a scaled problem is the scaled
            # root.
            return float(brentq(slope, before, a, xtol=1e-300, rtol=8.9e-16, maxiter=500))
        before = a
    return grid[-1]


def step_size(t: Training, slope: Callable[[float], float], largest: float) -> float:
    """Return the factor of the table, whose largest absolute value is `largest`."""
    r = t.learning_rate
    if t.step == "unit":
        return r
    limit = t.cap / largest
    if t.step == "guarded":
        return first_stationary(slope, doubling_grid(limit / 16, r))
    return r * search_line(slope, limit)


def search_line(slope: Callable[[float], float], limit: float) -> float:
    """Return the first root of `slope`, positive at 0; `limit` if it vanishes without one."""
    grid = doubling_grid(limit / 16, 1024 * limit)
    for k, a in enumerate(grid):
        if slope(a) < 0 or (slope(a) == 0 and a <= limit):
            return first_stationary(slope, grid[: k + 1])
        if slope(a) == 0:
            break
    return limit
