"""Ensembles of damped rounds: they add less, the farther a raw prediction is from 0."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from properboost.data.table import InputTable
from properboost.models.ensemble import Ensemble, share_savings
from properboost.models.tree import as_shares

__all__ = ["DampedEnsemble"]


@dataclass(frozen=True, eq=False)
class DampedEnsemble(Ensemble):
    """Rounds that add e^(-damping |F|) times their table's entry, for the sum F before them.

    The order of the rounds matters, and no feature has one function.
    """

    damping: float = 0.0
    not_additive: ClassVar[str] = (
        "the part of a round depends on the sum before it, so no feature has its own part"
    )

    def follow(self, codes: NDArray[np.uint8], n_threads: int) -> Iterator[NDArray[np.float64]]:
        """Yield the same array after each estimator: F of rows of these codes."""
        (rounds,) = self.models
        raw = np.zeros((codes.shape[1], 1))
        for t in range(len(rounds)):
            added = rounds.look_up(t, codes, self.binning, n_threads)
            raw[:, 0] += np.exp(-self.damping * np.abs(raw[:, 0])) * added
            yield raw

    def _add_rounds(self, table: InputTable, n_threads: int) -> NDArray[np.float64]:
        return self.of_codes(self.encode(table, n_threads), n_threads)

    def contributions(
        self,
        _table: InputTable,
        _n_threads: int,
        _models: Sequence[int],
        *,
        by_feature: bool,  # noqa: ARG002
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Refuse, because no feature has a contribution of its own."""
        raise ValueError(self.not_additive)

    def importances(self) -> NDArray[np.float64]:
        """Return each feature's share of the steps, or of the savings of all trees' splits."""
        (rounds,) = self.models
        if rounds.trees is not None:
            return share_savings(self.models, len(self.binning.features))
        steps = np.zeros(len(self.binning.features))
        np.add.at(steps, rounds.feature, rounds.step)
        return as_shares(steps)
