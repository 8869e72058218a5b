"""Averaging the fits of draws or bags into rounds whose sum is the mean of the fits."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.models.ensemble import Rounds
from properboost.models.lines import Lines
from properboost.models.tree import TreeNodes

__all__ = ["average_rounds"]

SAFE = 2.0**960
"""Sums of numbers up to this are finite, however many there are."""


def average_rounds(fits: Sequence[Rounds], size: int = 1, *, are_bags: bool = False) -> Rounds:
    """Return rounds whose sum is the mean of the fits' sums.

    An estimator of a fit has `size` rounds.  The estimators of the same number become one, from
    all fits that have one; in it, the look-up tables of one feature become one round.  Trees keep
    the numbers of their fits if these are bags.
    """
    estimators = [np.arange(len(rounds), dtype=np.int32) // size for rounds in fits]
    if not any(rounds.trees is not None for rounds in fits):
        return _merge(fits, estimators)
    # Trees cannot be added up, so all of them stay, with steps that make their sum the mean.
    estimator = np.concatenate(estimators)
    order = np.argsort(estimator, kind="stable")
    n_nodes = np.concatenate([np.diff(rounds.offsets) for rounds in fits])
    nodes, offsets = _reorder_pieces(n_nodes, order)

    def join(name: str, order: NDArray[np.int64]) -> NDArray[Any]:
        joined: NDArray[Any] = np.concatenate([getattr(rounds, name) for rounds in fits])[order]
        return joined

    trees = [rounds.trees for rounds in fits if rounds.trees is not None]
    lines = [rounds.lines for rounds in fits if rounds.lines is not None]
    bags = np.repeat(np.arange(len(fits), dtype=np.int32), [len(rounds) for rounds in fits])
    return Rounds(
        feature=join("feature", order),
        cost=join("cost", order),
        step=join("step", order) / len(fits),
        risk=join("risk", order),
        offsets=offsets,
        values=join("values", nodes),
        trees=TreeNodes.join(trees).take(nodes),
        lines=Lines.join(lines).take(nodes) if lines else None,
        estimator=estimator[order],
        bag=bags[order] if are_bags else None,
    )


def _reorder_pieces(
    sizes: NDArray[np.int64], order: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the old positions of all entries, and the new offsets, of pieces in another order.

    An array consists of pieces of these sizes, one after the other, that move as a whole.
    """
    old_starts = (np.cumsum(sizes) - sizes)[order]
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes[order])])
    # All entries of a piece move by the same distance.
    distances = np.repeat(old_starts - offsets[:-1], sizes[order])
    return distances + np.arange(offsets[-1]), offsets


def _merge(fits: Sequence[Rounds], estimators: Sequence[NDArray[np.int32]]) -> Rounds:
    """Return the mean of fits of look-up tables, with the means of costs, steps and risks."""
    features = np.concatenate([rounds.feature for rounds in fits])
    n_terms = int(features.max(initial=0)) + 1
    key = n_terms * np.concatenate(estimators).astype(np.int64) + features
    kinds, place, counts = np.unique(key, return_inverse=True, return_counts=True)

    def average(values: NDArray[np.float64]) -> NDArray[np.float64]:
        # A sum may overflow where the mean does not: the largest gains make risks that large.
        large = 64 if np.abs(values).max(initial=0.0) > SAFE else 0
        means = np.bincount(place, np.ldexp(values, -large), len(counts)) / counts
        return np.ldexp(means, large)

    cost, steps, risk = (
        np.concatenate([getattr(rounds, name) for rounds in fits])
        for name in ("cost", "step", "risk")
    )

    widths = np.zeros(len(counts), dtype=np.int64)
    widths[place] = np.concatenate([np.diff(rounds.offsets) for rounds in fits])
    offsets = np.cumsum([0, *widths])
    begins = np.split(offsets[place], np.cumsum([len(rounds) for rounds in fits])[:-1])
    values = np.zeros(offsets[-1])
    for rounds, begin in zip(fits, begins, strict=True):
        values += rounds.add_up(begin, len(values))
    step = average(steps)
    step[np.abs(step) <= 0.5 * average(np.abs(steps))] = 1.0  # where steps are 0, or cancel
    return Rounds(
        cost=average(cost),
        step=step,
        risk=average(risk),
        feature=(kinds % n_terms).astype(np.int32),
        offsets=offsets,
        values=values / np.repeat(step * len(fits), widths),
        estimator=(kinds // n_terms).astype(np.int32),
    )
