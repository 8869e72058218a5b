"""The fit of ordered classes: a fit of two classes to the comparisons of rows with thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.batches.quantized_table import QuantizedTable
from properboost.data.frames import open_table
from properboost.data.labels import Rows
from properboost.engine.local import LocalRows, TableSource
from properboost.engine.threshold_rows import BOTH, ThresholdRows, compare_codes
from properboost.estimators.labelled_rows import LabelledRows
from properboost.estimators.properboost_parameters import check_parameters, find_loss
from properboost.fitting.plan import FitPlan, plan_fit
from properboost.fitting.thresholds import (
    find_shares_above,
    find_thresholds,
    start_thresholds,
    weigh_comparison,
)
from properboost.fitting.watch import Validation, read_validation
from properboost.losses.builtin import MarginLoss
from properboost.losses.probabilities import Link
from properboost.models.one_scale import take_scale
from properboost.models.tree_ensemble import TreeEnsemble
from properboost.parameters.declare import read_parameter
from properboost.parameters.rows import read_binning
from properboost.parameters.stages import Calibration, EarlyStopping
from properboost.scoring import HeldOutRows, name_score

__all__ = ["OrderedFit", "prepare_fit", "read_ranks"]

Array = NDArray[np.float64]

MOST_CLASSES = 255
"""The most classes: the number of a threshold is a code of a categorical feature."""

SCORES = ("neg_log_loss", "neg_brier_score")
"""The scores of comparisons; the second one is minus the ranked probability score."""


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

    def finish(self, model: Any) -> Array:
        """Give a model of comparisons the ensemble of F, and return the thresholds of the rows."""
        rows = self.rows
        everything = np.ones(len(rows.class_of), dtype=bool)
        ensemble = take_scale(
            model.ensemble_,
            rows.weigh_segments(everything),
            lambda pairs: rows.of_pairs(pairs).weigh_segments(everything),
        )
        if isinstance(ensemble, TreeEnsemble):
            ensemble = ensemble.with_grids(rows.weigh_cells)
        model.ensemble_, model.classes_, model.begins_with_scores_ = ensemble, BOTH, False
        raw = rows.add_up(ensemble)[:, 0]
        return find_thresholds(model.loss_, raw, self.ranks[rows.class_of_row], rows.weight)


def prepare_fit(
    model: Any, data: LabelledRows, held_out: LabelledRows, order: Sequence[Any] | None
) -> OrderedFit:
    """Return the fit of a `ProperBoostClassifier` to rows whose labels have an order."""
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
    plan, comparisons, starts = _plan(model, rows, ranks, loss)
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
    model: Any, rows: LocalRows, ranks: NDArray[np.intp], loss: MarginLoss
) -> tuple[FitPlan, ThresholdRows, Array]:
    """Return the plan of a fit to comparisons, these, and the thresholds from which it starts."""
    n_classes, class_of_row = len(ranks), ranks[rows.class_of_row]
    shares = find_shares_above(class_of_row, rows.weight, n_classes)
    comparisons = ThresholdRows.compare(rows, class_of_row, n_classes, weigh_comparison(shares))
    loss = find_loss(model, loss, comparisons.rows_of_classes, keeps_gain=False)
    starts = start_thresholds(loss, shares)
    base = -starts[comparisons.dense_codes[-1], None]
    plan = plan_fit(model, Link(loss, None, rows.n_threads), 2, base=base)
    return plan, comparisons, starts


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
