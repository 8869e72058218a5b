"""The command line: ``properboost demo``, ``fit``, ``predict`` and others.

Files are read so that fitting and predicting see the same cells: a column of numbers is numeric,
any other is categorical with its cells as strings, and nothing else is guessed.
"""

import argparse
import io
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from properboost import _core
from properboost.cli import report as report_command
from properboost.cli.arrow_table import is_arrow, make_arrow
from properboost.cli.csv_table import (
    MISSING,
    FileError,
    import_pandas,
    name_source,
    require,
)
from properboost.cli.file_columns import (
    arrange,
    make_features,
    note_unseen,
    read_features,
    read_labels,
    read_weights,
)
from properboost.cli.fit_report import TrainingRows, describe_fit, evaluate, hold_out
from properboost.cli.options import MODELS, add_options, make_classifier
from properboost.cli.row_file import Reader
from properboost.estimators.base import load_model
from properboost.estimators.properboost import ProperBoostClassifier, check_parameters
from properboost.parameters import checks
from properboost.whole_file import would_replace, write_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame

__all__ = ["main"]

_ROWS_AT_ONCE = 2**16  # written to a CSV file


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process by default.

    Returns
    -------
    int
        The exit status: 0, or 1 if something is wrong with a file, a column or the data, or
        there is too little memory.  What is wrong is one line on stderr.

    Raises
    ------
    SystemExit
        With status 2 if the arguments are wrong, with status 0 after ``--help`` and ``--version``.
    """
    parser, commands = _make_parsers()
    arguments = parser.parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: _note(_one_line(str(message)))
            arguments.run(arguments, commands[arguments.command])
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe, as `head` does.  Python flushes stdout once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (FileError, ImportError, ValueError) as error:
        return _complain(str(error))
    except MemoryError as error:
        return _complain(f"not enough memory: {error}" if str(error) else "not enough memory")
    except KeyboardInterrupt:
        _complain("interrupted")
        return 130
    return 0


def _complain(message: str) -> int:
    print(f"properboost: error: {_one_line(message)}", file=sys.stderr)
    return 1


def _note(message: str) -> None:
    print(f"properboost: note: {message}", file=sys.stderr)


def _one_line(message: str) -> str:
    return " ".join(message.split())


# -- arguments ------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line; the usage would be a screen of options."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {_one_line(message)} (see {self.prog} --help)\n")


def _make_parsers() -> tuple[_Parser, dict[str, _Parser]]:
    """Return the parser and those of the commands."""
    parser = _Parser(
        prog="properboost",
        description="Boosted look-up tables under proper margin losses.",
        epilog="Every command has its own help: properboost fit --help.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {_core.__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands = {}
    for name, usage, add_arguments, summary, epilog in (
        ("demo", "", _add_demo, "compare tuned gains with the classical losses", _DEMO),
        (
            "reproduce",
            " [ITEM ...]",
            _add_reproduce,
            "compute the papers' tables and figures beside what was published",
            _REPRODUCE,
        ),
        ("fit", " FILE --target COL", _add_fit, "fit a classifier to a file of rows", _FIT),
        ("predict", " MODEL FILE", _add_predict, "predict the rows of a file", _PREDICT),
        (
            "report",
            " MODEL FILE",
            _add_report,
            "write a page on a model and test rows",
            report_command.EPILOG,
        ),
        ("inspect", " MODEL", _add_inspect, "tell what a model file holds", _INSPECT),
        ("schema", "", _add_schema, "print the JSON schema of model files", ""),
    ):
        command = subparsers.add_parser(
            name,
            usage=f"%(prog)s{usage} [options]",
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        add_arguments(command)
        commands[name] = command
    return parser, commands


_DEMO = """\
The gain of each loss is chosen by cross-validation on the training rows.
ADULT is left out where it can neither be found (in the folder named by
PROPERBOOST_DATA, in the cache) nor be downloaded.

examples:
  properboost demo
  properboost demo --gains 0.5 1 2 4 --rounds 200 --output-dir results
"""

_FIT = """\
FILE is CSV, or by its suffix Parquet (.parquet) or Arrow (.arrow, .feather).
A column whose cells are all numbers is numeric; any other is categorical, with
its cells as text.  Booleans of Parquet and Arrow are numbers, 0 and 1.

