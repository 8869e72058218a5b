"""The fields of fitted boosted classifiers in documents, apart from their parameters."""

from typing import Any, TypeVar

from properboost.data.names import keep_features, read_names
from properboost.estimators.boosted import BoostedClassifier
from properboost.losses.builtin import MarginLoss
from properboost.parameters.kinds import Coupling
from properboost.persistence.ensembles import (
    describe_ensemble,
)
from properboost.persistence.fitted_models import build_fitted
from properboost.persistence.json_node import Node
from properboost.persistence.labels import (
    describe_classes,
    describe_names,
)
from properboost.persistence.losses import describe_loss

__all__ = ["describe_fitted", "restore"]

Model = TypeVar("Model", bound=BoostedClassifier)


def describe_fitted(model: BoostedClassifier) -> dict[str, Any]:
    """Return all fields but the parameters."""
    return {
        "loss": describe_loss(model.loss_),
        "seed": model.seed_,
        "classes": describe_classes(model.classes_),
        "feature_names": describe_names(read_names(model)),
        **describe_ensemble(model.ensemble_),
    }


def restore(
    model: Model,
    fields: dict[str, Node],
    version: int,
    loss: MarginLoss,
    damping: float = 0.0,
    multiclass: Coupling | None = None,
    temperature: float | None = None,
) -> Model:
    """Set the fitted attributes of an estimator from the fields, and return it."""
    fitted, names = build_fitted(fields, version, loss, damping, multiclass, temperature)
    fitted.move_to(model)
    keep_features(model, len(fitted.ensemble.binning.features), names)
    return model
