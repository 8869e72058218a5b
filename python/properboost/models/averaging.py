"""Averaging fits, of draws or bags: one model's rounds that add up to the mean of several."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.models.ensemble import Rounds
from properboost.models.lines import Lines
from properboost.models.tree import Tree

__all__ = ["average_rounds"]

SAFE = 2.0**960
"""Sums of numbers up to this are finite, however many there are."""


def average_rounds(fits: Sequence[Rounds], size: int = 1) -> Rounds:
    """Return rounds that add up to the mean of what those of each fit add up to.

    Each fit's estimators are `size` rounds.  The fits take turns: those that are still boosted
    share an estimator.  In it, look-up tables of one feature are one round.
    """
    estimators = [np.arange(len(own), dtype=np.int32) // size for own in fits]
    if not any(own.trees is not None for own in fits):
        return _merge(fits, estimators)
    estimator = np.concatenate(estimators)
    turn = np.argsort(estimator, kind="stable")
    sizes = np.concatenate([np.diff(own.offsets) for own in fits])
    ends = np.cumsum(sizes)
    first = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes[turn])])
    nodes = np.repeat((ends - sizes)[turn] - first[:-1], sizes[turn]) + np.arange(first[-1])

    def join(name: str, order: NDArray[np.int64]) -> NDArray[Any]:
        joined: NDArray[Any] = np.concatenate([getattr(own, name) for own in fits])[order]
        return joined

    lines = [own.lines for own in fits if own.lines is not None]
    return Rounds(
        feature=join("feature", turn),
        cost=join("cost", turn),
        step=join("step", turn) / len(fits),
        risk=join("risk", turn),
        offsets=first,
        values=join("values", nodes),
        trees=Tree.join([own.trees for own in fits if own.trees is not None]).take(nodes),
        lines=Lines.join(lines).take(nodes) if lines else None,
        estimator=estimator[turn],
    )


def _merge(fits: Sequence[Rounds], estimators: Sequence[NDArray[np.int32]]) -> Rounds:
    """Return the mean of fits of look-up tables; costs, steps and risks are means, too."""
    features = np.concatenate([own.feature for own in fits])
    n_terms = int(features.max(initial=0)) + 1
    key = n_terms * np.concatenate(estimators).astype(np.int64) + features
    kinds, place, counts = np.unique(key, return_inverse=True, return_counts=True)

    def average(every: NDArray[np.float64]) -> NDArray[np.float64]:
        # A sum may overflow where the mean does not: under the largest of gains risks are as large.
        large = 64 if np.abs(every).max(initial=0.0) > SAFE else 0
        means = np.bincount(place, np.ldexp(every, -large), len(counts)) / counts
        return np.ldexp(means, large)

    cost, steps, risk = (
        np.concatenate([getattr(own, name) for own in fits]) for name in ("cost", "step", "risk")
    )

    widths = np.zeros(len(counts), dtype=np.int64)
    widths[place] = np.concatenate([np.diff(own.offsets) for own in fits])
    offsets = np.cumsum([0, *widths])
    begins = np.split(offsets[place], np.cumsum([len(own) for own in fits])[:-1])
    values = np.zeros(offsets[-1])
    for own, begin in zip(fits, begins, strict=True):
        values += own.add_up(begin, len(values))
    step = average(steps)
    step[np.abs(step) <= 0.5 * average(np.abs(steps))] = 1.0  # some are 0, or cancel
    return Rounds(
        cost=average(cost),
        step=step,
        risk=average(risk),
        feature=(kinds % n_terms).astype(np.int32),
        offsets=offsets,
        values=values / np.repeat(step * len(fits), widths),
        estimator=(kinds // n_terms).astype(np.int32),
    )
