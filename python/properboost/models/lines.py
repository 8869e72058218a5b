"""Linear leaves of trees: ridge models of the bins' means."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.data.distinct import find_distinct
from properboost.data.entries import ROWS

__all__ = ["Lines", "NativeLines"]

NativeLines: TypeAlias = tuple[
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
]
"""The engine's form of lines."""


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines of a tree's nodes, or of several trees', one after the other.

    Node `k` has the terms ``offsets[k]`` to ``offsets[k + 1]``.  A term adds ``slope (z - center)``
    where the row has a value of ``feature``: `z` is the place of its bin's mean between the
    smallest, 0, and the largest, 1 (`NumericBins.positions`).  ``mean`` is the mean of `z` over the
    node's training rows, by weight, of which those without a value are at the center: so a term's
    mean is ``slope (mean - center)``.
    """

    offsets: NDArray[np.int64]
    feature: NDArray[np.int32]
    slope: NDArray[np.float64]
    center: NDArray[np.float64]
    mean: NDArray[np.float64]

    @classmethod
    def from_native(cls, lines: _core.NodeLines) -> "Lines":
        """Convert the engine's lines."""
        return cls(**{f.name: getattr(lines, f.name) for f in fields(cls)})

    @classmethod
    def without_terms(cls, n_nodes: int) -> "Lines":
        """Return the lines of `n_nodes` nodes that have none."""
        none = np.empty(0)
        return cls(np.zeros(n_nodes + 1, dtype=np.int64), none.astype(np.int32), none, none, none)

    @classmethod
    def join(cls, lines: Sequence["Lines"]) -> "Lines":
        """Put lines one after the other."""
        ends = np.cumsum([0, *(len(part.feature) for part in lines)])
        offsets = [part.offsets[1:] + end for part, end in zip(lines, ends[:-1], strict=True)]
        return cls(
            np.concatenate([np.zeros(1, dtype=np.int64), *offsets]),
            np.concatenate([np.empty(0, dtype=np.int32), *(part.feature for part in lines)]),
            np.concatenate([np.empty(0), *(part.slope for part in lines)]),
            np.concatenate([np.empty(0), *(part.center for part in lines)]),
            np.concatenate([np.empty(0), *(part.mean for part in lines)]),
        )

    @property
    def node(self) -> NDArray[np.int64]:
        """The node of each term."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def take(self, nodes: NDArray[np.int64]) -> "Lines":
        """Return the lines of nodes in another order."""
        sizes = np.diff(self.offsets)[nodes]
        offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
        terms = np.repeat(self.offsets[nodes] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return Lines(offsets, *(array[terms] for array in self._arrays))

    def where(self, is_kept: NDArray[np.bool_]) -> "Lines":
        """Return the lines with only the terms for which this holds."""
        ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(is_kept)])
        return Lines(ends[self.offsets], *(array[is_kept] for array in self._arrays))

    def part(self, begin: int, end: int) -> "Lines":
        """Return the lines of the nodes from `begin` to `end`."""
        first, last = int(self.offsets[begin]), int(self.offsets[end])
        return Lines(
            self.offsets[begin : end + 1] - first, *(array[first:last] for array in self._arrays)
        )

    def times(self, steps: NDArray[np.float64]) -> "Lines":
        """Return the lines with the slopes of each node multiplied."""
        return replace(self, slope=self.slope * steps[self.node])

    @property
    def native(self) -> NativeLines:
        """The lines in the engine's form."""
        return self.offsets, self.feature, self.slope, self.center, self.mean

    @property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        """The arrays with an entry for each term."""
        return self.feature, self.slope, self.center, self.mean

    def reach(self) -> NDArray[np.float64]:
        """Return a bound on the size of each node's line."""
        reach = np.zeros(len(self.offsets) - 1)
        with np.errstate(over="ignore"):
            most = np.abs(self.slope) * np.maximum(self.center, 1.0 - self.center)
            np.add.at(reach, self.node, most)
        return reach

    def add_up(
        self,
        nodes: NDArray[np.integer],
        codes: NDArray[np.uint8],
        find_positions: Callable[[int], NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """Return the values of the lines at rows' nodes; `codes` are (n_features, n_rows).

        `find_positions` returns a feature's `NumericBins.positions`.
        """
        added = np.zeros(len(nodes))
        for begin in range(0, len(nodes), ROWS):
            block = slice(begin, begin + ROWS)
            block_nodes = nodes[block]
            for k in range(int(np.diff(self.offsets).max(initial=0))):
                term = self.offsets[block_nodes] + k
                rows = np.flatnonzero(term < self.offsets[block_nodes + 1])
                term = term[rows]
                for j in find_distinct(self.feature[term]).tolist():
                    of_feature = rows[self.feature[term] == j]
                    t = term[self.feature[term] == j]
                    z = find_positions(j)[codes[j, block][of_feature]]
                    line = self.slope[t] * (z - self.center[t])
                    added[block][of_feature] += np.where(np.isnan(z), 0.0, line)
        return added
