"""The classifier: scikit-learn's interface to the engine."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from properboost.batches.quantized_table import open_labelled, open_rows, open_training
from properboost.engine.protocols import RowSource, TrainingRows
from properboost.estimators.boosted import BoostedClassifier, FittedModel
from properboost.estimators.callbacks import CallbackSupportMixin, Calls, with_callbacks
from properboost.estimators.editing import EditingMixin
from properboost.estimators.labelled_rows import LabelledRows
from properboost.estimators.properboost_parameters import (
    check_intercept,
    check_parameters,
    find_loss,
    make_link,
)
from properboost.estimators.warm_start import check_warm_start, read_earlier_fit
from properboost.fitting.assemble import assemble, check_size, warn_of_costly_certainty
from properboost.fitting.plan import FitPlan, count_estimators, plan_fit
from properboost.fitting.run import Run
from properboost.fitting.scaling import find_scaling
from properboost.fitting.watch import Validation, Watch, read_validation
from properboost.losses.builtin import MarginLoss
from properboost.parameters import checks
from properboost.parameters.declare import estimator, parameter
from properboost.parameters.kinds import (
    GrowPolicy,
    Interactions,
    Intercept,
    LossName,
    MaxCells,
    Multiclass,
    MultiStrategy,
    Response,
    RowsPerBin,
    Selection,
    Slope,
    WeakLearner,
)
from properboost.parameters.shared import (
    LARGEST_INT,
    SOLVED,
    BagParameters,
    BinningParameters,
    BoostingParameters,
    CouplingParameters,
    DrawParameters,
    EarlyStoppingParameters,
    PairParameters,
    RegularizerParameters,
    SizeParameters,
    VerboseParameters,
    WarmStartParameters,
    read_binning,
)

__all__ = ["ProperBoostClassifier"]


@estimator
class ProperBoostClassifier(
    BoostingParameters[
        float,
        int,
        GrowPolicy,
        bool,
        int | None,
        int | None,
        MaxCells,
        Selection,
        MultiStrategy,
        float | None,
        WeakLearner,
        Response,
    ],
    CouplingParameters[Multiclass],
    PairParameters[float, Interactions],
    RegularizerParameters,
    DrawParameters[int],
    BagParameters,
    BinningParameters,
    SizeParameters[RowsPerBin],
    EarlyStoppingParameters,
    WarmStartParameters,
    CallbackSupportMixin,  # type: ignore[misc]
    BoostedClassifier,
    EditingMixin,
    VerboseParameters,
):
    """Boosted look-up tables, trees or rules under a proper margin loss with a gain.

    Each round takes one feature, gives each of its bins a value and adds that table to the raw
    prediction F (BoostLR, Algorithm 1 [1]_).  The loss decides how rows are weighted, and its
    inverse link turns F into a probability; the gain says how strongly probabilities are
    regularised.  The rounds add up to one table a feature, see `shape_function`.

    Several classes are one joint model where the loss has a joint form: see `multiclass`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.  Predictions compare names of other types, too.
    loss_ : loss object
        The loss, with its gain.
    multiclass_ : {"softmax", "canonical", "one_vs_rest"} or None
        How the classes' models are coupled; None with two classes.
    temperature_ : float or None
        The temperature of the softmax of one-vs-rest models; None where there is none.
    n_iter_ : int
        Rounds, or cycles, of the model that has most.
    history_ : dict of ndarray
        What each round did: class, round, feature, cost, step, risk.  With totally corrective
        steps, `step` is the final one, which later rounds have changed, and `risk` is the least
        risk after the round.  Where features separate rows (see Notes), `risk` counts them
        as described there in all rounds, so that it never rises.
    validation_scores_ : ndarray of shape (estimators that were boosted,)
        The score of the validation rows after each estimator, more being better; also of those
        that were not kept.  Only after a fit with such rows.  Estimators are chosen before an
        `intercept` is found, but the scores of those that are kept have it.
    search_ : dict
        What a `ProperBoostClassifierCV` compared before it chose this model, and how; only of its
        `best_estimator_`.  `properboost report` shows it.
    feature_importances_ : ndarray of shape (n_features_in_,)
        How much each feature moves the raw prediction, adding up to 1.

    Notes
    -----
    *Sample weights are frequencies.*  Weight 2 equals the row twice; a row of weight 0 is ignored.
    So their scale matters: `prior` and the longest allowed step depend on their sum.

    *Missing values* (NaN, None, NA) have a bin of their own.  Where training had none for a
    feature, a missing value adds 0 to the raw prediction.  Infinite values are ordinary values.

    *Categories* have a bin each, at most 254 per feature (`max_bins` if that is less).  With more
    categories the rarest by weight share one.  A category not seen in training falls into that
    shared bin if the feature has one, and otherwise adds 0 to the raw prediction.

    *Tables* may be numpy arrays and pandas, polars and Arrow tables.  They are read in place,
    whatever their numeric type.  Only columns of types that numpy lacks are converted, a few at a
    time.

    *Several classes* have a model each, over the same bins.  A joint model minimises, over all of
    them, sigma times the multinomial logistic loss 2 log(sum e^(F_k / (2 sigma))) - F_y / sigma
    ("softmax"), or a canonical loss's min over tau of phi(F_y - tau) + the sum over the others of
    phi(tau - F_j) ("canonical"), a Fenchel-Young loss [3]_ whose probabilities are the inverse link
    of F_k - tau; both are proper [4]_.  With two classes of raw predictions F and -F that is the
    loss of two classes, counted twice.  Every class has as many rounds, and a round has one step
    for all.  One against the rest, probabilities are divided by their sum (and are equal where all
    are zero), or are a softmax: see `temperature`.

    *Steps that are solved for*: if the features of a leveraging or totally corrective step separate
    some rows by their class, no finite steps are best (ULS, Lemma 5, excludes this for single
    features only).  Then an error of 0 counts as half a row, with a warning: each row also counts
    as one of the other class by 1/(2S) of its weight, S the weight of all rows.  A leveraging step
    checks its newest feature only; it does not detect features that separate the classes jointly.
    Staged predictions after totally corrective rounds are partial sums of the final model.

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
    >>> from properboost import ProperBoostClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ProperBoostClassifier(loss="gboost", gain=2.0).fit(X, y)
    >>> model.predict_proba(X).shape
    (569, 2)
    """

    loss: LossName | MarginLoss = parameter(
        default="glog",
        kw_only=False,
        check=lambda _, value: value,  # together with the gain
        kind="str or loss object",
        form="losses",
        doc="""
        A loss's name, one of `properboost.losses`, or an object from there, which carries its own
        gain.
        """,
        option="the loss",
    )
    gain: float | None = parameter(
        default=None,
        check=checks.either(checks.positive, None),
        doc="""
        The gain sigma > 0: the loss is sigma phi(v / sigma), v = y F(x).  Twice the gain with the
        same tables halves how far a round moves the probabilities.  None is the gain that a loss
        object carries.  With a name it is a ``n ** (-1 / 3)``, at least 1 and at most 8, where n
        is the sample weight of the smallest class times the number of classes, and a is 20 for
        look-up tables, and 14 for stumps and monomials.  That is in units of the loss margin, by
        which losses regularise alike: "exponential" and "savage" have twice as much, "tangent" four
        times.  For trees it is 1, and the `learning_rate` goes by the loss.  The gain of the fit
        is ``loss_.gain``.
        """,
        option="gain of the loss, above 0: larger regularises more; none goes by the rows of the "
        "smallest class",
    )
    n_estimators: int | None = parameter(
        default=None,
        check=checks.either(partial(checks.integer, low=1, high=LARGEST_INT), None),
        doc="""
        Rounds (with cyclic selection, cycles over the features), per class where there are more
        than two.  Boosting stops earlier if no round lowers the risk any more, or with `min_saving`
        by no more than chance would.  None is 100, and 50 more, up to 1,000, as often as 50 rounds
        of look-up tables or stumps have lowered the deviance of the training rows by more than a
        quarter of all tables' degrees of freedom: by chance all rounds lower it by so many.
        `n_iter_` has the number.
        """,
        option="rounds, or cycles over the features, per class where there are more than 2; none "
        "is 100, and more as long as tables or stumps help by more than chance",
    )
    temperature: float | None = parameter(
        default=None,
        check=checks.either(checks.positive, None),
        doc="""
        With more than two classes, each learnt against the rest: the T > 0 of their probabilities
        softmax(F / (2 sigma T)), under any loss; None divides each class's by their sum.
        `ProperBoostClassifierCV` fits it.  A larger T makes them more alike; the predicted classes
        stay.  It has no effect with two classes nor where `multiclass` "auto" makes a joint model,
        and is refused with "softmax" and "canonical".
        """,
        option="of more than 2 classes one against the rest: probabilities are a softmax of raw "
        "predictions divided by this; none divides each class's by their sum",
        only_with={"multiclass": ("auto", "one_vs_rest")},
        promise={"multiclass": "joint models have a link of their own"},
    )
    intercept: Intercept = parameter(
        default="auto",
        check=check_intercept,
        kind='"auto", "share", None, float or list of float',
        doc="""
        What is added to every raw prediction when boosting is over.  "share": what makes the mean
        probability of the training rows, by weight, the share of the class.  With several classes
        it is a number for each, which add up to 0 where one softmax or joint link makes all
        probabilities; models one against the rest have the shares of their own classes each, before
        probabilities are divided by their sum.  None is nothing.  "auto" is "share" for losses that
        are not canonical (exponential, savage, alpha above 0), whose minimum has another mean,
        where the training rows' p (1 - p) add up to 10 in every model; with canonical losses, and
        those that reach certainty (tangent), it is None.  The conditional response leaves the
        constant open under every loss: there "auto" is always "share".  Numbers, one or, with
        several classes, one for each, are added as they are: `ProperBoostClassifierCV` fits them.
        """,
        option="added to raw predictions: share makes mean probabilities the classes' shares; auto "
        "does so for losses that are not canonical",
    )
    slope: Slope = parameter(
        default="auto",
        check=checks.either(checks.positive, "auto"),
        kind='"auto" or float',
        doc="""
        What every step is multiplied by when boosting is over, above 0; before the intercept is
        added.  "auto" is 1, and less where the training rows tell the classes apart by hardly more
        than chance: 1 - ((1 + 2 log n) / z^2)^4, for the normal deviate z of the least likely of n
        features, by chi-square of its best cut or its categories; models that can use them (trees,
        monomials, `interactions`) have pairs of features, too.  The intercept "auto" is then
        "share".  With steps that are solved for, "auto" of either is nothing.  `slope_` has it.
        `ProperBoostClassifierCV` fits it to rows held out.
        """,
        option="what raw predictions are multiplied by: auto is 1, and less where the classes "
        "differ by hardly more than chance",
    )
    interaction_estimators: int | None = parameter(
        default=None,
        check=checks.either(partial(checks.integer, low=1, high=LARGEST_INT), None),
        doc="""
        Rounds (with cyclic selection, cycles over the pairs) for the pairs; None is what
        `n_estimators` says.
        """,
    )

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
            The rows.  A quantized table has labels and weights of its own.
        y : array-like of shape (n_rows,)
            Their labels: integers, booleans or strings, at least two different ones.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts, finite and at least 0.
        groups : array-like of shape (n_rows,), optional
            The group of each row, for bags (`outer_bags`), each of which has all of a group or
            none: standard errors are then those of new groups.  So have rows that
            ``early_stopping=True`` holds out.
        X_val, y_val : array or table, and array-like, optional
            Validation rows, which the model does not learn from: they are scored after every
            estimator, see `early_stopping` and `validation_scores_`.  A quantized table, made with
            the bins of `X` (``bins_of``), has its labels and weights.
        sample_weight_val : array-like, optional
            How often each of these rows counts in the score.
        init_score : array-like of shape (n_rows,) or (n_rows, n_classes), optional
            Raw predictions to begin with, such as another model's `decision_function`: two classes
            have one column, that of ``classes_[1]``.  The model learns what is left, and predicts
            only where it is given those of the rows to predict.
        init_score_val : array-like, optional
            The same of validation rows; needed if `init_score` is given.

        Returns
        -------
        self : ProperBoostClassifier

        Raises
        ------
        ValueError, TypeError
            If a parameter or an argument is not as described; the message names it.
        MemoryError
            If the system has less memory left than the fit needs.

        Notes
        -----
        Whatever ends a fit early, an error, Ctrl-C or what a callback raises, leaves the estimator
        as it was before.  A callback that returns True ends it with the estimators so far.
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
                loss = check_warm_start(self, loss, begins_with_scores=init_score is not None)
            source, labels, weight = open_training(self, X, y, sample_weight, reset=not goes_on)
            data = LabelledRows(X, labels, weight, init_score, groups)
            holds_out = X_val is None and self.early_stopping not in (False, "auto")
            if holds_out:
                data, held_out = data.hold_out(source, self.validation_fraction, self.random_state)
                source = open_rows(self, data.X, reset=False)
            plan, training = self._plan(source, data, loss, goes_on=goes_on)
            validation = self._read_validation(held_out, training, plan, holds_out=holds_out)
            if calls is not None:
                calls.begin(X, y, {"sample_weight": sample_weight})
            run_plan(self, plan, training, validation, calls)
            if calls is not None:
                calls.end()
            return self

    def _plan(
        self, source: RowSource, data: LabelledRows, loss: MarginLoss, *, goes_on: bool
    ) -> tuple[FitPlan, TrainingRows]:
        """Return the plan of a fit, and the rows that it learns from as codes."""
        classes = self.classes_ if goes_on else None
        rows = data.read(source.n_rows, self.class_weight, self.normalize_weights, classes)
        order, bags = data.sort(rows, self.weak_learner, self.outer_bags, self.random_state)
        options = read_binning(self)
        binning, earlier = read_earlier_fit(self, source, options, rows) if goes_on else (None, [])
        training = source.encode(
            options, rows, order, wants_means=bool(self.linear_leaves), binning=binning
        )
        n_classes = len(training.classes)
        loss = find_loss(self, loss, training.class_weights, keeps_gain=goes_on)
        link = make_link(self, loss, n_classes, training.n_threads)
        base = data.read_init_score(source.n_rows, n_classes, order.order)
        plan = plan_fit(self, link, n_classes, bags=bags, base=base, earlier=earlier)
        return plan, training

    def _read_validation(
        self, held_out: LabelledRows, training: TrainingRows, plan: FitPlan, *, holds_out: bool
    ) -> Validation | None:
        """Return the rows that the fit is scored on, if there are any."""
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
                scoring=self.scoring,
            )
        except ValueError as error:
            if not holds_out:
                raise
            raise ValueError(  # a class whose rows that count are all held out
                f"early_stopping=True cannot score the rows it holds out: {error}. Give "
                "X_val and y_val"
            ) from error


def run_plan(
    model: ProperBoostClassifier,
    plan: FitPlan,
    rows: TrainingRows,
    validation: Validation | None = None,
    calls: Calls | None = None,
) -> None:
    """Fit a model as planned; `validation` rows are scored, and `calls` made, while it runs."""
    run = Run(plan, find_scaling(plan, rows), rows)
    watch = None
    if validation is not None or calls is not None:
        watch = _make_watch(model, run, validation, calls)
    stages = run.finish(watch, verbose=model.verbose)
    if watch is not None:
        watch.check_scores(model.scoring)
    ensemble = assemble(plan, run.scaling, stages, rows)
    warn_of_costly_certainty(plan, rows, ensemble, validation)
    FittedModel.of_plan(plan, rows, ensemble).move_to(model)
    for name in ("validation_scores_", "search_"):
        model.__dict__.pop(name, None)
    if watch is not None and validation is not None:
        scores = np.array(watch.scores)
        if run.scaling.finds_intercepts and ensemble.intercepts:
            of_stages = validation.rate_stages(ensemble)
            scores[: len(of_stages)] = of_stages
        model.validation_scores_ = scores


def _make_watch(
    model: ProperBoostClassifier, run: Run, validation: Validation | None, calls: Calls | None
) -> Watch:
    plan, scaling, rows = run.plan, run.scaling, run.rows

    def describe(fits: Any) -> dict[str, Any]:
        ensemble = assemble(plan, scaling, run.preview(fits), rows)
        return FittedModel.of_plan(plan, rows, ensemble).describe()

    if calls is not None:
        calls.describe_by(describe)
    stops = model.early_stopping and validation is not None
    return Watch(
        rows.binning,
        scaling.slopes_of_fits,
        validation=validation and validation.with_intercept(scaling.intercept, plan.options),
        patience=plan.patience if stops else None,
        restarts=model.step in SOLVED,
        call=None if calls is None else calls.see,
        check_size=lambda fits: check_size(plan, scaling, fits, has_pairs=run.has_pairs),
    )
