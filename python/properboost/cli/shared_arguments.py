"""Arguments that several commands take."""

import argparse
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from properboost.cli.csv_table import MISSING
from properboost.parameters import checks

__all__ = [
    "SPELLINGS",
    "OptionGroup",
    "add_file",
    "add_force",
    "add_model",
    "add_threads",
    "misuse_if_wrong",
    "read_level",
]

SPELLINGS = ("decimal", "thousands", "units", "brackets")
"""The options of the spelling of numbers."""


class OptionGroup(Protocol):
    """A parser, or a group of its options: argparse has no public name for both."""

    def add_argument(self, *names: str, **settings: Any) -> Any:
        """Add an option."""


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the model."""
    parser.add_argument("model", metavar="MODEL", help="a model saved by fit or save_model")


def add_file(parser: argparse.ArgumentParser) -> None:
    """Add a file of rows, and the options of reading it."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a CSV file with a header, or by suffix a Parquet or Arrow file; - is CSV on stdin",
    )
    parser.add_argument(
        "--sep",
        metavar="CHARACTER",
        type=_separator,
        help=r"the separator of cells of CSV; \t is a tab (default: a comma)",
    )
    parser.add_argument(
        "--na",
        metavar="TEXT",
        nargs="+",
        action="extend",
        help=(
            "texts of missing cells of CSV, in addition to empty cells; models keep those of fit "
            f"(default: {' '.join(MISSING)})"
        ),
    )
    parser.add_argument(
        "--encoding",
        metavar="NAME",
        type=_encoding,
        help=(
            "the encoding of CSV, such as utf-16, cp1252 or latin-1 (default: that of a mark at "
            "the beginning, or UTF-8)"
        ),
    )
    _add_spelling(parser)


def _add_spelling(parser: argparse.ArgumentParser) -> None:
    """Add the spelling of numbers; options that are not given are absent from the namespace."""
    group = parser.add_argument_group(
        "numbers of CSV files", "Models keep the options of fit, and new files are read with them."
    )
    group.add_argument(
        "--decimal",
        metavar="CHARACTER",
        default=argparse.SUPPRESS,
        help="the decimal separator (default: a point)",
    )
    group.add_argument(
        "--thousands",
        metavar="CHARACTER",
        type=lambda text: None if text == "none" else text,
        default=argparse.SUPPRESS,
        help="the separator of groups of three digits, or none (default: none)",
    )
    group.add_argument(
        "--units",
        metavar="TEXT",
        type=str.strip,
        nargs="*",
        action="extend",
        default=argparse.SUPPRESS,
        help=(
            "texts before or after numbers that are left out, such as %% and EUR; the cells of a "
            "column must all have the same one, or none"
        ),
    )
    group.add_argument(
        "--brackets",
        action=argparse.BooleanOptionalAction,
        default=argparse.SUPPRESS,
        help="read (50) as -50",
    )


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add the permission that `shared_work.check_output` asks for."""
    parser.add_argument("--force", action="store_true", help="replace the output file if it exists")


def add_threads(parser: argparse.ArgumentParser) -> None:
    """Add the number of threads."""
    parser.add_argument(
        "--jobs",
        "--threads",
        dest="n_jobs",
        metavar="N",
        type=int,
        help="threads (default: one for every CPU this process may use, or OMP_NUM_THREADS)",
    )


def read_level(text: str) -> float:
    """Return a confidence level."""
    try:
        return checks.level("it", float(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be above 0 and below 1; got {text}") from None


def _separator(text: str) -> str:
    separator = text.replace("\\t", "\t")
    if len(separator) != 1:
        raise argparse.ArgumentTypeError(f"must be one character; got {text!r}")
    if not separator.isascii() or separator in '"\r\n\0':
        raise argparse.ArgumentTypeError(
            f"must be an ASCII character, and no quote or end of a line; got {text!r}"
        )
    return separator


def _encoding(text: str) -> str:
    try:
        io.TextIOWrapper(io.BytesIO(), encoding=text)  # which takes encodings of text only
    except (LookupError, ValueError) as error:
        raise argparse.ArgumentTypeError(
            f"must be a text encoding of Python, such as utf-16; got {text!r}"
        ) from error
    return text


@contextmanager
def misuse_if_wrong(parser: argparse.ArgumentParser) -> Iterator[None]:
    """Turn a classifier's error about its parameters into one of the arguments."""
    try:
        yield
    except (TypeError, ValueError) as error:
        parser.error(str(error))
