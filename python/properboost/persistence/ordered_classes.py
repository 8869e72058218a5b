"""The order of classes in files, and the thresholds between them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from properboost.persistence.json_node import Node
from properboost.persistence.labels import build_classes

__all__ = ["Order", "build_order"]


class Order(NamedTuple):
    """The sorted labels, the place of each in the order, and the ascending thresholds."""

    classes: NDArray[Any]
    ranks: NDArray[np.intp]
    thresholds: NDArray[np.float64]


def build_order(fields: Mapping[str, Node]) -> Order:
    """Return the order that the fields "classes", "places" and "thresholds" describe."""
    classes = build_classes(fields["classes"])
    places = np.asarray(fields["places"].integers(0, len(classes) - 1), dtype=np.intp)
    if sorted(places.tolist()) != list(range(len(classes))):
        fields["places"].fail("must hold the place of each label in the order, once")
    thresholds = fields["thresholds"].reals(len(classes) - 1)
    if np.any(np.diff(thresholds) < 0.0):
        fields["thresholds"].fail("must hold numbers in ascending order")
    return Order(classes, places, thresholds)
