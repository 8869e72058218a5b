"""The interface of tables to the rest of the package: columns of numbers or of categories."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CategoricalColumn",
    "Category",
    "CodedLabels",
    "Column",
    "ColumnKind",
    "ColumnSubset",
    "InputTable",
    "RowTable",
    "SoftLabels",
    "SparseColumns",
    "Spread",
    "is_plain",
]

Category: TypeAlias = str | int | float | bool
Column: TypeAlias = NDArray[np.generic]
ColumnKind: TypeAlias = Literal["numbers", "categories", "text", "missing"]
"""The content of a column by its type, or by its objects; "missing" is that of any kind."""

Spread: TypeAlias = tuple[
    NDArray[np.int64] | None, NDArray[np.unsignedinteger[Any]], NDArray[np.float64] | None
]
"""The row, the class and the share of each label; None stands for all rows, and for ones."""


@dataclass(frozen=True, eq=False)
class CategoricalColumn:
    """A column of categories: row i holds ``values[codes[i]]``; code -1 is missing."""

    codes: NDArray[np.int64]
    values: tuple[Category, ...]


@dataclass(frozen=True, eq=False)
class CodedLabels:
    """Checked labels: that of row i is ``values[codes[i]]``; `values` ascend."""

    values: NDArray[Any]
    codes: NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, eq=False)
class SoftLabels:
    """Labels that are probabilities.

    Row ``i`` is of the class ``classes[k]`` with ``probability[i, k]``.  Classes ascend, and rows
    add up to 1.
    """

    classes: NDArray[Any]
    probability: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.probability)

    @property
    def most_probable(self) -> NDArray[np.intp]:
        """The position of each row's most probable class, the first of equal ones."""
        most_probable: NDArray[np.intp] = self.probability.argmax(axis=1)
        return most_probable

    def take(self, rows: NDArray[np.int64]) -> "SoftLabels":
        """Return the labels of some rows."""
        return SoftLabels(self.classes, self.probability[rows])

    def spread(self) -> Spread:
        """Return every label of positive probability, row by row.

        Where each row has one label, these are hard labels, as rows of a plain `y` are.
        """
        n_rows, n_classes = self.probability.shape
        if self.probability.all():
            kind = np.min_scalar_type(n_classes)
            return (
                np.repeat(np.arange(n_rows), n_classes),
                np.tile(np.arange(n_classes, dtype=kind), n_rows),
                self.probability.ravel(),
            )
        row_of, of_class = np.nonzero(self.probability)
        codes: NDArray[np.unsignedinteger[Any]] = of_class.astype(
            np.min_scalar_type(len(self.classes))
        )
        if len(row_of) == len(self):
            return None, codes, None
        return row_of.astype(np.int64, copy=False), codes, self.probability[row_of, of_class]


@dataclass(frozen=True, eq=False)
class SparseColumns:
    """The entries of the columns of a sparse matrix, which is 0 in other rows.

    Column `j` has the entries from ``starts[j]`` to ``starts[j + 1]``, in the order of their rows.
    """

    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: Column

    def part(self, columns: Sequence[int] | NDArray[np.int64]) -> "SparseColumns":
        """Return the entries of some columns, in ascending order."""
        if len(columns) == len(self.starts) - 1:
            return self
        counts = np.diff(self.starts)[columns]
        starts = np.cumsum([0, *counts], dtype=np.int64)
        shift = np.repeat(self.starts[:-1][columns] - starts[:-1], counts)
        taken = np.arange(starts[-1]) + shift
        return SparseColumns(starts, self.rows[taken], self.values[taken])


