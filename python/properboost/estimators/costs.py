"""Costs of decisions: how they are given, and the matrix that they mean."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.data.libraries import is_a

__all__ = ["Costs", "choose_decisions", "decide", "find_threshold", "read_costs", "read_row_costs"]

Array: TypeAlias = NDArray[np.float64]

Costs: TypeAlias = Mapping[Any, float] | ArrayLike | None
"""Costs by label of the true class, a matrix of classes and decisions, or None for 1 an error."""


def read_costs(costs: Costs, classes: NDArray[Any]) -> Array:
    """Return costs as a matrix, by the class of the row and the decision."""
    n = len(classes)
    if costs is None:
        return 1.0 - np.eye(n)
    if is_a(costs, "pandas", "Series"):
        costs = costs.to_dict()  # type: ignore[union-attr]
    if isinstance(costs, Mapping):
        labels = classes.tolist()
        if set(costs) != set(labels):
            raise ValueError(f"costs must be of each class of {labels}; got those of {[*costs]}")
        return _spread(_read_numbers([costs[label] for label in labels]))
    matrix = _read_numbers(costs)
    if matrix.shape != (n, n):
        raise ValueError(
            f"costs must be a dict by label, or have the shape ({n}, {n}); got {matrix.shape}"
        )
    return _check_order(matrix)


def read_row_costs(costs: ArrayLike, n_rows: int, n_classes: int) -> Array:
    """Return the costs of each row as matrices, (n_rows, n_classes, n_classes)."""
    values = _read_numbers(costs)
    if values.shape == (n_rows, n_classes):
        return _spread(values)
    if values.shape != (n_rows, n_classes, n_classes):
        raise ValueError(
            f"costs of rows must have the shape ({n_rows}, {n_classes}) or ({n_rows}, {n_classes}, "
            f"{n_classes}); got {values.shape}"
        )
    return _check_order(values)


def find_threshold(matrix: Array) -> float:
    """Return the probability of the second of two classes from which on it costs less.

    Where no decision costs more than another, it is a half.
    """
    of_second = matrix[0, 1] - matrix[0, 0]
    of_first = matrix[1, 0] - matrix[1, 1]
    total = of_second + of_first
    return float(of_second / total) if total > 0.0 else 0.5


def decide(probability: Array, matrix: Array) -> NDArray[np.intp]:
    """Return the decision of least expected cost for each row, by its probabilities."""
    if len(matrix) == 2:
        return (probability[:, 1] >= find_threshold(matrix)).astype(np.intp)
    return choose_decisions(probability @ matrix)


def choose_decisions(expected: Array) -> NDArray[np.intp]:
    """Return the decision of least cost in each row; of equals the first, or the second of two."""
    if expected.shape[1] == 2:
        return (expected[:, 1] <= expected[:, 0]).astype(np.intp)
    decisions: NDArray[np.intp] = expected.argmin(axis=1)
    return decisions


def _read_numbers(costs: ArrayLike) -> Array:
    try:
        values = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"costs must be numbers; got {costs!r}") from error
    if not np.isfinite(values).all():
        wrong = values[~np.isfinite(values)][0]
        raise ValueError(f"costs must be finite numbers; got {wrong:g}")
    return values


def _spread(of_class: Array) -> Array:
    """Return matrices of costs where every error on a row costs as much, by its class."""
    if (of_class < 0.0).any():
        raise ValueError(f"costs of errors must be at least 0; got {of_class.min():g}")
    costs: Array = of_class[..., None] * (1.0 - np.eye(of_class.shape[-1]))
    return costs


def _check_order(matrix: Array) -> Array:
    """Refuse costs by which an error would be cheaper than the right decision."""
    right = np.diagonal(matrix, axis1=-2, axis2=-1)[..., None]
    if (matrix < right).any():
        raise ValueError("costs of a row's class must be least for the decision that is right")
    return matrix
