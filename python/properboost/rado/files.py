"""Linear models of rados as files, as `properboost.persistence.files` writes tables and trees."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.persistence.json_node import (
    FORMAT,
    VERSION,
    Node,
    build_category,
    build_classes,
    check_categorical,
    name_type,
    plain,
    write_category,
)
from properboost.rado.columns import LinearColumns
from properboost.rado.estimator import RadoBoostClassifier, RadoModel, check_parameters

if TYPE_CHECKING:
    from properboost.data.table import Category

__all__ = ["build", "describe"]

_ROUNDS = ("feature", "edge", "step", "penalty", "log_rado_loss")
_LARGEST_COEFFICIENT = 1e300


def describe(model: RadoBoostClassifier) -> dict[str, Any]:
    """Return the document of a fitted model."""
    check_parameters(model)  # they may have been set since the fit
    fitted = model._model
    columns = fitted.columns
    return {
        "format": FORMAT,
        "format_version": VERSION,
        "library_version": _core.__version__,
        "estimator": type(model).__name__,
        "parameters": _describe_parameters(model),
        "seed": fitted.seed,
        "n_rados": fitted.n_rados,
        "n_kept": fitted.n_kept,
        "classes": {"dtype": name_type(model.classes_), "labels": model.classes_.tolist()},
        "feature_names": None if columns.names is None else list(columns.names),
        "categories": [
            None if categories is None else [write_category(c) for c in categories]
            for categories in columns.categories
        ],
        "intercept": bool(columns.intercept),
        "rounds": {name: values.tolist() for name, values in fitted.rounds.items()},
    }


def _describe_parameters(model: RadoBoostClassifier) -> dict[str, Any]:
    values = model.get_params(deep=False)
    if isinstance(values["random_state"], np.random.RandomState):
        values["random_state"] = model._model.seed  # the one it gave
    if isinstance(values["regularizer"], Mapping):
        pairs = values["regularizer"].items()
        values["regularizer"] = {name: plain(factor) for name, factor in pairs}
    if values["ridge_matrix"] is not None:
        values["ridge_matrix"] = np.asarray(values["ridge_matrix"], dtype=np.float64).tolist()
    if not isinstance(values["categorical_features"], str | None):
        values["categorical_features"] = [plain(v) for v in values["categorical_features"]]
    return {name: plain(value) for name, value in values.items()}


def build(document: Node) -> RadoBoostClassifier:
    """Return the model that a document, whose format is known, describes."""
    fields = document.fields(
        "format",
        "format_version",
        "library_version",
        "estimator",
        "parameters",
        "seed",
        "n_rados",
        "n_kept",
        "classes",
        "feature_names",
        "categories",
        "intercept",
        "rounds",
    )
    fields["library_version"].string()
    model = _build_unfitted(fields["parameters"])
    classes = build_classes(fields["classes"])
    if len(classes) != 2:
        fields["classes"].fail("must hold two labels")
    columns = _build_columns(fields["categories"], fields["feature_names"], fields["intercept"])
    rounds = _build_rounds(fields["rounds"], len(columns))
    n_kept = fields["n_kept"].integer(0, len(rounds["feature"]))
    n_rados = fields["n_rados"].integer(1, 2**53)
    seed = None if fields["seed"].value is None else fields["seed"].integer(0, 2**32 - 1)
    return model._set_fitted(classes, RadoModel(columns, rounds, n_kept, n_rados, seed))


def _build_unfitted(node: Node) -> RadoBoostClassifier:
    known = RadoBoostClassifier().get_params(deep=False)
    values = {}
    for name, entry in node.mapping().items():
        if name not in known:
            node.fail(f"has an unknown field {name!r}")
        values[name] = entry.value
        if name == "categorical_features":
            check_categorical(entry)
        elif name == "ridge_matrix" and entry.value is not None:
            rows = entry.entries()
            values[name] = np.array([row.reals(len(rows)) for row in rows])
    model = RadoBoostClassifier(**values)
    try:
        check_parameters(model)
    except (TypeError, ValueError) as error:
        node.fail(f"has a value that is not allowed: {error}")
    return model


def _build_columns(categories: Node, names: Node, intercept: Node) -> LinearColumns:
    features: list[tuple[Category, ...] | None] = []
    for entry in categories.entries():
        if entry.value is None:
            features.append(None)
            continue
        own = tuple(build_category(category) for category in entry.entries())
        if len(set(own)) < len(own):
            entry.fail("must be different from each other")
        features.append(own)
    if not features:
        categories.fail("must not be empty")
    known = None
    if names.value is not None:
        known = tuple(name.string() for name in names.entries(len(features)))
    return LinearColumns(tuple(features), known, intercept.boolean())


def _build_rounds(node: Node, n_columns: int) -> dict[str, NDArray[Any]]:
    judged = ("training_error",) if "training_error" in node.mapping() else ()
    fields = node.fields(*_ROUNDS, *judged)
    feature = fields["feature"].integers(0, n_columns - 1)
    rounds: dict[str, NDArray[Any]] = {"feature": feature.astype(np.int32)}
    for name in (*_ROUNDS[1:], *judged):
        rounds[name] = fields[name].reals(len(feature))
    with np.errstate(over="ignore"):
        total = np.abs(rounds["step"]).sum()
    if not total <= _LARGEST_COEFFICIENT:
        fields["step"].fail(f"must not add up to coefficients beyond {_LARGEST_COEFFICIENT:g}")
    return rounds
