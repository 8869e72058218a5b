"""Steps: how far to go along a look-up table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scipy.optimize import brentq

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from helpers.reference.settings import Training


def doubling_grid(start: float, stop: float) -> list[float]:
    """start, 2 start, 4 start, ... below stop, then stop itself."""
    grid = []
    a = start
    while a < stop:
        grid.append(a)
        a *= 2
    return [*grid, stop]


def first_stationary(slope: Callable[[float], float], grid: Sequence[float]) -> float:
    """The root of `slope`, positive at 0, before the first grid point where it is not positive.

    Without such a point, the last grid point.  For a convex risk that is the minimiser or the end
    of the grid, whatever the grid's other points are.
    """
    before = 0.0
    for a in grid:
        if slope(a) <= 0:
            # Relative precision only: the root of a scaled problem is then the scaled root.
            return float(brentq(slope, before, a, xtol=1e-300, rtol=8.9e-16, maxiter=500))
        before = a
    return grid[-1]


def step_size(t: Training, slope: Callable[[float], float], largest: float) -> float:
    """What the table is multiplied by; `largest` is its largest absolute value."""
    r = t.learning_rate
    if t.step == "unit":
        return r
    limit = t.cap / largest
    if t.step == "guarded":
        return first_stationary(slope, doubling_grid(limit / 16, r))
    return r * search_line(slope, limit)


def search_line(slope: Callable[[float], float], limit: float) -> float:
    """The first root of `slope`, positive at 0; `limit` where it is positive until it vanishes."""
    grid = doubling_grid(limit / 16, 1024 * limit)
    for k, a in enumerate(grid):
        if slope(a) < 0 or (slope(a) == 0 and a <= limit):
            return first_stationary(slope, grid[: k + 1])
        if slope(a) == 0:
            break
    return limit
