"""A classifier of ordered classes: one raw prediction, and a threshold between neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags

from properboost.data.labels import find_classes
from properboost.data.names import keep_names, read_names
from properboost.data.spelling import Spelling
from properboost.data.weights import read_weights
from properboost.estimators.base import SavingMixin, check_can_be_saved, make_compact
from properboost.estimators.labelled_rows import LabelledRows
from properboost.estimators.ordered_fit import check_moves, prepare_fit
from properboost.estimators.ordered_predicting import OrderedModel, OrderedPredictingMixin
from properboost.estimators.properboost import ProperBoostClassifier, run_plan
from properboost.estimators.scorer import Scorer
from properboost.fitting.unfinished import warn_of_unfinished
from properboost.inspection.change_search import MOST_FEATURES
from properboost.inspection.changes import RowChanges
from properboost.metrics import ranked_probability_score
from properboost.models.threshold_moves import ThresholdMoves
from properboost.parameters.boosting import CHOICE, LearnerChoice
from properboost.parameters.declare import read_parameter

__all__ = ["OrderedClassifier"]


class OrderedClassifier(
    OrderedPredictingMixin,
    SavingMixin,
    MetaEstimatorMixin,  # type: ignore[misc]
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Boosting for ordered classes, such as grades: one function F, and thresholds on its scale.

    The probability of a class above the j-th is psi(F(x) - theta_j), for the inverse link psi of
    the loss and ascending thresholds theta: a cumulative link model [1]_.  It minimises the sum
    over the thresholds of the margin loss, the all-threshold loss [2]_.  F and the thresholds are
    learnt together by the rounds.  So a feature moves a row up or down the scale, and does the same
    to the log-odds of each threshold.  Where a feature moves some thresholds more than others, the
    fit adds a table of it to the thresholds.

    Parameters
    ----------
    estimator : ProperBoostClassifier, default=None
        The parameters of boosting; None is ``ProperBoostClassifier()``.  A fit trains a clone, in
        which look-up tables stand for "auto".
    classes : sequence of labels, default=None
        All labels in ascending order.  None is the order of numbers; labels that are text need it.
    moving_thresholds : bool or "auto", default="auto"
        Whether features may move the thresholds, each by a table of its own (partial proportional
        odds [3]_).  With "auto" they do if this predicts rows of three folds better by a standard
        error, which takes three more fits.  Trees, pairs and `monotonic_cst` allow no moves.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted, as in the columns of `predict_proba`.
    ordered_classes_ : ndarray of shape (n_classes,)
        The labels in ascending order.
    thresholds_ : ndarray of shape (n_classes - 1,)
        The thresholds, ascending: where F is one, a row is as likely above it as not.  Where they
        move, these are their means; see `row_thresholds`.
    moving_features_ : list of int or str
        The names or positions of features that move the thresholds.
    estimator_ : ProperBoostClassifier
        The model of F, with its shape functions, contributions and `decision_function`.  Its
        classes 0 and 1 stand for below and above any threshold.

    References
    ----------
    .. [1] McCullagh (1980). Regression models for ordinal data. Journal of the Royal Statistical
       Society B 42(2).
    .. [2] Rennie and Srebro (2005). Loss functions for preference levels: regression with discrete
       ordered labels. IJCAI Multidisciplinary Workshop on Advances in Preference Handling.
    .. [3] Peterson and Harrell (1990). Partial proportional odds models for ordinal response
       variables. Applied Statistics 39(2).

    Examples
    --------
    >>> import numpy as np
    >>> from properboost import OrderedClassifier
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> y = np.digitize(X[:, 0] + np.random.default_rng(1).logistic(size=1000), [-2.0, 0.0, 2.0])
    >>> model = OrderedClassifier().fit(X, y)
    >>> bool(np.all(np.diff(model.thresholds_) > 0.0))
    True
    """

    estimator_: ProperBoostClassifier

    def __init__(
        self,
        estimator: Any = None,
        classes: Sequence[Any] | None = None,
        moving_thresholds: bool | Literal["auto"] = "auto",
    ) -> None:
        self.estimator = estimator
        self.classes = classes
        self.moving_thresholds = moving_thresholds

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | float | None = None,
        *,
        groups: ArrayLike | None = None,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | float | None = None,
    ) -> Self:
        """Fit F and the thresholds.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.
        y : array-like of shape (n_rows,)
            Their labels, of two to 255 classes.
        sample_weight : array-like of shape (n_rows,), optional
            The weight of each row, finite and at least 0.
        groups : array-like of shape (n_rows,), optional
            Groups of rows that held-out rows contain whole or not at all.
        X_val, y_val, sample_weight_val : optional
            Validation rows, scored after every estimator over all thresholds.

        Returns
        -------
        OrderedClassifier
            Itself.

        Raises
        ------
        ValueError, TypeError
            If a parameter or an argument is not as described.
        MemoryError
            If the system has too little memory.
        """
        model = ProperBoostClassifier() if self.estimator is None else self.estimator
        if not isinstance(model, ProperBoostClassifier):
            raise TypeError(f"estimator must be a ProperBoostClassifier or None; got {model!r}")
        model = clone(model)
        # The choice compares learners by classes without an order.
        if isinstance(read_parameter(model, "weak_learner"), LearnerChoice):
            model.weak_learner = CHOICE.table
        moving = self._read_moving(model)
        data = LabelledRows(X, y, sample_weight, None, groups)
        held_out = LabelledRows(X_val, y_val, sample_weight_val)
        fit = prepare_fit(model, data, held_out, self.classes, moving)
        warn_of_unfinished(fit.plan, run_plan(model, fit.plan, fit.comparisons, fit.validation))
        scale = fit.finish(model)
        self._set_fitted(model, fit.rows.classes, fit.ranks, scale.thresholds, scale.moves)
        return self

    def _read_moving(self, model: ProperBoostClassifier) -> bool | Literal["auto"]:
        """Return `moving_thresholds`, and refuse a value or a model that it cannot have."""
        moving = self.moving_thresholds
        if not isinstance(moving, bool | np.bool_) and moving != "auto":
            raise ValueError(f"moving_thresholds must be 'auto', True or False; got {moving!r}")
        if moving == "auto":
            return "auto"
        if moving:
            check_moves(model)
        return bool(moving)

    def _set_fitted(
        self,
        model: ProperBoostClassifier,
        classes: NDArray[Any],
        ranks: NDArray[np.intp],
        thresholds: NDArray[np.float64],
        moves: ThresholdMoves | None,
    ) -> None:
        """Set the attributes of a fit; `ranks` has the place of each sorted label in the order."""
        self.estimator_, self.thresholds_, self._moves = model, thresholds, moves
        self.classes_, self._ranks = classes, ranks
        self.n_features_in_ = model.n_features_in_
        keep_names(self, read_names(model))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "thresholds_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = ProperBoostClassifier() if self.estimator is None else self.estimator
        tags.input_tags = get_tags(inner).input_tags
        return tags

    # -- predictions ------------------------------------------------------------------------------

    def _predict_ordered(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes in ascending order."""
        self._check_fitted()
        return super()._predict_ordered(X)

    def compile(self) -> Scorer:
        """Return a scorer of single rows: dicts, or tables of one row.

        Returns
        -------
        Scorer
            It predicts as the model does now, bit for bit; its `decision_function` is F.  Threads
            may share it, and you can pickle it.

        See Also
        --------
        properboost.load_scorer : The scorer of a model file, in a process without scikit-learn.
        """
        self._check_fitted()
        model = OrderedModel(
            self.estimator_, self.classes_, self._ranks, self.thresholds_, self._moves
        )
        return model.compile()

    def ranked_probability_score(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the mean ranked probability score of labelled rows; less is better.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.
        y : array-like of shape (n_rows,)
            Their labels, all among `classes_`.
        sample_weight : array-like of shape (n_rows,), optional
            The weight of each row.

        Returns
        -------
        float

        See Also
        --------
        properboost.metrics.ranked_probability_score : The score of any classifier's probabilities.
        """
        probability = self._predict_ordered(X)
        ranks = self._ranks[find_classes(y, len(probability), self.classes_)]
        weight = read_weights(sample_weight, ranks)
        every = np.arange(len(self.classes_))
        return ranked_probability_score(ranks, probability, classes=every, sample_weight=weight)

    def changes(
        self,
        X: Any,
        to: Any = None,
        keep: Sequence[int | str] = (),
        *,
        most_features: int = MOST_FEATURES,
    ) -> RowChanges:
        """Return the nearest changes of rows that change their predicted class.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.
        to : label, optional
            The class to predict, by default any other.  Rows of it do not change.
        keep : list of int or str, default=()
            The positions or names of features that stay as they are.
        most_features : int, default=3
            The most features that change together, up to 3.  Three may take half a minute for a
            row that the model is sure of.

        Returns
        -------
        RowChanges
            As those of `ProperBoostClassifier.changes`.

        Raises
        ------
        ValueError, TypeError
            If there is no such class or feature, or if features move the thresholds.
        """
        self._check_fitted()
        if self._moves is not None:
            raise ValueError(
                f"changes need thresholds that stay, and {self.moving_features_} move them: fit "
                "with moving_thresholds=False"
            )
        link = self._link
        return self.estimator_._find_changes(
            X,
            to,
            keep,
            self.ordered_classes_.tolist(),
            lambda raw: link.choose(raw[:, 0]),
            link.find_cuts(),
            most_features=most_features,
        )

    # -- keeping ----------------------------------------------------------------------------------

    def _check_can_be_saved(self) -> None:
        self._check_fitted()
        check_can_be_saved(self.estimator_)

    @property
    def is_compact(self) -> bool:
        """Whether the model has only what its predictions need."""
        return self.estimator_.is_compact

    def _compacted(self) -> Self:
        model = self.estimator_ if self.is_compact else make_compact(self.estimator_)
        return self._around(model, self.thresholds_)

    def _around(self, model: ProperBoostClassifier, thresholds: NDArray[np.float64]) -> Self:
        """Return the same classes with another model of F, and thresholds on its scale."""
        other = type(self)(self.estimator, self.classes, self.moving_thresholds)
        other._set_fitted(model, self.classes_, self._ranks, thresholds, self._moves)
        return other

    @property
    def spelling_(self) -> Spelling:
        """The spelling of numbers in the text file of the training rows."""
        return self.estimator_.spelling_

    @spelling_.setter
    def spelling_(self, spelling: Spelling) -> None:
        self.estimator_.spelling_ = spelling
