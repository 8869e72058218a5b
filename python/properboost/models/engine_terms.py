"""The engine's terms of trees, also where several merged models have lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost import _core

__all__ = ["EngineTerms", "JoinedTerms"]


@dataclass(frozen=True, eq=False)
class JoinedTerms:
    """The terms of several groups of trees, one group after the other.

    Each group has means of bins of its own, and several may have the same set of features.
    """

    groups: Sequence[_core.Terms]

    @property
    def features(self) -> list[tuple[int, ...]]:
        """The features of each term of each group."""
        return [features for terms in self.groups for features in terms.features]

    def find_levels(self) -> list[tuple[NDArray[np.uint8], ...]]:
        """Return the level of each code, by term and feature."""
        return [levels for terms in self.groups for levels in terms.find_levels()]

    def add_up_cells(
        self,
        model: int,
        grids: Sequence[_core.TermGrid],
        shares: NDArray[np.float64],
        used: NDArray[np.uint8] | None = None,
        n_threads: int = 1,
    ) -> list[NDArray[np.float64]]:
        """Return the sums of a model's leaves by term and cell; all trees are used."""
        assert used is None
        return [
            sums
            for terms, of_group in self._cut(grids)
            for sums in terms.add_up_cells(model, of_group, shares, None, n_threads)
        ]

    def add_up_rows(
        self,
        model: int,
        codes: NDArray[np.uint8],
        used: NDArray[np.uint8] | None = None,
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        """Return the sums of a model's leaves by term and row; all trees are used."""
        assert used is None
        return np.concatenate(
            [terms.add_up_rows(model, codes, None, n_threads) for terms in self.groups]
        )

    def _cut(
        self, grids: Sequence[_core.TermGrid]
    ) -> Iterator[tuple[_core.Terms, Sequence[_core.TermGrid]]]:
        """Yield every group with the grids of its terms."""
        begin = 0
        for terms in self.groups:
            end = begin + len(terms.features)
            yield terms, grids[begin:end]
            begin = end


EngineTerms: TypeAlias = _core.Terms | JoinedTerms
"""The terms of all trees of an ensemble."""
