"""Rows whose labels are probabilities, as the engine takes them: once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from properboost.parameters.boosting import BoostingOptions
from properboost.parameters.kinds import SOLVED
from properboost.parameters.learners import Stump, Table, Tree, WeakLearner

__all__ = ["Parts", "SharedRows", "number_used", "takes_shares"]

ROUNDING = 1e-12
"""How far from 1 a row's probabilities may add up by rounding."""


@dataclass(frozen=True, eq=False)
class SharedRows:
    """Rows that are of every class by a share."""

    rows: NDArray[np.int64] | None
    """The rows that have labels, in ascending order; None stands for all."""
    place: NDArray[np.int64]
    """The place among these of each label's row."""
    first: NDArray[np.int64]
    """The first label of each row."""
    weight: NDArray[np.float64] | None
    """The weight of each row, which is the sum of its labels' weights; None stands for ones."""
    shares: NDArray[np.float32]
    """The share of each class in each row, (n_classes, n_rows)."""

    @classmethod
    def of(
        cls,
        row_of: NDArray[np.int64],
        class_of: NDArray[np.intp],
        weight: NDArray[np.float64],
        shape: tuple[int, int],
    ) -> Self:
        """Return the rows of labels, from each label's row, class and weight.

        `shape` has the numbers of classes and of rows, with and without labels.
        """
        rows, place = number_used(row_of, shape[1])
        sums = np.bincount(place, weight).astype(np.float64, copy=False)
        first = np.empty(len(sums), dtype=np.int64)
        first[place[::-1]] = np.arange(len(place))[::-1]
        shares = np.zeros((shape[0], len(sums)), dtype=np.float32)
        shares[class_of, place] = weight / sums[place]
        are_ones = np.abs(sums - 1.0).max() <= ROUNDING
        return cls(rows, place, first, None if are_ones else sums, shares)


def number_used(
    values: NDArray[np.integer[Any]], n: int
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
    """Return the distinct values below `n`, and the place of each value among them.

    None stands for all values.
    """
    are_used = np.zeros(n, dtype=bool)
    are_used[values] = True
    if are_used.all():
        return None, values.astype(np.int64, copy=False)
    return np.flatnonzero(are_used), (np.cumsum(are_used) - 1)[values]


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of the rows that every model uses alike, whatever their labels."""

    order: NDArray[np.intp] | None
    """The places of the rows, sorted by part; None stands for their own order."""
    segments: NDArray[np.int64]
    """Where each part begins, and where the last one ends."""
    roles: NDArray[np.int8]
    """The role of each part in each model, which is that of positive rows, (n_models, n_parts)."""

    @classmethod
    def of(
        cls, roles: NDArray[np.int8], segments: NDArray[np.int64], shared: SharedRows
    ) -> Self | None:
        """Return the parts of rows, by the roles and bounds of the labels' segments.

        None stands for rows whose labels have different roles.
        """
        used_alike, part_of = np.unique(np.abs(roles), axis=1, return_inverse=True)
        if used_alike.shape[1] == 1:
            whole = np.array([0, len(shared.first)])
            return cls(None, whole, np.ascontiguousarray(used_alike))
        part_of_label = np.repeat(part_of.ravel(), np.diff(segments))
        part_of_row = part_of_label[shared.first]
        if (part_of_row[shared.place] != part_of_label).any():
            return None
        sizes = np.bincount(part_of_row, minlength=used_alike.shape[1])
        order = np.argsort(part_of_row, kind="stable")
        return cls(order, np.cumsum([0, *sizes]), np.ascontiguousarray(used_alike))


def takes_shares(
    options: Sequence[BoostingOptions], roles: NDArray[np.int8], joint_loss: str, screen: Any
) -> bool:
    """Return whether the engine takes rows that are of every class by a share.

    It does for tables, stumps and trees from all rows.  Trees of a joint model must be shared by
    its classes and have no lines, and those of others must sum no curvatures.  A joint model must
    hold out no row, others must not solve for coefficients, and no `screen` of the rows may compare
    features.
    """
    if screen:
        return False
    if joint_loss:
        learns_all = bool((np.abs(roles) == 1).all())
        return learns_all and all(_takes_joint_shares(each.weak_learner) for each in options)
    return all(map(_takes_shares, options))


def _takes_joint_shares(learner: WeakLearner) -> bool:
    if isinstance(learner, Tree):
        return learner.shares_classes and not learner.linear_leaves and learner.subsample == 1.0
    return isinstance(learner, Table | Stump)


def _takes_shares(options: BoostingOptions) -> bool:
    learner = options.weak_learner
    if options.step in SOLVED:
        return False
    if isinstance(learner, Tree):
        return learner.subsample == 1.0 and options.response != "newton"
    return isinstance(learner, Table | Stump)
