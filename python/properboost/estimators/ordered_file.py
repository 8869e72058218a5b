"""The codec that writes an `OrderedClassifier` to a file, and reads it back."""

from typing import Any

from sklearn.base import clone

from properboost.estimators.ordered import OrderedClassifier
from properboost.persistence import Codec, Node, kind
from properboost.persistence.ordered_classes import (
    build_order,
    describe_order,
    list_order_fields,
)
from properboost.persistence.registry import KINDS

__all__ = ["OrderedFile"]

INNER = "ProperBoostClassifier"


@kind("OrderedClassifier", OrderedClassifier, since=13)
class OrderedFile(Codec[OrderedClassifier]):
    """The labels with their order, the thresholds, and the model of F."""

    def describe(self, model: OrderedClassifier) -> dict[str, Any]:
        """Return the fields of a classifier of ordered classes."""
        order = describe_order(model.classes_, model._ranks, model.thresholds_, model._moves)
        return order | {"model": KINDS[INNER].codec.describe(model.estimator_)}

    def build(self, node: Node, version: int) -> OrderedClassifier:
        """Return the classifier that fields describe."""
        fields = node.fields(*list_order_fields(node), "model")
        inner = KINDS[INNER].codec.build(fields["model"], version)
        classes, places, thresholds, moves = build_order(fields, inner.ensemble_.binning)
        if len(inner.classes_) != 2 or inner.begins_with_scores_:
            fields["model"].fail("must be of two classes, without initial scores")
        ordered = classes[places.argsort()].tolist()
        has_order = isinstance(ordered[0], str) or ordered != classes.tolist()
        model = OrderedClassifier(
            clone(inner), ordered if has_order else None, moving_thresholds=moves is not None
        )
        model._set_fitted(inner, classes, places, thresholds, moves)
        return model
