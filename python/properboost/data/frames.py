"""Tables: the user's X, read one column at a time and never copied as a whole.

X is a two-dimensional numpy array, or a pandas, polars or Arrow table.  None of these three
libraries is imported here: a table of a library exists only once its user imported it.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.cached import cached_property
from properboost.data.libraries import is_a, is_missing, is_wide, make_objects
from properboost.data.names import (
    are_names_of,
    check_names,
    has_names,
    keep_names,
    name_columns,
)
from properboost.data.refusals import ColumnError, Fault, Library, refuse_column
from properboost.data.table import (
    CategoricalColumn,
    Category,
    Column,
    ColumnKind,
    InputTable,
    SparseColumns,
    is_plain,
)
from properboost.notices import warn
from properboost.parameters import checks
from properboost.parameters.kinds import CategoricalFeatures
from properboost.visible import make_lines_printable

__all__ = [
    "NEVER_NUMBERS",
    "RowTable",
    "factorize",
    "find_categorical",
    "find_feature",
    "find_texts",
    "open_array",
    "open_frame",
    "open_table",
    "sort_categories",
    "take_rows",
    "take_single_row",
]


class _ArrayTable(InputTable):
    def __init__(self, array: Column) -> None:
        super().__init__(array, names=None)
        self._real = _as_real(array) if array.dtype.kind in "biuf" else None

    @property
    def array(self) -> Column | None:
        return self._real

    def declares_categorical(self, _: int) -> bool:
        return False

    def find_kind(self, j: int) -> ColumnKind:
        is_object = self.source.dtype == object
        return _find_kind_of_objects(self.source[:, j]) if is_object else "numbers"

    def numeric(self, j: int) -> Column:
        return _numbers(self.source[:, j], self.label(j))

    def categorical(self, j: int) -> CategoricalColumn:
        return factorize(self.source[:, j], self.label(j))

    def values(self, j: int) -> Any:
        return self.source[:, j]

    def rows(self, start: int, stop: int) -> "_ArrayTable":
        return _ArrayTable(self.source[start:stop])


class RowTable(_ArrayTable):
    """Rows that were read one by one: numbers, and the bins of categories (`data.rows`)."""

    holds_bins = True

    def rows(self, start: int, stop: int) -> "RowTable":
        """Return the rows from `start` to `stop`, not copied."""
        return RowTable(self.source[start:stop])


class _SparseTable(InputTable):
    """A matrix of SciPy in CSR format: 0 where nothing is stored.

    A column is dense only while it is read, so bins need no dense table of numbers.
    """

    has_one_type = True

    @cached_property
    def _by_column(self) -> Any:
        columns = self.source.tocsc()
        columns.sum_duplicates()
        return columns

    @cached_property
    def entries(self) -> SparseColumns | None:
        """The entries of all columns, if the engine reads their type."""
        values, indices = self._by_column.data, self._by_column.indices
        is_read = values.dtype.kind in "biuf" and values.dtype.itemsize <= 8
        if not is_read or self.n_rows > np.iinfo(np.int32).max:
            return None
        starts = self._by_column.indptr.astype(np.int64)
        return SparseColumns(starts, indices.astype(np.int32, copy=False), _as_real(values))

    def declares_categorical(self, _: int) -> bool:
        return False

    def numeric(self, j: int) -> Column:
        return _numbers(self.values(j), self.label(j))

    def categorical(self, j: int) -> CategoricalColumn:
        return factorize(self.values(j), self.label(j))

    def values(self, j: int) -> Column:
        columns = self._by_column
        entries = slice(columns.indptr[j], columns.indptr[j + 1])
        column: Column = np.zeros(self.n_rows, dtype=columns.dtype)
        column[columns.indices[entries]] = columns.data[entries]
        return column

    def rows(self, start: int, stop: int) -> "_SparseTable":
        return _SparseTable(self.source[start:stop], None)


class _PandasTable(InputTable):
    def __init__(self, frame: Any) -> None:
        self.frame_names: list[Any] = frame.columns.tolist()
        super().__init__(frame, [*map(_name, self.frame_names)])
        # Views, by position: names may occur twice, and frame.iloc is several times slower.
        self._columns = [column for _, column in frame.items()]

    def declares_categorical(self, j: int) -> bool:
        dtype = self._columns[j].dtype
        return isinstance(dtype, sys.modules["pandas"].CategoricalDtype) or _is_dictionary(dtype)

    def find_kind(self, j: int) -> ColumnKind:
        column = self._columns[j]
        if self.declares_categorical(j):
            return "categories"
        if _is_object(column.dtype):
            return _find_kind_of_objects(column.to_numpy())
        is_string = sys.modules["pandas"].api.types.is_string_dtype(column.dtype)
        return "text" if is_string else "numbers"

    def appends_categories(self, j: int) -> bool:
        return _is_dictionary(self._columns[j].dtype)  # the order of unified dictionaries

    def numeric(self, j: int) -> Column:
        pandas, column = sys.modules["pandas"], self._columns[j]
        dtype = column.dtype
        if self.declares_categorical(j):
            raise _not_listed(self.label(j))
        if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
            return _as_real(column.to_numpy(), self.label(j))
        if isinstance(dtype, pandas.SparseDtype) and dtype.kind in "biuf":
            return _as_real(np.asarray(column), self.label(j))
        types = pandas.api.types
        number = types.is_numeric_dtype(dtype) or types.is_bool_dtype(dtype) or _is_null(dtype)
        if number and dtype.kind != "c":
            # The nullable types: their missing values become NaN.
            single = dtype.kind == "f" and dtype.itemsize == 4
            kind = np.float32 if single else np.float64
            return np.asarray(column.to_numpy(dtype=kind, na_value=np.nan))
        if _is_object(dtype):
            objects = _fill_missing(column.to_numpy())
            return _numbers(objects, self.label(j), "pandas", self.frame_names[j])
        raise _refuse("pandas", self, j, dtype, _find_pandas_fault(column))

    def categorical(self, j: int) -> CategoricalColumn:
        column = self._columns[j]
        if _is_dictionary(column.dtype):
            return _read_dictionary(column.array.__arrow_array__(), self.label(j))
        if self.declares_categorical(j):
            codes = column.cat.codes.to_numpy().astype(np.int64)
            return _clean_categories(codes, column.cat.categories.tolist(), self.label(j))
        if isinstance(column.dtype, np.dtype):
            return factorize(column.to_numpy(), self.label(j))
        return factorize(column.to_numpy(dtype=object), self.label(j))

    def values(self, j: int) -> Any:
        return self._columns[j]

    def rows(self, start: int, stop: int) -> "_PandasTable":
        return _PandasTable(self.source.iloc[start:stop])


def _name(name: Any) -> str:
    return str.__str__(name) if isinstance(name, str) else str(name)


def _is_object(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def _find_pandas_fault(column: Any) -> Fault:
    """Return the reason why a pandas column holds no numbers."""
    types, dtype = sys.modules["pandas"].api.types, column.dtype
    if types.is_string_dtype(dtype):
        return "text"
    kind = str(dtype)
    if kind.startswith("date"):
        has_times = kind.startswith("datetime") and column.dt.hour.fillna(0).any()
        return "datetime" if has_times else "date"
    if kind.startswith("timestamp"):
        return "datetime"
    if kind.startswith(("timedelta", "duration")):
        return "duration"
    return "date" if kind.startswith("period") else "other"


def _is_dictionary(dtype: Any) -> bool:
    """Whether a type of pandas is Arrow's of dictionaries."""
    kind = getattr(dtype, "pyarrow_dtype", None)
    return kind is not None and bool(sys.modules["pyarrow"].types.is_dictionary(kind))


