"""The base of linear classifiers, over numbers, indicators of categories, and an intercept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from properboost.data.binning import FeatureBins
from properboost.data.columns import ColumnReader, LinearColumns, refuse_numbers
from properboost.data.table import Category, InputTable
from properboost.estimators.base import TableClassifier
from properboost.losses.probabilities import Link, choose_classes

__all__ = ["LinearClassifier", "check_finite"]


class LinearClassifier(TableClassifier):
    """A linear classifier of two classes; subclasses compute its coefficients."""

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        tags.classifier_tags.multi_class = False
        # scikit-learn's checks have blobs on one side of 0, which planes near 0 do not separate.
        tags.classifier_tags.poor_score = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def _set_coefficients(self, theta: NDArray[np.float64]) -> None:
        """Set the coefficients, and the features."""
        columns = self._columns
        n_coefficients = len(columns) - columns.intercept
        self.coef_ = theta[None, :n_coefficients]
        self.intercept_ = theta[n_coefficients:] if columns.intercept else np.zeros(1)
        self._set_features(len(columns.categories), columns.column_names)

    def _describe_training(self) -> tuple[Sequence[FeatureBins], None]:
        return self._columns.features, None

    # -- predicting -------------------------------------------------------------------------------

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

    # -- explaining -------------------------------------------------------------------------------

    @property
    def sparse_coef_(self) -> Any:
        """`coef_` as a sparse array."""
        self._check_fitted()
        return csr_array(self.coef_)

    @property
    def coef_names_(self) -> tuple[str, ...]:
        """The names of the coefficients: features, or ``feature=category``."""
        self._check_fitted()
        return self._columns.labels[: self.coef_.shape[1]]

    @property
    def categories_(self) -> tuple[tuple[Category, ...] | None, ...]:
        """The categories of each feature, None of a number."""
        self._check_fitted()
        return self._columns.categories


def check_finite(table: InputTable, reader: ColumnReader) -> None:
    """Refuse numbers that are not finite; the message names the feature."""
    if isinstance(reader.data, np.ndarray):
        if not np.all(np.isfinite(reader.data)):
            refuse_numbers(table, int(np.isfinite(reader.data).all(axis=0).argmin()))
        return
    for j, values in enumerate(reader.data):
        if not np.all(np.isfinite(values)):
            refuse_numbers(table, j)
