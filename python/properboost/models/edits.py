"""The record of what was changed in a fitted model by hand."""

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
"""What makes a record."""


@dataclass(frozen=True)
class Edit:
    """One change; `feature` and `class_index` are positions.

    A feature's function, less its mean over the training rows, moved by `largest_change` at most
    and by `mean_change` in the mean over these rows: in units of the raw prediction.  Models
    that were merged had the `weights`, and each of them the `edits` before.
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
        """Return what a user reads: names of features and labels of classes, and no empty entry."""
        found: dict[str, Any] = {"method": self.method}
        if self.feature is not None:
            found["feature"] = names[self.feature]
        if self.class_index is not None:
            found["class"] = classes[self.class_index]
        for name in ("direction", "largest_change", "mean_change", "reason"):
            if getattr(self, name) is not None:
                found[name] = getattr(self, name)
        if self.weights:
            found["weights"] = list(self.weights)
            found["edits"] = [[e.describe(names, classes) for e in own] for own in self.edits]
        return found


def check_reason(reason: str | None) -> str | None:
    """Return what a user gives as a reason: words, or nothing."""
    if reason is not None and not isinstance(reason, str):
        raise TypeError(f"reason must be a str or None; got {reason!r}")
    return reason


def measure_change(
    before: NDArray[np.float64], after: NDArray[np.float64], share: NDArray[np.float64]
) -> tuple[float, float]:
    """Return how much a table moved at most, and in the mean; `share` is of rows, by code."""
    moved = after - before
    moved = np.abs(moved - np.sum(share * moved))
    return float(moved[share > 0.0].max(initial=0.0)), float(np.sum(share * moved))
