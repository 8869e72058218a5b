"""The codec that writes a `UDTClassifier` to a file, and reads it back."""

import math
from typing import Any

import numpy as np

from properboost.data.binning import Binning
from properboost.data.names import read_names
from properboost.estimators.udt import UDTClassifier
from properboost.models.tree import TreeNodes
from properboost.parameters.declare import check_declared
from properboost.persistence import Codec, Node, kind
from properboost.persistence.bins import build_bins, describe_bins
from properboost.persistence.labels import (
    build_classes,
    build_names,
    describe_classes,
    describe_names,
)
from properboost.persistence.parameters import build_estimator, describe_parameters
from properboost.persistence.trees import build_tree, describe_tree

__all__ = ["UDTFile"]

_FIELDS = (
    "parameters",
    "phi",
    "seed",
    "classes",
    "feature_names",
    "categorical_from_dtype",
    "features",
    "tree",
)


@kind("UDTClassifier", UDTClassifier)
class UDTFile(Codec[UDTClassifier]):
    """Parameters, the permissible function, classes, bins and the tree."""

    def describe(self, model: UDTClassifier) -> dict[str, Any]:
        """Return the fields of a fitted tree."""
        check_declared(model)  # they may have been set since the fit
        return {
            "parameters": describe_parameters(model, UDTClassifier, model.seed_),
            "phi": dict(zip(("phi", "mu", "zeta"), model._phi, strict=True)),
            "seed": model.seed_,
            "classes": describe_classes(model.classes_),
            "feature_names": describe_names(read_names(model)),
            "categorical_from_dtype": model.binning_.from_dtype,
            "features": [describe_bins(bins) for bins in model.binning_.features],
            "tree": describe_tree(model.tree_),
        }

    def build(self, node: Node, version: int) -> UDTClassifier:
        """Return the fitted tree that fields describe."""
        del version  # there is only one
        fields = node.fields(*_FIELDS)
        model = build_estimator(fields["parameters"], UDTClassifier, check_declared)
        fields["phi"].fields("phi", "mu", "zeta")
        phi = build_estimator(fields["phi"], UDTClassifier, check_declared)
        model._phi = (phi.phi, float(phi.mu), float(phi.zeta))
        model.seed_ = fields["seed"].integer(0, 2**32 - 1)
        model.classes_ = build_classes(fields["classes"])
        if len(model.classes_) != 2:
            fields["classes"].fail("must hold two labels")
        from_dtype = fields["categorical_from_dtype"].boolean()
        model.binning_ = build_bins(fields["features"], from_dtype)
        model.tree_ = _build_tree(fields["tree"], model.binning_)
        n_features = len(model.binning_.features)
        model._set_features(n_features, build_names(fields["feature_names"], n_features))
        return model


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
