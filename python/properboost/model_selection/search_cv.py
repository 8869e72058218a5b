"""The classifier that chooses its gain and other parameters by cross-validation."""

from __future__ import annotations

from contextlib import AbstractContextManager
from copy import copy
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError

from properboost.batches.quantized_table import open_training
from properboost.data.labels import read_rows
from properboost.estimators.editing import EditingMixin
from properboost.estimators.properboost import ProperBoostClassifier, run_plan
from properboost.estimators.properboost_parameters import check_parameters, find_loss
from properboost.model_selection.families import SearchDesign, check_search
from properboost.model_selection.refit import plan_refit, record_fewer_rounds
from properboost.model_selection.search_attributes import WithSearchResults
from properboost.model_selection.search_record import record_search
from properboost.model_selection.search_run import SearchRun
from properboost.model_selection.search_space import SearchParameters
from properboost.model_selection.search_stages import list_stages
from properboost.model_selection.space import Classifier
from properboost.models.fitted_model import FittedModel
from properboost.parameters.declare import ComponentSupport, declared, estimator, read_parameter
from properboost.parameters.elsewhere import advise_callers
from properboost.parameters.rows import BinningParameters, SizeParameters, VerboseParameters
from properboost.whole_progress import show_whole

__all__ = ["ProperBoostClassifierCV"]


