"""The assignment of rows to the parts that bags learn from or leave out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.sorted_rows import Rows, SortedRows
from properboost.models.bag_design import LEVELS, BagDesign, BagPlan, design, design_for_terms
from properboost.parameters.learners import Learner

__all__ = ["deal", "deal_to_bags", "design_for"]

_STRIDE, _FACTORS = 0x9E3779B97F4A7C15, ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
"""Constants of SplitMix64."""


def deal(
    rows: Rows, n_parts: int, seed: int, groups: NDArray[Any] | None = None
) -> NDArray[np.uint8]:
    """Return the part of each row; rows are dealt in turn, class by class, ordered by a hash.

    The hash is of the row number.  Rows of one of the `groups` are dealt together, as one row of
    the class with most of their weight, and the hash is of the place of the group's name.  The
    labels of a row of the table are a group, too.  `groups` has an entry per row of the table.
    """
    n_classes = len(rows.classes)
    codes, group_of_row = rows.codes.astype(np.intp), None
    if rows.row_of is not None:
        groups = rows.row_of if groups is None else groups[rows.row_of]
    if groups is not None:
        names, group_of_row = np.unique(groups, return_inverse=True)
        group_weights = np.zeros((len(names), n_classes + 1))
        weight = rows.training_weight
        np.add.at(group_weights, (group_of_row, codes), 1.0 if weight is None else weight)
        counted = group_weights[:, :n_classes].any(axis=1)
        codes = np.where(counted, group_weights[:, :n_classes].argmax(axis=1), n_classes)
    order = np.lexsort((_scatter(len(codes), seed), codes))
    counts = np.bincount(codes, minlength=n_classes + 1)
    begins = LEVELS * np.cumsum(
        [0, *-(-counts[:-1] // LEVELS)]
    )  # the rows of a small class share a quadruple
    part = np.empty(len(codes), dtype=np.uint8)
    place = np.arange(len(codes)) + np.repeat(begins - np.cumsum(counts) + counts, counts)
    part[order] = place % n_parts
    return part if group_of_row is None else part[group_of_row]


def design_for(learner: Learner, n_bags: int) -> BagDesign:
    """Return the design of `n_bags` bags of a weak learner.

    The deviations of bags of trees without terms estimate no standard errors.  So each bag leaves
    out only one of `n_bags` parts, because bags with more rows predict better.
    """
    if not learner.is_readable:
        return BagDesign(~np.eye(n_bags, dtype=bool))
    return design(n_bags) if learner.most_term_features == 1 else design_for_terms(n_bags)


def deal_to_bags(
    rows: Rows, bags: BagDesign, seed: int, groups: NDArray[Any] | None = None
) -> tuple[SortedRows, BagPlan]:
    """Return the rows sorted by class and part, and which segments each bag learns from.

    Raises
    ------
    ValueError
        If a bag would have no row of a class, as one of a single row or group.
    """
    part = deal(rows, bags.n_parts, seed, groups)
    for k, label in enumerate(rows.classes.tolist()):
        parts_of_class = np.bincount(part[rows.codes == k], minlength=bags.n_parts) > 0
        if not bags.in_bag[:, parts_of_class].any(axis=1).all():
            unit = "rows" if groups is None and rows.row_of is None else "groups"
            raise ValueError(
                f"outer_bags must be 0 where a class is in few {unit}, as {label!r} is: a bag "
                f"would have none of them"
            )
    order = rows.sort(part, bags.n_parts)
    return order, BagPlan(bags, bags.in_bag[:, order.part_of])


def _scatter(n: int, seed: int) -> NDArray[np.uint64]:
    """Return hashes of 0 to n - 1 (SplitMix64; Steele, Lea and Flood 2014)."""
    x = np.arange(1, n + 1, dtype=np.uint64)
    x += np.uint64(seed) << np.uint64(32)
    x *= np.uint64(_STRIDE)
    for shift, factor in _FACTORS:
        x ^= x >> np.uint64(shift)
        x *= np.uint64(factor)
    return x ^ (x >> np.uint64(31))
