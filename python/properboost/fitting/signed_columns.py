"""The columns of a linear model, times the sides of the rows: y h(x)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Indicators", "SignedColumns"]

Array = NDArray[np.float64]


@dataclass(eq=False)
class Indicators:
    """The columns of a feature's categories, side by side; a row is in one of them at most.

    `first` is the place of the first among all columns.  `levels` count the columns from 1, and are
    0 where a row is in none; `values` are the rows' values in their column.
    """

    first: int
    number: int
    levels: NDArray[np.intp]
    values: Array


class SignedColumns:
    """Columns of numbers, and indicators that take no memory where they are 0.

    Sums run over rows in their order, and equal those of the dense matrix.
    """

    def __init__(
        self,
        numbers: Array,
        places: NDArray[np.intp] | None = None,
        indicators: Sequence[Indicators] = (),
    ) -> None:
        """Take numbers (n_rows, n), which are overwritten, and their places among all columns."""
        n = numbers.shape[1]
        self._places = np.arange(n) if places is None else places
        self._indicators = indicators
        # NumPy adds up a single column in another order than one of several.
        self._numbers = np.pad(numbers, ((0, 0), (0, 1))) if n == 1 and indicators else numbers

    def __len__(self) -> int:
        return len(self._places) + sum(block.number for block in self._indicators)

    def add_up(self, weights: Array) -> Array:
        """Return the sum of each column times the rows' weights."""
        sums = np.empty(len(self))
        numbers = np.add.reduce(self._numbers * weights[:, None], axis=0)
        sums[self._places] = numbers[: len(self._places)]
        for block in self._indicators:
            sums[block.first : block.first + block.number] = _add_up(block, block.values * weights)
        return sums

    def lengths(self, counts: Array) -> Array:
        """Return the length of each column over rows of these weights."""
        squares = np.empty(len(self))
        numbers = np.add.reduce(counts[:, None] * self._numbers * self._numbers, axis=0)
        squares[self._places] = numbers[: len(self._places)]
        for block in self._indicators:
            of_rows = counts * block.values * block.values
            squares[block.first : block.first + block.number] = _add_up(block, of_rows)
        lengths: Array = np.sqrt(squares)
        return lengths

    def divide(self, lengths: Array) -> None:
        """Divide each column by its length, where that is not 0."""
        of_numbers = np.zeros(self._numbers.shape[1])
        of_numbers[: len(self._places)] = lengths[self._places]
        np.divide(self._numbers, of_numbers, out=self._numbers, where=of_numbers > 0.0)
        for block in self._indicators:
            has_one = block.levels > 0
            block.values[has_one] /= lengths[block.first + block.levels[has_one] - 1]

    def take(self, columns: NDArray[np.intp]) -> Array:
        """Return these columns, (n_rows, n), each in one piece of memory."""
        taken = np.zeros((len(self._numbers), len(columns)), order="F")
        positions = {int(place): k for k, place in enumerate(self._places)}
        for u, place in enumerate(columns.tolist()):
            if place in positions:
                taken[:, u] = self._numbers[:, positions[place]]
                continue
            block = next(b for b in self._indicators if b.first <= place < b.first + b.number)
            has_one = block.levels == place - block.first + 1
            taken[has_one, u] = block.values[has_one]
        return taken


def _add_up(block: Indicators, of_rows: Array) -> Array:
    sums = np.bincount(block.levels, of_rows, block.number + 1)
    return sums[1:].astype(np.float64, copy=False)
