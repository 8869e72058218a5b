"""From raw predictions to probabilities, classes and margins, whatever made them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.losses.builtin import MarginLoss

__all__ = ["choose_classes", "find_lead", "make_probabilities"]


def make_probabilities(loss: MarginLoss, raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities of all classes, (n_rows, n_classes), from raw predictions."""
    if raw.ndim == 1:
        # Every link is symmetric.  The smaller of the two, straight from the link, keeps its
        # digits where one minus the larger would be 0.
        smaller = loss.probability(-np.abs(raw))
        both: NDArray[np.float64] = np.stack([1.0 - smaller, smaller], axis=1)
        np.copyto(both, both[:, ::-1].copy(), where=raw[:, None] > 0.0)
        return both
    probability = loss.probability(raw)
    total = probability.sum(axis=1, keepdims=True)
    normalized = np.full_like(probability, 1.0 / raw.shape[1])
    np.divide(probability, total, out=normalized, where=total > 0.0)
    return normalized


def choose_classes(raw: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the position of the class that each row's raw predictions speak for."""
    # Links ascend, so the largest F is the most probable; probabilities may be equal at 1.
    chosen: NDArray[np.intp] = (raw > 0.0).astype(np.intp) if raw.ndim == 1 else raw.argmax(axis=1)
    return chosen


def find_lead(values: NDArray[np.float64], own: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """Return by how much the value of each row's class exceeds the largest of the others."""
    rows = np.arange(len(values))
    others = values.copy()
    others[rows, own] = -np.inf
    lead: NDArray[np.float64] = values[rows, own] - others.max(axis=1)
    return lead
