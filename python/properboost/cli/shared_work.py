"""Work of several commands: checks of options and outputs, loading."""

import argparse
from pathlib import Path
from typing import Any

from properboost.cli.errors import FileError
from properboost.cli.output import note
from properboost.cli.row_file import RowFileReader
from properboost.cli.shared_arguments import SPELLINGS, misuse_if_wrong
from properboost.data.spelling import Spelling
from properboost.estimators.base import TableClassifier, load_model
from properboost.estimators.least_cost import unwrap
from properboost.estimators.ordered_predicting import OrderedPredictingMixin, take_inner
from properboost.whole_file import would_replace

__all__ = ["check_output", "load_classifier", "load_named", "make_reader"]


def make_reader(
    arguments: argparse.Namespace, parser: argparse.ArgumentParser, *files: str | None
) -> RowFileReader:
    """Return the reader of files; refuse options that apply to none of them."""
    spelling = {name: value for name, value in vars(arguments).items() if name in SPELLINGS}
    numbers = {
        k: tuple(value) if isinstance(value, list) else value for k, value in spelling.items()
    }
    with misuse_if_wrong(parser):
        Spelling.of(numbers)
    reader = RowFileReader(arguments.sep, arguments.na, arguments.encoding, numbers, note)
    unused = reader.find_unused([file for file in files if file is not None])
    if unused is not None:
        parser.error(f"{unused} is for CSV files")
    return reader


def check_output(arguments: argparse.Namespace) -> None:
    """Refuse an output that cannot or must not be written, before the work."""
    output = Path(arguments.output)
    if output.is_dir() or not output.parent.is_dir():
        raise FileError(f"{output}: it is a folder, or its folder does not exist")
    if not arguments.force and would_replace(arguments.output):
        raise FileError(f"{output}: the file exists; --force replaces it")


def load_classifier(path: str, *, ordered: bool = False) -> Any:
    """Return the classifier of a file; those with sets or pairs are for Python.

    With `ordered` it may have ordered classes.
    """
    model = load_model(path)
    inner = unwrap(model)
    is_ordered = isinstance(inner, OrderedPredictingMixin)
    if isinstance(inner, TableClassifier) or (ordered and is_ordered):
        return model
    what, advice = f"a {type(model).__name__}", ", or save the classifier inside (models_[0])"
    if is_ordered:
        what, advice = "ordered classes", "; predict, compare, export and inspect read it"
    raise FileError(
        f"{path}: it holds {what}, which this command does not read: load it in Python{advice}"
    )


def load_named(
    arguments: argparse.Namespace, path: str | None = None, *, ordered: bool = False
) -> Any:
    """Return a model, with names of columns and the requested threads.

    The default of `path` is the argument of the model; `ordered` is as in `load_classifier`.
    """
    path = arguments.model if path is None else path
    model = load_classifier(path, ordered=ordered)
    if arguments.n_jobs is not None:
        take_inner(unwrap(model)).set_params(n_jobs=arguments.n_jobs)
    if not hasattr(model, "feature_names_in_"):
        raise FileError(f"{path}: the model was fitted without column names")
    return model
