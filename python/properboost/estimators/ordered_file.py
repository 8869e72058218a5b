"""The codec that writes an `OrderedClassifier` to a file, and reads it back."""

from typing import Any

import numpy as np
from sklearn.base import clone

from properboost.estimators.ordered import OrderedClassifier
from properboost.persistence import Codec, Node, kind
from properboost.persistence.json_node import write_reals
from properboost.persistence.labels import build_classes, describe_classes
from properboost.persistence.registry import KINDS

__all__ = ["OrderedFile"]

INNER = "ProperBoostClassifier"


@kind("OrderedClassifier", OrderedClassifier, since=13)
class OrderedFile(Codec[OrderedClassifier]):
    """The labels with their order, the thresholds, and the model of F."""

    def describe(self, model: OrderedClassifier) -> dict[str, Any]:
        """Return the fields of a classifier of ordered classes."""
        return {
            "classes": describe_classes(model.classes_),
            "places": model._ranks.tolist(),
            "thresholds": write_reals(model.thresholds_),
            "model": KINDS[INNER].codec.describe(model.estimator_),
        }

    def build(self, node: Node, version: int) -> OrderedClassifier:
        """Return the classifier that fields describe."""
        fields = node.fields("classes", "places", "thresholds", "model")
        classes = build_classes(fields["classes"])
        places = np.asarray(fields["places"].integers(0, len(classes) - 1), dtype=np.intp)
        if sorted(places.tolist()) != list(range(len(classes))):
            fields["places"].fail("must hold the place of each label in the order, once")
        thresholds = fields["thresholds"].reals(len(classes) - 1)
        if np.any(np.diff(thresholds) < 0.0):
            fields["thresholds"].fail("must hold numbers in ascending order")
        inner = KINDS[INNER].codec.build(fields["model"], version)
        if len(inner.classes_) != 2 or inner.begins_with_scores_:
            fields["model"].fail("must be of two classes, without initial scores")
        ordered = classes[np.argsort(places)].tolist()
        has_order = isinstance(ordered[0], str) or ordered != classes.tolist()
        model = OrderedClassifier(clone(inner), ordered if has_order else None)
        model._set_fitted(inner, classes, places, thresholds)
        return model
