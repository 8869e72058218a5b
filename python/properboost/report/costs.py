"""Costs of two ways to decide, the most probable class and the least expected cost."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from properboost.estimators.costs import choose_decisions, decide
from properboost.report.content import Array, DecisionCosts, Estimate, Limit

__all__ = ["N_AVERAGES", "CostedWays"]

N_AVERAGES = 3
"""The numbers of `CostedWays.average`."""


@dataclass(frozen=True, eq=False)
class CostedWays:
    """The cost of each row by either way: `matrix` has those of decisions by class."""

    matrix: Array
    most_probable: Array
    least: Array

    @classmethod
    def of(
        cls,
        matrix: Array,
        probability: Array,
        codes: NDArray[np.intp],
        predicted: NDArray[np.intp],
    ) -> "CostedWays":
        """Return the costs of rows of known classes."""
        return cls(matrix, matrix[codes, predicted], matrix[codes, decide(probability, matrix)])

    def average(self, counts: Array) -> tuple[float, ...]:
        """Return the mean costs of either way and their difference; rows count so often."""
        usual, least = (
            float(np.average(paid, weights=counts)) for paid in (self.most_probable, self.least)
        )
        return usual, least, usual - least

    def sum_up(
        self, averages: Sequence[Estimate], shares: Array, limit: Limit | None
    ) -> DecisionCosts:
        """Return the costs of a page, with those of one decision for all rows."""
        most_probable, least, saving = averages
        of_decisions = shares @ self.matrix
        cheapest = int(choose_decisions(of_decisions[np.newaxis])[0])
        return DecisionCosts(
            matrix=self.matrix,
            most_probable=most_probable,
            least=least,
            saving=saving,
            constant=float(of_decisions[cheapest]),
            constant_class=cheapest,
            limit=limit,
        )
