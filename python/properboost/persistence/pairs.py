"""The JSON form of the grids of pairs of features, and their training weights."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import Binning
from properboost.models.interactions import MOST_CELLS, PairBins
from properboost.persistence.bins import Weights, build_weights
from properboost.persistence.json_node import Node

__all__ = ["build_pairs", "describe_pairs"]


def describe_pairs(pairs: Sequence[PairBins], weights: Weights) -> list[dict[str, Any]]:
    """Return the JSON form of the grids of pairs and the training weight of each code."""
    return [
        {
            "features": [pair.first, pair.second],
            "levels": [pair.first_level.tolist(), pair.second_level.tolist()],
            "ordered": list(pair.ordered),
            "weights": weight.tolist(),
        }
        for pair, weight in zip(pairs, weights, strict=True)
    ]


def build_pairs(node: Node, binning: Binning) -> tuple[tuple[PairBins, ...], Weights]:
    """Return the grids of pairs of features and the training weight of each code."""
    pairs: list[PairBins] = []
    weights = []
    for entry in node.entries():
        fields = entry.fields("features", "levels", "ordered", "weights")
        features = fields["features"].integers(0, len(binning.features) - 1)
        if len(features) != 2 or features[0] >= features[1]:
            fields["features"].fail("must hold two positions, the smaller first")
        sides = fields["levels"].entries(2)
        levels = [
            _build_levels(side, binning.features[j].width)
            for side, j in zip(sides, features, strict=True)
        ]
        ordered = fields["ordered"].integers(0, MOST_CELLS).tolist()
        sizes = [int(level.max()) + 1 for level in levels]
        if len(ordered) != 2 or any(a > b for a, b in zip(ordered, sizes, strict=True)):
            fields["ordered"].fail("must hold two numbers, of levels at most")
        first, second = features.tolist()
        pair = PairBins(first, second, levels[0], levels[1], (ordered[0], ordered[1]))
        if pair.n_cells > MOST_CELLS:
            fields["levels"].fail(f"must make at most {MOST_CELLS} cells")
        pairs.append(pair)
        weights.append(build_weights(fields["weights"], pair.width))
    return tuple(pairs), tuple(weights)


def _build_levels(node: Node, width: int) -> NDArray[np.int16]:
    levels = node.integers(-1, MOST_CELLS - 1)
    known = {*levels.tolist()} - {-1}
    if len(levels) != width or known != {*range(len(known))}:
        node.fail(f"must hold {width} levels, -1 or from 0 on without a gap")
    if not known:
        node.fail("must hold a level")
    return levels.astype(np.int16)
