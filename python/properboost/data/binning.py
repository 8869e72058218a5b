"""Binning: how each feature of the fitted model is cut, and the codes of a table."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.cached import cached_property
from properboost.data.entries import ROWS, find_entries
from properboost.data.table import CategoricalColumn, Category, Table

__all__ = [
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
]

MAX_CATEGORIES = 254
"""Bins a categorical feature can have: of 256 codes, missing and unseen take two."""

SAMPLE_SIZE = 200_000
"""Rows from which bin edges are found; more rows change quantiles too little to matter."""

FEWEST_BINS = 4
"""The least that `count_numeric_bins` returns, for the smallest data sets."""

COPY_BYTES = 2**26
"""Converted columns held at a time, in bytes, at most (but always one column)."""

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
        """These bins as the engine takes them: their edges."""
        return self.edges

    @property
    def outer_means(self) -> tuple[float, float]:
        """The smallest and the largest mean; both 0 if there are none."""
        means = [0.0] if self.means is None else self.means
        return float(means[0]), float(means[-1])

    @cached_property
    def positions(self) -> NDArray[np.float64]:
        """Where each code's mean is between the smallest, 0, and the largest, 1.

        NaN where there is none: of missing values, and if all means are the same.
        """
        positions = np.full(256, np.nan)
        low, high = self.outer_means
        if self.means is not None and high > low:
            with np.errstate(over="ignore"):
                half = 1.0 if np.isfinite(high - low) else 0.5
            own = (half * self.means - half * low) / (half * high - half * low)
            positions[: self.n_bins] = own
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
        """These bins as the engine takes them: their number."""
        return self.n_bins

    def read(self, table: Table, j: int) -> NDArray[np.generic]:
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
        """Return what `assign` does of a column that has categories of the fitted kind."""
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

    `from_dtype` says that columns' types decided what is categorical in training; otherwise the
    user did.  The columns of rows to predict may have other types, see `CategoricalBins.read`.
    """

    features: tuple[FeatureBins, ...]
    from_dtype: bool

    @cached_property
    def native(self) -> _core.Bins:
        """The engine's bins."""
        found = [f.means if isinstance(f, NumericBins) else None for f in self.features]
        if all(means is None for means in found):
            return _core.Bins([feature.native for feature in self.features])
        means = [np.empty(0) if own is None else own for own in found]
        return _core.Bins([feature.native for feature in self.features], means)

    def with_means(
        self,
        table: Table,
        order: NDArray[np.int64],
        weight: NDArray[np.float64] | None,
        n_threads: int,
    ) -> "Binning":
        """Return the same with the means of numeric features' bins.

        They are of the rows of `table` in that `order`, whose weights are `weight`.
        """
        cut = {j: own for j, own in enumerate(self.features) if isinstance(own, NumericBins)}
        found: dict[int, NDArray[np.float64]] = {}
        whole = self._whole(table)
        groups = _groups(list(cut), table.n_rows) if whole is None else [list(cut)]
        for group in groups:
            bins = _core.Bins([cut[j].edges for j in group])
            columns = [table.numeric(j) for j in group] if whole is None else whole
            means = bins.find_means(columns, order, weight, n_threads)
            found |= dict(zip(group, means, strict=True))
        return self.with_found_means(found)

    def with_found_means(self, means: Mapping[int, NDArray[np.float64]]) -> "Binning":
        """Return the same with the means of these numeric features' bins."""
        features = tuple(
            replace(own, means=means[j]) if isinstance(own, NumericBins) else own
            for j, own in enumerate(self.features)
        )
        return replace(self, features=features)

    @property
    def has_means(self) -> bool:
        """Whether numeric features' bins have means."""
        return any(isinstance(own, NumericBins) and own.means is not None for own in self.features)

    def find_positions(self, feature: int) -> NDArray[np.float64]:
        """Return a numeric feature's `NumericBins.positions`."""
        bins = self.features[feature]
        assert isinstance(bins, NumericBins)
        return bins.positions

    def without_means(self) -> "Binning":
        """Return the same without means."""
        features = tuple(
            replace(own, means=None) if isinstance(own, NumericBins) else own
            for own in self.features
        )
        return replace(self, features=features)

    def cuts_as(self, other: "Binning") -> bool:
        """Whether values have the same codes in the other bins."""
        return len(self.features) == len(other.features) and all(
            np.array_equal(own.edges, of.edges)
            if isinstance(own, NumericBins) and isinstance(of, NumericBins)
            else isinstance(own, CategoricalBins)
            and isinstance(of, CategoricalBins)
            and (own.categories, own.has_rare) == (of.categories, of.has_rare)
            for own, of in zip(self.features, other.features, strict=True)
        )

    def __getstate__(self) -> dict[str, Any]:
        return {"features": self.features, "from_dtype": self.from_dtype}

    def encode(
        self, table: Table, order: NDArray[np.int64] | None, n_threads: int
    ) -> NDArray[np.uint8]:
        """Return the codes (n_features, n_rows) of the rows of `table`, in that `order`."""
        whole = self._whole(table)
        if whole is not None:
            return self.native.encode(whole, order, n_threads)
        n_rows = table.n_rows if order is None else len(order)
        codes = np.empty((len(self.features), n_rows), dtype=np.uint8)
        for group in _groups(range(len(self.features)), table.n_rows):
            bins = self.native
            if len(group) < len(self.features):
                bins = _core.Bins([self.features[j].native for j in group])
            columns = [self._column(table, j) for j in group]
            codes[group[0] : group[-1] + 1] = bins.encode(columns, order, n_threads)
        return codes

    def predict_raw(
        self,
        table: Table,
        tables: NDArray[np.float64],
        pairs: Sequence[_core.Pair],
        n_threads: int,
    ) -> NDArray[np.float64]:
        """Return raw predictions (n_rows, n_models) from look-up tables (n_models, all codes).

        The look-up tables of `pairs` come after those of features.
        """
        return self._by_rows(
            table, lambda x: _core.predict_raw(x, self.native, tables, pairs, n_threads)
        )

    def predict_raw_trees(
        self, table: Table, scores: _core.ForestScores, n_threads: int
    ) -> NDArray[np.float64]:
        """Return raw predictions (n_rows, n_models) from trees over these bins."""
        return self._by_rows(table, lambda x: scores.predict_raw(x, n_threads))

    def _by_rows(
        self, table: Table, predict: Callable[[Any], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Return what `predict` makes of the rows of `table`, converted some at a time."""
        whole = self._whole(table)
        if whole is not None:
            return predict(whole)
        # By rows, not by columns: each row's sum then runs over its features in one order.
        step = max(LEAST_ROWS, COPY_BYTES // (8 * table.n_features))
        parts = []
        for start in range(0, table.n_rows, step):
            rows = table.rows(start, min(start + step, table.n_rows))
            parts.append(predict([self._column(rows, j) for j in range(len(self.features))]))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _whole(self, table: Table) -> NDArray[np.generic] | None:
        if table.holds_bins or all(isinstance(own, NumericBins) for own in self.features):
            return table.array
        return None

    def _column(self, table: Table, j: int) -> NDArray[np.generic]:
        feature = self.features[j]
        return table.numeric(j) if isinstance(feature, NumericBins) else feature.read(table, j)


class CodedTable(Table):
    """A table of codes, whose features are cut already."""

    @property
    @abstractmethod
    def binning(self) -> Binning:
        """How the features are cut."""

    @abstractmethod
    def set_features(self, model: Any, *, reset: bool) -> None:
        """Set the features of a model, or check that they are these."""

    def check_bins(self, features: Sequence[FeatureBins], whose: str) -> None:
        """Refuse a model whose bins are other ones."""
        if not self.binning.cuts_as(Binning(tuple(features), self.binning.from_dtype)):
            raise ValueError(f"X: the QuantizedTable must have the bins of {whose}")

    @abstractmethod
    def restore(self) -> Table:
        """Return the rows as values that have these codes, to predict from."""


class RestoredTable(Table):
    """Values that have the codes of rows: of a numeric feature, the largest of each bin.

    ``places[i]`` is where the codes (n_features, n) have row i.
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
        own = self._features[j]
        if isinstance(own, NumericBins):
            values = np.array([*own.edges, np.inf, np.nan])
        else:
            values = np.array([*range(own.n_bins), -1.0, -2.0])
        return find_entries(values, self._codes[j].take(self._places))

    def categorical(self, j: int) -> CategoricalColumn:
        """Refuse: there are only bins."""
        raise TypeError(f"{self.label(j)} has bins, and no categories")

    def values(self, j: int) -> Any:
        """Return what `numeric` does."""
        return self.numeric(j)

    def rows(self, start: int, stop: int) -> "RestoredTable":
        """Return the rows from `start` to `stop`, whose codes are not copied."""
        some = self._places[start:stop]
        return RestoredTable(self._codes, some, self._features, self.names)


def count_numeric_bins(max_bins: int, rows_per_bin: float | None, n_rows: float) -> int:
    """Return the largest number of bins of a numeric feature: `max_bins`, or fewer for few rows."""
    if rows_per_bin is None:
        return max_bins
    return min(max_bins, max(FEWEST_BINS, int(min(n_rows / rows_per_bin, max_bins))))


def find_bins(
    table: Table,
    categorical: Sequence[int],
    weight: NDArray[np.float64] | None,
    *,
    max_numeric: int,
    max_categories: int,
    seed: int,
    n_threads: int,
) -> tuple[FeatureBins, ...]:
    """Cut every feature of `table`, those in `categorical` by their categories.

    `weight` counts the rows (a row of weight 0 is ignored).  Above `SAMPLE_SIZE` rows, bin edges
    come from a sample of them, drawn by `seed`.
    """
    bins: dict[int, FeatureBins] = {}
    numeric = sorted(set(range(table.n_features)) - set(categorical))
    whole = None if categorical else table.array
    groups = _groups(numeric, table.n_rows) if whole is None else [numeric]
    sample = _core.RowSample(SAMPLE_SIZE, seed)
    sample.add(table.n_rows, weight)
    rows = sample.rows
    for group in groups:
        columns = [table.numeric(j) for j in group] if whole is None else whole
        found = _core.find_edges(columns, weight, max_numeric, rows, n_threads)
        spans = _core.find_spans(columns, weight, n_threads).tolist()
        for j, edges, span in zip(group, found, spans, strict=True):
            bins[j] = NumericBins(edges, span=(span[0], span[1]))
    for j in categorical:
        column = table.categorical(j)
        bins[j] = find_categories(
            column.values, [(column.codes, weight)], min(max_categories, MAX_CATEGORIES)
        )
    return tuple(bins[j] for j in range(table.n_features))


def _groups(features: Sequence[int], n_rows: int) -> Iterator[Sequence[int]]:
    """Yield batches of features, as many as may be held as converted columns."""
    step = max(1, COPY_BYTES // (8 * n_rows))
    for first in range(0, len(features), step):
        yield features[first : first + step]


def find_categories(
    values: tuple[Category, ...],
    batches: Iterable[tuple[NDArray[np.int64], NDArray[np.float64] | None]],
    max_bins: int,
) -> CategoricalBins:
    """Return the bins of categories; `batches` are rows' codes and weights."""
    held = np.zeros(len(values) + 1)
    for codes, weight in batches:
        for begin in range(0, len(codes), ROWS):
            some = slice(begin, begin + ROWS)
            if weight is None:
                held += np.bincount(codes[some] + 1, minlength=len(held))
            else:
                np.add.at(held, codes[some] + 1, weight[some])  # row by row: no batch has a sum
    held = held[1:]
    seen = np.flatnonzero(held)
    if len(seen) <= max_bins:
        return CategoricalBins(tuple(values[k] for k in seen))
    heaviest = np.argsort(-held[seen], kind="stable")[: max_bins - 1]
    return CategoricalBins(tuple(values[k] for k in np.sort(seen[heaviest])), has_rare=True)


def _check_same_kind(feature: CategoricalBins, column: CategoricalColumn, label: str) -> None:
    """Refuse strings where numbers were fitted and the reverse: no category could match."""
    fitted, given = ({isinstance(c, str) for c in cs} for cs in (feature.categories, column.values))
    if fitted and given and not fitted & given:
        kinds = {True: "strings", False: "numbers"}
        raise ValueError(
            f"X: the categories of {label} were {kinds[fitted.pop()]} when the model was fitted "
            f"and are {kinds[given.pop()]} now: convert the column"
        )
