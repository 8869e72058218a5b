"""The fields of fitted boosted classifiers in documents, apart from their parameters."""

from collections.abc import Iterable
from typing import Any, TypeVar

from properboost.data.names import read_names
from properboost.estimators.boosted import BoostedClassifier, FittedModel
from properboost.losses.builtin import MarginLoss
from properboost.losses.probabilities import Link
from properboost.parameters.kinds import Coupling
from properboost.persistence.edits import RECORD
from properboost.persistence.ensembles import (
    COMPACT_FROM,
    ENSEMBLE_FIELDS,
    build_ensemble,
    describe_ensemble,
)
from properboost.persistence.json_node import Node
from properboost.persistence.labels import (
    build_classes,
    build_names,
    describe_classes,
    describe_names,
)
from properboost.persistence.losses import describe_loss
from properboost.persistence.terms import BAG_INTERCEPTS, TERMS

__all__ = ["describe_fitted", "find_fields", "restore"]

_FIELDS = {"parameters": 1, "loss": 1, "seed": 1, "classes": 1, "feature_names": 1}

Model = TypeVar("Model", bound=BoostedClassifier)


def find_fields(node: Node, version: int, others: Iterable[str] = ()) -> list[str]:
    """Return the fields of a document of this version, and the `others`."""
    since = {**_FIELDS, **ENSEMBLE_FIELDS}
    names = ((COMPACT_FROM, 8), (RECORD, 8), (TERMS, 13), (BAG_INTERCEPTS, 13))
    present = node.mapping()
    optional = [name for name, first in names if version >= first and name in present]
    return [*(name for name, first in since.items() if version >= first), *optional, *others]


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
    classes = build_classes(fields["classes"])
    seed = fields["seed"].integer(0, 2**32 - 1)
    ensemble = build_ensemble(
        fields, version, len(classes), damping, joint=bool(Link(loss, multiclass).joint_loss)
    )
    FittedModel(classes, loss, ensemble, seed, multiclass, temperature).move_to(model)
    n_features = len(ensemble.binning.features)
    model._set_features(n_features, build_names(fields["feature_names"], n_features))
    return model
