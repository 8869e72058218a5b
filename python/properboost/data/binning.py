"""Binning: how each feature of the fitted model is cut, and the codes of a table."""

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.cached import cached_property
from properboost.data.entries import ROWS, find_entries
from properboost.data.identifiers import count_codes, describe_identifiers
from properboost.data.refusals import ColumnError, refuse_together
from properboost.data.table import CategoricalColumn, Category, InputTable
from properboost.notices import warn

__all__ = [
    "COPY_BYTES",
    "MAX_CATEGORIES",
    "Binning",
    "CategoricalBins",
    "CodedTable",
    "FeatureBins",
    "NumericBins",
    "RestoredTable",
    "count_numeric_bins",
    "find_bins",
    "find_categories",
    "read_by",
]

MAX_CATEGORIES = 254
"""Bins a categorical feature can have: of 256 codes, missing and unseen take two."""

SAMPLE_SIZE = 200_000
"""Rows from which bin edges are found; more rows change quantiles too little to matter."""

FEWEST_BINS = 4
"""The least that `count_numeric_bins` returns, for the smallest data sets."""

COPY_BYTES = 2**26
"""The most bytes of converted columns in memory at a time (but always one column)."""

LEAST_ROWS = 1024
"""The fewest rows predicted at a time, however many columns there are."""


@dataclass(frozen=True, eq=False)
class NumericBins:
    """A numeric feature: bin ``k`` holds the values with exactly `k` edges below them.

    For models that are linear in them, ``means[k]`` is the mean of the training values in bin `k`.
    `span` is the smallest and the largest training value, (inf, -inf) where all were missing; None
    if it is unknown, as in old files.
    """

    edges: NDArray[np.float64]
    means: NDArray[np.float64] | None = None
    span: tuple[float, float] | None = None

    @property
    def n_bins(self) -> int:
        """Bins, not counting that of missing values."""
        return len(self.edges) + 1

    @property
    def width(self) -> int:
        """Codes: the bins', then missing."""
        return self.n_bins + 1

    @property
    def native(self) -> NDArray[np.float64]:
        """The edges: the engine's form of these bins."""
        return self.edges

    @property
    def outer_means(self) -> tuple[float, float]:
        """The smallest and the largest mean; both 0 if there are none."""
        means = [0.0] if self.means is None else self.means
        return float(means[0]), float(means[-1])

    @cached_property
    def positions(self) -> NDArray[np.float64]:
        """The position of each code's mean between the smallest, 0, and the largest, 1.

        NaN where there is none: for missing values, and if all means are the same.
        """
        positions = np.full(256, np.nan)
        low, high = self.outer_means
        if self.means is not None and high > low:
            with np.errstate(over="ignore"):
                half = 1.0 if np.isfinite(high - low) else 0.5
            relative = (half * self.means - half * low) / (half * high - half * low)
            positions[: self.n_bins] = relative
        return positions


