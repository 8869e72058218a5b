"""Edges and codes, and the meanings of the codes of a feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable

Array = NDArray[np.float64]
Codes = NDArray[np.integer]


def distinct_edges(values: ArrayLike, weight: ArrayLike | None = None) -> Array:
    """Return bin edges that give every distinct value its own bin."""
    distinct, _ = _distinct(values, weight)
    return _edges_between(distinct, range(1, len(distinct)))


def quantile_edges(
    values: ArrayLike, weight: ArrayLike | None = None, max_bins: int = 255
) -> Array:
    """Return edges of at most `max_bins` bins: heavy values alone, others in weighted quantiles.

    The rule, in double precision; the weight of one value is summed over rows as they come, every
    other sum runs over the values in ascending order:

    1.  Drop NaN values and rows of weight 0.  Add up the weight of every distinct value
        (-0.0 and 0.0 are one value).  With at most `max_bins` of them, each is a bin.
    2.  Otherwise a value is *heavy* when its weight * max_bins > total weight.  A heavy value is a
        bin of its own.  With h of them, m = max_bins - h bins are left (m >= 1, always).
    3.  The light values between consecutive heavy values form *runs*.  A run of weight R has the
        quota m * R / L, L being the weight of all light values.  It first gets floor(quota) bins,
        but no more than it has distinct values.  The bins that remain are given out one at a time
        by largest quota - floor(quota), ties to the earlier run, passing over runs that have as
        many bins as distinct values; when every run has had its turn, the same order starts again.
    4.  A run of k >= 1 bins is walked in order: its j-th bin (j = 1, 2, ...) is closed at the value
        where (weight of the run so far) * k >= j * R.  Every bin takes at least one value; one
        value that passes several multiples closes one bin only, so a run may end with fewer than
        k bins, never with more.
    5.  A run of 0 bins joins the bin of the heavy value that follows it; the last run joins the
        one before it.

    Edges lie between neighbouring bins, see `midpoint`.  A value's code is the number of edges
    strictly below it.
    """
    distinct, weights = _distinct(values, weight)
    if len(distinct) <= max_bins:
        return _edges_between(distinct, range(1, len(distinct)))
    heavy = weights * max_bins > _sum(weights)
    starts: set[int] = set()  # the position of each bin's first value
    runs = _runs(~heavy)
    run_bins = _share_bins(
        [_sum(weights[a:b]) for a, b in runs],
        [b - a for a, b in runs],
        max_bins - int(heavy.sum()),
    )
    for position in np.flatnonzero(heavy):
        starts |= {int(position), int(position) + 1}
    for (a, b), k in zip(runs, run_bins, strict=True):
        if k == 0:
            # Without an edge towards its heavy neighbour the run is part of that bin.
            starts.discard(b if b < len(distinct) else a)
            continue
        run_weight, so_far, j = _sum(weights[a:b]), 0.0, 1
        for position in range(a, b):
            so_far += weights[position]
            if so_far * k >= j * run_weight:
                starts.add(position + 1)
                j += 1
    return _edges_between(distinct, sorted(starts - {0, len(distinct)}))


def _sum(weights: Array) -> float:
    """Return a plain left-to-right sum, which other languages can repeat bit for bit."""
    return float(np.cumsum(weights)[-1]) if len(weights) else 0.0


def _distinct(values: ArrayLike, weight: ArrayLike | None) -> tuple[Array, Array]:
    values = np.asarray(values, dtype=np.float64)
    weights = np.ones(len(values)) if weight is None else np.asarray(weight, dtype=np.float64)
    keep = ~np.isnan(values) & (weights > 0)
    distinct, position = np.unique(values[keep], return_inverse=True)
    return distinct, np.bincount(position, weights=weights[keep], minlength=len(distinct))


def _runs(light: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the half-open ranges of consecutive true entries."""
    change = np.flatnonzero(np.diff(np.concatenate([[False], light, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in change.reshape(-1, 2)]


def _share_bins(run_weights: list[float], run_sizes: list[int], m: int) -> list[int]:
    """Return the numbers of bins of the runs, by step 3 of `quantile_edges`."""
    light_weight = _sum(np.array(run_weights))
    quotas = [m * r / light_weight for r in run_weights]
    bins = [min(int(q), size) for q, size in zip(quotas, run_sizes, strict=True)]
    order = sorted(range(len(quotas)), key=lambda i: (int(quotas[i]) - quotas[i], i))
    while sum(bins) < m and any(b < s for b, s in zip(bins, run_sizes, strict=True)):
        for i in order:
            if sum(bins) < m and bins[i] < run_sizes[i]:
                bins[i] += 1
    return bins


def midpoint(a: float, b: float) -> float:
    """Return the edge between neighbouring values a < b, with a <= edge < b.

    If b is +infinity the edge is the largest finite double (whatever a is); else if a is -infinity
    it is -infinity; else a / 2 + b / 2, or a where rounding puts that outside [a, b).
    """
    if b == np.inf:
        return float(np.finfo(np.float64).max)
    if a == -np.inf:
        return -np.inf
    middle = a / 2 + b / 2
    return middle if a <= middle < b else a


def _edges_between(distinct: Array, starts: Iterable[int]) -> Array:
    """Return an edge before each start, which is the position of a bin's first value."""
    return np.array([midpoint(float(distinct[i - 1]), float(distinct[i])) for i in starts])


def encode(values: ArrayLike, edges: Array) -> NDArray[np.int64]:
    """Return the number of edges strictly below each value; missing values get the last code.

    So codes 0 ... len(edges) are the ordered bins and len(edges) + 1 is missing.
    """
    values = np.asarray(values, dtype=np.float64)
    codes = np.searchsorted(edges, values, side="left").astype(np.int64)
    codes[np.isnan(values)] = len(edges) + 1
    return codes


@dataclass(frozen=True)
class FeatureBins:
    """Meanings of the codes 0 ... n_bins - 1 of one feature.

    Codes below `n_ordered` are ordered bins. The others (the missing bin of an ordered feature,
    every bin of a categorical one, which has n_ordered = 0) have no neighbours.
    """

    n_bins: int
    n_ordered: int = 0
    missing: int | None = None
    means: Array | None = None

    @classmethod
    def numeric(cls, edges: Array, means: Array | None = None) -> FeatureBins:
        return cls(len(edges) + 2, len(edges) + 1, len(edges) + 1, means)

    @property
    def positions(self) -> Array:
        """Return each code's mean, scaled from 0 for the smallest to 1 for the largest; or NaN."""
        positions = np.full(self.n_bins, np.nan)
        if self.means is not None and self.means[-1] > self.means[0]:
            half = self.means / 2  # the range may be infinite
            positions[: self.n_ordered] = (half - half[0]) / (half[-1] - half[0])
        return positions

    @classmethod
    def categorical(cls, n_categories: int) -> FeatureBins:
        """Return the bins of a categorical feature: categories 0 ... n - 1, missing, unseen."""
        return cls(n_categories + 2, 0, n_categories)
