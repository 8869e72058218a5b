"""Rows as codes: a training table of one byte a cell, made of batches, never of floats at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from properboost import _core
from properboost.data.bin_finder import BinFinder
from properboost.data.binning import (
    MAX_CATEGORIES,
    Binning,
    CategoricalBins,
    CodedTable,
    NumericBins,
    count_numeric_bins,
)
from properboost.data.entries import ROWS, find_entries
from properboost.data.frames import find_categorical, open_table
from properboost.data.labels import CodedLabels, LabelReader, Rows, read_rows
from properboost.data.sources import open_source
from properboost.data.table import CategoricalColumn, Column, SomeColumns, Table
from properboost.parameters import checks
from properboost.parameters.declare import read
from properboost.parameters.kinds import CategoricalFeatures, ClassWeight, RandomState
from properboost.parameters.shared import ROWS_PER_BIN, BinningOptions

__all__ = ["QuantizedTable", "open_training"]


class QuantizedTable(CodedTable):
    """Training rows as codes, one byte a cell, with their labels and weights.

    It is made by `from_batches`, and taken by the ``fit`` of `ProperBoostClassifier` and
    `ProperBoostClassifierCV` in the place of X, y and sample_weight.  Features are cut into bins
    once, for any number of fits.

    See Also
    --------
    QuantizedTable.from_batches : Make one.
    """

    def __init__(self, made: "_Made") -> None:
        self.n_rows, self.n_features = len(made.labels.codes), len(made.names)
        # For splitters, which look at the number of rows.
        self.source = np.broadcast_to(np.uint8(0), (self.n_rows, 1))
        self.names = made.names
        self._made = made

    @classmethod
    def from_batches(
        cls,
        source: Any,
        label: str,
        weight: str | None = None,
        *,
        features: Sequence[str] | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        max_bins: int = 255,
        rows_per_bin: float | str | None = "auto",
        class_weight: ClassWeight = None,
        normalize_weights: bool = False,
        bin_means: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> Self:
        """Read rows twice, batch by batch, and keep their codes.

        The first reading finds classes, categories, the total of the weights and the sample of rows
        that bins are found on; the second one makes the codes.  Numbers are held of one batch and
        of the sample only.

        Parameters
        ----------
        source : object
            Where rows come from, in the same order each time: a path of a Parquet file or folder,
            or a list of them; a pyarrow Dataset; a polars LazyFrame; a function without arguments
            that returns a new iterator of pandas, polars or Arrow tables; such a table; or another
            object with ``__arrow_c_stream__`` that can be read more than once.
        label : str
            The column of the labels: integers, booleans or strings.
        weight : str, optional
            The column that says how often each row counts, finite and at least 0.
        features : sequence of str, optional
            The columns to learn from; the default is all others.
        categorical_features : "from_dtype", None, list of int or str, or mask
            Which features are categorical, as an estimator's parameter says it.  Positions are
            those among the features.
        max_bins : int, default=255
            The most bins of a feature, in [2, 255], not counting missing values.
        rows_per_bin : float, None or "auto", default="auto"
            A numeric feature also has at most one bin per this many rows; "auto" is 20.
        class_weight : dict, "balanced" or None, default=None
            The factor on the weights of each class, for bins.
        normalize_weights : bool, default=False
            Whether weights are scaled to a mean of 1.
        bin_means : bool, default=False
            Also find the means of bins, which `linear_leaves` needs.
        n_jobs : int, optional
            Threads.  None and -1 use every CPU this process may use, or ``OMP_NUM_THREADS`` if set.
        random_state : int, RandomState or None, default=None
            Seed of the sample of rows from which bins are found (more than 200,000 rows).

        Returns
        -------
        QuantizedTable

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described, batches have different columns, or the source gives
            other rows when it is read again; the message says which.
        ImportError
            If a package is missing that reads the source; the message says what to install.

        Notes
        -----
        A model that is fitted to it has the file of a fit to the same rows in memory, byte for
        byte, whatever the batches, if that fit has the same `max_bins`, `rows_per_bin`,
        `class_weight`, `normalize_weights` and `random_state`, and the columns the same types.

        Examples
        --------
        >>> import pandas as pd
        >>> import properboost as pb
        >>> rows = pd.DataFrame({"x": range(90), "y": [0, 0, 1] * 30})
        >>> table = pb.QuantizedTable.from_batches(
        ...     lambda: (rows[i : i + 40] for i in range(0, 90, 40)), label="y"
        ... )
        >>> table
        QuantizedTable: 90 rows, 1 feature, 2 classes
        >>> model = pb.ProperBoostClassifier().fit(table)
        """
        options = read(
            BinningOptions,
            None,
            max_bins=max_bins,
            rows_per_bin=ROWS_PER_BIN if rows_per_bin == "auto" else rows_per_bin,
            categorical_features=categorical_features,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        checks.check_class_weight("class_weight", class_weight)
        checks.boolean("normalize_weights", normalize_weights)
        checks.boolean("bin_means", bin_means)
        batches = _Batches.open(source, label, weight, features)
        looked = _look(batches, options)
        rows = read_rows(
            looked.labels, len(looked.labels.codes), looked.weight, class_weight, normalize_weights
        )
        given = looked.weight
        lost = given is not None and rows.weight is not None and (given > 0) & (rows.weight == 0)
        if np.any(lost):
            raise ValueError(
                f"the column {weight!r} of weights must not hold numbers that are too small to be "
                "told from 0 beside the largest"
            )
        max_numeric = count_numeric_bins(options.max_bins, options.rows_per_bin, rows.total)
        n_threads = checks.count_threads(options.n_jobs)
        bins = looked.finder.find(
            rows.weigh,
            max_numeric=max_numeric,
            max_categories=options.max_bins,
            n_threads=n_threads,
        )
        binning = Binning(bins, looked.from_dtype)
        sums = _Means(binning, rows) if bin_means else None
        codes = _encode(batches, looked, rows, binning, sums, n_threads)
        if sums is not None:
            binning = sums.add_to(binning)
        made = _Made(
            names=batches.features,
            labels=looked.labels,
            weight=looked.weight,
            binning=binning,
            max_numeric=max_numeric,
            max_categories=min(options.max_bins, MAX_CATEGORIES),
            codes=codes,
        )
        return cls(made)

    # -- what it is -------------------------------------------------------------------------------

    def __repr__(self) -> str:
        kinds = (
            (self.n_rows, "row", "rows"),
            (self.n_features, "feature", "features"),
            (len(self.classes), "class", "classes"),
        )
        counts = ", ".join(f"{n} {one if n == 1 else many}" for n, one, many in kinds)
        return f"{type(self).__name__}: {counts}"

    def __len__(self) -> int:
        return self.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of features."""
        return self.n_rows, self.n_features

    @property
    def feature_names(self) -> list[str]:
        """The names of the features."""
        return list(self._made.names)

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, ascending; also those that only rows of weight 0 have."""
        return self._made.labels.values

    @property
    def n_bins(self) -> NDArray[np.int64]:
        """The number of bins of each feature, not counting those of missing and unseen values."""
        return np.array([own.n_bins for own in self._made.binning.features], dtype=np.int64)

    @property
    def bins(self) -> list[NDArray[np.float64] | list[Any]]:
        """The bin edges of each numeric feature, and the categories of each other.

        Bin ``k`` holds the values with ``k`` edges below them.
        """
        return [
            own.edges.copy() if isinstance(own, NumericBins) else list(own.categories)
            for own in self._made.binning.features
        ]

    @property
    def nbytes(self) -> int:
        """The bytes that codes, labels and weights take."""
        weight = self._made.weight
        held = self._made.codes.nbytes + self._made.labels.codes.nbytes
        return held + (0 if weight is None else weight.nbytes)

    # -- what a fit takes -------------------------------------------------------------------------

    def set_features(self, model: Any, *, reset: bool) -> None:
        """Set the features of a model, or check that they are these."""
        if reset:
            model.n_features_in_ = self.n_features
            model.feature_names_in_ = np.array(self._made.names, dtype=object)
            return
        known = getattr(model, "feature_names_in_", None)
        if known is None or known.tolist() != self._made.names:
            raise ValueError("X: the QuantizedTable must have the features that the model has")

    @property
    def labels(self) -> CodedLabels:
        """The labels of the rows."""
        return self._made.labels

    @property
    def weight(self) -> NDArray[np.float64] | None:
        """The sample weights as they were read; None if all are 1."""
        return self._made.weight

    def binning_for(
        self,
        categorical_features: CategoricalFeatures,
        *,
        max_numeric: int,
        max_categories: int,
        means: bool,
    ) -> Binning:
        """Return the bins, with `means` or without, if they are as a fit wants them."""
        made = self._made
        categorical = [j for j in range(self.n_features) if self.declares_categorical(j)]
        has_numeric = len(categorical) < self.n_features
        most = min(max_categories, MAX_CATEGORIES)
        for kind, has, own, wanted in (
            ("numeric", has_numeric, made.max_numeric, max_numeric),
            ("categorical", bool(categorical), made.max_categories, most),
        ):
            if has and own != wanted:
                raise ValueError(
                    f"max_bins and rows_per_bin must be those of the QuantizedTable, which has at "
                    f"most {own} bins for a {kind} feature; got {wanted}"
                )
        given = categorical_features
        from_dtype = isinstance(given, str) and given == "from_dtype"
        if not from_dtype and find_categorical(given, self)[0] != categorical:
            raise ValueError(
                "categorical_features must be those of the QuantizedTable, at the positions "
                f"{categorical}; got {given!r}"
            )
        if not means:
            return made.binning.without_means() if made.binning.has_means else made.binning
        if has_numeric and not made.binning.has_means:
            raise ValueError(
                "linear_leaves needs the means of bins: make the QuantizedTable with bin_means=True"
            )
        return made.binning

    def take(self, order: NDArray[np.int64] | None = None) -> NDArray[np.uint8]:
        """Return the codes (n_features, n_rows) of rows that count, in an order of theirs.

        None is all of them, sorted by class: these are not copied.
        """
        codes = self._made.codes
        if order is None:
            return codes
        own = _sort(self.labels, self.weight)
        place = np.empty(self.n_rows, dtype=np.int64)
        place[own] = np.arange(len(own))
        return codes.take(place[order], axis=1)

    def declares_categorical(self, j: int) -> bool:
        """Whether feature `j` has categories."""
        return isinstance(self._made.binning.features[j], CategoricalBins)

    def numeric(self, j: int) -> Column:
        """Refuse: there are only codes."""
        self._refuse(j)

    def categorical(self, j: int) -> CategoricalColumn:
        """Refuse: there are only codes."""
        self._refuse(j)

    def values(self, j: int) -> Any:
        """Refuse: there are only codes."""
        self._refuse(j)

    def rows(self, start: int, stop: int) -> Table:  # noqa: ARG002
        """Refuse: there are only codes."""
        self._refuse(0)

    def _refuse(self, j: int) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} has codes, and no values of {self.label(j)}")


@dataclass(frozen=True, eq=False)
class _Made:
    """What a quantized table holds.

    `codes` are of the rows that count, sorted by class as `Rows.sort` does.
    """

    names: list[str]
    labels: CodedLabels
    weight: NDArray[np.float64] | None
    binning: Binning
    max_numeric: int
    max_categories: int
    codes: NDArray[np.uint8]


def open_training(
    model: BaseEstimator, X: Any, y: ArrayLike | None, sample_weight: Any, *, reset: bool
) -> tuple[Table, Any, Any]:
    """Open the rows to learn from; return them with their labels and weights."""
    if not isinstance(X, QuantizedTable):
        return open_table(model, X, reset=reset), y, sample_weight
    for name, given in (("y", y), ("sample_weight", sample_weight)):
        if given is not None:
            raise ValueError(f"{name} must not be given with a QuantizedTable, which has its own")
    X.set_features(model, reset=reset)
    return X, X.labels, X.weight


def _sort(labels: CodedLabels, weight: NDArray[np.float64] | None) -> NDArray[np.int64]:
    """Return the rows that count, sorted by class."""
    codes, n_classes = labels.codes, len(labels.values)
    if weight is not None:
        codes = np.where(weight > 0.0, codes, np.min_scalar_type(n_classes).type(n_classes))
    return Rows(labels.values, codes, None, None, 0.0).sort().order


# -- reading --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Batches:
    """The batches of a source: their features, labels and weights."""

    readings: Iterator[Iterator[Table]]
    names: list[str]
    features: list[str]
    label: str
    weight: str | None

    @classmethod
    def open(
        cls, source: Any, label: str, weight: str | None, features: Sequence[str] | None
    ) -> "_Batches":
        """Look at the columns of the first batch."""
        others = [label] if weight is None else [label, weight]
        if not all(isinstance(name, str) for name in others):
            raise TypeError(f"label and weight must be names of columns; got {others!r}")
        wanted = None if features is None else [*features, *others]
        begin = open_source(source, wanted)
        begun = begin()
        first = next(begun, None)
        if first is None:
            raise ValueError("source must give rows; got no batch")
        names = list(first.names or ())
        if len(set(names)) < len(names):
            raise ValueError(f"source must give columns of different names; got {names}")
        lacking = [name for name in wanted or others if name not in names]
        if lacking:
            raise ValueError(f"source has no column {lacking[0]!r}; it has {names}")
        found = [name for name in names if name not in others]
        if features is not None:
            found = list(features)
            if len({*found, *others}) < len(found) + len(others):
                raise ValueError("features must be different columns, without label and weight")
        if not found:
            raise ValueError("source must have a column besides label and weight")
        readings = chain([chain([first], begun)], (begin() for _ in count()))
        return cls(readings, names, found, label, weight)

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
                yield _Batch(table, SomeColumns(table, positions), place[self.label], weight)


@dataclass(frozen=True, eq=False)
class _Batch:
    whole: Table
    features: Table
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
class _Looked:
    """What the first reading finds.  The labels that `reader` has numbered have `places`."""

    labels: CodedLabels
    weight: NDArray[np.float64] | None
    from_dtype: bool
    finder: BinFinder
    reader: LabelReader
    places: NDArray[np.unsignedinteger[Any]]


def _look(batches: _Batches, options: BinningOptions) -> _Looked:
    """Read all rows for the first time."""
    reader, finder, from_dtype = LabelReader(), None, False
    categorical: list[int] = []
    numbers, weights = [], []
    for batch in batches.read():
        features = batch.features
        if finder is None:
            categorical, from_dtype = find_categorical(options.categorical_features, features)
            seed = checks.seed(options.random_state)
            finder = BinFinder(features.n_features, categorical, seed)
        elif from_dtype and find_categorical("from_dtype", features)[0] != categorical:
            names = [features.label(j) for j in categorical]
            raise ValueError(
                f"source must give batches of the same types; categories had first {names}"
            )
        numbers.append(reader.read(batch.labels, batch.n_rows))
        weight = batch.weight
        if weight is not None:
            weights.append(weight)
        finder.add(features, weight)
    if finder is None:
        raise ValueError("source must give rows; got none")
    values, places = reader.sort()
    labels = CodedLabels(values, find_entries(places, np.concatenate(numbers)))
    weight = np.concatenate(weights) if weights else None
    return _Looked(labels, weight, from_dtype, finder, reader, places)


def _encode(
    batches: _Batches,
    looked: _Looked,
    rows: Rows,
    binning: Binning,
    means: "_Means | None",
    n_threads: int,
) -> NDArray[np.uint8]:
    """Read all rows again, and return the codes of those that count, sorted by class."""
    n_classes, n_rows = len(rows.classes), len(rows.codes)
    counts = np.bincount(rows.codes, minlength=n_classes + 1)[:n_classes]
    place = np.cumsum([0, *counts])  # of the next row of each class
    codes = np.empty((len(binning.features), int(place[-1])), dtype=np.uint8)
    begin = 0
    for batch in batches.read():
        end = begin + batch.n_rows
        numbers = looked.reader.read(batch.labels, batch.n_rows)
        if end > n_rows or len(looked.reader) > len(looked.places):
            raise _changed(f"row {begin} and those after it")
        codes_read = find_entries(looked.places, numbers)
        if not np.array_equal(codes_read, looked.labels.codes[begin:end]):
            raise _changed(f"the labels of the rows {begin} to {end}")
        own = rows.codes[begin:end]
        held = np.bincount(own, minlength=n_classes + 1)[:n_classes]
        order = np.argsort(own, kind="stable")[: held.sum()]
        found = binning.encode(batch.features, order, n_threads)
        first = 0
        for c in np.flatnonzero(held):
            stop = first + held[c]
            codes[:, place[c] : place[c] + held[c]] = found[:, first:stop]
            place[c] += held[c]
            first = stop
        if means is not None:
            means.add(batch.features, order, begin, end, n_threads)
        begin = end
    if begin < n_rows:
        raise _changed(f"only {begin} of {n_rows} rows")
    return codes


def _changed(what: str) -> ValueError:
    return ValueError(
        f"source must give the same rows each time it is read; the second time {what} differed"
    )


class _Means:
    """The means of numeric features' bins, of the rows that count."""

    def __init__(self, binning: Binning, rows: Rows) -> None:
        self._rows = rows
        self._numeric = {
            j: own for j, own in enumerate(binning.features) if isinstance(own, NumericBins)
        }
        largest = 1.0
        if rows.weight is not None or rows.factor is not None:
            begins = range(0, len(rows.codes), ROWS)
            some = (rows.weigh(slice(begin, begin + ROWS)) for begin in begins)
            largest = max(own.max() for own in some if own is not None)
        bins = _core.Bins([own.edges for own in self._numeric.values()])
        self._sums = _core.BinSums(bins, float(largest))

    def add(
        self, features: Table, order: NDArray[np.int64], begin: int, end: int, n_threads: int
    ) -> None:
        """Add the rows of a batch, those of the source from `begin` to `end`, in that `order`."""
        weight = self._rows.weigh(slice(begin, end))
        columns = [features.numeric(j) for j in self._numeric]
        if columns:
            own = None if weight is None else weight[order]
            self._sums.add(columns, order, own, n_threads)

    def add_to(self, binning: Binning) -> Binning:
        """Return the binning with the means."""
        found = self._sums.find_means()
        return binning.with_found_means(dict(zip(self._numeric, found, strict=True)))
