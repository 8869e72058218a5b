"""What a linear model multiplies its coefficients with: numbers, categories' indicators, the 1."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from properboost.binning import CategoricalBins
from properboost.table import Category, Table, find_categorical

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LinearColumns", "find_columns"]


@dataclass(frozen=True)
class LinearColumns:
    """The columns of a linear model of a table.

    A numeric feature is a column, and so is each category of a categorical one: 1 where the row
    has it, 0 elsewhere, also where its category is missing or unknown.  With `intercept` the last
    column is 1.
    """

    features: tuple[str, ...]
    categories: tuple[tuple[Category, ...] | None, ...]  # None: numeric
    intercept: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """What the columns are called."""
        labels: list[str] = []
        for name, categories in zip(self.features, self.categories, strict=True):
            labels += [name] if categories is None else [f"{name}={c}" for c in categories]
        return (*labels, "intercept") if self.intercept else tuple(labels)

    def __len__(self) -> int:
        widths = [1 if categories is None else len(categories) for categories in self.categories]
        return sum(widths) + self.intercept

    def feature_of(self) -> NDArray[np.int64]:
        """Return the feature of each column, -1 for the intercept."""
        widths = [1 if categories is None else len(categories) for categories in self.categories]
        features = np.repeat(np.arange(len(widths)), widths)
        return np.append(features, -1) if self.intercept else features

    def read(self, table: Table) -> Any:
        """Return the table as the engine takes it: an array, or a list of arrays, one a feature."""
        if table.array is not None and not any(c is not None for c in self.categories):
            return table.array
        return [self._read_feature(table, j) for j in range(len(self.categories))]

    def _read_feature(self, table: Table, j: int) -> NDArray[np.generic]:
        """Return numbers, or which category each row has: -1 if missing, -2 if unknown."""
        categories = self.categories[j]
        if categories is None:
            return table.numeric(j)
        return CategoricalBins(categories).assign(table.categorical(j))

    def native(self) -> list[tuple[int, int]]:
        """Return the feature and the category, -1 for numbers, of each column; -1, -1 for the 1."""
        pairs: list[tuple[int, int]] = []
        for j, categories in enumerate(self.categories):
            levels = [-1] if categories is None else range(len(categories))
            pairs += [(j, level) for level in levels]
        return [*pairs, (-1, -1)] if self.intercept else pairs

    def multiply(self, table: Table, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each row's columns times the coefficients, added up."""
        total = np.full(table.n_rows, coefficients[-1] if self.intercept else 0.0)
        data = self.read(table)
        if isinstance(data, np.ndarray):
            used = np.flatnonzero(coefficients[: data.shape[1]])
            # A feature at a time: sums of a row do not depend on the rows beside it.
            for j in used:
                total += data[:, j] * coefficients[j]
        else:
            first = 0
            for column, categories in zip(data, self.categories, strict=True):
                if categories is None:
                    total += column * coefficients[first]
                    first += 1
                else:
                    own = coefficients[first : first + len(categories)]
                    total += np.concatenate([own, [0.0, 0.0]])[column]  # unknown, missing
                    first += len(categories)
        return total


def find_columns(table: Table, categorical_features: Any, *, intercept: bool) -> LinearColumns:
    """Find which features are categorical and what categories they have."""
    categorical, _ = find_categorical(categorical_features, table)
    names: Sequence[str] = table.names or [f"feature {j}" for j in range(table.n_features)]
    categories = [
        table.categorical(j).values if j in categorical else None for j in range(table.n_features)
    ]
    return LinearColumns(tuple(names), tuple(categories), intercept)
