"""Rows as codes: a table of one byte per cell, made batch by batch without a table of floats."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, NoReturn, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from properboost.batches import table_file
from properboost.batches.coded_rows import CodedRows, check_codes
from properboost.batches.quantize import Batches, cut, cut_as
from properboost.batches.spool import spooled
from properboost.data.binning import (
    MAX_CATEGORIES,
    Binning,
    CategoricalBins,
    CodedTable,
    NumericBins,
    RestoredTable,
    count_numeric_bins,
)
from properboost.data.entries import find_entries
from properboost.data.features import find_categorical
from properboost.data.frames import open_table
from properboost.data.names import ColumnNames, keep_features, read_names
from properboost.data.soft_labels import read_soft_labels
from properboost.data.sorted_rows import Rows, SortedRows, count_rows
from properboost.data.table import CategoricalColumn, CodedLabels, Column, InputTable
from properboost.engine.local import LocalRows, TableSource
from properboost.engine.protocols import RowSource, TrainingRows, describe_rows
from properboost.parameters import checks
from properboost.parameters.declare import read
from properboost.parameters.elsewhere import advise_calls
from properboost.parameters.kinds import CategoricalFeatures, ClassWeight, RandomState
from properboost.parameters.learners import ROWS_PER_BIN
from properboost.parameters.rows import BinningOptions
from properboost.whole_file import AnyPath

__all__ = ["QuantizedTable", "open_labelled", "open_rows", "open_training"]


_EXAMPLE = "pb.QuantizedTable.from_batches('rows.parquet', label='label')"
"""The code that makes a table of codes."""


class QuantizedTable(CodedTable, RowSource):
    """Training rows as codes, one byte a cell, with their labels and weights.

    `from_batches` makes it.  The ``fit`` of `ProperBoostClassifier` and `ProperBoostClassifierCV`
    takes it in place of X, y and sample_weight.  Features are cut into bins once, for any number
    of fits.  Models of the same bins predict its rows, and take it as validation rows (`X_val`).

    See Also
    --------
    QuantizedTable.from_batches : Make one.
    """

    @advise_calls(_EXAMPLE)
    def __init__(self, rows: CodedRows) -> None:
        if not isinstance(rows, CodedRows):
            raise TypeError(f"rows must be codes; got {type(rows).__name__}: write {_EXAMPLE}")
        self.n_rows, self.n_features = len(rows.labels.codes), len(rows.names)
        # For splitters, which look at the number of rows.
        self.source = np.broadcast_to(np.uint8(0), (self.n_rows, 1))
        self.names = rows.names
        self.column_names: ColumnNames | None = ColumnNames(tuple(rows.names))
        self._rows = rows

    @classmethod
    @advise_calls(_EXAMPLE)
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
        bin_means: bool = True,
        bins_of: "QuantizedTable | None" = None,
        spool: bool | str | PathLike[str] = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> Self:
        """Read rows twice, batch by batch, and keep their codes.

        The first reading finds classes, categories, the total of the weights and the sample of rows
        that bins are found on; the second one makes the codes.  Memory holds numbers of one batch
        and of the sample only.

        Parameters
        ----------
        source : object
            Where rows come from, in the same order each time: a path of a Parquet file or folder,
            or a list of them; a pyarrow Dataset; a polars LazyFrame; a function without arguments
            that returns a new iterator of pandas, polars or Arrow tables; such a table, or a list
            of them; or another object with ``__arrow_c_stream__`` that can be read more than once.
            Folders whose names are as ``region=north`` give a column, of integers or of categories.
        label : str
            The column of the labels: integers, booleans or strings.
        weight : str, optional
            The column of weights: how often each row counts, finite and at least 0.
        features : sequence of str, optional
            The columns to learn from; the default is all others.
        categorical_features : "from_dtype", None, list of int or str, or mask
            Which features are categorical, as in an estimator's parameter.  Positions are those
            among the features.
        max_bins : int, default=255
            The most bins of a feature, in [2, 255], not counting missing values.
        rows_per_bin : float, None or "auto", default="auto"
            A numeric feature also has at most one bin per this many rows; "auto" is 20.
        class_weight : dict, "balanced" or None, default=None
            The factor on the weights of each class, for bins.
        normalize_weights : bool, default=False
            Whether weights are scaled to a mean of 1.
        bin_means : bool, default=True
            Also find the means of bins, which lines in leaves need.
        bins_of : QuantizedTable, optional
            A table whose features, bins and classes these rows get: validation rows for ``X_val``,
            rows to predict, new rows for ``warm_start``.  Nothing else about bins can be given.
        spool : bool, str or path, default=False
            Accept a source that can be read once only, as an iterator or a RecordBatchReader, and
            keep its batches meanwhile in a nameless file: in this folder, or with True in that for
            temporary files.  The system removes it when the reading ends, whatever ends it.
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
            other rows when it is read again; the message has the cause.
        ImportError
            If a package that reads the source is missing; the message has the install command.

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
        bin_options = {
            "categorical_features": (categorical_features, "from_dtype"),
            "max_bins": (max_bins, 255),
            "rows_per_bin": (rows_per_bin, "auto"),
            "class_weight": (class_weight, None),
            "normalize_weights": (normalize_weights, False),
            "bin_means": (bin_means, True),
            "random_state": (random_state, None),
        }
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
        known = None
        if bins_of is not None:
            if not _is_quantized(bins_of):
                raise TypeError(f"bins_of must be a QuantizedTable; got a {type(bins_of).__name__}")
            others = [
                name for name, (value, default) in bin_options.items() if value is not default
            ]
            if others:
                raise ValueError(f"{others[0]} must not be given with bins_of, which has its own")
            known = bins_of._rows
            if features is not None and list(features) != known.names:
                raise ValueError(
                    f"features must be those of bins_of, {known.names}; got {list(features)}"
                )
            features = known.names
        with spooled(source, spool) as readable:
            batches = Batches.open(readable, label, weight, features)
            if known is not None:
                return cls(cut_as(batches, known, checks.count_threads(options.n_jobs)))
            return cls(cut(batches, options, class_weight, normalize_weights, bin_means))

    # -- files ------------------------------------------------------------------------------------

    def save(self, path: AnyPath) -> None:
        """Write the table to a file, for `open`.

        Parameters
        ----------
        path : str, bytes or path
            The file.  An existing one is replaced once the new one is complete and on the disk.  It
            takes a byte for each cell of rows that count, and for each row one for the label (of up
            to 256 classes) and 8 for the weight, if there are weights.

        Raises
        ------
        OSError
            If it cannot be written, as on a full disk, which leaves the one before as it was.
        ValueError
            If the table is mapped from a file that turns out to be damaged.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import pandas as pd
        >>> import properboost as pb
        >>> rows = pd.DataFrame({"x": range(90), "y": [0, 0, 1] * 30})
        >>> table = pb.QuantizedTable.from_batches(rows, label="y")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table.save(Path(folder) / "rows.codes")
        ...     pb.QuantizedTable.open(Path(folder) / "rows.codes")
        QuantizedTable: 90 rows, 1 feature, 2 classes
        """
        table_file.write(self._rows, path)

    @classmethod
    def open(cls, path: AnyPath, *, mmap: bool = True) -> Self:
        """Open a table that was saved.

        Parameters
        ----------
        path : str, bytes or path
            The file.
        mmap : bool, default=True
            Leave codes in the file, which the system reads when they are needed and keeps as long
            as there is memory.  A fit reads them as they are, with ``selection="cyclic"`` a feature
            at a time.  The file must not be written to meanwhile (`save` replaces it, which leaves
            the open one as it is).  False reads everything now.

        Returns
        -------
        QuantizedTable
            Fits to it have the model files of fits to the table that was saved, byte for byte.

        Raises
        ------
        ValueError
            If the file is no table that this version can read, or is damaged; the message names it.
            Mapped codes are checked when they are first used, which reads them once.
        OSError
            If it cannot be read at all.
        """
        checks.boolean("mmap", mmap)
        return cls(table_file.read(path, mapped=mmap))

    # -- description ------------------------------------------------------------------------------

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
        return list(self._rows.names)

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, ascending; also those that only rows of weight 0 have."""
        return self._rows.labels.values

    @property
    def n_bins(self) -> NDArray[np.int64]:
        """The number of bins of each feature, not counting those of missing and unseen values."""
        return np.array([bins.n_bins for bins in self._rows.binning.features], dtype=np.int64)

    @property
    def bins(self) -> list[NDArray[np.float64] | list[Any]]:
        """The bin edges of each numeric feature, and the categories of each other.

        Bin ``k`` holds the values with ``k`` edges below them.
        """
        return [
            bins.edges.copy() if isinstance(bins, NumericBins) else list(bins.categories)
            for bins in self._rows.binning.features
        ]

    @property
    def y(self) -> NDArray[Any]:
        """The label of each row, made anew."""
        return find_entries(self.labels.values, self.labels.codes)

    @property
    def nbytes(self) -> int:
        """The bytes that codes, labels and weights take."""
        weight = self._rows.weight
        n_bytes = self._rows.codes.nbytes + self._rows.labels.codes.nbytes
        return n_bytes + (0 if weight is None else weight.nbytes)

    # -- rows for a fit ---------------------------------------------------------------------------

    def set_features(self, model: Any, *, reset: bool) -> None:
        """Set a model's features to those of this table, or check that they agree."""
        if reset:
            keep_features(model, self.n_features, self.column_names)
        elif self.column_names not in (None, read_names(model)):
            raise ValueError("X: the QuantizedTable must have the features that the model has")
        elif model.n_features_in_ != self.n_features:
            raise ValueError(
                f"X has {self.n_features} features, but the model has {model.n_features_in_}"
            )

    @property
    def labels(self) -> CodedLabels:
        """The labels of the rows."""
        return self._rows.labels

    @property
    def weight(self) -> NDArray[np.float64] | None:
        """The sample weights as they were read; None if all are 1."""
        return self._rows.weight

    @property
    def binning(self) -> Binning:
        """How the features are cut."""
        return self._rows.binning

    @property
    def can_have_lines(self) -> bool:
        """Whether the bins of numeric features have means."""
        binning = self._rows.binning
        return binning.has_means or not binning.has_numeric

    def find_binning(self, options: BinningOptions, rows: Rows) -> Binning:
        """Return the bins, and refuse options that would give others."""
        return self._find_binning(options, rows, means=False)

    def encode(
        self,
        options: BinningOptions,
        rows: Rows,
        order: SortedRows,
        *,
        with_means: bool = False,
        binning: Binning | None = None,
    ) -> TrainingRows:
        """Return the rows in that `order`; only bags and splits copy the codes."""
        described = self._describe(options, rows, order, with_means, binning)
        codes = self._take_codes(order)
        return LocalRows(**described, codes=codes)

    def _describe(
        self,
        options: BinningOptions,
        rows: Rows,
        order: SortedRows,
        with_means: bool,
        binning: Binning | None,
    ) -> dict[str, Any]:
        """Return the fields of training rows except their codes; check `binning`."""
        cut = self._find_binning(options, rows, means=with_means)
        if binning is not None:
            self.check_bins(binning.features, "the model that warm_start goes on from")
        described = describe_rows(options, rows, order)
        return {**described, "binning": binning or cut, "names": self.names}

    def _find_binning(self, options: BinningOptions, rows: Rows, *, means: bool) -> Binning:
        """Return the bins, with `means` or without; refuse options that would give others."""
        coded = self._rows
        categorical = [j for j in range(self.n_features) if self.declares_categorical(j)]
        has_numeric = len(categorical) < self.n_features
        max_numeric = count_numeric_bins(options.max_bins, options.rows_per_bin, rows.total)
        max_categories = min(options.max_bins, MAX_CATEGORIES)
        for kind, has, limit, wanted in (
            ("numeric", has_numeric, coded.max_numeric, max_numeric),
            ("categorical", bool(categorical), coded.max_categories, max_categories),
        ):
            if has and limit != wanted:
                raise ValueError(
                    f"max_bins and rows_per_bin must be those of the QuantizedTable, which has at "
                    f"most {limit} bins for a {kind} feature; got {wanted}"
                )
        asked = options.categorical_features
        from_dtype = isinstance(asked, str) and asked == "from_dtype"
        if not from_dtype and find_categorical(asked, self)[0] != categorical:
            raise ValueError(
                "categorical_features must be those of the QuantizedTable, at the positions "
                f"{categorical}; got {asked!r}"
            )
        if not means:
            return coded.binning.without_means() if coded.binning.has_means else coded.binning
        if has_numeric and not coded.binning.has_means:
            raise ValueError(
                "linear_leaves needs the means of bins: make the QuantizedTable with bin_means=True"
            )
        return coded.binning

    def read_codes(self) -> NDArray[np.uint8]:
        """Return the codes (n_features, n_rows) of the rows that count, without a copy."""
        self._rows = check_codes(self._rows)
        return self._rows.codes

    def _take_codes(self, order: SortedRows) -> NDArray[np.uint8]:
        """Return codes in an order; any other than theirs takes a copy."""
        codes = self.read_codes()
        # A fit's scaling may bring small weights to 0, so that their rows no longer count.
        if not order.has_parts and order.segments[-1] == codes.shape[1]:
            return codes
        return codes.take(self._find_places()[order.order], axis=1)

    def take(self, positions: NDArray[np.int64]) -> NoReturn:  # noqa: ARG002
        """Refuse: there are only codes."""
        self._refuse(0)

    def check_divisible(self) -> None:
        """Refuse: the bins were found on all rows."""
        raise ValueError(
            "early_stopping cannot hold out rows of a QuantizedTable, whose bins were found "
            "on all of them: give X_val and y_val"
        )

    def restore(self) -> RestoredTable:
        """Return the rows as values with the same codes, to predict from."""
        if self._rows.codes.shape[1] < self.n_rows:
            raise ValueError(
                "X: a QuantizedTable with rows of weight 0, which have no codes, cannot be "
                "predicted: leave weights out where it is made"
            )
        return RestoredTable(
            self.read_codes(), self._find_places(), self._rows.binning.features, self.names
        )

    def encode_counted(
        self,
        binning: Binning,
        n_threads: int,  # noqa: ARG002
    ) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
        """Return the places and codes of the rows that count; refuse other bins."""
        self.check_bins(binning.features, "the rows to learn from (bins_of)")
        weight = self.weight
        counted = np.arange(self.n_rows) if weight is None else np.flatnonzero(weight > 0.0)
        return counted, self.read_codes().take(self._find_places()[counted], axis=1)

    def _find_places(self) -> NDArray[np.int64]:
        """Return the position of each row's codes among the rows that count."""
        return count_rows(self.labels, self.weight).find_places()

    def declares_categorical(self, j: int) -> bool:
        """Whether feature `j` has categories."""
        return isinstance(self._rows.binning.features[j], CategoricalBins)

    def numeric(self, j: int) -> Column:
        """Refuse: there are only codes."""
        self._refuse(j)

    def categorical(self, j: int) -> CategoricalColumn:
        """Refuse: there are only codes."""
        self._refuse(j)

    def values(self, j: int) -> Any:
        """Refuse: there are only codes."""
        self._refuse(j)

    def rows(self, start: int, stop: int) -> InputTable:  # noqa: ARG002
        """Refuse: there are only codes."""
        self._refuse(0)

    def _refuse(self, j: int) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} has codes, and no values of {self.label(j)}")


