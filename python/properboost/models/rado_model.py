"""A fitted model of rados: a linear model whose coefficients are sums of steps."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from properboost.data.columns import LinearColumns

__all__ = ["RadoModel"]


@dataclass(frozen=True, eq=False)
class RadoModel:
    """A model of rados: columns, rounds, and the number of rounds up to the best."""

    columns: LinearColumns
    rounds: dict[str, NDArray[Any]]
    n_kept: int
    n_rados: int
    seed: int | None

    @property
    def is_compact(self) -> bool:
        """Whether the rounds are only the coefficients, which are their sums."""
        return "edge" not in self.rounds

    def compacted(self) -> Self:
        """Return the model with a round for each coefficient that is not 0."""
        theta = self.coefficients()
        (feature,) = np.nonzero(theta)
        return replace(self, rounds={"feature": feature, "step": theta[feature]})

    def coefficients(self) -> NDArray[np.float64]:
        """Return theta, one coefficient per column."""
        theta = np.zeros(len(self.columns))
        best = slice(self.n_kept)
        np.add.at(theta, self.rounds["feature"][best], self.rounds["step"][best])
        return theta
