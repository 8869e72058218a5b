"""The rows of ``properboost fit``, and their options.

Importing scikit-learn takes longer than reading most files.  So where a user watches, the rows of a
CSV file are read and described before that, and this module imports no estimators.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from properboost.cli.csv_table import FileError, name_source, require
from properboost.cli.fit_lines import ClassCounts, RowSummary, describe_rows
from properboost.cli.output import list_files, note, show
from properboost.cli.row_file import RowFileReader, comes_in_batches
from properboost.cli.shared_arguments import OptionGroup, add_file, add_force
from properboost.cli.shared_work import check_output, make_reader
from properboost.cli.training_columns import make_features, read_labels, read_weights
from properboost.data.spelling import Spelling

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = [
    "RowsAhead",
    "TrainingFrame",
    "TrainingRows",
    "add_file_options",
    "list_reserved",
    "read_ahead",
    "read_rows",
    "show_rows",
]


class TrainingFrame(NamedTuple):
    """The arguments of `fit`: features, labels and weights."""

    X: "DataFrame"
    labels: NDArray[Any]
    weight: NDArray[np.float64] | None

    def take(self, rows: NDArray[np.int64]) -> "TrainingFrame":
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return TrainingFrame(self.X.iloc[rows], self.labels[rows], weight)

    def fit(self, model: Any) -> None:
        """Fit a model to the rows."""
        weight = {} if self.weight is None else {"sample_weight": self.weight}
        model.fit(self.X, self.labels, **weight)


class TrainingRows(NamedTuple):
    """The rows for training, with the names of the categorical features.

    `spelling` is that of numbers in the file; None if they are not text there.
    """

    frame: TrainingFrame
    categorical: list[str]
    summary: RowSummary
    spelling: Spelling | None


def add_file_options(parser: argparse.ArgumentParser) -> None:
    """Add the files and the columns."""
    add_file(parser)
    parser.add_argument("--target", metavar="COL", help="the column of classes")
    parser.add_argument(
        "--many-classes",
        action="store_true",
        help="accept a target of more than 20 different numbers as classes",
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        default="model.json",
        help="the model file, packed by gzip if its name ends with .gz (default: %(default)s)",
    )
    add_force(parser)
    parser.add_argument(
        "--compact",
        action="store_true",
        help="leave out parts that predictions do not need, such as the single rounds",
    )
    parser.add_argument(
        "--eval",
        metavar="FILE",
        help="another file of such rows, on which the report scores the saved model, too",
    )
    parser.add_argument(
        "--test-size",
        metavar="SHARE",
        type=_share,
        help="share of the rows held out for the report, and never for the saved model; a search "
        "is repeated without them, and needs none, because its own folds score it (default: 0.2 "
        "for one fit, none in a search)",
    )
    parser.add_argument(
        "--verbose",
        action="count",
        default=0,
        help="show progress on stderr even if it is no terminal",
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress on a terminal")
    parser.add_argument(
        "--in-batches",
        action="store_true",
        help=(
            "read Parquet in batches of rows, and keep one byte for each cell; the default for "
            "folders, and for files that would fill the memory"
        ),
    )
    _add_columns(parser.add_argument_group("columns"))


def _add_columns(group: OptionGroup) -> None:
    for option, text in (
        ("--categorical", "columns of numbers to read as categories"),
        ("--drop", "columns to leave out of the features"),
    ):
        group.add_argument(option, metavar="COL", nargs="+", action="extend", default=[], help=text)
    group.add_argument(
        "--sample-weight",
        metavar="COL",
        help="column of the weights of rows; it is not a feature",
    )


def _share(text: str) -> float:
    share = float(text)
    if not 0.0 <= share < 1.0:
        raise argparse.ArgumentTypeError(f"must be at least 0 and below 1; got {text}")
    return share


def list_reserved(arguments: argparse.Namespace) -> list[str]:
    """Return the columns that are no features."""
    return [c for c in (arguments.target, arguments.sample_weight) if c is not None]


def read_rows(arguments: argparse.Namespace, reader: RowFileReader) -> TrainingRows:
    """Read the rows for training."""
    reserved = list_reserved(arguments)
    frame = reader.read(
        arguments.file,
        arguments.categorical,
        is_needed=lambda name: name not in arguments.drop,
        labels=arguments.target,
        categories=True,
    )
    require(frame, [*reserved, *arguments.categorical, *arguments.drop])
    spelling = reader.spelling_of(arguments.file)
    frame, weight = read_weights(frame, arguments.sample_weight, spelling)
    labels = read_labels(frame[arguments.target], many=arguments.many_classes)
    features = frame.drop(columns=[*reserved, *arguments.drop])
    X, categorical = make_features(features, arguments.categorical, spelling, reader.note)
    classes, codes = np.unique(labels, return_inverse=True)
    counts = ClassCounts.of(codes, weight)
    summary = RowSummary(classes.tolist(), counts, X.shape[1], len(categorical))
    return TrainingRows(TrainingFrame(X, labels, weight), categorical, summary, spelling)


def show_rows(arguments: argparse.Namespace, summary: RowSummary) -> None:
    """Show the first lines: rows, features and classes."""
    show(describe_rows(summary, name_source(arguments.file), arguments.target))


# -- before scikit-learn is imported --------------------------------------------------------------


class RowsAhead(NamedTuple):
    """Rows that were read and described before all arguments were known, and the arguments then."""

    rows: TrainingRows
    arguments: argparse.Namespace

    def match(self, arguments: argparse.Namespace) -> TrainingRows | None:
        """Return the rows, unless the whole command line has other files or columns."""
        known = vars(arguments)
        same = all(known[name] == value for name, value in vars(self.arguments).items())
        return self.rows if same else None


class _MisuseError(Exception):
    """Wrong arguments, which the parser of all options reports."""


class _FileParser(argparse.ArgumentParser):
    """A parser of files and columns, which leaves errors to the parser of all options."""

    def error(self, message: str) -> NoReturn:
        raise _MisuseError(message)


def read_ahead(argv: Sequence[str]) -> RowsAhead | None:
    """Read the rows of a CSV file and show the first lines, if the arguments are clear.

    With anything unusual nothing is shown: the command meets it again, and reports it in its place.
    """
    parser = _FileParser(add_help=False, allow_abbrev=False)
    add_file_options(parser)
    notes: list[str] = []
    try:
        arguments, others = parser.parse_known_args(argv[1:])
        if {"-h", "--help"} & {*others} or arguments.target is None:
            return None
        # The value of another option is no file.
        files = list_files([arguments.file, *others])
        if len(files) != 1 or comes_in_batches(files[0]):
            return None
        arguments.file = files[0]
        if {*arguments.categorical, *arguments.drop} & {*list_reserved(arguments)}:
            return None
        check_output(arguments)
        reader = make_reader(arguments, parser, arguments.file, arguments.eval)
        rows = read_rows(arguments, replace(reader, note=notes.append))
    except (_MisuseError, FileError, ImportError, OSError, ValueError, MemoryError):
        return None
    for message in notes:
        note(message)
    show_rows(arguments, rows.summary)
    return RowsAhead(rows, arguments)
