"""Model files for the command line: the classifiers that commands read."""

import argparse
from typing import Any

from properboost.cli.errors import FileError
from properboost.estimators.base import TableClassifier, load_model
from properboost.estimators.least_cost import unwrap
from properboost.estimators.ordered_predicting import OrderedPredictingMixin, take_inner

__all__ = ["load_classifier", "load_named"]


def load_classifier(path: str, *, ordered: bool = False) -> Any:
    """Return the classifier of a file; those with sets or pairs are for Python.

    With `ordered` it may have ordered classes.
    """
    model = load_model(path)
    inner = unwrap(model)
    is_ordered = isinstance(inner, OrderedPredictingMixin)
    if isinstance(inner, TableClassifier) or (ordered and is_ordered):
        return model
    if is_ordered:
        raise FileError(
            f"{path}: it holds ordered classes, which have no report: inspect shows their "
            "thresholds, predict --raw --explain explains rows, compare has their scores"
        )
    raise FileError(
        f"{path}: it holds a {type(model).__name__}, which this command does not read: load it in "
        "Python, or save the classifier inside (models_[0])"
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