def _is_null(dtype: Any) -> bool:
    """Whether a type of pandas is Arrow's of missing values only."""
    kind = getattr(dtype, "pyarrow_dtype", None)
    return kind is not None and bool(sys.modules["pyarrow"].types.is_null(kind))


class _PolarsTable(InputTable):
    def __init__(self, frame: Any) -> None:
        super().__init__(frame, frame.columns)

    def declares_categorical(self, j: int) -> bool:
        polars = sys.modules["polars"]
        return isinstance(self.source.to_series(j).dtype, polars.Categorical | polars.Enum)

    def find_kind(self, j: int) -> ColumnKind:
        polars, dtype = sys.modules["polars"], self.source.to_series(j).dtype
        if dtype == polars.String:
            return "text"
        return "missing" if dtype == polars.Null else super().find_kind(j)

    def numeric(self, j: int) -> Column:
        polars, column = sys.modules["polars"], self.source.to_series(j)
        if self.declares_categorical(j):
            raise _not_listed(self.label(j))
        if column.dtype in (polars.Boolean, polars.Null):
            return np.asarray(column.cast(polars.Float32).to_numpy())
        if not column.dtype.is_numeric():
            faults: dict[Any, Fault] = {
                polars.String: "text",
                polars.Date: "date",
                polars.Datetime: "datetime",
                polars.Duration: "duration",
            }
            fault = faults.get(column.dtype.base_type(), "other")
            raise _refuse("polars", self, j, column.dtype, fault)
        if column.dtype.is_decimal() or is_wide(column):
            column = column.cast(polars.Float64)
        return _as_real(column.to_numpy(), self.label(j))

    def categorical(self, j: int) -> CategoricalColumn:
        polars, column = sys.modules["polars"], self.source.to_series(j)
        if column.dtype == polars.Categorical:
            # Its codes depend on every other categorical of the process; an Enum's do not.
            values = column.unique().drop_nulls().cast(polars.String).sort()
            column = column.cast(polars.Enum(values))
        if isinstance(column.dtype, polars.Enum):
            values = column.dtype.categories.to_list()
            physical = column.to_physical().cast(polars.Int64)
            return _clean_categories(physical.fill_null(-1).to_numpy(), values, self.label(j))
        if column.dtype.is_numeric() and not column.dtype.is_decimal() and not is_wide(column):
            return factorize(column.to_numpy(), self.label(j))
        return factorize(make_objects(column.to_list()), self.label(j))

    def values(self, j: int) -> Any:
        column = self.source.to_series(j)
        return make_objects(column.to_list()) if is_wide(column) else column.to_numpy()

    def rows(self, start: int, stop: int) -> "_PolarsTable":
        return _PolarsTable(self.source.slice(start, stop - start))


