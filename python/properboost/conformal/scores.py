"""Conformity scores: how unlike the rows of a class a row is, by a model's probabilities.

A larger score means a class that fits the row less.  Romano, Sesia and Candès (2020) draw a random
number for each row.  Here it comes from the bits of the row's probabilities: the guarantee holds
for any fixed function of the row, and a row has the same set in any batch and on any machine.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["SCORES", "ScoreName", "draw_uniform"]

ScoreName: TypeAlias = Literal["lac", "aps"]

Scores: TypeAlias = NDArray[np.float64]
"""An array with a column for each class."""


def score_by_probability(probability: Scores, uniform: NDArray[np.float64]) -> Scores:  # noqa: ARG001
    """Return minus the probability of each class (LAC, Sadinle et al. 2019)."""
    return -probability


def score_by_order(probability: Scores, uniform: NDArray[np.float64]) -> Scores:
    """Return the sum of the probabilities down to each class, less a random part of its own (APS).

    Romano, Sesia and Candès (2020), eq. 5, with the random number u of each row in `uniform`.
    Classes of equal probability come in their own order.
    """
    order = np.argsort(-probability, axis=1, kind="stable")
    falling = np.take_along_axis(probability, order, axis=1)
    left_out = uniform[:, np.newaxis] * falling
    scores = np.empty_like(probability)
    np.put_along_axis(scores, order, np.cumsum(falling, axis=1) - left_out, axis=1)
    return scores


SCORES: Mapping[ScoreName, Callable[[Scores, NDArray[np.float64]], Scores]] = MappingProxyType(
    {"lac": score_by_probability, "aps": score_by_order}
)


def draw_uniform(probability: Scores) -> NDArray[np.float64]:
    """Return a number in [0, 1) for each row, from the bits of its probabilities."""
    state = np.zeros(len(probability), dtype=np.uint64)
    for bits in np.ascontiguousarray(probability.T).view(np.uint64):
        state = _mix(state ^ bits)
    return (state >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the next number of SplitMix64 (Steele, Lea and Flood 2014)."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
