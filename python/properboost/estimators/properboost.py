"""The classifier: scikit-learn's interface to the engine."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from properboost.batches.quantized_table import open_labelled, open_rows, open_training
from properboost.engine.protocols import RowSource, TrainingRows
from properboost.estimators.boosted import BoostedClassifier
from properboost.estimators.callbacks import (
    CallbackSupportMixin,
    Calls,
    SeesRounds,
    with_callbacks,
)
from properboost.estimators.editing import EditingMixin
from properboost.estimators.labelled_rows import LabelledRows
from properboost.estimators.learner_choice import (
    Choice,
    choose_learner,
    find_learner,
    read_learner,
    with_learner,
)
from properboost.estimators.properboost_parameters import (
    BoosterParameters,
    check_parameters,
    plan_rows,
)
from properboost.estimators.warm_start import check_warm_start, read_earlier_fit
from properboost.fitting.assemble import assemble, check_size, warn_of_costly_certainty
from properboost.fitting.evidence import RowEvidence
from properboost.fitting.held_out_rounds import Fold, HeldOutScore, boost_while_it_helps
from properboost.fitting.plan import FitPlan, count_estimators
from properboost.fitting.run import Run
from properboost.fitting.scaling import find_scaling
from properboost.fitting.stages import FittedStages
from properboost.fitting.term_limit import limit_terms
from properboost.fitting.unfinished import warn_of_unfinished
from properboost.fitting.watch import Validation, Watch, read_validation
from properboost.losses.builtin import MarginLoss
from properboost.models.ensemble import Ensemble
from properboost.models.fitted_model import FittedModel
from properboost.models.tree_ensemble import TreeEnsemble
from properboost.parameters.boosting import LearnerChoice
from properboost.parameters.declare import ComponentSupport, estimator, read_parameter
from properboost.parameters.elsewhere import advise_callers
from properboost.parameters.learners import Learner
from properboost.parameters.rows import VerboseParameters, read_binning

__all__ = ["ProperBoostClassifier"]


@estimator
class ProperBoostClassifier(
    BoosterParameters,
    CallbackSupportMixin,  # type: ignore[misc]
    ComponentSupport,
    BoostedClassifier,
    EditingMixin,
    VerboseParameters,
):
    """Boosted look-up tables, trees or rules under a proper margin loss with a gain.

    Each round adds a look-up table of one feature to the raw prediction F (BoostLR, Algorithm 1
    [1]_), or a tree of three, whichever predict held-out rows better.  The loss weighs the rows,
    and its inverse link turns F into a probability; the gain regularises probabilities.  The rounds
    add up to functions of few features, see `terms_`.

    The first eight parameters matter most.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.
    loss_ : loss object
        The loss, with its gain.
    multiclass_ : {"softmax", "canonical", "one_vs_rest"} or None
        The coupling of the classes' models; None with two classes.
    temperature_ : float or None
        The temperature of the softmax of one-vs-rest models.
    n_iter_ : int
        The number of rounds, or cycles, of the longest model.
    history_ : dict of ndarray
        The class, round, feature, cost, step and risk of each round.
    validation_scores_ : ndarray of shape (estimators that were boosted,)
        The score of validation rows after each estimator, dropped ones included.
    search_ : dict
        The comparisons of the `ProperBoostClassifierCV` that chose this model, if one did.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The importance of each feature; they add up to 1.

    Notes
    -----
    *Gain.*  By default it is max(1, min(8, a n^(-1/3))), in units of the loss margin: n is the
    sample weight of the smallest class times the number of classes, and a is 20 for tables and 14
    for stumps and rules.  For trees it is 1.

    *Sample weights are frequencies.*  Weight 2 equals the row twice; a row of weight 0 is ignored.

    *Probabilities as labels*: a row's loss is the mean of its labels' losses, by probability, as if
    the table had the row once per label.

    *Missing values* have a bin of their own.  Where training had none, they add 0.  *Categories*
    have a bin each, at most 254 per feature; the rarest share one.  A category that training did
    not have falls into the shared bin, or adds 0.

    *Several classes* are one joint model where the loss has a joint form.  It minimises sigma times
    the multinomial logistic loss 2 log(sum e^(F_k / (2 sigma))) - F_y / sigma ("softmax"), or a
    canonical loss's min over tau of phi(F_y - tau) + the sum over the others of phi(tau - F_j)
    ("canonical"), a Fenchel-Young loss [3]_; both are proper [4]_.  One-vs-rest probabilities are
    divided by their sum, or are a softmax with `Calibration`'s temperature.

    *Steps that are solved for* minimise the risk over the newest or all coefficients (ULS, eq. 35
    [2]_).  Where features separate rows by class, no finite steps are optimal; then an error of
    0 counts as half a row, with a warning.

    References
    ----------
    .. [1] Masnadi-Shirazi and Vasconcelos (2015). A view of margin losses as regularizers of
       probability estimates. Journal of Machine Learning Research 16.
    .. [2] Nock and Nielsen (2009). Bregman divergences and surrogates for learning. IEEE
       Transactions on Pattern Analysis and Machine Intelligence 31(11).
    .. [3] Blondel, Martins and Niculae (2020). Learning with Fenchel-Young losses. Journal of
       Machine Learning Research 21.
    .. [4] Williamson, Vernet and Reid (2016). Composite multiclass losses. Journal of Machine
       Learning Research 17.

    Examples
    --------
    >>> from properboost import ProperBoostClassifier, Tree
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ProperBoostClassifier(weak_learner=Tree(max_depth=3), n_estimators=50).fit(X, y)
    >>> model.predict_proba(X).shape
    (569, 2)
    """

    @property
    def weak_learner_(self) -> Learner:
        """The weak learner, which the fit chose where it is "auto"."""
        self._check_fitted()
        return find_learner(self, self.ensemble_)

    @advise_callers
    @with_callbacks
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | float | None = None,
        *,
        groups: ArrayLike | None = None,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | float | None = None,
        init_score: ArrayLike | None = None,
        init_score_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features), or QuantizedTable
            The rows.  A quantized table has labels and weights, too.
        y : array-like of shape (n_rows,) or (n_rows, n_classes)
            Their labels: integers, booleans or strings, at least two different ones; or the
            probability of each class, by a column each.
        sample_weight : array-like of shape (n_rows,), optional
            The weight of each row, finite and at least 0.
        groups : array-like of shape (n_rows,), optional
            Groups of rows that are held out together.
        X_val, y_val, sample_weight_val : optional
            Validation rows, scored after every estimator: see `early_stopping`.
        init_score, init_score_val : array-like of shape (n_rows,) or (n_rows, n_classes), optional
            Initial raw predictions; predictions then need them, too.

        Returns
        -------
        self : ProperBoostClassifier

        Raises
        ------
        ValueError, TypeError
            If a parameter or an argument is not as described.
        MemoryError
            If the system has too little memory.
        """
        loss = check_parameters(self)
        goes_on = self.warm_start and self.__sklearn_is_fitted__()
        of_validation = open_labelled(
            X_val, y_val, sample_weight_val, ("y_val", "sample_weight_val")
        )
        held_out = LabelledRows(*of_validation, init_score_val)
        held_out.check_beside(init_score)
        calls = Calls.open(self, count_estimators(self))
        with self._restored_on_failure():
            if goes_on:
                earlier = with_learner(self, self.weak_learner_)
                loss = check_warm_start(earlier, loss, begins_with_scores=init_score is not None)
            source, labels, weight = open_training(self, X, y, sample_weight, reset=not goes_on)
            data = LabelledRows(X, labels, weight, init_score, groups)
            stopping = read_parameter(self, "early_stopping")
            share = stopping.validation_fraction if X_val is None else None
            if share is not None:
                data, held_out = data.hold_out(source, share, self.random_state)
                source = open_rows(self, data.X, reset=False)
            plan, training = self._plan(source, data, loss, goes_on=goes_on)
            validation = self._read_validation(held_out, training, plan, stopping)
            if calls is not None:
                calls.begin(X, y, {"sample_weight": sample_weight})
            warn_of_unfinished(plan, run_plan(self, plan, training, validation, calls))
            if calls is not None:
                calls.end()
            return self

    def _plan(
        self, source: RowSource, data: LabelledRows, loss: MarginLoss, *, goes_on: bool
    ) -> tuple[FitPlan, TrainingRows]:
        """Return the plan of a fit, and its training rows as codes."""
        classes = self.classes_ if goes_on else None
        rows = data.read(source.n_rows, self.class_weight, self.normalize_weights, classes)
        learner = self.weak_learner_ if goes_on else read_learner(self)
        is_chosen = isinstance(learner, LearnerChoice)
        n_bags = read_parameter(self, "outer_bags").n_bags
        order, bags = data.sort(rows, learner, n_bags, self.random_state)
        options = read_binning(self, learner.rows_per_bin)
        binning, earlier = read_earlier_fit(self, source, options, rows) if goes_on else (None, [])
        with_means = learner.needs_means and (source.can_have_lines or not is_chosen)
        training = source.encode(options, rows, order, with_means=with_means, binning=binning)
        choice = Choice(learner)
        if is_chosen:
            choice = choose_learner(self, loss, source, data, rows, training, _score_fold)
            learner = choice.learner
            training = training if learner.needs_means else training.without_means()
        model = with_learner(self, learner)
        base = data.read_init_score(source.n_rows, len(training.classes), order.order)
        plan = plan_rows(
            model,
            loss,
            training,
            keeps_gain=goes_on,
            bags=bags,
            base=base,
            earlier=earlier,
            enough=choice.n_estimators,
        )
        return plan, training

    def _read_validation(
        self,
        held_out: LabelledRows,
        training: TrainingRows,
        plan: FitPlan,
        stopping: Any,
    ) -> Validation | None:
        """Return the validation rows, if there are any."""
        if held_out.X is None:
            return None
        try:
            return read_validation(
                partial(open_rows, self, held_out.X, reset=False),
                held_out.y,
                held_out.sample_weight,
                held_out.init_score,
                training=training,
                link=plan.link,
                scoring=stopping.scoring,
            )
        except ValueError as error:
            if not held_out.is_drawn:
                raise
            raise ValueError(  # the held-out rows have all rows of positive weight of a class
                f"early_stopping cannot score the rows it holds out: {error}. Pass X_val and y_val"
            ) from error


