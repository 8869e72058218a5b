"""Lines of CSV files: whether each has a cell for every column.

pandas fills lines that are too short and leaves out blank ones, and neither would be seen.
"""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import NamedTuple

from properboost.cli.text_file import FileError, TextFile

__all__ = ["Header", "Lines", "find_header", "look_at_lines"]

_LONGEST = 2**31 - 1  # characters of a cell: what the module csv can be told everywhere


class Header(NamedTuple):
    """The header of a file.

    `names` are those of the columns, `blank` counts the lines before it, `lines` those that it
    takes, and `n_cells` the cells of the first row below it, 0 if there is none.
    """

    names: list[str]
    blank: int
    lines: int
    n_cells: int


class Lines(NamedTuple):
    """The rows below a header.

    `n_rows` counts them.  `blank` are the numbers of the lines without a cell, and `last` that of
    the last other one; the first line of the file is 1.
    """

    n_rows: int
    blank: list[int]
    last: int


def find_header(file: TextFile, sep: str) -> Header:
    """Read the header, the first line that is not blank."""
    names, n_blank, n_lines = None, 0, 0
    with file.open_lines() as lines, _long_cells():
        reader = csv.reader(lines, delimiter=sep)
        for cells in reader:
            if len(cells) < 2 and not "".join(cells).strip(" \t"):
                n_blank += names is None
            elif names is None:
                names, n_lines = cells, reader.line_num - n_blank
            else:
                return Header(names, n_blank, n_lines, len(cells))
    if names is None:
        raise FileError(f"{file.name}: the file is empty")
    return Header(names, n_blank, n_lines, 0)


def look_at_lines(file: TextFile, sep: str, header: Header) -> Lines:
    """Count the rows; a line that has more or fewer cells than there are columns is refused.

    A separator may end every line below the header.  A blank line is a row of one column, and none
    of several.
    """
    n_columns = len(header.names)
    expected, n_rows, blank = 0, 0, []
    with file.open_lines() as lines, _long_cells():
        for _ in range(header.blank + header.lines):
            next(lines)
        at = last = header.blank + header.lines
        for line in lines:
            at += 1
            n_cells = line.count(sep) + 1
            if 1 < n_cells == expected == n_columns and '"' not in line:
                n_rows, last = n_rows + 1, at
                continue
            begin, text, is_blank = at, line.rstrip("\r\n"), False
            if '"' in line:  # which may hold separators and the ends of lines
                reader = csv.reader(chain([line], lines), delimiter=sep)
                cells = next(reader)
                at += reader.line_num - 1
                n_cells, ends_empty = len(cells), cells[-1] == ""
            else:
                ends_empty = text == "" or text.endswith(sep)
                is_blank = n_cells == 1 and not (text.strip(" \t") if n_columns > 1 else text)
            if is_blank:
                blank.append(begin)
                n_rows += n_columns == 1
                continue
            if expected == 0:
                expected = n_columns + (n_cells == n_columns + 1 and ends_empty)
            if n_cells != expected or (expected > n_columns and not ends_empty):
                raise FileError(f"{file.name}: {_tell(begin, n_cells, expected, n_columns)}")
            n_rows, last = n_rows + 1, at
    return Lines(n_rows, blank, last)


def _tell(line: int, n_cells: int, expected: int, n_columns: int) -> str:
    """Return what is wrong with a line."""
    own = "1 cell" if n_cells == 1 else f"{n_cells:,} cells"
    if expected > n_columns and n_cells != expected:
        other = f"lines before it {expected:,}, of which the last is empty"
    else:
        other = f"the header {n_columns:,}"
    hint = "; --sep says what separates cells" if n_columns == 1 else ""
    return f"line {line:,} has {own}, and {other}{hint}"


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let cells be as long as they are."""
    before = csv.field_size_limit(_LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(before)
