"""Files of rows for the command line: CSV, Parquet or Arrow, by suffix."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from properboost.cli.arrow_table import PARQUET, is_arrow, read_arrow
from properboost.cli.column_notes import name_options
from properboost.cli.csv_table import MISSING, CsvFormat, FileError, Note, read_csv
from properboost.data.spelling import Spelling

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["RowFileReader", "comes_in_batches"]


def _ignore(_: str) -> None:
    """Drop a note."""


@dataclass(frozen=True)
class RowFileReader:
    """A reader of files; the first four attributes are for CSV files.

    Attributes
    ----------
    sep : str or None
        The separator of cells; None is a comma.
    na : sequence of str or None
        Cells that are missing besides empty ones; None are the usual ones.
    encoding : str or None
        The encoding of the text; None is that of the file's byte-order mark, or UTF-8.
    numbers : mapping
        The attributes of `Spelling` that were given.
    note : callable
        Function that shows the user notes.
    """

    sep: str | None = None
    na: Sequence[str] | None = None
    encoding: str | None = None
    numbers: Mapping[str, Any] = field(default_factory=dict)
    note: Note = _ignore

    @property
    def spelling(self) -> Spelling:
        """The spelling of numbers in CSV files."""
        return Spelling.of(self.numbers)

    def spelling_of(self, file: str) -> Spelling | None:
        """Return the spelling of cells in a file; None if its numbers are not text."""
        if is_arrow(file) or Path(file).is_dir():
            return None
        return replace(self.spelling, na=None if self.na is None else tuple(self.na))

    def remember(self, spelling: Spelling) -> "RowFileReader":
        """Return the reader with the spelling of training, except in options that were given."""
        whole = {**spelling.describe(), **self.numbers}
        na = whole.pop("na", None) if self.na is None else self.na
        whole.pop("na", None)
        try:
            Spelling.of(whole)
        except ValueError as error:
            raise FileError(
                f"{error}; the model was fitted with {name_options(spelling)}"
            ) from error
        return replace(self, numbers=whole, na=na)

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
            Function that returns whether a column is needed; others may be unreadable.
        labels : str, optional
            The column whose booleans are labels, and not the numbers 0 and 1.
        categories : bool, default=False
            Whether columns of categories are text, whatever they hold.
        """
        if Path(file).is_dir():
            raise FileError(f"{file}: it is a folder, which can only be read in batches")
        if is_arrow(file):
            return read_arrow(file, text, is_needed=is_needed, labels=labels, categories=categories)
        form = CsvFormat(self.sep or ",", self.na or MISSING, self.encoding, self.spelling)
        return read_csv(file, text, form, self.note)

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
            # On use, because it needs scikit-learn, and `fit` reads other files before that.
            parts = import_module("properboost.cli.parquet_parts").ParquetParts.open(file)
            yield from parts.read(text, is_needed=is_needed, labels=labels)
        else:
            yield self.read(file, text, is_needed=is_needed, labels=labels)

    def find_unused(self, files: Sequence[str]) -> str | None:
        """Return an option that applies to none of these files, if it was given."""
        if not all(is_arrow(file) or Path(file).is_dir() for file in files):
            return None
        settings = {"--sep": self.sep, "--na": self.na, "--encoding": self.encoding}
        options = [option for option, value in settings.items() if value is not None]
        return next(iter([*options, *(f"--{name}" for name in self.numbers)]), None)


def comes_in_batches(file: str) -> bool:
    """Whether a file can be read in batches: Parquet, or a folder of it."""
    return Path(file).suffix == PARQUET or Path(file).is_dir()
