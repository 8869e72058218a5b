"""The engine's weak learners, of an estimator's options."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.data.binning import Binning, NumericBins
from properboost.data.frames import find_feature
from properboost.models.interactions import PairBins
from properboost.parameters.kinds import MonotonicConstraints
from properboost.parameters.shared import (
    GROWN,
    LINEAR_ROWS,
    BoostingOptions,
    cells_of,
    depth_of,
    leaves_of,
    smoothing_of,
)

__all__ = ["make_learner"]

P = ParamSpec("P")
Made = TypeVar("Made")


def _remember(make: Callable[P, Made]) -> Callable[P, Made]:
    """Return `lru_cache` of a function, which keeps the types of its arguments."""
    return cast("Callable[P, Made]", lru_cache(maxsize=1024)(make))


# The engine takes models of one weak learner to be the same but for their gains.
_make = _remember(_core.WeakLearner)


def make_learner(
    options: BoostingOptions,
    *,
    binning: Binning,
    names: Sequence[str] | None,
    class_weights: NDArray[np.float64],
    pairs: Sequence[PairBins] | None,
    seed: int,
) -> _core.WeakLearner:
    """Return the weak learner that these options describe, for features or `pairs` of them.

    `class_weights` are the weights of the classes' training rows.
    """
    directions = _find_directions(options.monotonic_cst, binning, names, len(class_weights))
    if pairs is not None and directions:
        directions = tuple(directions[j] for pair in pairs for j in (pair.first, pair.second))
    return _make(
        options.weak_learner,
        smoothing=smoothing_of(options, class_weights),
        max_leaves=leaves_of(options, class_weights),
        max_depth=depth_of(options, class_weights),
        by_level=options.grow_policy == "symmetric",
        max_cells=cells_of(options, class_weights) or 0,
        min_saving=options.min_saving,
        max_literals=options.max_literals,
        min_child_weight=options.min_child_weight,
        max_features=options.max_features,
        directions=directions,
        subsample=options.subsample,
        seed=seed,
        criterion=options.criterion,
        allows_for_chance=options.weak_learner in GROWN and options.selection != "greedy",
        linear_leaves=options.linear_leaves,
        linear_l2=options.linear_l2,
        linear_rows=LINEAR_ROWS,
    )


def _find_directions(
    constraints: MonotonicConstraints,
    binning: Binning,
    names: Sequence[str] | None,
    n_classes: int,
) -> tuple[int, ...]:
    """Return the direction that `monotonic_cst` gives each feature; nothing if it gives none."""
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
