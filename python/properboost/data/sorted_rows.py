"""Training rows: their labels and weights, and the order in which the engine takes them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.cached import cached_property
from properboost.data.entries import find_entries
from properboost.data.table import CodedLabels

__all__ = ["HELD_OUT", "LEARNS", "Rows", "SortedRows", "count_keys", "count_rows"]

LEARNS, HELD_OUT = 1, 2
"""The roles of rows that a model learns from, and of those that it is scored on; others have 0."""

FEW_KEYS = 8
"""Segments up to which a search for each is faster than a sort."""


@dataclass(frozen=True, eq=False)
class SortedRows:
    """The rows that count, sorted by class and, inside it, by part.

    Segment ``s`` is the rows ``order[segments[s]:segments[s + 1]]`` of the table, which are of the
    class ``class_of[s]`` and in the part ``part_of[s]``.  No segment is empty.  `has_parts` is
    whether there is more than one part.  `row_of` is that of `Rows`.
    """

    keys: NDArray[np.integer[Any]]
    counts: NDArray[np.int64]
    segments: NDArray[np.int64]
    class_of: NDArray[np.intp]
    part_of: NDArray[np.intp]
    has_parts: bool
    row_of: NDArray[np.int64] | None = None

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """The places of the rows among those that count, in the order of the segments.

        Draws go by these numbers, so that a row of weight 0 changes none.  The rows of a segment
        lie in the order of random bits of their numbers: neighbours are a random sample, by which
        the engine may choose a round's feature.
        """
        return _core.sort_for_screens(self._in_table_order(), self.segments)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The places of the same rows in `Rows`."""
        if len(self.numbers) == len(self.keys):
            return self.numbers
        places: NDArray[np.int64] = np.flatnonzero(self._are_counted)[self.numbers]
        return places

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The places of the same rows in the table, which has a row of several labels once."""
        return self.places if self.row_of is None else self.row_of[self.places]

    @property
    def _are_counted(self) -> NDArray[np.bool_]:
        """Whether each row counts."""
        return self.keys < len(self.counts)

    def _in_table_order(self) -> NDArray[np.int64]:
        n = int(self.counts.sum())
        keys = self.keys if n == len(self.keys) else self.keys[self._are_counted]
        if len(self.counts) > FEW_KEYS:
            # numpy sorts small integers by their digits, in linear time.
            return np.argsort(keys, kind="stable").astype(np.int64, copy=False)
        order = np.empty(n, dtype=np.int64)
        ends = np.cumsum(self.counts).tolist()
        for key, end in enumerate(ends):
            order[end - self.counts[key] : end] = np.flatnonzero(keys == key)
        return order


@dataclass(frozen=True, eq=False)
class Rows:
    """Labels and weights of the rows of a table.

    Row ``i`` has the label ``classes[codes[i]]``.  A row of weight 0 does not count and has the
    code ``len(classes)``.  `weight` is the sample weight, `factor` that of each class; None stands
    for ones.  `total` is the sum of the sample weights, that is the number of rows.

    Where labels are probabilities, a row of the table is a row here for each of its labels, one
    after the other.  Row ``i`` is then the row ``row_of[i]`` of the table, and counts as much as
    its label is probable.  `row_weight` has the sample weights of the table's rows.
    """

    classes: NDArray[Any]
    codes: NDArray[np.unsignedinteger[Any]]
    weight: NDArray[np.float64] | None
    factor: NDArray[np.float64] | None
    total: float
    row_of: NDArray[np.int64] | None = None
    row_weight: NDArray[np.float64] | None = None

    @cached_property
    def of_table(self) -> "Rows":
        """The rows of the table, each with the label of most of its weight."""
        if self.row_of is None:
            return self
        # Rows are in the order of the table, so the first of each row are at the same places.
        first = np.flatnonzero(np.diff(self.row_of, prepend=-1))
        heaviest = np.lexsort((-self.weight, self.row_of))[first]  # type: ignore[operator]
        return Rows(self.classes, self.codes[heaviest], self.row_weight, None, self.total)

    @property
    def n_of_table(self) -> int:
        """The number of rows of the table."""
        return len(self.codes) if self.row_of is None else int(self.row_of[-1]) + 1

    def find_binned_weight(self) -> NDArray[np.float64] | None:
        """Return the weights of the table's rows in training, by which features are cut."""
        if self.row_of is None or self.factor is None:
            return self.training_weight if self.row_of is None else self.row_weight
        return np.bincount(self.row_of, self.training_weight).astype(np.float64, copy=False)

    @property
    def training_weight(self) -> NDArray[np.float64] | None:
        """The weights of rows in training: sample weight times the class's factor."""
        return self.weigh(slice(None))

    def weigh(self, places: slice | NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Return the training weights of the rows at these places."""
        weight = None if self.weight is None else self.weight[places]
        if self.factor is None:
            return weight
        factor: NDArray[np.float64] = find_entries(np.append(self.factor, 0.0), self.codes[places])
        return factor if weight is None else weight * factor

    @property
    def rows_of_class(self) -> NDArray[np.int64]:
        """The number of rows of each class that count."""
        return count_keys(self.codes, len(self.classes))

    def sort(self, parts: NDArray[np.integer[Any]] | None = None, n_parts: int = 1) -> SortedRows:
        """Sort the rows that count by class, and by their part (from 0) where there are parts."""
        n_classes = len(self.classes)
        n_keys = n_classes * n_parts
        keys = self.codes
        if parts is not None:
            keys = keys.astype(np.min_scalar_type(n_keys)) * n_parts
            keys += parts.astype(keys.dtype)
            keys[self.codes == n_classes] = n_keys
        counts = count_keys(keys, n_keys)
        filled = np.flatnonzero(counts)
        segments = np.cumsum([0, *counts[filled]]).astype(np.int64)
        return SortedRows(
            keys, counts, segments, filled // n_parts, filled % n_parts, parts is not None,
            self.row_of,
        )  # fmt: skip

    def find_places(self) -> NDArray[np.int64]:
        """Return the place of each row that counts in the sorted order; others have any place."""
        order = self.sort().order
        place = np.empty(len(self.codes), dtype=np.int64)
        place[order] = np.arange(len(order))
        return place


def count_rows(labels: CodedLabels, weight: NDArray[np.float64] | None) -> Rows:
    """Return rows with a class for every label; rows of weight 0 do not count."""
    codes, n_classes = labels.codes, len(labels.values)
    if weight is not None:
        codes = np.where(weight > 0.0, codes, np.min_scalar_type(n_classes).type(n_classes))
    return Rows(labels.values, codes, None, None, 0.0)


def count_keys(keys: NDArray[np.integer[Any]], n_keys: int) -> NDArray[np.int64]:
    """Return the number of rows with each key; larger keys are of rows that do not count."""
    if n_keys <= FEW_KEYS:
        return np.array([np.count_nonzero(keys == key) for key in range(n_keys)], dtype=np.int64)
    return np.bincount(keys, minlength=n_keys)[:n_keys].astype(np.int64, copy=False)
