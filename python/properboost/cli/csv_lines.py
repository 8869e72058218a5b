"""RowLines of CSV files: the check that each has a cell for every column.

pandas fills short lines and leaves out blank ones, both without notice.
"""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import NamedTuple

from properboost.cli.text_file import FileError, TextFile

__all__ = ["Header", "RowLines", "count_lines", "find_header"]

_LONGEST = 2**31 - 1  # characters of a cell: the largest limit that the module csv takes everywhere


class Header(NamedTuple):
    """The header of a file.

    `names` are those of the columns, `blank` counts the lines above it, `lines` its own lines, and
    `n_cells` the cells of the first row below it, 0 without one.
    """

    names: list[str]
    blank: int
    lines: int
    n_cells: int


class RowLines(NamedTuple):
    """The rows below a header.

    `n_rows` is their number.  `blank` are the numbers of lines without a cell, and `last` that of
    the last other line; the first line of the file is 1.
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


def count_lines(file: TextFile, sep: str, header: Header) -> RowLines:
    """Count the rows; refuse a line with more or fewer cells than there are columns.

    A separator may end every line below the header.  A blank line is a row in a file of one column,
    and none in others.
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
                raise FileError(
                    f"{file.name}: {_describe_line(begin, n_cells, expected, n_columns)}"
                )
            n_rows, last = n_rows + 1, at
    return RowLines(n_rows, blank, last)


def _describe_line(line: int, n_cells: int, expected: int, n_columns: int) -> str:
    """Return the error about a line."""
    cells = "1 cell" if n_cells == 1 else f"{n_cells:,} cells"
    if expected > n_columns and n_cells != expected:
        other = f"lines before it {expected:,}, of which the last is empty"
    else:
        other = f"the header {n_columns:,}"
    hint = "; --sep sets the separator of cells" if n_columns == 1 else ""
    return f"line {line:,} has {cells}, and {other}{hint}"


@contextmanager
def _long_cells() -> Iterator[None]:
    """Lift the limit on the length of cells."""
    before = csv.field_size_limit(_LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(before)