def open_rows(model: BaseEstimator, X: Any, *, reset: bool) -> RowSource:
    """Open a table whose rows become codes or are codes already."""
    if not _is_quantized(X):
        return TableSource(open_table(model, X, reset=reset))
    X.set_features(model, reset=reset)
    return X


def open_training(
    model: BaseEstimator, X: Any, y: Any, sample_weight: Any, *, reset: bool
) -> tuple[RowSource, Any, Any]:
    """Open the rows to learn from; return them with their labels and weights."""
    X, y, sample_weight = open_labelled(X, y, sample_weight, ("y", "sample_weight"))
    return open_rows(model, X, reset=reset), y, sample_weight


def open_labelled(
    X: Any, y: Any, sample_weight: Any, names: tuple[str, str]
) -> tuple[Any, Any, Any]:
    """Return rows with their labels and weights; a quantized table brings both.

    Labels of several columns are `SoftLabels`.
    """
    if not _is_quantized(X):
        soft = read_soft_labels(y, names[0])
        return X, y if soft is None else soft, sample_weight
    for name, argument in zip(names, (y, sample_weight), strict=True):
        if argument is not None:
            raise ValueError(f"{name} must not be given with a QuantizedTable, which has its own")
    return X, X.labels, X.weight


def _is_quantized(X: Any) -> TypeGuard[QuantizedTable]:
    """Whether an argument is a quantized table rather than a table of values."""
    return isinstance(X, QuantizedTable)
