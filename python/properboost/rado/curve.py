"""Error and sparsity against omega, by cross-validation: how strong the regulariser should be."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, check_cv

from properboost import parameters
from properboost.data.frames import open_table
from properboost.model_selection.cv_splits import take_rows
from properboost.rado.estimator import RadoBoostClassifier, check_parameters
from properboost.rado.making import make_rados, read_binary

__all__ = ["OmegaCurve", "omega_curve"]

OMEGAS = tuple(10.0**k for k in range(-5, 3))


@dataclass(frozen=True, eq=False)
class OmegaCurve:
    """Held-out error and number of coefficients against omega.

    Attributes
    ----------
    omegas : ndarray of shape (n_omegas,)
        Ascending.
    errors : ndarray of shape (n_omegas, n_folds)
        Shares of wrong rows among those held out.
    n_coefficients : ndarray of shape (n_omegas, n_folds)
        Coefficients that are not 0, without the intercept.
    regularizer : str
        Of the models, in words.
    """

    omegas: NDArray[np.float64]
    errors: NDArray[np.float64]
    n_coefficients: NDArray[np.int64]
    regularizer: str

    @property
    def best_omega(self) -> float:
        """The omega of least mean error, of equals the largest."""
        means = self.errors.mean(axis=1)
        return float(self.omegas[len(means) - 1 - int(means[::-1].argmin())])


def omega_curve(
    model: RadoBoostClassifier,
    X: Any,
    y: ArrayLike,
    omegas: Sequence[float] = OMEGAS,
    *,
    cv: Any = 5,
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
        Folds, as in scikit-learn; of a number, stratified ones of rows in random order.  Each
        has rows to fit, of both classes, and rows to hold out.

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
    tried = np.array(sorted(parameters.entries("omegas", omegas, parameters.non_negative)))
    table = open_table(clone(model), X, reset=True)
    classes, positive = read_binary(y, table.n_rows)
    labels = classes[positive]
    if not isinstance(cv, int | np.integer):
        splitter = check_cv(cv, labels, classifier=True)
    else:
        parameters.integer("cv", cv, 2)
        splitter = StratifiedKFold(cv, shuffle=True, random_state=0)
    folds = list(splitter.split(np.zeros(len(labels)), labels))
    if not folds or not all(len(labels[test]) for _, test in folds):
        raise ValueError("cv must give one fold at least, and hold out rows in each")
    columns = []
    for train, test in folds:
        rows, own = take_rows(table.source, train), labels[train]
        held_out = take_rows(table.source, test)
        rados = None
        if model.keep == "loss":  # then all models share the rados
            rados = make_rados(
                rows,
                own,
                model._count_rados(len(own)),
                model.random_state,
                model.n_jobs,
                categorical_features=model.categorical_features,
                intercept=model.fit_intercept,
            )
        for omega in tried:
            trial = clone(model).set_params(omega=float(omega))
            trial = trial.fit(rows, own) if rados is None else trial.fit_rados(rados)
            wrong = np.mean(trial.predict(held_out) != labels[test])
            columns.append((wrong, trial.sparse_coef_.nnz))
    errors, sizes = np.array(columns).reshape(-1, len(tried), 2).transpose(2, 1, 0)
    named = model.regularizer if isinstance(model.regularizer, str) else repr(model.regularizer)
    return OmegaCurve(tried, errors, sizes.astype(np.int64), named)
