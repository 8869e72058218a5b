"""Ensembles whose rounds add the less, the further a raw prediction already is from 0."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from properboost.data.table import Table
from properboost.models.ensemble import Ensemble, TreeExplainer, share_savings
from properboost.models.tree import as_shares

__all__ = ["DampedEnsemble"]


@dataclass(frozen=True, eq=False)
class DampedEnsemble(Ensemble):
    """Rounds that add e^(-damping |F|) times what they look up, F being the sum before them.

    They do not add up to one function per feature, and their order matters.
    """

    damping: float = 0.0
    not_additive: ClassVar[str] = (
        "what a round adds depends on the sum before it: no feature has a part of its own"
    )

    def follow(self, codes: NDArray[np.uint8], n_threads: int) -> Iterator[NDArray[np.float64]]:
        """Yield the same array after each estimator: F of rows of these codes."""
        (rounds,) = self.models
        raw = np.zeros((codes.shape[1], 1))
        for t in range(len(rounds)):
            added = rounds.look_up(t, codes, self.binning, n_threads)
            raw[:, 0] += np.exp(-self.damping * np.abs(raw[:, 0])) * added
            yield raw

    def _add_rounds(self, table: Table, n_threads: int) -> NDArray[np.float64]:
        return self.of_codes(self.encode(table, n_threads), n_threads)

    def contributions(
        self, _table: Table, _n_threads: int, _models: Sequence[int], _explain_tree: TreeExplainer
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Refuse: no feature has a contribution of its own."""
        raise ValueError(self.not_additive)

    def importances(self) -> NDArray[np.float64]:
        """Return each feature's share of the steps, or of what all trees' splits saved."""
        (rounds,) = self.models
        if rounds.trees is not None:
            return share_savings(self.models, len(self.binning.features))
        steps = np.zeros(len(self.binning.features))
        np.add.at(steps, rounds.feature, rounds.step)
        return as_shares(steps)
