"""CSV files for the command line, read as numbers or as text."""

import csv
import io
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from properboost.cli.csv_lines import Header, RowLines, count_lines, find_header
from properboost.cli.text_file import (
    CharacterCounts,
    FileError,
    TextFile,
    import_pandas,
    name_source,
)
from properboost.data.spelling import PLAIN, Spelling

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = [
    "MISSING",
    "CsvFormat",
    "FileError",
    "Note",
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

_SEPARATORS = {";": "';'", "\t": r"'\t'", "|": "'|'", ",": ","}
"""The usual separators of cells, as they are typed in a shell."""

Note: TypeAlias = Callable[[str], None]
"""Function that shows the user a note that is not an error."""


@dataclass(frozen=True)
class CsvFormat:
    """The format of CSV files.

    Attributes
    ----------
    sep : str
        The separator of cells.
    na : sequence of str
        Cells that are missing besides empty ones.
    encoding : str or None
        The encoding of the text; None is that of the file's byte-order mark, or UTF-8.
    spelling : Spelling
        The spelling of numbers.
    """

    sep: str = ","
    na: Sequence[str] = MISSING
    encoding: str | None = None
    spelling: Spelling = PLAIN


def read_csv(file: str, text: Collection[str], form: CsvFormat, note: Note) -> "DataFrame":
    """Read a CSV file: numbers as numbers, everything else and the columns `text` as strings.

    `file` is a path or "-" for the standard input.  There is a row for each line below the header,
    in their order.  In files of several columns, blank lines are no rows, and are noted.
    """
    name = name_source(file)
    with _name_errors(name):
        content = TextFile.open(file, form.encoding)
        counts = content.count(form.sep, '"')
        header = find_header(content, form.sep)
        check_header(header.names, name)
        frame = _read_rows(content, header, counts, text, form, note)
    if len(frame) == 0:
        raise FileError(f"{name}: there are no rows below the header")
    return frame


@contextmanager
def _name_errors(name: str) -> Iterator[None]:
    """Have errors name the file: those of the system, and those of the parser."""
    try:
        yield
    except OSError as error:
        raise FileError(f"{name}: {error.strerror or error}") from error
    except (csv.Error, ValueError) as error:
        raise FileError(f"{name}: {error}") from error


def _read_rows(
    content: TextFile,
    header: Header,
    counts: CharacterCounts,
    text: Collection[str],
    form: CsvFormat,
    note: Note,
) -> "DataFrame":
    """Read the rows, and check that there is one for each line."""
    errors, several = import_pandas().errors, len(header.names) > 1
    before = range(1, header.blank + 1)
    # pandas skips the wrong lines of files whose lines end with a carriage return alone.
    readable = content.without(before) if before else content
    frame, lines = None, None
    try:
        frame = _read_cells(readable, header.names, text, form)
    except (errors.ParserError, errors.ParserWarning):
        lines = count_lines(content, form.sep, header)  # its error names the line
        if not (lines.blank and several):
            raise
    n_rows = counts.lines - header.blank - header.lines
    if frame is not None and (len(frame) != n_rows or _may_lack_cells(frame, header, counts)):
        lines = count_lines(content, form.sep, header)
    if lines is not None:
        n_rows = lines.n_rows
        _note_blank(content.name, lines, several=several, note=note)
        if lines.blank and several:
            readable = content.without({*before, *lines.blank})
            frame = _read_cells(readable, header.names, text, form)
    if frame is None or len(frame) != n_rows:
        n_read = 0 if frame is None else len(frame)
        raise FileError(f"{content.name}: {n_read:,} rows were read, but there are {n_rows:,}")
    if form.spelling == PLAIN:
        _note_points(readable, frame, form, note)
    return frame


def _note_points(content: TextFile, frame: "DataFrame", form: CsvFormat, note: Note) -> None:
    """Note numbers whose points are more likely marks of thousands than of decimals.

    Programs write 1.234 and 950 with as many decimals, or 1.25 without its zeros.  So where all
    decimals are three, and some numbers have none, 1.234 is more than 950.
    """
    likely = [str(name) for name, column in frame.items() if _may_have_thousands(column)]
    if not likely:
        return
    texts = _parse(content, sep=form.sep, encoding=content.encoding, dtype=str, usecols=likely)
    for name in likely:
        cells = texts[name][frame[name].notna()].str.strip()
        small = cells.str.fullmatch(r"[+-]?[0-9]{1,3}")
        large = cells.str.fullmatch(r"[+-]?[1-9][0-9]{0,2}\.[0-9]{3}")
        if not (small | large).all() or not small.any():
            continue
        row = int(np.flatnonzero(large)[0])
        cell = cells.iloc[row]
        note(
            f"column {name!r} is numeric, but may hold thousands, such as {cell!r} in row "
            f"{int(cells.index[row]) + 1}: --decimal , --thousands . reads that as "
            f"{cell.replace('.', '')}"
        )


def _may_have_thousands(column: "Series[Any]") -> bool:
    """Whether numbers are all below 1000 and of three decimals at most, or whole, and some are."""
    if column.dtype.kind != "f":
        return False
    for values in (column.iloc[:1000], column):  # the first ones decide for most columns
        numbers = np.abs(values.dropna().to_numpy())
        if np.any(numbers >= 1e3):
            return False
        fractions = numbers[numbers % 1.0 > 0.0]
        if np.any(fractions < 1.0):
            return False
        if not np.allclose(fractions * 1e3, np.rint(fractions * 1e3), rtol=0.0, atol=1e-6):
            return False
    return 0 < len(fractions) < len(numbers)


def _may_lack_cells(frame: "DataFrame", header: Header, counts: CharacterCounts) -> bool:
    """Whether there may be lines with fewer cells than columns, or blank ones.

    pandas fills the missing end of a line, and refuses lines that are too long.  So there are none
    if all lines together have the separators that they need, none of them in quotes.
    """
    n_columns = len(header.names)
    if header.n_cells > n_columns:
        return True
    if not frame[header.names[-1]].isna().any():
        return False
    separators, quotes = counts.characters.values()
    return n_columns == 1 or quotes > 0 or separators < (n_columns - 1) * counts.lines


def _note_blank(name: str, lines: RowLines, *, several: bool, note: Note) -> None:
    """Note blank lines, except trailing ones that are no rows."""
    blank = [line for line in lines.blank if line < lines.last or not several]
    if blank:
        what = "are left out" if several else "are rows whose value is missing"
        note(f"{name}: blank lines {what} ({len(blank):,}; the first is line {blank[0]:,})")


def _read_cells(
    content: TextFile, names: list[str], text: Collection[str], form: CsvFormat
) -> "DataFrame":
    """Read the cells of all lines below a header."""
    is_plain = form.spelling == PLAIN
    settings = {
        "sep": form.sep,
        "keep_default_na": False,
        "na_values": ["", *form.na],
        "encoding": content.encoding,
    }
    types = {name: str for name in names if not is_plain or name in text}
    frame: DataFrame = _parse(content, **settings, dtype=types, low_memory=False)
    inferred = [name for name in names if name not in text and not is_numeric(frame[name])]
    if is_plain:
        if truths := _find_truths(frame, inferred):
            frame[truths] = _parse(content, **settings, dtype=str, usecols=truths)
    else:
        respelled = _respell_all(frame, inferred, form.spelling)
        frame, inferred = frame.assign(**respelled), [*respelled]
    for name in inferred:
        if (numbers := _read_large(frame[name])) is not None:
            frame[name] = numbers
    return frame


def _find_truths(frame: "DataFrame", names: Iterable[str]) -> list[str]:
    """Return the columns of booleans: pandas reads true as True, but the text matters."""
    infer = import_pandas().api.types.infer_dtype
    return [name for name in names if infer(frame[name]) == "boolean"]


def _respell_all(
    frame: "DataFrame", names: Iterable[str], spelling: Spelling
) -> dict[str, "Series[Any]"]:
    """Return the columns of numbers in a spelling, respelled as usual."""
    respelled = {name: _respell(frame[name], spelling) for name in names}
    return {name: column for name, column in respelled.items() if column is not None}


def _read_large(column: "Series[Any]") -> "Series[Any] | None":
    """Return a text column as numbers if all are: pandas leaves integers beyond 64 bits as text."""
    if is_numeric(column):
        return None
    numbers = import_pandas().to_numeric(column, errors="coerce")
    return numbers.astype(np.float64) if numbers.notna().equals(column.notna()) else None


def _parse(content: TextFile, **settings: Any) -> Any:
    pandas, source = import_pandas(), content.content
    if isinstance(source, io.BytesIO):
        source.seek(0)
    with warnings.catch_warnings():
        # If rows are longer than the header, pandas would take the first column as an index; told
        # not to, it would drop the last column with a warning (except an empty one, after a final
        # comma).
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        return pandas.read_csv(source, index_col=False, skip_blank_lines=False, **settings)


def _respell(column: "Series[Any]", spelling: Spelling) -> "Series[Any] | None":
    """Return a column of numbers, respelled as usual; None if they are not numbers.

    Cells with different units, or with and without one, are not one kind of number.
    """
    plain, units = {}, set()
    for cell in column.dropna().unique().tolist():
        number = spelling.read(cell)
        if number is None:
            return None
        plain[cell] = number.text
        units.add(number.unit)
    if len(units) > 1:
        return None
    cells = column.map(plain).fillna("")
    again = io.StringIO("\n".join(["v", *cells, ""]))
    settings = {"keep_default_na": False, "na_values": [""], "skip_blank_lines": False}
    respelled: Series[Any] = import_pandas().read_csv(again, low_memory=False, **settings)["v"]
    return respelled


def check_header(names: Sequence[str], file: str) -> None:
    """Refuse names that are empty or repeated."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        advice = _advise_on_header(twice)
        raise FileError(f"{file}: the header has {list_names(twice)} more than once{advice}")
    if "" in names:
        raise FileError(
            f"{file}: column {names.index('') + 1} of the header has no name: write one, or leave "
            "the column out of the file, in pandas by to_csv(..., index=False)"
        )


def require(frame: "DataFrame", names: Iterable[str]) -> None:
    """Refuse a frame that lacks columns."""
    missing = [name for name in dict.fromkeys(names) if name not in frame.columns]
    if missing:
        columns = "column" if len(missing) == 1 else "columns"
        there = list_names(frame.columns.tolist())
        advice = _advise_on_columns(missing, frame.columns.tolist())
        raise FileError(
            f"the file lacks the {columns} {list_names(missing)}; it has {there}{advice}"
        )


def _advise_on_columns(missing: Sequence[str], names: Sequence[str]) -> str:
    """Return the mistake that is likely if a file with these names lacks columns, or nothing."""
    if len(names) == 1:
        other = max(_SEPARATORS, key=names[0].count)
        return f"; --sep {_SEPARATORS[other]} splits its cells" if other in names[0] else ""
    spelt = {name.strip().casefold(): name for name in names}
    near = get_close_matches(missing[0].strip().casefold(), spelt, n=1, cutoff=0.7)
    if near:
        return f"; did you mean {spelt[near[0]]!r}?"
    return _advise_on_header(names)


def _advise_on_header(names: Sequence[str]) -> str:
    """Return the mistake that is likely if half of the names are numbers, or nothing."""
    n_numbers = sum(bool(PLAIN.read(name)) for name in names)  # a year may be a name
    is_row = n_numbers > 0 and 2 * n_numbers >= len(names)
    return "; the first line of the file must name its columns" if is_row else ""


def list_names(names: Sequence[Any], most: int = 10) -> str:
    """Return the first names, and the number of the others."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(name) for name in names[:most]) + more


def is_numeric(column: "Series[Any]") -> bool:
    """Whether a column as `read_csv` makes them holds numbers."""
    return column.dtype.kind in "iuf"


def first_text(column: "Series[Any]", spelling: Spelling = PLAIN) -> tuple[int, str]:
    """Return the first cell that is not a number: its row, counted from 1, and the cell.

    Where all are numbers as text, it is the first of these.
    """
    there = column.notna()
    if spelling == PLAIN:
        others = import_pandas().to_numeric(column, errors="coerce").isna() & there
    else:
        others = there & column.map(lambda cell: spelling.read(cell) is None, na_action="ignore")
    cells = np.flatnonzero(others)
    at = int(cells[0] if len(cells) else np.flatnonzero(there)[0])
    return int(column.index[at]) + 1, str(column.iloc[at])
