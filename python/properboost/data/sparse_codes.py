"""Codes of sparse matrices: features in which most rows have one code hold the other rows only."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.cached import cached_property
from properboost.data.binning import Binning, NumericBins
from properboost.data.table import InputTable, SparseColumns

__all__ = ["AnyCodes", "SparseCodes", "encode_for_training", "to_native"]

LEAST_ROWS_PER_ENTRY = 8
"""A feature is sparse if it has at most one entry in so many rows.

An entry takes five bytes, and a row of a dense feature one.  An entry is also summed in about
eight times the time of such a row.
"""


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """Codes (n_features, n_rows) of which some features have entries of some rows only.

    The methods and attributes are those of an array of codes.

    Attributes
    ----------
    dense : ndarray of shape (n_dense, n_rows)
        The codes of the features that are not sparse.
    place : ndarray of shape (n_features,)
        The place of each feature in `dense`, -1 if it is sparse.
    starts : ndarray of shape (n_features + 1,)
        Feature `f` has the entries from ``starts[f]`` to ``starts[f + 1]``.
    rows, codes : ndarray
        The row, in ascending order in each feature, and the code of each entry.
    common : ndarray of shape (n_features,)
        The code of the rows of a sparse feature that have no entry.
    """

    dense: NDArray[np.uint8]
    place: NDArray[np.int64]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    codes: NDArray[np.uint8]
    common: NDArray[np.uint8]

    @property
    def shape(self) -> tuple[int, int]:
        """The number of features, and that of rows."""
        return len(self.place), self.dense.shape[1]

    @cached_property
    def native(self) -> _core.SparseCodes:
        """The engine's form of these codes."""
        return _core.SparseCodes(
            self.dense, self.place, self.starts, self.rows, self.codes, self.common
        )

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("native", None)
        return state

    def take(self, rows: NDArray[np.integer[Any]], axis: int) -> Self:
        """Return the codes of these rows, in that order; `axis` is 1."""
        # Through rows and back, which leaves the entries of each feature in the order of the rows.
        taken = self._as_matrix()[rows].tocsc()
        return self._with(self.dense.take(rows, axis=axis), taken)

    def compress(self, taken: NDArray[np.bool_], axis: int) -> Self:
        """Return the codes of the rows that are taken; `axis` is 1."""
        return self.take(np.flatnonzero(taken), axis)

    def lay_out(
        self, features: Sequence[int] | None = None, n_threads: int = 1
    ) -> NDArray[np.uint8]:
        """Return the codes of these features, or of all, as an array with a row each."""
        wanted = range(len(self.place)) if features is None else features
        return self.native.lay_out(np.array(wanted, dtype=np.int64), n_threads)

    def cut(self, n_cells: int) -> Iterator[Self]:
        """Yield the codes of neighbouring rows that have at most so many cells, or of one row."""
        matrix = self._as_matrix()
        n_features, n_rows = self.shape
        step = max(1, n_cells // n_features)
        for begin in range(0, n_rows, step):
            rows = slice(begin, begin + step)
            yield self._with(self.dense[:, rows], matrix[rows].tocsc())

    def _as_matrix(self) -> Any:
        from scipy.sparse import csc_array

        entries = (self.codes, self.rows, self.starts)
        return csc_array(entries, shape=self.shape[::-1]).tocsr()

    def _with(self, dense: NDArray[np.uint8], entries: Any) -> Self:
        """Return the codes of other rows of the same features."""
        return type(self)(
            dense,
            self.place,
            entries.indptr.astype(np.int64),
            entries.indices.astype(np.int32, copy=False),
            entries.data,
            self.common,
        )


AnyCodes: TypeAlias = NDArray[np.uint8] | SparseCodes


def to_native(codes: AnyCodes) -> NDArray[np.uint8] | _core.SparseCodes:
    """Return codes as the engine takes them."""
    return codes.native if isinstance(codes, SparseCodes) else codes


def encode_for_training(
    binning: Binning, table: InputTable, order: NDArray[np.int64], n_threads: int
) -> AnyCodes:
    """Return the codes of the rows of `table`, in that `order`.

    Numeric features of a sparse matrix are sparse if they have few entries.
    """
    entries = table.entries
    if entries is None:
        return binning.encode(table, order, n_threads)
    is_numeric = [isinstance(bins, NumericBins) for bins in binning.features]
    are_few = np.diff(entries.starts) * LEAST_ROWS_PER_ENTRY <= table.n_rows
    is_sparse = np.array(is_numeric) & are_few
    if not is_sparse.any():
        return binning.encode(table, order, n_threads)
    sparse, dense = np.flatnonzero(is_sparse), np.flatnonzero(~is_sparse)
    counts, rows, codes, common = _encode_entries(binning, entries, sparse, table.n_rows, n_threads)
    starts = np.zeros(len(is_sparse) + 1, dtype=np.int64)
    starts[sparse + 1] = counts
    place = np.where(is_sparse, -1, np.cumsum(~is_sparse) - 1)
    whole = SparseCodes(
        np.empty((0, table.n_rows), dtype=np.uint8), place, np.cumsum(starts), rows, codes, common
    )
    of_dense = binning.encode_columns(table, dense.tolist(), order, n_threads)
    return replace(whole.take(order, axis=1), dense=of_dense)


def _encode_entries(
    binning: Binning,
    entries: SparseColumns,
    features: NDArray[np.int64],
    n_rows: int,
    n_threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the entries of some features whose code is not that of 0: their rows and codes.

    Before them it returns their number in each of these features, after them the code of 0 in all.
    """
    part = entries.part(features)
    bins = _core.Bins([binning.features[j].native for j in features.tolist()])
    table = _core.SparseTable(n_rows, part.starts, part.rows, part.values)
    codes, of_zero = table.encode(bins, n_threads)
    differ = codes != np.repeat(of_zero, np.diff(part.starts))
    counts = np.diff(np.concatenate([[0], np.cumsum(differ)])[part.starts])
    common = np.zeros(len(binning.features), dtype=np.uint8)
    common[features] = of_zero
    return counts, part.rows[differ], codes[differ], common
