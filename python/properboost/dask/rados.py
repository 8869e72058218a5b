"""Rados of Dask collections: those of their partitions, added up."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost import rado
from properboost.dask.digests import check_digest, find_digest
from properboost.dask.looking import Columns, look_at_labels
from properboost.dask.partitions import list_partitions
from properboost.data.bin_finder import CategoryUnion
from properboost.data.columns import LinearColumns, find_columns
from properboost.data.frames import open_table
from properboost.data.labels import LabelReader
from properboost.data.names import read_names
from properboost.extras import import_extra
from properboost.parameters import checks
from properboost.parameters.kinds import CategoricalFeatures, RandomState
from properboost.rado.making import read_binary, read_binary_rows, sum_labelled

__all__ = ["make_rados"]


@dataclass(frozen=True, eq=False)
class _LookedAt:
    """The rows of a partition: how many, a digest of them, their labels, and their columns."""

    n_rows: int
    digest: bytes = b""
    labels: NDArray[Any] | None = None
    columns: LinearColumns | None = None
    appends: Sequence[bool] = ()


def make_rados(
    X: Any,
    y: Any,
    n_rados: int,
    random_state: RandomState = None,
    *,
    classes: ArrayLike | None = None,
    categorical_features: CategoricalFeatures = "from_dtype",
    intercept: bool = False,
    client: Any = None,
) -> rado.Rados:
    """Make Rademacher observations of the rows of Dask collections.

    Signs depend on the seed, the rado and the row's number among all rows, so these are the rados
    that `properboost.rado.make_rados` makes of the same rows in memory, up to the rounding of their
    sums: partitions are added up in pairs, then pairs of pairs.  `RadoBoostClassifier.fit_rados`
    learns from them, in memory.

    Parameters
    ----------
    X : dask array or data frame of shape (n_rows, n_features)
        The rows: finite numbers, and categories, as for `properboost.rado.make_rados`.
    y : dask array or series, or array-like, of shape (n_rows,)
        Their labels, of two classes; one that is not of Dask where `X` has known chunks.
    n_rados : int
        How many rados, at least 1.
    random_state : int, RandomState or None, default=None
        Seed of the signs; None stands for 0.
    classes : array-like of two labels, optional
        The labels of y = -1 and y = +1, in ascending order; by default those in `y`.
    categorical_features : "from_dtype", None, list of int or str, or mask, default="from_dtype"
        Which features are categorical, as in `ProperBoostClassifier`.
    intercept : bool, default=False
        Whether a column of ones comes after all others.
    client : distributed.Client or None, default=None
        Where to compute; None is wherever Dask does.

    Returns
    -------
    Rados

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, partitions have different columns, or a collection
        gives other rows when it is read again.
    ImportError
        If Dask is missing.

    References
    ----------
    .. [1] Nock (2016). On regularizing Rademacher observation losses. NIPS.
    """
    dask = import_extra("dask", "rados of Dask collections need", "dask")
    checks.integer("n_rados", n_rados, 1)
    seed = checks.seed(random_state)
    partitions = list_partitions(X, y)
    look = dask.delayed(_look_at)
    looked: Sequence[_LookedAt] = dask.compute(
        *(look(own.X, own.y, categorical_features, intercept) for own in partitions),
        scheduler=client,
    )
    columns = _join_columns([own for own in looked if own.n_rows])
    known = _join_labels(looked) if classes is None else classes
    ends = np.cumsum([own.n_rows for own in looked]).tolist()
    sum_up = dask.delayed(_sum_partition, pure=False)
    sums = [
        sum_up(k, seen.digest, own.X, own.y, known, columns, n_rados, seed, end - seen.n_rows)
        for k, (own, seen, end) in enumerate(zip(partitions, looked, ends, strict=True))
        if seen.n_rows
    ]
    add = dask.delayed(rado.combine)
    while len(sums) > 1:
        sums = [add(sums[k : k + 2]) for k in range(0, len(sums), 2)]
    (found,) = dask.compute(*sums, scheduler=client)
    rados: rado.Rados = found
    return rados


def _look_at(
    X: Any, y: Any, categorical_features: CategoricalFeatures, intercept: bool
) -> _LookedAt:
    labelled = look_at_labels(X, y, None)
    if labelled.n_rows == 0:
        return _LookedAt(0)
    reader = Columns()
    table = open_table(reader, X, reset=True)
    columns = find_columns(table, categorical_features, read_names(reader), intercept=intercept)
    appends = [table.appends_categories(j) for j in range(table.n_features)]
    return _LookedAt(table.n_rows, find_digest(X, y), labelled.labels, columns, appends)


def _join_columns(looked: Sequence[_LookedAt]) -> LinearColumns:
    """Return the columns with the categories of all partitions."""
    if not looked:
        raise ValueError("X must have at least one row; got none")
    first = looked[0].columns
    assert first is not None
    unions = [None if own is None else CategoryUnion() for own in first.categories]
    for seen in looked:
        own = seen.columns
        assert own is not None
        numeric = [categories is None for categories in own.categories]
        if own.names != first.names or numeric != [union is None for union in unions]:
            raise ValueError(
                "X must have the same columns in each partition, numeric or categorical; got "
                f"{_tell(first)} and {_tell(own)}"
            )
        for union, categories, append in zip(unions, own.categories, seen.appends, strict=True):
            if union is not None and categories is not None:
                union.add(categories, append=append)
    ordered = tuple(None if union is None else union.order()[0] for union in unions)
    return replace(first, categories=ordered)


def _tell(columns: LinearColumns) -> str:
    n_features = len(columns.categories)
    names = range(n_features) if columns.names is None else columns.names
    kinds = ("numeric" if own is None else "categorical" for own in columns.categories)
    return ", ".join(f"{name} ({kind})" for name, kind in zip(names, kinds, strict=True))


def _join_labels(looked: Sequence[_LookedAt]) -> NDArray[Any]:
    reader = LabelReader()
    for own in looked:
        if own.labels is not None:
            reader.read(own.labels, len(own.labels))
    labels = reader.sort()[0]
    if len(labels) < 2:
        raise ValueError(f"y must hold two classes; got only {labels.tolist()}")
    return read_binary_rows(labels, len(labels)).classes


def _sum_partition(
    number: int,
    before: bytes,
    X: Any,
    y: Any,
    classes: Any,
    columns: LinearColumns,
    n_rados: int,
    seed: int,
    row_offset: int,
) -> rado.Rados:
    check_digest(before, find_digest(X, y), "X and y", number)
    table = open_table(Columns(), X, reset=True)
    labelled = read_binary(y, table.n_rows, classes)
    return sum_labelled(table, columns, labelled, n_rados, seed, 1, row_offset=row_offset)
