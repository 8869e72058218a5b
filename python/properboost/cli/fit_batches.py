"""``properboost fit`` on Parquet whose rows are not all in memory at once."""

import argparse
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from properboost.batches.predictions import evaluate
from properboost.batches.quantized_table import QuantizedTable
from properboost.cli.csv_table import FileError, import_pandas, name_source, require
from properboost.cli.file_columns import (
    RepeatFilter,
    UnseenCategories,
    arrange,
    find_categories,
    find_text,
)
from properboost.cli.fit_lines import NONE_HELD_OUT, ClassCounts, RowSummary, score_folds
from properboost.cli.fit_rows import show_rows
from properboost.cli.output import note
from properboost.cli.parquet_parts import ParquetParts
from properboost.cli.row_file import RowFileReader
from properboost.cli.training_columns import (
    check_classes,
    check_labels,
    keep_counted,
    make_features,
)
from properboost.data.labels import TooFewRowsError
from properboost.parameters.declare import read_parameter
from properboost.progress import show_progress

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["BatchedFit", "fit_in_batches"]

Score: TypeAlias = tuple[str, int, float, float]

Choose: TypeAlias = Callable[[NDArray[np.bool_]], NDArray[np.bool_]]
"""Function that returns the rows to take, from the mask of held-out rows."""


FitAndSave: TypeAlias = Callable[..., Any]
"""Function that shows what follows, fits a model, saves it, and returns the saved one."""


class BatchedFit(NamedTuple):
    """A model, the counts of its classes, and scores, or the reason against them.

    A score has a name, a number of rows, a log loss and an accuracy.
    """

    model: Any
    counts: ClassCounts
    scores: list[Score | str]


def fit_in_batches(
    arguments: argparse.Namespace, estimator: Any, reader: RowFileReader, fit_and_save: FitAndSave
) -> BatchedFit:
    """Fit and save a model, and score it."""
    rows = _BatchedRows(arguments)
    if arguments.eval is not None:
        others = reader.read_batches(arguments.eval, [], is_needed=lambda _: False)
        with _named(arguments.eval):
            require(next(others), rows.columns)
    model, chosen, counts = _fit_all(arguments, estimator, rows, fit_and_save)
    scores: list[Score | str] = [
        rows.score(model, "training", lambda is_held_out: is_held_out | True),
        *score_folds(model),
    ]
    if arguments.test_size is not None:
        scores.append(_hold_out(estimator, rows, int(counts.rows.sum()), model.classes_, arguments))
    if arguments.eval is not None:
        scores.append(_score_other(arguments, chosen, reader))
    return BatchedFit(model, counts, scores)


def _fit_all(
    arguments: argparse.Namespace,
    estimator: Any,
    rows: "_BatchedRows",
    fit_and_save: FitAndSave,
) -> tuple[Any, Any, ClassCounts]:
    """Fit all rows, and save; return the model, the saved one, and the counts of the classes."""
    with _named(arguments.file):
        table = rows.quantize(estimator, "reading", lambda is_held_out: is_held_out | True)
    classes, codes = table.classes.tolist(), table.labels.codes
    check_classes(arguments.target, classes, len(table), many=arguments.many_classes)
    estimator.set_params(categorical_features=rows.categorical)
    counts = ClassCounts.of(codes, table.weight)
    model = clone(estimator)
    summary = RowSummary(classes, counts, rows.n_features, len(rows.categorical))
    show_rows(arguments, summary)
    chosen = fit_and_save(arguments, model, summary, lambda unfitted: unfitted.fit(table))
    return model, chosen, counts


def _hold_out(
    estimator: Any, rows: "_BatchedRows", n_rows: int, classes: Any, arguments: argparse.Namespace
) -> Score | str:
    """Return the report's scores on rows that a model has not seen."""
    if arguments.test_size == 0.0:
        return NONE_HELD_OUT
    try:
        table = rows.quantize(estimator, "reading without the held-out rows", np.logical_not)
    except TooFewRowsError:
        return "held out: none, because there are too few rows"
    if table.classes.tolist() != classes.tolist() or len(table) == n_rows:
        return "held out: none, because there are too few rows"
    trial = clone(estimator).fit(table)
    del table
    return rows.score(trial, "held out", lambda is_held_out: is_held_out)


