"""The rows of a call of `fit`, with their labels, weights and initial scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.init_score import read_init_score
from properboost.data.labels import read_groups, read_labels, read_rows
from properboost.data.sorted_rows import Rows, SortedRows
from properboost.data.table import SoftLabels
from properboost.engine.protocols import RowSource
from properboost.estimators.early_stopping import hold_out, take_entries
from properboost.fitting.bag_assignment import deal_to_bags, design_for
from properboost.models.bag_design import BagPlan
from properboost.parameters import checks
from properboost.parameters.kinds import ClassWeight
from properboost.parameters.learners import Learner

__all__ = ["LabelledRows"]


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """A user's table, and the labels, weights, initial scores and groups of its rows."""

    X: Any
    y: Any
    sample_weight: Any = None
    init_score: Any = None
    groups: Any = None
    is_drawn: bool = False
    """Whether the fit itself holds these rows out."""

    def check_beside(self, init_score: Any) -> None:
        """Check that these validation rows have the same arguments as the training rows.

        `init_score` is that of the training rows.
        """
        checks.companion("y_val", self.y, X_val=self.X)
        checks.companion("X_val", self.X, y_val=self.y, sample_weight_val=self.sample_weight)
        checks.companion("X_val", self.X, init_score_val=self.init_score)
        checks.companion("init_score", init_score, init_score_val=self.init_score)
        if init_score is not None and self.X is not None and self.init_score is None:
            raise ValueError("init_score_val must be given with init_score and X_val")

    def hold_out(
        self, source: RowSource, share: float, random_state: Any
    ) -> tuple[LabelledRows, LabelledRows]:
        """Return the training rows, and a held-out `share` for scores."""
        source.check_divisible()
        labelled = self
        if not isinstance(self.y, SoftLabels):
            labelled = replace(self, y=read_labels(self.y, source.n_rows))
        learns, held_out = hold_out(labelled.strata, self.groups, share, random_state)
        return (
            labelled.take(source.take(learns), learns),
            replace(labelled.take(source.take(held_out), held_out), is_drawn=True),
        )

    def read(
        self,
        n_rows: int,
        class_weight: ClassWeight,
        normalize_weights: bool,
        classes: NDArray[Any] | None = None,
    ) -> Rows:
        """Check labels and weights; `classes` are those of the model before a warm start."""
        rows = read_rows(self.y, n_rows, self.sample_weight, class_weight, normalize_weights)
        if classes is not None and rows.classes.tolist() != classes.tolist():
            raise ValueError(
                f"y must hold the classes {classes.tolist()} of the model that "
                f"warm_start goes on from; got {rows.classes.tolist()}"
            )
        return rows

    def sort(
        self, rows: Rows, learner: Learner, n_bags: int, random_state: Any
    ) -> tuple[SortedRows, BagPlan | None]:
        """Return the rows in the engine's order, and their bags if there are any."""
        groups = self.read_groups(rows)
        if n_bags == 0:
            return rows.sort(), None
        design = design_for(learner, n_bags)
        return deal_to_bags(rows, design, checks.seed(random_state), groups)

    def read_groups(self, rows: Rows) -> NDArray[Any] | None:
        """Return the groups of the rows of the table, if there are any."""
        return read_groups(self.groups, rows.n_of_table)

    @property
    def strata(self) -> Any:
        """The labels, or the most probable ones, whose shares held-out rows have."""
        if not isinstance(self.y, SoftLabels):
            return self.y
        codes = self.y.most_probable
        counts = np.bincount(codes)
        # A class that is the most probable one of a single row has no share to hold out.
        return np.where(counts[codes] > 1, codes, counts.argmax())

    def take(self, table: Any, rows: NDArray[np.int64]) -> LabelledRows:
        """Return the entries of these rows, whose table is `table`."""
        return LabelledRows(
            table,
            self.y.take(rows) if isinstance(self.y, SoftLabels) else take_entries(self.y, rows),
            take_entries(self.sample_weight, rows),
            take_entries(self.init_score, rows),
            take_entries(self.groups, rows),
        )

    def read_init_score(
        self, n_rows: int, n_classes: int, order: NDArray[np.int64]
    ) -> NDArray[np.float64] | None:
        """Return the initial raw predictions, (n_rows, n_models), in an order."""
        if self.init_score is None:
            return None
        return read_init_score(self.init_score, n_rows, 1 if n_classes == 2 else n_classes)[order]
