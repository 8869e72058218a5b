"""The JSON form of a model's record of the search that chose it."""

from typing import Any

from properboost.persistence.json_node import Node
from properboost.persistence.losses import LossList
from properboost.persistence.results import (
    build_columns,
    build_value,
    describe_columns,
    describe_value,
)

__all__ = ["SEARCH", "build_search", "describe_search"]

SEARCH = "search"
"""The field of models that a search chose."""

_KINDS = {
    "name": "O",
    "mean_test_score": "f",
    "behind": "f",
    "behind_error": "f",
    "candidates": "i",
    "is_chosen": "b",
}
"""The columns, and the kinds of their types."""

_FIELDS = (
    "by_family", "compared", "n_candidates", "n_dropped", "n_splits", "scoring", "best_score",
    "chosen", "calibration", "ended",
)  # fmt: skip

_MOST = 2**31 - 1


def describe_search(record: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON form of a record."""
    none = LossList()
    others = {name: describe_value(record[name], none) for name in _FIELDS if name != "compared"}
    return {"compared": describe_columns(record["compared"], none), **others}


def build_search(node: Node) -> dict[str, Any]:
    """Return the record that `describe_search` wrote."""
    fields = node.fields(*_FIELDS)
    none = LossList()
    compared = build_columns(fields["compared"], none)
    if {name: _find_kind(column) for name, column in compared.items()} != _KINDS:
        fields["compared"].fail(f"must have the columns {list(_KINDS)}, of their types")
    if not all(isinstance(name, str) for name in compared["name"]):
        fields["compared"].fail("must have strings for names")
    chosen, calibration = (build_value(fields[name], none) for name in ("chosen", "calibration"))
    if not isinstance(chosen, dict):
        fields["chosen"].fail("must hold entries")
    if calibration is not None and not (isinstance(calibration, dict) and "kept" in calibration):
        fields["calibration"].fail("must be null, or hold entries with 'kept' among them")
    return {
        "by_family": fields["by_family"].boolean(),
        "compared": compared,
        "n_candidates": fields["n_candidates"].integer(1, _MOST),
        "n_dropped": fields["n_dropped"].integer(0, _MOST),
        "n_splits": fields["n_splits"].integer(1, _MOST),
        "scoring": fields["scoring"].string(),
        "best_score": fields["best_score"].real(),
        "chosen": chosen,
        "calibration": calibration,
        "ended": None if fields["ended"].value is None else fields["ended"].string(),
    }


def _find_kind(column: Any) -> str | None:
    """Return the kind of an array's type, or None for a list."""
    dtype = getattr(column, "dtype", None)
    return None if dtype is None else str(dtype.kind)