Families of models are compared by cross-validation on all rows; parameters that
are given are kept.  The held-out rows then judge the choice, too.  With
--effort none one model is fitted; --gain auto, --n-estimators auto or both then
choose these alone.

The report gives log loss and accuracy: of the shares of the classes in place of
a model, to compare with; of the saved model on all rows, which it was fitted
on; on held-out rows, of a model fitted without them; and of the saved model on
the rows of another file (--eval).

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

_PREDICT = """\
Columns are found by name, in any order; a missing one is an error, others are
ignored with a note.  Give the same --na and --sep as to fit if the file is
written in the same way.  FILE and the output are Parquet or Arrow by suffix,
and CSV otherwise.

examples:
  properboost predict model.json new.csv > predictions.csv
  properboost predict model.json new.csv --proba --output probabilities.csv
  properboost predict model.json new.csv --interval 0.9
  properboost predict model.json new.parquet --explain --output why.parquet
  cat new.csv | properboost predict model.json - | head
"""


def _add_demo(parser: _Parser) -> None:
    from properboost.cli.demo import GAINS

    shown = " ".join(f"{gain:g}" for gain in GAINS)
    parser.add_argument(
        "--output-dir",
        metavar="FOLDER",
        default="out",
        help="folder of the picture demo.png, which is replaced (default: %(default)s)",
    )
    parser.add_argument(
        "--gains",
        metavar="G",
        nargs="+",
        type=float,
        default=GAINS,
        help=f"gains to try (default: {shown})",
    )
    parser.add_argument(
        "--rounds", metavar="N", type=int, default=100, help="rounds (default: %(default)s)"
    )
    _add_threads(parser)
    parser.set_defaults(run=_demo)


_REPRODUCE = """\
ITEM is a paper, one of boostlr, savage, arboost, uls and rado, or one of its
tables and figures.  Data sets are looked for in the folder named by
PROPERBOOST_DATA, in the cache and in the UCI archive; LETTER is part of the
package, and what cannot be had is listed.  A run that was stopped goes on where
it was if it is started again with the same --output-dir.

examples:
  properboost reproduce --list
  properboost reproduce arboost/fig4 boostlr/table6
  properboost reproduce --quick --jobs 2
  properboost reproduce savage --seeds 20 --readings --output-dir results
"""


def _add_reproduce(parser: _Parser) -> None:
    parser.add_argument(
        "items", metavar="ITEM", nargs="*", help="papers, or papers/items (default: all)"
    )
    parser.add_argument("--list", action="store_true", help="list the items, and do no more")
    parser.add_argument(
        "--seeds", metavar="N", type=int, help="repetitions (default: about 10, by item)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="2 repetitions, and small data sets where it matters"
    )
    parser.add_argument(
        "--readings", action="store_true", help="every reading of what a paper leaves open"
    )
    parser.add_argument(
        "--output-dir",
        metavar="FOLDER",
        default="out/papers",
        help="folder of the results, which are replaced (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs",
        metavar="N",
        dest="n_jobs",
        type=int,
        default=1,
        help="processes (default: %(default)s)",
    )
    parser.set_defaults(run=_reproduce)


def _add_fit(parser: _Parser) -> None:
    _add_file(parser)
    parser.add_argument("--target", metavar="COL", required=True, help="the column of classes")
    parser.add_argument(
        "--many-classes",
        action="store_true",
        help="take a target of more than 20 different numbers for classes",
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        default="model.json",
        help="the model, packed by gzip if it ends with .gz (default: %(default)s)",
    )
    _add_force(parser)
    parser.add_argument(
        "--compact",
        action="store_true",
        help="leave out what predictions do not need, as the rounds one by one",
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
        default=0.2,
        help="share of the rows held out for the report, 0 for none; the saved model is fitted on "
        "all rows (default: %(default)s)",
    )
    parser.add_argument("--verbose", action="count", default=0, help="show progress on stderr")
    _add_columns(parser.add_argument_group("columns"))
    parser.add_argument(
        "--model",
        choices=MODELS,
        default=MODELS[0],
        help="what is fitted: boosted tables, trees or rules; or a linear classifier from random "
        "sums of rows (default: %(default)s)",
    )
    add_options(parser)
    _add_threads(parser)
    parser.set_defaults(run=_fit)


