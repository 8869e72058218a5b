"""``properboost compare``: two models on the same test rows."""

import argparse
from typing import TYPE_CHECKING, Any

from properboost.cli.csv_table import require
from properboost.cli.errors import FileError
from properboost.cli.file_columns import arrange, find_categories, find_text, note_unseen
from properboost.cli.model_file import load_named
from properboost.cli.output import note, show
from properboost.cli.row_file import RowFileReader
from properboost.cli.shared_arguments import add_file, add_force, add_threads, read_level
from properboost.cli.shared_work import check_output, make_reader
from properboost.cli.training_columns import read_labels, read_weights
from properboost.comparison.compare import compare_predictions, predict, read_models
from properboost.parameters import checks
from properboost.plots.canvas import import_matplotlib
from properboost.plots.comparisons import plot_comparison

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["EPILOG", "add_options", "run"]

EPILOG = """\
FILE has test rows, which neither model was fitted to or chosen by.  The models
may use other columns, and must have the same classes.

Differences are the second model's score less the first's.  Their intervals are
over other rows like these, not over other training rows.

examples:
  properboost compare yesterday.json today.json test.csv --target diagnosis
  properboost compare a.json b.json test.csv --target sold --groups customer
  properboost compare a.json b.json test.csv --target sold --output scores.png
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the models, the rows, and the picture."""
    for name in ("first", "second"):
        parser.add_argument(name, metavar=name.upper(), help=f"the {name} model's file")
    add_file(parser)
    parser.add_argument("--target", metavar="COL", required=True, help="the column of classes")
    parser.add_argument("--sample-weight", metavar="COL", help="column of the weights of rows")
    parser.add_argument(
        "--groups",
        metavar="COL",
        help="column of groups, such as customers, whose rows are not independent",
    )
    parser.add_argument(
        "--rows",
        metavar="N",
        type=_count,
        default=10,
        help="rows to list on which the models disagree most (default: %(default)s)",
    )
    parser.add_argument(
        "--level",
        metavar="LEVEL",
        type=read_level,
        default=0.95,
        help="confidence level of intervals (default: %(default)s)",
    )
    parser.add_argument(
        "--output", metavar="FILE", help="a picture of the differences, as PNG, SVG or PDF"
    )
    add_force(parser)
    add_threads(parser)


def _count(text: str) -> int:
    try:
        return checks.integer("it", int(text), 0)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be a whole number of at least 0; got {text}"
        ) from None


def run(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Print the comparison, and draw it on request."""
    reader = make_reader(arguments, parser, arguments.file)
    if arguments.output is not None:
        check_output(arguments)
    paths = (arguments.first, arguments.second)
    if paths[0] == paths[1]:
        raise FileError(f"{paths[0]}: the two models must be different files")
    models = {path: load_named(arguments, path, ordered=True) for path in paths}
    names, pair = read_models(models)
    reader = reader.remember(pair[0].spelling_)
    extra = [
        name
        for name in (arguments.target, arguments.sample_weight, arguments.groups)
        if name is not None
    ]
    frame = _read_frame(reader, arguments.file, pair, arguments.target, extra)
    spelling = reader.spelling_of(arguments.file)
    frame, weight = read_weights(frame, arguments.sample_weight, spelling)
    tables = [_select(model, frame, spelling) for model in pair]
    result = compare_predictions(
        names,
        [predict(model, table) for model, table in zip(pair, tables, strict=True)],
        pair[0].classes_,
        read_labels(frame[arguments.target], of=pair[0].classes_),
        sample_weight=weight,
        groups=None if arguments.groups is None else frame[arguments.groups],
        n_disagreements=arguments.rows,
        confidence_level=arguments.level,
    )
    show(str(result))
    if arguments.output is not None:
        figure = import_matplotlib("figure").Figure(layout="constrained")
        plot_comparison(result, figure.subplots())
        figure.savefig(arguments.output)


def _read_frame(
    reader: RowFileReader, file: str, pair: tuple[Any, Any], target: str, extra: list[str]
) -> "DataFrame":
    """Read the columns of both models and these others."""
    known = [find_categories(model) for model in pair]
    for column in extra[:1]:
        if any(column in columns for columns in known):
            raise FileError(f"column {column!r} is a feature of a model")
    text = {name for columns in known for name in find_text(columns)}
    if pair[0].classes_.dtype.kind in "OU":
        text.add(target)
    needed = {*extra}.union(*known)
    frame = reader.read(file, sorted(text), is_needed=needed.__contains__, labels=target)
    require(frame, extra)
    return frame


def _select(model: Any, frame: "DataFrame", spelling: Any) -> "DataFrame":
    """Return a model's columns."""
    known = find_categories(model)
    require(frame, known)
    X = arrange(frame[list(known)], known, spelling, note)
    note_unseen(model, X, note)
    return X
