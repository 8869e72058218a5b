"""The columns of a linear model: numbers, indicators of categories, and ones."""

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import CategoricalBins, FeatureBins, NumericBins, read_by
from properboost.data.features import find_categorical, find_texts
from properboost.data.identifiers import count_codes, describe_identifiers
from properboost.data.names import ColumnNames
from properboost.data.refusals import refuse_together
from properboost.data.table import CategoricalColumn, Category, InputTable
from properboost.notices import warn
from properboost.parameters.kinds import CategoricalFeatures

__all__ = ["LinearColumns", "find_columns", "make_columns", "refuse_numbers"]


@dataclass(frozen=True)
class LinearColumns:
    """The columns of a linear model of a table.

    A numeric feature is a column, and so is each category of a categorical one: 1 where the row
    has it, 0 elsewhere, also where its category is missing or unknown.  With `intercept` the last
    column is 1.

    Attributes
    ----------
    categories : tuple
        For each feature: None if it is numeric, or its categories.
    names : tuple of str, or None
        The features' names, if they have any.
    intercept : bool
        Whether there is a column of ones.
    names_are_text : bool
        Whether the names were strings, and not numbers for example.
    """

    categories: tuple[tuple[Category, ...] | None, ...]
    names: tuple[str, ...] | None = None
    intercept: bool = False
    names_are_text: bool = True

    @property
    def column_names(self) -> ColumnNames | None:
        """The features' names, as models store them."""
        return None if self.names is None else ColumnNames(self.names, self.names_are_text)

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns' names: features, ``feature=category``, ``intercept``."""
        labels: list[str] = []
        for j, categories in enumerate(self.categories):
            name = f"feature {j}" if self.names is None else self.names[j]
            labels += [name] if categories is None else [f"{name}={c}" for c in categories]
        return (*labels, "intercept") if self.intercept else tuple(labels)

    @property
    def native(self) -> list[tuple[int, int]]:
        """The feature and the category, -1 for numbers, of each column; -1, -1 for the ones."""
        pairs: list[tuple[int, int]] = []
        for j, categories in enumerate(self.categories):
            levels = [-1] if categories is None else range(len(categories))
            pairs += [(j, level) for level in levels]
        return [*pairs, (-1, -1)] if self.intercept else pairs

    @property
    def features(self) -> tuple[FeatureBins, ...]:
        """The features as bins: one of a number, and one of each category."""
        return tuple(
            NumericBins(np.empty(0)) if categories is None else CategoricalBins(categories)
            for categories in self.categories
        )

    def __len__(self) -> int:
        levels = sum(1 if categories is None else len(categories) for categories in self.categories)
        return levels + self.intercept

    def open(self, table: InputTable) -> "ColumnReader":
        """Return the columns of these rows."""
        return ColumnReader(self, table)


class ColumnReader:
    """The columns of the rows of a table."""

    def __init__(self, columns: LinearColumns, table: InputTable) -> None:
        self._native = columns.native
        self._n_rows = table.n_rows
        whole = table.array if all(c is None for c in columns.categories) else None
        self.data: Any = whole
        """The table in the engine's form: one array, or one per feature."""
        if whole is None:  # numbers, or which category each row has: below 0 if missing or unknown
            features = columns.features

            def read(j: int) -> NDArray[np.generic]:
                bins = features[j]
                return table.numeric(j) if isinstance(bins, NumericBins) else bins.read(table, j)

            with refuse_together(range(len(features)), read):
                self.data = [read(j) for j in range(len(features))]

    def column(self, k: int) -> NDArray[np.generic]:
        """Return column `k`."""
        feature, level = self._native[k]
        if feature < 0:
            return np.ones(self._n_rows)
        whole = isinstance(self.data, np.ndarray)
        values: NDArray[np.generic] = self.data[:, feature] if whole else self.data[feature]
        return values if level < 0 else values == level

    def multiply(self, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of each row's columns times the coefficients."""
        total = np.zeros(self._n_rows)
        # One column at a time, so that a row's sum does not depend on other rows.
        for k in np.flatnonzero(coefficients):
            total += self.column(int(k)) * coefficients[k]
        return total


def find_columns(
    table: InputTable,
    categorical_features: CategoricalFeatures,
    names: ColumnNames | None,
    *,
    intercept: bool,
) -> LinearColumns:
    """Find which features are categorical, and their categories."""
    categorical, from_dtype = find_categorical(categorical_features, table)
    with refuse_together(range(table.n_features), read_by(table, categorical)):
        columns = {j: table.categorical(j) for j in categorical}
    texts = find_texts(table, categorical, from_dtype)
    counts = {table.label(j): _count(columns[j]) for j in texts}
    if (warning := describe_identifiers(counts)) is not None:
        warn(warning)
    categories = tuple(columns[j].values if j in columns else None for j in range(table.n_features))
    return make_columns(categories, names, intercept=intercept)


def _count(column: CategoricalColumn) -> NDArray[np.int64]:
    return count_codes(column.codes, len(column.values))


def make_columns(
    categories: tuple[tuple[Category, ...] | None, ...],
    names: ColumnNames | None,
    *,
    intercept: bool,
) -> LinearColumns:
    """Return the columns of features with these names."""
    if names is None:
        return LinearColumns(categories, None, intercept)
    return LinearColumns(categories, names.values, intercept, names.are_text)


def refuse_numbers(table: InputTable, feature: int) -> NoReturn:
    """Raise an error that names the feature with a number that is not finite."""
    raise ValueError(
        f"X must hold finite numbers: {table.label(feature)} holds NaN or infinity. Fill in "
        "missing values first: a linear model is a sum over all features"
    )
