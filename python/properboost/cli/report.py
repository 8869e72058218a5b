"""``properboost report``: a page on a model and on test rows, perhaps with labels."""

import argparse
import datetime
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from properboost.cli.csv_table import FileError, list_names, name_source, require
from properboost.cli.file_columns import (
    arrange,
    find_categories,
    find_label,
    list_text,
    note_unseen,
    read_labelled,
)
from properboost.cli.model_file import load_named
from properboost.cli.output import note, show
from properboost.cli.parquet_parts import ParquetParts
from properboost.cli.row_file import RowFileReader, comes_in_batches
from properboost.cli.shared_arguments import (
    add_file,
    add_force,
    add_model,
    add_threads,
    read_level,
)
from properboost.cli.shared_work import check_output, make_reader
from properboost.cli.training_columns import read_labels, read_weights
from properboost.estimators.least_cost import unwrap
from properboost.report.write import write_report

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["EPILOG", "add_options", "run"]

MOST_ROWS = 1_000_000
"""The default number of rows of Parquet, where all are too many."""

EPILOG = """\
FILE has test rows, which the model was not fitted to.  If a column holds their
classes the page has scores.  --target names this column; the default is the one
column that the model does not use and that holds only its classes.

The page is one file that needs no network: open it in a browser.  If a search
chose the model, the page lists the candidates.

Errors are compared between groups of rows: by features such as sex and age if
there are any, or by the columns of --subgroups, which the model need not use.

examples:
  properboost report model.json test.csv
  properboost report model.json test.csv --subgroups sex region
  properboost report model.json test.csv --target diagnosis --output page.html
  properboost report model.json test.csv --train train.csv
  properboost report model.json test.csv --class-name 1=ill --class-name 0=well
  properboost report model.json test.csv --cost 1=20 --cost 0=1
  properboost report model.json new.parquet --class B --max-features 40
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the model, the files, and the options of the page."""
    add_model(parser)
    add_file(parser)
    parser.add_argument(
        "--output",
        metavar="FILE",
        default="report.html",
        help="the file of the page (default: %(default)s)",
    )
    add_force(parser)
    parser.add_argument(
        "--target", metavar="COL", help="the column of classes (default: found by its values)"
    )
    parser.add_argument("--sample-weight", metavar="COL", help="column of the weights of rows")
    parser.add_argument(
        "--train",
        metavar="FILE",
        help=(
            "the rows that the model was fitted to, with its columns and that of the classes: "
            "the page then has the scores of the model fitted again with few features, and "
            "without those that the law may protect"
        ),
    )
    parser.add_argument(
        "--subgroups",
        metavar="COL",
        nargs="*",
        help="columns by which errors are compared, which the model need not use; none for no "
        "groups (default: features whose names suggest sex, age, origin and the like, or else "
        "those of few categories)",
    )
    parser.add_argument(
        "--sample-rows",
        metavar="N",
        type=_count,
        help=(
            f"draw so many rows of Parquet at random (default: all, but at most {MOST_ROWS:,} of "
            "a folder, and of a file that would fill the memory)"
        ),
    )
    parser.add_argument("--title", metavar="TEXT", help="the title of the page")
    for name, what in (
        ("purpose", "the purpose of the model, with its decisions and cases"),
        ("model-source", "who fitted the model, when, and on which rows"),
        ("data-source", "the source of the rows, and their dates"),
    ):
        parser.add_argument(f"--{name}", metavar="TEXT", help=f"for the page's head: {what}")
    parser.add_argument(
        "--date", metavar="TEXT", help="the date in the page's head (default: today's)"
    )
    parser.add_argument(
        "--class",
        dest="class_",
        metavar="LABEL",
        help="the class whose shape functions are drawn (default: the second of two, or the most "
        "frequent of several)",
    )
    parser.add_argument(
        "--class-name",
        metavar="LABEL=TEXT",
        action="append",
        help="the meaning of a label, in words for the page; once for each class",
    )
    parser.add_argument(
        "--cost",
        metavar="LABEL=COST",
        action="append",
        help="the cost of a mistake on a row of this class, to compare decisions by; once for each "
        "class (default: the costs that the model was saved with, if any)",
    )
    parser.add_argument(
        "--feature-descriptions",
        metavar="FILE",
        help=(
            "a table of two columns, with a header: the names of features, and their meanings, "
            "in words for the page"
        ),
    )
    parser.add_argument(
        "--level",
        metavar="LEVEL",
        type=read_level,
        default=0.9,
        help="confidence level of intervals (default: %(default)s)",
    )
    for name, default, what in (
        ("features", 20, "shape functions to draw, of the most important features"),
        ("pairs", 10, "pairs drawn"),
        ("rows", 2, "rows of each kind to explain"),
    ):
        parser.add_argument(
            f"--max-{name}",
            metavar="N",
            type=int,
            default=default,
            help=f"{what}, at most (default: %(default)s)",
        )
    add_threads(parser)


