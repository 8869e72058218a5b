"""The classifier that chooses its gain, and what goes with it, by cross-validation."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError

from properboost.batches.quantized_table import open_training
from properboost.data.labels import read_rows
from properboost.engine.protocols import TrainingRows
from properboost.estimators.boosted import BoostedClassifier, FittedModel
from properboost.estimators.editing import EditingMixin
from properboost.estimators.properboost import ProperBoostClassifier, run_plan
from properboost.estimators.properboost_parameters import make_link
from properboost.fitting.plan import BagPlan, plan_fit
from properboost.losses.builtin import MarginLoss
from properboost.model_selection.compare_families import (
    tell_families,
)
from properboost.model_selection.families import (
    check_search,
    is_auto,
)
from properboost.model_selection.search_record import record_search
from properboost.model_selection.search_run import SearchRun, WithSearchResults
from properboost.model_selection.search_space import (
    SearchParameters,
)
from properboost.parameters.declare import declared, parameter, search
from properboost.parameters.kinds import AutoCV, RowsPerBin, Scoring
from properboost.parameters.shared import (
    BagTableParameters,
    BinningParameters,
    PairParameters,
    SizeParameters,
    VerboseParameters,
)

__all__ = ["ProperBoostClassifierCV"]

SETTLED = ("weak_learner", "response", "selection", "n_draws", "outer_bags")
"""Parameters of a search that the candidates have settled, or leave at the classifier's default."""


