"""The interface of training rows, which is all that a fit calls, wherever the rows are.

A `RowSource` makes `TrainingRows`, and these set up a `Booster`.  Each of the three has an
implementation for rows in this process (`engine.local`) and one for rows in a cluster (`dask`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.cached import cached_property
from properboost.data.binning import Binning
from properboost.data.sorted_rows import Rows, SortedRows
from properboost.data.whole_sums import add_up_segments
from properboost.losses.builtin import MarginLoss
from properboost.models.ensemble import Ensemble, Rounds
from properboost.models.interactions import PairBins
from properboost.models.term_grid import TermGrid
from properboost.parameters import checks
from properboost.parameters.boosting import BoostingOptions
from properboost.parameters.rows import BinningOptions

__all__ = [
    "Booster",
    "BoostingStopped",
    "CodeWeights",
    "ModelSet",
    "RowSource",
    "TrainingRows",
    "count_by_class",
    "describe_rows",
    "weigh_by_class",
]

CodeWeights: TypeAlias = tuple[NDArray[np.float64], ...]
"""The weight of each code of each feature."""


@dataclass(frozen=True, eq=False)
class ModelSet:
    """Models to boost together on the same rows; every sequence has an entry per model.

    `options` may differ in learning rates, priors and weak learners' parameters.
    """

    roles: NDArray[np.int8]
    """The role of each segment in each model, (n_models, n_segments): see `_core.Model`."""
    options: tuple[BoostingOptions, ...]
    losses: tuple[MarginLoss, ...]
    base: NDArray[np.float64] | None = None
    """The raw predictions that models start from, (n_models or 1, n_rows); None is 0."""
    joint_loss: str = ""
    """The loss of one joint model, whose classes are the models, in order; or ""."""
    keep_rounds: bool = True
    risk_of_tables: bool = True
    """Whether each round of an estimator has its risk; otherwise all have the last round's."""
    raws: int = 0
    """The number of models whose raw predictions are copied while the booster has its memory."""
    raws_after: int = 0
    """The number of models whose raw predictions the caller computes once that memory is free."""
    earlier: tuple[Rounds, ...] = ()
    """The rounds from which each model goes on."""
    n_repeated: int = 0
    """The number of estimators in these rounds."""

    def describe_base(self, rows: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Return the initial raw predictions of these rows."""
        return None if self.base is None else self.base[:, rows]


class BoostingStopped(Exception):  # noqa: N818  # no error, but the end of a run of the engine
    """The end of a run of the engine by its observer."""


class Booster(Protocol):
    """A set of models that are boosted together, whose rows may be in other processes."""

    @property
    def n_estimators(self) -> NDArray[np.int64]:
        """The number of estimators of each model."""

    @property
    def code_counts(self) -> NDArray[np.int64]:
        """The number of rows of each code, features side by side; 0 before the first `advance`."""

    @property
    def cohorts(self) -> int:
        """The number of groups of models that advance in step."""

    def advance(
        self,
        n_estimators: int,
        models: NDArray[np.int64] | None = None,
        progress: Callable[[int, float], None] | None = None,
        *,
        report_each: bool = False,
        keep_others: bool = False,
    ) -> None:
        """Boost these models by up to `n_estimators` more, as in `_core.Boosting.advance`."""

    def rounds(self, model: int, *, first: int = 0) -> Rounds:
        """Return the rounds of a model from round `first` on, with their moves of margins."""

    def raw(self, model: int) -> NDArray[np.float64]:
        """Return the raw predictions of all rows."""

    def held_out(self, model: int) -> NDArray[np.float64]:
        """Return the raw predictions of the model's held-out rows."""

    def curves(self, model: int) -> NDArray[np.float64]:
        """Return the mean losses of held-out rows after each estimator, (3, 3, n_estimators)."""

    def separated(self, model: int) -> bool:
        """Return whether a step that solves for coefficients has no finite optimum."""


@dataclass(frozen=True, eq=False)
class TrainingRows(ABC):
    """Rows sorted by segment, with the codes of features or of pairs of features.

    Segment ``s`` is the rows ``segments[s]`` to ``segments[s + 1]``, all of the class
    ``classes[class_of[s]]``.  `weight` is in the same order; None stands for ones.
    """

    classes: NDArray[Any]
    binning: Binning
    segments: NDArray[np.int64]
    class_of: NDArray[np.intp]
    weight: NDArray[np.float64] | None
    numbers: NDArray[np.int64]
    """The rows' places among all rows of positive weight, by which rows are drawn."""
    seed: int
    n_threads: int
    names: Sequence[str] | None
    """The names of the features, if they have any."""
    pairs: tuple[PairBins, ...] | None
    """The pairs whose codes these are; None for codes of features."""

    # -- about the rows ----------------------------------------------------------------------------

    @cached_property
    def bins(self) -> _core.Bins:
        """The engine's bins of the coded features or pairs."""
        if self.pairs is not None:
            return _core.Bins([pair.grid for pair in self.pairs])
        return self.binning.native

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.segments[-1])

    @property
    def class_of_row(self) -> NDArray[np.intp]:
        """The position of each row's class."""
        return np.repeat(self.class_of, np.diff(self.segments))

    @property
    def signs(self) -> NDArray[np.int8]:
        """The sign of the label, 1 or -1, of each segment in each model, (n_models, n_segments)."""
        n_classes = len(self.classes)
        positive = np.array([1]) if n_classes == 2 else np.arange(n_classes)
        return np.where(self.class_of == positive[:, None], 1, -1).astype(np.int8)

    @property
    def rows_of_class(self) -> NDArray[np.int64]:
        """The number of rows of each class."""
        return count_by_class(len(self.classes), self.class_of, self.segments)

    @cached_property
    def class_weights(self) -> NDArray[np.float64]:
        """The weight of the rows of each class."""
        return weigh_by_class(len(self.classes), self.class_of, self.segments, self.weight)

    @property
    def n_combined(self) -> int:
        """The number of features, from the first on, that pairs may combine."""
        return len(self.binning.features)

    def without_means(self) -> Self:
        """Return the same rows without the means of bins."""
        return replace(self, binning=self.binning.without_means())

    def with_seed(self, seed: int) -> Self:
        """Return the same rows with another seed of draws."""
        return replace(self, seed=seed)

    # -- their codes ------------------------------------------------------------------------------

    @property
    @abstractmethod
    def can_be_copied(self) -> bool:
        """Whether another process can boost models over a copy of these rows."""

    @abstractmethod
    def of_pairs(self, pairs: Sequence[PairBins]) -> Self:
        """Return the same rows with the codes of pairs of these features."""

    @abstractmethod
    def first_pairs(self, n: int) -> Self:
        """Return the same rows with the codes of the first `n` of these pairs."""

    @abstractmethod
    def of_segments(self, taken: NDArray[np.bool_]) -> Self:
        """Return the rows of some segments, in the same order."""

    @abstractmethod
    def reorder(self, order: SortedRows) -> Self:
        """Return the same rows, sorted in another order."""

    @abstractmethod
    def bring(self, order: SortedRows, taken: NDArray[np.bool_]) -> "TrainingRows":
        """Return the rows of some segments of another order, in this process."""

    @abstractmethod
    def gather(self, features: Sequence[int]) -> NDArray[np.uint8]:
        """Return the codes of these features, a row each."""

    @abstractmethod
    def hash_codes(self) -> NDArray[np.uint64]:
        """Return a number for each row, the same for rows of equal codes."""

    @abstractmethod
    def add_up(self, ensemble: Ensemble) -> NDArray[np.float64]:
        """Return the raw predictions of an ensemble over these features, (n_rows, n_models)."""

    @abstractmethod
    def weigh_groups(self, group_of: NDArray[np.int64], n_groups: int) -> list[CodeWeights]:
        """Return the weight of each code in each group of segments; -1 is no group."""

    @abstractmethod
    def weigh_cells(self, grids: Sequence[TermGrid]) -> list[NDArray[np.float64]]:
        """Return the weight of each cell of grids over these features, in the order of cells."""

    @abstractmethod
    def start(self, models: ModelSet) -> Booster:
        """Set up models over these rows.

        Raises MemoryError if there is less memory than boosting certainly takes.
        """

    def weigh_segments(self, selected: NDArray[np.bool_]) -> CodeWeights:
        """Return the weight of each code in these segments."""
        (weights,) = self.weigh_groups(np.where(selected, 0, -1), 1)
        return weights

    def weigh_codes(self, booster: Booster) -> CodeWeights:
        """Return the weight of each code in all rows.

        `booster` is over these rows and has counted the codes at its first `advance`.
        """
        if self.weight is None:
            return self._split(booster.code_counts.astype(np.float64))
        return self.weigh_segments(np.ones(len(self.class_of), dtype=bool))

    def _split(self, values: NDArray[np.float64]) -> CodeWeights:
        """Cut numbers of all codes, side by side, by feature."""
        return tuple(np.split(values, np.cumsum(self.bins.widths)[:-1]))

    def _sorted_as(
        self, order: SortedRows, taken: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], dict[str, Any]]:
        """Return the places here of the rows in segments of another order, and their fields."""
        place = np.empty(int(self.numbers.max()) + 1, dtype=np.int64)
        place[self.numbers] = np.arange(self.n_rows)
        sizes = np.diff(order.segments)
        numbers = order.numbers if taken.all() else order.numbers[np.repeat(taken, sizes)]
        places = place[numbers]
        return places, {
            "segments": np.cumsum([0, *sizes[taken]]),
            "class_of": order.class_of[taken],
            "weight": None if self.weight is None else self.weight[places],
            "numbers": numbers,
        }

    def _part_of(self, taken: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the fields of a part of the rows, in the same order."""
        counts = np.add.reduceat(taken, self.segments[:-1], dtype=np.int64)
        return {
            "segments": np.cumsum([0, *counts[counts > 0]]),
            "class_of": self.class_of[counts > 0],
            "weight": None if self.weight is None else self.weight[taken],
            "numbers": self.numbers[taken],
        }


class RowSource(ABC):
    """A table of training rows, which cuts features into bins and turns rows into codes."""

    source: Any
    """The table for splitters and scorers."""
    n_rows: int
    names: Sequence[str] | None
    """The names of the features, if they have any."""

    @property
    def can_have_lines(self) -> bool:
        """Whether leaves may have lines, which need the means of bins and no sparse codes."""
        return True

    @abstractmethod
    def find_binning(self, options: BinningOptions, rows: Rows) -> Binning:
        """Return the bins of the features by these options."""

    @abstractmethod
    def encode(
        self,
        options: BinningOptions,
        rows: Rows,
        order: SortedRows,
        *,
        with_means: bool = False,
        binning: Binning | None = None,
    ) -> TrainingRows:
        """Return the rows in that `order` as codes of `binning`, or of new bins.

        `with_means` also computes the means of bins, for models that are linear in them.
        """

    @abstractmethod
    def encode_counted(
        self, binning: Binning, n_threads: int
    ) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
        """Return the places of the rows of positive weight, and their codes in these bins."""

    def check_divisible(self) -> None:  # noqa: B027  # most sources are divisible
        """Raise an error if the rows cannot be split into training and held-out rows."""

    @abstractmethod
    def take(self, positions: NDArray[np.int64]) -> Any:
        """Return a table of these rows, of the user's kind."""


def count_by_class(
    n_classes: int, class_of: NDArray[np.intp], segments: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the number of rows of each class; the arguments are those of `TrainingRows`."""
    return np.bincount(class_of, np.diff(segments), n_classes).astype(np.int64)


def weigh_by_class(
    n_classes: int,
    class_of: NDArray[np.intp],
    segments: NDArray[np.int64],
    weight: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Return the sum of the weights of each class's rows; None stands for ones."""
    if weight is None:
        return count_by_class(n_classes, class_of, segments).astype(np.float64)
    return add_up_segments(weight, segments, class_of, n_classes)


def describe_rows(options: BinningOptions, rows: Rows, order: SortedRows) -> dict[str, Any]:
    """Return the fields of `TrainingRows` that depend neither on bins nor on the place of codes.

    A generator in `random_state` draws the seed of the fit first, and then that of its bins.
    """
    weight = rows.training_weight
    return {
        "classes": rows.classes,
        "segments": order.segments,
        "class_of": order.class_of,
        "weight": None if weight is None else weight[order.places],
        "numbers": order.numbers,
        "seed": checks.seed(options.random_state),
        "n_threads": checks.count_threads(options.n_jobs),
        "pairs": None,
    }
