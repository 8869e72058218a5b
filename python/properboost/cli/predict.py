"""``properboost predict``: classes, probabilities and contributions of the rows of a file."""

import argparse
import io
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from properboost.cli.arrow_table import is_arrow, make_arrow
from properboost.cli.csv_table import FileError, import_pandas, name_source
from properboost.cli.file_columns import read_features
from properboost.cli.model_file import load_named
from properboost.cli.output import note
from properboost.cli.parquet_parts import ParquetParts
from properboost.cli.predict_changes import (
    ChangeColumns,
    add_change_options,
    check_change_options,
)
from properboost.cli.predict_sets import SetColumns, add_set_options, check_set_options
from properboost.cli.row_file import RowFileReader, comes_in_batches
from properboost.cli.shared_arguments import (
    add_file,
    add_force,
    add_model,
    add_threads,
    read_level,
)
from properboost.cli.shared_work import check_output, make_reader
from properboost.estimators.ordered_predicting import OrderedPredictingMixin
from properboost.progress import show_progress
from properboost.whole_file import write_whole

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["EPILOG", "add_options", "run"]

EPILOG = """\
Columns are found by name, in any order; a missing one is an error, others are
ignored with a note.  Parquet, and a folder of such files, is read and predicted
in batches, however large it is.  The model keeps the --na of fit and the
spelling of numbers; pass the --sep and --encoding of the file.  FILE and the
output are Parquet or Arrow by suffix, and CSV otherwise.
The output has one row for each row of FILE, in its order.

examples:
  properboost predict model.json new.csv > predictions.csv
  properboost predict model.json new.csv --proba --output probabilities.csv
  properboost predict model.json new.csv --interval 0.9
  properboost predict model.json new.parquet --explain --output why.parquet
  properboost predict model.json new.csv --set 0.9 --calibration held.csv --target y
  properboost predict model.json new.csv --changes --to approved --keep age sex
  cat new.csv | properboost predict model.json - | head
"""

_ROWS_AT_ONCE = 2**16  # written to a CSV file


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the model, the files, and the columns to write."""
    add_model(parser)
    add_file(parser)
    parser.add_argument(
        "--output", metavar="FILE", default="-", help="the predictions (default: stdout, as CSV)"
    )
    add_force(parser)
    columns = parser.add_mutually_exclusive_group()
    columns.add_argument(
        "--proba",
        action="store_true",
        help="write the probabilities only, one column for each class",
    )
    columns.add_argument(
        "--raw",
        action="store_true",
        help=(
            "write the raw predictions F only: one column for each class, or with two classes "
            "that of the second"
        ),
    )
    parser.add_argument(
        "--interval",
        metavar="LEVEL",
        type=read_level,
        help=(
            "add, after each probability, the ends of an interval at this confidence level, such "
            "as 0.9; the model must have been fitted with --outer-bags"
        ),
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help=(
            "add, after the predictions, the contribution of each feature to the log-odds, and "
            "the baseline, as in the report; with --raw, those to the raw prediction"
        ),
    )
    add_set_options(parser)
    add_change_options(parser)
    parser.add_argument(
        "--verbose", action="count", default=0, help="show the progress of Parquet files on stderr"
    )
    add_threads(parser)


def run(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Predict, and write a row for each."""
    if arguments.raw and arguments.interval is not None:
        parser.error("--interval needs probabilities: leave out --raw")
    check_set_options(arguments, parser)
    check_change_options(arguments, parser)
    reader = make_reader(arguments, parser, arguments.file, arguments.calibration)
    if arguments.output != "-":
        check_output(arguments)
    model = load_named(arguments, ordered=True)
    reader = reader.remember(model.spelling_)
    columns = _Columns.of(arguments, model, reader)
    predictions = _predict_all(
        arguments, columns, read_features(model, arguments.file, reader, note)
    )
    if arguments.output == "-":
        for k, frame in enumerate(predictions):
            frame.to_csv(sys.stdout, index=False, header=k == 0)
    else:
        make = make_arrow if is_arrow(arguments.output) else _make_csv
        write_whole(arguments.output, make(predictions, arguments.output))
    if columns.changes is not None:
        columns.changes.report()


@dataclass(frozen=True, eq=False)
class _Columns:
    """The columns to write: a model's predictions, and sets and changes if they are wanted."""

    arguments: argparse.Namespace
    model: Any
    sets: SetColumns | None
    changes: ChangeColumns | None

    @classmethod
    def of(cls, arguments: argparse.Namespace, model: Any, reader: RowFileReader) -> "_Columns":
        """Return the columns, after reading the calibration rows of sets."""
        sets = changes = None
        if arguments.set is not None:
            sets = SetColumns.read(arguments, model, reader)
        if arguments.changes:
            find = _find_method(arguments, model, "changes", "changes")
            changes = ChangeColumns.of(arguments, model, find)
        return cls(arguments, model, sets, changes)

    def make(self, X: "DataFrame") -> "DataFrame":
        """Return the columns of some rows."""
        columns = _predict(self.arguments, self.model, X)
        if self.sets is not None:
            columns |= self.sets.make(X)
        if self.changes is not None:
            columns |= self.changes.make(X)
        frame: DataFrame = import_pandas().DataFrame(columns)
        return frame


