"""The rows that early stopping holds out, where none are given to it."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GroupShuffleSplit, StratifiedShuffleSplit

from properboost.parameters import checks

__all__ = ["hold_out", "take_entries"]


def hold_out(
    labels: NDArray[Any], groups: ArrayLike | None, share: float, random_state: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows to learn from, and those that are held out, which are a share of all."""
    n_rows = len(labels)
    seed = checks.seed(random_state)
    by = StratifiedShuffleSplit if groups is None else GroupShuffleSplit
    splitter = by(n_splits=1, test_size=share, random_state=seed)
    try:
        learns, held = next(splitter.split(np.empty((n_rows, 1)), labels, groups))
    except ValueError as error:
        raise ValueError(
            f"early_stopping cannot hold out a share of {share:g} of {n_rows} rows: {error}"
        ) from error
    return np.sort(learns), np.sort(held)


def take_entries(values: Any, rows: NDArray[np.int64]) -> Any:
    """Return the entries of some rows, of what has one for each; numbers and None are for all."""
    return values if np.ndim(values) == 0 else np.asarray(values)[rows]