def _score_other(arguments: argparse.Namespace, model: Any, reader: RowFileReader) -> Score:
    """Return the report's scores on the rows of another file."""
    known, file = find_categories(model), name_source(arguments.eval)
    reserved = [c for c in (arguments.target, arguments.sample_weight) if c is not None]
    text = find_text(known)
    if model.classes_.dtype.kind in "OU":
        text.append(arguments.target)
    unseen, tell = UnseenCategories(model), RepeatFilter(lambda message: note(f"{file}: {message}"))
    spelling = reader.spelling_of(arguments.eval)

    def read() -> Iterator["DataFrame"]:
        is_needed = {*known, *reserved}.__contains__
        frames = reader.read_batches(arguments.eval, text, is_needed=is_needed, labels=reserved[0])
        for frame in frames:
            require(frame, reserved)
            rows = keep_counted(frame, arguments.sample_weight, spelling)
            check_labels(rows[arguments.target])
            dropped = [c for c in (*reserved, *arguments.drop) if c in rows]
            X = arrange(rows.drop(columns=dropped), known, spelling, tell)
            unseen.add(X)
            yield import_pandas().concat([X, rows[reserved]], axis=1)

    with _named(arguments.eval):
        scores = evaluate(model, read(), arguments.target, arguments.sample_weight)
    unseen.report(note)
    return "other file", int(scores["rows"]), scores["log_loss"], scores["accuracy"]


@contextmanager
def _named(file: str) -> Iterator[None]:
    """Have errors of a source name the file."""
    try:
        yield
    except (FileError, ValueError) as error:
        name = name_source(file)
        raise error if name in str(error) else FileError(f"{name}: {error}") from error


class _BatchedRows:
    """The rows of the file: features, then target and weight; some are held out."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._parts = ParquetParts.open(arguments.file)
        columns = (arguments.target, arguments.sample_weight)
        self._reserved = [column for column in columns if column is not None]
        first = next(self._frames())
        require(first, [*self._reserved, *arguments.categorical, *arguments.drop])
        others = first.drop(columns=[*self._reserved, *arguments.drop])
        _, self.categorical = make_features(others, arguments.categorical, None, note)
        self._features = [str(name) for name in others]
        self.n_features = len(self._features)

    @property
    def columns(self) -> list[str]:
        """The features, then the target and the weight."""
        return [*self._features, *self._reserved]

    def quantize(self, estimator: Any, task: str, choose: Choose) -> QuantizedTable:
        """Return the quantized table of chosen rows."""
        arguments = self._arguments
        known = estimator.get_params(deep=False)
        of_bins = ("max_bins", "rows_per_bin", "class_weight", "normalize_weights", "random_state")
        means = "cv" in known or read_parameter(estimator, "weak_learner").needs_means
        with self._progress(task, 2) as report:
            return QuantizedTable.from_batches(
                lambda: self._read(choose, report),
                arguments.target,
                arguments.sample_weight,
                features=self._features,
                categorical_features=self.categorical,
                bin_means=means,
                n_jobs=arguments.n_jobs,
                **{name: known[name] for name in of_bins if name in known},
            )

    def score(self, model: Any, name: str, choose: Choose) -> Score:
        """Score a model on chosen rows."""
        arguments = self._arguments
        with _named(arguments.file), self._progress(f"scoring, {name}", 1) as report:
            source = self._read(choose, report)
            scores = evaluate(model, source, arguments.target, arguments.sample_weight)
        return name, int(scores["rows"]), scores["log_loss"], scores["accuracy"]

    @contextmanager
    def _progress(self, task: str, n_readings: int) -> Iterator[Callable[[int], None]]:
        total = n_readings * self._parts.n_rows
        with show_progress(self._arguments.verbose, total, task, "", "row") as report:
            done = 0

            def add(n_rows: int) -> None:
                nonlocal done
                done += n_rows
                if report is not None:
                    report(done, math.nan)

            yield add

    def _frames(self) -> Iterator["DataFrame"]:
        arguments = self._arguments
        return self._parts.read(
            arguments.categorical,
            is_needed=lambda name: name not in arguments.drop,
            labels=arguments.target,
            categories=True,
        )

    def _read(self, choose: Choose, report: Callable[[int], None]) -> Iterator["DataFrame"]:
        arguments = self._arguments
        draws = np.random.default_rng(0)  # one a row, whatever the batches
        types = dict.fromkeys(self.categorical, "category")
        for frame in self._frames():
            is_held_out = draws.random(len(frame)) < (arguments.test_size or 0.0)
            counted = keep_counted(frame[choose(is_held_out)], arguments.sample_weight)
            check_labels(counted[arguments.target])
            yield counted[self.columns].astype(types)
            report(len(frame))
