"""Joining bins of merged models where they have more than a model may have."""

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "find_exponent",
    "find_heaviest",
    "group_values",
    "join_neighbours",
    "number_groups",
    "scale_to_1",
]

Array = NDArray[np.float64]


def join_neighbours(
    values: Array,
    weight: Array,
    starts: NDArray[np.intp],
    most: int,
    stays: NDArray[np.bool_] | None = None,
) -> NDArray[np.intp]:
    """Return the starts of at most `most` stretches of bins that lose least if each is a mean.

    Starts that stay are never joined to the stretch before; `most` must be no fewer.
    """
    stays = np.zeros(len(starts), dtype=bool) if stays is None else stays
    values, weight = scale_to_1(values), scale_to_1(weight)
    weight = weight + 1e-9 * (weight.sum() or 1.0) / len(weight)
    masses = np.add.reduceat(weight, starts)
    means = np.add.reduceat(values * weight, starts, axis=1) / masses
    while len(starts) > most:
        lost = masses[:-1] * masses[1:] / (masses[:-1] + masses[1:])
        lost *= np.sum(np.diff(means, axis=1) ** 2, axis=0)
        k = int(np.argmin(np.where(stays[1:], np.inf, lost)))
        both = masses[k] + masses[k + 1]
        means[:, k] = (masses[k] * means[:, k] + masses[k + 1] * means[:, k + 1]) / both
        masses[k] = both
        means, masses = np.delete(means, k + 1, axis=1), np.delete(masses, k + 1)
        starts, stays = np.delete(starts, k + 1), np.delete(stays, k + 1)
    return starts


def number_groups(starts: NDArray[np.intp], n_bins: int) -> NDArray[np.intp]:
    """Return the number of the stretch of each bin, and after them that of missing values."""
    group = np.zeros(n_bins + 1, dtype=np.intp)
    group[starts[1:]] = 1
    group = np.cumsum(group)
    group[n_bins] = len(starts)
    return group


def group_values(values: Array, weight: Array, group: NDArray[np.intp]) -> tuple[Array, Array]:
    """Return the mean of values by coarser code, and the weight of each."""
    n = int(group.max()) + 1
    group_weight = np.bincount(group, weight, n)
    heaviest = np.zeros(n)
    np.maximum.at(heaviest, group, weight)
    # Values times heavy weights overflow, and powers of two leave the digits as they are.
    share = np.ldexp(weight, -np.frexp(heaviest)[1][group])
    share = np.where(heaviest[group] > 0.0, share, 1.0)
    total = np.bincount(group, share, n)
    alone = np.bincount(group, minlength=n) == 1  # these keep their last bit
    means = np.stack([np.bincount(group, share * table, n) / total for table in values])
    first = np.zeros(n, dtype=np.intp)
    first[group[::-1]] = np.arange(len(group))[::-1]
    means = np.where(alone, values[:, first], means)
    return means, group_weight.astype(np.float64)


def find_exponent(numbers: Array) -> int:
    """Return the exponent of the least power of two above all absolute values; 0 if all are 0."""
    return int(np.frexp(np.abs(numbers).max(initial=0.0))[1])


def scale_to_1(numbers: Array) -> Array:
    """Return numbers over a power of two, so that no square of them overflows."""
    scaled: Array = np.ldexp(numbers, -find_exponent(numbers))
    return scaled


def find_heaviest(group: NDArray[np.intp], weight: Array) -> NDArray[np.intp]:
    """Return the code of most weight among those of each coarser code."""
    order = np.argsort(weight, kind="stable")
    heaviest = np.zeros(int(group.max()) + 1, dtype=np.intp)
    heaviest[group[order]] = order
    return heaviest
