"""Predictions of a fitted boosted classifier: raw predictions, probabilities, labels, margins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.data.init_score import read_init_score
from properboost.data.labels import find_classes
from properboost.data.table import InputTable
from properboost.losses.builtin import MarginLoss
from properboost.losses.probabilities import Link, as_predicted, choose_classes, find_lead
from properboost.models.ensemble import Ensemble
from properboost.parameters.elsewhere import advise_callers
from properboost.parameters.kinds import Coupling

__all__ = ["PredictingMixin", "find_link"]


class PredictingMixin:
    """The predictions of a fitted boosted classifier, also after its first estimators."""

    classes_: NDArray[Any]
    loss_: MarginLoss
    multiclass_: Coupling | None
    n_jobs: int | None
    temperature_: float | None
    ensemble_: Ensemble
    begins_with_scores_: bool = False
    """Whether raw predictions start from an `init_score`."""

    def _open(self, X: Any, *, coded: bool = False) -> tuple[InputTable, int]:
        raise NotImplementedError

    def _check_complete(self, request: str, error: type[Exception] = ValueError) -> None:
        raise NotImplementedError

    def decision_function(self, X: Any, init_score: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the raw predictions F.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows, with the columns of the fit.
        init_score : array-like of shape (n_rows,) or (n_rows, n_classes), or float, optional
            The initial raw predictions of the rows; required if `fit` had them.

        Returns
        -------
        ndarray of shape (n_rows,), or (n_rows, n_classes) with more than two classes
            With two classes, the raw prediction of ``classes_[1]``.
        """
        table, n_threads = self._open(X, coded=True)
        base = self._read_base(init_score, table.n_rows)
        raw = self.ensemble_.raw_predictions(table, n_threads)
        return as_predicted(raw if base is None else raw + base)

    @advise_callers
    def predict_proba(self, X: Any, init_score: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the probabilities of the classes, through the inverse link of the tuned loss.

        Parameters
        ----------
        X, init_score
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            ``loss_.probability(F)`` (BoostLR, eq. 51).  Several classes have those of their joint
            model, or each class's against the rest: by their sum, or a softmax with a temperature.
        """
        raw = self.decision_function(X, init_score)
        return self._link.probabilities(raw)

    def predict_log_proba(self, X: Any, init_score: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities of the classes.

        Parameters
        ----------
        X, init_score
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Finite for probabilities too small for a float64, of joint models, a softmax and
            canonical losses; elsewhere the logarithm of 0 is -inf.
        """
        raw = self.decision_function(X, init_score)
        return self._link.log_probabilities(raw)

    @advise_callers
    def predict(self, X: Any, init_score: ArrayLike | None = None) -> NDArray[Any]:
        """Return the predicted labels.

        Parameters
        ----------
        X, init_score
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_rows,)
            With two classes ``classes_[1]`` where F > 0; with more, the most probable one.
        """
        return self._labels(self.decision_function(X, init_score))

    def staged_decision_function(
        self, X: Any, init_score: ArrayLike | None = None
    ) -> Iterator[NDArray[np.float64]]:
        """Yield `decision_function` after one round or cycle, two, ....

        All have the intercept of the whole model.

        Parameters
        ----------
        X, init_score
            As in `decision_function`.

        Yields
        ------
        ndarray
            The last one equals `decision_function` up to rounding.
        """
        table, n_threads = self._open(X, coded=True)
        base = self._read_base(init_score, table.n_rows)
        self._check_complete("the part of each round")
        for raw in self.ensemble_.staged_raw_predictions(table, n_threads):
            yield as_predicted(raw if base is None else raw + base)

    def staged_predict_proba(
        self, X: Any, init_score: ArrayLike | None = None
    ) -> Iterator[NDArray[np.float64]]:
        """Yield `predict_proba` after one round or cycle, two, ....

        Parameters
        ----------
        X, init_score
            As in `decision_function`.

        Yields
        ------
        ndarray of shape (n_rows, n_classes)
        """
        for raw in self.staged_decision_function(X, init_score):
            yield self._link.probabilities(raw)

    def staged_predict(self, X: Any, init_score: ArrayLike | None = None) -> Iterator[NDArray[Any]]:
        """Yield `predict` after one round or cycle, two, ....

        Parameters
        ----------
        X, init_score
            As in `decision_function`.

        Yields
        ------
        ndarray of shape (n_rows,)
        """
        for raw in self.staged_decision_function(X, init_score):
            yield self._labels(raw)

    def margins(
        self,
        X: Any,
        y: ArrayLike,
        *,
        normalized: bool = False,
        init_score: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Return the margins of labelled rows: positive where the prediction is right.

        Parameters
        ----------
        X, init_score
            As in `decision_function`.
        y : array-like of shape (n_rows,)
            Their labels, all among `classes_`.
        normalized : bool, default=False
            Return 2 [f*]^-1(y F(x)) - 1 (Nock and Nielsen 2009, eq. 27): the probability of the
            row's class minus that of the other, comparable between losses.

        Returns
        -------
        ndarray of shape (n_rows,)
            With two classes y F(x), y being +1 for ``classes_[1]`` and else -1.  With more, the raw
            prediction of the row's class minus the largest of the others', or of probabilities.
        """
        raw = self.decision_function(X, init_score)
        class_of_row = find_classes(y, len(raw), self.classes_)
        if normalized:
            return find_lead(self._link.probabilities(raw), class_of_row)
        return (
            np.where(class_of_row == 1, raw, -raw)
            if raw.ndim == 1
            else find_lead(raw, class_of_row)
        )

    def _read_base(self, init_score: ArrayLike | None, n_rows: int) -> NDArray[np.float64] | None:
        """Return the initial raw predictions; None is zeros."""
        if init_score is not None:
            return read_init_score(init_score, n_rows, len(self.ensemble_.models))
        if self.begins_with_scores_:
            raise ValueError(
                "init_score must be given: the model was fitted with one, and predicts only "
                "the addition to it (0 stands for none)"
            )
        return None

    @property
    def _link(self) -> Link:
        """The link that turns raw predictions into probabilities."""
        return Link(self.loss_, self.multiclass_, self.n_jobs, self.temperature_)

    def _labels(self, raw: NDArray[np.float64]) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[choose_classes(raw)]
        return labels


def find_link(model: PredictingMixin) -> Link:
    """Return the link that turns a model's raw predictions into probabilities."""
    return model._link
