"""Rados of Dask collections: the sums of those of their partitions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost import rado
from properboost.dask.digests import check_digest, find_digest
from properboost.dask.partition_scan import scan_labels
from properboost.dask.partitions import list_partitions
from properboost.data.bin_finder import CategoryUnion
from properboost.data.columns import LinearColumns, find_columns
from properboost.data.frames import open_table
from properboost.data.labels import LabelReader
from properboost.data.names import read_names
from properboost.data.recorder import NameRecorder
from properboost.extras import import_extra
from properboost.parameters import checks
from properboost.parameters.kinds import CategoricalFeatures, RandomState
from properboost.rado.rados import read_binary, read_binary_rows, sum_labelled

__all__ = ["make_rados"]


@dataclass(frozen=True, eq=False)
class _PartitionScan:
    """The number of a partition's rows, their digest, their labels and their columns."""

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
    scan = dask.delayed(_scan)
    scans: Sequence[_PartitionScan] = dask.compute(
        *(scan(p.X, p.y, categorical_features, intercept) for p in partitions),
        scheduler=client,
    )
    columns = _join_columns([scan for scan in scans if scan.n_rows])
    known = _join_labels(scans) if classes is None else classes
    ends = np.cumsum([scan.n_rows for scan in scans]).tolist()
    sum_up = dask.delayed(_sum_partition, pure=False)
    sums = [
        sum_up(k, scan.digest, p.X, p.y, known, columns, n_rados, seed, end - scan.n_rows)
        for k, (p, scan, end) in enumerate(zip(partitions, scans, ends, strict=True))
        if scan.n_rows
    ]
    add = dask.delayed(rado.combine)
    while len(sums) > 1:
        sums = [add(sums[k : k + 2]) for k in range(0, len(sums), 2)]
    (total,) = dask.compute(*sums, scheduler=client)
    rados: rado.Rados = total
    return rados


def _scan(
    X: Any, y: Any, categorical_features: CategoricalFeatures, intercept: bool
) -> _PartitionScan:
    labelled = scan_labels(X, y, None)
    if labelled.n_rows == 0:
        return _PartitionScan(0)
    reader = NameRecorder()
    table = open_table(reader, X, reset=True)
    columns = find_columns(table, categorical_features, read_names(reader), intercept=intercept)
    appends = [table.appends_categories(j) for j in range(table.n_features)]
    return _PartitionScan(table.n_rows, find_digest(X, y), labelled.labels, columns, appends)


def _join_columns(scans: Sequence[_PartitionScan]) -> LinearColumns:
    """Return the columns with the categories of all partitions."""
    if not scans:
        raise ValueError("X must have at least one row; got none")
    first = scans[0].columns
    assert first is not None
    unions = [None if values is None else CategoryUnion() for values in first.categories]
    for scan in scans:
        columns = scan.columns
        assert columns is not None
        numeric = [categories is None for categories in columns.categories]
        if columns.names != first.names or numeric != [union is None for union in unions]:
            raise ValueError(
                "X must have the same columns in each partition, numeric or categorical; got "
                f"{_describe(first)} and {_describe(columns)}"
            )
        for union, categories, append in zip(unions, columns.categories, scan.appends, strict=True):
            if union is not None and categories is not None:
                union.add(categories, append=append)
    ordered = tuple(None if union is None else union.order()[0] for union in unions)
    return replace(first, categories=ordered)


def _describe(columns: LinearColumns) -> str:
    n_features = len(columns.categories)
    names = range(n_features) if columns.names is None else columns.names
    kinds = ("numeric" if values is None else "categorical" for values in columns.categories)
    return ", ".join(f"{name} ({kind})" for name, kind in zip(names, kinds, strict=True))


def _join_labels(scans: Sequence[_PartitionScan]) -> NDArray[Any]:
    reader = LabelReader()
    for scan in scans:
        if scan.labels is not None:
            reader.read(scan.labels, len(scan.labels))
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
    table = open_table(NameRecorder(), X, reset=True)
    labelled = read_binary(y, table.n_rows, classes)
    return sum_labelled(table, columns, labelled, n_rados, seed, 1, row_offset=row_offset)
