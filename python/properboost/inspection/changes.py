"""The changes of a row that would change its predicted class, in values and in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from properboost.data.binning import FeatureBins, NumericBins
from properboost.inspection.code_change import UNIT, CodeChange
from properboost.inspection.words import describe

__all__ = ["FeatureChange", "RowChange", "RowChanges"]

LARGE = 1e300
"""Numbers beyond this are not rounded, because those of fewer digits may be beyond all doubles."""


@dataclass(frozen=True)
class FeatureChange:
    """One feature of a row with another value.

    Attributes
    ----------
    feature : str or int
        The feature's name, or its position.
    value : float or category
        The new value; a number is the one with the fewest digits in its bin.
    low, high : float or None
        The ends of a number's bin: every value above `low`, up to `high`, has the same
        effect.
    distance : float
        The share of the training rows between the old and the new bin, half of each included; 1
        for a category.
    """

    feature: Any
    value: Any
    low: float | None
    high: float | None
    distance: float

    def __str__(self) -> str:
        return f"{self.feature} = {describe(self.value)}"


@dataclass(frozen=True)
class RowChange:
    """The new values that give a row another predicted class.

    Attributes
    ----------
    features : tuple of FeatureChange
        One to three, by the features' names.
    to : label
        The class that the model predicts after them.
    """

    features: tuple[FeatureChange, ...]
    to: Any

    @property
    def distance(self) -> float:
        """The sum of the features' distances."""
        return sum(feature.distance for feature in self.features)

    def __str__(self) -> str:
        return f"{self.to} with {'; '.join(map(str, self.features))}"


@dataclass(frozen=True, eq=False)
class RowChanges:
    """A change of each row; None where there is none of at most three features.

    A search of several features may miss the nearest: see `is_exact`.

    Attributes
    ----------
    is_exact : bool
        Whether no change is nearer, and rows without one have none.
    """

    changes: tuple[RowChange | None, ...]
    columns: tuple[Any, ...]
    """The features: names, or positions."""
    is_exact: bool

    def __len__(self) -> int:
        return len(self.changes)

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return replace(self, changes=self.changes[row])
        return self.changes[row]

    def __iter__(self) -> Iterator[RowChange | None]:
        return iter(self.changes)

    @classmethod
    def of(
        cls,
        changes: Sequence[CodeChange | None],
        binning: Sequence[FeatureBins],
        columns: Sequence[Any],
        labels: Sequence[Any],
        *,
        is_exact: bool,
    ) -> RowChanges:
        """Return what a search found, in the values of the features' bins."""

        def make(change: CodeChange | None) -> RowChange | None:
            if change is None:
                return None
            places = zip(change.features, change.codes, change.distances, strict=True)
            return RowChange(
                tuple(
                    FeatureChange(columns[j], *_find_value(binning[j], code), distance * UNIT)
                    for j, code, distance in places
                ),
                labels[change.to],
            )

        return cls(tuple(map(make, changes)), tuple(columns), is_exact)

    @property
    def n_missed(self) -> int:
        """The number of rows without a change."""
        return sum(change is None for change in self.changes)

    def apply(self, X: Any) -> Any:
        """Return the rows with their changes; rows without one stay as they are.

        Parameters
        ----------
        X : pandas DataFrame or ndarray of shape (n_rows, n_features)
            The rows that were changed.

        Returns
        -------
        DataFrame or ndarray
            A copy.

        Raises
        ------
        TypeError, ValueError
            If `X` is another kind of table, or has another number of rows.
        """
        if not (hasattr(X, "iloc") or isinstance(X, np.ndarray)):
            kind = f"{type(X).__module__.partition('.')[0]}.{type(X).__name__}"
            raise TypeError(f"X must be a pandas DataFrame or a NumPy array; got a {kind}")
        if len(X) != len(self.changes):
            raise ValueError(f"X must have the {len(self.changes)} rows of changes; got {len(X)}")
        changed = X.copy()
        cells = changed.iloc if hasattr(changed, "iloc") else changed
        for row, change in enumerate(self.changes):
            for new in () if change is None else change.features:
                cells[row, self.columns.index(new.feature)] = new.value
        return changed

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [
            f"row {row}: {'no change' if change is None else change}"
            for row, change in enumerate(self.changes)
        ]
        return "\n".join(lines)


def _find_value(bins: FeatureBins, code: int) -> tuple[Any, float | None, float | None]:
    """Return a value with a code, and the ends of its bin if it is a number."""
    if not isinstance(bins, NumericBins):
        return bins.categories[code], None, None
    smallest, largest = bins.span or (-np.inf, np.inf)
    low = float(bins.edges[code - 1]) if code > 0 else -np.inf
    high = float(bins.edges[code]) if code < bins.n_bins - 1 else largest
    # The smallest value is in its bin, which other ends are not.
    least = math.nextafter(smallest, -np.inf) if code == 0 else low
    return _round_within(least, high), low, high


def _round_within(low: float, high: float) -> float:
    """Return the number with the fewest digits that is above `low` and at most `high`."""
    if not (np.isfinite(low) and np.isfinite(high)):
        return high if np.isfinite(high) or not np.isfinite(low) else math.nextafter(low, high)
    if max(-low, high) > LARGE:
        return high
    first = int(np.floor(np.log10(high - low)))
    for digits in range(-first - 1, 17 - first):
        rounded = round(high, digits)
        for value in (rounded, round(rounded - 10.0**-digits, digits)):
            if low < value <= high:
                return value
    return high
