"""The JSON form of the terms of trees: their grids, and the intercepts of bags."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import Binning
from properboost.models.bag_design import FEWEST_BAGS, LEVELS, MOST_BAGS, design, design_for_terms
from properboost.models.ensemble import LARGEST_RAW, Ensemble
from properboost.models.term_grid import TermGrid
from properboost.models.terms import Features
from properboost.models.tree_bags import TreeBags
from properboost.models.tree_ensemble import TreeEnsemble
from properboost.persistence.json_node import Node

__all__ = ["BAG_INTERCEPTS", "BAG_PARTS", "TERMS", "add_terms", "describe_terms"]

TERMS, BAG_INTERCEPTS, BAG_PARTS = "terms", "bag_intercepts", "bag_parts"
"""The fields of ensembles of trees that have terms, or bags."""

_MOST_CELLS = 2**18


def describe_terms(ensemble: Ensemble) -> dict[str, Any]:
    """Return the fields of an ensemble's terms and bags, if it is of trees that have them."""
    if not isinstance(ensemble, TreeEnsemble):
        return {}
    fields: dict[str, Any] = {}
    if ensemble.grids is not None:
        fields[TERMS] = [_describe_grid(grid) for grid in ensemble.grids]
    if ensemble.bags is not None:
        fields[BAG_INTERCEPTS] = [list(of_bag) for of_bag in ensemble.bags.intercepts]
        if ensemble.bags.n_parts != design(ensemble.bags.n_bags).n_parts:
            fields[BAG_PARTS] = ensemble.bags.n_parts
    return fields


def _describe_grid(grid: TermGrid) -> dict[str, Any]:
    weights = grid.weights.ravel()
    cells = np.flatnonzero(weights)
    return {
        "features": list(grid.features),
        "levels": [level.tolist() for level in grid.levels],
        "cells": cells.tolist(),
        "weights": weights[cells].tolist(),
    }


def add_terms(fields: dict[str, Node], ensemble: Ensemble) -> Ensemble:
    """Return an ensemble with the grids and bags of these fields, if there are any."""
    for name in (TERMS, BAG_INTERCEPTS, BAG_PARTS):
        if name in fields and not isinstance(ensemble, TreeEnsemble):
            fields[name].fail("must be of a model of trees")
    if not isinstance(ensemble, TreeEnsemble):
        return ensemble
    if BAG_INTERCEPTS in fields:
        bags = _build_bags(fields[BAG_INTERCEPTS], ensemble)
        if BAG_PARTS in fields:
            bags = replace(bags, n_parts=_read_parts(fields[BAG_PARTS], bags.n_bags))
        ensemble = replace(ensemble, bags=bags)
    elif BAG_PARTS in fields:
        fields[BAG_PARTS].fail(f"must be absent without {BAG_INTERCEPTS}")
    elif any(rounds.bag is not None for rounds in ensemble.models):
        fields["models"].fail(f"must hold no bags without {BAG_INTERCEPTS}")
    if TERMS not in fields:
        return ensemble
    grids = tuple(_build_grid(entry, ensemble.binning) for entry in fields[TERMS].entries())
    _check_grids(fields[TERMS], grids, ensemble)
    return replace(ensemble, grids=grids)


def _build_bags(node: Node, ensemble: TreeEnsemble) -> TreeBags:
    intercepts = []
    for entry in node.entries():
        numbers = entry.reals(len(ensemble.models)) if entry.sequence() else np.empty(0)
        if np.abs(numbers).max(initial=0.0) > LARGEST_RAW:
            entry.fail(f"must hold numbers up to {LARGEST_RAW:g}")
        intercepts.append(tuple(numbers.tolist()))
    if not FEWEST_BAGS <= len(intercepts) <= MOST_BAGS:
        node.fail(f"must have {FEWEST_BAGS} to {MOST_BAGS} entries")
    for rounds in ensemble.models:
        if rounds.bag is None or rounds.bag.max(initial=0) >= len(intercepts):
            node.fail("must have an entry for every bag of the models' rounds")
    return TreeBags(tuple(intercepts), design(len(intercepts)).n_parts)


def _read_parts(node: Node, n_bags: int) -> int:
    allowed = sorted({design(n_bags).n_parts, design_for_terms(n_bags).n_parts})
    n_parts = node.integer(1, MOST_BAGS * LEVELS)
    if n_parts not in allowed:
        node.fail(f"must be one of {allowed} with {n_bags} bags")
    return n_parts


def _build_grid(node: Node, binning: Binning) -> TermGrid:
    fields = node.fields("features", "levels", "cells", "weights")
    features = fields["features"].integers(0, len(binning.features) - 1).tolist()
    if len(features) not in (2, 3) or features != sorted({*features}):
        fields["features"].fail("must hold two or three positions in ascending order")
    levels = [
        _build_level(entry, binning.features[j].width)
        for entry, j in zip(fields["levels"].entries(len(features)), features, strict=True)
    ]
    shape = tuple(int(level.max()) + 1 for level in levels)
    n_cells = int(np.prod(shape, dtype=np.int64))
    if n_cells > _MOST_CELLS:
        fields["levels"].fail(f"must make at most {_MOST_CELLS} cells")
    cells = fields["cells"].integers(0, n_cells - 1)
    if np.any(np.diff(cells) <= 0):
        fields["cells"].fail("must be in strictly ascending order")
    numbers = fields["weights"].reals(len(cells))
    if np.any(numbers <= 0.0) or not np.isfinite(np.sum(numbers)):
        fields["weights"].fail("must hold numbers above 0 of a finite sum")
    weights = np.zeros(n_cells)
    weights[cells] = numbers
    return TermGrid(tuple(features), tuple(levels), weights.reshape(shape))


def _build_level(node: Node, width: int) -> NDArray[np.uint8]:
    level = node.integers(0, 255)
    if len(level) != width or {*level.tolist()} != {*range(int(level.max(initial=-1)) + 1)}:
        node.fail(f"must hold {width} levels, from 0 on without a gap")
    return level.astype(np.uint8)


def _check_grids(node: Node, grids: tuple[TermGrid, ...], ensemble: TreeEnsemble) -> None:
    """Check that there is a grid for every term of several features, and for pairs within them."""
    listed: list[Features] = [grid.features for grid in grids]
    if listed != sorted({*listed}, key=lambda features: (len(features), features)):
        node.fail("must be in order, smaller sets of features first")
    native = ensemble.find_native_terms()
    if native is None:
        node.fail("must be of trees whose paths have at most three features")
    needed = {features for features in native.features if len(features) > 1}
    needed |= {pair for features in listed for pair in combinations(features, 2)}
    missing = sorted(needed - {*listed})
    if missing:
        node.fail(f"must have an entry for the features {list(missing[0])}")
