"""Rows of ordered classes, each compared with every threshold: two classes of comparisons.

The engine has every row once for each threshold, with the label of whether the row's class is above
it.  The number of the threshold is the last feature, which joins no other feature in a tree or a
rule.  So a model of two classes is one function of the features, and one number per threshold.
Where thresholds move, pairs of a feature and the threshold's number follow.
This is the reduction of Li and Lin (2007, NeurIPS 19), and of Cardoso and Pinto da Costa (2007,
JMLR 8).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.data.binning import Binning, CategoricalBins
from properboost.data.sorted_rows import Rows
from properboost.engine.available_memory import require_memory
from properboost.engine.learners import find_directions, make_learner
from properboost.engine.local import LocalRows
from properboost.parameters.boosting import BoostingOptions

__all__ = ["ThresholdRows", "compare_codes"]

BOTH = np.array([0, 1])
"""The classes of comparisons: the row is not above the threshold, or is."""


@dataclass(frozen=True, eq=False)
class ThresholdRows(LocalRows):
    """Comparisons of rows with thresholds, whose last feature is the number of the threshold."""

    weight_of_row: float = 1.0
    """The weight of all comparisons of a row of weight 1."""
    can_move: bool = False
    """Whether pairs may combine a feature with the threshold's number."""

    @classmethod
    def compare(
        cls,
        rows: LocalRows,
        class_of_row: NDArray[np.integer],
        n_classes: int,
        weight: float,
        *,
        can_move: bool = False,
    ) -> Self:
        """Return the comparisons of these rows.

        Parameters
        ----------
        rows : LocalRows
            The rows, with codes of features.
        class_of_row : ndarray of shape (n_rows,)
            The place of each row's class in the order of the classes.
        n_classes : int
            The number of classes.
        weight : float
            The factor of each row's weight in a comparison.
        can_move : bool
            Whether pairs may combine a feature with the threshold's number.
        """
        n_thresholds, n_rows = n_classes - 1, rows.n_rows
        require_memory((len(rows.binning.features) + 1) * n_rows * n_thresholds, "fewer rows")
        is_above = class_of_row > np.arange(n_thresholds)[:, None]
        of_rows = np.ones(n_rows) if rows.weight is None else rows.weight
        weights = np.tile(weight * of_rows, n_thresholds)
        order = Rows(BOTH, is_above.ravel().astype(np.uint8), weights, None, 0.0).sort()
        threshold_of, row_of = np.divmod(order.order, n_rows)
        numbers = CategoricalBins(tuple(map(float, range(n_thresholds))))
        return cls(
            classes=BOTH,
            binning=Binning((*rows.binning.features, numbers), rows.binning.from_dtype),
            segments=order.segments,
            class_of=order.class_of,
            weight=weights[order.order],
            numbers=order.numbers,
            seed=rows.seed,
            n_threads=rows.n_threads,
            names=rows.names,
            pairs=None,
            codes=np.vstack([rows.dense_codes[:, row_of], threshold_of.astype(np.uint8)]),
            weight_of_row=weight * n_thresholds,
            can_move=can_move,
        )

    @property
    def rows_of_classes(self) -> NDArray[np.float64]:
        """The weights of the classes as if the comparisons of a row were one row.

        Weak learners and the gain have defaults by the number of rows.
        """
        return self.class_weights / self.weight_of_row

    @property
    def n_combined(self) -> int:
        """The number of features that pairs may combine, the threshold's only where it may move."""
        return len(self.binning.features) - (not self.can_move)

    def _make_learner(self, options: BoostingOptions) -> _core.WeakLearner:
        n_features = len(self.binning.features) - 1
        directions = find_directions(
            options.monotonic_cst,
            binning=self.binning.first(n_features),
            names=self.names,
            n_classes=2,
            pairs=self.pairs,
        )
        if self.pairs is None and directions:
            directions = (*directions, 0)
        return make_learner(
            options.weak_learner,
            class_weights=self.rows_of_classes,
            n_features=n_features if self.pairs is None else len(self.pairs),
            n_apart=1 if self.pairs is None else 0,
            directions=directions,
            names=self.names,
            seed=self.seed,
            criterion=options.criterion,
            allows_for_chance=options.selection != "greedy",
        )


def compare_codes(codes: NDArray[np.uint8], n_thresholds: int) -> NDArray[np.uint8]:
    """Return the codes of rows once for each threshold, with its number as the last feature."""
    numbers = np.repeat(np.arange(n_thresholds, dtype=np.uint8), codes.shape[1])
    return np.vstack([np.tile(codes, (1, n_thresholds)), numbers])
