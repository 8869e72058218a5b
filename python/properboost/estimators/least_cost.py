"""A classifier that takes the decision of least expected cost by another one's probabilities."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.utils import get_tags

from properboost.data.labels import find_classes
from properboost.data.spelling import Spelling
from properboost.data.weights import read_weights
from properboost.estimators.any_classifier import is_fitted, require_classifier
from properboost.estimators.base import SavingMixin, check_can_be_saved, make_compact
from properboost.estimators.costs import (
    Costs,
    choose_decisions,
    find_threshold,
    read_costs,
    read_row_costs,
)

__all__ = ["LeastCostClassifier", "find_saved", "unwrap"]


class LeastCostClassifier(SavingMixin, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier whose decisions have the least expected cost [1]_.

    It multiplies the probabilities of another classifier by costs, so they must be calibrated.
    Two classes whose costs do not depend on the row have a threshold, with which scikit-learn's
    `FixedThresholdClassifier` decides.  If decisions cost the same, it takes the first, or the
    second of two classes.

    Parameters
    ----------
    estimator : classifier
        Any with `predict_proba`.  If it is fitted it predicts at once; `fit` fits a copy of it.
    costs : dict, array-like of shape (n_classes, n_classes), or None, default=None
        A dict has the cost of an error on a row, by the label of the row's class.  A matrix has the
        cost of each decision (column) for a row of each class (row), which must be least for the
        right one.  None is 1 for each error.

    Attributes
    ----------
    estimator_ : classifier
        The fitted copy, after `fit`.

    References
    ----------
    .. [1] Elkan (2001). The foundations of cost-sensitive learning. IJCAI 17, 973-978.

    Examples
    --------
    >>> import properboost as pb
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = pb.ProperBoostClassifier().fit(X, y)
    >>> decisions = pb.LeastCostClassifier(model, {0: 20.0, 1: 1.0}).predict(X)
    >>> int(sum(decisions == 0) - sum(model.predict(X) == 0)) > 0
    True
    """

    def __init__(self, estimator: Any, costs: Costs = None) -> None:
        self.estimator = estimator
        self.costs = costs

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, **fit_params: Any
    ) -> Self:
        """Fit a copy of the estimator.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.
        y : array-like of shape (n_rows,)
            Their labels.
        sample_weight : array-like of shape (n_rows,), optional
            The weight of each row, for an estimator that takes weights.
        **fit_params
            Further arguments of the estimator's `fit`.

        Returns
        -------
        LeastCostClassifier
            Itself.

        Raises
        ------
        ValueError, TypeError
            If the costs are not as described, or the estimator refuses the rows.
        """
        if sample_weight is not None:
            fit_params["sample_weight"] = sample_weight
        require_classifier("estimator", self.estimator)
        model = clone(self.estimator).fit(X, y, **fit_params)
        read_costs(self.costs, model.classes_)
        self.estimator_ = model
        return self

    # -- the classifier within --------------------------------------------------------------------

    def _check_fitted(self) -> None:
        _find_model(self)

    def __sklearn_is_fitted__(self) -> bool:
        return is_fitted(getattr(self, "estimator_", self.estimator))

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags, tags.classifier_tags = inner.input_tags, inner.classifier_tags
        return tags

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels of the classes, in ascending order."""
        classes: NDArray[Any] = _find_inner(self).classes_
        return classes

    @property
    def n_features_in_(self) -> int:
        """The number of features."""
        n_features: int = _find_inner(self).n_features_in_
        return n_features

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the features, if there are any."""
        names: NDArray[np.object_] = _find_inner(self).feature_names_in_
        return names

    # -- decisions --------------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the estimator's probabilities.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        probability: NDArray[np.float64] = _find_model(self).predict_proba(X)
        return probability

    def expected_costs(self, X: Any, costs: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the expected cost of each decision.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.
        costs : array-like of shape (n_rows, n_classes[, n_classes]), optional
            Costs of each row, in place of the parameter: of an error if the row is of a class, or
            of each decision if it is.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)

        Raises
        ------
        ValueError, TypeError
            If the costs are not as described.
        """
        probability = self.predict_proba(X)
        expected: NDArray[np.float64]
        if costs is None:
            expected = probability @ read_costs(self.costs, self.classes_)
        else:
            of_rows = read_row_costs(costs, *probability.shape)
            expected = np.einsum("ij,ijk->ik", probability, of_rows)
        return expected

    def predict(self, X: Any, costs: ArrayLike | None = None) -> NDArray[Any]:
        """Return the label of the decision with the least expected cost.

        Parameters
        ----------
        X, costs
            As in `expected_costs`.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        model = _find_model(self)
        classes = np.asarray(model.classes_)
        if costs is None and len(classes) == 2:
            threshold = find_threshold(read_costs(self.costs, classes))
            decide = FixedThresholdClassifier(
                FrozenEstimator(model), threshold=threshold, response_method="predict_proba"
            )
            labels: NDArray[Any] = decide.predict(X)
            return labels
        decisions: NDArray[Any] = classes[choose_decisions(self.expected_costs(X, costs))]
        return decisions

    def mean_cost(
        self,
        X: Any,
        y: ArrayLike,
        costs: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the mean cost of the decisions for labelled rows.

        Parameters
        ----------
        X, costs
            As in `expected_costs`.
        y : array-like of shape (n_rows,)
            The labels.
        sample_weight : array-like of shape (n_rows,), optional
            The weight of each row.

        Returns
        -------
        float
        """
        decisions, classes = self.predict(X, costs), np.asarray(self.classes_)
        n_rows, rows = len(decisions), np.arange(len(decisions))
        codes = find_classes(y, n_rows, classes)
        chosen = find_classes(decisions, n_rows, classes)
        if costs is None:
            paid = read_costs(self.costs, classes)[codes, chosen]
        else:
            paid = read_row_costs(costs, n_rows, len(classes))[rows, codes, chosen]
        return float(np.average(paid, weights=read_weights(sample_weight, codes)))

    # -- keeping ----------------------------------------------------------------------------------

    def _check_can_be_saved(self) -> None:
        check_can_be_saved(find_saved(self))

    @property
    def is_compact(self) -> bool:
        """Whether the estimator has only what its predictions need."""
        return find_saved(self).is_compact

    def _compacted(self) -> Self:
        return type(self)(make_compact(find_saved(self)), self.costs)

    @property
    def spelling_(self) -> Spelling:
        """The spelling of numbers in the text file of the training rows."""
        return find_saved(self).spelling_

    @spelling_.setter
    def spelling_(self, spelling: Spelling) -> None:
        find_saved(self).spelling_ = spelling


def _find_model(model: LeastCostClassifier) -> Any:
    """Return the fitted estimator."""
    inner = getattr(model, "estimator_", model.estimator)
    require_classifier("estimator", inner)
    if not is_fitted(inner):
        raise NotFittedError(
            "This LeastCostClassifier instance is not fitted yet. Call 'fit', or pass it an "
            "estimator that is fitted."
        )
    return inner


def _find_inner(model: LeastCostClassifier) -> Any:
    """Return the fitted estimator, for properties: an AttributeError is that they do not exist."""
    try:
        return _find_model(model)
    except (NotFittedError, TypeError) as error:
        raise AttributeError(str(error)) from error


def find_saved(model: LeastCostClassifier) -> SavingMixin:
    """Return the fitted estimator that a file can hold."""
    inner = _find_model(model)
    inner = inner.estimator if isinstance(inner, FrozenEstimator) else inner
    if not isinstance(inner, SavingMixin) or isinstance(inner, LeastCostClassifier):
        raise TypeError(
            f"estimator must be a classifier of properboost to be saved; got {type(inner).__name__}"
        )
    return inner


def unwrap(model: Any) -> Any:
    """Return the classifier within one with costs, and any other as it is."""
    return find_saved(model) if isinstance(model, LeastCostClassifier) else model
