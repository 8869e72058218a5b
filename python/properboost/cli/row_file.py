"""Files of rows for the command line: CSV, Parquet or Arrow, by suffix."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from properboost.cli.arrow_table import is_arrow, read_arrow
from properboost.cli.csv_table import read_csv

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Reader"]


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
        if is_arrow(file):
            return read_arrow(file, text, is_needed=is_needed, labels=labels, categories=categories)
        return read_csv(file, text, sep=self.sep or ",", na=self.na)

    def find_unused(self, files: Sequence[str]) -> str | None:
        """Return an option that none of these files is read by, if it was given."""
        if not all(map(is_arrow, files)):
            return None
        given = {"--sep": self.sep, "--na": self.na}
        return next((option for option, value in given.items() if value is not None), None)
