"""The JSON form of a user's edits of a model."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from properboost.models.edits import EDITS, Edit
from properboost.persistence.json_node import Node

__all__ = ["RECORD", "build_edits", "describe_edits"]

RECORD = "edits"
"""The field of models that were edited."""

_DEEPEST = 16  # of merges of merged models


def describe_edits(edits: Sequence[Edit]) -> list[dict[str, Any]]:
    """Return the JSON form of edits."""
    return [
        {
            "method": edit.method,
            "feature": edit.feature,
            "class": edit.class_index,
            "reason": edit.reason,
            "direction": edit.direction,
            "largest_change": edit.largest_change,
            "mean_change": edit.mean_change,
            **(
                {
                    "weights": list(edit.weights),
                    "edits": [describe_edits(edits_of_model) for edits_of_model in edit.edits],
                }
                if edit.weights
                else {}
            ),
        }
        for edit in edits
    ]


def build_edits(node: Node, n_features: int, n_classes: int, depth: int = 0) -> tuple[Edit, ...]:
    """Return the edits: at least one, but for models of a merge."""
    if depth > _DEEPEST:
        node.fail(f"must not be of models merged more than {_DEEPEST} times over")
    entries = node.entries()
    if not entries and depth == 0:
        node.fail("must hold an edit")
    return tuple(_build_edit(entry, n_features, n_classes, depth) for entry in entries)


def _build_edit(node: Node, n_features: int, n_classes: int, depth: int) -> Edit:
    of_merged = ["weights", "edits"] if "weights" in node.mapping() else []
    names = ["method", "feature", "class", "reason", "direction", "largest_change", "mean_change"]
    fields = node.fields(*names, *of_merged)
    method = fields["method"].choice(EDITS)
    merged = method == "merge_models"
    if merged != bool(of_merged):
        node.fail("must have weights and edits if models were merged, and only then")

    def read(name: str, read_value: Any) -> Any:
        return None if fields[name].value is None else read_value(fields[name])

    edit = Edit(
        method=EDITS[EDITS.index(method)],
        feature=read("feature", lambda entry: entry.integer(0, n_features - 1)),
        class_index=read("class", lambda entry: entry.integer(0, n_classes - 1)),
        reason=read("reason", lambda entry: entry.string()),
        direction=read("direction", _read_direction),
        largest_change=read("largest_change", _read_size),
        mean_change=read("mean_change", _read_size),
    )
    if merged != (edit.feature is None):
        fields["feature"].fail("must be null if models were merged, and only then")
    if not merged:
        return edit
    weights = fields["weights"].reals()
    if len(weights) < 2 or not (weights > 0.0).all() or abs(weights.sum() - 1.0) > 1e-9:
        fields["weights"].fail("must hold two numbers above 0 or more, which add up to 1")
    entries = fields["edits"].entries(len(weights))
    before = tuple(build_edits(entry, n_features, n_classes, depth + 1) for entry in entries)
    return replace(edit, weights=tuple(weights.tolist()), edits=before)


def _read_direction(node: Node) -> int:
    direction = node.integer(-1, 1)
    if direction == 0:
        node.fail("must be 1 or -1")
    return direction


def _read_size(node: Node) -> float:
    value = node.real()
    if not 0.0 <= value < math.inf:
        node.fail("must be a finite number, not below 0")
    return value
