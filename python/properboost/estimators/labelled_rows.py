"""The rows that `fit` gets, with their labels and what else belongs to each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.init_score import read_init_score
from properboost.estimators.early_stopping import take_entries
from properboost.parameters import checks

__all__ = ["LabelledRows"]


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """A table as the user has it, and an entry for each row of labels, weights and so on."""

    X: Any
    y: Any
    sample_weight: Any = None
    init_score: Any = None
    groups: Any = None

    def check_beside(self, init_score: Any) -> None:
        """Check that these validation rows have all that they need beside training rows.

        `init_score` is that of training rows.
        """
        checks.companion("y_val", self.y, X_val=self.X)
        checks.companion("X_val", self.X, y_val=self.y, sample_weight_val=self.sample_weight)
        checks.companion("X_val", self.X, init_score_val=self.init_score)
        checks.companion("init_score", init_score, init_score_val=self.init_score)
        if init_score is not None and self.X is not None and self.init_score is None:
            raise ValueError("init_score_val must be given with init_score and X_val")

    def take(self, table: Any, rows: NDArray[np.int64]) -> LabelledRows:
        """Return the entries of these rows, which are those of `table`."""
        return LabelledRows(
            table,
            take_entries(self.y, rows),
            take_entries(self.sample_weight, rows),
            take_entries(self.init_score, rows),
            take_entries(self.groups, rows),
        )

    def read_init_score(
        self, n_rows: int, n_classes: int, order: NDArray[np.int64]
    ) -> NDArray[np.float64] | None:
        """Return the raw predictions to begin with, (n_rows, n_models), in an order."""
        if self.init_score is None:
            return None
        return read_init_score(self.init_score, n_rows, 1 if n_classes == 2 else n_classes)[order]
