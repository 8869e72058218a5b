"""Scans of a partition on a worker, from which the client finds classes and bins."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.dask.digests import check_digest, find_digest
from properboost.data.bin_finder import BatchScan, scan_batch
from properboost.data.binning import Binning, NumericBins
from properboost.data.entries import find_entries
from properboost.data.frames import open_table
from properboost.data.labels import LabelReader
from properboost.data.recorder import NameRecorder
from properboost.data.table import ColumnKind, InputTable

__all__ = [
    "LabelScan",
    "add_values",
    "encode",
    "encode_labelled",
    "scan_features",
    "scan_labels",
]


@dataclass(frozen=True, eq=False)
class LabelScan:
    """The number of a partition's rows, their columns, labels and weights.

    Row ``i`` has the label ``labels[codes[i]]``.  `head` is the first row, with its types.
    `digest` is that of the labels, the weights and the names of columns.
    """

    n_rows: int
    names: Sequence[str] | None = None
    kinds: Sequence[ColumnKind] = ()
    head: Any = None
    labels: NDArray[Any] | None = None
    codes: NDArray[np.unsignedinteger[Any]] | None = None
    weight: NDArray[np.float64] | None = None
    digest: bytes = b""
    version: str = _core.__version__


def _open(X: Any) -> InputTable:
    return open_table(NameRecorder(), X, reset=True)


def scan_labels(X: Any, y: Any, weight: Any) -> LabelScan:
    """Read labels and weights."""
    n_rows = int(X.shape[0])
    for name, values in (("y", y), ("sample_weight", weight)):
        if values is not None and len(values) != n_rows:
            raise ValueError(
                f"X and {name} must have as many rows in each partition; one has {n_rows} and "
                f"{len(values)}"
            )
    if n_rows == 0:
        return LabelScan(0)
    table = _open(X)
    scan = LabelScan(
        n_rows,
        names=table.names,
        kinds=[table.find_kind(j) for j in range(table.n_features)],
        head=table.rows(0, 1).source,
        weight=None if weight is None else np.asarray(weight, dtype=np.float64),
        digest=_find_digest(X, y, weight),
    )
    if y is None:
        return scan
    reader = LabelReader()
    numbers = reader.read(y, n_rows)
    labels, places = reader.sort()
    return replace(scan, labels=labels, codes=find_entries(places, numbers))


def _find_digest(X: Any, y: Any, weight: Any) -> bytes:
    """Return a digest of labels, weights, the number of rows and the names of columns."""
    names = [str(name) for name in getattr(X, "columns", ())]
    return find_digest(np.array(X.shape), np.array(names, dtype=object), y, weight)


def scan_features(
    number: int,
    before: bytes,
    X: Any,
    y: Any,
    weight: Any,
    categorical: Sequence[int],
    sampled: NDArray[np.int64],
) -> tuple[BatchScan, bytes]:
    """Scan the features, with the `sampled` rows in the sample; return the scan and a digest.

    Labels and weights must have the digest `before`.
    """
    check_digest(before, _find_digest(X, y, weight), "X, y and sample_weight", number)
    weights = None if weight is None else np.asarray(weight, dtype=np.float64)
    scan = scan_batch(_open(X), weights, categorical, sampled)
    small = {
        j: (replace(column, codes=column.codes.astype(_find_type(len(column.values)))), appends)
        for j, (column, appends) in scan.categories.items()
    }
    return replace(scan, categories=small), find_digest(X)


def _find_type(n: int) -> Any:
    """Return an integer type that holds -1 to n + 1."""
    return np.int16 if n < 2**15 - 2 else np.int64


def add_values(
    number: int,
    before: bytes,
    X: Any,
    binning: Binning,
    counted: NDArray[np.int64],
    weight: Any,
    largest: float,
) -> NDArray[np.int64]:
    """Return the digits of the sums of numeric features' values by bin, over the `counted` rows."""
    check_digest(before, find_digest(X), "X", number)
    table = _open(X)
    numeric = [j for j, bins in enumerate(binning.features) if isinstance(bins, NumericBins)]
    sums = _core.BinSums(_core.Bins([binning.features[j].native for j in numeric]), largest)
    sums.add([table.numeric(j) for j in numeric], counted, weight)
    return sums.digits


def encode(number: int, before: bytes, X: Any, binning: Binning) -> NDArray[np.uint8]:
    """Return the codes of all rows, (n_features, n_rows); refuse rows that have changed."""
    check_digest(before, find_digest(X), "X", number)
    return binning.encode(_open(X), None, 1)


def encode_labelled(
    number: int, before: bytes, X: Any, y: Any, weight: Any, binning: Binning
) -> NDArray[np.uint8]:
    """Return the codes of all rows; refuse labels and weights that have changed."""
    now = _find_digest(X, y, weight)
    check_digest(before, now, "X_val, y_val and sample_weight_val", number)
    return binning.encode(_open(X), None, 1)
