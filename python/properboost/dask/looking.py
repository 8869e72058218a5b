"""What workers find in a partition, so that the client can find classes and bins."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from properboost import _core
from properboost.dask.digests import check_digest, find_digest
from properboost.data.bin_finder import LookedAt, look_at
from properboost.data.binning import Binning, NumericBins
from properboost.data.entries import find_entries
from properboost.data.frames import open_table
from properboost.data.labels import LabelReader
from properboost.data.table import Table

__all__ = [
    "Columns",
    "Labelled",
    "add_values",
    "encode",
    "encode_labelled",
    "look_at_features",
    "look_at_labels",
]


@dataclass(frozen=True, eq=False)
class Labelled:
    """The rows of a partition: how many, their columns, labels and weights.

    Row ``i`` has the label ``labels[codes[i]]``.  `head` has the first row, with its types.
    `digest` is one of labels, weights and columns' names.
    """

    n_rows: int
    names: Sequence[str] | None = None
    declared: Sequence[bool] = ()
    head: Any = None
    labels: NDArray[Any] | None = None
    codes: NDArray[np.unsignedinteger[Any]] | None = None
    weight: NDArray[np.float64] | None = None
    digest: bytes = b""
    version: str = _core.__version__


class Columns(BaseEstimator):  # type: ignore[misc]
    """What scikit-learn's checks leave the columns' names with."""


def _open(X: Any) -> Table:
    return open_table(Columns(), X, reset=True)


def look_at_labels(X: Any, y: Any, weight: Any) -> Labelled:
    """Read labels and weights."""
    n_rows = int(X.shape[0])
    for name, own in (("y", y), ("sample_weight", weight)):
        if own is not None and len(own) != n_rows:
            raise ValueError(
                f"X and {name} must have as many rows in each partition; one has {n_rows} and "
                f"{len(own)}"
            )
    if n_rows == 0:
        return Labelled(0)
    table = _open(X)
    found = Labelled(
        n_rows,
        names=table.names,
        declared=[table.declares_categorical(j) for j in range(table.n_features)],
        head=table.rows(0, 1).source,
        weight=None if weight is None else np.asarray(weight, dtype=np.float64),
        digest=_find_digest(X, y, weight),
    )
    if y is None:
        return found
    reader = LabelReader()
    numbers = reader.read(y, n_rows)
    labels, places = reader.sort()
    return replace(found, labels=labels, codes=find_entries(places, numbers))


def _find_digest(X: Any, y: Any, weight: Any) -> bytes:
    """Return a digest of labels and weights, and of how many rows and which columns there are."""
    names = [str(own) for own in getattr(X, "columns", ())]
    return find_digest(np.array(X.shape), np.array(names, dtype=object), y, weight)


def look_at_features(
    number: int,
    before: bytes,
    X: Any,
    y: Any,
    weight: Any,
    categorical: Sequence[int],
    sampled: NDArray[np.int64],
) -> tuple[LookedAt, bytes]:
    """Look at the features, of which these rows are in the sample; return a digest of them, too.

    Labels and weights must be those that were read `before`.
    """
    check_digest(before, _find_digest(X, y, weight), "X, y and sample_weight", number)
    own = None if weight is None else np.asarray(weight, dtype=np.float64)
    found = look_at(_open(X), own, categorical, sampled)
    small = {
        j: (replace(column, codes=column.codes.astype(_kind(len(column.values)))), appends)
        for j, (column, appends) in found.categories.items()
    }
    return replace(found, categories=small), find_digest(X)


def _kind(n: int) -> Any:
    """Return a type for -1 to n, and one more."""
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
    """Return the digits of the sums of numeric features' values by bin, of some of the rows."""
    check_digest(before, find_digest(X), "X", number)
    table = _open(X)
    numeric = [j for j, own in enumerate(binning.features) if isinstance(own, NumericBins)]
    sums = _core.BinSums(_core.Bins([binning.features[j].native for j in numeric]), largest)
    sums.add([table.numeric(j) for j in numeric], counted, weight)
    return sums.digits


def encode(number: int, before: bytes, X: Any, binning: Binning) -> NDArray[np.uint8]:
    """Return the codes of all rows, (n_features, n_rows); refuse others than were read before."""
    check_digest(before, find_digest(X), "X", number)
    return binning.encode(_open(X), None, 1)


def encode_labelled(
    number: int, before: bytes, X: Any, y: Any, weight: Any, binning: Binning
) -> NDArray[np.uint8]:
    """Return the codes of all rows; refuse other labels and weights than were read before."""
    now = _find_digest(X, y, weight)
    check_digest(before, now, "X_val, y_val and sample_weight_val", number)
    return binning.encode(_open(X), None, 1)
