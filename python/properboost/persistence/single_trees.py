"""The JSON form of a single tree whose leaves hold probabilities."""

import math
from collections.abc import Mapping

import numpy as np

from properboost.data.binning import Binning
from properboost.models.tree import TreeNodes
from properboost.persistence.bins import build_bins
from properboost.persistence.json_node import Node
from properboost.persistence.trees import build_tree

__all__ = ["build_bins_and_tree"]


def build_bins_and_tree(fields: Mapping[str, Node]) -> tuple[Binning, TreeNodes]:
    """Return the bins and the tree of the fields of a document."""
    binning = build_bins(fields["features"], fields["categorical_from_dtype"].boolean())
    return binning, _build_tree(fields["tree"], binning)


def _build_tree(node: Node, binning: Binning) -> TreeNodes:
    # Predictions are shares of classes, which need the weights.
    compact = "saving" not in node.mapping()
    tree = build_tree(node, binning, 2**31 - 1, compact=compact)
    with np.errstate(over="ignore"):
        weights, saving = tree.weight.sum(axis=1), tree.saving.sum()
    if np.any(weights <= 0.0) or not np.all(np.isfinite(weights)):
        node.entry("weight", None).fail("must have positive finite sums")
    if not compact and not saving < math.inf:
        node.entry("saving", None).fail("must have a finite sum")
    return tree
