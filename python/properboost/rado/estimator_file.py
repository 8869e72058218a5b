"""The codec that writes a `RadoBoostClassifier` to a file, and reads it back."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.persistence import Codec, Node, kind
from properboost.persistence.columns import COLUMN_FIELDS, build_columns, describe_columns
from properboost.persistence.labels import build_classes, describe_classes
from properboost.persistence.parameters import build_estimator, describe_parameters
from properboost.rado.estimator import RadoBoostClassifier, RadoModel, check_parameters

__all__ = ["RadoBoostFile"]

_FIELDS = (
    "parameters",
    "seed",
    "n_rados",
    "n_kept",
    "classes",
    *COLUMN_FIELDS,
)
_ROUNDS = ("feature", "edge", "step", "penalty", "log_rado_loss")
_COEFFICIENTS = {"feature": "feature", "value": "step"}
"""The fields of compact models in place of rounds, and their names in rounds."""

_LARGEST_COEFFICIENT = 1e300


@kind("RadoBoostClassifier", RadoBoostClassifier, since=4)
class RadoBoostFile(Codec[RadoBoostClassifier]):
    """Parameters, classes, columns and rounds."""

    def describe(self, model: RadoBoostClassifier) -> dict[str, Any]:
        """Return the fields of a fitted model."""
        check_parameters(model)  # they may have been set since the fit
        fitted = model._model
        return {
            "parameters": describe_parameters(model, RadoBoostClassifier, fitted.seed),
            "seed": fitted.seed,
            "n_rados": fitted.n_rados,
            "n_kept": fitted.n_kept,
            "classes": describe_classes(model.classes_),
            **describe_columns(fitted.columns),
            **_describe_rounds(fitted),
        }

    def build(self, node: Node, version: int) -> RadoBoostClassifier:
        """Return the fitted model that fields describe."""
        compact = version > 7 and "coefficients" in node.mapping()
        fields = node.fields(*_FIELDS, "coefficients" if compact else "rounds")
        model = build_estimator(fields["parameters"], RadoBoostClassifier, check_parameters)
        classes = build_classes(fields["classes"])
        if len(classes) != 2:
            fields["classes"].fail("must hold two labels")
        columns = build_columns(fields)
        if compact:
            rounds = _build_coefficients(fields["coefficients"], len(columns))
            n_kept = fields["n_kept"].integer(len(rounds["feature"]), 2**31 - 1)
        else:
            rounds = _build_rounds(fields["rounds"], len(columns))
            n_kept = fields["n_kept"].integer(0, len(rounds["feature"]))
        n_rados = fields["n_rados"].integer(1, 2**53)
        seed = None if fields["seed"].value is None else fields["seed"].integer(0, 2**32 - 1)
        return model._set_fitted(classes, RadoModel(columns, rounds, n_kept, n_rados, seed))


def _describe_rounds(model: RadoModel) -> dict[str, Any]:
    if model.is_compact:
        values = {name: model.rounds[key].tolist() for name, key in _COEFFICIENTS.items()}
        return {"coefficients": values}
    return {"rounds": {name: values.tolist() for name, values in model.rounds.items()}}


def _build_rounds(node: Node, n_columns: int) -> dict[str, NDArray[Any]]:
    optional = ("training_error",) if "training_error" in node.mapping() else ()
    fields = node.fields(*_ROUNDS, *optional)
    feature = fields["feature"].integers(0, n_columns - 1)
    rounds: dict[str, NDArray[Any]] = {"feature": feature.astype(np.int32)}
    for name in (*_ROUNDS[1:], *optional):
        rounds[name] = fields[name].reals(len(feature))
    _check_steps(fields["step"], rounds["step"])
    return rounds


def _build_coefficients(node: Node, n_columns: int) -> dict[str, NDArray[Any]]:
    fields = node.fields(*_COEFFICIENTS)
    feature = fields["feature"].integers(0, n_columns - 1)
    if np.any(np.diff(feature) <= 0):
        fields["feature"].fail("must be in strictly ascending order")
    values = fields["value"].reals(len(feature))
    if np.any(values == 0.0):
        fields["value"].fail("must hold no 0")
    _check_steps(fields["value"], values)
    return {"feature": feature.astype(np.int32), "step": values}


def _check_steps(node: Node, steps: NDArray[np.float64]) -> None:
    with np.errstate(over="ignore"):
        total = np.abs(steps).sum()
    if not total <= _LARGEST_COEFFICIENT:
        node.fail(f"must not add up to coefficients beyond {_LARGEST_COEFFICIENT:g}")
