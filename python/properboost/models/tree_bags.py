"""The bags of a model of trees."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["TreeBags"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TreeBags:
    """The part of bags that the rounds of their mean lack: the intercepts of every bag.

    An empty tuple stands for zeros.
    """

    intercepts: tuple[tuple[float, ...], ...]
    n_parts: int
    """The parts of the rows of which bags left out one of every four."""

    @property
    def n_bags(self) -> int:
        """The number of bags."""
        return len(self.intercepts)

    def intercept(self, bag: int, n_models: int) -> Array:
        """Return the intercept of each model of a bag."""
        return np.array(self.intercepts[bag] or np.zeros(n_models), dtype=np.float64)