def _score_fold(plan: FitPlan, fold: Fold, evidence: RowEvidence) -> HeldOutScore:
    """Return the best score of the models of a plan on the rows that a fold holds out."""
    return boost_while_it_helps(plan, find_scaling(plan, evidence), fold)


def run_plan(
    model: ProperBoostClassifier,
    plan: FitPlan,
    rows: TrainingRows,
    validation: Validation | None = None,
    calls: SeesRounds | None = None,
) -> FittedStages:
    """Fit a model by a plan; score `validation` rows and make `calls` while it runs."""
    plan = limit_terms(plan, rows)
    run = Run(plan, find_scaling(plan, RowEvidence(rows)), rows)
    watch = None
    if validation is not None or calls is not None:
        watch = _make_watch(model, run, validation, calls)
    stages = run.finish(watch, verbose=model.verbose)
    if watch is not None:
        watch.check_scores(read_parameter(model, "early_stopping").scoring)
    ensemble = assemble(plan, run.scaling, stages, rows)
    if isinstance(ensemble, TreeEnsemble):
        ensemble = ensemble.with_grids(rows.weigh_cells)
    warn_of_costly_certainty(plan, rows, ensemble, validation)
    _describe_result(plan, rows, ensemble).move_to(model)
    for name in ("validation_scores_", "search_"):
        model.__dict__.pop(name, None)
    if watch is not None and validation is not None:
        scores = np.array(watch.scores)
        if run.scaling.finds_intercepts and ensemble.intercepts:
            of_stages = validation.rate_stages(ensemble)
            scores[: len(of_stages)] = of_stages
        model.validation_scores_ = scores
    return stages


