"""The interface of the terms of an ensemble: the functions of few features that it adds up."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.cached import cached_property
from properboost.data.entries import find_entries
from properboost.models.bag_design import (
    BagDesign,
    TermNoise,
    design,
    find_independent_shares,
    find_p_values,
    find_ratio,
    find_standard_error,
)
from properboost.models.term_cells import TermCells

__all__ = ["ROWS", "Features", "Terms"]

Array: TypeAlias = NDArray[np.float64]

ROWS = 2**13
"""Rows whose terms are evaluated at a time."""

Features: TypeAlias = tuple[int, ...]
"""The positions of the features of a term, in ascending order."""


class Terms(ABC):
    """The terms of an ensemble: one for each feature, then those of several features.

    Every term has a table, by code of its feature, or by the levels of its features.  Tables are
    purified: where a term has several features, the mean over each slice is 0 (Lengerich et al.
    2020).  In a joint model they are less their mean over the models.
    """

    n_models: int

    @property
    @abstractmethod
    def features(self) -> Sequence[Features]:
        """The features of each term."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The number of features."""

    @cached_property
    def place(self) -> dict[Features, int]:
        """The position of the term of each set of features."""
        return {features: k for k, features in enumerate(self.features)}

    def prepare(self, models: Iterable[int], n_threads: int, *, with_bags: bool) -> None:  # noqa: B027
        """Compute what takes time, for these models, by this many threads."""

    @abstractmethod
    def table_of(self, model: int, term: int) -> Array:
        """Return the table of a term in one model: by code, or in the shape of its levels."""

    @abstractmethod
    def weights_of(self, term: int) -> Array:
        """Return the training weight of each entry of a term's table."""

    @abstractmethod
    def levels_of(self, term: int) -> Sequence[NDArray[np.integer]]:
        """Return the level of each code of each feature of a term of several; -1 is none."""

    @abstractmethod
    def evaluate(self, codes: NDArray[np.uint8], models: Sequence[int], n_threads: int) -> Array:
        """Return the terms' values for rows of these codes, (n_terms, n_rows, n_models).

        They add up to the raw predictions less `find_constant`.
        """

    @abstractmethod
    def find_constant(self, model: int) -> float:
        """Return the constant of one model, in a joint model less its mean over the models."""

    def list_cells(self, most: int, n_threads: int) -> list[TermCells] | None:  # noqa: ARG002
        """Return terms of several features by cell; None if that were more than `most` sums."""
        several = [k for k, features in enumerate(self.features) if len(features) > 1]
        if self.n_models * sum(self.weights_of(k).size for k in several) > most:
            return None
        cells = []
        for k in several:
            tables = [self.table_of(model, k) for model in range(self.n_models)]
            # Codes without a level, of -1, get the last one, where the term is 0.
            table = np.stack([np.pad(table, (0, 1)) for table in tables], axis=-1)
            cells.append(TermCells(self.features[k], tuple(self.levels_of(k)), table))
        return cells

    def list_used(self) -> list[Features]:
        """Return the features of each term that is not 0 in every model."""
        return [
            features
            for k, features in enumerate(self.features)
            if any(self.table_of(m, k).any() for m in range(self.n_models))
        ]

    # -- standard errors --------------------------------------------------------------------------

    @property
    @abstractmethod
    def bags(self) -> "Sequence[Terms]":
        """The terms of every bag whose mean the ensemble is; empty if there are none to compute."""

    @property
    def n_bags(self) -> int:
        """The number of bags behind standard errors; 0 if there are none."""
        return len(self.bags)

    @property
    def bag_design(self) -> BagDesign:
        """The parts of the rows that each bag learnt from."""
        return design(self.n_bags)

    def errors_of(self, model: int, term: int) -> Array | None:
        """Return the standard error of each entry of a term's table; None if unknown.

        The table is relative to its mean over the training rows.
        """
        if not self.bags:
            return None
        values = [bag.centered(model, term) for bag in self.bags]
        errors = self.noise_of(model, term).find_errors(values)
        return np.where(find_independent_shares(self.shares_of(term)) > 0.0, errors, 0.0)

    def noise_of(self, model: int, term: int) -> TermNoise:
        """Return the part of the bags' differences in a term that is left in their mean."""
        values = [bag.centered(model, term) for bag in self.bags]
        return TermNoise.of(values, self.shares_of(term), self.bag_design)

    def p_value_of(self, model: int, term: int) -> float | None:
        """Return the p-value of a term's table, if the true one is 0; None if unknown."""
        if not self.bags:
            return None
        tables = np.stack([bag.centered(model, term).ravel() for bag in self.bags])
        deviations = tables - tables.mean(axis=0)
        table, shares = self.centered(model, term).ravel(), self.shares_of(term).ravel()
        ratio, degrees = find_ratio(table, deviations, shares)
        return float(find_p_values(np.array(ratio), np.array(degrees), self.n_bags))

    def look_up_errors(self, codes: NDArray[np.uint8], model: int, n_threads: int) -> Array:  # noqa: ARG002
        """Return the standard errors of the terms' values, (n_rows, n_terms).

        They are NaN where the table has no entry for a row, or no error.
        """
        errors = np.full((codes.shape[1], len(self.features)), np.nan)
        for k, features in enumerate(self.features):
            of_table = self.errors_of(model, k)
            if of_table is None:
                continue
            if len(features) == 1:
                errors[:, k] = find_entries(of_table, codes[features[0]])
                continue
            levels = [
                find_entries(level, codes[j])
                for j, level in zip(features, self.levels_of(k), strict=True)
            ]
            inside = np.min(levels, axis=0) >= 0
            errors[inside, k] = of_table[tuple(level[inside] for level in levels)]
        return errors

    def importances(self) -> Array:
        """Return the standard deviation of each term over the training rows.

        For several models it is the quadratic mean.
        """
        return np.array(
            [
                _find_quadratic_mean([self.deviation_of(m, k) for m in range(self.n_models)])
                for k in range(len(self.features))
            ]
        )

    def importance_errors(self) -> Array | None:
        """Return the standard error of each importance; None if unknown."""
        if not self.bags:
            return None
        return find_standard_error([bag.importances() for bag in self.bags])

    # -- summaries --------------------------------------------------------------------------------

    def shares_of(self, term: int) -> Array:
        """Return the share of each entry of a term's table in the training weight."""
        weights = self.weights_of(term)
        total = float(weights.sum())
        return weights / total if total > 0.0 else weights

    def mean_of(self, model: int, term: int) -> float:
        """Return the mean of a term over the training rows."""
        return float(np.sum(self.shares_of(term) * self.table_of(model, term)))

    def find_average(self, model: int) -> float:
        """Return the mean prediction of the training rows, by the terms' means."""
        means = [self.mean_of(model, j) for j in range(self.n_features)]
        return sum(means, self.find_constant(model))

    def centered(self, model: int, term: int) -> Array:
        """Return the table of a term less its mean over the training rows."""
        centered: Array = self.table_of(model, term) - self.mean_of(model, term)
        return centered

    def deviation_of(self, model: int, term: int) -> float:
        """Return the standard deviation of a term over the training rows."""
        table = self.centered(model, term)
        size = float(np.abs(table).max(initial=0.0)) or 1.0
        return size * float(np.sqrt(np.sum(self.shares_of(term) * np.square(table / size))))

    def contribute(
        self, codes: NDArray[np.uint8], models: Sequence[int], n_threads: int, *, by_feature: bool
    ) -> tuple[Array, Array]:
        """Return contributions to these models, (n_rows, n_terms, n_models), and the baselines.

        A term's contribution is its value less its mean over the training rows.  With `by_feature`
        every feature of a term gets an equal share of it, which is the Shapley value of the game
        in which a set of features is worth the terms within it.
        """
        means = np.array(
            [[self.mean_of(m, j) for m in models] for j in range(self.n_features)]
        ).reshape(self.n_features, len(models))
        n_rows, n_terms = codes.shape[1], self.n_features if by_feature else len(self.features)
        values = np.zeros((n_rows, n_terms, len(models)))
        for begin in range(0, n_rows, ROWS):
            block = np.ascontiguousarray(codes[:, begin : begin + ROWS])
            part = values[begin : begin + ROWS]
            of_terms = self.evaluate(block, models, n_threads)
            of_terms[: self.n_features] -= means[:, None]
            for k, (features, of_term) in enumerate(zip(self.features, of_terms, strict=True)):
                if by_feature:
                    part[:, features] += (of_term / len(features))[:, None]
                else:
                    part[:, k] = of_term
        return values, np.array([self.find_average(m) for m in models])


def _find_quadratic_mean(values: Sequence[float]) -> float:
    size = max(values, default=0.0)
    if size == 0.0:
        return 0.0
    return size * float(np.sqrt(np.mean(np.square(np.array(values) / size))))
