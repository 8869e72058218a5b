"""Changes of two features that together would change a row's predicted class."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from properboost.data.frames import take_rows
from properboost.estimators.base import (
    TableClassifier,
    describe_training,
    label_features,
    open_rows,
)
from properboost.estimators.boosted import BoostedClassifier
from properboost.inspection.contributions import read_columns
from properboost.inspection.words import describe
from properboost.report.content import ExplainedRow, JointChange
from properboost.report.wording import find_protected

__all__ = ["add_joint_changes"]


def add_joint_changes(
    model: TableClassifier, X: Any, rows: Sequence[ExplainedRow]
) -> list[ExplainedRow]:
    """Return the rows with the nearest change of two features, where no single value suffices.

    Features that the law may protect stay as they are.  Only models with terms are searched.
    """
    changed = list(rows)
    lacking = [
        k for k, row in enumerate(rows) if row.counterfactuals and not row.counterfactuals.offered
    ]
    if not (lacking and isinstance(model, BoostedClassifier) and model.ensemble_.terms is not None):
        return changed
    table = take_rows(X, np.array([rows[k].number - 1 for k in lacking]))
    for k, joint in zip(lacking, _find_joint_changes(model, table), strict=True):
        turns = rows[k].counterfactuals
        assert turns is not None
        changed[k] = replace(
            rows[k], counterfactuals=replace(turns, joint=joint, searched_joint=True)
        )
    return changed


def _find_joint_changes(model: BoostedClassifier, X: Any) -> list[JointChange | None]:
    """Return the nearest change of each row."""
    labels, classes = label_features(model), model.classes_.tolist()
    columns = list(getattr(model, "feature_names_in_", range(len(labels))))
    changes = model.changes(X, keep=[columns[j] for j in find_protected(labels)], most_features=2)
    table, _ = open_rows(model, X)
    present = read_columns(table, describe_training(model)[0])
    joint: list[JointChange | None] = []
    for row, change in enumerate(changes):
        if change is None:
            joint.append(None)
            continue
        values = []
        for new in change.features:
            j = columns.index(new.feature)
            values.append((labels[j], describe(new.value), describe(present[j][row])))
        joint.append(JointChange(tuple(values), classes.index(change.to)))
    return joint
