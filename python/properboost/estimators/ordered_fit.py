"""The fit of ordered classes: a fit of two classes to the comparisons of rows with thresholds."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from properboost.batches.quantized_table import QuantizedTable
from properboost.data.frames import open_table
from properboost.data.sorted_rows import Rows
from properboost.engine.local import LocalRows, TableSource
from properboost.engine.threshold_rows import BOTH, ThresholdRows, compare_codes
from properboost.estimators.labelled_rows import LabelledRows
from properboost.estimators.learner_choice import CLEAR, LEAST_AHEAD, Folds, count_errors
from properboost.estimators.properboost_parameters import check_parameters, find_loss
from properboost.fitting.assemble import assemble
from properboost.fitting.evidence import RowEvidence
from properboost.fitting.plan import FitPlan, plan_fit
from properboost.fitting.run import Run
from properboost.fitting.scaling import find_scaling
from properboost.fitting.thresholds import (
    find_shares_above,
    find_thresholds,
    start_thresholds,
    weigh_comparison,
)
from properboost.fitting.watch import Validation, read_validation
from properboost.losses.builtin import MarginLoss
from properboost.losses.ordered_link import OrderedLink
from properboost.losses.probabilities import Link, log_losses
from properboost.models.ensemble import Ensemble
from properboost.models.one_scale import take_moves, take_scale
from properboost.models.table_ensemble import TableEnsemble
from properboost.models.threshold_moves import ThresholdMoves
from properboost.models.tree_ensemble import TreeEnsemble
from properboost.parameters.declare import read_parameter
from properboost.parameters.rows import read_binning
from properboost.parameters.stages import Calibration, EarlyStopping, Interactions
from properboost.scoring import HeldOutRows, name_score

__all__ = ["OrderedFit", "Scale", "check_moves", "prepare_fit", "read_ranks"]

Array = NDArray[np.float64]

MOST_CLASSES = 255
"""The most classes: the number of a threshold is a code of a categorical feature."""

SCORES = ("neg_log_loss", "neg_brier_score")
"""The scores of comparisons; the second one is minus the ranked probability score."""

MOST_MOVING = 100
"""The most features at which "auto" compares: each has a pair with the threshold's number."""


class Scale(NamedTuple):
    """F as an ensemble of the features, the thresholds on it, and their moves, if any."""

    ensemble: Ensemble
    thresholds: Array
    moves: ThresholdMoves | None


@dataclass(frozen=True, eq=False)
class OrderedFit:
    """A fit of ordered classes before it runs, and what it needs afterwards."""

    plan: FitPlan
    comparisons: ThresholdRows
    validation: Validation | None
    rows: LocalRows
    """The rows with their codes of features, sorted by class."""
    ranks: NDArray[np.intp]
    """The place of each sorted label in the order of the classes."""

    def finish(self, model: Any) -> Scale:
        """Give a model of comparisons the ensemble of F, and return F with its thresholds."""
        scale = _find_scale(model.ensemble_, model.loss_, self.rows, self.ranks)
        ensemble = scale.ensemble
        if isinstance(ensemble, TreeEnsemble):
            ensemble = ensemble.with_grids(self.rows.weigh_cells)
        model.ensemble_, model.classes_, model.begins_with_scores_ = ensemble, BOTH, False
        return scale


def _find_scale(
    ensemble: Ensemble, loss: MarginLoss, rows: LocalRows, ranks: NDArray[np.intp]
) -> Scale:
    """Return F, its thresholds and their moves from an ensemble of comparisons of these rows."""
    everything = np.ones(len(rows.class_of), dtype=bool)
    bin_weights = rows.weigh_segments(everything)
    scale = take_scale(
        ensemble,
        bin_weights,
        lambda pairs: rows.of_pairs(pairs).weigh_segments(everything),
    )
    raw, moves = rows.add_up(scale)[:, 0], None
    if isinstance(ensemble, TableEnsemble):
        moves = take_moves(ensemble, bin_weights)
    if moves is not None:
        raw = raw[:, None] - moves.of_codes(rows.dense_codes)
    class_of_row = ranks[rows.class_of_row]
    return Scale(scale, find_thresholds(loss, raw, class_of_row, rows.weight), moves)


