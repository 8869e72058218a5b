"""How many rows would be called otherwise if nothing but a feature of theirs were another one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from properboost.data.frames import RowTable
from properboost.estimators.base import TableClassifier
from properboost.report.found import Array, Grouping
from properboost.report.single_changes import Feature, read_rows

__all__ = ["add_swaps"]

MOST_ROWS = 2_000
"""Rows that are predicted with other values; of more, so many at equal distances."""

MOST_VALUES = 10
"""Values that a row is given: the most frequent categories, or numbers that divide the rows."""


def add_swaps(
    model: TableClassifier, X: Any, groupings: Sequence[Grouping], n_rows: int
) -> list[Grouping]:
    """Return groupings with the share of rows that other values of their feature would turn.

    A row counts if any of the values turns what is predicted of it.  Groups that are not made of a
    feature that the model uses have none.
    """
    labels = list(model._feature_labels())
    asked = {own.name for own in groupings if own.is_used} & set(labels)
    if not asked:
        return list(groupings)
    numbers = np.unique(np.linspace(0, n_rows - 1, min(n_rows, MOST_ROWS)).astype(np.intp))
    raw, features = read_rows(model, X, numbers, [labels.index(name) for name in asked])
    share = {own.name: _count_turned(model, raw, own) for own in features}
    return [replace(own, turned=share.get(own.name)) for own in groupings]


def _count_turned(model: TableClassifier, raw: Array, feature: Feature) -> float | None:
    """Return the share of the rows that some value of a feature turns."""
    values = feature.sample_values(MOST_VALUES)
    if len(values) < 2:
        return None
    before = model.predict(RowTable(raw))
    turned = np.zeros(len(raw), dtype=bool)
    for value in values:
        others = raw.copy()
        others[:, feature.place] = value
        turned |= model.predict(RowTable(others)) != before
    return float(turned.mean())
