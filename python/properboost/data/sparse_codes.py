"""Codes of sparse matrices: features in which most rows have one code hold the other rows only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.cached import cached_property

__all__ = ["AnyCodes", "SparseCodes", "keep_sparse", "to_native"]

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


def keep_sparse(counts: NDArray[np.integer[Any]], n_rows: int) -> NDArray[np.bool_]:
    """Return which features are kept sparse, by the number of their entries."""
    return counts * LEAST_ROWS_PER_ENTRY <= n_rows
