"""Contributions: what each feature, or pair, adds to the raw prediction of single rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Contributions"]


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each term, a feature or a pair, adds to the raw prediction, relative to an average row.

    ``baseline + values.sum(axis=1)`` is the raw prediction of the class; in a joint model, less its
    mean over the classes.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_terms)
        What the features and, after them, pairs of features add, in units of the raw prediction.
    baseline : float
        The mean raw prediction of the training rows, by weight; for trees grown from a part of the
        rows (`subsample`), the mean over that part.
    names : tuple of str, of length n_terms
        What the columns of `values` are about: the features' names, or their positions.
    class_label : object
        The class the raw prediction speaks for.
    """

    values: NDArray[np.float64]
    baseline: float
    names: tuple[str, ...]
    class_label: Any
