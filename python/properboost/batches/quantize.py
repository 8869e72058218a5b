"""From batches to codes: rows are read twice, and never held as numbers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.batches.coded_rows import CodedRows
from properboost.batches.sources import open_source
from properboost.data.bin_finder import BinFinder
from properboost.data.binning import (
    MAX_CATEGORIES,
    Binning,
    NumericBins,
    count_numeric_bins,
)
from properboost.data.entries import ROWS, find_entries
from properboost.data.features import find_categorical, find_texts
from properboost.data.labels import LabelReader, TooFewRowsError, read_rows
from properboost.data.sorted_rows import Rows, count_rows
from properboost.data.table import CodedLabels, ColumnSubset, InputTable
from properboost.parameters import checks
from properboost.parameters.kinds import ClassWeight
from properboost.parameters.rows import BinningOptions

__all__ = ["Batches", "cut", "cut_as"]


def cut(
    batches: "Batches",
    options: BinningOptions,
    class_weight: ClassWeight,
    normalize_weights: bool,
    bin_means: bool,
) -> CodedRows:
    """Find the bins of rows, then their codes."""
    search = _BinSearch(options)
    reading = _read_first(batches, search.add)
    labels, weight = reading.labels, reading.weight
    rows = read_rows(labels, len(labels.codes), weight, class_weight, normalize_weights)
    lost = weight is not None and rows.weight is not None and (weight > 0) & (rows.weight == 0)
    if np.any(lost):
        raise ValueError(
            f"the column {batches.weight!r} of weights must not hold numbers that are 0 in float "
            "precision compared with the largest"
        )
    max_numeric = count_numeric_bins(options.max_bins, options.rows_per_bin, rows.total)
    n_threads = checks.count_threads(options.n_jobs)
    bins = search.finder.find(
        rows.weigh,
        max_numeric=max_numeric,
        max_categories=options.max_bins,
        n_threads=n_threads,
    )
    binning = Binning(bins, search.from_dtype)
    del search  # the sample is not needed any more
    means = _MeanSums(binning, rows) if bin_means else None
    codes = _encode(batches, reading, binning, means, n_threads)
    return CodedRows(
        names=batches.features,
        labels=labels,
        weight=weight,
        binning=binning if means is None else means.add_to(binning),
        max_numeric=max_numeric,
        max_categories=min(options.max_bins, MAX_CATEGORIES),
        codes=codes,
    )


def cut_as(batches: "Batches", known: CodedRows, n_threads: int) -> CodedRows:
    """Find the codes of rows in the bins, and among the classes, of a known table."""
    reading = _read_first(batches, lambda *_: None)
    position = {label: k for k, label in enumerate(known.labels.values.tolist())}
    labels = reading.labels.values.tolist()
    unknown = [label for label in labels if label not in position]
    if unknown:
        raise ValueError(
            f"the column {batches.label!r} must hold labels among {[*position]}, which bins_of "
            f"has; got {unknown[0]!r}"
        )
    kind = np.min_scalar_type(len(position))
    new_codes = np.array([position[label] for label in labels], dtype=kind)
    reading = _FirstReading(
        CodedLabels(known.labels.values, find_entries(new_codes, reading.labels.codes)),
        reading.weight,
        reading.reader,
        find_entries(new_codes, reading.places),
    )
    codes = _encode(batches, reading, known.binning, None, n_threads)
    return CodedRows(
        names=batches.features,
        labels=reading.labels,
        weight=reading.weight,
        binning=known.binning,
        max_numeric=known.max_numeric,
        max_categories=known.max_categories,
        codes=codes,
    )


@dataclass(frozen=True, eq=False)
class Batches:
    """The batches of a source: their features, labels and weights."""

    readings: Iterator[Iterator[InputTable]]
    names: list[str]
    features: list[str]
    label: str
    weight: str | None

    @classmethod
    def open(
        cls, source: Any, label: str, weight: str | None, features: Sequence[str] | None
    ) -> "Batches":
        """Look at the columns of the first batch."""
        others = [label] if weight is None else [label, weight]
        if not all(isinstance(name, str) for name in others):
            kinds = " and ".join(type(name).__name__ for name in others)
            raise TypeError(f"label and weight must be names of columns; got {kinds}")
        wanted = None if features is None else [*features, *others]
        begin = open_source(source, wanted)
        begun = begin()
        first = next(begun, None)
        if first is None:
            raise ValueError("source must give rows; got no batch")
        names = list(first.names or ())
        _check_columns(names, wanted or others)
        chosen = _choose_features(names, features, others)
        readings = chain([chain([first], begun)], (begin() for _ in count()))
        return cls(readings, names, chosen, label, weight)

    def read(self) -> Iterator["_Batch"]:
        """Read the batches, from the first on."""
        place = {name: p for p, name in enumerate(self.names)}
        positions = [place[name] for name in self.features]
        weight = None if self.weight is None else place[self.weight]
        for k, table in enumerate(next(self.readings)):
            if list(table.names or ()) != self.names:
                raise ValueError(
                    f"source must give batches of the same columns, {self.names}; batch {k} has "
                    f"{list(table.names or ())}"
                )
            if table.n_rows > 0:
                yield _Batch(table, ColumnSubset(table, positions), place[self.label], weight)


def _check_columns(names: list[str], wanted: Sequence[str]) -> None:
    """Refuse duplicate names of columns, and a missing wanted column."""
    if len(set(names)) < len(names):
        raise ValueError(f"source must give columns of different names; got {names}")
    lacking = [name for name in wanted if name not in names]
    if lacking:
        raise ValueError(f"source has no column {lacking[0]!r}; it has {names}")


def _choose_features(
    names: list[str], features: Sequence[str] | None, others: list[str]
) -> list[str]:
    """Return the columns that are features: those named, or all but the `others`."""
    if features is None:
        chosen = [name for name in names if name not in others]
    else:
        chosen = list(features)
        if len({*chosen, *others}) < len(chosen) + len(others):
            raise ValueError("features must be different columns, without label and weight")
    if not chosen:
        raise ValueError("source must have a column besides label and weight")
    return chosen


@dataclass(frozen=True, eq=False)
class _Batch:
    whole: InputTable
    features: InputTable
    label_at: int
    weight_at: int | None

    @property
    def n_rows(self) -> int:
        return self.whole.n_rows

    @property
    def labels(self) -> Any:
        return self.whole.values(self.label_at)

    @property
    def weight(self) -> NDArray[np.float64] | None:
        if self.weight_at is None:
            return None
        return np.array(self.whole.numeric(self.weight_at), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _FirstReading:
    """The labels and weights that the first reading found; `places` maps `reader`'s numbers."""

    labels: CodedLabels
    weight: NDArray[np.float64] | None
    reader: LabelReader
    places: NDArray[np.unsignedinteger[Any]]


