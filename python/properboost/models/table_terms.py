"""The terms of an ensemble of look-up tables: its features and pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from properboost.cached import cached_property
from properboost.data.entries import ROWS, find_entries
from properboost.models.terms import Features, Terms

__all__ = ["TableTerms"]

Array = NDArray[np.float64]


class _Tables(Protocol):
    """The part of a `TableEnsemble` that its terms read."""

    @property
    def models(self) -> Sequence[object]: ...
    @property
    def joint(self) -> bool: ...
    @property
    def pairs(self) -> Sequence[Any]: ...
    @property
    def bin_weights(self) -> Sequence[Array]: ...
    @property
    def pair_weights(self) -> Sequence[Array]: ...
    @property
    def intercept(self) -> Array: ...
    @property
    def standard_errors(self) -> Any: ...
    @property
    def p_values(self) -> Sequence[Array]: ...
    def purified(self, model: int) -> tuple[Array, dict[int, tuple[Array, Array]]]: ...
    def part(self, table: Array, term: int) -> Array: ...
    def look_up_pair(
        self, table: Array, p: int, effects: tuple[Array, Array], codes: NDArray[np.uint8]
    ) -> Array: ...
    def table_of(self, model: int, term: int) -> Array: ...


@dataclass(frozen=True, eq=False)
class TableTerms(Terms):
    """The terms of look-up tables: features and, after them, pairs."""

    ensemble: _Tables

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.ensemble.bin_weights)

    @property
    def n_models(self) -> int:  # type: ignore[override]
        """The number of models."""
        return len(self.ensemble.models)

    @cached_property
    def features(self) -> list[Features]:
        """The features of each term."""
        pairs = [(pair.first, pair.second) for pair in self.ensemble.pairs]
        return [*((j,) for j in range(self.n_features)), *pairs]

    def table_of(self, model: int, term: int) -> Array:
        """Return the table of a term in one model: by code, or in the shape of its levels."""
        return self._shape(term, self.ensemble.table_of(model, term))

    def weights_of(self, term: int) -> Array:
        """Return the training weight of each entry of a term's table."""
        ensemble = self.ensemble
        if term < self.n_features:
            return ensemble.bin_weights[term]
        return self._shape(term, ensemble.pair_weights[term - self.n_features])

    def levels_of(self, term: int) -> Sequence[NDArray[np.integer]]:
        """Return the level of each code of both features of a pair; -1 is none."""
        pair = self.ensemble.pairs[term - self.n_features]
        return pair.first_level, pair.second_level

    def evaluate(self, codes: NDArray[np.uint8], models: Sequence[int], n_threads: int) -> Array:  # noqa: ARG002
        """Return the terms' values for rows of these codes, (n_terms, n_rows, n_models)."""
        ensemble = self.ensemble
        values = np.zeros((codes.shape[1], len(self.features), len(models)))
        for at, model in enumerate(models):
            purified, effects = ensemble.purified(model)
            for begin in range(0, len(values), ROWS):  # blocks of rows, with terms side by side
                block, part = codes[:, begin : begin + ROWS], values[begin : begin + ROWS, :, at]
                for j in range(self.n_features):
                    part[:, j] = find_entries(ensemble.part(purified, j), block[j])
                for p, moved in effects.items():
                    part[:, self.n_features + p] = ensemble.look_up_pair(purified, p, moved, block)
        return values.swapaxes(0, 1)

    def find_constant(self, model: int) -> float:
        """Return the constant of one model, in a joint model less its mean over the models."""
        intercept = self.ensemble.intercept
        return float(intercept[model] - (intercept.mean() if self.ensemble.joint else 0.0))

    @cached_property
    def bags(self) -> list[Terms]:
        """The terms of every bag, if the model keeps the tables of its bags."""
        bags = getattr(self.ensemble.standard_errors, "bags", ())
        return [bag.terms for bag in bags]

    @property
    def n_bags(self) -> int:
        """The number of bags behind standard errors; 0 if there are none."""
        errors = self.ensemble.standard_errors
        return 0 if errors is None else errors.n_bags

    def errors_of(self, model: int, term: int) -> Array | None:
        """Return the standard error of each entry of a term's table; None if unknown."""
        errors = self.ensemble.standard_errors
        if errors is None or self.p_value_of(model, term) is None:
            return None
        return self._shape(term, self.ensemble.part(errors.errors(model), term))

    def p_value_of(self, model: int, term: int) -> float | None:
        """Return the p-value of a term's table; None if there are no bags, or a user set it."""
        if self.ensemble.standard_errors is None:
            return None
        p_value = float(self.ensemble.p_values[model][term])
        return None if np.isnan(p_value) else p_value

    def _shape(self, term: int, entries: Array) -> Array:
        """Return the entries of a pair in the shape of its grid; those of a feature stay."""
        if term < self.n_features:
            return entries
        pair = self.ensemble.pairs[term - self.n_features]
        return entries[: pair.n_cells].reshape(pair.n_first, pair.n_second)
