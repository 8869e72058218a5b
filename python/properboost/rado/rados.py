"""Rados of labelled rows, and sums of the rados of separate rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from properboost import _core
from properboost.data.columns import LinearColumns, find_columns, refuse_numbers
from properboost.data.frames import open_table
from properboost.data.label_array import read_label_array
from properboost.data.labels import find_classes, read_rows, refuse_several_classes
from properboost.data.names import read_names
from properboost.data.sorted_rows import Rows
from properboost.data.table import InputTable
from properboost.parameters import checks
from properboost.parameters.kinds import CategoricalFeatures, RandomState

__all__ = ["Rados", "combine", "make_rados", "read_binary", "read_binary_rows", "sum_rows"]

LAST_ROW = 2**53
"""The limit of the numbers of rows."""

_MOST_CELLS = 2**40  # of a set of rados: 8 TiB


@dataclass(frozen=True, eq=False)
class Rados:
    """Rademacher observations, with the record that `combine` checks.

    Attributes
    ----------
    values : ndarray of shape (n_rados, n_columns)
        The rados: row j is pi_j = 1/2 sum_i (sigma_ij + y_i) x_i.
    seed : int or None
        The seed of the signs sigma_ij, which depend on it, j and i; None of other rados.
    row_ranges : tuple of (int, int)
        The rows i in the sums: from the first up to but not including the second.
    columns : LinearColumns
        The columns whose sums the coordinates are.
    classes : ndarray of shape (2,)
        The labels of y = -1 and y = +1.
    """

    values: NDArray[np.float64]
    seed: int | None
    row_ranges: tuple[tuple[int, int], ...]
    columns: LinearColumns
    classes: NDArray[Any]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the coordinates: features, ``feature=category``, ``intercept``."""
        return self.columns.labels

    @property
    def n_rows(self) -> int:
        """The number of rows in the sums."""
        return sum(end - begin for begin, end in self.row_ranges)


def make_rados(
    X: Any,
    y: ArrayLike,
    n_rados: int,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    *,
    row_offset: int = 0,
    classes: ArrayLike | None = None,
    categorical_features: CategoricalFeatures = "from_dtype",
    intercept: bool = False,
) -> Rados:
    """Make Rademacher observations of labelled rows.

    Rado j is pi_j = 1/2 sum_i (sigma_ij + y_i) x_i with random signs sigma_ij ([1]_, section 3):
    the sum of the edge vectors y_i x_i over a random half of the rows.  A sign depends on the seed,
    on j and on the row's number and on nothing else.

    Parameters
    ----------
    X : array or table of shape (n_rows, n_features)
        The rows: finite numbers, and categories.  Each category becomes a column (1 where the row
        has it, else 0; all 0 where it is missing).  All categories of a pandas or polars type have
        columns, also those no row has.
    y : array-like of shape (n_rows,)
        Their labels, of two classes.
    n_rados : int
        The number of rados, at least 1.
    random_state : int, RandomState or None, default=None
        Seed of the signs; None stands for 0.
    n_jobs : int or None, default=None
        Threads, as in `ProperBoostClassifier`.  The rados do not depend on it, bit for bit.
    row_offset : int, default=0
        The number of the first row; that of the last is below 2**53.  If owners of
        separate rows use the same seed and numbers that do not overlap, `combine` adds their rados
        up to those of all rows.
    classes : array-like of two labels, optional
        The labels of y = -1 and y = +1, in ascending order.  Needed where `y` does not hold both;
        by default they are the labels in `y`.
    categorical_features : "from_dtype", None, list of int or str, or mask, default="from_dtype"
        The categorical features, as in `ProperBoostClassifier`.
    intercept : bool, default=False
        Whether a column of ones comes after all others.

    Returns
    -------
    Rados

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described; the message names it.

    Notes
    -----
    float32 and small integers are added up in float32 over some thousands of rows and then in
    float64; a coordinate is off by less than 1e-5 of the sum of the column's absolute values.  All
    other numbers are added up in float64.  Beyond `X` and the rados this takes at most 1 KiB per
    rado.  For data frames it also takes a copy of the columns that are categorical or not stored as
    NumPy numbers.

    The seed reveals the signs: owners who want to keep their rows private share the seed among
    themselves only.

    References
    ----------
    .. [1] Nock (2016). On regularizing Rademacher observation losses. NIPS.

    Examples
    --------
    >>> from properboost import rado
    >>> X, y = [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], [0, 1, 1]
    >>> both = rado.combine([
    ...     rado.make_rados(X[:1], y[:1], 4, classes=[0, 1]),
    ...     rado.make_rados(X[1:], y[1:], 4, classes=[0, 1], row_offset=1),
    ... ])
    >>> (both.values == rado.make_rados(X, y, 4).values).all()
    np.True_
    """
    checks.integer("n_rados", n_rados, 1)
    seed = checks.seed(random_state)
    n_threads = checks.count_threads(n_jobs)
    reader = _Reader()
    table = open_table(reader, X, reset=True)
    checks.integer("row_offset", row_offset, 0, LAST_ROW - table.n_rows)
    labelled = read_binary(y, table.n_rows, classes)
    columns = find_columns(table, categorical_features, read_names(reader), intercept=intercept)
    return sum_labelled(
        table, columns, labelled, n_rados, seed, n_threads, row_offset=int(row_offset)
    )