def _read_first(
    batches: Batches, add_features: Callable[[InputTable, NDArray[np.float64] | None], None]
) -> _FirstReading:
    """Read all rows once; `add_features` receives each batch's features and weights."""
    reader = LabelReader()
    numbers, weights = [], []
    for batch in batches.read():
        numbers.append(reader.read(batch.labels, batch.n_rows))
        weight = batch.weight
        if weight is not None:
            weights.append(weight)
        add_features(batch.features, weight)
    if not numbers:
        raise TooFewRowsError("source must give rows; got none")
    values, places = reader.sort()
    labels = CodedLabels(values, find_entries(places, np.concatenate(numbers)))
    return _FirstReading(labels, np.concatenate(weights) if weights else None, reader, places)


class _BinSearch:
    """A search for the bins of features, batch by batch."""

    finder: BinFinder

    def __init__(self, options: BinningOptions) -> None:
        self.from_dtype = False
        self._options = options
        self._categorical: list[int] | None = None

    def add(self, features: InputTable, weight: NDArray[np.float64] | None) -> None:
        """Take a batch."""
        if self._categorical is None:
            self._categorical, self.from_dtype = find_categorical(
                self._options.categorical_features, features
            )
            seed = checks.seed(self._options.random_state)
            texts = find_texts(features, self._categorical, self.from_dtype)
            labels = {j: features.label(j) for j in texts}
            self.finder = BinFinder(features.n_features, self._categorical, seed, labels)
        elif self.from_dtype:
            self._check_types(features, self._categorical)
        self.finder.add(features, weight)

    def _check_types(self, features: InputTable, categorical: list[int]) -> None:
        """Refuse a batch with other categorical columns; one without any value may be any."""
        now, _ = find_categorical("from_dtype", features)
        lacking = set(categorical) - set(now)
        empty = all((features.categorical(j).codes < 0).all() for j in lacking)
        if not empty or not set(now) <= set(categorical):
            names = [features.label(j) for j in categorical]
            raise ValueError(
                f"source must give batches of the same types; categories had first {names}: name "
                "the categorical columns in categorical_features"
            )


