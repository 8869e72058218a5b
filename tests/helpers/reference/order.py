"""Cells whose values must rise or fall along a feature's ordered bins."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from helpers.reference.learners import positive_share

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from helpers.reference.bins import Array
    from helpers.reference.cells import Statistics
    from helpers.reference.learners import Response


def merge_violators(
    cells: NDArray[np.int64],
    n_ordered: int,
    direction: int,
    values_of: Callable[[NDArray[np.int64]], Array],
) -> NDArray[np.int64]:
    """Merge neighbouring cells, the first two in the wrong order each time, until none are."""
    cells = cells.copy()
    while direction:
        values = values_of(cells)
        for a, b in pairwise(cells[:n_ordered]):
            if direction * (values[b] - values[a]) < 0:
                cells[cells == b] = a
                break
        else:
            break
    return cells


def pool_by_share(
    cells: NDArray[np.int64], stats: Statistics, n_ordered: int, direction: int, response: Response
) -> NDArray[np.int64]:
    """Return pools of adjacent violators, by shares; a pool has the number of its first cell."""
    n = int(cells.max()) + 1
    return merge_violators(
        cells, n_ordered, direction, lambda c: positive_share(stats.gathered(c, n), response)
    )


def freedom_in_order(rows: NDArray[np.int64], n_ordered: int, most: int | None) -> float:
    """Return the mean, by chance, of the statistic of cells in order: harmonic numbers of bins."""
    bins, others = int((rows[:n_ordered] > 0).sum()), int((rows[n_ordered:] > 0).sum())
    n = bins + others
    if n < 2:
        return 0.0
    all_ = min(n - 1.0, sum(1 / i for i in range(1, bins + 1)) + others - 1)
    if most is None:
        return all_
    one = 0.5 + 0.54 * np.log(n - 1)
    return all_ if one >= all_ else float(all_ * (1 - (1 - one / all_) ** (most - 1)))
