"""``properboost fit``: a classifier, fitted to a file of rows and saved."""

import argparse
import contextlib
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from properboost.cli.csv_table import FileError, list_names, name_source, require
from properboost.cli.file_columns import arrange, note_unseen
from properboost.cli.fit_batches import fit_in_batches
from properboost.cli.fit_lines import ClassCounts, describe_scores, score_folds, show_scores
from properboost.cli.fit_report import describe_choice, evaluate, hold_out
from properboost.cli.fit_rows import (
    RowsAhead,
    TrainingFrame,
    add_file_options,
    list_reserved,
    read_rows,
    show_rows,
)
from properboost.cli.fit_saved import (
    choose_test_size,
    fit_and_save,
    is_watched,
    suggest_commands,
)
from properboost.cli.options import MODELS, add_parameters, make_classifier
from properboost.cli.output import note, show
from properboost.cli.parquet_parts import ParquetParts
from properboost.cli.row_file import RowFileReader, comes_in_batches
from properboost.cli.shared_arguments import add_threads, misuse_if_wrong
from properboost.cli.shared_work import check_output, make_reader
from properboost.cli.training_columns import read_labels, read_weights
from properboost.model_selection.search_stages import list_stages
from properboost.whole_progress import show_whole

__all__ = ["EPILOG", "add_options", "run"]

EPILOG = """\
FILE is CSV, or by its suffix Parquet (.parquet) or Arrow (.arrow, .feather), or
a folder of Parquet files, which are read in batches, however large they are.
A column whose cells are all numbers is numeric; any other is categorical, with
its cells as text.  Booleans of Parquet and Arrow are numbers, 0 and 1.

Families of models are compared by cross-validation on all rows; parameters that
you set are kept.  With --effort none only one model is fitted; --gain auto,
--n-estimators auto or both then choose only these.

The model is saved first.  The report then has log loss and accuracy: of the
shares of the classes, for comparison; of the saved model on all rows, which it
was fitted on; on the folds of the search, which held out each row once; on
held-out rows (--test-size), of a model fitted without them; and of the saved
model on the rows of another file (--eval).

--time-limit holds from the start of the command to its end.

examples:
  properboost fit train.csv --target diagnosis
  properboost fit train.csv --target diagnosis --readable --cv 10
  properboost fit train.csv --target income --na '?' --effort none --gain 2
  properboost fit train.csv --target y --categorical zip store --drop id
  properboost fit train.csv --target y --model rado --regularizer lasso --omega 0.1
  properboost fit train.csv --target y --effort none --outer-bags 16
  properboost fit train.parquet --target y --eval test.parquet --test-size 0
  properboost fit train.csv --target y --output y.json.gz --compact --force
  gunzip -c train.csv.gz | properboost fit - --target y --output y.json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the files, the columns and the parameters of models."""
    add_file_options(parser)
    parser.add_argument(
        "--model",
        choices=MODELS,
        default=MODELS[0],
        help=(
            "the kind of model: boosted tables, trees or rules; or a linear classifier from "
            "random sums of rows (default: %(default)s)"
        ),
    )
    add_parameters(parser)
    add_threads(parser)


def run(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Fit, save and report."""
    if arguments.target is None:
        _ask_for_target(arguments, parser)
    ahead: RowsAhead | None = arguments.ahead
    rows = None if ahead is None else ahead.match(arguments)
    with misuse_if_wrong(parser):
        estimator = make_classifier(arguments)  # before a long file is read
    for column in (*arguments.categorical, *arguments.drop):
        if column in list_reserved(arguments):
            parser.error(f"column {column!r} is the target or the weight, and cannot be a feature")
    arguments.test_size = choose_test_size(arguments, estimator)
    reader = make_reader(arguments, parser, arguments.file, arguments.eval)
    in_batches = _wants_batches(arguments, parser)
    check_output(arguments)
    if in_batches:
        fitted = fit_in_batches(arguments, estimator, reader, fit_and_save)
        lines = [
            score if isinstance(score, str) else show_scores(*score) for score in fitted.scores
        ]
        _report(arguments, fitted.model, fitted.counts, lines)
        return
    is_shown = rows is not None
    frame, categorical, summary, spelling = rows or read_rows(arguments, reader)
    others = None
    if arguments.eval is not None:
        others = _read_others(arguments, reader, frame)
    if not is_shown:
        show_rows(arguments, summary)
    model = estimator.set_params(categorical_features=categorical)
    chosen = fit_and_save(arguments, model, summary, frame.fit, spelling)
    scores = [evaluate(model, frame, "training"), *score_folds(model)]
    if arguments.test_size is not None:
        with show_whole(list_stages(model), visible=is_watched(arguments)):
            scores.append(hold_out(model, frame, arguments.test_size))
    if others is not None:
        note_unseen(chosen, others.X, note)
        scores.append(evaluate(model, others))
    _report(arguments, model, summary.counts, scores)


def _ask_for_target(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> NoReturn:
    """End with an error that lists the columns, if the file can be read at once."""
    message = "the following arguments are required: --target"
    if not comes_in_batches(arguments.file):
        reader = make_reader(arguments, parser, arguments.file)
        with contextlib.suppress(FileError, ImportError, OSError, ValueError):
            frame = reader.read(arguments.file, (), is_needed=lambda _: False)
            message += f"; the columns are {list_names(frame.columns.tolist(), most=50)}"
    parser.error(message)


def _report(
    arguments: argparse.Namespace, model: Any, counts: ClassCounts, scores: list[str]
) -> None:
    show(f"{describe_scores(counts, scores)}\n")
    show(f"{describe_choice(model)}\n")
    show(suggest_commands(arguments))


def _wants_batches(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> bool:
    """Whether rows are read in batches: on request, from a folder, or where memory is short."""
    file = arguments.file
    if not comes_in_batches(file):
        if arguments.in_batches:
            parser.error("--in-batches is for Parquet files and folders of them")
        return False
    in_batches = arguments.in_batches or Path(file).is_dir()
    if not in_batches and Path(file).exists():
        parts = ParquetParts.open(file)
        in_batches = parts.exceed_memory(len(parts.names) - len(arguments.drop))
        if in_batches:
            note(
                f"{file} is read in batches, because its {parts.n_rows:,} rows would fill the "
                "memory"
            )
    if in_batches and arguments.model == "rado":
        parser.error("--model rado needs all rows at once, and cannot read them in batches")
    return in_batches


def _read_others(
    arguments: argparse.Namespace, reader: RowFileReader, rows: TrainingFrame
) -> TrainingFrame:
    """Return the rows of another file, with the columns of those for training."""
    known: dict[str, Any] = {
        str(name): column.cat.categories if column.dtype == "category" else None
        for name, column in rows.X.items()
    }
    text = [name for name, categories in known.items() if categories is not None]
    if rows.labels.dtype.kind in "OU":
        text.append(arguments.target)
    reserved = list_reserved(arguments)
    file = name_source(arguments.eval)
    frame = reader.read(
        arguments.eval,
        text,
        is_needed={*known, *reserved}.__contains__,
        labels=arguments.target,
    )
    try:
        require(frame, reserved)
        spelling = reader.spelling_of(arguments.eval)
        frame, weight = read_weights(frame, arguments.sample_weight, spelling)
        labels = read_labels(frame[arguments.target], of=np.unique(rows.labels))
        X = arrange(
            frame.drop(columns=[c for c in (*reserved, *arguments.drop) if c in frame]),
            known,
            spelling,
            lambda message: note(f"{file}: {message}"),
        )
    except FileError as error:
        raise FileError(f"{file}: {error}") from error
    return TrainingFrame(X, labels, weight)
