"""Dealing rows into the parts that bags learn from or leave out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.labels import Rows, SortedRows
from properboost.models.bag_design import LEVELS, BagDesign, BagPlan, design
from properboost.parameters.learners import Learner

__all__ = ["deal", "deal_to_bags", "design_for"]

_STRIDE, _FACTORS = 0x9E3779B97F4A7C15, ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
"""Constants of SplitMix64."""


def deal(
    rows: Rows, bags: BagDesign, seed: int, groups: NDArray[Any] | None = None
) -> NDArray[np.uint8]:
    """Return the part of each row: dealt in turn, class by class, in an order by row number.

    Rows of one of the `groups` are dealt together, as one row of the class that has most of their
    weight, in an order by the groups' names.

    Raises
    ------
    ValueError
        If a bag would be without a class: of one row, or in one group.
    """
    n_classes = len(rows.classes)
    codes, own = rows.codes.astype(np.intp), None
    if groups is not None:
        names, own = np.unique(groups, return_inverse=True)
        held = np.zeros((len(names), n_classes + 1))
        np.add.at(held, (own, codes), 1.0 if rows.weight is None else rows.weight)
        counted = held[:, :n_classes].any(axis=1)
        codes = np.where(counted, held[:, :n_classes].argmax(axis=1), n_classes)
    order = np.lexsort((_scatter(len(codes), seed), codes))
    counts = np.bincount(codes, minlength=n_classes + 1)
    begins = LEVELS * np.cumsum([0, *-(-counts[:-1] // LEVELS)])  # few rows are in one quadruple
    part = np.empty(len(codes), dtype=np.uint8)
    place = np.arange(len(codes)) + np.repeat(begins - np.cumsum(counts) + counts, counts)
    part[order] = place % bags.n_parts
    part = part if own is None else part[own]
    for k, label in enumerate(rows.classes.tolist()):
        held_parts = np.bincount(part[rows.codes == k], minlength=bags.n_parts) > 0
        if not bags.kept[:, held_parts].any(axis=1).all():
            unit = "rows" if own is None else "groups"
            raise ValueError(
                f"outer_bags must be 0 where a class is in few {unit}, as {label!r} is: a bag "
                f"would have none of them"
            )
    return part


def design_for(learner: Learner, n_bags: int) -> BagDesign:
    """Return the design of so many bags of a weak learner.

    Bags of trees and rules, whose spread shows nothing, leave out one part each of as many as
    there are bags: what they predict is better the more rows they have.
    """
    return BagDesign(~np.eye(n_bags, dtype=bool)) if learner.is_grown else design(n_bags)


def deal_to_bags(
    rows: Rows, bags: BagDesign, seed: int, groups: NDArray[Any] | None = None
) -> tuple[SortedRows, BagPlan]:
    """Return the rows sorted by class and part, and which segments each bag learns from.

    Raises
    ------
    ValueError
        As `deal`.
    """
    order = rows.sort(deal(rows, bags, seed, groups), bags.n_parts)
    return order, BagPlan(bags, bags.kept[:, order.part_of])


def _scatter(n: int, seed: int) -> NDArray[np.uint64]:
    """Return numbers without an order for 0 to n - 1 (SplitMix64; Steele, Lea and Flood 2014)."""
    x = np.arange(1, n + 1, dtype=np.uint64)
    x += np.uint64(seed) << np.uint64(32)
    x *= np.uint64(_STRIDE)
    for shift, factor in _FACTORS:
        x ^= x >> np.uint64(shift)
        x *= np.uint64(factor)
    return x ^ (x >> np.uint64(31))