def combine(rados: Iterable[Rados]) -> Rados:
    """Add up rados of separate rows.

    Parameters
    ----------
    rados : iterable of Rados
        The results of `make_rados` for each part of the rows: with the same seed, number of rados,
        columns and classes, and with row numbers that do not overlap.

    Returns
    -------
    Rados
        The rados of all rows, up to rounding, in any order of the parts.

    Raises
    ------
    ValueError, TypeError
        If there are none, or they do not belong together; the message names the difference.
    """
    parts = list(rados)
    if not parts:
        raise ValueError("rados must hold at least one set of rados; got none")
    for k, part in enumerate(parts):
        if not isinstance(part, Rados):
            raise TypeError(f"rados[{k}] must be Rados; got {type(part).__name__}")
    first = parts[0]
    for k, part in enumerate(parts):
        for aspect, expected, actual in (
            ("the seed", first.seed, part.seed),
            ("the shape", first.values.shape, part.values.shape),
            ("the columns", first.feature_names, part.feature_names),
            ("the columns", first.columns, part.columns),
            # As text, because 0 and 1 equal False and True.
            ("the classes", str(first.classes.tolist()), str(part.classes.tolist())),
        ):
            if expected != actual:
                raise ValueError(
                    f"rados[{k}] does not belong to rados[0]: {aspect} must be the same; got "
                    f"{expected} and {actual}"
                )
    ranges = sorted(rows for part in parts for rows in part.row_ranges)
    for (begin, end), (following, last) in pairwise(ranges):
        if following < end:
            raise ValueError(
                "rados must be of different rows; got rows "
                f"{begin} to {end - 1} and rows {following} to {last - 1}: row_offset is the "
                "number of an owner's first row"
            )
    parts.sort(key=lambda part: part.row_ranges)
    values = parts[0].values.copy()
    for part in parts[1:]:
        values += part.values
    _check_size(values)
    return Rados(values, first.seed, _join(ranges), first.columns, parts[0].classes)


def _join(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Join neighbours among ascending ranges."""
    joined = ranges[:1]
    for begin, end in ranges[1:]:
        if begin == joined[-1][1]:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((begin, end))
    return tuple(joined)


def read_binary(
    y: ArrayLike, n_rows: int, classes: ArrayLike | None = None
) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """Return the two labels, and for each row whether it has the second, as 0 or 1."""
    if classes is None:
        rows = read_binary_rows(y, n_rows)
        return rows.classes, rows.codes.astype(np.uint8)
    try:
        labels = read_label_array(classes, "classes")
        ascending = labels.shape == (2,) and labels[0] < labels[1]
        labels = read_rows(labels, 2).classes if ascending else labels
    except (TypeError, ValueError):  # not an array, not comparable, or no labels
        ascending = False
    if not ascending:
        raise ValueError(
            "classes must be two different labels in ascending order: integers, booleans or "
            f"strings; got {classes!r}"
        )
    return labels, find_classes(y, n_rows, labels).astype(np.uint8)


def read_binary_rows(y: ArrayLike, n_rows: int) -> Rows:
    """Return the checked labels of rows of two classes."""
    rows = read_rows(y, n_rows)
    refuse_several_classes(rows.classes)
    return rows


def sum_labelled(
    table: InputTable,
    columns: LinearColumns,
    labelled: tuple[NDArray[Any], NDArray[np.uint8]],
    n_rados: int,
    seed: int,
    n_threads: int,
    *,
    row_offset: int,
) -> Rados:
    """Return the rados of rows with the labels from `read_binary`."""
    labels, positive = labelled
    values = sum_rows(table, columns, positive, n_rados, seed, n_threads, row_offset=row_offset)
    return Rados(values, seed, ((row_offset, row_offset + table.n_rows),), columns, labels)


def sum_rows(
    table: InputTable,
    columns: LinearColumns,
    positive: NDArray[np.uint8],
    n_rados: int,
    seed: int,
    n_threads: int,
    *,
    row_offset: int = 0,
) -> NDArray[np.float64]:
    """Return the rados of a table's rows."""
    if not len(columns):
        raise ValueError(
            "X must give at least one column: no feature is numeric or has a category, and there "
            "is no intercept"
        )
    if n_rados * len(columns) > _MOST_CELLS:
        raise ValueError(
            f"n_rados must be at most {_MOST_CELLS // len(columns):,} for {len(columns)} columns; "
            f"got {n_rados}"
        )
    values, finite = _core.make_rados(
        columns.open(table).data, columns.native, positive, row_offset, seed, n_rados, n_threads
    )
    if finite < len(columns):
        refuse_numbers(table, columns.native[finite][0])
    _check_size(values)
    return values


def _check_size(values: NDArray[np.float64]) -> None:
    if not np.all(np.isfinite(values)):
        raise ValueError("X holds numbers so large that their sums are infinite: scale them down")


class _Reader(BaseEstimator):  # type: ignore[misc]
    """An estimator that only stores the names of the columns of a table."""
