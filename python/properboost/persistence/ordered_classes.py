"""The order of classes in files, and the thresholds between them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import Binning
from properboost.models.threshold_moves import ThresholdMoves
from properboost.persistence.json_node import Node, write_reals
from properboost.persistence.labels import build_classes, describe_classes

__all__ = ["Order", "build_order", "describe_order", "list_order_fields"]


MOVES = "moves"
"""The field of models whose features move the thresholds."""


class Order(NamedTuple):
    """The sorted labels, the place of each in the order, and the ascending thresholds."""

    classes: NDArray[Any]
    ranks: NDArray[np.intp]
    thresholds: NDArray[np.float64]
    moves: ThresholdMoves | None


def list_order_fields(node: Node) -> list[str]:
    """Return the fields of a document of ordered classes, apart from its model."""
    optional = [MOVES] if MOVES in node.mapping() else []
    return ["classes", "places", "thresholds", *optional]


def describe_order(
    classes: NDArray[Any],
    ranks: NDArray[np.intp],
    thresholds: NDArray[np.float64],
    moves: ThresholdMoves | None,
) -> dict[str, Any]:
    """Return these fields."""
    fields = {
        "classes": describe_classes(classes),
        "places": ranks.tolist(),
        "thresholds": write_reals(thresholds),
    }
    if moves is not None:
        fields[MOVES] = [
            {"feature": feature, "values": [write_reals(row) for row in table]}
            for feature, table in zip(moves.features, moves.tables, strict=True)
        ]
    return fields


def build_order(fields: Mapping[str, Node], binning: Binning) -> Order:
    """Return the order that these fields describe, of a model with these bins."""
    classes = build_classes(fields["classes"])
    places = np.asarray(fields["places"].integers(0, len(classes) - 1), dtype=np.intp)
    if sorted(places.tolist()) != list(range(len(classes))):
        fields["places"].fail("must hold the place of each label in the order, once")
    thresholds = fields["thresholds"].reals(len(classes) - 1)
    if np.any(np.diff(thresholds) < 0.0):
        fields["thresholds"].fail("must hold numbers in ascending order")
    moves = _build_moves(fields[MOVES], binning, len(thresholds)) if MOVES in fields else None
    return Order(classes, places, thresholds, moves)


def _build_moves(node: Node, binning: Binning, n_thresholds: int) -> ThresholdMoves:
    """Return the moves of thresholds, a table of the codes of each feature."""
    tables: dict[int, NDArray[np.float64]] = {}
    for entry in node.entries():
        fields = entry.fields("feature", "values")
        feature = fields["feature"].integer(0, len(binning.features) - 1)
        if feature <= max(tables, default=-1):
            fields["feature"].fail("must be above the feature before it")
        rows = fields["values"].entries(binning.features[feature].width)
        tables[feature] = np.array([row.reals(n_thresholds) for row in rows])
    if not tables:
        node.fail("must hold a feature")
    return ThresholdMoves(tuple(tables), tuple(tables.values()))
