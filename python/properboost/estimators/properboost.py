"""The classifier: scikit-learn's interface to the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.batches.quantized_table import QuantizedTable, open_labelled, open_training
from properboost.boosting.bag_tables import BagTables, collapse
from properboost.boosting.certainty import reaches_certainty, warn_of_certainty
from properboost.boosting.dealing import deal_to_bags, design_for
from properboost.boosting.engine import (
    Training,
    cut_features,
    find_pairs,
    lay_grids,
    prepare,
    spread,
)
from properboost.boosting.enough_rounds import limit_estimators
from properboost.boosting.ensemble import LARGEST_RAW, Ensemble, Fits, Rounds
from properboost.boosting.evidence import find_slopes
from properboost.boosting.fit import Stage, boost, report_from
from properboost.boosting.interactions import PairBins
from properboost.boosting.intercept import find_intercepts, is_known, needs_intercept
from properboost.boosting.making import make_ensemble
from properboost.boosting.merged_bins import merge_bins
from properboost.boosting.options import find_coupling, for_pairs
from properboost.boosting.patience import Patience
from properboost.boosting.table_ensemble import TableEnsemble
from properboost.boosting.watch import Validation, Watch, read_validation
from properboost.data.frames import open_table, take_rows
from properboost.data.init_score import read_init_score
from properboost.data.labels import read_groups, read_labels, read_rows
from properboost.estimators.boosted import BoostedClassifier
from properboost.estimators.callbacks import CallbackSupportMixin, Calls, with_callbacks
from properboost.estimators.early_stopping import hold_out, take_entries
from properboost.estimators.editing import EditingMixin
from properboost.estimators.going_on import check_going_on
from properboost.estimators.properboost_parameters import (
    check_intercept,
    check_parameters,
    read_intercept,
    read_pairs,
)
from properboost.losses.builtin import MarginLoss
from properboost.losses.probabilities import Link
from properboost.losses.registry import get_loss
from properboost.parameters import checks
from properboost.parameters.declare import estimator, parameter, read
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
    CONDITIONAL,
    GROWN,
    LARGEST_INT,
    SOLVED,
    BagParameters,
    BinningParameters,
    BoostingOptions,
    BoostingParameters,
    CouplingParameters,
    DrawParameters,
    EarlyStoppingParameters,
    PairParameters,
    RegularizerParameters,
    SizeParameters,
    VerboseParameters,
    WarmStartParameters,
    gain_of,
    rate_of,
    read_binning,
    rows_known_of,
    selection_of,
)
from properboost.progress import show_progress

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
        X_val, y_val, sample_weight_val = open_labelled(
            X_val, y_val, sample_weight_val, ("y_val", "sample_weight_val")
        )
        checks.companion("y_val", y_val, X_val=X_val)
        checks.companion("X_val", X_val, y_val=y_val, sample_weight_val=sample_weight_val)
        checks.companion("X_val", X_val, init_score_val=init_score_val)
        checks.companion("init_score", init_score, init_score_val=init_score_val)
        of_pairs = self._find_pair_estimators()
        calls = Calls.open(self, self._count_most(self.n_estimators) + self._count_most(of_pairs))
        with self._restored_on_failure():
            if goes_on:
                loss = check_going_on(self, loss, begins_with_scores=init_score is not None)
            table, y, sample_weight = open_training(self, X, y, sample_weight, reset=not goes_on)
            holds_out = self.early_stopping and self.early_stopping != "auto" and X_val is None
            if holds_out:
                if isinstance(X, QuantizedTable):
                    raise ValueError(
                        "early_stopping=True cannot hold out rows of a QuantizedTable, whose bins "
                        "know them: give X_val and y_val"
                    )
                y = read_labels(y, table.n_rows)
                learns, held = hold_out(y, groups, self.validation_fraction, self.random_state)
                given = (y, sample_weight, init_score, groups)
                X_val = take_rows(table.source, held)
                y_val, sample_weight_val, init_score_val, _ = (take_entries(v, held) for v in given)
                table = open_table(self, take_rows(table.source, learns), reset=False)
                y, sample_weight, init_score, groups = (take_entries(v, learns) for v in given)
            rows = read_rows(
                y, table.n_rows, sample_weight, self.class_weight, self.normalize_weights
            )
            if goes_on and rows.classes.tolist() != self.classes_.tolist():
                raise ValueError(
                    f"y must hold the classes {self.classes_.tolist()} of the model that "
                    f"warm_start goes on from; got {rows.classes.tolist()}"
                )
            rows = spread(rows, table, [read(BoostingOptions, self)])
            group_of = read_groups(groups, table.n_rows)
            kept = None
            if self.outer_bags:
                seed = checks.seed(self.random_state)
                bags = design_for(self.weak_learner, int(self.outer_bags))
                order, kept = deal_to_bags(rows, bags, seed, group_of)
            else:
                order = rows.sort()
            binning, earlier = None, []
            if goes_on:
                binning = self._ensemble.binning
                earlier = [own.without_slope() for own in self._ensemble.models]
                if self.warm_start_bins == "new":
                    found = cut_features(read_binning(self), table, rows)
                    binning, earlier = merge_bins(binning, earlier, found.features)
            training = prepare(
                read_binning(self),
                table,
                rows,
                order,
                wants_means=bool(self.linear_leaves),
                wants_numbers=self.subsample < 1.0,
                binning=binning,
            )
            n_models = 1 if len(rows.classes) == 2 else len(rows.classes)
            base = None
            if init_score is not None:
                base = read_init_score(init_score, table.n_rows, n_models)[order.order]
                if X_val is not None and init_score_val is None:
                    raise ValueError("init_score_val must be given with init_score and X_val")
            del rows, order  # bytes that boosting does not need
            if self.gain is None and isinstance(self.loss, str):
                gain = loss.gain
                if not goes_on:
                    gain = gain_of(self.weak_learner, training.class_weights, loss.gain_unit)
                loss = get_loss(self.loss, gain).known_by(rows_known_of(training.class_weights))
            link = self._make_link(loss, training)
            validation = None
            if X_val is not None:
                try:
                    validation = read_validation(
                        self, X_val, y_val, sample_weight_val, init_score_val,
                        training=training, link=link, scoring=self.scoring,
                    )  # fmt: skip
                except ValueError as error:
                    if not holds_out:
                        raise
                    raise ValueError(  # a class whose rows that count are all held out
                        f"early_stopping=True cannot score the rows it holds out: {error}. Give "
                        "X_val and y_val"
                    ) from error
            if calls is not None:
                if isinstance(X, QuantizedTable):  # has its own
                    y = sample_weight = None
                calls.begin(X, y, {"sample_weight": sample_weight})
            self._boost(
                loss, training, kept, base=base, validation=validation, earlier=earlier, calls=calls
            )
            if calls is not None:
                calls.end()
            return self

    def _make_link(self, loss: MarginLoss, training: Training) -> Link:
        """Return what makes probabilities of raw predictions."""
        if len(training.classes) == 2:
            return Link(loss, None, training.n_threads)
        coupling = find_coupling(self.multiclass, loss, self.step, self.response)
        temperature = None
        if coupling == "one_vs_rest" and self.temperature is not None:
            temperature = checks.positive("temperature", self.temperature)
        return Link(loss, coupling, training.n_threads, temperature)

    def _draws_differ(self) -> bool:
        return self.weak_learner in GROWN and (self.max_features < 1.0 or self.subsample < 1.0)

    def _boost(
        self,
        loss: MarginLoss,
        training: Training,
        kept: NDArray[np.bool_] | None = None,
        *,
        base: NDArray[np.float64] | None = None,
        validation: Validation | None = None,
        earlier: Sequence[Rounds] = (),
        calls: Calls | None = None,
    ) -> Self:
        """Boost a model of two classes, or one a class; then pairs, if asked.

        With bags, from the segments that ``kept[bag]`` says.  `base` is what raw predictions begin
        with, a column per model; `earlier` rounds of each model come first.
        """
        link = self._make_link(loss, training)
        n_models = 1 if link.multiclass is None else len(training.classes)
        options = read(BoostingOptions, self)
        options = options.replace(selection=selection_of(options.weak_learner, options.selection))
        n_draws = int(self.n_draws) if self._draws_differ() else 1
        n_fits = n_draws if kept is None else len(kept)
        finish = _Finish(self, loss, link, training, options, kept, n_fits, base)
        watch = None
        if validation is not None or calls is not None:
            stops = self.early_stopping and validation is not None
            watch = Watch(
                training.binning,
                finish.slopes_of,
                validation=validation and finish.with_intercept(validation),
                patience=partial(Patience, n_iter_no_change=self.n_iter_no_change, tol=self.tol)
                if stops
                else None,
                restarts=self.step in SOLVED,
                call=None if calls is None else calls.see,
                check_size=finish.check_size,
            )
        if calls is not None:
            calls.describe_by(finish.describe)
        steps = n_fits * n_models * self._count_most(self.n_estimators)
        of_pairs = self._find_pair_estimators()
        later_steps = n_fits * n_models * self._count_most(of_pairs)
        from_base = None
        if base is not None:
            from_base = np.broadcast_to(base.T, (n_fits, *base.T.shape))
        with show_progress(self.verbose, steps + later_steps) as report:
            stage = boost(
                options, link, training, self.n_estimators, base=from_base, n_draws=n_draws,
                kept=kept, keep_raw=self._wants_pairs(),
                wants_raw=isinstance(finish.intercept, str), earlier=earlier, observer=watch,
                report=report,
            )  # fmt: skip
            finish.stages.append(stage)
            if self._wants_pairs():
                finish.pairs = self._choose_pairs(link, training, stage, kept)
            if finish.pairs:
                finish.of_pairs = training.of_pairs(finish.pairs)
                if watch is not None:
                    watch.begin_stage(finish.pairs)
                later = boost(
                    for_pairs(options, self.interaction_rate, self.interaction_smoothing),
                    link,
                    finish.of_pairs,
                    of_pairs,
                    base=stage.raw,
                    kept=kept,
                    observer=watch,
                    report=report and report_from(report, steps),
                )
                finish.stages.append(later)
        if watch is not None:
            watch.check_scores(self.scoring)
        ensemble = finish.ensemble()
        for name in ("validation_scores_", "search_"):
            self.__dict__.pop(name, None)
        if watch is not None and validation is not None:
            scores = np.array(watch.scores)
            if isinstance(finish.intercept, str) and ensemble.intercepts:
                own = validation.rate_stages(ensemble)
                scores[: len(own)] = own
            self.validation_scores_ = scores
        if reaches_certainty(loss):
            finish.warn_of_certainty(ensemble, validation)
        self.__dict__.pop("_begins_with_scores", None)
        if base is not None:
            self._begins_with_scores = True
        return self._set_fitted(
            loss, training.classes, ensemble, training.seed, link.multiclass, link.temperature
        )

    def _wants_pairs(self) -> bool:
        given = self.interactions
        return bool(given > 0 if isinstance(given, int | np.integer) else len(given) > 0)

    def _find_pair_estimators(self) -> int | None:
        """Return the estimators that pairs get, as `n_estimators` has them; 0 without pairs."""
        if not self._wants_pairs():
            return 0
        given = self.interaction_estimators
        return self.n_estimators if given is None else given

    def _count_most(self, n_estimators: int | None) -> int:
        return limit_estimators(read(BoostingOptions, self), n_estimators)[1]

    def _choose_pairs(
        self, link: Link, training: Training, stage: Stage, kept: NDArray[np.bool_] | None
    ) -> tuple[PairBins, ...]:
        """Return the pairs that were asked for, or so many of the strongest."""
        given = self.interactions
        if isinstance(given, int | np.integer):
            raw = np.sum(np.asarray(stage.raw), axis=0)
            if kept is not None:  # the mean over the bags that a row is in
                raw /= np.repeat(kept.sum(axis=0), np.diff(training.segments))
            chosen = find_pairs(link, training, raw, stage.bin_weights, int(given))
        else:
            chosen = read_pairs(given, len(training.binning.features), training.names)
        return lay_grids(training, stage.bin_weights, chosen)


class _Finish:
    """What makes an ensemble of the rounds that boosting found: slopes, pairs, intercepts, bags."""

    def __init__(
        self,
        model: ProperBoostClassifier,
        loss: MarginLoss,
        link: Link,
        training: Training,
        options: BoostingOptions,
        kept: NDArray[np.bool_] | None,
        n_fits: int,
        base: NDArray[np.float64] | None,
    ) -> None:
        self._model, self._loss, self._link, self._training = model, loss, link, training
        self._options, self._kept, self._n_fits, self._base = options, kept, n_fits, base
        self._n_models = 1 if link.multiclass is None else len(training.classes)
        self.stages: list[Stage] = []
        self.pairs: tuple[PairBins, ...] = ()
        self.of_pairs: Training | None = None
        slopes = self._find_slopes(training)
        doubts = model.slope == "auto" and min(slopes) < 1.0
        self.slopes_of = [slopes] * n_fits
        if doubts and kept is not None:  # that a bag doubts more or less belongs to the spread
            share = design_for(model.weak_learner, n_fits).share
            self.slopes_of = [self._find_slopes(training.of_segments(own), share) for own in kept]
            slopes = tuple(np.mean(self.slopes_of, axis=0).tolist())
        self._slopes = slopes
        self.intercept = read_intercept(model.intercept, self._n_models)
        if self.intercept == "auto":
            if doubts or model.response == CONDITIONAL:
                self.intercept = "share"
            elif model.step in SOLVED or not needs_intercept(loss):
                self.intercept = None

    def _find_slopes(self, training: Training, share: float = 1.0) -> tuple[float, ...]:
        """Return what the steps of each model are multiplied by; the rows are a share of all."""
        model, link = self._model, self._link
        if not isinstance(model.slope, str):
            return (float(model.slope),) * self._n_models
        if model.step in SOLVED or self._base is not None:
            return (1.0,) * self._n_models
        pairs = model._wants_pairs() or model.weak_learner in GROWN
        return find_slopes(training, joint=bool(link.joint_loss), pairs=pairs, share=share)

    def with_intercept(self, validation: Validation) -> Validation:
        """Return validation rows that begin with an intercept, if that is known."""
        if self.intercept == "share" and self._model.response == CONDITIONAL:
            return replace(validation, finds_intercepts=True)
        if not isinstance(self.intercept, tuple):
            return validation
        return replace(validation, base=validation.base + np.array(self.intercept))

    def describe(self, fits: Fits) -> dict[str, Any]:
        """Return the attributes of a model of the stages so far and these rounds."""
        everything = np.ones(len(self._training.class_of), dtype=bool)
        of_stage = self.of_pairs if self.stages and self.of_pairs else self._training
        unfinished = Stage([list(fit) for fit in fits], None, of_stage.weigh_segments(everything))
        return {
            "loss_": self._loss,
            "classes_": self._training.classes,
            "multiclass_": self._link.multiclass,
            "temperature_": self._link.temperature,
            "_ensemble": self._assemble([*self.stages, unfinished]),
            "_seed": self._training.seed,
            "_begins_with_scores": self._base is not None,
        }

    def ensemble(self) -> Ensemble:
        """Return the ensemble of all stages."""
        return self._assemble(self.stages)

    def _assemble(self, found: Sequence[Stage]) -> Ensemble:
        model, training, kept, n_fits = self._model, self._training, self._kept, self._n_fits
        cyclic = self._options.selection == "cyclic"
        n_features = len(training.binning.features)
        stages = [stage.times(self.slopes_of) for stage in found]
        for stage in stages:
            self.check_size(stage.fits)
        fits, models = stages[0].fits, stages[0].average(n_features if cyclic else 1)
        for later in stages[1:]:
            fits = [_join(*both, n_features) for both in zip(fits, later.fits, strict=True)]
            models = _join(models, later.average(len(self.pairs) if cyclic else 1), n_features)
        self.check_size([models] if n_fits == 1 else [models, *fits])
        two = len(stages) > 1
        ensemble = make_ensemble(
            training.binning, tuple(models), stages[0].bin_weights, self._options.selection,
            self.pairs if two else (), stages[1].bin_weights if two else (),
            joint=bool(self._link.joint_loss), slopes=self._slopes,
        )  # fmt: skip
        bags: list[TableEnsemble] = []
        if kept is not None and isinstance(ensemble, TableEnsemble):
            bags = collapse(ensemble, fits)
        ensemble, bags = self._add_intercepts(ensemble, bags, self.of_pairs if two else None)
        if bags and isinstance(ensemble, TableEnsemble):
            tables = BagTables(len(bags), tuple(bags))
            spread = tables if model.bag_tables else tables.summarize(ensemble)
            ensemble = replace(ensemble, spread=spread)
        return ensemble

    def check_size(self, fits: Fits) -> None:
        """Refuse rounds whose sums could overflow."""
        model, intercept = self._model, self.intercept
        added = max(map(abs, intercept)) if isinstance(intercept, tuple) else 0.0
        if max(rounds.bound() for fit in fits for rounds in fit) + added <= LARGEST_RAW:
            return
        rate = rate_of(self._options, self._loss.rate_factor)
        what, smaller = f"gain={self._loss.gain!r} and learning_rate={rate!r}", "learning_rate"
        if self.of_pairs is not None:
            what += f" and interaction_rate={model.interaction_rate!r}"
            smaller = "learning_rate or the interaction_rate"
        if max(self._slopes) > 1.0 or added > 0.0:
            what = f"slope={model.slope!r} and intercept={model.intercept!r}"
            smaller = "slope or the intercept"
        raise ValueError(
            f"{what} make raw predictions beyond {LARGEST_RAW:g}: make the {smaller} smaller"
        )

    def _add_intercepts(
        self, ensemble: Ensemble, bags: list[TableEnsemble], of_pairs: Training | None
    ) -> tuple[Ensemble, list[TableEnsemble]]:
        """Return the ensemble and its bags with their intercepts, given or found."""
        intercept, training, link = self.intercept, self._training, self._link
        if intercept is None:
            return ensemble, bags
        if isinstance(intercept, tuple):
            return replace(ensemble, intercepts=intercept), [
                replace(bag, intercepts=intercept) for bag in bags
            ]
        raw = self._add_up(ensemble, training, of_pairs)
        if intercept != "share" and not is_known(self._loss, raw, training.weight):
            return ensemble, bags
        ensemble = replace(ensemble, intercepts=_find_shares(link, raw, training))
        found = []
        for bag, some in zip(bags, [] if self._kept is None else self._kept, strict=False):
            own = training.of_segments(some)
            raw = self._add_up(bag, own, of_pairs and of_pairs.of_segments(some), some)
            found.append(replace(bag, intercepts=_find_shares(link, raw, own)))
        return ensemble, found

    def warn_of_certainty(self, ensemble: Ensemble, validation: Validation | None) -> None:
        """Warn if probabilities of exactly 0 and 1 cost more than the model is worth."""
        training, link = self._training, self._link
        shares = training.class_weights / training.class_weights.sum()
        raw = self._add_up(ensemble, training, self.of_pairs)
        own: NDArray[np.integer[Any]] = np.repeat(training.class_of, np.diff(training.segments))
        rows = [(raw, own, training.weight, "training")]
        if validation is not None:
            held = validation.rows
            rows.append((validation.add_up(ensemble), held.codes, held.weight, "validation"))
        for raw, codes, weight, what in rows:
            raw = raw[:, 0] if raw.shape[1] == 1 else raw
            if warn_of_certainty(link, raw, codes, weight, shares, what):
                return

    def _add_up(
        self,
        ensemble: Ensemble,
        training: Training,
        of_pairs: Training | None,
        segments: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float64]:
        """Return the raw predictions of training rows, of some segments if there are such."""
        raw = training.add_up(ensemble, of_pairs)
        if self._base is None:
            return raw
        base = self._base
        if segments is not None:
            base = base[np.repeat(segments, np.diff(self._training.segments))]
        return raw + base


def _join(first: Sequence[Rounds], second: Sequence[Rounds], n_features: int) -> list[Rounds]:
    """Return the models of features with those of pairs."""
    return [Rounds.join(a, b, n_features) for a, b in zip(first, second, strict=True)]


def _find_shares(link: Link, raw: NDArray[np.float64], training: Training) -> tuple[float, ...]:
    """Return the intercepts by which the mean probabilities of these rows are their shares."""
    own = np.repeat(training.class_of, np.diff(training.segments))
    return find_intercepts(link, raw, own, training.weight)