def _predict_all(
    arguments: argparse.Namespace, columns: _Columns, batches: Iterator["DataFrame"]
) -> Iterator["DataFrame"]:
    """Yield the columns of each batch of rows."""
    total = 0
    if arguments.verbose and comes_in_batches(arguments.file):
        total = ParquetParts.open(arguments.file).n_rows
    with show_progress(total, total, "predicting", "", "row") as report:
        done = 0
        for X in batches:
            frame = columns.make(X)
            # Users paste the output beside the file: one missing row would shift all others.
            if len(frame) != len(X):
                file = name_source(arguments.file)
                raise FileError(f"{file}: {len(X):,} rows have {len(frame):,} predictions")
            yield frame
            done += len(X)
            if report is not None:
                report(done, math.nan)


def _predict(arguments: argparse.Namespace, model: Any, X: "DataFrame") -> dict[str, NDArray[Any]]:
    """Return the columns of predictions, and of contributions if they are wanted."""
    columns: dict[str, NDArray[Any]] = {}
    if arguments.raw and isinstance(model, OrderedPredictingMixin):
        columns["raw"] = model.estimator_.decision_function(X)
        if model.moving_features_:
            thresholds = model.row_thresholds(X)
            columns |= {f"threshold_{k + 1}": t for k, t in enumerate(thresholds.T)}
    elif arguments.raw:
        raw = _find_method(arguments, model, "decision_function", "raw predictions")(X)
        raw = raw[:, None] if raw.ndim == 1 else raw
        spoken_for = model.classes_[-raw.shape[1] :]
        columns |= {f"raw_{label}": raw[:, k] for k, label in enumerate(spoken_for)}
    else:
        probability = model.predict_proba(X)
        if not arguments.proba:
            columns["class"] = model.predict(X)
        ends = None
        if arguments.interval is not None:
            ask = _find_method(arguments, model, "predict_interval", "intervals")
            ends = ask(X, arguments.interval)
        for k, label in enumerate(model.classes_):
            columns[f"p_{label}"] = probability[:, k]
            if ends is not None:
                columns |= {f"low_{label}": ends[:, k, 0], f"high_{label}": ends[:, k, 1]}
    if arguments.explain:
        columns |= _explain(arguments, model, X)
    return columns


def _explain(
    arguments: argparse.Namespace, model: Any, X: "DataFrame"
) -> dict[str, "NDArray[np.float64]"]:
    """Return baselines and contributions as columns, for each class, or for the second of two.

    They are on the scale of the report, log-odds, unless raw predictions are written.
    """
    labels = [f"_{label}" for label in model.classes_]
    classes = [*enumerate(labels)] if len(labels) > 2 else [(1, labels[-1])]
    if isinstance(model, OrderedPredictingMixin):
        if not arguments.raw:
            raise FileError(
                f"{arguments.model}: ordered classes have contributions to the raw prediction "
                "alone: add --raw"
            )
        model, classes = model.estimator_, [(1, "")]
    ask = _find_method(arguments, model, "contributions", "contributions")
    columns = {}
    for k, suffix in classes:
        explained = ask(X, model.classes_.tolist()[k], scale="raw" if arguments.raw else "log_odds")
        columns[f"baseline{suffix}"] = np.full(len(X), explained.baseline)
        for term, values in zip(explained.names, explained.values.T, strict=True):
            name = f"contribution{suffix}_{term}"
            if name in columns:
                raise FileError(f"two columns of contributions would be called {name!r}")
            columns[name] = values
    return columns


def _find_method(
    arguments: argparse.Namespace, model: Any, name: str, what: str
) -> Callable[..., Any]:
    """Return a model's method with errors that name the file; refuse a model without it."""
    if not hasattr(model, name):
        ordered = isinstance(model, OrderedPredictingMixin)
        subject = "ordered classes have" if ordered else f"a {type(model).__name__} has"
        advice = "; --set has sets of classes that promise a coverage" if ordered else ""
        raise FileError(f"{arguments.model}: {subject} no {what}{advice}")

    def ask(*parameters: Any, **keywords: Any) -> Any:
        try:
            return getattr(model, name)(*parameters, **keywords)
        except ValueError as error:
            raise FileError(f"{arguments.model}: {error}") from error

    return ask


def _make_csv(frames: Iterable["DataFrame"], file: str) -> Iterator[bytes]:
    """Yield the pieces of a CSV file, compressed according to its suffix."""
    common = import_pandas().io.common
    compression = common.infer_compression(file, "infer")
    if compression is None:
        for k, frame in enumerate(frames):
            for begin in range(0, max(1, len(frame)), _ROWS_AT_ONCE):
                rows = frame.iloc[begin : begin + _ROWS_AT_ONCE]
                yield rows.to_csv(index=False, header=k + begin == 0).encode()
    else:
        packed = io.BytesIO()
        with common.get_handle(packed, "w", compression=compression, is_text=True) as handles:
            for k, frame in enumerate(frames):
                frame.to_csv(handles.handle, index=False, header=k == 0)
        yield packed.getvalue()
