"""Parquet and Arrow files for the command line, by pyarrow: columns as `csv_table` makes them."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from properboost.cli.csv_table import FileError, check_header, import_pandas

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = [
    "PARQUET",
    "SUFFIXES",
    "find_categories",
    "find_names",
    "find_strings",
    "import_pyarrow",
    "is_arrow",
    "make_arrow",
    "make_frame",
    "name_errors",
    "read_arrow",
]

PARQUET = ".parquet"
SUFFIXES = (PARQUET, ".arrow", ".feather")

_FILE, _OLD_FEATHER = b"ARROW1", b"FEA1"  # the first bytes of files; others are streams
_INDEX = re.compile(r"__index_level_[0-9]+__")
_AT_ONCE = 2**22  # bytes of a file that are written together


def is_arrow(file: str) -> bool:
    """Whether a file is Parquet or Arrow, by its suffix."""
    return Path(file).suffix in SUFFIXES


def import_pyarrow() -> Any:
    """Return pyarrow, or raise an error with advice on installing it."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            "Parquet and Arrow files need pyarrow: pip install 'properboost[arrow]'"
        ) from error
    return pyarrow


def read_arrow(
    file: str,
    text: Collection[str],
    *,
    is_needed: Callable[[str], bool],
    labels: str | None,
    categories: bool,
) -> "DataFrame":
    """Read a file: numbers as numbers, and strings and the columns `text` as strings.

    Booleans are 0 and 1, except in the column of `labels`.  With `categories`, dictionaries and
    pandas' categories are text, whatever they hold.  Unneeded columns are present but empty;
    pandas' index without a name is absent.
    """
    with name_errors(file):
        table = _read(file)
        names = find_names(table.schema, file)
        texts = {*text, *(find_categories(table.schema) if categories else ())}
        frame = make_frame(
            table, file, texts, columns={name: is_needed(name) for name in names}, labels=labels
        )
    if len(frame) == 0:
        raise FileError(f"{file}: there are no rows")
    return frame


@contextmanager
def name_errors(file: str) -> Iterator[None]:
    """Have errors of pyarrow name the file."""
    try:
        yield
    except (import_pyarrow().ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise FileError(f"{file}: {error}") from error


def find_names(schema: Any, file: str) -> list[str]:
    """Return the columns of a file, without pandas' index."""
    names = [name for name in schema.names if not _INDEX.fullmatch(name)]
    check_header(names, file)
    return names


def make_frame(
    table: Any,
    file: str,
    texts: Collection[str],
    *,
    columns: Mapping[str, bool],
    labels: str | None,
) -> "DataFrame":
    """Return rows of a file as `read_arrow` does: these columns, empty if unneeded."""
    pyarrow, pandas = import_pyarrow(), import_pandas()
    made = {}
    for name, needed in columns.items():
        if not needed:
            made[name] = pandas.Series(np.full(len(table), np.nan))
        elif name in texts:
            made[name] = _as_text(pyarrow, table.column(name), file, name)
        else:
            column = table.column(name)
            made[name] = _as_it_is(pyarrow, column, file, name, is_label=name == labels)
    frame: DataFrame = pandas.DataFrame(made)
    return frame


def _read(file: str) -> Any:
    from pyarrow import feather, ipc, parquet

    if Path(file).suffix == PARQUET:
        # A file object: a path may be taken for a folder of parts, or for an address.
        with Path(file).open("rb") as stream:
            return parquet.read_table(stream)
    with Path(file).open("rb") as stream:
        begin = stream.read(len(_FILE))
        stream.seek(0)
        if begin.startswith(_OLD_FEATHER):
            return feather.read_table(stream)
        opened = ipc.open_file(stream) if begin == _FILE else ipc.open_stream(stream)
        return opened.read_all()


def find_categories(schema: Any) -> list[str]:
    """Return dictionaries and pandas' categories: Parquet keeps those of text."""
    known = (schema.pandas_metadata or {}).get("columns", [])
    of_pandas = [entry["field_name"] for entry in known if entry["pandas_type"] == "categorical"]
    is_dictionary = import_pyarrow().types.is_dictionary
    return [*of_pandas, *(f.name for f in schema if is_dictionary(f.type))]


def find_strings(schema: Any) -> list[str]:
    """Return the columns of strings."""
    types = import_pyarrow().types
    return [
        f.name
        for f in schema
        if types.is_string(f.type) or types.is_large_string(f.type) or types.is_string_view(f.type)
    ]


def _as_it_is(pyarrow: Any, column: Any, file: str, name: str, *, is_label: bool) -> "Series[Any]":
    types = pyarrow.types
    if column.null_count == len(column):
        column = pyarrow.nulls(len(column), pyarrow.float64())
    elif types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        kind = pyarrow.large_string()
    elif types.is_boolean(kind):
        kind = kind if is_label else pyarrow.uint8()
    elif types.is_decimal(kind):
        column = column.cast(pyarrow.string())  # a cast to float64 would be a bit off
        kind = pyarrow.float64()
    elif types.is_float16(kind):
        kind = pyarrow.float32()
    elif not (types.is_integer(kind) or types.is_floating(kind)):
        raise FileError(
            f"{file}: column {name!r} holds {kind}, not numbers, text, booleans or categories; "
            "--drop leaves it out"
        )
    series: Series[Any] = column.cast(kind).to_pandas()
    return series


def _as_text(pyarrow: Any, column: Any, file: str, name: str) -> "Series[Any]":
    """Return a column as the text of its values in a CSV file; 1.0 is 1."""
    plain = _as_it_is(pyarrow, column, file, name, is_label=True)
    known = {value: _write(value) for value in plain.dropna().unique().tolist()}
    texts: Series[Any] = plain.map(known).astype(_find_text_type())
    return texts


def _find_text_type() -> Any:
    """Return the type of text whose missing values are NaN, which pandas 2.2 lacks."""
    try:
        return import_pandas().StringDtype(na_value=np.nan)
    except TypeError:
        return object


def _write(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def make_arrow(frames: Iterable["DataFrame"], file: str) -> Iterator[memoryview]:
    """Yield the pieces of a file of rows in turn: Parquet or Arrow, by its suffix."""
    pyarrow = import_pyarrow()
    from pyarrow import ipc, parquet

    sink, schema, writer = _Sink(), None, None
    for frame in frames:
        table = pyarrow.Table.from_pandas(frame, schema=schema, preserve_index=False)
        if writer is None:
            schema = table.schema
            make = parquet.ParquetWriter if Path(file).suffix == PARQUET else ipc.new_file
            writer = make(sink, schema)
        writer.write_table(table)
        yield from sink.take()
    if writer is not None:
        writer.close()
    yield from sink.take()


class _Sink:
    """A file for pyarrow whose written bytes can be taken out."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: Any) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def take(self) -> Iterator[memoryview]:
        """Return the bytes written since the last call, cut into pieces."""
        pieces, self._pieces = self._pieces, []
        for piece in pieces:
            buffer = memoryview(piece)
            yield from (buffer[b : b + _AT_ONCE] for b in range(0, len(buffer), _AT_ONCE))
