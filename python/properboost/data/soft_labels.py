"""Probabilities as labels: a column for each class, whose rows add up to 1."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.label_array import read_label_array
from properboost.data.libraries import is_a
from properboost.data.table import SoftLabels

__all__ = ["read_soft_labels"]

TOLERANCE = 1e-3
"""How far from 1 a row may add up: probabilities of float32, or those printed with four digits."""


def read_soft_labels(y: Any, name: str = "y") -> SoftLabels | None:
    """Return labels that are probabilities; None if `y` has no columns of numbers.

    Parameters
    ----------
    y : array-like
        Labels of any kind.  An array, a list of rows or a data frame of several columns of numbers
        has probabilities.
    name : str, default="y"
        The labels' name in error messages.

    Returns
    -------
    SoftLabels or None
        The classes are the names of a data frame's columns, in ascending order; else 0, 1 and so
        on.

    Raises
    ------
    ValueError
        If a number is negative or not finite, a row does not add up to 1, or names are not
        distinct labels.
    """
    if not _has_columns(y):
        return None
    try:
        probability = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):  # text, or rows of different lengths: no probabilities
        return None
    if probability.ndim != 2 or probability.shape[1] < 2:
        return None
    classes = _read_classes(y, probability.shape[1], name)
    order = np.argsort(classes, kind="stable")
    return SoftLabels(classes[order], _normalize(probability, name)[:, order])


def _has_columns(y: Any) -> bool:
    if isinstance(y, list | tuple):
        return len(y) > 0 and isinstance(y[0], list | tuple | np.ndarray)
    shape = getattr(y, "shape", ())
    # A sparse matrix is not meant: nothing reads it as an array of numbers.
    return isinstance(shape, tuple) and len(shape) == 2 and not hasattr(y, "toarray")


def _read_classes(y: Any, n_classes: int, name: str) -> NDArray[Any]:
    """Return the classes of the columns, in their order."""
    names: Any = np.arange(n_classes)
    if is_a(y, "pandas", "DataFrame") or is_a(y, "polars", "DataFrame"):
        names = list(y.columns)
    elif is_a(y, "pyarrow", "Table"):
        names = list(y.column_names)
    classes = read_label_array(names, f"{name}'s columns")
    if len({*classes.tolist()}) < n_classes:
        raise ValueError(
            f"{name} must have a column for each class, with different names; got {names}"
        )
    return classes


def _normalize(probability: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Check probabilities, and divide each row by its sum."""
    wrong = ~np.isfinite(probability) | (probability < 0.0)
    if wrong.any():
        row, k = np.argwhere(wrong)[0].tolist()
        raise ValueError(
            f"{name} with a column for each class must hold probabilities, finite and at least 0; "
            f"row {row} has {probability[row, k]:g}"
        )
    total = probability.sum(axis=1)
    far = np.abs(total - 1.0) > TOLERANCE
    if far.any():
        row = int(np.argmax(far))
        raise ValueError(
            f"{name} should be a 1d array of labels, or must hold a probability for each class, "
            f"which add up to 1 in every row; row {row} adds up to {total[row]:g}: several labels "
            "of a row need sklearn.multioutput.MultiOutputClassifier(model)"
        )
    normalized: NDArray[np.float64] = probability / total[:, None]
    return normalized
