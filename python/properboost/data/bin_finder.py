"""Bins of rows that come in batches: those that all rows together would have."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.data import binning
from properboost.data.binning import (
    MAX_CATEGORIES,
    CategoricalBins,
    FeatureBins,
    NumericBins,
    find_categories,
    read_by,
)
from properboost.data.identifiers import count_codes, describe_identifiers
from properboost.data.refusals import refuse_together
from properboost.data.table import CategoricalColumn, Category, Column, InputTable
from properboost.data.values import sort_categories
from properboost.notices import warn

__all__ = ["BatchScan", "BinFinder", "CategoryUnion", "scan_batch"]

Weigh: TypeAlias = Callable[[slice | NDArray[np.int64]], NDArray[np.float64] | None]
"""A function from rows, numbered over all batches, to their weights."""


@dataclass(frozen=True, eq=False)
class BatchScan:
    """A batch's contribution to the bins of its features.

    `values` has the sampled rows of each numeric feature, `spans` the smallest and the largest of
    all its rows.  `categories` has each other column, and whether its categories come after those
    of earlier batches.
    """

    n_rows: int
    sampled: NDArray[np.int64]
    values: dict[int, Column]
    spans: dict[int, tuple[float, float]]
    categories: dict[int, tuple[CategoricalColumn, bool]]


def scan_batch(
    table: InputTable,
    weight: NDArray[np.float64] | None,
    categorical: Collection[int],
    sampled: NDArray[np.int64],
) -> BatchScan:
    """Scan a batch; the sample has its rows `sampled`, and rows of `weight` 0 do not count."""
    values: dict[int, Column] = {}
    spans: dict[int, tuple[float, float]] = {}
    numeric = sorted(set(range(table.n_features)) - set(categorical))
    whole = None if categorical else table.array  # read once, and not column by column
    if whole is not None:
        sample = whole[sampled]
        values = {j: sample[:, j] for j in numeric}
        spans = dict(enumerate(map(tuple, _core.find_spans(whole, weight).tolist())))
        numeric = []
    with refuse_together(range(table.n_features), read_by(table, categorical)):
        for j in numeric:
            column = table.numeric(j)
            values[j] = column[sampled]
            [spans[j]] = map(tuple, _core.find_spans([column], weight).tolist())
        categories = {j: (table.categorical(j), table.appends_categories(j)) for j in categorical}
    return BatchScan(table.n_rows, sampled, values, spans, categories)


class BinFinder:
    """The search of `find_bins`, for a table whose rows come in batches.

    Memory has the numbers of sampled rows only, and categories by their number.
    """

    def __init__(
        self,
        n_features: int,
        categorical: Sequence[int],
        seed: int,
        texts: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """Take the categorical features; `texts` has the labels of those that hold text."""
        self._texts = texts
        self._sample = _core.RowSample(binning.SAMPLE_SIZE, seed)
        self._categories = {j: _CategoryReader() for j in categorical}
        numeric = sorted(set(range(n_features)) - set(categorical))
        self._values = {j: _GrowingArray() for j in numeric}
        self._spans = dict.fromkeys(numeric, (np.inf, -np.inf))
        self._sampled = _GrowingArray()  # the rows' numbers
        self._n_rows = 0

    def add(self, table: InputTable, weight: NDArray[np.float64] | None) -> None:
        """Add a batch; rows of `weight` 0 do not count."""
        sampled = self._sample.add(table.n_rows, weight)
        self.take(scan_batch(table, weight, self._categories, sampled))

    def draw(
        self, sizes: Sequence[int], weight: NDArray[np.float64] | None
    ) -> list[NDArray[np.int64]]:
        """Return the rows of each batch that are in the sample, before any batch is scanned."""
        self._sample.add(sum(sizes), weight)
        rows, ends = self._sample.rows, np.cumsum([0, *sizes])
        cuts = np.searchsorted(rows, ends)
        return [
            rows[a:b] - begin for a, b, begin in zip(cuts[:-1], cuts[1:], ends[:-1], strict=True)
        ]

    def take(self, batch: BatchScan) -> None:
        """Add the scan of a batch."""
        for j, values in self._values.items():
            values.add(batch.values[j])
            span, (low, high) = self._spans[j], batch.spans[j]
            self._spans[j] = min(span[0], low), max(span[1], high)
        for j, categories in self._categories.items():
            column, append = batch.categories[j]
            categories.add(column, append=append)
        self._sampled.add(batch.sampled + self._n_rows)
        self._n_rows += batch.n_rows
        if len(self._sampled.values) > 2 * binning.SAMPLE_SIZE:
            self._drop_others()

    def _drop_others(self) -> NDArray[np.int64]:
        """Keep the values of rows that are still in the sample; return these rows."""
        rows = self._sample.rows
        places = np.searchsorted(self._sampled.values, rows)
        for array in (*self._values.values(), self._sampled):
            array.keep(places)
        return rows

    def find(
        self,
        weigh: Weigh,
        *,
        max_numeric: int,
        max_categories: int,
        n_threads: int,
    ) -> tuple[FeatureBins, ...]:
        """Cut every feature; `weigh` returns the weights of rows, numbered over all batches."""
        rows = self._drop_others()
        bins: dict[int, FeatureBins] = {}
        columns = [array.values for array in self._values.values()]
        edges = []
        if columns:
            edges = _core.find_edges(columns, weigh(rows), max_numeric, None, n_threads)
        for (j, span), cuts in zip(self._spans.items(), edges, strict=True):
            bins[j] = NumericBins(cuts, span=span)
        for j, categories in self._categories.items():
            bins[j] = categories.find(weigh, min(max_categories, MAX_CATEGORIES))
        counts = {label: self._categories[j].count_rows() for j, label in self._texts.items()}
        if (warning := describe_identifiers(counts)) is not None:
            warn(warning)
        return tuple(bins[j] for j in sorted(bins))


class _GrowingArray:
    """An array of numbers that grows at its end."""

    def __init__(self) -> None:
        self._memory: Column = np.empty(0, dtype=np.uint8)
        self._n = 0

    @property
    def values(self) -> Column:
        return self._memory[: self._n]

    def add(self, values: Column) -> None:
        """Append numbers."""
        if self._n == 0:
            self._memory = np.empty(len(values), dtype=values.dtype)
        need = self._n + len(values)
        kind = np.promote_types(self._memory.dtype, values.dtype)
        if need > len(self._memory) or kind != self._memory.dtype:
            larger = np.empty(max(need, 2 * len(self._memory)), dtype=kind)
            larger[: self._n] = self.values
            self._memory = larger
        self._memory[self._n : need] = values
        self._n = need

    def keep(self, places: NDArray[np.int64]) -> None:
        """Keep the numbers at these places, which ascend."""
        self._memory[: len(places)] = self._memory[places]
        self._n = len(places)


class CategoryUnion:
    """The categories of a column whose rows come in batches, as if they were one column.

    Categories that batches declare differently are sorted, as those of strings are; those of Arrow
    dictionaries keep the order of the batches.
    """

    def __init__(self) -> None:
        self._number: dict[Category, int] = {}
        self._sorts = False

    def __len__(self) -> int:
        return len(self._number)

    def add(self, values: Sequence[Category], *, append: bool) -> list[int]:
        """Return the number of each category of a batch."""
        if not append:
            known = zip(self._number, values, strict=False)
            self._sorts |= any(a != b for a, b in known)
        return [self._number.setdefault(c, len(self._number)) for c in values]

    def order(self) -> tuple[tuple[Category, ...], NDArray[np.int64]]:
        """Return all categories in order, and the place of each number among them."""
        values = list(self._number)
        place = np.arange(len(values))
        if self._sorts:
            place, values = sort_categories(place, values)
        return tuple(values), place


class _CategoryReader:
    """A reader of a categorical column whose rows come in batches."""

    def __init__(self) -> None:
        self._categories = CategoryUnion()
        self._codes: list[NDArray[np.unsignedinteger[Any]]] = []  # 0 is missing

    def add(self, column: CategoricalColumn, *, append: bool) -> None:
        """Take a batch of the column."""
        numbers = self._categories.add(column.values, append=append)
        kind = np.min_scalar_type(len(self._categories))
        self._codes.append(np.array([0, *(k + 1 for k in numbers)], dtype=kind)[column.codes + 1])

    def count_rows(self) -> NDArray[np.int64]:
        """Return the number of rows of each category."""
        n = len(self._categories)
        counts = np.zeros(n, dtype=np.int64)
        for codes in self._codes:
            counts += count_codes(codes.astype(np.int64) - 1, n)
        return counts

    def find(
        self,
        weigh: Weigh,
        max_bins: int,
    ) -> CategoricalBins:
        """Return the bins of the column."""
        values, places = self._categories.order()
        place = np.concatenate([[-1], places])

        def batches() -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64] | None]]:
            begin = 0
            for codes in self._codes:
                yield place[codes.astype(np.intp)], weigh(slice(begin, begin + len(codes)))
                begin += len(codes)

        return find_categories(values, batches(), max_bins)
