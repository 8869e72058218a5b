"""Probabilities that two isotonic regressions calibrate: Venn-Abers predictors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.conformal.around import AroundClassifier
from properboost.conformal.held_out import HeldOut
from properboost.conformal.venn_abers import VennAbersTable, merge
from properboost.parameters.declare import estimator

__all__ = ["VennAbersClassifier"]


@estimator
class VennAbersClassifier(AroundClassifier):
    """A classifier whose probabilities held-out rows calibrate, with a pair (p0, p1) for each.

    p1 is the probability if the new row counts as one of the class, p0 if it does not.  One of the
    two is calibrated, that of the row's true class [1]_, which is unknown.  They are no confidence
    interval: in simulations the true probability was between them for .07 to .23 of the
    rows.  A wide pair means few calibration rows of like score.  `predict_interval` of models with
    bags is about the precision of the fit.

    With ``cv=None`` the rows of `fit` must be new to the `estimator`: neither its training nor its
    validation rows, nor rows that a search scored.  The object cannot check this.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    models_ : list
        The models that predict: the `estimator`, or a clone for each fold.

    References
    ----------
    .. [1] Vovk, Petej and Fedorova (2015). Large-scale probabilistic predictors with and without
       guarantees of validity. NIPS.

    Examples
    --------
    >>> from properboost import ProperBoostClassifier, VennAbersClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ProperBoostClassifier().fit(X[:300], y[:300])
    >>> calibrated = VennAbersClassifier(model).fit(X[300:], y[300:])
    >>> calibrated.predict_multiprobability(X[:1]).round(2)
    array([[0.  , 0.07]])
    """

    def fit(self, X: Any, y: ArrayLike, *, groups: Any = None) -> Self:
        """Calibrate by held-out rows, after fitting models of folds if there is a `cv`.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The calibration rows; with `cv`, also the training rows of the folds' models.
        y : array-like of shape (n_rows,)
            Their labels.
        groups : array-like of shape (n_rows,), optional
            Rows that the folds keep together, for splitters such as ``GroupKFold``.

        Returns
        -------
        self : VennAbersClassifier

        Raises
        ------
        ValueError, TypeError
            If an argument is not allowed; the message names it.
        """
        with self._restored_on_failure():
            held_out = self._hold_out(X, y, groups)
            self._tables = [self._make_tables(part) for part in held_out]
        return self

    def _make_tables(self, part: HeldOut) -> list[VennAbersTable]:
        """Return the table of each class against the others; of two classes, of the second."""
        return [
            VennAbersTable.of(part.probability[:, k], part.class_of_row == k)
            for k in self._table_classes
        ]

    @property
    def _table_classes(self) -> Sequence[int]:
        """The positions of the classes that have a table."""
        return (1,) if len(self.classes_) == 2 else range(len(self.classes_))

    def predict_multiprobability(self, X: Any) -> NDArray[np.float64]:
        """Return the pair (p0, p1) of each row, or of each row and class.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, 2), or (n_rows, n_classes, 2) with more than two classes
            p0 and p1 of ``classes_[1]``, or of each class against the others.  p0 is below p1.
            They are no confidence interval.  With folds, p1 and 1 - p0 are geometric means over
            the models.
        """
        p0, p1 = self._find_pairs(X)
        pairs = np.stack([p0, p1], axis=-1)
        return pairs[:, 0] if pairs.shape[1] == 1 else pairs

    def _find_pairs(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return p0 and p1 by row and table."""
        pairs = np.array(
            [
                [
                    table.find_pairs(of_model[:, k])
                    for k, table in zip(self._table_classes, tables, strict=True)
                ]
                for of_model, tables in zip(self._predict_all(X), self._tables, strict=True)
            ]
        )  # (n_models, n_tables, 2, n_rows)
        p0 = 0.0 - np.expm1(np.log1p(-pairs[:, :, 0]).mean(axis=0))
        return p0.T, np.exp(np.log(pairs[:, :, 1]).mean(axis=0)).T

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the merged probabilities of the classes: p1 / (1 - p0 + p1).

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            With more than two classes, each class's divided by their sum.  None is 0 or 1.
        """
        merged = merge(*self._find_pairs(X))
        if merged.shape[1] == 1:
            return np.hstack([1.0 - merged, merged])
        total: NDArray[np.float64] = merged / merged.sum(axis=1, keepdims=True)
        return total
