"""Files of rows for the command line: CSV, Parquet or Arrow, by suffix."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from properboost.cli.arrow_table import PARQUET, is_arrow, read_arrow
from properboost.cli.csv_table import FileError, read_csv
from properboost.cli.parquet_parts import ParquetParts

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Reader", "comes_in_batches"]


@dataclass(frozen=True)
class Reader:
    """How files are read.

    Attributes
    ----------
    sep : str or None
        What separates the cells of CSV files; None is a comma.
    na : sequence of str or None
        Cells of CSV files that are missing besides empty ones; None are the usual ones.
    """

    sep: str | None = None
    na: Sequence[str] | None = None

    def read(
        self,
        file: str,
        text: Collection[str],
        *,
        is_needed: Callable[[str], bool],
        labels: str | None = None,
        categories: bool = False,
    ) -> "DataFrame":
        """Read a file: numbers as numbers, and everything else and the columns `text` as strings.

        Parameters
        ----------
        file : str
            The file; "-" is a CSV file on the standard input.
        text : collection of str
            The columns that are text whatever they hold.
        is_needed : callable
            Says which columns must be such as can be read; CSV files have no others.
        labels : str, optional
            The column whose booleans are labels, and not the numbers 0 and 1.
        categories : bool, default=False
            Whether columns of categories are text, whatever these are.
        """
        if Path(file).is_dir():
            raise FileError(f"{file}: it is a folder, which is read in batches only")
        if is_arrow(file):
            return read_arrow(file, text, is_needed=is_needed, labels=labels, categories=categories)
        return read_csv(file, text, sep=self.sep or ",", na=self.na)

    def read_batches(
        self,
        file: str,
        text: Collection[str],
        *,
        is_needed: Callable[[str], bool],
        labels: str | None = None,
    ) -> Iterator["DataFrame"]:
        """Read a file as `read` does: Parquet and folders some rows at a time, others at once."""
        if comes_in_batches(file):
            yield from ParquetParts.open(file).read(text, is_needed=is_needed, labels=labels)
        else:
            yield self.read(file, text, is_needed=is_needed, labels=labels)

    def find_unused(self, files: Sequence[str]) -> str | None:
        """Return an option that none of these files is read by, if it was given."""
        if not all(is_arrow(file) or Path(file).is_dir() for file in files):
            return None
        given = {"--sep": self.sep, "--na": self.na}
        return next((option for option, value in given.items() if value is not None), None)


def comes_in_batches(file: str) -> bool:
    """Whether a file can be read in batches: Parquet, or a folder of it."""
    return Path(file).suffix == PARQUET or Path(file).is_dir()
