"""Scores of candidates on splits: their means, and the best of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CVScores",
    "find_best",
    "find_best_numbers",
    "lengthen",
    "mean_known",
    "mean_scores",
]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CVScores:
    """The scores of a cross-validation."""

    values: Array
    """Every score of each candidate in each split after each estimator, shape (n_scores,
    n_candidates, n_splits, estimators run), with NaN for none.  More is better."""
    temperatures: Array
    """The temperature with which a one-vs-rest candidate has these scores, shape (n_candidates,
    estimators run); NaN where probabilities are divided by their sum, and where there are none."""

    @classmethod
    def join(cls, parts: Sequence["CVScores"]) -> "CVScores":
        """Put the scores of some candidates after those of others, on the same splits."""
        longest = max(part.values.shape[3] for part in parts)
        return cls(
            np.concatenate([lengthen(part.values, longest) for part in parts], axis=1),
            np.concatenate([lengthen(part.temperatures, longest) for part in parts]),
        )


def lengthen(values: Array, size: int) -> Array:
    """Return values with NaN at the end of the last axis."""
    more = [(0, 0)] * (values.ndim - 1) + [(0, size - values.shape[-1])]
    return np.pad(values, more, constant_values=np.nan)


def mean_scores(scores: Array) -> Array:
    """Return the means over the splits, the second axis; -inf where a split has no score."""
    means: Array = scores.mean(axis=1)
    return np.where(np.isnan(means), -np.inf, means)


def mean_known(scores: Array) -> Array:
    """Return the means over those splits that have any score, or -inf, as in `mean_scores`.

    A candidate that was dropped ran on the first splits only.
    """
    means = mean_scores(scores)
    for candidate, mean in zip(scores, means, strict=True):
        ran = ~np.isnan(candidate).all(axis=1)
        if ran.any():
            mean[:] = mean_scores(candidate[None, ran])[0]
    return means


def find_best(means: Array, preference: Array | None = None) -> int:
    """Return the place of the largest mean; of ties, the one of the largest `preference`."""
    tied = np.flatnonzero(means == means.max())
    return int(tied[0] if preference is None else tied[preference[tied].argmax()])


def find_best_numbers(scores: CVScores, *, any_number: bool) -> tuple[int, NDArray[np.intp]]:
    """Return the best candidate, and the best number of estimators of each.

    That number is the last, unless any may be taken.
    """
    curves, log_losses = scores.values
    means = mean_scores(curves)
    if not any_number:
        return find_best(means[:, -1]), np.full(len(curves), curves.shape[2] - 1)
    # Scores of labels alone tie often.
    others = mean_scores(log_losses)
    known_means = (mean_known(array) for array in (curves, log_losses))
    best_at = np.array([find_best(*pair) for pair in zip(*known_means, strict=True)])
    best = find_best(*(array[np.arange(len(array)), best_at] for array in (means, others)))
    return best, best_at