class _ArrowTable(InputTable):
    def __init__(self, table: Any) -> None:
        super().__init__(table, table.column_names)

    def declares_categorical(self, j: int) -> bool:
        return bool(sys.modules["pyarrow"].types.is_dictionary(self.source.schema.field(j).type))

    def find_kind(self, j: int) -> ColumnKind:
        types, kind = sys.modules["pyarrow"].types, self.source.schema.field(j).type
        if _is_arrow_text(kind):
            return "text"
        return "missing" if types.is_null(kind) else super().find_kind(j)

    def numeric(self, j: int) -> Column:
        arrow, column = sys.modules["pyarrow"], self.source.column(j)
        if self.declares_categorical(j):
            raise _not_listed(self.label(j))
        if arrow.types.is_boolean(column.type):
            column = column.cast(arrow.int8())
        elif arrow.types.is_decimal(column.type):
            # Through text: Arrow's cast is a bit off what other libraries read.
            column = column.cast(arrow.string()).cast(arrow.float64())
        elif arrow.types.is_null(column.type):
            column = column.cast(arrow.float64())
        elif not (arrow.types.is_integer(column.type) or arrow.types.is_floating(column.type)):
            raise _refuse("pyarrow", self, j, column.type, _find_arrow_fault(column.type))
        return _as_real(column.to_numpy(), self.label(j))

    def categorical(self, j: int) -> CategoricalColumn:
        column = self.source.column(j)
        if self.declares_categorical(j):
            return _read_dictionary(column, self.label(j))
        return factorize(make_objects(column.to_pylist()), self.label(j))

    def values(self, j: int) -> Any:
        return self.source.column(j).to_numpy()

    def rows(self, start: int, stop: int) -> "_ArrowTable":
        return _ArrowTable(self.source.slice(start, stop - start))

    def appends_categories(self, j: int) -> bool:
        return self.declares_categorical(j)  # the order of unified dictionaries


