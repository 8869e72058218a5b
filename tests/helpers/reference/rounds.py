"""Rounds, and what they predict together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helpers.reference.bins import Array, Codes
    from helpers.reference.trees import Tree


@dataclass(frozen=True)
class Round:
    """One weak learner.  `table` is before the step; `risk` is the training risk after it.

    A tree has the feature -1, and a table over its nodes.
    """

    feature: int
    cost: float
    step: float
    table: Array
    risk: float
    tree: Tree | None = None

    def added(self, codes: Codes) -> Array:
        """What the round adds to rows' raw predictions."""
        own = codes[self.feature] if self.tree is None else self.tree.find_nodes(codes)
        return self.step * self.table[own]


def staged_predict(rounds: Sequence[Round], codes: Codes) -> Iterator[Array]:
    """The raw prediction after each round."""
    raw = np.zeros(np.shape(codes)[1])
    for one in rounds:
        raw = raw + one.added(codes)
        yield raw


def predict(rounds: Sequence[Round], codes: Codes) -> Array:
    raw = np.zeros(np.shape(codes)[1])
    for raw in staged_predict(rounds, codes):  # noqa: B007 - the last one is wanted
        pass
    return raw
