"""Partitions of Dask collections: features, labels and weights of the same rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.label_array import read_label_array
from properboost.data.libraries import is_a

__all__ = ["Partition", "is_collection", "list_partitions"]


@dataclass(frozen=True, eq=False)
class Partition:
    """Some of the rows, as objects that Dask computes."""

    X: Any
    y: Any = None
    weight: Any = None


def is_collection(value: Any) -> bool:
    """Whether a value is a Dask array, data frame or series."""
    return hasattr(value, "__dask_graph__")


def list_partitions(
    X: Any, y: Any = None, sample_weight: Any = None, names: Sequence[str] = ("X", "y", "weight")
) -> list[Partition]:
    """Cut collections into partitions of the same rows.

    If X has known chunks, labels and weights may be arrays, or collections of any chunks.
    Otherwise they need as many partitions as X.  The reader of a partition compares their lengths.
    """
    if not is_collection(X):
        raise TypeError(
            f"{names[0]} must be a Dask array or data frame; got a {type(X).__name__} (for others "
            "there is ProperBoostClassifier)"
        )
    if is_a(X, "dask.array", "Array"):
        if X.ndim != 2:
            raise ValueError(f"{names[0]} must have two dimensions; got {X.ndim}")
        parts = X.rechunk({1: -1}).to_delayed()[:, 0].tolist()
        sizes = X.chunks[0]
    else:
        parts, sizes = X.to_delayed(), (np.nan,) * X.npartitions
    others = [
        [None] * len(parts) if values is None else _cut(values, sizes, name, names[0], read)
        for values, name, read in (
            (y, names[1], read_label_array),
            (sample_weight, names[2], np.asarray),
        )
    ]
    return [Partition(X_part, *more) for X_part, *more in zip(parts, *others, strict=True)]


def _cut(
    values: Any,
    sizes: Sequence[float],
    name: str,
    beside: str,
    read: Callable[[Any], NDArray[Any]],
) -> list[Any]:
    """Cut labels or weights as X is cut; `read` turns anything but a collection into an array."""
    known = not np.isnan(np.sum(sizes))
    if not is_collection(values):
        if not known:
            raise TypeError(
                f"{name} must be a Dask collection where the partitions of {beside} have unknown "
                f"sizes; got a {type(values).__name__}"
            )
        return _cut_array(read(values), sizes, name, beside)
    if is_a(values, "dask.array", "Array"):
        if values.ndim != 1:
            raise ValueError(f"{name} must have one dimension; got {values.ndim}")
        if known and not np.isnan(np.sum(values.chunks[0])):
            if values.shape[0] != sum(sizes):
                raise ValueError(
                    f"{beside} and {name} must have as many rows; got {sum(sizes):.0f} and "
                    f"{values.shape[0]}"
                )
            values = values.rechunk((tuple(sizes),))
    parts = np.ravel(values.to_delayed()).tolist()
    if len(parts) != len(sizes):
        raise ValueError(
            f"{name} must have the partitions of {beside}, {len(sizes)}; got {len(parts)}"
        )
    return list(parts)


def _cut_array(values: NDArray[Any], sizes: Sequence[float], name: str, beside: str) -> list[Any]:
    if values.ndim != 1 or len(values) != sum(sizes):
        raise ValueError(
            f"{name} must have an entry for each of the {sum(sizes):.0f} rows of {beside}; got "
            f"shape {values.shape}"
        )
    return np.split(values, np.cumsum(np.array(sizes, dtype=np.int64))[:-1])