def _is_arrow_text(kind: Any) -> bool:
    types = sys.modules["pyarrow"].types
    views = getattr(types, "is_string_view", lambda _: False)  # since Arrow 16
    return bool(types.is_string(kind) or types.is_large_string(kind) or views(kind))


def _find_arrow_fault(kind: Any) -> Fault:
    """Return the reason why an Arrow column holds no numbers."""
    types = sys.modules["pyarrow"].types
    if _is_arrow_text(kind):
        return "text"
    if types.is_date(kind):
        return "date"
    if types.is_timestamp(kind):
        return "datetime"
    return "duration" if types.is_duration(kind) else "other"


def _read_dictionary(column: Any, label: str) -> CategoricalColumn:
    """Return a chunked Arrow column of dictionaries as categories."""
    encoded = column.unify_dictionaries().combine_chunks()
    codes = encoded.indices.cast("int64").fill_null(-1).to_numpy()
    return _clean_categories(codes, encoded.dictionary.to_pylist(), label)


def open_array(array: Column) -> InputTable:
    """Open an array that `is_plain`."""
    return _ArrayTable(array)


def _validate(model: Any, X: Any, **settings: Any) -> Any:
    """Check `X` as scikit-learn does; a model that only predicts is described to it."""
    # Imported on use: a server of single rows is up before scikit-learn is imported.
    from sklearn.utils.validation import validate_data

    if not hasattr(model, "get_params"):
        from properboost.data.recorder import NameRecorder

        model = NameRecorder.of(model)
    return validate_data(model, X, **settings)


def open_table(model: Any, X: Any, *, reset: bool) -> InputTable:
    """Check the shape and the column names of `X` as scikit-learn does, and open it."""
    if isinstance(X, RowTable):
        return X
    if isinstance(X, InputTable):
        raise TypeError(
            f"X must be rows; got a {type(X).__name__}, which has codes and no values: models of "
            "its bins are fitted to it and predict it, but no other method accepts it"
        )
    if isinstance(X, np.ma.MaskedArray):
        raise TypeError("X is a masked array: pass X.astype(float).filled(numpy.nan)")
    if reset:
        keep_names(model, None)
    if is_plain(X, 2) and (reset or _was_fitted_on(model, X)):
        # scikit-learn's checks would do no more here, and take more time.
        if reset:
            model.n_features_in_ = X.shape[1]
        return _ArrayTable(X)
    frame = open_frame(X)
    if frame is None:
        _check_in_memory(X)
        _refuse_rows(X)
        checked = _validate(
            model, X, reset=reset, dtype=None, ensure_all_finite=False, accept_sparse="csr"
        )
        is_dense = isinstance(checked, np.ndarray)
        return _ArrayTable(checked) if is_dense else _SparseTable(checked, None)
    _check_columns(model, frame, reset=reset)
    _refuse_empty(model, frame)
    return frame


def _check_columns(model: Any, frame: InputTable, *, reset: bool) -> None:
    """Check the names of a table's columns, or store them in the model."""
    names = frame.frame_names if isinstance(frame, _PandasTable) else frame.names or ()
    if not reset and are_names_of(model, names):
        return  # scikit-learn's check would do no more, and take as long as a row's prediction
    try:
        _validate(model, frame.source, reset=reset, skip_check_array=True)
    except ValueError as error:  # scikit-learn quotes names as they are
        raise ValueError(make_lines_printable(str(error))) from None
    if reset:
        keep_names(model, name_columns(names))
    elif (warning := check_names(model, names)) is not None:
        warn(warning)