def prepare_fit(
    model: Any,
    data: LabelledRows,
    held_out: LabelledRows,
    order: Sequence[Any] | None,
    moving: bool | Literal["auto"],
) -> OrderedFit:
    """Return the fit of a `ProperBoostClassifier` to rows whose labels have an order.

    `moving` is whether features may move thresholds; "auto" compares both on rows held out.
    """
    loss = check_parameters(model)
    _check_ordered(model)
    if isinstance(data.X, QuantizedTable):
        raise TypeError("X must be a table of values for ordered classes; got a QuantizedTable")
    held_out.check_beside(None)
    source = TableSource(open_table(model, data.X, reset=True))
    share = read_parameter(model, "early_stopping").validation_fraction
    if held_out.X is None and share is not None:
        data, held_out = data.hold_out(source, share, model.random_state)
        source = TableSource(open_table(model, data.X, reset=False))
    labelled = data.read(source.n_rows, model.class_weight, model.normalize_weights)
    ranks = read_ranks(order, labelled.classes)
    rows = _encode(model, source, labelled)
    if moving == "auto":
        moving = (
            _find_obstacle(model) is None
            and len(rows.binning.features) <= MOST_MOVING
            and _choose(model, data, _sort_classes(labelled, ranks), rows, loss)
        )
    can_move = moving and len(ranks) > 2
    plan, comparisons, starts = _plan(model, rows, ranks, loss, can_move=can_move)
    validation = None
    if held_out.X is not None:
        validation = _read_validation(model, held_out, rows, plan, ranks, starts)
    return OrderedFit(plan, comparisons, validation, rows, ranks)


def _check_ordered(model: Any) -> None:
    """Refuse callbacks, and the values of parameters that fits of ordered classes lack."""
    if hasattr(model, "_skl_callbacks"):
        raise ValueError(
            "estimator must have no callbacks for ordered classes, whose model is not known until "
            "the end: fit it without set_callbacks"
        )
    for name, value, allowed, reason in _list_limits(model):
        if value not in allowed:
            raise ValueError(
                f"{name} must be {' or '.join(map(repr, allowed))} for ordered classes: {reason}; "
                f"got {value!r}"
            )


def _list_limits(
    model: Any,
) -> Iterator[tuple[str, object, tuple[object, ...], str]]:
    """Yield the name and value of parameters, the values that are allowed, and the reason."""
    calibration: Calibration = read_parameter(model, "calibration")
    stopping: EarlyStopping = read_parameter(model, "early_stopping")
    reason = "thresholds belong to the rows of their fit"
    yield "warm_start", model.warm_start, (False,), reason
    yield "multiclass", model.multiclass, ("auto",), "one raw prediction serves all classes"
    n_bags = read_parameter(model, "outer_bags").n_bags
    yield "outer_bags", n_bags, (0,), "the thresholds would have no standard errors"
    reason = "it compares the densities of two classes"
    yield "response", model.response, ("real", "sign", "newton", "exact"), reason
    reason = "it would only move the thresholds"
    yield "Calibration.intercept", calibration.intercept, ("auto", "share", None), reason
    yield "Calibration.temperature", calibration.temperature, (None,), "they need no softmax"
    reason = "rows are scored by their comparisons with thresholds"
    yield "EarlyStopping.scoring", name_score(stopping.scoring), SCORES, reason