@search
class ProperBoostClassifierCV(
    SearchParameters,
    BagTableParameters,
    BinningParameters,
    SizeParameters[RowsPerBin],
    BoostedClassifier,
    EditingMixin,
    VerboseParameters,
    WithSearchResults,
):
    """`ProperBoostClassifier` that chooses gain and number of estimators by cross-validation.

    All models of the search, one for each candidate, split and class, are boosted at the same
    time over the same codes, so that a search costs little more than a few fits.  Each one's score
    on the rows its split holds out is known while it grows.  The best candidate, with the
    number of estimators that was best for it, is then fitted to all rows.  The paper behind the
    gain chooses it in the same way (BoostLR, section 7 [1]_).

    Attributes
    ----------
    gain_ : float
        The gain chosen.
    alpha_ : float or None
        The alpha chosen; None if the loss chosen has none.
    smoothing_, prior_, selection_ : float, float or None, str
        Those chosen.
    n_estimators_ : int
        The number of estimators chosen.  At `max_estimators`, more might have been better.
    best_params_ : dict
        The same, as parameters of `ProperBoostClassifier`.
    best_index_ : int
        Place of the chosen candidate in `cv_results_`.
    best_score_ : float
        Its mean score over the splits, with that number of estimators, before calibration.
    best_estimator_ : ProperBoostClassifier
        The fitted model as that estimator, which keeps in `search_` what was compared; with
        `refit` only.
    calibration_ : dict or None
        Slope and intercept (of one-vs-rest models also temperature), the gain in
        log loss of rows held out, its standard error (error), and whether they were kept.  None
        without `calibrate`, and where there was nothing to fit.
    interaction_results_ : dict of ndarray
        With a search for pairs: interactions, interaction_rate, interaction_smoothing,
        interaction_estimators (the number that was best), mean_test_score and, for several classes
        one against the rest, temperature (NaN for none).  `best_score_` and
        `best_params_` then describe the choice among these.
    cv_results_ : dict of ndarray
        One row per candidate, as in scikit-learn's GridSearchCV: params, param_loss, param_gain,
        param_smoothing, param_prior, param_selection, those of other lists and, if any loss has it,
        param_alpha; for several classes one against the rest param_temperature (None where
        probabilities are divided by their sum); n_estimators, the number that was best; and
        split0_test_score, ..., mean_test_score, std_test_score and rank_test_score with that
        number.  Where families were compared, family, dropped (whether it fell behind) and seconds,
        too; one that fell behind on the first two of five splits (of more, on two fifths) has no
        other scores, and NaN as its mean.
    validation_curves_ : ndarray of shape (n_candidates, n_splits, n_estimators run)
        ``validation_curves_[c, s, t]`` is the score of candidate c on the rows split s holds
        out, after t + 1 estimators; NaN where it is not known.  It is the better of the two
        ways in which one-vs-rest candidates are scored (see Notes).
    classes_, n_features_in_, feature_names_in_, loss_, multiclass_, n_iter_, history_
        As in `ProperBoostClassifier`; those from `loss_` on with `refit` only.
    temperature_ : float or None
        The temperature chosen for the softmax of a one-vs-rest model; None where there is none.
        With `refit` only.
    feature_importances_ : ndarray of shape (n_features_in_,)
        As in `ProperBoostClassifier`, with `refit` only.

    Notes
    -----
    *Several classes* are a joint model or learnt one against the rest, whichever scores better: see
    `multiclass`.  One-vs-rest candidates are scored in two ways: with probabilities divided by
    their sum, and with softmax(F / (2 sigma T)), see `temperature` of `ProperBoostClassifier`.  T
    has the least log loss of all splits' held-out rows, after each number of estimators that is
    scored.  The way that scores better is taken (of equal scores, that of less log loss).  So T is
    fitted to the rows that it is scored on, one number to all of them.

    *Calibration* multiplies F by a slope and adds an intercept, with several classes one for each
    that add up to 0.  They maximise the likelihood of the rows that the splits hold out, under the
    model's own link (of one-vs-rest models the softmax, of which the slope is 1 / T), beside 20
    rows that say the probabilities are right.  They are kept if they lower the log loss of these
    rows by more than one standard error, after one row's share for each number that is fitted,
    and if the score asked for is not lower.  The slope is above 0, so rows keep their
    order.  For this the chosen candidate is boosted on the splits once more.

    *Bins* are found once, from all rows, test rows included, but never from labels; so are the
    factors of ``class_weight="balanced"``.  `subsample` draws rows by their places among all rows,
    not among a split's.  Apart from that the scores are those of scikit-learn's GridSearchCV over
    `ProperBoostClassifier` with the same splits.

    *Workers* of joblib, if a backend of several is set, score a candidate each, on one thread, as
    in ``with joblib.parallel_config("dask"): search.fit(X, y)``.  Scores are the same.  Where
    families are compared, a candidate is judged by what was known when its family began; which
    ones are dropped may differ.  Losses and scorers of your own must be such as can be pickled.

    *Sample weights* count in training and in the scores, where the scorer takes them.  A row of
    weight 0 is ignored: splitters do not see it, and splits given as arrays may name it without
    effect.

    *Where the gain cannot matter*: with ``response="exact"``, with ``response="newton"`` and no
    `l2`, and with a step that minimises the risk ("line_search", "leveraging",
    "totally_corrective") and any other response the raw predictions are proportional to the gain,
    which the link divides them by.

    *Memory*: the codes, and 8 bytes per row and model (32 where steps are solved for).  As many
    candidates are boosted at a time as fit into 2 GiB (always one).  Splits that cut the rows into
    more than 64 parts (6 or more that are random) need further copies of the codes; trees need one,
    or two while models wait for those of other splits; so does the look at how rows are ordered.

    References
    ----------
    .. [1] Masnadi-Shirazi and Vasconcelos (2015). A view of margin losses as regularizers of
       probability estimates. Journal of Machine Learning Research 16.
    .. [2] Nock and Nielsen (2009). Bregman divergences and surrogates for learning. IEEE
       Transactions on Pattern Analysis and Machine Intelligence 31(11).

    Examples
    --------
    >>> from properboost import ProperBoostClassifierCV
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ProperBoostClassifierCV("gboost").fit(X, y)
    >>> bool(model.best_score_ > -0.15)
    True
    """

    cv: AutoCV = parameter(
        default="auto",
        check=lambda _, value: value,  # rows are needed to judge it
        kind='int, splitter, iterable or "auto"',
        form="not saved",
        doc="""
        How rows are split: as many stratified folds (not shuffled), any splitter of scikit-learn,
        or pairs of arrays of positions (training, test).  Every split must train on at least two
        classes; with several classes, one that it does not train on has probability 0 in that
        split.  "auto" is 5 (of whole groups if there are `groups`); with `effort=1` or 2 it is one
        split that holds out a fifth by chance, the same in every fit, where rows times classes are
        at least 2,000 and no class is rare.  A search that compares families on "auto" folds warns
        if it matters which rows lie together.
        """,
        option="stratified folds",
    )
    scoring: Scoring = parameter(
        default="neg_log_loss",
        check=lambda _, value: value,  # classes are needed to judge it
        kind="str, callable or None",
        form="not saved",
        doc="""
        What is maximised: a scorer's name, None for accuracy, or a callable ``(estimator, X, y) ->
        float``.  Its estimator predicts the held-out rows of a CV split only, all in their order.
        With two classes the engine computes "neg_log_loss", "accuracy", "neg_brier_score" and
        "balanced_accuracy" after every estimator.  Anything else is scored after 1, 2, 3, 4, 5, 6,
        8, 10, 12, 15, ... estimators, each time about a quarter more: "roc_auc" and
        "average_precision" of two classes fast, with the second class as the positive one, and
        others by scikit-learn.
        """,
    )

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
        y : array-like of shape (n_rows,)
            Their labels: integers, booleans or strings, at least two different ones.
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
            If a parameter or an argument is not as described; the message names it.
        MemoryError
            If the system has less memory left than the fit needs.
        """
        check_search(self)
        # Another thread may fit this search, too: what this one sets meanwhile is its own.
        fitted = copy(self)
        fitted._forget()
        fitted._search(X, y, sample_weight, groups)
        self.__dict__ = fitted.__dict__
        return self

    def _search(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        """Search, and fit what was chosen."""
        source, y, sample_weight = open_training(self, X, y, sample_weight, reset=True)
        rows = read_rows(y, source.n_rows, sample_weight, self.class_weight, self.normalize_weights)
        run = SearchRun(self, source, rows, groups)
        training = run.training
        winner, results = run.choose()
        dealt, bags = run.deal_to_bags(results), None
        self.__dict__.update(results.describe())
        self.classes_, self.seed_ = training.classes, training.seed
        if not self.refit:
            return
        if dealt is not None:
            training, bags = training.reorder(dealt[0]), dealt[1]
        loss = winner.candidate.loss
        del rows, run, winner, results  # bytes that the refit does not need
        self._refit(_make_estimator(self, self.best_params_), loss, training, bags)

    @property
    def validation_curves_(self) -> NDArray[np.float64]:
        """The score of each candidate, on each split, after each estimator."""
        self._check_complete("validation_curves_", AttributeError)
        assert self._validation_curves is not None
        return self._validation_curves

    @property
    def n_splits_(self) -> int:
        """How many splits of the rows the candidates were compared on."""
        return sum(name.startswith("split") for name in self.cv_results_ if "test_score" in name)

    def describe_search(self) -> str:
        """Return what was compared as a text: a line for each family, the best first.

        It says what each family's best candidate reached, by how much that is behind the best of
        all (with its standard error over the splits), how many candidates there were and how many
        of these were dropped, and the seconds that they took.

        Raises
        ------
        ValueError
            If no families were compared.
        """
        if not hasattr(self, "cv_results_"):
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet")
        if self.family_results_ is None:
            raise ValueError("no families were compared: effort=None, or none has what was asked")
        return tell_families(self.family_results_)

    def _forget(self) -> None:
        """Drop what an earlier fit left: without a refit its model must not be taken for ours."""
        for name in [name for name in self.__dict__ if name.endswith("_")]:
            delattr(self, name)
        for name in ("ensemble_", "seed_"):
            self.__dict__.pop(name, None)

    def _refit(
        self,
        best: ProperBoostClassifier,
        loss: MarginLoss,
        training: TrainingRows,
        bags: BagPlan | None,
    ) -> None:
        if training.binning.has_means and not best.linear_leaves:
            training = training.without_means()
        link = make_link(best, loss, len(training.classes), training.n_threads)
        run_plan(best, plan_fit(best, link, len(training.classes), bags=bags), training)
        best._set_features_of(self)
        best.search_ = record_search(self)
        self.best_estimator_ = best
        FittedModel.of(best).move_to(self)

    def _check_fitted(self) -> None:
        if hasattr(self, "cv_results_") and not hasattr(self, "ensemble_"):
            raise NotFittedError(
                f"This {type(self).__name__} instance was fitted with refit=False: it is not "
                "fitted to all rows, and has results of the search only"
            )
        super()._check_fitted()

    @property
    def is_compact(self) -> bool:
        """Whether the model has no more than its predictions need."""
        edited = hasattr(self, "ensemble_") and super().is_compact
        return edited or self._validation_curves is None

    def _compacted(self) -> Self:
        compact = copy(self)
        compact._validation_curves = None
        if hasattr(self, "best_estimator_"):
            compact.best_estimator_ = self.best_estimator_._compacted()
            compact.ensemble_ = compact.best_estimator_.ensemble_
        return compact

    def _check_can_be_saved(self) -> None:
        if not hasattr(self, "cv_results_"):  # which is all there is without a refit
            self._check_fitted()


def _make_estimator(search: SearchParameters, chosen: dict[str, Any]) -> ProperBoostClassifier:
    """Return the estimator with the parameters that were chosen, and the search's others."""
    known = declared(type(search))
    later = declared(PairParameters)
    shared = {
        name: getattr(search, name)
        for name in declared(ProperBoostClassifier)
        if name in known
        and name not in later
        and name not in chosen
        and name not in ("multiclass", "scoring")
        and not (name in SETTLED and is_auto(search, name))
    }
    return ProperBoostClassifier(**({"multiclass": "auto"} | shared | chosen))
