"""Predictions of ordered classes, by a model of F and thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.estimators.scorer import Scorer
from properboost.losses.ordered_link import OrderedLink

__all__ = ["OrderedModel", "OrderedPredictingMixin", "take_inner"]


class OrderedPredictingMixin:
    """The predictions of ordered classes: those of a model of F, and thresholds on its scale."""

    estimator_: Any
    classes_: NDArray[Any]
    thresholds_: NDArray[np.float64]
    _ranks: NDArray[np.intp]
    """The place of each sorted label in the order."""

    @property
    def ordered_classes_(self) -> NDArray[Any]:
        """The labels in ascending order."""
        ordered: NDArray[Any] = self.classes_[np.argsort(self._ranks)]
        return ordered

    @property
    def _link(self) -> OrderedLink:
        return OrderedLink(self.estimator_.loss_, self.thresholds_)

    def _predict_ordered(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes in ascending order."""
        return self._link.probabilities(self.estimator_.decision_function(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            A column for each of `classes_`.
        """
        return self._predict_ordered(X)[:, self._ranks]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row, the lowest of equals.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        most_probable = self._predict_ordered(X).argmax(axis=1)
        labels: NDArray[Any] = self.ordered_classes_[most_probable]
        return labels


def take_inner(model: Any) -> Any:
    """Return the model that reads the features: of ordered classes that of F, or the same one."""
    return model.estimator_ if isinstance(model, OrderedPredictingMixin) else model


class OrderedModel(OrderedPredictingMixin):
    """Ordered classes that only predict, around a model of F with `compile`."""

    kind = "OrderedClassifier"

    def __init__(
        self,
        model: Any,
        classes: NDArray[Any],
        ranks: NDArray[np.intp],
        thresholds: NDArray[np.float64],
    ) -> None:
        self.estimator_, self.classes_ = model, classes
        self._ranks, self.thresholds_ = ranks, thresholds

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return F."""
        raw: NDArray[np.float64] = self.estimator_.decision_function(X)
        return raw

    def count_drift(self, X: Any) -> dict[str, NDArray[Any]]:
        """Count the values that training did not have, as the model of F does."""
        counts: dict[str, NDArray[Any]] = self.estimator_.count_drift(X)
        return counts

    def compile(self) -> Scorer:
        """Return the scorer of single rows."""
        scorer: Scorer = self.estimator_.compile()
        return scorer.of_model(self._around(scorer.model))

    def _around(self, model: Any) -> OrderedModel:
        return OrderedModel(model, self.classes_, self._ranks, self.thresholds_)