def _encode(
    batches: Batches,
    reading: _FirstReading,
    binning: Binning,
    means: "_MeanSums | None",
    n_threads: int,
) -> NDArray[np.uint8]:
    """Read all rows again; return the codes of those that count, in the order of `Rows.sort`."""
    rows = count_rows(reading.labels, reading.weight)
    n_classes, n_rows = len(rows.classes), len(rows.codes)
    place = rows.find_places()
    codes = np.empty((len(binning.features), int((rows.codes < n_classes).sum())), dtype=np.uint8)
    begin = 0
    for batch in batches.read():
        end = begin + batch.n_rows
        numbers = reading.reader.read(batch.labels, batch.n_rows)
        if end > n_rows or len(reading.reader) > len(reading.places):
            raise _changed(f"row {begin} and those after it")
        codes_read = find_entries(reading.places, numbers)
        if not np.array_equal(codes_read, reading.labels.codes[begin:end]):
            raise _changed(f"the labels of the rows {begin} to {end}")
        counted = np.flatnonzero(rows.codes[begin:end] < n_classes)
        codes[:, place[begin + counted]] = binning.encode(batch.features, counted, n_threads)
        if means is not None:
            means.add(batch.features, counted, begin, end, n_threads)
        begin = end
    if begin < n_rows:
        raise _changed(f"only {begin} of {n_rows} rows")
    return codes


def _changed(what: str) -> ValueError:
    return ValueError(
        f"source must give the same rows each time it is read; the second time {what} differed"
    )


class _MeanSums:
    """Sums for the means of numeric features' bins, over the rows that count."""

    def __init__(self, binning: Binning, rows: Rows) -> None:
        self._rows = rows
        self._numeric = {
            j: bins for j, bins in enumerate(binning.features) if isinstance(bins, NumericBins)
        }
        largest = 1.0
        if rows.weight is not None or rows.factor is not None:
            begins = range(0, len(rows.codes), ROWS)
            weights = (rows.weigh(slice(begin, begin + ROWS)) for begin in begins)
            largest = max(weight.max() for weight in weights if weight is not None)
        native = _core.Bins([bins.edges for bins in self._numeric.values()])
        self._sums = _core.BinSums(native, float(largest))

    def add(
        self, features: InputTable, order: NDArray[np.int64], begin: int, end: int, n_threads: int
    ) -> None:
        """Add the rows of a batch, those of the source from `begin` to `end`, in that `order`."""
        weight = self._rows.weigh(slice(begin, end))
        columns = [features.numeric(j) for j in self._numeric]
        if columns:
            weight = None if weight is None else weight[order]
            self._sums.add(columns, order, weight, n_threads)

    def add_to(self, binning: Binning) -> Binning:
        """Return the binning with the means."""
        means = self._sums.find_means()
        return binning.set_means(dict(zip(self._numeric, means, strict=True)))
