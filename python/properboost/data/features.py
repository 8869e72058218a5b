"""Features of a table, by position, name or type."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from properboost.data.table import ColumnKind, InputTable
from properboost.parameters import checks
from properboost.parameters.kinds import CategoricalFeatures

__all__ = ["find_categorical", "find_feature", "find_texts"]


def find_categorical(
    categorical_features: CategoricalFeatures,
    table: InputTable,
    kinds: Sequence[ColumnKind] | None = None,
) -> tuple[list[int], bool]:
    """Return the positions of the categorical features, and whether types decided them.

    `kinds` has what each column holds, where `table` has only a part of the rows.
    """
    if categorical_features is None:
        return [], False
    allowed = "'from_dtype', None, a list of positions or names, or a boolean mask"
    if isinstance(categorical_features, str):
        if categorical_features != "from_dtype":
            raise ValueError(
                f"categorical_features must be {allowed}; got {categorical_features!r}"
            )
        if kinds is None:
            kinds = [table.find_kind(j) for j in range(table.n_features)]
        return [j for j, kind in enumerate(kinds) if kind in ("categories", "text")], True
    listed = np.asarray(categorical_features, dtype=object)
    if listed.ndim != 1:
        raise ValueError(f"categorical_features must be {allowed}; got {categorical_features!r}")
    if len(listed) and all(isinstance(entry, bool | np.bool_) for entry in listed):
        if len(listed) != table.n_features:
            raise ValueError(
                f"categorical_features, as a mask, must have one entry per column of X, "
                f"{table.n_features}; got {len(listed)}"
            )
        return np.flatnonzero(listed).tolist(), False
    argument = "categorical_features"
    positions = {find_feature(f, table.names, table.n_features, argument) for f in listed}
    return sorted(positions), False


def find_texts(table: InputTable, categorical: Sequence[int], from_dtype: bool) -> list[int]:
    """Return the categorical features that are so for holding text, and not by the user's word."""
    return [j for j in categorical if from_dtype and table.find_kind(j) == "text"]


def find_feature(
    feature: Any, names: Sequence[str] | None, n_features: int, argument: str = "feature"
) -> int:
    """Return the position of a feature given by position or name."""
    if isinstance(feature, str):
        positions = [] if names is None else [j for j, name in enumerate(names) if name == feature]
        if len(positions) != 1:
            known = "no names" if names is None else f"{list(names)}"
            problem = "is not unique" if positions else "is unknown"
            raise ValueError(f"{argument}: the name {feature!r} {problem}; X had {known}")
        return positions[0]
    return checks.integer(argument, feature, 0, n_features - 1)
