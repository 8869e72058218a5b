"""How far bags lie from each other: standard errors of what a model of look-up tables says."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from properboost.data.table import Table
from properboost.models.bag_design import design

__all__ = ["Spread", "TableSpread", "find_size"]

Array = NDArray[np.float64]

_WITH_BAGS = (
    "a model that was fitted with Bags(tables=True) and in which set_shape_function set no table"
)


@dataclass(frozen=True, eq=False)
class Spread(ABC):
    """Standard errors of the entries of a model's tables, and of importances."""

    n_bags: int

    def of(self, values: Sequence[Array]) -> Array:
        """Return the standard error of what each bag has a value of."""
        spread = np.stack(values)
        deviations = spread - spread.mean(axis=0)
        size = find_size(deviations)
        variance = design(self.n_bags).variance_factor * np.square(deviations / size).sum(axis=0)
        error: Array = size * np.sqrt(variance)
        return error

    @abstractmethod
    def raw_predictions(self, table: Table, n_threads: int) -> list[Array]:
        """Return F of every bag, of shape (n_rows, n_models)."""

    @abstractmethod
    def errors(self, model: int) -> Array:
        """Return the standard error of each entry of one model's tables, side by side.

        The entries are relative to the table's mean over the training rows.
        """

    @abstractmethod
    def ratios(self, model: int, tables: Array) -> tuple[Array, Array]:
        """Return, by term of one model, by how much its table is larger than its noise.

        That is the table's mean square over the training rows over that of its standard errors, and
        the numerator's degrees of freedom, which are those of a sum of squares whose covariances
        are the bags' (Satterthwaite).  `tables` are the model's, relative to their means.
        """

    def p_values(self, model: int, tables: Array) -> Array:
        """Return, by term of one model, how probable so large a table is where none is true."""
        # The distribution's last bits differ between processors: no file has any of them.
        ratios, degrees = self.ratios(model, tables)
        among = degrees * design(self.n_bags).degrees
        return np.asarray(fdtrc(degrees, among, ratios), dtype=np.float64)

    @abstractmethod
    def importance_errors(self) -> Array:
        """Return the standard error of each feature's importance, then of each pair's."""

    @abstractmethod
    def edit_bags(self, wanted: str, edit: Callable[[Any], Any]) -> "Spread":
        """Return the spread of bags of which each is edited; `wanted` is what asks for it."""

    @abstractmethod
    def forget(self, mean: Any, term: int) -> "TableSpread":
        """Return standard errors without those of one term of the ensemble `mean`, and importances.

        They are NaN.
        """

    @abstractmethod
    def without_feature(self, mean: Any, feature: int, pairs: Sequence[int]) -> "Spread":
        """Return the spread of ensembles in which a feature has no part; these `pairs` are left."""


@dataclass(frozen=True, eq=False)
class TableSpread(Spread):
    """Standard errors without the bags that they came from; of every model."""

    of_entries: tuple[Array, ...]
    of_terms: tuple[tuple[Array, Array], ...]
    of_importances: Array

    def raw_predictions(self, _table: Table, _n_threads: int) -> list[Array]:
        """Refuse: the bags are gone."""
        raise ValueError(f"predict_interval needs {_WITH_BAGS}")

    def errors(self, model: int) -> Array:
        """Return the standard error of each entry of one model's tables."""
        return self.of_entries[model]

    def ratios(self, model: int, _tables: Array) -> tuple[Array, Array]:
        """Return how much larger than noise each table is, and the degrees of freedom of that."""
        return self.of_terms[model]

    def importance_errors(self) -> Array:
        """Return the standard error of each importance."""
        return self.of_importances

    def edit_bags(self, wanted: str, _edit: Callable[[Any], Any]) -> Spread:
        """Refuse: it takes the bags to know how sure an edited function is."""
        raise ValueError(f"{wanted} needs {_WITH_BAGS}")

    def forget(self, mean: Any, term: int) -> "TableSpread":
        """Return standard errors without those of one term and of importances."""
        some = mean.entries_of([term])
        return replace(
            self,
            of_entries=tuple(_with(own, some, np.nan) for own in self.of_entries),
            of_terms=tuple((_with(own, term, np.nan), degrees) for own, degrees in self.of_terms),
            of_importances=np.full_like(self.of_importances, np.nan),
        )

    def without_feature(self, mean: Any, feature: int, pairs: Sequence[int]) -> "TableSpread":
        """Return standard errors of what is left; what has no part is known to add nothing."""
        n_features = len(mean.binning.features)
        terms = [*range(n_features), *(n_features + p for p in pairs)]
        kept, own = mean.entries_of(terms), mean.entries_of([feature])
        return replace(
            self,
            of_entries=tuple(_with(errors, own, 0.0)[kept] for errors in self.of_entries),
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


def find_size(values: Array) -> float:
    """Return a power of two near the largest, by which squares neither over- nor underflow."""
    return float(np.ldexp(1.0, np.frexp(np.abs(values).max(initial=0.0))[1] - 1))
