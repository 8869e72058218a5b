"""The record of changes that a user made to a fitted model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

__all__ = ["EDITS", "Edit", "EditMethod", "check_reason", "measure_change"]

EditMethod: TypeAlias = Literal[
    "monotonize", "set_shape_function", "remove_feature", "merge_models"
]

EDITS: tuple[EditMethod, ...] = get_args(EditMethod)
"""The methods that make a record."""


@dataclass(frozen=True)
class Edit:
    """One change; `feature` and `class_index` are positions.

    A feature's function, less its mean over the training rows, moved by `largest_change` at most
    and by `mean_change` in the mean over these rows, in units of the raw prediction.  A merge
    records the `weights` of the models, and the `edits` that each of them had before.
    """

    method: EditMethod
    feature: int | None = None
    class_index: int | None = None
    reason: str | None = None
    direction: int | None = None
    largest_change: float | None = None
    mean_change: float | None = None
    weights: tuple[float, ...] = ()
    edits: tuple[tuple["Edit", ...], ...] = ()

    def describe(self, names: Sequence[Any], classes: Sequence[Any]) -> dict[str, Any]:
        """Return the record for users: with names of features and labels, and no empty entry."""
        description: dict[str, Any] = {"method": self.method}
        if self.feature is not None:
            description["feature"] = names[self.feature]
        if self.class_index is not None:
            description["class"] = classes[self.class_index]
        for name in ("direction", "largest_change", "mean_change", "reason"):
            if getattr(self, name) is not None:
                description[name] = getattr(self, name)
        if self.weights:
            description["weights"] = list(self.weights)
            description["edits"] = [
                [e.describe(names, classes) for e in edits] for edits in self.edits
            ]
        return description


def check_reason(reason: str | None) -> str | None:
    """Return the reason that a user stated, a str or None."""
    if reason is not None and not isinstance(reason, str):
        raise TypeError(f"reason must be a str or None; got {reason!r}")
    return reason


def measure_change(
    before: NDArray[np.float64], after: NDArray[np.float64], share: NDArray[np.float64]
) -> tuple[float, float]:
    """Return the largest and the mean change of a table; `share` is of the rows, by code."""
    moved = after - before
    moved = np.abs(moved - np.sum(share * moved))
    return float(moved[share > 0.0].max(initial=0.0)), float(np.sum(share * moved))
