"""Tables: the user's X, read one column at a time and never copied as a whole.

X is a two-dimensional numpy array, or a pandas, polars or Arrow table.  None of these three
libraries is imported here: a table of a library exists only once its user imported it.
"""

import sys
from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.cached import cached_property
from properboost.data.libraries import is_a, is_wide, make_objects
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
    Column,
    ColumnKind,
    InputTable,
    RowTable,
    SparseColumns,
    is_plain,
)
from properboost.data.values import (
    clean_categories,
    factorize,
    fill_missing,
    find_kind_of_objects,
    make_numbers,
    make_real,
    refuse_categories,
)
from properboost.notices import warn
from properboost.visible import make_lines_printable

__all__ = [
    "open_array",
    "open_frame",
    "open_table",
    "take_rows",
]


class _ArrayTable(InputTable):
    def __init__(self, array: Column) -> None:
        super().__init__(array, names=None)
        self._real = make_real(array) if array.dtype.kind in "biuf" else None

    @property
    def array(self) -> Column | None:
        return self._real

    def declares_categorical(self, _: int) -> bool:
        return False

    def find_kind(self, j: int) -> ColumnKind:
        is_object = self.source.dtype == object
        return find_kind_of_objects(self.source[:, j]) if is_object else "numbers"

    def numeric(self, j: int) -> Column:
        return make_numbers(self.source[:, j], self.label(j))

    def categorical(self, j: int) -> CategoricalColumn:
        return factorize(self.source[:, j], self.label(j))

    def values(self, j: int) -> Any:
        return self.source[:, j]

    def rows(self, start: int, stop: int) -> "_ArrayTable":
        return _ArrayTable(self.source[start:stop])


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
        return SparseColumns(starts, indices.astype(np.int32, copy=False), make_real(values))

    def declares_categorical(self, _: int) -> bool:
        return False

    def numeric(self, j: int) -> Column:
        return make_numbers(self.values(j), self.label(j))

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
            return find_kind_of_objects(column.to_numpy())
        is_string = sys.modules["pandas"].api.types.is_string_dtype(column.dtype)
        return "text" if is_string else "numbers"

    def appends_categories(self, j: int) -> bool:
        return _is_dictionary(self._columns[j].dtype)  # the order of unified dictionaries

    def numeric(self, j: int) -> Column:
        pandas, column = sys.modules["pandas"], self._columns[j]
        dtype = column.dtype
        if self.declares_categorical(j):
            raise refuse_categories(self.label(j))
        if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
            return make_real(column.to_numpy(), self.label(j))
        if isinstance(dtype, pandas.SparseDtype) and dtype.kind in "biuf":
            return make_real(np.asarray(column), self.label(j))
        types = pandas.api.types
        number = types.is_numeric_dtype(dtype) or types.is_bool_dtype(dtype) or _is_null(dtype)
        if number and dtype.kind != "c":
            # The nullable types: their missing values become NaN.
            single = dtype.kind == "f" and dtype.itemsize == 4
            kind = np.float32 if single else np.float64
            return np.asarray(column.to_numpy(dtype=kind, na_value=np.nan))
        if _is_object(dtype):
            objects = fill_missing(column.to_numpy())
            return make_numbers(objects, self.label(j), "pandas", self.frame_names[j])
        raise _refuse("pandas", self, j, dtype, _find_pandas_fault(column))

    def categorical(self, j: int) -> CategoricalColumn:
        column = self._columns[j]
        if _is_dictionary(column.dtype):
            return _read_dictionary(column.array.__arrow_array__(), self.label(j))
        if self.declares_categorical(j):
            codes = column.cat.codes.to_numpy().astype(np.int64)
            return clean_categories(codes, column.cat.categories.tolist(), self.label(j))
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
            raise refuse_categories(self.label(j))
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
        return make_real(column.to_numpy(), self.label(j))

    def categorical(self, j: int) -> CategoricalColumn:
        polars, column = sys.modules["polars"], self.source.to_series(j)
        if column.dtype == polars.Categorical:
            # Its codes depend on every other categorical of the process; an Enum's do not.
            values = column.unique().drop_nulls().cast(polars.String).sort()
            column = column.cast(polars.Enum(values))
        if isinstance(column.dtype, polars.Enum):
            values = column.dtype.categories.to_list()
            physical = column.to_physical().cast(polars.Int64)
            return clean_categories(physical.fill_null(-1).to_numpy(), values, self.label(j))
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
            raise refuse_categories(self.label(j))
        if arrow.types.is_boolean(column.type):
            column = column.cast(arrow.int8())
        elif arrow.types.is_decimal(column.type):
            # Through text: Arrow's cast is a bit off what other libraries read.
            column = column.cast(arrow.string()).cast(arrow.float64())
        elif arrow.types.is_null(column.type):
            column = column.cast(arrow.float64())
        elif not (arrow.types.is_integer(column.type) or arrow.types.is_floating(column.type)):
            raise _refuse("pyarrow", self, j, column.type, _find_arrow_fault(column.type))
        return make_real(column.to_numpy(), self.label(j))

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
    return clean_categories(codes, encoded.dictionary.to_pylist(), label)


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


def take_rows(source: Any, positions: NDArray[np.int64]) -> Any:
    """Return some rows of a numpy array or of a pandas, polars or Arrow table, of the same type."""
    # scikit-learn's function for this is private and, before 1.7, does not take Arrow tables.
    if isinstance(source, np.ndarray) or not hasattr(source, "take"):
        return source[positions]
    return source.take(positions)


def _was_fitted_on(model: Any, X: NDArray[Any]) -> bool:
    """Whether the model expects this number of unnamed columns."""
    return not has_names(model) and model.n_features_in_ == X.shape[1]


def _check_in_memory(X: Any) -> None:
    """Refuse data outside memory: scikit-learn would load it, or fail with another message."""
    streams = hasattr(X, "__arrow_c_stream__") and not hasattr(X, "__array__")
    streams = streams or is_a(X, "pyarrow.dataset", "Dataset")
    in_dask = hasattr(X, "__dask_graph__")
    if isinstance(X, str | PathLike | Iterator) or in_dask or streams:
        others = "properboost.dask has classifiers of Dask collections; " if in_dask else ""
        if isinstance(X, str | PathLike):
            others = "pandas.read_csv(X) or read_parquet(X) reads a file; "
        raise TypeError(
            f"X must be a table in memory; got {type(X).__module__}.{type(X).__name__}: "
            f"{others}fit(pb.QuantizedTable.from_batches(source, label=...)) reads rows in "
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
        if any(isinstance(value, list | np.ndarray) for value in entry.values()):
            raise ValueError("X must be a table; got a dict of columns: pass pandas.DataFrame(X)")
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


def _refuse(library: Library, table: InputTable, j: int, kind: object, fault: Fault) -> ColumnError:
    names = table.frame_names if isinstance(table, _PandasTable) else table.names or ()
    return refuse_column(library, table.label(j), names[j], kind, fault)
