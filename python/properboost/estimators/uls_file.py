"""The codec that writes a `ULSClassifier` to a file, and reads it back."""

from typing import Any

from properboost.estimators.uls import ULSClassifier
from properboost.parameters.declare import check_declared
from properboost.persistence import Codec, Node, kind
from properboost.persistence.columns import COLUMN_FIELDS, describe_columns
from properboost.persistence.labels import describe_classes
from properboost.persistence.parameters import build_estimator, describe_parameters
from properboost.persistence.uls_models import build_uls_model

__all__ = ["ULSFile"]

_FIELDS = (
    "parameters",
    "phi",
    "classes",
    *COLUMN_FIELDS,
    "coefficients",
    "total",
    "n_rounds",
    "norms",
    "rounds",
)


@kind("ULSClassifier", ULSClassifier, since=11)
class ULSFile(Codec[ULSClassifier]):
    """Parameters, the permissible function, classes, columns, coefficients and rounds."""

    def describe(self, model: ULSClassifier) -> dict[str, Any]:
        """Return the fields of a fitted model."""
        check_declared(model)  # they may have been set since the fit
        fitted = model._model
        rounds = fitted.rounds
        return {
            "parameters": describe_parameters(model, ULSClassifier, 0),
            "phi": fitted.phi,
            "classes": describe_classes(model.classes_),
            **describe_columns(fitted.columns),
            "coefficients": fitted.coefficients.tolist(),
            "total": fitted.total,
            "n_rounds": fitted.n_rounds,
            "norms": None if fitted.norms is None else fitted.norms.tolist(),
            "rounds": None
            if rounds is None
            else {name: values.tolist() for name, values in rounds.items()},
        }

    def build(self, node: Node, version: int) -> ULSClassifier:
        """Return the fitted model that fields describe."""
        del version  # there is only one
        fields = node.fields(*_FIELDS)
        model = build_estimator(fields["parameters"], ULSClassifier, check_declared)
        return model._set_fitted(*build_uls_model(fields))
