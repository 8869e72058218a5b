"""From a table to models: the one way in which rows are cut, coded and given to the engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost import _core, parameters
from properboost.binning import Binning, count_numeric_bins, find_bins
from properboost.losses import MarginLoss
from properboost.rows import Rows, SortedRows
from properboost.table import Table, find_categorical

__all__ = ["Training", "find_sides", "prepare", "start"]


@dataclass(frozen=True, eq=False)
class Training:
    """Rows as the engine takes them: sorted by segment, and as codes.

    Segment ``s`` is the rows ``segments[s]`` to ``segments[s + 1]``, all of the class
    ``classes[class_of[s]]``.  `weight` is theirs, in the same order; None stands for ones.
    """

    classes: NDArray[Any]
    binning: Binning
    codes: NDArray[np.uint8]
    segments: NDArray[np.int64]
    class_of: NDArray[np.intp]
    weight: NDArray[np.float64] | None
    seed: int
    n_threads: int

    def weigh_codes(self, boosting: _core.Boosting) -> tuple[NDArray[np.float64], ...]:
        """Return the weight that each code of each feature holds.

        `boosting` over these rows, which has begun, has counted them.
        """
        if self.weight is None:
            return self.binning.split(boosting.code_counts.astype(np.float64))
        return self.binning.weigh(self.codes, self.weight, self.n_threads)


def prepare(settings: Any, table: Table, rows: Rows, order: SortedRows) -> Training:
    """Cut the features of `table` into bins and encode its rows in that `order`.

    `settings` is the estimator, whose parameters are read.
    """
    n_threads = parameters.count_threads(settings.n_jobs)
    categorical, from_dtype = find_categorical(settings.categorical_features, table)
    seed = parameters.seed(settings.random_state)
    weight = rows.training_weight
    bins = find_bins(
        table,
        categorical,
        weight,
        max_numeric=count_numeric_bins(settings.max_bins, settings.rows_per_bin, rows.total),
        max_categories=settings.max_bins,
        seed=seed,
        n_threads=n_threads,
    )
    binning = Binning(bins, from_dtype)
    codes = binning.encode(table, order.order, n_threads)
    weight = None if weight is None else weight[order.order]
    return Training(
        classes=rows.classes,
        binning=binning,
        codes=codes,
        segments=order.segments,
        class_of=order.class_of,
        weight=weight,
        seed=seed,
        n_threads=n_threads,
    )


def find_sides(class_of: NDArray[np.intp], n_classes: int) -> NDArray[np.int8]:
    """Return the side, 1 or -1, of each segment in each model: one, or one a class."""
    positive = np.array([1]) if n_classes == 2 else np.arange(n_classes)
    return np.where(class_of == positive[:, None], 1, -1).astype(np.int8)


def start(
    settings: Any,
    training: Training,
    roles: NDArray[np.int8],
    losses: Sequence[MarginLoss],
    priors: Sequence[float | None],
    smoothings: Sequence[float],
    *,
    selection: str,
    keep_rounds: bool,
) -> _core.Boosting:
    """Set up models over the same rows; every sequence has an entry a model."""
    return _core.Boosting(
        training.codes,
        training.binning.native,
        training.segments,
        roles,
        [loss.native for loss in losses],
        gain=np.array([loss.gain for loss in losses], dtype=np.float64),
        prior=np.array([0.0 if e is None else e for e in priors], dtype=np.float64),
        smoothing=np.array(smoothings, dtype=np.float64),
        learning_rate=settings.learning_rate,
        weak_learner=settings.weak_learner,
        selection=selection,
        response=settings.response,
        step=settings.step,
        l2=settings.l2,
        weight=training.weight,
        keep_rounds=keep_rounds,
        n_threads=training.n_threads,
    )
