"""The JSON form of the means of bins by which lines of merged models go."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import Binning, NumericBins
from properboost.models.ensemble import Ensemble
from properboost.models.tree_ensemble import TreeEnsemble
from properboost.persistence.bins import build_means
from properboost.persistence.json_node import Node

__all__ = ["ORIGIN", "ORIGINS", "build_origin", "build_origins", "describe_origins"]

ORIGINS, ORIGIN = "origins", "origin"
"""The field of ensembles whose trees' lines go by means of several models, and that of rounds."""


def describe_origins(ensemble: Ensemble) -> dict[str, Any]:
    """Return the field of an ensemble's origins, if it has any."""
    if not isinstance(ensemble, TreeEnsemble) or not ensemble.origins:
        return {}
    return {ORIGINS: [_describe_means(binning) for binning in ensemble.origins]}


def _describe_means(binning: Binning) -> list[list[float] | None]:
    """Return the means of each feature's bins, None where no line has the feature."""
    return [
        bins.means.tolist() if isinstance(bins, NumericBins) and bins.means is not None else None
        for bins in binning.features
    ]


def build_origins(node: Node, binning: Binning) -> tuple[Binning, ...]:
    """Return the bins with the means of each origin, of which there are several."""
    origins = []
    for entry in node.entries():
        means: dict[int, NDArray[np.float64] | None] = {}
        for j, (of_feature, bins) in enumerate(
            zip(entry.entries(len(binning.features)), binning.features, strict=True)
        ):
            if of_feature.value is None:
                means[j] = None
            elif isinstance(bins, NumericBins):
                means[j] = build_means(of_feature, bins.n_bins)
            else:
                of_feature.fail("must be null for a categorical feature")
        origins.append(binning.set_means(means))
    if len(origins) < 2:
        node.fail("must have two entries or more")
    return tuple(origins)


def build_origin(node: Node, n_rounds: int, n_origins: int) -> NDArray[np.int32]:
    """Return the origin of each round."""
    if n_origins == 0:
        node.fail(f"must not be there without {ORIGINS}")
    origin = node.integers(0, n_origins - 1).astype(np.int32)
    if len(origin) != n_rounds:
        node.fail(f"must have {n_rounds} entries, one per round")
    return origin
