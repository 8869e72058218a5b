"""Single rows, as servers receive them: mappings and tables of one row, read at little cost."""

from collections.abc import Mapping, Sequence
from itertools import count
from operator import itemgetter
from typing import Any

import numpy as np

from properboost.data.binning import CategoricalBins, FeatureBins
from properboost.data.libraries import is_a, is_missing
from properboost.data.names import ColumnNames, write_name
from properboost.data.table import RowTable
from properboost.data.values import NEVER_NUMBERS, factorize

__all__ = ["RowReader"]

_NUMBERS = frozenset(
    {float, int, bool, type(None)}
    | {t for t in np.sctypeDict.values() if issubclass(t, np.floating | np.integer | np.bool_)}
) - {np.longdouble}
"""The types that numpy converts to float64 as the engine does; None becomes NaN."""


class RowReader:
    """A reader of rows for models of these features; `names` are the features' keys.

    It reads each row as a table of that one row would be read.
    """

    def __init__(self, features: Sequence[FeatureBins], names: ColumnNames | None) -> None:
        self.names: list[Any] = list(range(len(features)) if names is None else names.values)
        self._as_text = names is not None and not names.are_text
        # With a single key, itemgetter would return no tuple.
        self._take = itemgetter(*self.names, self.names[0])
        self._bins = {
            j: bins for j, bins in enumerate(features) if isinstance(bins, CategoricalBins)
        }
        self._known = {
            j: {None: -1} | {category: k for k, category in enumerate(bins.categories)}
            for j, bins in self._bins.items()
        }

    def make_row(self) -> RowTable:
        """Return a row for any model: zeros and first categories."""
        return RowTable(np.zeros((1, len(self.names))))

    def read(self, X: Any) -> Any:
        """Read a mapping, a list of mappings, or a table of one row; anything else is returned."""
        if isinstance(X, Mapping):
            rows = [self._encode(self._look_up(X))]
        elif is_a(X, "pandas", "Series"):  # a row of a frame, as iloc and iterrows have it
            rows = [self._encode(self._look_up(dict(X.items())))]
        elif not self._as_text and (values := _take_single_row(X, self.names)) is not None:
            rows = [self._encode(values)]
        elif isinstance(X, list | tuple) and X and all(isinstance(row, Mapping) for row in X):
            rows = [self._encode(self._look_up(row)) for row in X]
        else:
            return X
        try:
            array = np.array(rows, dtype=np.float64)
        except OverflowError:  # of an integer, which `_find_number` names
            array = np.array([list(map(self._find_number, count(), row)) for row in rows])
        return RowTable(array)

    def _look_up(self, row: Mapping[Any, Any]) -> list[Any]:
        """Return the values of the features, in their order."""
        if self._as_text:
            row = {write_name(key): value for key, value in row.items()}
        try:
            return list(self._take(row)[:-1])
        except KeyError:
            lacking = ", ".join(repr(name) for name in self.names if name not in row)
            raise ValueError(
                f"X: a row must have a value for every feature; it lacks {lacking}: give None "
                "where a value is missing"
            ) from None

    def _encode(self, values: list[Any]) -> list[Any]:
        """Put bins in the place of categories, and check that numpy reads the rest as numbers."""
        for j, known in self._known.items():
            try:
                code = known.get(values[j])
            except TypeError:  # unhashable: the error below has the feature's name
                code = None
            values[j] = self._find_bin(j, values[j]) if code is None else code
        if not _NUMBERS.issuperset(map(type, values)):
            values = list(map(self._find_number, count(), values))
        return values

    def _find_bin(self, j: int, value: Any) -> int:
        """Return the bin of a category without one of its own: missing, rare or unseen."""
        column, label = np.empty(1, dtype=object), self._label(j)
        column[0] = value
        return int(self._bins[j].find(factorize(column, label), label)[0])

    def _find_number(self, j: int, value: Any) -> float:
        """Return a number as a float, NaN where it is missing."""
        if is_missing(value):
            return np.nan
        try:
            if not isinstance(value, NEVER_NUMBERS):
                number = float(value)
                if not np.isinf(number) or value == number:  # and not beyond float64
                    return number
        except (TypeError, ValueError, OverflowError):
            pass
        raise ValueError(f"X: {self._label(j)} must be a number; got {value!r}")

    def _label(self, j: int) -> str:
        return f"column {self.names[j]!r}"


def _take_single_row(X: Any, names: list[Any]) -> list[Any] | None:
    """Return the values of a table of one row and of these columns; None of anything else.

    Values are the library's: categories, not their numbers, and its kind of missing values.
    """
    if getattr(X, "shape", (0,))[0] != 1:
        return None
    if is_a(X, "pandas", "DataFrame"):
        # By position, entry by entry: making a Series of a row or a column takes several times as
        # long.
        fits = X.columns.tolist() == names
        return [X.iat[0, j] for j in range(len(names))] if fits else None
    if is_a(X, "polars", "DataFrame"):
        return list(X.row(0)) if X.columns == names else None
    if is_a(X, "pyarrow", "Table") or is_a(X, "pyarrow", "RecordBatch"):
        fits = X.schema.names == names
        return [column[0].as_py() for column in X.columns] if fits else None
    return None
