"""The rows that early stopping holds out if a user passes no validation rows."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GroupShuffleSplit, StratifiedShuffleSplit

from properboost.parameters import checks

__all__ = ["hold_out", "take_entries"]


def hold_out(
    labels: NDArray[Any], groups: ArrayLike | None, share: float, random_state: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the training rows, and the held-out rows, which are a `share` of all."""
    n_rows = len(labels)
    seed = checks.seed(random_state)
    by = StratifiedShuffleSplit if groups is None else GroupShuffleSplit
    splitter = by(n_splits=1, test_size=share, random_state=seed)
    try:
        learns, held_out = next(splitter.split(np.empty((n_rows, 1)), labels, groups))
    except ValueError as error:
        raise ValueError(
            f"early_stopping cannot hold out a share of {share:g} of {n_rows} rows: {error}"
        ) from error
    return np.sort(learns), np.sort(held_out)


def take_entries(values: Any, rows: NDArray[np.int64]) -> Any:
    """Return the entries of `rows`; a number or None stands for all rows, and stays."""
    return values if np.ndim(values) == 0 else np.asarray(values)[rows]
