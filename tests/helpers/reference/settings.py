"""The rows and settings of one fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helpers.reference.bins import Array, Codes, FeatureBins
    from helpers.reference.learners import Response
    from helpers.reference.losses import Loss

Learner = Literal["table", "stump", "tree"]
Step = Literal["unit", "guarded", "line_search"]
Selection = Literal["greedy", "cyclic", "unbiased"]

TIE = 1e-7  # scores this close to the best count as equal, relative to it


@dataclass(frozen=True)
class TreeSettings:
    """Bounds of a tree, its draws, and the directions of features.

    The directions hold for other learners, too.

    `min_child_weight` is the least weight on each side of a split: the sum of s_i w(y_i F_i).  In
    newton it is the sum of s_i times the loss's curvature at gain 1 and margin v / sigma, so that
    the gain cannot matter there either.
    """

    max_leaf_nodes: int = 31
    max_depth: float = np.inf
    min_child_weight: float = 0.0
    max_features: float = 1.0
    subsample: float = 1.0
    numbers: Sequence[int] = ()
    """Numbers by which rows are drawn; by default their places."""
    seed: int = 0
    directions: Sequence[int] = ()
    interaction_limit: int = 0
    """The most features on a path; 0 is any number."""
    interaction_sets: Sequence[Sequence[int]] = ()
    """Sets of which one must have all features of a path; none is no limit."""
    grow_policy: Literal["best_first", "symmetric"] = "best_first"
    linear_leaves: bool = False
    linear_l2: float = 0.0

    @property
    def by_level(self) -> bool:
        return self.grow_policy == "symmetric"

    @property
    def leaves_to_chance(self) -> bool:
        return self.max_features < 1 or self.subsample < 1


@dataclass(frozen=True)
class Training:
    """Rows of one fit, without zero weights, and its settings."""

    codes: Codes
    bins: Sequence[FeatureBins]
    y: Array
    weight: Array
    loss: Loss
    learner: Learner
    response: Response
    step: Step
    learning_rate: float
    prior: float | None
    smoothing: float
    smoothing_in_score: bool
    l2: float
    tie: float
    tree: TreeSettings
    selection: Selection
    max_cells: int | None
    min_saving: float
    screening: int | None = None
    total: float = field(init=False)  # S, the sum of the sample weights
    cap: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", float(self.weight.sum()))
        # An error rate of 0 counts as 1/(2S). S counts as at least 2 here, because weights of less
        # than two rows in all would make this bound useless.
        p = 1 - 1 / (2 * max(self.total, 2.0))
        object.__setattr__(self, "cap", float(self.loss.link(p)))

    @property
    def numbers(self) -> Sequence[int]:
        return self.tree.numbers or range(len(self.y))

    def direction(self, feature: int) -> int:
        """Return the direction of the raw prediction in a feature: 1, -1, or 0 for either."""
        return self.tree.directions[feature] if self.tree.directions else 0

    def prior_share(self, n_cells_with_rows: int) -> float:
        """Return e as a share of the total weight."""
        if self.prior is not None:
            return self.prior
        return 1 / (self.total * max(n_cells_with_rows, 1))