def _describe_result(plan: FitPlan, rows: TrainingRows, ensemble: Ensemble) -> FittedModel:
    """Return the result of a fit by a plan to these rows, with this ensemble."""
    link = plan.link
    return FittedModel(
        rows.classes,
        link.loss,
        ensemble,
        rows.seed,
        link.multiclass,
        link.temperature,
        begins_with_scores=plan.base is not None,
    )


def _make_watch(
    model: ProperBoostClassifier,
    run: Run,
    validation: Validation | None,
    calls: SeesRounds | None,
) -> Watch:
    plan, scaling, rows = run.plan, run.scaling, run.rows

    def describe(fits: Any) -> dict[str, Any]:
        ensemble = assemble(plan, scaling, run.preview(fits), rows)
        return _describe_result(plan, rows, ensemble).describe()

    if calls is not None:
        calls.describe_by(describe)
    stops = validation is not None and read_parameter(model, "early_stopping").stops
    return Watch(
        rows.binning,
        scaling.slopes_of_fits,
        validation=validation and validation.with_intercept(scaling.intercept, plan.options),
        patience=plan.patience if stops else None,
        restarts=plan.is_solved,
        call=None if calls is None else calls.see,
        check_size=lambda fits: check_size(plan, scaling, fits, has_pairs=run.has_pairs),
    )