def run(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Write the page."""
    reader = make_reader(
        arguments, parser, arguments.file, arguments.train, arguments.feature_descriptions
    )
    if arguments.sample_rows is not None and not comes_in_batches(arguments.file):
        parser.error("--sample-rows is for Parquet files and folders of them")
    check_output(arguments)
    loaded = load_named(arguments)
    model = unwrap(loaded)
    reader = reader.remember(model.spelling_)
    known = find_categories(model)
    for column in _list_named(arguments.target, arguments.sample_weight):
        if column in known:
            raise FileError(f"column {column!r} is a feature of the model")
    costs = _read_costs(arguments.cost or [], model.classes_)
    rows = _read_rows(arguments, reader, model)
    train: dict[str, Any] = {}
    if arguments.train is not None:
        if rows.target is None:
            raise FileError("--train needs --target: there is no column of classes to score by")
        train = _read_training(arguments, reader, model, rows.target)
    if costs is not None and rows.target is None:
        raise FileError("--cost needs --target: there is no column of classes to count mistakes by")
    write_report(
        loaded,
        rows.X,
        rows.labels,
        arguments.output,
        sample_weight=rows.weight,
        **train,
        title=arguments.title or f"{arguments.model} on {name_source(arguments.file)}",
        purpose=arguments.purpose,
        model_source=arguments.model_source,
        data_source=arguments.data_source,
        date=datetime.date.today().isoformat() if arguments.date is None else arguments.date,
        subgroups=rows.subgroups,
        class_=find_label(arguments.class_, model.classes_, "--class"),
        class_names=_read_class_names(arguments.class_name or [], model.classes_),
        feature_descriptions=_read_descriptions(arguments.feature_descriptions, reader, known),
        costs=costs,
        confidence_level=arguments.level,
        max_features=arguments.max_features,
        max_pairs=arguments.max_pairs,
        max_rows=arguments.max_rows,
    )
    show(f"Wrote the report on {len(rows.X):,} rows to {arguments.output}.")


@dataclass(frozen=True, eq=False)
class _PageRows:
    """The rows of the page.

    `target` is the column of their classes, and `labels` are these, if there is one.
    `subgroups` are the columns of subgroups, if the user named any.
    """

    X: "DataFrame"
    target: str | None
    labels: NDArray[Any] | None
    weight: NDArray[np.float64] | None
    subgroups: "dict[str, Series[Any]] | None"


def _read_rows(arguments: argparse.Namespace, reader: RowFileReader, model: Any) -> _PageRows:
    """Read the rows, and separate features, classes, weights and groups."""
    known, subgroups = find_categories(model), arguments.subgroups or []
    extra = [*_list_named(arguments.target, arguments.sample_weight), *subgroups]
    frame = _read_frame(arguments, reader, model, {*known, *extra})
    require(frame, extra)
    spelling = reader.spelling_of(arguments.file)
    frame, weight = read_weights(frame, arguments.sample_weight, spelling)
    target = arguments.target or _find_target(
        frame.drop(columns=[*{*known, *extra} & {*frame.columns}]), model.classes_
    )
    labels = None if target is None else read_labels(frame[target], of=model.classes_)
    reserved = {target, arguments.sample_weight, *subgroups} - {None, *known}
    X = arrange(frame.drop(columns=[*reserved]), known, spelling, note)
    note_unseen(model, X, note)
    division = None if arguments.subgroups is None else {name: frame[name] for name in subgroups}
    return _PageRows(X, target, labels, weight, division)


def _read_frame(
    arguments: argparse.Namespace, reader: RowFileReader, model: Any, needed: Collection[str]
) -> "DataFrame":
    """Read the file, or as many of its rows as are wanted, with at least these columns."""
    known, target = find_categories(model), arguments.target
    text = list_text(known, model.classes_, target)
    if not _wants_sample(arguments, len(known)):
        return reader.read(arguments.file, text, is_needed=needed.__contains__, labels=target)
    parts = ParquetParts.open(arguments.file)
    most = arguments.sample_rows or MOST_ROWS
    frame = parts.sample(most, text, is_needed=needed.__contains__, labels=target)
    if len(frame) < parts.n_rows:
        note(f"the page is about {len(frame):,} of {parts.n_rows:,} rows, drawn at random")
    return frame


def _list_named(*columns: str | None) -> list[str]:
    """Return those columns that have a name."""
    return [column for column in columns if column is not None]


def _read_training(
    arguments: argparse.Namespace, reader: RowFileReader, model: Any, target: str
) -> dict[str, Any]:
    """Return the training rows of simpler models, as arguments of `write_report`."""
    rows = read_labelled(model, arguments.train, target, reader, arguments.sample_weight)
    return {"X_train": rows.X, "y_train": rows.labels, "sample_weight_train": rows.weight}


def _wants_sample(arguments: argparse.Namespace, n_features: int) -> bool:
    """Whether rows are drawn at random: on request, from a folder, or where memory is short."""
    if not comes_in_batches(arguments.file):
        return False
    if arguments.sample_rows is not None or Path(arguments.file).is_dir():
        return True
    return Path(arguments.file).exists() and ParquetParts.open(arguments.file).exceed_memory(
        n_features
    )


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1; got {text}")
    return count


def _find_target(others: "DataFrame", classes: NDArray[Any]) -> str | None:
    """Return the one column that holds nothing but the classes, if there is one."""
    known = classes.tolist()
    candidates = [name for name in others.columns if others[name].isin(known).all()]
    if len(candidates) == 1:
        note(f"column {candidates[0]!r} is used as the classes; --target names another")
        return str(candidates[0])
    which = f"several columns ({list_names(candidates)}) hold" if candidates else "no column holds"
    note(f"{which} nothing but the classes, so there are no scores; --target names the column")
    return None


def _read_descriptions(
    file: str | None, reader: RowFileReader, known: Collection[str]
) -> dict[str, str] | None:
    """Return the texts of a table of names and texts."""
    if file is None:
        return None
    frame = reader.read(file, (), is_needed=lambda _: True)
    if frame.shape[1] != 2:
        raise FileError(f"{file} must have two columns, names and texts; it has {frame.shape[1]}")
    frame = frame.dropna().astype(str)
    descriptions = dict(zip(frame.iloc[:, 0], frame.iloc[:, 1], strict=True))
    if not descriptions.keys() & set(known):
        raise FileError(
            f"{file} must describe some of the features {list_names([*known])}; it has "
            f"{list_names([*descriptions])}"
        )
    return descriptions


def _read_class_names(pairs: Sequence[str], classes: NDArray[Any]) -> dict[Any, str]:
    """Return the names of labels, from arguments ``label=text``."""
    return _read_pairs("--class-name", "a text", pairs, classes)


def _read_costs(pairs: Sequence[str], classes: NDArray[Any]) -> dict[Any, float] | None:
    """Return the costs of mistakes by label, from arguments ``label=cost``; None of none."""
    costs = _read_pairs("--cost", "a number", pairs, classes)
    lacking = [label for label in classes.tolist() if label not in costs]
    if costs and lacking:
        raise FileError(f"--cost must be given for each class; it lacks {list_names(lacking)}")
    return {label: _read_cost(text) for label, text in costs.items()} if costs else None


def _read_cost(text: str) -> float:
    try:
        cost = float(text)
    except ValueError:
        cost = math.nan
    if not 0.0 <= cost < math.inf:
        raise FileError(f"--cost: the cost must be a number of at least 0; got {text!r}")
    return cost


def _read_pairs(
    option: str, what: str, pairs: Sequence[str], classes: NDArray[Any]
) -> dict[Any, str]:
    """Return texts by label, from arguments ``label=text``."""
    texts: dict[Any, str] = {}
    for pair in pairs:
        label_text, equals, text = pair.partition("=")
        if not equals or not text.strip():
            raise FileError(f"{option} must be a label, =, and {what}; got {pair!r}")
        label = find_label(label_text, classes, f"{option}: the label")
        if label in texts:
            raise FileError(f"{option} names {label_text!r} twice")
        texts[label] = text
    return texts