def read_ranks(order: Sequence[Any] | None, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the place of each sorted label in an order, or in that of numbers."""
    if len(classes) > MOST_CLASSES:
        raise ValueError(f"y must hold at most {MOST_CLASSES} ordered classes; got {len(classes)}")
    labels = classes.tolist()
    if order is None:
        if any(isinstance(label, str) for label in labels):
            raise ValueError(
                "classes must be given where y holds text, which has no order: the labels from "
                f"the lowest to the highest; got None for the labels {labels}"
            )
        return np.arange(len(labels))
    ordered = np.asarray(order).tolist()
    if len(ordered) != len(labels) or set(ordered) != set(labels):
        raise ValueError(
            f"classes must hold each label of y once; got {ordered} for the labels {labels}"
        )
    return np.array([ordered.index(label) for label in labels], dtype=np.intp)


def _encode(model: Any, source: TableSource, rows: Rows) -> LocalRows:
    """Return the rows as codes of features, sorted by class."""
    learner = read_parameter(model, "weak_learner")
    options = read_binning(model, learner.rows_per_bin)
    return source.encode(options, rows, rows.sort(), with_means=learner.needs_means)


def _plan(
    model: Any, rows: LocalRows, ranks: NDArray[np.intp], loss: MarginLoss, *, can_move: bool
) -> tuple[FitPlan, ThresholdRows, Array]:
    """Return the plan of a fit to comparisons, these, and the thresholds from which it starts."""
    if can_move:
        last = len(rows.binning.features)
        model = copy.copy(model)
        model.interactions = Interactions([(j, last) for j in range(last)])
    n_classes, class_of_row = len(ranks), ranks[rows.class_of_row]
    shares = find_shares_above(class_of_row, rows.weight, n_classes)
    weight = weigh_comparison(shares)
    comparisons = ThresholdRows.compare(rows, class_of_row, n_classes, weight, can_move=can_move)
    loss = find_loss(model, loss, comparisons.rows_of_classes, keeps_gain=False)
    starts = start_thresholds(loss, shares)
    base = -starts[comparisons.dense_codes[-1], None]
    plan = plan_fit(model, Link(loss, None, rows.n_threads), 2, base=base)
    return plan, comparisons, starts


def check_moves(model: Any) -> None:
    """Refuse parameters under which thresholds cannot move."""
    obstacle = _find_obstacle(model)
    if obstacle is not None:
        raise ValueError(
            "moving_thresholds must be False or 'auto' here, because moves are tables of pairs of "
            f"a feature and a threshold: {obstacle}"
        )


def _find_obstacle(model: Any) -> str | None:
    """Return the reason why no threshold moves under these parameters, if there is one."""
    interactions: Interactions = read_parameter(model, "interactions")
    for name, value, is_default in (
        ("interactions", model.interactions, not interactions.are_wanted),
        ("monotonic_cst", model.monotonic_cst, model.monotonic_cst is None),
    ):
        if not is_default:
            return f"{name} must be at its default; got {value!r}"
    with_pairs = copy.copy(model)
    with_pairs.interactions = Interactions(1)
    try:
        check_parameters(with_pairs)
    except ValueError as error:
        return str(error)
    return None


def _sort_classes(rows: Rows, ranks: NDArray[np.intp]) -> Rows:
    """Return rows whose classes are numbered in their order, so that names change no fold."""
    n_classes = len(ranks)
    codes = np.append(ranks, n_classes).astype(rows.codes.dtype)[rows.codes]
    return Rows(np.arange(n_classes), codes, rows.weight, None, rows.total)


def _choose(
    model: Any, data: LabelledRows, labelled: Rows, rows: LocalRows, loss: MarginLoss
) -> bool:
    """Return whether moves lower the log loss of rows held out by a standard error.

    The moves are fitted after F, so one fit to each fold has the predictions of both.
    """
    ranks = np.arange(len(labelled.classes))
    folds = Folds.deal(data, labelled, rows) if len(ranks) > 2 else None
    if folds is None:
        return False
    falls, weights = np.empty(0), np.empty(0)
    errors_ahead = 0.0
    for fold in folds.split():
        learning, held_out = fold.learning, fold.held_out
        assert isinstance(learning, LocalRows)
        assert isinstance(held_out, LocalRows)
        plan, comparisons, _ = _plan(model, learning, ranks, loss, can_move=True)
        run = Run(plan, find_scaling(plan, RowEvidence(comparisons)), comparisons)
        ensemble = assemble(plan, run.scaling, run.finish(), comparisons)
        scale = _find_scale(ensemble, plan.link.loss, learning, ranks)
        fall = _find_fall(scale, plan.link.loss, learning, held_out, ranks)
        falls = np.concatenate([falls, fall])
        of_fold = np.ones(len(fall)) if held_out.weight is None else held_out.weight
        weights = np.concatenate([weights, of_fold])
        errors_ahead = count_errors(falls, weights)
        if abs(errors_ahead) > CLEAR:
            break
    return errors_ahead > LEAST_AHEAD


def _find_fall(
    scale: Scale,
    loss: MarginLoss,
    learning: LocalRows,
    held_out: LocalRows,
    ranks: NDArray[np.intp],
) -> Array:
    """Return by how much moves lower the log loss of each row that is held out."""
    raw = held_out.add_up(scale.ensemble)[:, 0]
    if scale.moves is None:
        return np.zeros(len(raw))
    class_of_row = ranks[learning.class_of_row]
    fixed = find_thresholds(
        loss, learning.add_up(scale.ensemble)[:, 0], class_of_row, learning.weight
    )
    moved = scale.moves.add_to(scale.thresholds, held_out.dense_codes)
    of_fixed, of_moved = (
        log_losses(OrderedLink(loss, thresholds).probabilities(raw), ranks[held_out.class_of_row])
        for thresholds in (fixed, moved)
    )
    return of_fixed - of_moved


def _read_validation(
    model: Any,
    held_out: LabelledRows,
    rows: LocalRows,
    plan: FitPlan,
    ranks: NDArray[np.intp],
    starts: Array,
) -> Validation:
    """Return the comparisons of validation rows with the thresholds."""
    read = read_validation(
        lambda: TableSource(open_table(model, held_out.X, reset=False)),
        held_out.y,
        held_out.sample_weight,
        None,
        training=rows,
        link=plan.link,
        scoring=read_parameter(model, "early_stopping").scoring,
    )
    n_thresholds = len(starts)
    is_above = ranks[read.rows.codes] > np.arange(n_thresholds)[:, None]
    weight = None if read.rows.weight is None else np.tile(read.rows.weight, n_thresholds)
    return replace(
        read,
        rows=HeldOutRows(np.tile(read.rows.rows, n_thresholds), is_above.ravel() * 1, weight),
        codes=compare_codes(read.codes, n_thresholds),
        base=-np.repeat(starts, is_above.shape[1])[:, None],
    )
