"""Contributions: what each feature, or pair, adds to the raw prediction of single rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.inspection.intervals import NOISE_LEVEL, WithInterval

__all__ = ["Contributions"]


@dataclass(frozen=True, eq=False)
class Contributions(WithInterval):
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
    standard_errors : ndarray of shape (n_rows, n_terms), or None
        Those of `values`, if the model has bags (`outer_bags`).
    p_values : ndarray of shape (n_terms,), or None
        How probable it is that a term's function is as large by mere chance, see `ShapeFunction`.
    n_bags : int
        How many bags standard errors are of; 0 if there are none.
    """

    values: NDArray[np.float64]
    baseline: float
    names: tuple[str, ...]
    class_label: Any
    standard_errors: NDArray[np.float64] | None = None
    p_values: NDArray[np.float64] | None = None
    n_bags: int = 0

    @property
    def within_noise(self) -> NDArray[np.bool_] | None:
        """Whether each term's function, as large as it is, may well be chance; None without bags.

        That is about the whole function, where the interval is about one row.
        """
        return None if self.p_values is None else self.p_values > NOISE_LEVEL
