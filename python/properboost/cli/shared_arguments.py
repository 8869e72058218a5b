"""Arguments that several commands take."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from properboost.cli.csv_table import MISSING

__all__ = ["add_file", "add_force", "add_model", "add_threads", "misuse_if_wrong"]


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the model."""
    parser.add_argument("model", metavar="MODEL", help="a model saved by fit or save_model")


def add_file(parser: argparse.ArgumentParser) -> None:
    """Add a file of rows, and how it is read."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a CSV file with a header, or by suffix a Parquet or Arrow file; - is CSV on stdin",
    )
    parser.add_argument(
        "--sep",
        metavar="CHARACTER",
        type=_separator,
        help=r"what separates cells of CSV; \t is a tab (default: a comma)",
    )
    parser.add_argument(
        "--na",
        metavar="TEXT",
        nargs="+",
        action="extend",
        help="cells of CSV that are missing besides empty ones, instead of the usual "
        f"{' '.join(MISSING)}",
    )


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add the permission that `shared_work.check_output` asks for."""
    parser.add_argument(
        "--force", action="store_true", help="replace the output if there is such a file already"
    )


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


def _separator(text: str) -> str:
    separator = text.replace("\\t", "\t")
    if len(separator) != 1:
        raise argparse.ArgumentTypeError(f"must be one character; got {text!r}")
    return separator


@contextmanager
def misuse_if_wrong(parser: argparse.ArgumentParser) -> Iterator[None]:
    """Turn what a classifier says of its parameters into an error of the arguments."""
    try:
        yield
    except (TypeError, ValueError) as error:
        parser.error(str(error))
