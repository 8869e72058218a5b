"""The codec that writes an `ARBoostClassifierCV` to a file, and reads it back."""

from typing import Any

from properboost.data.names import copy_features
from properboost.estimators.arboost_file import ARBoostFile, replace_old_values
from properboost.model_selection.arboost_cv import ARBoostClassifierCV, read_parameters
from properboost.models.fitted_model import FittedModel
from properboost.persistence import Codec, Node, kind
from properboost.persistence.json_node import write_real
from properboost.persistence.losses import LossList
from properboost.persistence.parameters import build_estimator, describe_parameters
from properboost.persistence.results import build_columns, describe_columns

__all__ = ["ARBoostCVFile"]


@kind("ARBoostClassifierCV", ARBoostClassifierCV)
class ARBoostCVFile(Codec[ARBoostClassifierCV]):
    """Parameters, the results of the search, and the model fitted to all rows."""

    def describe(self, model: ARBoostClassifierCV) -> dict[str, Any]:
        """Return the fields of a search."""
        read_parameters(model)  # they may have been set since the fit
        return {
            "parameters": describe_parameters(model, ARBoostClassifierCV, model.seed_),
            "best_score": write_real(model.best_score_),
            "cv_results": describe_columns(model.cv_results_, LossList()),
            "best_estimator": ARBoostFile().describe(model.best_estimator_),
        }

    def build(self, node: Node, version: int) -> ARBoostClassifierCV:
        """Return the search that fields describe."""
        fields = node.fields("parameters", "best_score", "cv_results", "best_estimator")

        def check(model: ARBoostClassifierCV) -> None:
            replace_old_values(model)
            read_parameters(model)

        model = build_estimator(fields["parameters"], ARBoostClassifierCV, check)
        model.best_score_ = fields["best_score"].real()
        model.cv_results_ = build_columns(fields["cv_results"], LossList())
        best = ARBoostFile().build(fields["best_estimator"], version)
        model.best_estimator_ = best
        model._set_voting(best._voting)
        FittedModel.of(best).move_to(model)
        copy_features(model, best)
        return model
