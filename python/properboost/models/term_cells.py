"""A term of several features by cell of its finest grid, and what these features do together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["TermCells"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TermCells:
    """The sums of a term's leaves in the cells that its trees separate.

    Attributes
    ----------
    features : tuple of int
        The term's features.
    levels : tuple of ndarray
        The level of each code of each feature.
    table : ndarray of shape (n_levels, ..., n_models)
        The exact sum in each cell.
    """

    features: tuple[int, ...]
    levels: tuple[NDArray[np.integer], ...]
    table: Array

    def interact(
        self, codes: NDArray[np.uint8], moved: Sequence[int], to: Sequence[NDArray[np.intp]]
    ) -> Array:
        """Return what some features move a row together, beyond what fewer of them move it.

        Parameters
        ----------
        codes : ndarray of shape (n_features,)
            The row's codes.
        moved : sequence of int
            Features of the term.
        to : sequence of ndarray
            The new codes of each.

        Returns
        -------
        ndarray of shape (n_codes, ..., n_models)
            An axis for each feature that moves.
        """
        chosen = dict(zip(moved, to, strict=True))
        places = [
            level[np.append(codes[j], chosen[j]) if j in chosen else codes[j : j + 1]]
            for j, level in zip(self.features, self.levels, strict=True)
        ]
        block = self.table[np.ix_(*places)]
        for axis, j in enumerate(self.features):
            if j in chosen:
                present, others = np.split(block, [1], axis=axis)
                block = others - present
        order = [moved.index(j) for j in self.features if j in chosen]
        block = block.reshape(*(len(to[k]) for k in order), -1)
        return np.moveaxis(block, range(len(order)), order)

    def bound(self, n_moved: int) -> Array:
        """Return the most that so many features move any row together, by model."""
        axes = tuple(range(len(self.features)))
        spread: Array = self.table.max(axis=axes) - self.table.min(axis=axes)
        return 2.0 ** (n_moved - 1) * spread
