"""Standard errors of a model, by the deviations of its bags."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.table import InputTable
from properboost.models.bag_design import find_p_values
from properboost.models.bag_errors import BagErrors

__all__ = ["StandardErrors", "TableErrors"]

Array = NDArray[np.float64]

_WITH_BAGS = (
    "a model that was fitted with Bags(tables=True) and in which set_shape_function set no table"
)


@dataclass(frozen=True, eq=False)
class StandardErrors(BagErrors):
    """Standard errors of the entries of a model's look-up tables, and of importances."""

    n_bags: int

    @abstractmethod
    def errors(self, model: int) -> Array:
        """Return the standard error of each entry of one model's tables, side by side.

        The entries are relative to the table's mean over the training rows.
        """

    @abstractmethod
    def ratios(self, model: int, tables: Array) -> tuple[Array, Array]:
        """Return the ratio of each table of one model to its noise, and its degrees of freedom.

        `tables` are the model's, relative to their means; see `find_ratio`.
        """

    def p_values(self, model: int, tables: Array) -> Array:
        """Return the p-value of each table of one model, if the true tables are 0."""
        return find_p_values(*self.ratios(model, tables), self.n_bags)

    @abstractmethod
    def importance_errors(self) -> Array:
        """Return the standard error of each feature's importance, then of each pair's."""

    @abstractmethod
    def edit_bags(self, method: str, edit: Callable[[Any], Any]) -> "StandardErrors":
        """Return the standard errors of edited bags; an error names the `method`."""

    @abstractmethod
    def forget(self, mean: Any, term: int) -> "TableErrors":
        """Return standard errors that are NaN for one term of `mean`, and for importances.

        `mean` is the ensemble.
        """

    @abstractmethod
    def without_feature(self, mean: Any, feature: int, pairs: Sequence[int]) -> "StandardErrors":
        """Return the standard errors without a feature; `pairs` are those that are left."""


@dataclass(frozen=True, eq=False)
class TableErrors(StandardErrors):
    """Standard errors of every model without the bags that they came from."""

    of_entries: tuple[Array, ...]
    of_terms: tuple[tuple[Array, Array], ...]
    of_importances: Array

    def raw_predictions(self, _table: InputTable, _n_threads: int) -> list[Array]:
        """Refuse, because the bags are gone."""
        raise ValueError(f"predict_interval needs {_WITH_BAGS}")

    def errors(self, model: int) -> Array:
        """Return the standard error of each entry of one model's tables."""
        return self.of_entries[model]

    def ratios(self, model: int, _tables: Array) -> tuple[Array, Array]:
        """Return the ratio of each table to its noise, and the ratio's degrees of freedom."""
        return self.of_terms[model]

    def importance_errors(self) -> Array:
        """Return the standard error of each importance."""
        return self.of_importances

    def edit_bags(self, method: str, _edit: Callable[[Any], Any]) -> StandardErrors:
        """Refuse, because the standard errors of edited functions need the bags."""
        raise ValueError(f"{method} needs {_WITH_BAGS}")

    def forget(self, mean: Any, term: int) -> "TableErrors":
        """Return standard errors without those of one term and of importances."""
        entries = mean.entries_of([term])
        return replace(
            self,
            of_entries=tuple(_with(errors, entries, np.nan) for errors in self.of_entries),
            of_terms=tuple(
                (_with(ratios, term, np.nan), degrees) for ratios, degrees in self.of_terms
            ),
            of_importances=np.full_like(self.of_importances, np.nan),
        )

    def without_feature(self, mean: Any, feature: int, pairs: Sequence[int]) -> "TableErrors":
        """Return the standard errors without a feature, which for certain adds 0."""
        n_features = len(mean.binning.features)
        terms = [*range(n_features), *(n_features + p for p in pairs)]
        entries, feature_entries = mean.entries_of(terms), mean.entries_of([feature])
        return replace(
            self,
            of_entries=tuple(
                _with(errors, feature_entries, 0.0)[entries] for errors in self.of_entries
            ),
            of_terms=tuple(
                (_with(ratios, feature, 0.0)[terms], degrees[terms])
                for ratios, degrees in self.of_terms
            ),
            of_importances=np.full(len(terms), np.nan),
        )


def _with(values: Array, where: Any, value: float) -> Array:
    changed = values.copy()
    changed[where] = value
    return changed
