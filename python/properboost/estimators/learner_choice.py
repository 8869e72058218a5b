"""The choice of "auto": look-up tables or trees of few features, by rows held out."""

import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.data.sorted_rows import Rows
from properboost.engine.protocols import RowSource, TrainingRows
from properboost.estimators.labelled_rows import LabelledRows
from properboost.estimators.properboost_parameters import check_parameters, plan_rows
from properboost.fitting.bag_assignment import deal
from properboost.fitting.enough_rounds import BLOCK
from properboost.fitting.evidence import RowEvidence
from properboost.fitting.held_out_rounds import Fold, HeldOutScore
from properboost.fitting.plan import ENOUGH, FitPlan
from properboost.losses.builtin import MarginLoss
from properboost.models.ensemble import Ensemble
from properboost.models.tree_ensemble import TreeEnsemble
from properboost.parameters.boosting import CHOICE, LearnerChoice
from properboost.parameters.declare import read_parameter
from properboost.parameters.learners import Learner
from properboost.progress import show_progress

__all__ = [
    "CLEAR",
    "LEAST_AHEAD",
    "Choice",
    "Folds",
    "choose_learner",
    "count_errors",
    "find_learner",
    "read_learner",
    "with_learner",
]

Array = NDArray[np.float64]

ScoreFold: TypeAlias = Callable[[FitPlan, Fold, RowEvidence], HeldOutScore]
"""A function that boosts the models of a plan over a part of a fold, and scores another.

It takes the evidence in the part that it boosts over.
"""

FOLDS = 3

LEAST_AHEAD, CLEAR = 1.0, 2.5
"""The standard errors by which the tree must be ahead, and those that end the comparison."""

LEAST_ROWS = 100
"""The fewest rows that are compared: chance decides between fewer."""

MOST_ROWS = 10_000
"""The most rows that are compared, where classes are not rare: more hardly change the choice."""

LEAST_DIFFERENT = 100
"""The different rows in each fold from which on equal rows lie in one fold.

So a row of weight 2 is the row twice, and no two folds have copies of a row.  Fewer different rows
are all needed to learn from.
"""

LEAST_OF_CLASS = 5
"""Rows of the rarest class in each fold of such a sample."""


class Choice(NamedTuple):
    """A weak learner, and the least number of estimators where the user sets none."""

    learner: Learner
    n_estimators: int = ENOUGH


def with_learner(model: Any, learner: Learner) -> Any:
    """Return a shallow copy of a model with this weak learner."""
    chosen = copy.copy(model)
    chosen.weak_learner = learner
    return chosen


def read_learner(model: Any) -> Learner | LearnerChoice:
    """Return the weak learner of a model's parameters, which is the table where trees lack one."""
    learner: Learner | LearnerChoice = read_parameter(model, "weak_learner")
    if isinstance(learner, LearnerChoice) and not _takes(model, CHOICE.tree):
        return CHOICE.table
    return learner


def find_learner(model: Any, ensemble: Ensemble) -> Learner:
    """Return the weak learner of a fitted model, which its ensemble shows where it was chosen."""
    learner: Learner | LearnerChoice = read_parameter(model, "weak_learner")
    if not isinstance(learner, LearnerChoice):
        return learner
    return CHOICE.tree if isinstance(ensemble, TreeEnsemble) else CHOICE.table