def _refuse_empty(model: Any, frame: InputTable) -> None:
    """Refuse a table without rows or columns, in scikit-learn's words."""
    for count, what in ((frame.n_rows, "sample"), (frame.n_features, "feature")):
        if count == 0:
            raise ValueError(
                f"Found a table with 0 {what}(s) (shape={(frame.n_rows, frame.n_features)}) while "
                f"a minimum of 1 is required by {type(model).__name__}."
            )


def take_single_row(X: Any, names: list[Any]) -> list[Any] | None:
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


def take_rows(source: Any, positions: NDArray[np.int64]) -> Any:
    """Return some rows of a numpy array or of a pandas, polars or Arrow table, of the same type."""
    # scikit-learn's function for this is private and, before 1.7, does not take Arrow tables.
    if isinstance(source, np.ndarray) or not hasattr(source, "take"):
        return source[positions]
    return source.take(positions)


def _was_fitted_on(model: Any, X: NDArray[Any]) -> bool:
    """Whether the model expects this number of unnamed columns."""
    return not has_names(model) and model.n_features_in_ == X.shape[1]


def find_categorical(
    categorical_features: CategoricalFeatures,
    table: InputTable,
    kinds: Sequence[ColumnKind] | None = None,
) -> tuple[list[int], bool]:
    """Return the positions of the categorical features, and whether types decided them.

    `kinds` has what each column holds, where `table` has only a part of the rows.
    """
    if categorical_features is None:
        return [], False
    allowed = "'from_dtype', None, a list of positions or names, or a boolean mask"
    if isinstance(categorical_features, str):
        if categorical_features != "from_dtype":
            raise ValueError(
                f"categorical_features must be {allowed}; got {categorical_features!r}"
            )
        if kinds is None:
            kinds = [table.find_kind(j) for j in range(table.n_features)]
        return [j for j, kind in enumerate(kinds) if kind in ("categories", "text")], True
    listed = np.asarray(categorical_features, dtype=object)
    if listed.ndim != 1:
        raise ValueError(f"categorical_features must be {allowed}; got {categorical_features!r}")
    if len(listed) and all(isinstance(entry, bool | np.bool_) for entry in listed):
        if len(listed) != table.n_features:
            raise ValueError(
                f"categorical_features, as a mask, must have one entry per column of X, "
                f"{table.n_features}; got {len(listed)}"
            )
        return np.flatnonzero(listed).tolist(), False
    argument = "categorical_features"
    positions = {find_feature(f, table.names, table.n_features, argument) for f in listed}
    return sorted(positions), False


def find_texts(table: InputTable, categorical: Sequence[int], from_dtype: bool) -> list[int]:
    """Return the categorical features that are so for holding text, and not by the user's word."""
    return [j for j in categorical if from_dtype and table.find_kind(j) == "text"]


def find_feature(
    feature: Any, names: Sequence[str] | None, n_features: int, argument: str = "feature"
) -> int:
    """Return the position of a feature given by position or name."""
    if isinstance(feature, str):
        positions = [] if names is None else [j for j, name in enumerate(names) if name == feature]
        if len(positions) != 1:
            known = "no names" if names is None else f"{list(names)}"
            problem = "is not unique" if positions else "is unknown"
            raise ValueError(f"{argument}: the name {feature!r} {problem}; X had {known}")
        return positions[0]
    return checks.integer(argument, feature, 0, n_features - 1)


def _check_in_memory(X: Any) -> None:
    """Refuse data outside memory: scikit-learn would load it, or fail with another message."""
    streams = hasattr(X, "__arrow_c_stream__") and not hasattr(X, "__array__")
    streams = streams or is_a(X, "pyarrow.dataset", "Dataset")
    in_dask = hasattr(X, "__dask_graph__")
    if isinstance(X, str | PathLike | Iterator) or in_dask or streams:
        classifiers = "properboost.dask has classifiers of Dask collections; " if in_dask else ""
        raise TypeError(
            f"X must be a table in memory; got {type(X).__module__}.{type(X).__name__}: "
            f"{classifiers}fit(pb.QuantizedTable.from_batches(source, label=...)) reads rows in "
            "batches, as those of Parquet files, and pb.batches predicts them"
        )


