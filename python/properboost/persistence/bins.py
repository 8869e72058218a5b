"""The JSON form of features' bins and their training weights."""

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import (
    MAX_CATEGORIES,
    Binning,
    CategoricalBins,
    FeatureBins,
    NumericBins,
)
from properboost.persistence.json_node import INFINITE, Node, write_reals
from properboost.persistence.labels import build_categories, describe_categories

__all__ = [
    "Weights",
    "build_bins",
    "build_means",
    "build_weighted_bins",
    "build_weights",
    "describe_bins",
    "describe_weighted_bins",
]

Weights: TypeAlias = tuple[NDArray[np.float64], ...]

_MOST_EDGES = 254


def describe_bins(bins: FeatureBins) -> dict[str, Any]:
    """Return the JSON form of the bins of a feature."""
    if isinstance(bins, NumericBins):
        optional: dict[str, Any] = {}
        if bins.means is not None:
            optional["means"] = bins.means.tolist()
        if bins.span is not None:
            optional["span"] = write_reals(np.array(bins.span))
        return {"kind": "numeric", "edges": write_reals(bins.edges), **optional}
    return {
        "kind": "categorical",
        "categories": describe_categories(bins.categories),
        "has_rare": bins.has_rare,
    }


def describe_weighted_bins(binning: Binning, weights: Weights) -> list[dict[str, Any]]:
    """Return the JSON form of the bins of every feature and the training weight of each code."""
    return [
        {**describe_bins(bins), "weights": weight.tolist()}
        for bins, weight in zip(binning.features, weights, strict=True)
    ]


def build_bins(node: Node, from_dtype: bool) -> Binning:
    """Return the bins of every feature."""
    features = tuple(_build_feature(entry)[0] for entry in node.entries())
    if not features:
        node.fail("must not be empty")
    return Binning(features, from_dtype)


def build_weighted_bins(node: Node, from_dtype: bool) -> tuple[Binning, Weights]:
    """Return the bins of every feature and the training weight of each code."""
    features, weights = [], []
    for entry in node.entries():
        bins, others = _build_feature(entry, "weights")
        features.append(bins)
        weights.append(build_weights(others["weights"], bins.width))
    if not features:
        node.fail("must not be empty")
    return Binning(tuple(features), from_dtype), tuple(weights)


def _build_feature(node: Node, *others: str) -> tuple[FeatureBins, dict[str, Node]]:
    """Return the bins, and all fields: those of the bins, and the `others`."""
    kind = node.mapping().get("kind", node).value
    if kind not in ("numeric", "categorical"):
        node.fail("must have the kind 'numeric' or 'categorical'")
    if kind == "numeric":
        # Bins have means only if leaves have lines, and no span in old files.
        optional = [name for name in ("means", "span") if name in node.mapping()]
        fields = node.fields("kind", "edges", *optional, *others)
        edges = _build_edges(fields["edges"])
        means = build_means(fields["means"], len(edges) + 1) if "means" in optional else None
        span = _build_span(fields["span"]) if "span" in optional else None
        return NumericBins(edges, means, span), fields
    fields = node.fields("kind", "categories", "has_rare", *others)
    has_rare = fields["has_rare"].boolean()
    categories = build_categories(fields["categories"], MAX_CATEGORIES - has_rare)
    return CategoricalBins(categories, has_rare), fields


def _build_edges(node: Node) -> NDArray[np.float64]:
    edges = node.reals(also=INFINITE)
    if len(edges) > _MOST_EDGES:
        node.fail(f"must hold at most {_MOST_EDGES} numbers")
    if np.any(edges[1:] <= edges[:-1]):
        node.fail("must be in strictly ascending order")
    return edges


def build_means(node: Node, n_bins: int) -> NDArray[np.float64]:
    """Return the means of bins."""
    means = node.reals(n_bins)
    if np.any(means[1:] < means[:-1]):
        node.fail("must be in ascending order")
    return means


def _build_span(node: Node) -> tuple[float, float]:
    low, high = node.reals(2, also=INFINITE).tolist()
    if low > high and (low, high) != (math.inf, -math.inf):
        node.fail("must hold the smallest number before the largest")
    return low, high


def build_weights(node: Node, width: int) -> NDArray[np.float64]:
    """Return the training weight of each of `width` codes."""
    weight = node.reals(width)
    with np.errstate(over="ignore"):
        total = weight.sum()
    if np.any(weight < 0.0) or not 0.0 < total < math.inf:
        node.fail("must hold no number below 0, and have a positive finite sum")
    return weight
