"""The fields of files that all classifiers around others have: parameters and models."""

from typing import Any, TypeVar

from sklearn.base import clone

from properboost.conformal.around import AroundClassifier
from properboost.data.names import read_names
from properboost.estimators.base import check_can_be_saved
from properboost.parameters.declare import check_declared
from properboost.persistence import Node
from properboost.persistence.parameters import build_estimator, describe_parameters
from properboost.persistence.registry import KINDS, find_kind

__all__ = ["AROUND_FIELDS", "build_around", "describe_around"]

Around = TypeVar("Around", bound=AroundClassifier)

AROUND_FIELDS = ("parameters", "models")

_HEADER = ("estimator", "compact")


def describe_around(model: AroundClassifier) -> dict[str, Any]:
    """Return the fields of the parameters and the models."""
    check_declared(model)  # they may have been set since the fit
    return {
        "parameters": describe_parameters(model, type(model), None),
        "models": [_describe_model(inner) for inner in model.models_],
    }


def _describe_model(inner: Any) -> dict[str, Any]:
    kind = find_kind(inner)
    check_can_be_saved(inner)
    header = dict(zip(_HEADER, (kind.name, inner.is_compact), strict=True))
    return {**header, "fields": kind.codec.describe(inner)}


def build_around(around: type[Around], fields: dict[str, Node], version: int) -> Around:
    """Return the classifier with its models, without what it learned from held-out rows."""
    model = build_estimator(fields["parameters"], around, check_declared)
    models = [_build_model(node, version) for node in fields["models"].entries()]
    _check_alike(fields["models"], models)
    if model.cv is None:
        if len(models) != 1:
            fields["models"].fail("must hold one model, because cv is null")
        model.estimator = models[0]
    else:
        model.estimator = clone(models[0])
    model._set_models(models)
    return model


def _build_model(node: Node, version: int) -> Any:
    fields = node.fields(*_HEADER, "fields")
    kind = KINDS[fields["estimator"].choice([*KINDS])]
    inner = kind.codec.build(fields["fields"], version)
    if fields["compact"].boolean() != inner.is_compact:
        fields["compact"].fail("is against the content of the model")
    return inner


def _check_alike(node: Node, models: list[Any]) -> None:
    """Check that there is a model, and that all have the same classes and features."""
    if not models:
        node.fail("must hold at least one model")
    first = models[0]
    for other in models[1:]:
        same = other.classes_.dtype == first.classes_.dtype
        same &= other.classes_.tolist() == first.classes_.tolist()
        same &= other.n_features_in_ == first.n_features_in_
        same &= read_names(other) == read_names(first)
        if not same:
            node.fail("must hold models of the same classes and features")