def _refuse_rows(X: Any) -> None:
    """Refuse rows that are dicts or series: only scorers read them, and the line is theirs."""
    if is_a(X, "pandas", "Series"):
        raise ValueError(
            "Expected a 2-dimensional container; got a pandas Series: for the row df.iloc[k] pass "
            "df.iloc[[k]], for the column df[name] pass df[[name]], or let model.compile() score "
            "the row"
        )
    entry = X[0] if isinstance(X, list | tuple) and len(X) else X
    if isinstance(entry, Mapping) and not hasattr(entry, "tocsr"):  # a sparse matrix may be a dict
        raise ValueError(
            f"X must be a table; got {'rows' if entry is not X else 'a row'} as "
            f"{type(entry).__name__}: pass pandas.DataFrame({'X' if entry is not X else '[X]'}), "
            "or let model.compile() score them"
        )


def open_frame(X: Any) -> InputTable | None:
    """Open `X` if it is a table of named columns; None if it is anything else."""
    if is_a(X, "pandas", "DataFrame"):
        return _PandasTable(X)
    if is_a(X, "polars", "DataFrame"):
        return _PolarsTable(X)
    if is_a(X, "polars", "LazyFrame"):
        raise TypeError(
            "X is a polars LazyFrame: pass X.collect(), or fit pb.QuantizedTable.from_batches(X, "
            "label=...)"
        )
    if is_a(X, "pyarrow", "RecordBatch"):
        return _ArrowTable(sys.modules["pyarrow"].Table.from_batches([X]))
    if is_a(X, "pyarrow", "Table"):
        return _ArrowTable(X)
    return None


# numpy would silently convert them to floats: '1.5', or a date to days.
NEVER_NUMBERS = (str, bytes, np.datetime64, np.timedelta64)
"""Types of values that are refused in numeric columns."""


def _as_real(values: Column, label: str | None = None) -> Column:
    """Return real numbers in a type that the engine reads, converted if need be.

    Without a `label`, `values` are all columns.
    """
    if values.dtype.kind == "b":
        return values.view(np.uint8)
    if values.dtype.kind == "f" and values.dtype.itemsize == 2:
        return values.astype(np.float32)
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        with np.errstate(over="ignore"):
            converted = values.astype(np.float64)
        _refuse_overflow(converted, values, label)
        return converted
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def _numbers(values: Column, label: str, library: Library = "numpy", name: object = None) -> Column:
    if values.dtype.kind in "biuf":
        return _as_real(values, label)
    if (fault := _find_fault(values)) is not None:
        raise refuse_column(library, label, name, values.dtype, fault)
    try:
        with np.errstate(over="ignore"):
            converted = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"X: {label} holds a value that is not a number: {error}") from error
    except OverflowError as error:
        raise ValueError(f"X: {label} holds an integer beyond float64: {error}") from error
    _refuse_overflow(converted, values, label)
    return converted


def _find_fault(values: Column) -> Fault | None:
    """Return the reason why an array that is not of numbers cannot be read as such, by its type."""
    if values.dtype != object:
        faults: dict[str, Fault] = {"U": "text", "M": "datetime", "m": "duration"}
        return faults.get(values.dtype.kind, "other")
    types = set(map(type, values.tolist()))
    if any(issubclass(t, date) for t in types):
        return "dates as objects"
    if not any(issubclass(t, NEVER_NUMBERS) for t in types):
        return None
    if not any(issubclass(t, str) for t in types):
        return "other"
    return "text" if _find_kind_of_objects(values) == "text" else "mixed"


def _find_kind_of_objects(values: Column) -> ColumnKind:
    """Return what a column of objects holds."""
    objects = values.tolist()
    types = set(map(type, objects))
    if not any(issubclass(t, str) for t in types):
        return "missing" if all(map(is_missing, objects)) else "numbers"
    rest = (value for value in objects if not isinstance(value, str))
    return "text" if all(map(is_missing, rest)) else "numbers"


