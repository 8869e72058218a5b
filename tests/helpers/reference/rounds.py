"""Rounds, and their joint predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from helpers.reference.lines import add_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helpers.reference.bins import Array, Codes, FeatureBins
    from helpers.reference.lines import Line
    from helpers.reference.trees import Tree


@dataclass(frozen=True)
class Round:
    """Fitted weak learner; `table` is before the step, and `risk` after it.

    A tree has the feature -1, and a table over its nodes, which may have `lines` in features that
    have these `bins`.
    """

    feature: int
    cost: float
    step: float
    table: Array
    risk: float
    tree: Tree | None = None
    lines: Sequence[Line] = ()
    bins: Sequence[FeatureBins] = ()

    def added(self, codes: Codes) -> Array:
        """Return what the round adds to rows' raw predictions."""
        entries = codes[self.feature] if self.tree is None else self.tree.find_nodes(codes)
        added = self.table[entries]
        if self.lines and self.tree is not None:
            added = added + add_lines(self.tree, self.lines, codes, self.bins)
        return self.step * added


def staged_predict(rounds: Sequence[Round], codes: Codes) -> Iterator[Array]:
    """Yield the raw prediction after each round."""
    raw = np.zeros(np.shape(codes)[1])
    for round_ in rounds:
        raw = raw + round_.added(codes)
        yield raw


def predict(rounds: Sequence[Round], codes: Codes) -> Array:
    raw = np.zeros(np.shape(codes)[1])
    for raw in staged_predict(rounds, codes):  # noqa: B007 - the last one is wanted
        pass
    return raw
