"""The JSON form of the columns of linear classifiers."""

from collections.abc import Mapping
from typing import Any

from properboost.data.columns import LinearColumns, make_columns
from properboost.persistence.json_node import Node
from properboost.persistence.labels import (
    build_categories,
    build_names,
    describe_categories,
    describe_names,
)

__all__ = ["COLUMN_FIELDS", "build_columns", "describe_columns"]

COLUMN_FIELDS = ("feature_names", "categories", "intercept")


def describe_columns(columns: LinearColumns) -> dict[str, Any]:
    """Return the fields of columns."""
    return {
        "feature_names": describe_names(columns.column_names),
        "categories": [
            None if categories is None else describe_categories(categories)
            for categories in columns.categories
        ],
        "intercept": bool(columns.intercept),
    }


def build_columns(fields: Mapping[str, Node]) -> LinearColumns:
    """Return the columns that fields describe."""
    features = tuple(
        None if entry.value is None else build_categories(entry)
        for entry in fields["categories"].entries()
    )
    if not features:
        fields["categories"].fail("must not be empty")
    names = build_names(fields["feature_names"], len(features))
    return make_columns(features, names, intercept=fields["intercept"].boolean())