@estimator
class ProperBoostClassifierCV(
    SearchParameters,
    BinningParameters,
    SizeParameters,
    ComponentSupport,
    WithSearchResults,
    EditingMixin,
    VerboseParameters,
):
    """`ProperBoostClassifier` that chooses the open parameters by cross-validation.

    It compares families of models: look-up tables, stumps and trees, with settings that suit each
    other.  All models of a family, one for each candidate, split and class, are boosted at the same
    time over the same codes.  They are scored on the rows that their split holds out while they
    grow.  The best candidate is then fitted to all rows with its best number of estimators; its
    gain is chosen as in BoostLR, section 7 [1]_.

    Attributes
    ----------
    best_params_ : dict
        The parameters of the `ProperBoostClassifier` that was chosen, with objects:
        ``ProperBoostClassifier(**search.best_params_)`` is that model.
    best_estimator_ : ProperBoostClassifier
        The model, with the record of the search in `search_`; with `refit` only.
    best_score_ : float
        Its mean score over the splits, before calibration.
    best_index_ : int
        Its place in `cv_results_`; with pairs that of the model without.
    gain_, n_estimators_ : float, int
        Its gain and its number of estimators.  At `max_estimators` more might be better.
    family_, family_results_ : str, dict of ndarray
        Its family, and the results of each family; None where none were compared.  See
        `describe_search`.
    calibration_ : dict or None
        Slope and intercept (of one-vs-rest models temperature, too), the gain in log loss of rows
        held out, its standard error (error), and whether they were kept.  None where nothing was
        fitted.
    held_out_scores_ : dict or None
        The number of rows that the splits hold out (rows), and the chosen model's log_loss and
        accuracy on them, calibrated.  None where nothing was fitted, and in a loaded search.
    interaction_results_ : dict of ndarray
        With a search for pairs: interactions (their number), interactions__learning_rate,
        interactions__smoothing, interactions__n_estimators and mean_test_score.  `best_score_` and
        `best_params_` then describe the choice among these.
    cv_results_ : dict of ndarray
        A row for each candidate, as of scikit-learn's GridSearchCV: params, columns such as
        param_loss and param_weak_learner__max_depth, n_estimators (the best number),
        split0_test_score, ..., mean_test_score, std_test_score and rank_test_score.  Where families
        were compared, family, dropped and seconds, too: a candidate that fell behind on the first
        splits has NaN on the others.
    validation_curves_ : ndarray of shape (n_candidates, n_splits, n_estimators run)
        The score on the rows held out after each estimator; NaN where it is not known.
    ended_ : str or None
        "time_limit" or "interrupted" if the search was cut short.
    classes_, n_features_in_, feature_names_in_, loss_, multiclass_, temperature_, n_iter_,
    history_, feature_importances_
        As in `ProperBoostClassifier`; those from `loss_` on with `refit` only.

    Notes
    -----
    *The space* has names of the classifier, also nested ones:
    ``{"weak_learner": "tree", "weak_learner__max_depth": [3, 6], "gain": [1, 2, 4]}``.
    Only a list is searched; a tuple or an array is a value, and a list that is one value stands in
    another list.  The name of a weak learner pins none of its fields, an object all.  Families that
    exclude a value are left out; `describe_search` lists them.  If all families exclude a value,
    all combinations of the lists are compared, as with ``effort=None``, except those that the
    classifier refuses.

    Without a gain in the space, gains are tried from the least that regularises (BoostLR, eq. 30)
    to 64 times as much, and more for fewer than 1,000 rows; ``"gain": None`` leaves each loss its
    own.  `n_estimators`, `outer_bags`, `calibration` and ``weak_learner__n_draws`` belong to the
    final model and take one value.  Without them, models of trees are means of 4 fits with an
    `effort` of 1, 8 with 2, 16 with 3 and 4, 32 with 5.  With ``readable=True`` models have 16 bags
    from 3 on, if rows are enough.

    *Several classes* get a joint model or one model against the rest each, whichever scores better.
    In the latter case probabilities are divided by their sum, or are a softmax whose temperature is
    fitted to the held-out rows, whichever scores better.

    *Calibration* multiplies F by a slope and adds an intercept, which maximise the likelihood of
    the held-out rows and of a prior, 20 pseudo-rows that agree with the model.  They stay if they
    lower log loss by more than one standard error and the score is no worse.

    *Bins* are cut once, from all rows, never from labels.  Sample weights count in training and in
    scores.  Each worker of joblib scores one candidate at a time.

    *Memory*: the codes, and 8 bytes per row and model (32 where steps are solved for), of as many
    candidates at a time as fit into 2 GiB.

    References
    ----------
    .. [1] Masnadi-Shirazi and Vasconcelos (2015). A view of margin losses as regularizers of
       probability estimates. Journal of Machine Learning Research 16.

    Examples
    --------
    >>> from properboost import ProperBoostClassifierCV
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ProperBoostClassifierCV({"loss": "gboost"}, effort=1).fit(X, y)
    >>> bool(model.best_score_ > -0.15)
    True
    """

    _classifier = Classifier(ProperBoostClassifier, check_parameters, find_loss)

    @advise_callers
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | float | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose by cross-validation, and fit the chosen model to all rows.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features), or QuantizedTable
            The rows.  A quantized table has labels and weights of its own.
        y : array-like of shape (n_rows,) or (n_rows, n_classes)
            Their labels: integers, booleans or strings, at least two different ones.  Columns
            have the probability of each class, and their names, or 0, 1 and so on, are classes.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts, finite and at least 0.
        groups : array-like of shape (n_rows,), optional
            The group of each row, for splitters that keep groups together, and for bags.

        Returns
        -------
        self : ProperBoostClassifierCV

        Raises
        ------
        ValueError, TypeError
            If a parameter or an argument is not as described.
        MemoryError
            If the system has less memory left than the fit needs.
        """
        settled = check_search(self)
        # On a copy, because another thread may fit this search at the same time.
        fitted = copy(self)
        fitted._forget()
        with self._show_whole(settled):
            fitted._search(settled, X, y, sample_weight, groups)
        self.__dict__ = fitted.__dict__
        return self

    def _show_whole(self, settled: SearchDesign) -> AbstractContextManager[None]:
        """Show one bar for all families; with more verbosity, each stage shows itself."""
        is_one = settled.by_family and read_parameter(self, "verbose") == 1
        stages = list_stages(self) if is_one else []
        return show_whole(stages, self.time_limit, visible=is_one, leave=True)

    def _search(
        self, settled: SearchDesign, X: Any, y: Any, sample_weight: Any, groups: Any
    ) -> None:
        """Search, and fit the chosen model."""
        source, y, sample_weight = open_training(self, X, y, sample_weight, reset=True)
        rows = read_rows(y, source.n_rows, sample_weight, self.class_weight, self.normalize_weights)
        run = SearchRun(self, settled, source, rows, groups)
        training = run.training
        winner, results = run.choose()
        dealt, bags = run.deal_to_bags(results), None
        self.__dict__.update(results.describe())
        self.classes_, self.seed_ = training.classes, training.seed
        if not self.refit:
            return
        if dealt is not None:
            training, bags = training.reorder(dealt[0]), dealt[1]
        loss, stop = winner.candidate.loss, run.stop
        del rows, run, winner, results  # the refit needs their memory
        best = _make_estimator(self)
        plan, training = plan_refit(best, loss, training, bags)
        run_plan(best, plan, training, calls=stop)
        if stop is not None and stop.has_stopped:
            record_fewer_rounds(self, best)
        self._give_features_to(best)
        best.search_ = record_search(self)
        self.best_estimator_ = best
        FittedModel.of(best).move_to(self)

    def _forget(self) -> None:
        """Drop the attributes of an earlier fit, whose model must not pass for the new one."""
        for name in [name for name in self.__dict__ if name.endswith("_")]:
            delattr(self, name)
        for name in ("ensemble_", "seed_"):
            self.__dict__.pop(name, None)

    def _check_fitted(self) -> None:
        if hasattr(self, "cv_results_") and not hasattr(self, "ensemble_"):
            raise NotFittedError(
                f"This {type(self).__name__} instance was fitted with refit=False: it is not "
                "fitted to all rows, and has results of the search only"
            )
        super()._check_fitted()

    @property
    def is_compact(self) -> bool:
        """Whether the model holds only the state that its predictions need."""
        edited = hasattr(self, "ensemble_") and super().is_compact
        return edited or self._validation_curves is None

    def _compacted(self) -> Self:
        if not hasattr(self, "best_estimator_"):
            return self._copy_with(_validation_curves=None)
        return self._copy_around(self.best_estimator_, _validation_curves=None)

    def _check_can_be_saved(self) -> None:
        if not hasattr(self, "cv_results_"):  # all that exists without a refit
            self._check_fitted()


def _make_estimator(search: ProperBoostClassifierCV) -> ProperBoostClassifier:
    """Return the estimator with the chosen parameters, and those of the search itself."""
    known = declared(ProperBoostClassifier)
    shared = {name: getattr(search, name) for name in declared(type(search)) if name in known}
    return ProperBoostClassifier(**{**shared, **search.best_params_})
