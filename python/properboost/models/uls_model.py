"""A fitted universal linear separator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.columns import LinearColumns
from properboost.losses.builtin import MarginLoss
from properboost.losses.design import Permissible
from properboost.losses.permissible import PermissibleFunction
from properboost.parameters.kinds import Permissible as PhiName

__all__ = ["MU", "ULSModel", "find_loss"]

MU = 0.5
"""The mu of the function "mu"; another value makes the same model at another scale."""


@dataclass(frozen=True, eq=False)
class ULSModel:
    """A fitted ULS: the function, columns, their lengths, coefficients and rounds.

    A compact model has no rounds and no lengths.
    """

    phi: PhiName
    columns: LinearColumns
    coefficients: NDArray[np.float64]
    total: float
    norms: NDArray[np.float64] | None = None
    rounds: dict[str, NDArray[Any]] | None = None
    n_rounds: int = 0

    def compacted(self) -> ULSModel:
        """Return the model with only what predictions need."""
        return ULSModel(
            self.phi, self.columns, self.coefficients, self.total, n_rounds=self.n_rounds
        )

    @property
    def function(self) -> PermissibleFunction:
        """The permissible function."""
        return PermissibleFunction(self.phi, mu=MU)

    @property
    def loss(self) -> MarginLoss:
        """The loss of the surrogate, which is this loss divided by the function's depth."""
        return find_loss(self.phi)


def find_loss(phi: PhiName) -> MarginLoss:
    """Return the loss of a permissible function's surrogate, up to a factor."""
    return Permissible(phi, MU if phi == "mu" else None)