def _fill_missing(values: NDArray[np.object_]) -> NDArray[np.object_]:
    """Return objects with NaN in the place of each library's mark of missing values."""
    if not any(t.__name__ == "NAType" for t in set(map(type, values.tolist()))):
        return values
    return make_objects([np.nan if is_missing(value) else value for value in values.tolist()])


def _refuse(library: Library, table: InputTable, j: int, kind: object, fault: Fault) -> ColumnError:
    names = table.frame_names if isinstance(table, _PandasTable) else table.names or ()
    return refuse_column(library, table.label(j), names[j], kind, fault)


def _refuse_overflow(converted: NDArray[np.float64], values: Column, label: str | None) -> None:
    """Refuse numbers that became infinite."""
    lost = np.isinf(converted)
    lost[lost] = values[lost] != converted[lost]
    if lost.any():
        if label is None:
            label = f"column {np.argwhere(lost)[0][1]}"
        raise ValueError(f"X: {label} holds a number beyond float64: {values[lost][0]!s}")


def factorize(values: Column, label: str) -> CategoricalColumn:
    """Return the distinct values of a column in ascending order, and which one each row holds."""
    if values.dtype.kind in "biuf":
        numbers, codes = np.unique(values, return_inverse=True)
        return _clean_categories(codes.astype(np.int64), numbers.tolist(), label)
    if values.dtype.kind in "OUT":
        index: dict[Any, int] = {}
        try:
            codes = np.fromiter(
                (index.setdefault(v, len(index)) for v in values.tolist()), np.int64, len(values)
            )
        except TypeError as error:  # unhashable
            raise TypeError(f"X: {label}: {error}") from error
        codes, distinct = sort_categories(codes, list(map(_plain, index)))
        return _clean_categories(codes, distinct, label)
    raise _not_categories(label, str(values.dtype))


def sort_categories(
    codes: NDArray[np.int64], values: list[Any]
) -> tuple[NDArray[np.int64], list[Any]]:
    """Order the categories by value instead of by first appearance."""

    def key(k: int) -> tuple[bool, Any]:
        value = values[k]
        if isinstance(value, str):
            return True, value
        return False, value if isinstance(value, int | float) and not is_missing(value) else 0

    order = sorted(range(len(values)), key=key)
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values))
    return rank[codes], [values[k] for k in order]


def _clean_categories(
    codes: NDArray[np.int64], values: Iterable[Any], label: str
) -> CategoricalColumn:
    """Return categories of plain Python, all different; missing ones get code -1."""
    code_of: dict[Category, int] = {}
    new_code = []
    for value in values:
        if is_missing(value):
            new_code.append(-1)
            continue
        plain = _plain(value)
        if not isinstance(plain, str | int | float):
            raise _not_categories(label, type(plain).__name__)
        new_code.append(code_of.setdefault(plain, len(code_of)))  # dictionaries may repeat values
    if len(code_of) < len(new_code):
        codes = np.array([*new_code, -1], dtype=np.int64)[codes]  # code -1 reads the last
    return CategoricalColumn(codes, tuple(code_of))


def _plain(value: Any) -> Any:
    """Return a category as a plain Python value; decimals as integers or floats."""
    if isinstance(value, np.generic) and not isinstance(value, np.str_):
        return value.item()
    if type(value) in (str, int, float, bool):
        return value
    if isinstance(value, str):  # for example a member of an Enum, whose str is another text
        return str.__str__(value)
    if isinstance(value, int | float):
        return int(value) if isinstance(value, int) else float(value)
    if isinstance(value, Decimal) and value.is_finite():
        return int(value) if value == value.to_integral_value() else float(value)
    return float(value) if isinstance(value, Decimal) and not value.is_nan() else value


def _not_listed(label: str) -> ColumnError:
    return ColumnError(
        f"X: {label} holds categories where numbers are expected: fit with "
        "categorical_features='from_dtype', or name the column there; predict with the same kind "
        "of column"
    )


def _not_categories(label: str, kind: str) -> ColumnError:
    return ColumnError(
        f"X: {label} holds {kind}; categories must be strings, numbers or booleans: make strings "
        "of them, as pandas' .astype(str).astype('category') does"
    )
