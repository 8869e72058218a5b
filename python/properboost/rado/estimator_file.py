"""The codec that writes a `RadoBoostClassifier` to a file, and reads it back."""

from typing import Any

from properboost.models.rado_model import RadoModel
from properboost.persistence import Codec, Node, kind
from properboost.persistence.columns import COLUMN_FIELDS, describe_columns
from properboost.persistence.labels import describe_classes
from properboost.persistence.parameters import build_estimator, describe_parameters
from properboost.persistence.rado_models import COEFFICIENTS, build_rado_model, find_rounds
from properboost.rado.estimator import RadoBoostClassifier, check_parameters

__all__ = ["RadoBoostFile"]

_FIELDS = (
    "parameters",
    "seed",
    "n_rados",
    "n_kept",
    "classes",
    *COLUMN_FIELDS,
)


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
        fields = node.fields(*_FIELDS, find_rounds(node, version))
        model = build_estimator(fields["parameters"], RadoBoostClassifier, check_parameters)
        return model._set_fitted(*build_rado_model(fields))


def _describe_rounds(model: RadoModel) -> dict[str, Any]:
    if model.is_compact:
        values = {name: model.rounds[key].tolist() for name, key in COEFFICIENTS.items()}
        return {"coefficients": values}
    return {"rounds": {name: values.tolist() for name, values in model.rounds.items()}}