def _add_columns(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--categorical",
        metavar="COL",
        nargs="+",
        action="extend",
        default=[],
        help="columns of numbers that are to be read as categories",
    )
    group.add_argument(
        "--drop",
        metavar="COL",
        nargs="+",
        action="extend",
        default=[],
        help="columns that are not features",
    )
    group.add_argument(
        "--sample-weight",
        metavar="COL",
        help="column that says how often each row counts; it is not a feature",
    )


def _add_predict(parser: _Parser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model saved by fit or save_model")
    _add_file(parser)
    parser.add_argument(
        "--output", metavar="FILE", default="-", help="the predictions (default: stdout, as CSV)"
    )
    _add_force(parser)
    columns = parser.add_mutually_exclusive_group()
    columns.add_argument(
        "--proba", action="store_true", help="write the probabilities only, a column a class"
    )
    columns.add_argument(
        "--raw",
        action="store_true",
        help="write the raw predictions F only: a column a class, or of two classes the one for "
        "the second",
    )
    parser.add_argument(
        "--interval",
        metavar="LEVEL",
        type=_level,
        help="write, after each probability, the ends of an interval at this confidence level, as "
        "0.9; the model must have been fitted with --outer-bags",
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="write, after the predictions, what each feature contributes to the raw prediction, "
        "and the baseline that this is added to",
    )
    _add_threads(parser)
    parser.set_defaults(run=_predict)


def _add_report(parser: _Parser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model saved by fit or save_model")
    _add_file(parser)
    parser.add_argument(
        "--output", metavar="FILE", default="report.html", help="the page (default: %(default)s)"
    )
    _add_force(parser)
    report_command.add_options(parser)
    _add_threads(parser)
    parser.set_defaults(run=_report)


_INSPECT = """\
Nothing is predicted: what is told is in the file.

examples:
  properboost inspect model.json.gz
  properboost inspect model.json --json | jq .parameters
"""


def _add_inspect(parser: _Parser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model saved by fit or save_model")
    parser.add_argument("--json", action="store_true", help="write JSON")
    parser.set_defaults(run=_inspect)


def _add_schema(parser: _Parser) -> None:
    parser.set_defaults(run=_print_schema)


def _add_file(parser: _Parser) -> None:
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


def _add_force(parser: _Parser) -> None:
    parser.add_argument(
        "--force", action="store_true", help="replace the output if there is such a file already"
    )


def _add_threads(parser: _Parser) -> None:
    parser.add_argument(
        "--jobs",
        "--threads",
        dest="n_jobs",
        metavar="N",
        type=int,
        help="threads (default: one for every CPU this process may use, or OMP_NUM_THREADS)",
    )


def _share(text: str) -> float:
    share = float(text)
    if not 0.0 <= share < 1.0:
        raise argparse.ArgumentTypeError(f"must be at least 0 and below 1; got {text}")
    return share


def _level(text: str) -> float:
    level = float(text)
    if not 0.0 < level < 1.0:
        raise argparse.ArgumentTypeError(f"must be above 0 and below 1; got {text}")
    return level


def _separator(text: str) -> str:
    separator = text.replace("\\t", "\t")
    if len(separator) != 1:
        raise argparse.ArgumentTypeError(f"must be one character; got {text!r}")
    return separator


# -- commands -------------------------------------------------------------------------------------


def _demo(arguments: argparse.Namespace, parser: _Parser) -> None:
    from properboost.cli import demo

    with _misuse_if_wrong(parser):
        check_parameters(
            ProperBoostClassifier(n_estimators=arguments.rounds, n_jobs=arguments.n_jobs)
        )
        for gain in arguments.gains:
            check_parameters(ProperBoostClassifier(gain=gain))
    demo.run(
        arguments.output_dir,
        gains=arguments.gains,
        n_estimators=arguments.rounds,
        n_jobs=arguments.n_jobs,
    )


def _reproduce(arguments: argparse.Namespace, parser: _Parser) -> None:
    from properboost.reproduce.catalogue import find_items
    from properboost.reproduce.run import reproduce

    with _misuse_if_wrong(parser):
        items = find_items(arguments.items)
        for name in ("seeds", "n_jobs"):
            if getattr(arguments, name) is not None:
                checks.integer(name, getattr(arguments, name), 1)
    if arguments.list:
        for name, item in items.items():
            seconds = item.experiment.seconds * item.experiment.seeds
            print(f"{name:<18}{seconds:>7.0f} s  {item.title}")
        return
    reproduce(
        arguments.items,
        seeds=arguments.seeds,
        quick=arguments.quick,
        readings=arguments.readings,
        output_dir=arguments.output_dir,
        n_jobs=arguments.n_jobs,
    )


def _fit(arguments: argparse.Namespace, parser: _Parser) -> None:
    with _misuse_if_wrong(parser):
        estimator = make_classifier(arguments)  # before a long file is read
    reserved = [c for c in (arguments.target, arguments.sample_weight) if c is not None]
    for column in (*arguments.categorical, *arguments.drop):
        if column in reserved:
            parser.error(f"column {column!r} is the target or the weight, which are no features")
    reader = _make_reader(arguments, parser, arguments.file, arguments.eval)
    _check_output(arguments)
    frame = reader.read(
        arguments.file,
        arguments.categorical,
        is_needed=lambda name: name not in arguments.drop,
        labels=arguments.target,
        categories=True,
    )
    require(frame, [*reserved, *arguments.categorical, *arguments.drop])
    frame, weight = read_weights(frame, arguments.sample_weight)
    labels = read_labels(frame[arguments.target], many=arguments.many_classes)
    X, categorical = make_features(
        frame.drop(columns=[*reserved, *arguments.drop]), arguments.categorical, _note
    )
    rows = TrainingRows(X, labels, weight)
    others = None
    if arguments.eval is not None:
        others = _read_others(arguments, reader, rows)
    model = estimator.set_params(categorical_features=categorical)
    scores = [hold_out(model, rows, arguments.test_size)]
    rows.fit(model)
    # A search is saved as the model that it chose: its curves are not needed to predict.
    chosen = getattr(model, "best_estimator_", model)
    chosen.save_model(arguments.output, compact=arguments.compact)
    if others is not None:
        note_unseen(chosen, others.X, _note)
        scores.append(evaluate(model, others))
    source = name_source(arguments.file)
    print(describe_fit(model, rows, scores, source=source, target=arguments.target))
    print(f"\nThe model, fitted on all rows, is in {arguments.output}.")


def _make_reader(arguments: argparse.Namespace, parser: _Parser, *files: str | None) -> Reader:
    """Return how files are read; options that none of them is read by are misused."""
    reader = Reader(arguments.sep, arguments.na)
    unused = reader.find_unused([file for file in files if file is not None])
    if unused is not None:
        parser.error(f"{unused} is for CSV files")
    return reader


def _check_output(arguments: argparse.Namespace) -> None:
    """Complain of an output that cannot be, or must not be, written, before the work."""
    output = Path(arguments.output)
    if output.is_dir() or not output.parent.is_dir():
        raise FileError(f"{output}: it is a folder, or is to be in one that does not exist")
    if not arguments.force and would_replace(arguments.output):
        raise FileError(f"{output}: there is such a file already; --force replaces it")


def _read_others(arguments: argparse.Namespace, reader: Reader, rows: TrainingRows) -> TrainingRows:
    """Return the rows of another file, with the columns of those for training."""
    known: dict[str, Any] = {
        str(name): column.cat.categories if column.dtype == "category" else None
        for name, column in rows.X.items()
    }
    text = [name for name, categories in known.items() if categories is not None]
    if rows.labels.dtype.kind in "OU":
        text.append(arguments.target)
    reserved = [c for c in (arguments.target, arguments.sample_weight) if c is not None]
    file = name_source(arguments.eval)
    frame = reader.read(
        arguments.eval,
        text,
        is_needed={*known, *reserved}.__contains__,
        labels=arguments.target,
    )
    try:
        require(frame, reserved)
        frame, weight = read_weights(frame, arguments.sample_weight)
        labels = read_labels(frame[arguments.target], of=np.unique(rows.labels))
        X = arrange(
            frame.drop(columns=[c for c in (*reserved, *arguments.drop) if c in frame]),
            known,
            lambda message: _note(f"{file}: {message}"),
        )
    except FileError as error:
        raise FileError(f"{file}: {error}") from error
    return TrainingRows(X, labels, weight)


def _predict(arguments: argparse.Namespace, parser: _Parser) -> None:
    if arguments.raw and arguments.interval is not None:
        parser.error("--interval is of probabilities: leave out --raw")
    reader = _make_reader(arguments, parser, arguments.file)
    if arguments.output != "-":
        _check_output(arguments)
    model = load_model(arguments.model)
    if arguments.n_jobs is not None:
        model.set_params(n_jobs=arguments.n_jobs)
    if not hasattr(model, "feature_names_in_"):
        raise FileError(f"{arguments.model}: the model was fitted without column names")
    X = read_features(model, arguments.file, reader, _note)
    columns: dict[str, NDArray[Any]] = {}
    if arguments.raw:
        raw = model.decision_function(X)
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
    predictions = import_pandas().DataFrame(columns)
    if arguments.output == "-":
        predictions.to_csv(sys.stdout, index=False)
    else:
        make = make_arrow if is_arrow(arguments.output) else _make_csv
        write_whole(arguments.output, make(predictions, arguments.output))


def _explain(
    arguments: argparse.Namespace, model: Any, X: "DataFrame"
) -> dict[str, "NDArray[np.float64]"]:
    """Return, for each class, or of two for the second, a baseline and contributions by column."""
    ask = _find_method(arguments, model, "contributions", "contributions")
    columns = {}
    labels = model.classes_.tolist()
    for label in labels if len(labels) > 2 else labels[1:]:
        found = ask(X, label)
        columns[f"baseline_{label}"] = np.full(len(X), found.baseline)
        for term, values in zip(found.names, found.values.T, strict=True):
            name = f"contribution_{label}_{term}"
            if name in columns:
                raise FileError(f"two columns of contributions would be called {name!r}")
            columns[name] = values
    return columns


def _find_method(
    arguments: argparse.Namespace, model: Any, name: str, what: str
) -> Callable[..., Any]:
    """Return a model's method whose errors name the file, as does that of a model without it."""
    if not hasattr(model, name):
        raise FileError(f"{arguments.model}: a {type(model).__name__} has no {what}")

    def ask(*given: Any) -> Any:
        try:
            return getattr(model, name)(*given)
        except ValueError as error:
            raise FileError(f"{arguments.model}: {error}") from error

    return ask


def _report(arguments: argparse.Namespace, parser: _Parser) -> None:
    reader = _make_reader(arguments, parser, arguments.file)
    _check_output(arguments)
    model = load_model(arguments.model)
    if arguments.n_jobs is not None:
        model.set_params(n_jobs=arguments.n_jobs)
    print(report_command.report(arguments, model, reader, _note))


def _inspect(arguments: argparse.Namespace, _parser: _Parser) -> None:
    from properboost.cli.model_summary import describe_summary, summarize

    summary = summarize(arguments.model)
    if arguments.json:
        print(json.dumps(summary, indent=1, default=str))
    else:
        print(describe_summary(summary))


def _print_schema(_arguments: argparse.Namespace, _parser: _Parser) -> None:
    from properboost.persistence.schema import model_schema

    print(json.dumps(model_schema(), indent=1, ensure_ascii=False))


def _make_csv(frame: "DataFrame", file: str) -> Iterator[bytes]:
    """Yield the pieces of a CSV file, which is compressed as the end of its name says."""
    compression = import_pandas().io.common.infer_compression(file, "infer")
    if compression is None:
        for begin in range(0, max(1, len(frame)), _ROWS_AT_ONCE):
            rows = frame.iloc[begin : begin + _ROWS_AT_ONCE]
            yield rows.to_csv(index=False, header=begin == 0).encode()
    else:
        packed = io.BytesIO()
        frame.to_csv(packed, index=False, compression=compression)
        yield packed.getvalue()


@contextmanager
def _misuse_if_wrong(parser: _Parser) -> Iterator[None]:
    """Turn what a classifier says of its parameters into an error of the arguments."""
    try:
        yield
    except (TypeError, ValueError) as error:
        parser.error(str(error))
