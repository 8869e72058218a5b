"""Reading CSV files for the command line: cells as numbers or as the text they are."""

import io
import sys
import warnings
import zlib
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from types import ModuleType

    from pandas import DataFrame, Series

__all__ = [
    "MISSING",
    "FileError",
    "check_header",
    "first_text",
    "import_pandas",
    "is_numeric",
    "list_names",
    "name_source",
    "read_csv",
    "require",
]

MISSING = ("NA", "NaN", "nan", "null")

_NOT_CSV = {
    b"PAR1": "Parquet, whose names end with .parquet",
    b"ARROW1": "Arrow, whose names end with .arrow or .feather",
    b"FEA1": "Feather, whose names end with .feather",
    b"\x1f\x8b": "gzip, whose names end with .gz",
    b"PK\x03\x04": "a zip archive or a spreadsheet",
    b"\xd0\xcf\x11\xe0": "a spreadsheet",
    b"SQLite format 3": "a database",
}
"""Other files, by what they begin with."""


class FileError(Exception):
    """Something is wrong with a file; the message is one line for the user."""


def import_pandas() -> "ModuleType":
    """Return pandas, or say how to get it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("CSV files need pandas: pip install 'properboost[cli]'") from error
    return pandas


def read_csv(
    file: str, text: Collection[str], *, sep: str, na: Sequence[str] | None
) -> "DataFrame":
    """Read a CSV file: numbers as numbers, everything else and the columns `text` as strings.

    `file` is a path or "-" for the standard input; cells that are empty or in `na` (by default,
    `MISSING`) are missing.
    """
    pandas = import_pandas()
    try:
        source = _open(file)
        if pandas.io.common.infer_compression(file, "infer") is None:
            _check_kind(source, name_source(file))
        frame = _read_cells(pandas, source, name_source(file), text, sep, na or MISSING)
    except pandas.errors.EmptyDataError as error:
        raise FileError(f"{name_source(file)}: the file is empty") from error
    except pandas.errors.ParserWarning as error:
        raise FileError(f"{name_source(file)}: rows have more cells than the header") from error
    except OSError as error:
        raise FileError(f"{name_source(file)}: {error.strerror or error}") from error
    except (EOFError, ValueError, zlib.error) as error:
        raise FileError(f"{name_source(file)}: {error}") from error
    if len(frame) == 0:
        raise FileError(f"{name_source(file)}: there are no rows below the header")
    return frame


def _read_cells(
    pandas: "ModuleType",
    source: Path | IO[bytes],
    name: str,
    text: Collection[str],
    sep: str,
    na: Sequence[str],
) -> "DataFrame":
    settings = {"sep": sep, "keep_default_na": False, "encoding": "utf-8"}
    header = _parse(pandas, source, **settings, header=None, nrows=1, dtype=str)
    names = header.iloc[0].tolist()
    check_header(names, name)
    settings["na_values"] = ["", *na]
    types = {n: str for n in names if n in text}
    frame: DataFrame = _parse(pandas, source, **settings, dtype=types, low_memory=False)
    # pandas turns TRUE and true into True, but their text matters; and it turns integers beyond 64
    # bits into text, but they are numbers.
    inferred = [n for n in names if n not in text and not is_numeric(frame[n])]
    truths = [n for n in inferred if pandas.api.types.infer_dtype(frame[n]) == "boolean"]
    if truths:
        frame[truths] = _parse(pandas, source, **settings, dtype=str, usecols=truths)
    for column in inferred:
        numbers = pandas.to_numeric(frame[column], errors="coerce")
        if numbers.notna().equals(frame[column].notna()):
            frame[column] = numbers.astype(np.float64)
    return frame


def name_source(file: str) -> str:
    """Return how messages call a file; "-" is the standard input."""
    return "stdin" if file == "-" else file


def _open(file: str) -> Path | IO[bytes]:
    """Return what can be read more than once: a file, or the whole content of a pipe."""
    if file == "-":
        return io.BytesIO(sys.stdin.buffer.read())
    path = Path(file)
    return io.BytesIO(path.read_bytes()) if path.is_fifo() else path


def _check_kind(source: Path | IO[bytes], name: str) -> None:
    """Complain of a file that is not CSV, by name."""
    length = max(map(len, _NOT_CSV))
    if isinstance(source, Path):
        with source.open("rb") as file:
            begin = file.read(length)
    else:
        begin = source.read(length)
    for magic, kind in _NOT_CSV.items():
        if begin.startswith(magic):
            raise FileError(f"{name}: the file is not CSV but {kind}")


def _parse(pandas: "ModuleType", source: Path | IO[bytes], **settings: Any) -> Any:
    if isinstance(source, io.BytesIO):
        source.seek(0)
    with warnings.catch_warnings():
        # If rows are longer than the header, pandas would take the first column as an index; told
        # not to, it would drop the last column with a warning (except an empty one, after a final
        # comma).
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        return pandas.read_csv(source, index_col=False, **settings)


def check_header(names: Sequence[str], file: str) -> None:
    """Complain of names that are empty, or there more than once."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise FileError(f"{file}: the header has {list_names(twice)} more than once")
    if "" in names:
        raise FileError(f"{file}: column {names.index('') + 1} of the header has no name")


def require(frame: "DataFrame", names: Iterable[str]) -> None:
    """Complain of columns that are not there."""
    missing = [name for name in dict.fromkeys(names) if name not in frame.columns]
    if missing:
        columns = "column" if len(missing) == 1 else "columns"
        there = list_names(frame.columns.tolist())
        raise FileError(f"the file lacks the {columns} {list_names(missing)}; it has {there}")


def list_names(names: Sequence[Any], most: int = 10) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(name) for name in names[:most]) + more


def is_numeric(column: "Series[Any]") -> bool:
    """Whether a column as `read_csv` makes them holds numbers."""
    return column.dtype.kind in "iuf"


def first_text(column: "Series[Any]") -> tuple[int, str]:
    """Return the first cell that is not a number: its row, counted from 1, and the cell.

    Where all are numbers that are written as text it is the first of these.
    """
    numbers = import_pandas().to_numeric(column, errors="coerce")
    cells = np.flatnonzero(numbers.isna() & column.notna())
    at = int(cells[0] if len(cells) else np.flatnonzero(column.notna())[0])
    return int(column.index[at]) + 1, str(column.iloc[at])