class InputTable(ABC):
    """Rows and columns of any accepted table; `source` is the user's object."""

    holds_bins: ClassVar[bool] = False
    """Whether `numeric` returns, for a categorical feature, the bins of its categories."""

    has_one_type: ClassVar[bool] = False
    """Whether all columns have one type, so that none is refused unless all are."""

    def __init__(self, source: Any, names: Sequence[str] | None) -> None:
        self.source = source
        self.n_rows: int = source.shape[0]
        self.n_features: int = source.shape[1]
        self.names = names

    @property
    def array(self) -> Column | None:
        """The whole table as one array of real numbers, where it is one already."""
        return None

    @property
    def entries(self) -> SparseColumns | None:
        """The entries of the columns of a sparse matrix; None of other tables."""
        return None

    def label(self, j: int) -> str:
        """Return the name of column `j` in error messages."""
        return f"column {j}" if self.names is None else f"column {self.names[j]!r}"

    @abstractmethod
    def declares_categorical(self, j: int) -> bool:
        """Whether the type of column `j` declares categories."""

    def find_kind(self, j: int) -> ColumnKind:
        """Return what column `j` holds; columns that cannot be read count as numbers."""
        return "categories" if self.declares_categorical(j) else "numbers"

    @abstractmethod
    def numeric(self, j: int) -> Column:
        """Return column `j` as real numbers, NaN where missing; a view where possible."""

    @abstractmethod
    def categorical(self, j: int) -> CategoricalColumn:
        """Return column `j` as categories."""

    @abstractmethod
    def values(self, j: int) -> Any:
        """Return column `j` as its library has it, or converts it to NumPy: for labels."""

    @abstractmethod
    def rows(self, start: int, stop: int) -> "InputTable":
        """Return the rows from `start` to `stop`, not copied."""

    def appends_categories(self, _: int) -> bool:
        """Whether the categories of later batches come after this one's, and are not sorted."""
        return False


class ColumnSubset(InputTable):
    """A subset of the columns of a table with names."""

    def __init__(self, table: InputTable, positions: Sequence[int]) -> None:
        self.source = table.source
        self.n_rows, self.n_features = table.n_rows, len(positions)
        self.names = [(table.names or ())[p] for p in positions]
        self._table, self._positions = table, positions

    def declares_categorical(self, j: int) -> bool:
        """Whether the type of column `j` declares categories."""
        return self._table.declares_categorical(self._positions[j])

    def find_kind(self, j: int) -> ColumnKind:
        """Return what column `j` holds; columns that cannot be read count as numbers."""
        return self._table.find_kind(self._positions[j])

    def numeric(self, j: int) -> Column:
        """Return column `j` as real numbers, NaN where missing; a view where possible."""
        return self._table.numeric(self._positions[j])

    def categorical(self, j: int) -> CategoricalColumn:
        """Return column `j` as categories."""
        return self._table.categorical(self._positions[j])

    def values(self, j: int) -> Any:
        """Return column `j` as its library has it, or converts it to NumPy: for labels."""
        return self._table.values(self._positions[j])

    def rows(self, start: int, stop: int) -> "ColumnSubset":
        """Return the rows from `start` to `stop`, not copied."""
        return ColumnSubset(self._table.rows(start, stop), self._positions)

    def appends_categories(self, j: int) -> bool:
        """Whether the categories of later batches come after this one's, and are not sorted."""
        return self._table.appends_categories(self._positions[j])


class RowTable(InputTable):
    """Rows of float64 that were read one by one: numbers, and the bins of categories."""

    holds_bins = True

    def __init__(self, array: NDArray[np.float64]) -> None:
        super().__init__(array, names=None)

    @property
    def array(self) -> Column | None:
        """The whole table."""
        array: Column = self.source
        return array

    def declares_categorical(self, _: int) -> bool:
        """Whether a column declares categories by its type: none does."""
        return False

    def numeric(self, j: int) -> Column:
        """Return column `j`: numbers, or the bins of categories."""
        column: Column = self.source[:, j]
        return column

    def categorical(self, j: int) -> CategoricalColumn:
        """Refuse: there are only bins."""
        raise TypeError(f"{self.label(j)} has bins, and no categories")

    def values(self, j: int) -> Any:
        """Return column `j`, as `numeric` does."""
        return self.numeric(j)

    def rows(self, start: int, stop: int) -> "RowTable":
        """Return the rows from `start` to `stop`, not copied."""
        return RowTable(self.source[start:stop])


def is_plain(array: Any, ndim: int) -> bool:
    """Whether scikit-learn would accept an array of numbers unchanged."""
    return (
        type(array) is np.ndarray
        and array.ndim == ndim
        and array.dtype.kind in "biuf"
        and array.size > 0
    )
