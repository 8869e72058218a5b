"""A change of a row in codes, as a search returns it."""

from dataclasses import dataclass

__all__ = ["UNIT", "CodeChange"]

UNIT = 2.0**-32
"""The unit of distances in a search: sums of whole units are equal where they should be."""


@dataclass(frozen=True)
class CodeChange:
    """A change of a row: the features, their new codes, and their distances in units."""

    features: tuple[int, ...]
    codes: tuple[int, ...]
    distances: tuple[int, ...]
    to: int

    @property
    def rank(self) -> tuple[int, int]:
        """The order among changes: the number of features, then the sum of distances."""
        return len(self.features), sum(self.distances)
