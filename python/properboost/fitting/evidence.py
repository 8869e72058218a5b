"""The evidence in the training rows that features separate the classes better than chance.

The most significant feature is compared with the most significant of as many features under random
labels.  Where it is hardly more significant, a model learns noise, and its raw predictions are
shrunk.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.data.binning import NumericBins
from properboost.data.entries import find_entries
from properboost.data.whole_sums import mean
from properboost.engine.protocols import TrainingRows
from properboost.models.interactions import RANKING_LEVELS, find_levels

__all__ = ["RowEvidence", "find_slopes"]

Array = NDArray[np.float64]

POWER = 4
"""The power of the ratio of chance to evidence in the shrinkage."""

LEAST = 2.0**-10
"""The least slope, above 0 so that a model can still be read."""

ENOUGH = 0.999
"""The slope from which on it is taken to be 1."""

MOST_FEATURES = 64
"""The most features whose pairs are tested, the most significant first."""


@dataclass(frozen=True, eq=False)
class FeatureEvidence:
    """The evidence that single features separate a class from the others.

    `negative` and `positive` have the training weight of each feature's codes.
    """

    negative: Sequence[Array]
    positive: Sequence[Array]
    deviates: Array
    vary: NDArray[np.bool_]


class RowEvidence:
    """The evidence in training rows; plans of the same rows share that of single features."""

    def __init__(self, rows: TrainingRows) -> None:
        self.rows = rows
        self._of_class: dict[int, FeatureEvidence] = {}

    def of_class(self, positive_class: int) -> FeatureEvidence:
        """Return the evidence of single features."""
        if positive_class not in self._of_class:
            self._of_class[positive_class] = self._compute(positive_class)
        return self._of_class[positive_class]

    def _compute(self, positive_class: int) -> FeatureEvidence:
        rows = self.rows
        negative, positive = rows.weigh_groups(
            (rows.class_of == positive_class).astype(np.int64), 2
        )
        evidence = np.array([
            _core.find_evidence(p, q, isinstance(bins, NumericBins))
            for p, q, bins in zip(positive, negative, rows.binning.features, strict=True)
        ]).T  # fmt: skip
        deviates = _core.normal_deviates(*evidence)
        return FeatureEvidence(negative, positive, deviates, evidence[1] > 0.0)


def find_slopes(
    evidence: RowEvidence, *, joint: bool, pairs: bool, share: float = 1.0
) -> tuple[float, ...]:
    """Return the factor of each model's raw predictions, at most 1.

    It is 1 - ((1 + 2 log n) / z^2)^4, for the normal deviate z of the most significant of n
    features: the largest of n squared deviates is about 2 log n by chance.  With `pairs` the
    evidence of pairs of features counts, too.  The classes of a joint model share their largest
    slope.  Where the rows are only a `share` of all, z^2 is divided by it, which estimates the z^2
    of all rows.
    """
    n_classes = len(evidence.rows.classes)
    slopes: list[float] = []
    for positive_class in [1] if n_classes == 2 else range(n_classes):
        slopes.append(_find_slope(evidence, positive_class, pairs, share))
        if joint and slopes[-1] >= ENOUGH:
            break
    if joint:
        slopes = [max(slopes)] * n_classes
    return tuple(1.0 if slope >= ENOUGH else max(slope, LEAST) for slope in slopes)


def _find_slope(evidence: RowEvidence, positive_class: int, pairs: bool, share: float) -> float:
    of_features = evidence.of_class(positive_class)
    deviates, vary = of_features.deviates, of_features.vary
    slope = _slope_of(deviates[vary], share)
    if slope >= ENOUGH or not pairs:
        return slope
    likely_last = np.argsort(-deviates, kind="stable")
    features = likely_last[vary[likely_last]][:MOST_FEATURES].tolist()
    if len(features) < 2:
        return slope
    weights = {  # sums may overflow
        j: 0.5 * of_features.positive[j] + 0.5 * of_features.negative[j] for j in features
    }
    of_pairs = _find_interactions(evidence.rows, positive_class, weights)
    both = np.concatenate([deviates[vary], _core.normal_deviates(*of_pairs)[of_pairs[1] > 0.0]])
    return max(slope, _slope_of(both, share))


def _slope_of(deviates: Array, share: float) -> float:
    largest = float(deviates.max(initial=0.0))
    if largest <= 0.0:
        return 0.0
    by_chance = 1.0 + 2.0 * math.log(len(deviates))
    return 1.0 - float(min(1.0, share * by_chance / largest**2)) ** POWER


def _find_interactions(
    rows: TrainingRows, positive_class: int, weights: dict[int, Array]
) -> NDArray[np.float64]:
    """Return the chi-squares of pairs of features, and their means by chance, as in `rank_pairs`.

    `weights` has the training weight of each code of the features.
    """
    levels = np.stack([
        find_entries(
            np.maximum(find_levels(rows.binning.features[j], weight, RANKING_LEVELS)[0], 0)
            .astype(np.uint8),
            codes,
        )
        for (j, weight), codes in zip(weights.items(), rows.gather([*weights]), strict=True)
    ])  # fmt: skip
    is_positive = rows.class_of_row == positive_class
    scale, count = 1.0, np.ones(len(is_positive))
    if rows.weight is not None:
        scale = mean(rows.weight)
        count = rows.weight / scale
    share = mean(is_positive, count)
    gradient = (count * (is_positive - share)).astype(np.float32)
    variance = (count * (share * (1.0 - share))).astype(np.float32)
    return _core.find_interactions(levels, gradient, variance, scale, rows.n_threads)
