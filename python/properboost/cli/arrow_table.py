"""Parquet and Arrow files for the command line, by pyarrow: columns as `csv_table` makes them."""

import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from properboost.cli.csv_table import FileError, check_header, import_pandas

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["SUFFIXES", "is_arrow", "make_arrow", "read_arrow"]

PARQUET = ".parquet"
SUFFIXES = (PARQUET, ".arrow", ".feather")

_FILE, _OLD_FEATHER = b"ARROW1", b"FEA1"  # what files begin with; others are streams
_INDEX = re.compile(r"__index_level_[0-9]+__")
_AT_ONCE = 2**22  # bytes of a file that are written together


def is_arrow(file: str) -> bool:
    """Whether a file is Parquet or Arrow, by its suffix."""
    return Path(file).suffix in SUFFIXES


def _import_pyarrow() -> Any:
    """Return pyarrow, or say how to get it."""
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
    what pandas wrote as categories are text, whatever they hold.  Columns that are not needed are
    there, but empty; an index without a name, which pandas wrote, is not.
    """
    pyarrow, pandas = _import_pyarrow(), import_pandas()
    try:
        table = _read(file)
        names = [name for name in table.column_names if not _INDEX.fullmatch(name)]
        check_header(names, file)
        texts = {*text, *(_find_categories(pyarrow, table.schema) if categories else ())}
        columns = {}
        for name in names:
            column = table.column(name)
            if not is_needed(name):
                columns[name] = pandas.Series(np.full(len(table), np.nan))
            elif name in texts:
                columns[name] = _as_text(pyarrow, column, file, name)
            else:
                columns[name] = _as_it_is(pyarrow, column, file, name, is_label=name == labels)
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise FileError(f"{file}: {error}") from error
    frame: DataFrame = pandas.DataFrame(columns)
    if len(frame) == 0:
        raise FileError(f"{file}: there are no rows")
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


def _find_categories(pyarrow: Any, schema: Any) -> list[str]:
    """Return the dictionaries, and what pandas wrote as categories: Parquet keeps those of text."""
    known = (schema.pandas_metadata or {}).get("columns", [])
    of_pandas = [entry["field_name"] for entry in known if entry["pandas_type"] == "categorical"]
    return [*of_pandas, *(f.name for f in schema if pyarrow.types.is_dictionary(f.type))]


def _as_it_is(pyarrow: Any, column: Any, file: str, name: str, *, is_label: bool) -> "Series[Any]":
    types = pyarrow.types
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    if column.null_count == len(column):
        column = pyarrow.nulls(len(column))  # a dictionary has no cast to numbers
        kind = pyarrow.float64()
    elif is_text:
        kind = pyarrow.large_string()
    elif types.is_boolean(kind):
        kind = kind if is_label else pyarrow.uint8()
    elif types.is_decimal(kind):
        kind = pyarrow.float64()
    elif types.is_float16(kind):
        kind = pyarrow.float32()
    elif not (types.is_integer(kind) or types.is_floating(kind)):
        raise FileError(
            f"{file}: column {name!r} holds {kind}, not numbers, text, booleans or categories; "
            "--drop leaves it out"
        )
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    series: Series[Any] = column.cast(kind).to_pandas()
    return series


def _as_text(pyarrow: Any, column: Any, file: str, name: str) -> "Series[Any]":
    """Return a column as the text that its values would be in a CSV file; 1.0 is 1."""
    plain = _as_it_is(pyarrow, column, file, name, is_label=True)
    known = {value: _write(value) for value in plain.dropna().unique().tolist()}
    texts: Series[Any] = plain.map(known).astype(import_pandas().StringDtype(na_value=np.nan))
    return texts


def _write(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def make_arrow(frame: "DataFrame", file: str) -> Iterator[memoryview]:
    """Yield the pieces of a Parquet or Arrow file, as its suffix says."""
    pyarrow = _import_pyarrow()
    from pyarrow import ipc, parquet

    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    sink = pyarrow.BufferOutputStream()
    if Path(file).suffix == PARQUET:
        parquet.write_table(table, sink)
    else:
        with ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    content = memoryview(sink.getvalue())
    for begin in range(0, len(content), _AT_ONCE):
        yield content[begin : begin + _AT_ONCE]
