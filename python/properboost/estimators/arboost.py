"""AR-Boost and related boosting algorithms, whose weak classifiers vote."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.data.frames import open_table
from properboost.data.labels import read_rows
from properboost.data.sorted_rows import Rows
from properboost.data.whole_sums import mean
from properboost.engine.local import LocalRows, TableSource, start_votes
from properboost.estimators.boosted import BoostedClassifier
from properboost.estimators.editing import EditingMixin
from properboost.losses.builtin import Exponential
from properboost.losses.probabilities import Link, as_predicted, choose_classes
from properboost.models.ensemble import Ensemble, Rounds
from properboost.models.fitted_model import FittedModel
from properboost.models.make_ensemble import make_ensemble
from properboost.models.voting import Voting
from properboost.notices import warn
from properboost.parameters import checks
from properboost.parameters.declare import (
    ComponentSupport,
    check_declared,
    estimator,
    parameter,
    parameters,
    read,
)
from properboost.parameters.kinds import CategoricalFeatures, RandomState
from properboost.parameters.learners import ROWS_PER_BIN_OF_EVERY
from properboost.parameters.rows import (
    BinningParameters,
    SizeParameters,
    VerboseParameters,
    read_binning,
)
from properboost.parameters.voting import (
    RhoParameters,
    VotingOptions,
    VotingParameters,
    refuse_flat_fields,
)
from properboost.progress import Report, show_progress

__all__ = [
    "ARBoostClassifier",
    "VotingClassifier",
    "boost_votes",
    "check_voting",
    "describe_votes",
    "find_rows_per_bin",
    "is_binary",
]


@parameters
class VotingClassifier(
    VotingParameters,
    BinningParameters,
    SizeParameters,
    ComponentSupport,
    BoostedClassifier,
    EditingMixin,
    VerboseParameters,
):
    """Weak classifiers that vote; subclasses choose rho."""

    categorical_features: CategoricalFeatures = parameter(
        default="from_dtype",
        doc="""
        As in `ProperBoostClassifier`.  A split of categories orders them by the share of the
        heaviest class; with two classes this finds the best split.
        """,
    )
    random_state: RandomState = parameter(
        default=None,
        doc="""
        Seed of the drawn features (`max_features`), and of the sample from which large tables
        are binned.
        """,
    )

    def _check_classes(self, rows: Rows) -> None:
        if len(rows.classes) > 2 and is_binary(self):
            raise ValueError(
                "Only binary classification is supported with mistrust or damping. The type of "
                f"the target is multiclass: y has {len(rows.classes)} classes"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not is_binary(self)
        # Class weights of very different sizes matter less with more rounds: a class of tiny weight
        # gets half of the next weights once only its rows are misclassified.
        tags.classifier_tags.poor_score = True
        return tags

    def _set_voting(self, voting: Voting) -> None:
        self._voting = voting

    @property
    def rho_(self) -> float:
        """The rho of the fit."""
        self._check_fitted()
        return self._voting.rho

    @property
    def _link(self) -> Link:
        return self._voting.link

    @property
    def history_(self) -> dict[str, NDArray[Any]]:
        """The rounds: arrays of equal length, ready for ``pandas.DataFrame``.

        ``round`` counts from 1; ``feature`` is a position, or -1 for a tree; ``cost`` is the
        weighted error of its classifier and ``step`` the alpha of its vote; ``risk`` is the mean
        exponential loss of the training rows after the round.
        """
        self._check_fitted()
        self._check_complete("history_", AttributeError)
        rounds = self.ensemble_.models[-1]  # the classes' rounds differ only in their votes
        return {
            "round": np.arange(1, len(rounds) + 1),
            "feature": rounds.feature,
            "cost": rounds.cost,
            "step": rounds.step,
            "risk": rounds.risk,
        }

    def training_error_bounds(self) -> dict[str, NDArray[np.float64]]:
        """Return bounds on the training error after each round, from the rounds' errors alone.

        Returns
        -------
        dict of ndarray of shape (n_iter_,)
            ``normalizer``: Z_t = (1 - e) e^-alpha + e e^alpha, which is (rho^-1/2 + rho^1/2)
            sqrt(e (1 - e)) at learning rate 1 (AR-Boost, eq. 10); ``product``: that of all Z so
            far, which bounds the error (Theorem 1); ``exponential``: the looser bound of eq. 3 with
            the gamma_t = rho/(rho + 1) - e_t of each round, at learning rate 1.  Eq. 4, with the
            least gamma for all rounds, is looser still (see docs/evidence/research_methods.md).  A
            round that adds nothing changes no bound.

        Raises
        ------
        ValueError
            With more than two classes, `mistrust` or `damping`, for which they do not hold.
        """
        error, alpha = self._errors_and_alphas()
        normalizer = (1.0 - error) * np.exp(-alpha) + error * np.exp(alpha)
        rho = self.rho_
        gamma = rho / (rho + 1.0) - error
        exponents = -((rho + 1.0) ** 2) / (2 * rho) * gamma**2 + (rho**2 - 1) / (2 * rho) * gamma
        exponents[alpha == 0.0] = 0.0
        return {
            "normalizer": normalizer,
            "product": np.cumprod(normalizer),
            "exponential": np.exp(np.cumsum(exponents)),
        }

    def margin_bound(self, theta: float) -> float:
        """Return a bound of the share of training rows with a margin of at most `theta`.

        Margins are y F(x) divided by the sum of all alphas (AR-Boost, Theorem 2, eq. 7, at learning
        rate 1; Schapire et al.'s at rho 1).

        Parameters
        ----------
        theta : float
            A margin in [-1, 1].

        Returns
        -------
        float
            exp(theta sum alpha) prod Z_t.  A bound above 1 is void.

        Raises
        ------
        ValueError
            Where `training_error_bounds` does.
        """
        theta = checks.between("theta", theta, -1.0, 1.0)
        _, alpha = self._errors_and_alphas()
        normalizer = self.training_error_bounds()["normalizer"]
        return float(np.exp(np.sum(theta * alpha + np.log(normalizer))))

    def _errors_and_alphas(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        self._check_fitted()
        if len(self.classes_) > 2:
            raise ValueError(f"the bounds need two classes; got {len(self.classes_)}")
        if self._voting.mistrust > 0.0 or self._voting.damping > 0.0:
            raise ValueError("the bounds do not hold with mistrust or damping")
        self._check_complete("the error of each round")
        rounds = self.ensemble_.models[0]
        return rounds.cost, rounds.step


@estimator
class ARBoostClassifier(RhoParameters, VotingClassifier):
    """Weak classifiers that vote under the exponential loss: AdaBoost, SAMME and AR-Boost.

    Each round takes the weak classifier of least cost under the current weights, gives its vote the
    weight alpha, and raises the weights of the rows that it misclassifies.  AR-Boost [1]_ raises
    the odds of being right by the factor rho: alpha = log(rho (1 - e)/e)/2 for two classes, and
    log(rho (1 - e)/e) + log(C - 1) for C > 2 (Algorithms 1 and 2), where e is the classifier's
    weighted error.  So classifiers with errors up to rho/(rho + 1), or rho (C-1)/(rho (C-1) + 1),
    are accepted, and wrong labels are not fitted completely.  With rho 1 it is AdaBoost and SAMME
    [2]_; below 1 it is boosting with an L1 penalty [3]_; with a `learning_rate` below 1
    epsilon-boosting [4]_.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    rho_ : float
        The rho of the fit.
    n_features_in_, feature_names_in_, n_iter_, history_, feature_importances_
        As in `ProperBoostClassifier`; ``history_["cost"]`` is the weighted error e, and
        ``history_["step"]`` alpha.

    Notes
    -----
    With two classes the raw prediction F is the sum of alpha h(x), h in {-1, +1}, and probabilities
    are the exponential loss's, 1/(1 + e^(-2F)).  With more, F_k is the sum of alpha over the rounds
    that vote for k, less the mean over the classes, and probabilities are their softmax, at which
    SAMME's risk is least.  With rho other than 1 they are not calibrated, and less so with more
    rounds.

    References
    ----------
    .. [1] Saha, Kunapuli, Ray, Maldjian and Natarajan (2013). AR-Boost: Reducing overfitting by a
       robust data-driven regularization strategy. ECML PKDD.
    .. [2] Zhu, Zou, Rosset and Hastie (2009). Multi-class AdaBoost. Statistics and its Interface 2.
    .. [3] Xi, Xiang, Ramadge and Schapire (2009). Speed and sparsity of regularized boosting.
       AISTATS.
    .. [4] Hastie, Tibshirani and Friedman (2009). The elements of statistical learning.
    .. [5] Schapire and Singer (1999). Improved boosting algorithms using confidence-rated
       predictions. Machine Learning 37.
    .. [6] Raetsch, Onoda and Mueller (2001). Soft margins for AdaBoost. Machine Learning 42.
    .. [7] Jin, Liu, Si, Carbonell and Hauptmann (2003). A new boosting algorithm using
       input-dependent regularizer. ICML.

    Examples
    --------
    >>> from properboost import ARBoostClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ARBoostClassifier(rho=2.0, n_estimators=50).fit(X, y).score(X, y) > 0.95
    True
    """

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | float | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.
        y : array-like of shape (n_rows,)
            Their labels: integers, booleans or strings, at least two different ones.
        sample_weight : array-like of shape (n_rows,), optional
            The weight of each row, finite and at least 0.

        Returns
        -------
        self : ARBoostClassifier

        Raises
        ------
        ValueError, TypeError
            If a parameter or an argument is not as described.
        MemoryError
            If the system has less memory left than the fit needs.
        """
        with self._restored_on_failure():
            check_voting(self)
            table = open_table(self, X, reset=True)
            rows = read_rows(
                y, table.n_rows, sample_weight, self.class_weight, self.normalize_weights
            )
            self._check_classes(rows)
            training = TableSource(table).encode(
                read_binning(self, find_rows_per_bin(self)), rows, rows.sort()
            )
            return self._fit_to(training.as_dense())

    def _fit_to(self, training: LocalRows) -> Self:
        """Fit to rows in bins."""
        with show_progress(self.verbose, self.n_estimators) as report:
            ensemble, takes_turns = boost_votes(self, training, report)
        if takes_turns:
            warn(
                "a weak classifier and its negative take turns: "
                f"{ensemble.n_estimators} of {self.n_estimators} rounds are kept; a smaller rho "
                f"({self.rho:g} now), max_features below 1 or min_relative_decrease above 0 helps"
            )
        self._set_voting(describe_votes(self, len(training.classes)))
        fitted = FittedModel(training.classes, Exponential(), ensemble, training.seed)
        return fitted.move_to(self)


def boost_votes(
    model: ARBoostClassifier, training: LocalRows, report: Report | None = None
) -> tuple[Ensemble, bool]:
    """Return a model's rounds, and whether a classifier and its negative took turns at last."""
    boosting = start_votes(training, read(VotingOptions, model), Exponential())
    boosting.advance(model.n_estimators, None, report)
    n_classes = len(training.classes)
    groups = [1] if n_classes == 2 else range(n_classes)
    ensemble = make_ensemble(
        training.binning,
        tuple(Rounds.from_native(boosting.rounds(0, group)) for group in groups),
        training.weigh_segments(np.ones(len(training.class_of), dtype=np.bool_)),
        "greedy",
        damping=float(model.damping),
    )
    takes_turns = boosting.takes_turns(0)
    has_negatives = n_classes == 2 or model.multiclass == "one_vs_rest"
    if model.rho > 1.0 and has_negatives and ensemble.n_estimators > 1:
        shorter = _leave_out_turn(ensemble, training, takes_turns)
        return shorter, takes_turns or shorter is not ensemble
    return ensemble, takes_turns


def describe_votes(model: ARBoostClassifier, n_classes: int) -> Voting:
    """Return how the rounds of a model's parameters vote for so many classes."""
    by_label = n_classes > 2 and model.multiclass == "one_vs_rest"
    return Voting(float(model.rho), by_label, float(model.mistrust), float(model.damping))


def is_binary(model: VotingClassifier) -> bool:
    """Whether the method of a model's parameters supports two classes only."""
    return not all(isinstance(x, int | float) and x == 0 for x in (model.mistrust, model.damping))


def _leave_out_turn(ensemble: Ensemble, training: LocalRows, takes_turns: bool) -> Ensemble:
    """Leave out the last round if it reversed predictions and made more errors.

    It reversed them if the next round would undo it, and so on for ever (`takes_turns`), or if it
    changed most of the training rows' predictions: it is nearly the negative of the round before.
    """
    predictions: deque[NDArray[np.intp]] = deque(maxlen=2)  # before the last round, and after it
    for raw in ensemble.follow(training.dense_codes, training.n_threads):
        predictions.append(choose_classes(as_predicted(raw)))
    before, after = (mean(codes != training.class_of_row, training.weight) for codes in predictions)
    is_reversed = (
        takes_turns or np.average(predictions[0] != predictions[1], weights=training.weight) > 0.5
    )
    if not is_reversed or after < before or (after == before and not takes_turns):
        return ensemble
    models = tuple(rounds.first(len(rounds) - 1) for rounds in ensemble.models)
    return replace(ensemble, models=models)


def find_rows_per_bin(model: VotingClassifier) -> float | None:
    """Return the `rows_per_bin` of "auto": a number for tables, which vote in every bin."""
    is_table = getattr(model.weak_learner, "name", model.weak_learner) == "table"
    return ROWS_PER_BIN_OF_EVERY if is_table else None


def check_voting(model: ARBoostClassifier) -> None:
    """Check every parameter that does not depend on the data."""
    check_declared(model)
    refuse_flat_fields(model)
    if model.mistrust > 0.0 and model.rho != 1.0:
        raise ValueError(f"rho must be 1 with mistrust={model.mistrust!r}; got {model.rho!r}")
    if model.mistrust > 0.0 and model.damping > 0.0:
        raise ValueError(
            f"mistrust and damping must not both be above 0; got {model.mistrust!r} and "
            f"{model.damping!r}"
        )
