"""A table as everything after the reading takes it: columns of numbers or of categories."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["CategoricalColumn", "Category", "Column", "Table"]

Category: TypeAlias = str | int | float | bool
Column: TypeAlias = NDArray[np.generic]


@dataclass(frozen=True, eq=False)
class CategoricalColumn:
    """A column of categories: row i holds ``values[codes[i]]``; code -1 is missing."""

    codes: NDArray[np.int64]
    values: tuple[Category, ...]


class Table(ABC):
    """Rows and columns of any accepted table; `source` is the user's object."""

    holds_bins: ClassVar[bool] = False
    """Whether `numeric` gives, for a categorical feature, the bins of its categories."""

    def __init__(self, source: Any, names: Sequence[str] | None) -> None:
        self.source = source
        self.n_rows: int = source.shape[0]
        self.n_features: int = source.shape[1]
        self.names = names

    @property
    def array(self) -> Column | None:
        """The whole table as one array of real numbers, where it is one already."""
        return None

    def label(self, j: int) -> str:
        """Return what error messages call column `j`."""
        return f"column {j}" if self.names is None else f"column {self.names[j]!r}"

    @abstractmethod
    def declares_categorical(self, j: int) -> bool:
        """Whether the type of column `j` says that it holds categories."""

    @abstractmethod
    def numeric(self, j: int) -> Column:
        """Column `j` as real numbers, NaN where missing; a view where possible."""

    @abstractmethod
    def categorical(self, j: int) -> CategoricalColumn:
        """Column `j` as categories."""

    @abstractmethod
    def rows(self, start: int, stop: int) -> "Table":
        """Return the rows from `start` to `stop`, not copied."""
