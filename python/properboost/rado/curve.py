"""Error and sparsity against omega, by cross-validation, to choose the regulariser's strength."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from properboost.data.entries import find_entries
from properboost.data.frames import open_table, take_rows
from properboost.data.sorted_rows import HELD_OUT, LEARNS
from properboost.losses.builtin import GLog
from properboost.losses.probabilities import Link
from properboost.model_selection.cross_validation import (
    CVTask,
    check_best_score,
    cross_validate,
    describe_results,
    read_task,
)
from properboost.model_selection.cv_scores import find_best, mean_scores
from properboost.model_selection.fits import Fits, SplitFits
from properboost.parameters import checks
from properboost.parameters.kinds import Scoring
from properboost.parameters.splitters import CV
from properboost.progress import show_progress
from properboost.rado.estimator import RadoBoostClassifier, check_parameters, count_rados
from properboost.rado.rados import Rados, make_rados, read_binary_rows
from properboost.scoring import HeldOutRows, negative_error

__all__ = ["OmegaCurve", "omega_curve"]

OMEGAS = tuple(10.0**k for k in range(-5, 3))


@dataclass(frozen=True, eq=False)
class OmegaCurve:
    """Held-out error and number of coefficients against omega.

    Attributes
    ----------
    omegas : ndarray of shape (n_omegas,)
        Ascending.
    errors : ndarray of shape (n_omegas, n_splits)
        Shares of wrong rows among the held-out rows.
    n_coefficients : ndarray of shape (n_omegas, n_splits)
        The number of coefficients that are not 0, without the intercept.
    regularizer : str
        The models' regulariser as text.
    cv_results : dict of ndarray
        The scores, by which omega is chosen, as in scikit-learn's ``GridSearchCV``: params,
        param_omega, split0_test_score, ..., mean_test_score, std_test_score and rank_test_score.
    """

    omegas: NDArray[np.float64]
    errors: NDArray[np.float64]
    n_coefficients: NDArray[np.int64]
    regularizer: str
    cv_results: dict[str, Any]

    @property
    def best_omega(self) -> float:
        """The omega of largest mean score; among equals, the largest."""
        means = self.cv_results["mean_test_score"]
        known = np.where(np.isnan(means), -np.inf, means)
        return float(self.omegas[find_best(known, self.omegas)])


def omega_curve(
    model: RadoBoostClassifier,
    X: Any,
    y: ArrayLike,
    omegas: Sequence[float] = OMEGAS,
    *,
    cv: CV = 5,
    scoring: Scoring = None,
    groups: ArrayLike | None = None,
) -> OmegaCurve:
    """Cross-validate omega.

    Parameters
    ----------
    model : RadoBoostClassifier
        The model, whose omega does not matter.  It is not changed.
    X : array or table of shape (n_rows, n_features)
        The rows.
    y : array-like of shape (n_rows,)
        Their labels, of two classes.
    omegas : sequence of float, default=(1e-5, 1e-4, ..., 1, 10, 100)
        Strengths of the regulariser, at least 0.
    cv : int, splitter or iterable, default=5
        The splits, as in `ProperBoostClassifierCV`, except that a number means stratified
        folds of rows in random order.
    scoring : str, callable or None, default=None
        The score that chooses omega, as in `ProperBoostClassifierCV`; None minimises the error.
    groups : array-like of shape (n_rows,), optional
        The group of each row, for splitters that keep groups together.

    Returns
    -------
    OmegaCurve
        For `properboost.plots.plot_omega_curve`, and with the `best_omega`.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.

    Examples
    --------
    >>> from properboost import RadoBoostClassifier, rado
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> curve = rado.omega_curve(RadoBoostClassifier(n_estimators=50), X, y, [0.1, 1.0])
    >>> curve.best_omega
    0.1
    """
    if not isinstance(model, RadoBoostClassifier):
        raise TypeError(f"model must be a RadoBoostClassifier; got {type(model).__name__}")
    check_parameters(model)
    strengths = np.array(sorted(checks.entries("omegas", omegas, checks.non_negative)))
    table = open_table(clone(model), X, reset=True)
    rows = read_binary_rows(y, table.n_rows)
    if isinstance(cv, int | np.integer):
        checks.integer("cv", cv, 2)
        cv = StratifiedKFold(cv, shuffle=True, random_state=0)
    task = read_task(table.source, rows, cv=cv, scoring=scoring, groups=groups)
    score = negative_error if scoring is None else task.score
    models = [clone(model).set_params(omega=float(omega), verbose=0) for omega in strengths]
    sizes = np.zeros((len(strengths), task.n_splits), dtype=np.int64)
    shown = "best score" if scoring is None else f"best {task.score_name}"
    total = len(models) * task.n_splits * model.n_estimators
    with show_progress(model.verbose, total, "searching", shown) as report:
        scores, negative_errors = cross_validate(
            _fit_on_splits(models, task, table.source, sizes),
            len(strengths),
            task.n_splits,
            (score, negative_error),
            report=report,
        ).values[..., -1]
    check_best_score(mean_scores(scores).max(), scoring)
    params = [{"omega": float(omega)} for omega in strengths]
    named = model.regularizer if isinstance(model.regularizer, str) else repr(model.regularizer)
    results = describe_results(params, params, scores)
    return OmegaCurve(strengths, -negative_errors, sizes, named, results)


def _fit_on_splits(
    models: Sequence[RadoBoostClassifier],
    task: CVTask,
    source: Any,
    sizes: NDArray[np.int64],
) -> Iterator[Fits]:
    """Yield the models on each split; write their numbers of coefficients into `sizes`."""
    labels = find_entries(task.rows.classes, task.rows.codes)
    first = models[0]
    for split in task.splits():
        train, test = split.rows(LEARNS), split.rows(HELD_OUT)
        rows, train_labels, held_out = (
            take_rows(source, train),
            labels[train],
            take_rows(source, test),
        )
        rados = None
        if first.keep == "loss":  # then all models share the rados
            rados = make_rados(
                rows,
                train_labels,
                count_rados(first, len(train_labels)),
                first.random_state,
                first.n_jobs,
                categorical_features=first.categorical_features,
                intercept=first.fit_intercept,
            )
        fit = partial(_fit, models, rows, train_labels, rados, held_out, sizes[:, split.index])
        links = [Link(GLog(1.0))] * len(models)
        yield SplitFits(
            split.index, HeldOutRows.of(task.rows, test), links, first.n_estimators, fit
        )


def _fit(
    models: Sequence[RadoBoostClassifier],
    rows: Any,
    labels: NDArray[Any],
    rados: Rados | None,
    held_out: Any,
    sizes: NDArray[np.int64],
    candidate: int,
) -> NDArray[np.float64]:
    """Fit one of the models to rows, or to their rados; return raw predictions of `held_out`."""
    model: RadoBoostClassifier = clone(models[candidate])
    model = model.fit(rows, labels) if rados is None else model.fit_rados(rados)
    sizes[candidate] = model.sparse_coef_.nnz
    return model.decision_function(held_out)
