"""The preference for readable models: sums of functions of at most three features."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from properboost.model_selection.search_space import Candidate

__all__ = ["MOST_READABLE", "is_readable", "prefer_readable"]

MOST_READABLE = 3
"""The most features in a term of a readable model."""

ERRORS = 1.0
"""The standard errors of the difference between two candidates that count as noise."""

SHARE = 0.005
"""The share of the score that counts as noise where one split shows no standard error."""


def is_readable(candidate: Candidate) -> bool:
    """Whether a candidate's model is a sum of functions of few features."""
    return candidate.options.weak_learner.most_term_features <= MOST_READABLE


def prefer_readable(
    candidates: Sequence[Candidate], scores: NDArray[np.float64], best: int
) -> int:
    """Return the best readable candidate if it is not worse by more than noise, else the best.

    `scores` are those of each candidate in each split, (n_candidates, n_splits); candidates that
    fell behind on the first splits have NaN on the others.
    """
    means = scores.mean(axis=1)
    readable = [k for k, c in enumerate(candidates) if is_readable(c) and means[k] == means[k]]
    if is_readable(candidates[best]) or not readable:
        return best
    nearest = max(readable, key=lambda k: means[k])
    differences = scores[best] - scores[nearest]
    behind, n_splits = float(differences.mean()), len(differences)
    if n_splits > 1:
        noise = ERRORS * float(differences.std(ddof=1)) / n_splits**0.5
    else:
        noise = SHARE * abs(float(means[best]))
    return nearest if behind <= noise else best
