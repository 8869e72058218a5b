"""The text of a table: its cells, its checksum, and the file that holds it.

A table is a list of rows of cells, the header first.  Its canonical text has the cells joined by
commas and every line ended by a line feed.  The checksum is taken of that text, because the files
of the UCI archive differ in what does not matter: line ends, blank lines, spaces after commas, a
comment line at the head.
"""

import gzip
import hashlib
import zlib
from collections.abc import Iterable
from pathlib import Path

from properboost.whole_file import write_whole

Table = list[list[str]]


class WrongTableError(ValueError):
    """A file that is not the expected table."""


def parse(text: str) -> Table:
    """Split a text into cells, leaving out blank lines and comments.

    Some sets have commas between the cells and some have blanks; no set has both, nor a comma
    or a blank within a cell.
    """
    lines = (line.strip() for line in text.splitlines())
    return [
        [*map(str.strip, line.split(","))] if "," in line else line.split()
        for line in lines
        if line and not line.startswith("|")  # the comment mark of the archive
    ]


def canonical_text(table: Iterable[Iterable[str]]) -> str:
    """Join the cells of a table, header included, into its canonical text."""
    return "".join(",".join(row) + "\n" for row in table)


def checked(table: Table, sha256: str, origin: str) -> Table:
    """Return the table if its checksum is right.

    Parameters
    ----------
    table : list of list of str
        Header and rows.
    sha256 : str
        The expected checksum of the canonical text.
    origin : str
        Where the table comes from, for the error.

    Raises
    ------
    WrongTableError
        Naming the origin, the expected and the found checksum.
    """
    digest = hashlib.sha256(canonical_text(table).encode()).hexdigest()
    if digest != sha256:
        raise WrongTableError(
            f"{origin} does not hold the expected table: expected sha256 {sha256}, found {digest}"
        )
    return table


def read(path: Path, sha256: str) -> Table:
    """Read a gzip CSV file and check it.

    Raises
    ------
    WrongTableError
        If the file cannot be read or its checksum is not the expected one.
    """
    try:
        text = gzip.decompress(path.read_bytes()).decode(errors="replace")
    except (OSError, EOFError, zlib.error) as error:
        raise WrongTableError(
            f"{path} cannot be read as gzip text ({error}): expected sha256 {sha256}, found none"
        ) from error
    return checked(parse(text), sha256, str(path))


def write(path: Path, table: Table) -> None:
    """Write a table as gzip CSV, at once or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Equal tables make equal bytes.
    write_whole(path, [gzip.compress(canonical_text(table).encode(), mtime=0)])
