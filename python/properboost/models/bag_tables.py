"""The tables of every bag, by feature and pair, and the standard errors that follow."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from properboost.cached import cached_property
from properboost.data.table import InputTable
from properboost.models.bag_design import find_ratio
from properboost.models.ensemble import Rounds
from properboost.models.standard_errors import StandardErrors, TableErrors
from properboost.models.table_ensemble import TableEnsemble

__all__ = ["BagTables", "collapse"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BagTables(StandardErrors):
    """The sum of every bag's rounds: ensembles with a round for each feature and pair."""

    bags: tuple[TableEnsemble, ...]

    def edit_bags(
        self, _wanted: str, edit: Callable[[TableEnsemble], TableEnsemble]
    ) -> "BagTables":
        """Return the bags, each of them edited."""
        return replace(self, bags=tuple(map(edit, self.bags)))

    def forget(self, mean: TableEnsemble, term: int) -> TableErrors:
        """Return standard errors without those of one term and of importances."""
        return self.summarize(mean).forget(mean, term)

    def without_feature(
        self, _mean: TableEnsemble, feature: int, _pairs: Sequence[int]
    ) -> "BagTables":
        """Return the bags without the feature."""
        return self.edit_bags("", lambda bag: bag.without_feature(feature))

    def summarize(self, mean: TableEnsemble) -> TableErrors:
        """Return the standard errors alone."""
        models = range(len(mean.models))
        return TableErrors(
            self.n_bags,
            tuple(self.errors(m) for m in models),
            tuple(self.ratios(m, mean.centered(m)) for m in models),
            self.importance_errors(),
        )

    def raw_predictions(self, table: InputTable, n_threads: int) -> list[Array]:
        """Return F of every bag, of shape (n_rows, n_models)."""
        return [bag.raw_predictions(table, n_threads) for bag in self.bags]

    def errors(self, model: int) -> Array:
        """Return the standard error of each entry of one model's tables."""
        return self._errors[model]

    @cached_property
    def _errors(self) -> list[Array]:
        models = range(len(self.bags[0].models))
        return [self.of([bag.centered(m) for bag in self.bags]) for m in models]

    def ratios(self, model: int, tables: Array) -> tuple[Array, Array]:
        """Return the ratio of each table to its noise, and the ratio's degrees of freedom."""
        shares, offsets = self.bags[0].shares, self.bags[0].offsets
        tables_of_bags = np.stack([bag.centered(model) for bag in self.bags])
        tables_of_bags -= tables_of_bags.mean(axis=0)
        ratios, degrees = np.zeros(len(offsets) - 1), np.ones(len(offsets) - 1)
        for term, (first, end) in enumerate(pairwise(offsets.tolist())):
            ratios[term], degrees[term] = find_ratio(
                tables[first:end], tables_of_bags[:, first:end], shares[first:end]
            )
        return ratios, degrees

    @cached_property
    def _importance_errors(self) -> Array:
        n_features = len(self.bags[0].binning.features)
        return self.of(
            [np.append(bag.importances(), bag.term_importances()[n_features:]) for bag in self.bags]
        )

    def importance_errors(self) -> Array:
        """Return the standard error of each importance."""
        return self._importance_errors


def collapse(mean: TableEnsemble, fits: Sequence[Sequence[Rounds]]) -> list[TableEnsemble]:
    """Return the sums of the rounds of each bag, as ensembles whose mean is `mean`."""
    return [replace(mean, models=tuple(map(mean.collapse, models))) for models in fits]
