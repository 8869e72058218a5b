"""The choice of "auto": look-up tables or trees of few features, by rows held out."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.data.labels import Rows
from properboost.engine.protocols import RowSource, TrainingRows
from properboost.estimators.labelled_rows import LabelledRows
from properboost.estimators.properboost_parameters import check_parameters, plan_rows
from properboost.fitting.bag_assignment import deal
from properboost.fitting.plan import FitPlan
from properboost.losses.builtin import MarginLoss
from properboost.losses.probabilities import log_losses
from properboost.models.ensemble import Ensemble
from properboost.models.tree_ensemble import TreeEnsemble
from properboost.parameters.boosting import CHOICE, LearnerChoice
from properboost.parameters.declare import read_parameter
from properboost.parameters.learners import Learner

__all__ = ["choose_learner", "find_learner", "read_learner", "with_learner"]

Array = NDArray[np.float64]

Fit: TypeAlias = Callable[[FitPlan, TrainingRows], Ensemble]
"""A function that fits an ensemble by a plan."""

FOLDS = 3

LEAST_AHEAD, CLEAR = 1.0, 3.0
"""The standard errors by which the tree must be ahead, and those that end the comparison."""

MOST_ROWS = 10_000
"""The most rows that are compared, where classes are not rare: more hardly change the choice."""

LEAST_OF_CLASS = 5
"""Rows of the rarest class in each fold of such a sample."""


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
    fit: Fit,
) -> Learner:
    """Return the weak learner of "auto", where `read_learner` leaves the choice.

    It is the table where leaves can have no lines, and with too few rows.  Elsewhere it is the
    tree, if its log loss on the rows that three folds hold out is less by a standard error: noise
    decides which of the two is ahead, and the table is simpler.  A clear difference on the first
    folds saves the others.
    """
    if not source.can_have_lines:
        return CHOICE.table
    folds = _Folds.deal(data, rows, training)
    if folds is None:
        return CHOICE.table
    differences, weights = np.empty(0), np.empty(0)
    errors_ahead = 0.0
    for learns, held_out in folds.split():
        of_tree, of_table = (
            _score(with_learner(model, learner), loss, fit, learns, held_out)
            for learner in (CHOICE.tree, CHOICE.table)
        )
        differences = np.concatenate([differences, of_table - of_tree])
        weights = np.concatenate([weights, held_out.weights])
        errors_ahead = _count_errors(differences, weights)
        if abs(errors_ahead) > CLEAR:
            break
    return CHOICE.tree if errors_ahead > LEAST_AHEAD else CHOICE.table


def _takes(model: Any, learner: Learner) -> bool:
    """Whether the model's other parameters allow a weak learner."""
    try:
        check_parameters(with_learner(model, learner))
    except ValueError:
        return False
    return True


def _count_errors(values: Array, weights: Array) -> float:
    """Return the weighted mean of values, in its standard errors."""
    shares = weights / weights.sum()
    mean = shares @ values
    error = np.sqrt(shares**2 @ (values - mean) ** 2)
    return float(mean / error) if error > 0.0 else 0.0


def _hasten(plan: FitPlan) -> FitPlan:
    """Return the plan of half the trees at twice the rate, which predict nearly as well."""
    options = plan.options
    if not options.weak_learner.is_grown:
        return plan
    rate = options.find_rate(plan.link.loss.rate_factor)
    return replace(
        plan,
        options=options.replace(learning_rate=min(2.0 * rate, 1.0)),
        n_estimators=-(-plan.of_features().limits[0] // 2),
    )


class _Part(NamedTuple):
    """A part of the training rows, and the raw predictions from which its models start."""

    rows: TrainingRows
    base: Array | None

    @property
    def weights(self) -> Array:
        """The weights of the rows."""
        return np.ones(self.rows.n_rows) if self.rows.weight is None else self.rows.weight


def _score(model: Any, loss: MarginLoss, fit: Fit, learns: _Part, held_out: _Part) -> Array:
    """Fit a model to a part of the rows; return the log loss of each row of another."""
    plan = _hasten(plan_rows(model, loss, learns.rows, base=learns.base))
    raw = held_out.rows.add_up(fit(plan, learns.rows))
    if held_out.base is not None:
        raw += held_out.base
    as_predicted = raw[:, 0] if raw.shape[1] == 1 else raw
    return log_losses(plan.link.probabilities(as_predicted), held_out.rows.class_of_row)


class _Folds:
    """The rows of three folds, by the segments of an order by class and fold."""

    def __init__(self, data: LabelledRows, rows: Rows, training: TrainingRows, part: Any) -> None:
        order = rows.sort(part, int(part.max()) + 1)
        taken = order.part_of < FOLDS
        self._rows = training.bring(order, taken)
        self._fold_of = order.part_of[taken]
        base = data.read_init_score(rows.n_of_table, len(rows.classes), order.order)
        self._base = None if base is None else base[np.repeat(taken, np.diff(order.segments))]

    @classmethod
    def deal(cls, data: LabelledRows, rows: Rows, training: TrainingRows) -> "_Folds | None":
        """Deal rows to folds and a rest; None if rows are too few, or too few of a class."""
        counts, n_rows = training.rows_of_class, training.n_rows
        sampled = -(-FOLDS * n_rows // MOST_ROWS)
        n_parts = int(max(FOLDS, min(sampled, counts.min() // LEAST_OF_CLASS, 255)))
        if n_rows > 10 * MOST_ROWS and n_parts == FOLDS:
            return None  # a class is so rare that no sample has its rows
        part = deal(rows, n_parts, training.seed, data.read_groups(rows))
        folds = cls(data, rows, training, part)
        return folds if len(folds._fold_of) == FOLDS * len(rows.classes) else None

    def split(self) -> Iterator[tuple[_Part, _Part]]:
        """Yield the rows that a fold learns from, and those that it holds out."""
        for k in range(FOLDS):
            yield self._take(self._fold_of != k), self._take(self._fold_of == k)

    def _take(self, segments: NDArray[np.bool_]) -> _Part:
        base = self._base
        if base is not None:
            base = base[np.repeat(segments, np.diff(self._rows.segments))]
        return _Part(self._rows.of_segments(segments), base)
