"""Predictions of a linear model of two classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.columns import ColumnReader, LinearColumns, refuse_numbers
from properboost.data.table import InputTable
from properboost.losses.probabilities import Link, choose_classes

__all__ = ["LinearPredictingMixin", "check_finite"]


class LinearPredictingMixin:
    """The predictions of a fitted linear model."""

    classes_: NDArray[Any]
    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]

    @property
    def _columns(self) -> LinearColumns:
        """The columns of the coefficients."""
        raise NotImplementedError

    @property
    def _link(self) -> Link:
        """The link from raw predictions to probabilities."""
        raise NotImplementedError

    def _open(self, X: Any, *, coded: bool = False) -> tuple[InputTable, int]:
        raise NotImplementedError

    def _set_theta(self, theta: NDArray[np.float64]) -> None:
        """Set the coefficients, one per column."""
        columns = self._columns
        n_coefficients = len(columns) - columns.intercept
        self.coef_ = theta[None, :n_coefficients]
        self.intercept_ = theta[n_coefficients:] if columns.intercept else np.zeros(1)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the raw predictions theta . x.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows, with the columns the model was fitted on.

        Returns
        -------
        ndarray of shape (n_rows,)
            Positive where they predict ``classes_[1]``.
        """
        table, _ = self._open(X)
        columns = self._columns
        reader = columns.open(table)
        check_finite(table, reader)
        with np.errstate(over="ignore", invalid="ignore"):
            raw = reader.multiply(np.append(self.coef_, self.intercept_)[: len(columns)])
        if not np.all(np.isfinite(raw)):
            raise ValueError("X holds numbers so large that raw predictions are infinite")
        return raw

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes: the inverse link of theta . x.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows, with the columns the model was fitted on.

        Returns
        -------
        ndarray of shape (n_rows, 2)
        """
        return self._link.probabilities(self.decision_function(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted labels.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows, with the columns the model was fitted on.

        Returns
        -------
        ndarray of shape (n_rows,)
            ``classes_[1]`` where theta . x > 0.
        """
        raw = self.decision_function(X)
        labels: NDArray[Any] = self.classes_[choose_classes(raw)]
        return labels


def check_finite(table: InputTable, reader: ColumnReader) -> None:
    """Refuse numbers that are not finite; the message names the feature."""
    if isinstance(reader.data, np.ndarray):
        if not np.all(np.isfinite(reader.data)):
            refuse_numbers(table, int(np.isfinite(reader.data).all(axis=0).argmin()))
        return
    for j, values in enumerate(reader.data):
        if not np.all(np.isfinite(values)):
            refuse_numbers(table, j)
