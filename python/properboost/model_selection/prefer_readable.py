"""The preference for readable models: sums of functions of at most three features."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["prefer_readable"]

ERRORS = 0.5
"""The standard errors of the difference between two candidates that count as noise."""

SHARE = 0.0025
"""The share of the score that counts as noise where one split shows no standard error."""


def prefer_readable(are_readable: Sequence[bool], scores: NDArray[np.float64], best: int) -> int:
    """Return the best readable candidate if it is not worse by more than noise, else the best.

    `scores` are those of each candidate in each split, (n_candidates, n_splits); candidates that
    fell behind on the first splits have NaN on the others.
    """
    means = scores.mean(axis=1)
    readable = np.flatnonzero(are_readable & ~np.isnan(means)).tolist()
    if are_readable[best] or not readable:
        return best
    nearest = max(readable, key=lambda k: means[k])
    differences = scores[best] - scores[nearest]
    behind, n_splits = float(differences.mean()), len(differences)
    if n_splits > 1:
        noise = ERRORS * float(differences.std(ddof=1)) / n_splits**0.5
    else:
        noise = SHARE * abs(float(means[best]))
    return nearest if behind <= noise else best
