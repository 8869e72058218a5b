"""Predictions of ordered classes, by a model of F and thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.estimators.scorer import Scorer
from properboost.losses.ordered_link import OrderedLink
from properboost.models.threshold_moves import ThresholdMoves

__all__ = ["OrderedModel", "OrderedPredictingMixin", "take_inner"]


class OrderedPredictingMixin:
    """The predictions of ordered classes: those of a model of F, and thresholds on its scale."""

    estimator_: Any
    classes_: NDArray[Any]
    thresholds_: NDArray[np.float64]
    _ranks: NDArray[np.intp]
    """The place of each sorted label in the order."""
    _moves: ThresholdMoves | None

    @property
    def ordered_classes_(self) -> NDArray[Any]:
        """The labels in ascending order."""
        ordered: NDArray[Any] = self.classes_[np.argsort(self._ranks)]
        return ordered

    @property
    def moving_features_(self) -> list[int | str]:
        """The names or positions of features that move the thresholds."""
        features = () if self._moves is None else self._moves.features
        names = getattr(self.estimator_, "feature_names_in_", None)
        return [j if names is None else names[j] for j in features]

    @property
    def _link(self) -> OrderedLink:
        return OrderedLink(self.estimator_.loss_, self.thresholds_)

    def _predict_ordered(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes in ascending order."""
        raw = self.estimator_.decision_function(X)
        link = self._link
        if self._moves is not None:
            link = OrderedLink(link.loss, self._move_thresholds(X, self._moves))
        return link.probabilities(raw)

    def _move_thresholds(self, X: Any, moves: ThresholdMoves) -> NDArray[np.float64]:
        model = self.estimator_
        table, n_threads = model._open(X)
        codes = model.ensemble_.binning.encode(table, None, n_threads)
        return moves.add_to(self.thresholds_, codes)

    def row_thresholds(self, X: Any) -> NDArray[np.float64]:
        """Return the thresholds of each row, which differ where features move them.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes - 1)
            In ascending order: where F is one, the row is as likely above it as not.
        """
        if self._moves is not None:
            return self._move_thresholds(X, self._moves)
        n_rows = len(self.estimator_.decision_function(X))
        return np.tile(self.thresholds_, (n_rows, 1))

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
        moves: ThresholdMoves | None,
    ) -> None:
        self.estimator_, self.classes_ = model, classes
        self._ranks, self.thresholds_, self._moves = ranks, thresholds, moves

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
        return OrderedModel(model, self.classes_, self._ranks, self.thresholds_, self._moves)
