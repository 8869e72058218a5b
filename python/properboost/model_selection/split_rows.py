"""The rows of a search, in the orders that its splits need."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from properboost.cached import cached_property
from properboost.data.sorted_rows import HELD_OUT, Rows, SortedRows
from properboost.engine.protocols import TrainingRows
from properboost.model_selection.cv_splits import SplitBatch
from properboost.scoring import HeldOutRows

__all__ = ["SplitRows", "arrange", "count_models"]

MOST_USED = 0.9
"""The share of the rows up to which those that splits use are copied."""


@dataclass(frozen=True, eq=False)
class SampledOrder:
    """Some segments of an order of the rows."""

    segments: NDArray[np.int64]
    part_of: NDArray[np.intp]
    places: NDArray[np.int64]
    """The places of their rows in `Rows`."""

    @classmethod
    def of(cls, order: SortedRows, taken: NDArray[np.bool_]) -> "SampledOrder":
        """Return the segments that are taken."""
        sizes = np.diff(order.segments)
        places = order.places[np.repeat(taken, sizes)]
        return cls(np.cumsum([0, *sizes[taken]]), order.part_of[taken], places)


@dataclass(frozen=True, eq=False)
class SplitRows:
    """The rows in the order that a batch of splits needs."""

    rows: Rows
    order: SortedRows | SampledOrder
    splits: SplitBatch
    training: TrainingRows
    base: NDArray[np.float64] | None = None
    """The raw predictions, (n_models, n_rows), from which a single split's models start; None is
    0."""

    @cached_property
    def held_out(self) -> list[HeldOutRows]:
        """The rows that each split tests on, in the order in which the engine predicts them."""
        sizes = np.diff(self.order.segments)
        return [
            HeldOutRows.of(self.rows, self.order.places[np.repeat(roles == HELD_OUT, sizes)])
            for roles in self.segment_roles
        ]

    @cached_property
    def segment_roles(self) -> NDArray[np.int8]:
        """The role of each segment of the order in each split, (n_splits, n_segments)."""
        return self.splits.roles[:, self.order.part_of]

    def for_splits(self, batch: SplitBatch) -> "SplitRows":
        """Return the same rows in the order that other splits need."""
        order = self.rows.sort(batch.part, batch.roles.shape[1])
        return SplitRows(self.rows, order, batch, self.training.reorder(order))

    def count_held_out(self, split: int) -> int:
        """Return the number of rows that a split tests on."""
        return int(np.diff(self.order.segments)[self.segment_roles[split] == HELD_OUT].sum())

    def part(self, begin: int, end: int) -> "SplitRows":
        """Return the rows for some of the splits."""
        return replace(self, splits=self.splits.only(begin, end))


def arrange(
    rows: Rows,
    batches: Sequence[SplitBatch],
    order: SortedRows,
    training: TrainingRows,
    *,
    copies_used: bool = False,
) -> Iterator[SplitRows]:
    """Yield the rows for each batch of splits; `order` and `training` are those of the first.

    `copies_used` copies the rows that splits use if there are many others, which take time, too.
    """
    is_used = np.any(batches[0].roles, axis=0)[order.part_of]
    n_used = int(np.diff(order.segments)[is_used].sum())
    if copies_used and len(batches) == 1 and n_used < MOST_USED * training.n_rows:
        sampled = SampledOrder.of(order, is_used)
        yield SplitRows(rows, sampled, batches[0], training.bring(order, is_used))
        return
    first = SplitRows(rows, order, batches[0], training)
    yield first
    for batch in batches[1:]:
        yield first.for_splits(batch)


def count_models(split_rows: Sequence[SplitRows]) -> int:
    """Return the number of models of a candidate: one for each split and class."""
    n_classes = len(split_rows[0].rows.classes)
    return sum(len(rows.splits) for rows in split_rows) * (1 if n_classes == 2 else n_classes)
