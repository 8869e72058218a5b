"""The base of classifiers around a fitted one, or around the models of folds."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from properboost.conformal.held_out import HeldOut, hold_out
from properboost.estimators.base import SavingMixin, make_compact
from properboost.parameters.declare import check_declared, parameter, parameters
from properboost.parameters.splitters import CV

__all__ = ["AroundClassifier"]


@parameters
class AroundClassifier(SavingMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier around a fitted one or the models of folds, with rows that they did not see."""

    estimator: Any = parameter(
        default=None,
        check=lambda _, value: value,  # the fit checks it
        form="not saved",  # but its models are
        kind="classifier",
        kw_only=False,
        doc="""
        The classifier, which has `predict_proba`.  With ``cv=None`` it must be fitted; the object
        keeps it as it is, and so does `sklearn.base.clone`.  With folds, each model is a clone.
        """,
    )
    cv: CV | None = parameter(
        default=None,
        check=lambda _, value: value,  # rows are needed to judge it
        kind="int, splitter, iterable or None",
        form="not saved",
        doc="""
        None calibrates the fitted `estimator`, on rows that neither trained it nor chose anything
        about it.  A number of stratified folds, or a splitter as in scikit-learn's searches, fits a
        model to the rest of each fold: so many fits, models in the file, and predictions.
        """,
    )

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy, which keeps the fitted `estimator` if it needs it."""
        if self.cv is not None:
            return super().__sklearn_clone__()  # type: ignore[no-any-return]
        return type(self)(**self.get_params(deep=False))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "models_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = getattr(self.estimator, "__sklearn_tags__", None)
        if inner is not None:
            tags.input_tags = copy(inner().input_tags)
        return tags

    # -- keeping ----------------------------------------------------------------------------------

    @property
    def is_compact(self) -> bool:
        """Whether the models have only what their predictions need."""
        return all(getattr(model, "is_compact", False) for model in self.models_)

    def _compacted(self) -> Self:
        compact = copy(self)
        compact.models_ = [m if m.is_compact else make_compact(m) for m in self.models_]
        if self.cv is None:
            compact.estimator = compact.models_[0]
        return compact

    # -- fitting and predicting -------------------------------------------------------------------

    def _hold_out(self, X: Any, y: Any, groups: Any) -> list[HeldOut]:
        """Return models with the rows that they did not see, and keep the models."""
        check_declared(self)
        held_out = hold_out(self.estimator, self.cv, X, y, groups)
        self._set_models([part.model for part in held_out])
        return held_out

    def _set_models(self, models: list[Any]) -> None:
        """Keep the models, and the classes and features of the first."""
        # Class-level annotations would be parameters to type checkers.
        self.models_: list[Any] = models
        self.classes_: NDArray[Any] = models[0].classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(models[0], name):
                setattr(self, name, getattr(models[0], name))
            elif hasattr(self, name):
                delattr(self, name)

    def _predict_all(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities by each model, (n_models, n_rows, n_classes)."""
        self._check_fitted()
        return np.stack([model.predict_proba(X) for model in self.models_])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes: the mean over the models.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        mean: NDArray[np.float64] = self._predict_all(X).mean(axis=0)
        return mean

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row, the first of equals.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        most_probable = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[most_probable]
        return labels
