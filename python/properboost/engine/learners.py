"""The engine's weak learners, made from an estimator's options."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.data.binning import Binning, NumericBins
from properboost.data.features import find_feature
from properboost.models.interactions import PairBins
from properboost.parameters.kinds import MonotonicConstraints
from properboost.parameters.learners import Tree, WeakLearner

__all__ = ["find_directions", "make_learner"]


@lru_cache(maxsize=1024)
def _make(fields: tuple[tuple[str, object], ...]) -> _core.WeakLearner:
    # The engine treats models with the same weak learner as equal except for their gains.
    return _core.WeakLearner(dict(fields))


def make_learner(
    learner: WeakLearner,
    *,
    class_weights: NDArray[np.float64],
    n_features: int,
    directions: Sequence[int],
    names: Sequence[str] | None,
    seed: int,
    criterion: str | None,
    allows_for_chance: bool,
    n_apart: int = 0,
) -> _core.WeakLearner:
    """Return the engine's weak learner for rows with these weights of classes.

    `directions` are those of each feature, or of either feature of each pair.  After the
    `n_features` come `n_apart` others, each of which joins no other feature.
    """
    limits = _limit_interactions(learner, names, n_features)
    if n_apart > 0 and learner.is_grown:
        apart = tuple((n_features + k,) for k in range(n_apart))
        limits = {"interaction_sets": (tuple(range(n_features)),), **limits}
        limits["interaction_sets"] = (*limits["interaction_sets"], *apart)
    fields = {
        **learner.settle(class_weights).describe(),
        **limits,
        "directions": tuple(directions),
        "seed": seed,
        "criterion": criterion,
        "allows_for_chance": allows_for_chance and learner.is_grown,
    }
    return _make(tuple(fields.items()))


def _limit_interactions(
    learner: WeakLearner, names: Sequence[str] | None, n_features: int
) -> dict[str, Any]:
    """Return the engine's options for the features that share a path of a tree."""
    limit = learner.interaction_cst if isinstance(learner, Tree) else None
    if limit is None:
        return {}
    if isinstance(limit, str):
        return {"interaction_limit": {"no_interactions": 1, "pairwise": 2}[limit]}
    if isinstance(limit, int):
        return {"interaction_limit": limit}
    owner = "Tree.interaction_cst"
    sets = [sorted({find_feature(f, names, n_features, owner) for f in names_of_set})
            for names_of_set in limit]  # fmt: skip
    # As in scikit-learn, features of no set are one more.
    others = sorted(set(range(n_features)).difference(*sets))
    return {"interaction_sets": tuple(map(tuple, [*sets, others] if others else sets))}


def find_directions(
    constraints: MonotonicConstraints,
    *,
    binning: Binning,
    names: Sequence[str] | None,
    n_classes: int,
    pairs: Sequence[PairBins] | None,
) -> tuple[int, ...]:
    """Return the direction of each feature, or of either feature of each pair; () without any."""
    directions = _find_directions(constraints, binning, names, n_classes)
    if pairs is None or not directions:
        return directions
    return tuple(directions[j] for pair in pairs for j in (pair.first, pair.second))


def _find_directions(
    constraints: MonotonicConstraints,
    binning: Binning,
    names: Sequence[str] | None,
    n_classes: int,
) -> tuple[int, ...]:
    """Return the direction of each feature by `monotonic_cst`, or () if all are 0."""
    if constraints is None:
        return ()
    features = binning.features
    directions = [0] * len(features)
    if isinstance(constraints, Mapping):
        for name, direction in constraints.items():
            directions[find_feature(name, names, len(features), "monotonic_cst")] = direction
    elif len(constraints) != len(features):
        raise ValueError(
            f"monotonic_cst must have an entry for each of the {len(features)} features; "
            f"got {len(constraints)}"
        )
    else:
        directions = list(constraints)
    for j, (direction, bins) in enumerate(zip(directions, features, strict=True)):
        if direction != 0 and not isinstance(bins, NumericBins):
            raise ValueError(f"monotonic_cst must be 0 for feature {j}, which is categorical")
    if n_classes > 2 and any(directions):
        raise ValueError(
            f"monotonic_cst must be None with {n_classes} classes: their probabilities add up to 1"
        )
    if not any(directions):
        return ()
    return tuple(int(direction) for direction in directions)