def choose_learner(
    model: Any,
    loss: MarginLoss,
    source: RowSource,
    data: LabelledRows,
    rows: Rows,
    training: TrainingRows,
    score: ScoreFold,
) -> Choice:
    """Return the weak learner of "auto", and the number of estimators that helps most.

    It is the table where leaves can have no lines, and with too few rows.  Elsewhere it is the
    tree, if its log loss on the rows that three folds hold out is less by a standard error: noise
    decides which of the two is ahead, and the table is simpler.  A clear difference on the first
    folds saves the others.
    """
    if not source.can_have_lines:
        return Choice(CHOICE.table)
    folds = Folds.deal(data, rows, training)
    if folds is None:
        return Choice(CHOICE.table)
    differences, weights = np.empty(0), np.empty(0)
    lengths: list[tuple[int, int]] = []
    errors_ahead = 0.0
    task, shown = "comparing weak learners", "lead of trees in standard errors"
    with show_progress(model.verbose, FOLDS, task, shown, "fold") as report:
        for k, fold in enumerate(folds.split()):
            plans = (
                plan_rows(with_learner(model, learner), loss, fold.learning, base=fold.base)
                for learner in (CHOICE.table, CHOICE.tree)
            )
            evidence = RowEvidence(fold.learning)
            of_table, of_tree = (score(plan, fold, evidence) for plan in plans)
            differences = np.concatenate([differences, of_table.losses - of_tree.losses])
            weights = np.concatenate([weights, of_tree.weights])
            lengths.append((of_table.n_estimators, of_tree.n_estimators))
            errors_ahead = count_errors(differences, weights)
            is_clear = abs(errors_ahead) > CLEAR
            if report is not None:
                report(FOLDS if is_clear else k + 1, errors_ahead)
            if is_clear:
                break
    is_tree = errors_ahead > LEAST_AHEAD
    blocks = round(np.mean(lengths, axis=0)[int(is_tree)] / BLOCK)
    return Choice(CHOICE.tree if is_tree else CHOICE.table, max(blocks * BLOCK, ENOUGH))


def _takes(model: Any, learner: Learner) -> bool:
    """Whether the model's other parameters allow a weak learner."""
    try:
        check_parameters(with_learner(model, learner))
    except ValueError:
        return False
    return True


def count_errors(values: Array, weights: Array) -> float:
    """Return the weighted mean of values, in its standard errors."""
    shares = weights / weights.sum()
    mean = shares @ values
    error = np.sqrt(shares**2 @ (values - mean) ** 2)
    return float(mean / error) if error > 0.0 else 0.0


def _find_equal(rows: Rows, training: TrainingRows) -> tuple[NDArray[np.uint64], int]:
    """Return a number for each row of the table, the same for rows of equal codes; and how many."""
    hashes = training.hash_codes()
    places = np.flatnonzero(rows.codes < len(rows.classes))[training.numbers]
    equal = np.full(rows.n_of_table, hashes[0])  # rows that do not count add no number
    equal[places if rows.row_of is None else rows.row_of[places]] = hashes
    # np.unique would end the process if a daemon thread is in it while Python ends.
    return equal, 1 + int(np.count_nonzero(np.diff(np.sort(hashes))))


class Folds:
    """The rows of three folds, by the segments of an order by class and fold."""

    def __init__(self, data: LabelledRows, rows: Rows, training: TrainingRows, part: Any) -> None:
        order = rows.sort(part, int(part.max()) + 1)
        taken = order.part_of < FOLDS
        self._rows = training.bring(order, taken)
        self._fold_of = order.part_of[taken]
        base = data.read_init_score(rows.n_of_table, len(rows.classes), order.order)
        self._base = None if base is None else base[np.repeat(taken, np.diff(order.segments))]

    @classmethod
    def deal(cls, data: LabelledRows, rows: Rows, training: TrainingRows) -> "Folds | None":
        """Deal rows to folds and a rest; None if rows are too few, or too few of a class."""
        counts, n_rows = training.rows_of_class, training.n_rows
        if n_rows < LEAST_ROWS:
            return None
        sampled = -(-FOLDS * n_rows // MOST_ROWS)
        n_parts = int(max(FOLDS, min(sampled, counts.min() // LEAST_OF_CLASS, 255)))
        if n_rows > 10 * MOST_ROWS and n_parts == FOLDS:
            return None  # a class is so rare that no sample has its rows
        groups = data.read_groups(rows)
        if groups is None and n_rows <= 10 * MOST_ROWS:
            equal, n_different = _find_equal(rows, training)
            groups = equal if n_different >= LEAST_DIFFERENT * n_parts else None
        part = deal(rows, n_parts, training.seed, groups)
        folds = cls(data, rows, training, part)
        return folds if len(folds._fold_of) == FOLDS * len(rows.classes) else None

    def split(self) -> Iterator[Fold]:
        """Yield the rows that a fold learns from, and those that it holds out."""
        for k in range(FOLDS):
            yield Fold(self._rows, self._fold_of == k, self._base)
