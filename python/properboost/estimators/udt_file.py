"""The codec that writes a `UDTClassifier` to a file, and reads it back."""

from typing import Any

from properboost.data.names import keep_features, read_names
from properboost.estimators.udt import UDTClassifier
from properboost.parameters.declare import check_declared
from properboost.persistence import Codec, Node, kind
from properboost.persistence.bins import describe_bins
from properboost.persistence.labels import (
    build_names,
    build_two_classes,
    describe_classes,
    describe_names,
)
from properboost.persistence.parameters import build_estimator, describe_parameters
from properboost.persistence.single_trees import build_bins_and_tree
from properboost.persistence.trees import describe_tree

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
        model.classes_ = build_two_classes(fields["classes"])
        model.binning_, model.tree_ = build_bins_and_tree(fields)
        n_features = len(model.binning_.features)
        keep_features(model, n_features, build_names(fields["feature_names"], n_features))
        return model