@dataclass(frozen=True, eq=False)
class CategoricalBins:
    """A categorical feature: bin ``k`` holds ``categories[k]``.

    With `has_rare` one more bin is shared by all other categories, unseen ones included.
    """

    categories: tuple[Category, ...]
    has_rare: bool = False
    _index: dict[Category, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", {c: k for k, c in enumerate(self.categories)})

    @property
    def n_bins(self) -> int:
        """Bins, not counting those of missing and unseen values; at least one."""
        return max(1, len(self.categories) + self.has_rare)

    @property
    def width(self) -> int:
        """Codes: the bins', then missing, then unseen."""
        return self.n_bins + 2

    @property
    def native(self) -> int:
        """The number of bins: the engine's form of these bins."""
        return self.n_bins

    def read(self, table: InputTable, j: int) -> NDArray[np.generic]:
        """Return the bin of each row of column `j`: -1 where missing, -2 where unseen.

        The column may have any type that holds strings, where categories were strings when the
        model was fitted, or numbers, where they were numbers.
        """
        return (
            table.numeric(j)
            if table.holds_bins
            else self.find(table.categorical(j), table.label(j))
        )

    def find(self, column: CategoricalColumn, label: str) -> NDArray[np.int32]:
        """Return what `assign` does, for a column of categories of the fitted kind."""
        _check_same_kind(self, column, label)
        return self.assign(column)

    def assign(self, column: CategoricalColumn) -> NDArray[np.int32]:
        """Return the bin of each row: -1 where missing, -2 where unseen."""
        unseen = len(self.categories) if self.has_rare else -2
        bins = [self._index.get(category, unseen) for category in column.values]
        return np.array([*bins, -1], dtype=np.int32)[column.codes]  # code -1 reads the last


FeatureBins: TypeAlias = NumericBins | CategoricalBins


@dataclass(frozen=True, eq=False)
class Binning:
    """The bins of every feature.

    `from_dtype` is whether columns' types decided what is categorical in training; otherwise the
    user did.  The columns of rows to predict may have other types, see `CategoricalBins.read`.
    """

    features: tuple[FeatureBins, ...]
    from_dtype: bool

    @cached_property
    def native(self) -> _core.Bins:
        """The engine's bins."""
        feature_means = [f.means if isinstance(f, NumericBins) else None for f in self.features]
        if all(means is None for means in feature_means):
            return _core.Bins([feature.native for feature in self.features])
        means = [np.empty(0) if means is None else means for means in feature_means]
        return _core.Bins([feature.native for feature in self.features], means)

    def with_means(
        self,
        table: InputTable,
        order: NDArray[np.int64],
        weight: NDArray[np.float64] | None,
        n_threads: int,
    ) -> "Binning":
        """Return this binning with the means of numeric features' bins.

        The means are over the rows of `table` in that `order`, with the weights `weight`.
        """
        cut = {j: bins for j, bins in enumerate(self.features) if isinstance(bins, NumericBins)}
        means_of: dict[int, NDArray[np.float64] | None] = {}
        whole = self._whole(table)
        groups = _groups(list(cut), table.n_rows) if whole is None else [list(cut)]
        for group in groups:
            bins = _core.Bins([cut[j].edges for j in group])
            columns = [table.numeric(j) for j in group] if whole is None else whole
            means = bins.find_means(columns, order, weight, n_threads)
            means_of |= dict(zip(group, means, strict=True))
        return self.set_means(means_of)

    def set_means(self, means: Mapping[int, NDArray[np.float64] | None]) -> "Binning":
        """Return this binning with these means of numeric features' bins."""
        features = tuple(
            replace(bins, means=means[j]) if isinstance(bins, NumericBins) else bins
            for j, bins in enumerate(self.features)
        )
        return replace(self, features=features)

    @property
    def has_numeric(self) -> bool:
        """Whether a feature is numeric."""
        return any(isinstance(bins, NumericBins) for bins in self.features)

    @property
    def has_means(self) -> bool:
        """Whether numeric features' bins have means."""
        return any(
            isinstance(bins, NumericBins) and bins.means is not None for bins in self.features
        )

    def find_positions(self, feature: int) -> NDArray[np.float64]:
        """Return a numeric feature's `NumericBins.positions`."""
        bins = self.features[feature]
        assert isinstance(bins, NumericBins)
        return bins.positions

    def without_means(self) -> "Binning":
        """Return this binning without means."""
        features = tuple(
            replace(bins, means=None) if isinstance(bins, NumericBins) else bins
            for bins in self.features
        )
        return replace(self, features=features)

    def first(self, n: int) -> "Binning":
        """Return the bins of the first `n` features."""
        return self if n == len(self.features) else replace(self, features=self.features[:n])

    def cuts_as(self, other: "Binning") -> bool:
        """Whether all values have the same codes in the other bins."""
        return len(self.features) == len(other.features) and all(
            np.array_equal(bins.edges, other_bins.edges)
            if isinstance(bins, NumericBins) and isinstance(other_bins, NumericBins)
            else isinstance(bins, CategoricalBins)
            and isinstance(other_bins, CategoricalBins)
            and (bins.categories, bins.has_rare) == (other_bins.categories, other_bins.has_rare)
            for bins, other_bins in zip(self.features, other.features, strict=True)
        )

    def __getstate__(self) -> dict[str, Any]:
        return {"features": self.features, "from_dtype": self.from_dtype}

    def encode(
        self, table: InputTable, order: NDArray[np.int64] | None, n_threads: int
    ) -> NDArray[np.uint8]:
        """Return the codes (n_features, n_rows) of the rows of `table`, in that `order`."""
        whole = self._whole(table)
        if whole is not None:
            return self.native.encode(whole, order, n_threads)
        return self.encode_columns(table, range(len(self.features)), order, n_threads)

    def encode_columns(
        self,
        table: InputTable,
        features: Sequence[int],
        order: NDArray[np.int64] | None,
        n_threads: int,
    ) -> NDArray[np.uint8]:
        """Return the codes of these features, whose columns are read a few at a time."""
        n_rows = table.n_rows if order is None else len(order)
        codes = np.empty((len(features), n_rows), dtype=np.uint8)
        with self._refuse_together(table):
            first = 0
            for group in _groups(features, table.n_rows):
                bins = self.native
                if len(group) < len(self.features):
                    bins = _core.Bins([self.features[j].native for j in group])
                columns = [self._column(table, j) for j in group]
                codes[first : first + len(group)] = bins.encode(columns, order, n_threads)
                first += len(group)
        return codes

    def predict_raw(
        self,
        table: InputTable,
        tables: NDArray[np.float64],
        pairs: Sequence[_core.Pair],
        n_threads: int,
        used: Sequence[int],
    ) -> NDArray[np.float64]:
        """Return raw predictions (n_rows, n_models) from look-up tables (n_models, all codes).

        The look-up tables of `pairs` come after those of features.  Features that are not `used`
        add nothing.
        """
        return self._by_rows(
            table, lambda x: _core.predict_raw(x, self.native, tables, pairs, n_threads), used
        )

    def predict_raw_trees(
        self, table: InputTable, scores: _core.ForestScores, n_threads: int, used: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return raw predictions (n_rows, n_models) from trees that use some of the features."""
        return self._by_rows(table, lambda x: scores.predict_raw(x, n_threads), used)

    def _by_rows(
        self,
        table: InputTable,
        predict: Callable[[Any], NDArray[np.float64]],
        used: Sequence[int],
    ) -> NDArray[np.float64]:
        """Apply `predict` to the rows of `table`, which are converted block by block.

        Only the features in `used` are read where a table is sparse, and the others are zeros.
        """
        whole = self._whole(table)
        if whole is not None:
            return predict(whole)
        # Other tables are read whole, because each of their columns may be refused.
        read = used if table.has_one_type else range(len(self.features))
        # By rows, not by columns: each row's sum then runs over its features in one order.
        step = max(LEAST_ROWS, COPY_BYTES // (8 * max(1, len(read))))
        parts = []
        for start in range(0, table.n_rows, step):
            is_all = table.n_rows <= step
            rows = table if is_all else table.rows(start, min(start + step, table.n_rows))
            columns: list[NDArray[np.generic]] = [_zeros(rows.n_rows)] * len(self.features)
            with self._refuse_together(rows):
                for j in read:
                    columns[j] = self._column(rows, j)
            parts.append(predict(columns))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _whole(self, table: InputTable) -> NDArray[np.generic] | None:
        return table.array if table.holds_bins or self._is_numeric else None

    @cached_property
    def _is_numeric(self) -> bool:
        return all(isinstance(bins, NumericBins) for bins in self.features)

    def _refuse_together(self, table: InputTable) -> AbstractContextManager[None]:
        return refuse_together(range(len(self.features)), partial(self._column, table))

    def _column(self, table: InputTable, j: int) -> NDArray[np.generic]:
        feature = self.features[j]
        return table.numeric(j) if isinstance(feature, NumericBins) else feature.read(table, j)


class CodedTable(InputTable):
    """A table of codes, whose features have their bins."""

    @property
    @abstractmethod
    def binning(self) -> Binning:
        """How the features are cut."""

    @abstractmethod
    def set_features(self, model: Any, *, reset: bool) -> None:
        """Set a model's features to those of this table, or check that they agree."""

    def check_bins(self, features: Sequence[FeatureBins], whose: str) -> None:
        """Refuse a model with other bins."""
        if not self.binning.cuts_as(Binning(tuple(features), self.binning.from_dtype)):
            raise ValueError(f"X: the QuantizedTable must have the bins of {whose}")

    @abstractmethod
    def restore(self) -> InputTable:
        """Return the rows as values with the same codes, to predict from."""


class RestoredTable(InputTable):
    """Values that have the codes of rows: of a numeric feature, the largest of each bin.

    ``places[i]`` is the column of row i in the codes (n_features, n).
    """

    holds_bins = True

    def __init__(
        self,
        codes: NDArray[np.uint8],
        places: NDArray[np.int64],
        features: Sequence[FeatureBins],
        names: Sequence[str] | None,
    ) -> None:
        super().__init__(np.broadcast_to(np.uint8(0), (len(places), len(features))), names)
        self._codes, self._places, self._features = codes, places, features

    def declares_categorical(self, j: int) -> bool:
        """Whether feature `j` has categories."""
        return isinstance(self._features[j], CategoricalBins)

    def numeric(self, j: int) -> NDArray[np.float64]:
        """Return the values of feature `j`; of categories the bin, -1 missing and -2 unseen."""
        bins = self._features[j]
        if isinstance(bins, NumericBins):
            values = np.array([*bins.edges, np.inf, np.nan])
        else:
            values = np.array([*range(bins.n_bins), -1.0, -2.0])
        return find_entries(values, self._codes[j].take(self._places))

    def categorical(self, j: int) -> CategoricalColumn:
        """Refuse: there are only bins."""
        raise TypeError(f"{self.label(j)} has bins, and no categories")

    def values(self, j: int) -> Any:
        """Return the values of feature `j`, as `numeric` does."""
        return self.numeric(j)

    def rows(self, start: int, stop: int) -> "RestoredTable":
        """Return the rows from `start` to `stop`, whose codes are not copied."""
        places = self._places[start:stop]
        return RestoredTable(self._codes, places, self._features, self.names)


def _zeros(n: int) -> NDArray[np.float32]:
    """Return a column of zeros that takes no memory."""
    return np.broadcast_to(np.float32(0.0), n)


def count_numeric_bins(max_bins: int, rows_per_bin: float | None, n_rows: float) -> int:
    """Return the largest number of bins of a numeric feature: `max_bins`, or fewer for few rows."""
    if rows_per_bin is None:
        return max_bins
    return min(max_bins, max(FEWEST_BINS, int(min(n_rows / rows_per_bin, max_bins))))


def find_bins(
    table: InputTable,
    categorical: Sequence[int],
    weight: NDArray[np.float64] | None,
    *,
    max_numeric: int,
    max_categories: int,
    seed: int,
    n_threads: int,
    texts: Collection[int] = (),
) -> tuple[FeatureBins, ...]:
    """Cut every feature of `table`, those in `categorical` by their categories.

    `weight` counts the rows (a row of weight 0 is ignored).  Above `SAMPLE_SIZE` rows, bin edges
    come from a sample of them, drawn by `seed`.  Those in `texts` are categorical for holding text;
    identifiers among them are warned of.
    """
    with refuse_together(range(table.n_features), read_by(table, categorical)):
        bins = _cut_numbers(table, categorical, weight, max_numeric, seed, n_threads)
        counts: dict[str, NDArray[np.int64]] = {}
        for j in categorical:
            column = table.categorical(j)
            if j in texts:
                counts[table.label(j)] = count_codes(column.codes, len(column.values))
            rows = [(column.codes, weight)]
            bins[j] = find_categories(column.values, rows, min(max_categories, MAX_CATEGORIES))
    if (warning := describe_identifiers(counts)) is not None:
        warn(warning)
    return tuple(bins[j] for j in range(table.n_features))


def read_by(table: InputTable, categorical: Collection[int]) -> Callable[[int], object]:
    """Return a function that reads a column as categories, if it is in `categorical`."""
    return lambda j: table.categorical(j) if j in categorical else table.numeric(j)


def _cut_numbers(
    table: InputTable,
    categorical: Sequence[int],
    weight: NDArray[np.float64] | None,
    max_numeric: int,
    seed: int,
    n_threads: int,
) -> dict[int, FeatureBins]:
    """Cut the numeric features of `table`."""
    bins: dict[int, FeatureBins] = {}
    numeric = sorted(set(range(table.n_features)) - set(categorical))
    whole = None if categorical else table.array
    sample = _core.RowSample(SAMPLE_SIZE, seed)
    sample.add(table.n_rows, weight)
    rows = sample.rows
    if table.entries is not None and numeric:
        part = table.entries.part(numeric) if categorical else table.entries
        sparse = _core.SparseTable(table.n_rows, part.starts, part.rows, part.values)
        edges, spans = sparse.find_edges_and_spans(weight, max_numeric, rows, n_threads)
        return _make_numeric_bins(numeric, edges, spans)
    groups = _groups(numeric, table.n_rows) if whole is None else [numeric]
    for group in groups:
        columns = [table.numeric(j) for j in group] if whole is None else whole
        edges_of = _core.find_edges(columns, weight, max_numeric, rows, n_threads)
        spans = _core.find_spans(columns, weight, n_threads)
        bins |= _make_numeric_bins(group, edges_of, spans)
    return bins


def _make_numeric_bins(
    features: Sequence[int], edges: Sequence[NDArray[np.float64]], spans: NDArray[np.float64]
) -> dict[int, FeatureBins]:
    """Return the bins of numeric features by their edges and spans (n, 2)."""
    return {
        j: NumericBins(of_feature, span=(low, high))
        for j, of_feature, (low, high) in zip(features, edges, spans.tolist(), strict=True)
    }


def _groups(features: Sequence[int], n_rows: int) -> Iterator[Sequence[int]]:
    """Yield groups of features; the converted columns of a group fit `COPY_BYTES`."""
    step = max(1, COPY_BYTES // (8 * n_rows))
    for first in range(0, len(features), step):
        yield features[first : first + step]


def find_categories(
    values: tuple[Category, ...],
    batches: Iterable[tuple[NDArray[np.int64], NDArray[np.float64] | None]],
    max_bins: int,
) -> CategoricalBins:
    """Return the bins of categories; `batches` are rows' codes and weights."""
    weights = np.zeros(len(values) + 1)
    for codes, weight in batches:
        for begin in range(0, len(codes), ROWS):
            block = slice(begin, begin + ROWS)
            if weight is None:
                weights += np.bincount(codes[block] + 1, minlength=len(weights))
            else:
                np.add.at(
                    weights, codes[block] + 1, weight[block]
                )  # row by row, so that batches do not matter
    weights = weights[1:]
    seen = np.flatnonzero(weights)
    if len(seen) <= max_bins:
        return CategoricalBins(tuple(values[k] for k in seen))
    heaviest = np.argsort(-weights[seen], kind="stable")[: max_bins - 1]
    return CategoricalBins(tuple(values[k] for k in np.sort(seen[heaviest])), has_rare=True)


def _check_same_kind(feature: CategoricalBins, column: CategoricalColumn, label: str) -> None:
    """Refuse strings where the fit had numbers and the reverse: no category could match."""
    fitted, new = ({isinstance(c, str) for c in cs} for cs in (feature.categories, column.values))
    if fitted and new and not fitted & new:
        kinds = {True: "strings", False: "numbers"}
        raise ColumnError(
            f"X: the categories of {label} were {kinds[fitted.pop()]} when the model was fitted "
            f"and are {kinds[new.pop()]} now: convert the column"
        )
