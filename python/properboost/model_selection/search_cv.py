"""The classifier that chooses its gain, and what goes with it, by cross-validation."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError

from properboost.batches.quantized_table import open_training
from properboost.data.labels import Rows, SortedRows, read_groups, read_rows
from properboost.engine.protocols import RowSource, TrainingRows
from properboost.estimators.boosted import BoostedClassifier, FittedModel
from properboost.estimators.editing import EditingMixin
from properboost.estimators.properboost import ProperBoostClassifier, run_plan
from properboost.estimators.properboost_parameters import make_link
from properboost.fitting.bag_assignment import deal_to_bags, design_for
from properboost.fitting.intercept import add_intercepts
from properboost.fitting.patience import Patience
from properboost.fitting.plan import BagPlan, plan_fit
from properboost.losses.builtin import MarginLoss
from properboost.model_selection.boosted_together import (
    boost_candidates,
    predict_held_out,
    split_pairs,
)
from properboost.model_selection.calibration import calibrate, make_scaled
from properboost.model_selection.compare_families import (
    PAIRS,
    Compared,
    add_pairs,
    compare,
    describe_families,
    tell_families,
)
from properboost.model_selection.compare_pairs import Winner, compare_pairs
from properboost.model_selection.cross_validation import (
    CVTask,
    MakePatience,
    check_found,
    cross_validate,
    describe_results,
    read_task,
)
from properboost.model_selection.cv_scores import CVScores, find_best_numbers, mean_scores
from properboost.model_selection.cv_splits import choose_folds, choose_split, tell_enough
from properboost.model_selection.deadline import Deadline
from properboost.model_selection.families import (
    GRID,
    NAMES,
    ROWS_PER_BIN,
    Plan,
    check_search,
    find_grid,
    is_auto,
    list_plans,
)
from properboost.model_selection.one_standard_error import regularize
from properboost.model_selection.race import Race
from properboost.model_selection.row_order import OrderEffect, hold_out_by_chance
from properboost.model_selection.search_record import record_search
from properboost.model_selection.search_space import (
    Candidate,
    SearchParameters,
    count_bags,
    list_interactions,
    wants_pairs,
    warn_of_free_gains,
)
from properboost.model_selection.split_rows import SplitRows, arrange, count_models
from properboost.model_selection.through_joblib import has_workers, score_outside
from properboost.notices import warn
from properboost.parameters import checks
from properboost.parameters.declare import declared, parameter, search
from properboost.parameters.kinds import CV, AutoCV, RowsPerBin, Scoring
from properboost.parameters.shared import (
    CONDITIONAL,
    SOLVED,
    BagTableParameters,
    BinningParameters,
    PairParameters,
    SizeParameters,
    VerboseParameters,
    read_binning,
)
from properboost.progress import Report, show_progress
from properboost.scoring import BUILT_IN, Score

__all__ = ["ProperBoostClassifierCV"]

FOLDS_FROM = 3
"""The effort from which "auto" has folds, not one split."""

SETTLED = ("weak_learner", "response", "selection", "n_draws", "outer_bags")
"""Parameters of a search that the candidates have settled, or leave at the classifier's default."""

MOST_ROUNDS, MOST_CYCLES = 1000, 200
"""Estimators at most where ``max_estimators`` is None."""


@search
class ProperBoostClassifierCV(
    SearchParameters,
    BagTableParameters,
    BinningParameters,
    SizeParameters[RowsPerBin],
    BoostedClassifier,
    EditingMixin,
    VerboseParameters,
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
        cv = self._choose_cv(rows, grouped=groups is not None)
        task = read_task(source.source, rows, cv=cv, scoring=self.scoring, groups=groups)
        told = {"rows_per_bin": ROWS_PER_BIN} if self.rows_per_bin == "auto" else {}
        plans = list_plans(self, rows.total, len(rows.classes), told)
        if plans[0].family is GRID:
            warn_of_free_gains(find_grid(self), plans[0].candidates[0].loss.gain)
        first_ones = [c.options for plan in plans for c in plan.candidates]
        wants_means = any(own.linear_leaves for own in first_ones)
        first = task.split_batches[0]
        order = rows.sort(first.part, first.roles.shape[1])
        binning = read_binning(find_grid(self))
        if plans[0].family is not GRID:
            binning = read_binning(self, ROWS_PER_BIN, ROWS_PER_BIN)
        training = source.encode(binning, rows, order, wants_means=wants_means)
        self.classes_ = rows.classes
        self.seed_ = training.seed

        split_rows = list(arrange(rows, task.split_batches, order, training))
        limit = Deadline.after(self.time_limit)
        race = self._make_race(plans, rows, limit)
        found = self._compare(plans, split_rows, task, race)
        winner = self._choose(found, plans, split_rows)
        interrupted = False
        if found.ended is None and self._cuts_blocks(groups) and not limit():
            try:
                self._look_at_order(found, winner, task, source)
            except KeyboardInterrupt:
                interrupted = True
        if found.ended is None and wants_pairs(self) and (interrupted or limit()):
            found.ended = "interrupted" if interrupted else "time_limit"
            self._cut_short(found.ended)
        base = self._find_base(found, plans, winner)
        if base is not None:
            winner = self._search_pairs(base, winner, task, race, limit)
        params, loss = self.best_params_, winner.candidate.loss
        record, own = _calibrate(winner, task) if self.calibrate else (None, {})
        self.calibration_: dict[str, Any] | None = record
        dealt = self._deal_to_bags(params, rows, read_groups(groups, source.n_rows))
        if dealt is not None and is_auto(self, "outer_bags"):
            own["outer_bags"] = len(dealt[1].segments)
        self.best_params_: dict[str, Any] = params | own
        best = _make_estimator(self, params | own)
        bags = None
        if dealt is not None and self.refit:
            training, bags = training.reorder(dealt[0]), dealt[1]
        del rows, task, order, split_rows, base, winner  # bytes that the refit does not need
        if self.refit:
            if wants_means and not best.linear_leaves:
                training = training.without_means()
            self._refit(best, loss, training, bags)

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

    def _choose_cv(self, rows: Rows, *, grouped: bool) -> CV:
        """Return how rows are split."""
        if not is_auto(self, "cv"):
            return self.cv
        cheap = (self.effort or FOLDS_FROM) < FOLDS_FROM and not self.one_standard_error
        return (choose_split if cheap else choose_folds)(rows, grouped=grouped)

    def _cuts_blocks(self, groups: Any) -> bool:
        """Whether families are compared on blocks of rows that nobody asked for."""
        return is_auto(self, "cv") and groups is None and (self.effort or 0) >= FOLDS_FROM

    def _look_at_order(
        self, found: Compared, winner: Winner, task: CVTask, source: RowSource
    ) -> None:
        """Warn if the chosen candidate would be much better on rows held out by chance."""
        mixed = hold_out_by_chance(winner.split_rows[0], source.source)
        if mixed is None:
            return
        blocks = -float(mean_scores(found.curves(winner.index)[1][None]).max())
        chosen = winner.candidate
        by_chance = self._boost([chosen], [mixed], task, "rows by chance").values[1, 0, 0]
        at = int(np.nanargmax(by_chance))
        if not OrderEffect.may_be_clear(blocks, -float(by_chance[at])):
            return
        (held_out,), (raw,) = predict_held_out(chosen, at + 1, [mixed])
        link = chosen.link(mixed.training.n_threads)
        effect = OrderEffect.of(blocks, held_out, link, raw)
        if effect.is_clear:
            warn(str(effect))

    def _deal_to_bags(
        self, chosen: dict[str, Any], rows: Rows, groups: NDArray[Any] | None
    ) -> tuple[SortedRows, BagPlan] | None:
        """Deal the rows to the bags of the model that was chosen, if it has any."""
        weak_learner = chosen.get("weak_learner", self.weak_learner)
        n_bags = count_bags(self, weak_learner)
        if not n_bags:
            return None
        try:
            bags = design_for(weak_learner, n_bags)
            return deal_to_bags(rows, bags, checks.seed(self.random_state), groups)
        except ValueError:
            if is_auto(self, "outer_bags"):
                return None
            raise

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

    def _make_race(
        self, plans: Sequence[Plan], rows: Rows, limit: Callable[[], bool]
    ) -> Race | None:
        """Return what drops candidates, or ends the comparison when the time is up, if any may."""
        if plans[0].family is not GRID and not self.one_standard_error:
            return Race(limit, in_parts=tell_enough(rows))
        return None if self.time_limit is None else Race(limit, drops=False)

    def _compare(
        self,
        plans: Sequence[Plan],
        split_rows: Sequence[SplitRows],
        task: CVTask,
        race: Race | None,
    ) -> Compared:
        """Return what is known of all candidates of all families."""

        def evaluate(candidates: Sequence[Candidate], family: str) -> CVScores:
            what = "searching" if plans[0].family is GRID else family
            return self._boost(candidates, split_rows, task, what, race)

        def rate(found: CVScores) -> NDArray[np.float64]:
            means = mean_scores(found.values[0])
            best: NDArray[np.float64] = means.max(axis=1)
            return best if self.n_estimators == "auto" else means[:, -1]

        return compare(plans, evaluate, rate, race, self.effort)

    def _boost(
        self,
        candidates: Sequence[Candidate],
        split_rows: Sequence[SplitRows],
        task: CVTask,
        what: str,
        race: Race | None = None,
    ) -> CVScores:
        """Return the scores and log losses of all candidates, splits and numbers of estimators."""
        caps = self._count_estimators()
        total = count_models(split_rows) * sum(caps[c.selection] for c in candidates)
        scores = (task.score, BUILT_IN["neg_log_loss"])
        stop = None
        if self.n_estimators == "auto":
            stop = partial(Patience, n_iter_no_change=self.n_iter_no_change, tol=self.tol)
        if has_workers() and split_rows[0].training.can_be_copied:
            alone = [
                replace(own, training=replace(own.training, n_threads=1)) for own in split_rows
            ]
            score = partial(_score, split_rows=alone, caps=caps, scores=scores, stop=stop)
            return score_outside(candidates, score, race)
        with show_progress(self.verbose, total, what, f"best {task.score_name}") as report:
            return _score(candidates, split_rows, caps, scores, stop=stop, report=report, race=race)

    def _forget(self) -> None:
        """Drop what an earlier fit left: without a refit its model must not be taken for ours."""
        for name in [name for name in self.__dict__ if name.endswith("_")]:
            delattr(self, name)
        for name in ("ensemble_", "seed_"):
            self.__dict__.pop(name, None)

    def _count_estimators(self) -> dict[str, int]:
        """Return how many estimators of each selection are tried at most."""
        most = {"greedy": MOST_ROUNDS, "unbiased": MOST_ROUNDS, "cyclic": MOST_CYCLES}
        given = self.max_estimators if self.n_estimators == "auto" else self.n_estimators
        return most if given is None else dict.fromkeys(most, int(given))

    def _choose(
        self, found: Compared, plans: Sequence[Plan], split_rows: Sequence[SplitRows]
    ) -> Winner:
        """Set what is known of every candidate, and return the one that is taken."""
        candidates, scores = found.candidates, found.scores
        curves = scores.values[0]
        self._validation_curves: NDArray[np.float64] | None = curves
        any_number = self.n_estimators == "auto"
        c, best_at = find_best_numbers(scores, any_number=any_number)
        tuned = [
            candidate.with_temperature(scores.temperatures[k, best_at[k]])
            for k, candidate in enumerate(candidates)
        ]
        own = curves[np.arange(len(curves)), :, best_at]
        compared = plans[0].family is not GRID
        self.cv_results_ = describe_results(
            [candidate.params for candidate in tuned],
            [_describe(candidate) for candidate in tuned],
            own,
            {"n_estimators": best_at + 1} | (found.columns if compared else {}),
        )
        at = int(best_at[c])
        check_found(mean_scores(curves)[c, at], self.scoring)
        self.family_results_: dict[str, NDArray[Any]] | None = None
        if compared:
            names = [plan.family.name for plan in plans]
            self.family_results_ = describe_families(names, found, own)
        self.ended_: str | None = found.ended
        if self.one_standard_error:
            c, at = regularize(candidates, NAMES, curves, best_at, c, any_number=any_number)
        winner = _pick(candidates, scores, c, at, split_rows)
        self._take(winner)
        self._warn_if_cut_short()
        self._warn_of_the_last_gain()
        return winner

    def _take(self, winner: Winner) -> None:
        """Set what is known of the candidate that is taken."""
        chosen = winner.candidate
        self.best_index_ = winner.index
        self.best_score_ = winner.score
        self.n_estimators_ = winner.n_estimators
        self.family_ = chosen.family
        self.best_params_ = {**chosen.params, "n_estimators": winner.n_estimators}
        self.gain_ = chosen.loss.gain
        self.alpha_ = chosen.loss.parameters.get("alpha")
        self.smoothing_ = chosen.params["smoothing"]
        self.prior_ = chosen.options.prior
        self.selection_ = chosen.selection

    def _cut_short(self, ended: str) -> None:
        """Set why the search ends before its end, and warn."""
        self.ended_ = ended
        self._warn_if_cut_short()

    def _warn_if_cut_short(self) -> None:
        """Warn of a search that was cut short."""
        if self.ended_ is not None:
            why = {
                "time_limit": f"the time_limit of {self.time_limit!r} seconds is over",
                "interrupted": "the search was interrupted",
            }[self.ended_]
            warn(
                f"{why}: the best of {len(self.cv_results_['params'])} candidates, not all, is "
                "taken"
            )

    def _warn_of_the_last_gain(self) -> None:
        """Warn of a chosen gain at an end of the user's list; "auto" ends where it should."""
        gains = np.unique(self.cv_results_["param_gain"].astype(np.float64))
        listed = not (self.gains is None or isinstance(self.gains, str))
        if not listed or len(gains) < 3 or self.gain_ not in gains[[0, -1]]:
            return
        end, other = ("smallest", "smaller") if self.gain_ == gains[0] else ("largest", "larger")
        warn(f"the chosen gain {self.gain_:g} is the {end} of gains: a {other} one may be better")

    def _find_base(self, found: Compared, plans: Sequence[Plan], winner: Winner) -> Winner | None:
        """Return what pairs are added to: the best additive candidate; None for no pairs.

        Where no families are compared it is the one that was taken.
        """
        if not wants_pairs(self) or found.ended is not None:
            return None
        if plans[0].family is GRID:
            return None if isinstance(self.interactions, str) else winner
        additive = {plan.family.name for plan in plans if plan.family.additive}
        candidates = found.candidates
        for k in np.argsort(-np.array(found.ratings), kind="stable").tolist():
            if candidates[k].family in additive and candidates[k].options.step not in SOLVED:
                at = int(self.cv_results_["n_estimators"][k]) - 1
                return _pick(candidates, found.scores, k, at, winner.split_rows)
        return None

    def _search_pairs(
        self, base: Winner, winner: Winner, task: CVTask, race: Race | None, limit: Deadline
    ) -> Winner:
        """Choose how many pairs a candidate gets, and their parameters; return the winner.

        Where families are compared, that is the winner so far unless pairs are better.
        """

        def evaluate(some: Sequence[Candidate], rows: Sequence[SplitRows], n: int) -> CVScores:
            return self._boost(some, rows, task, f"{n} pairs", race)

        begin = time.perf_counter()
        numbers, grid = list_interactions(self, len(task.rows.codes), self.n_features_in_)
        of_splits = split_pairs(base.candidate, base.n_estimators, base.split_rows, max(numbers))
        families = self.family_results_
        found = compare_pairs(
            base,
            of_splits,
            numbers if families is None else [0, *numbers],
            grid,
            evaluate,
            fixed_number=self.n_estimators != "auto",
            is_over=limit,
            race=race,
        )
        if limit():
            self._cut_short("time_limit")
        self.interaction_results_ = found.columns
        best = found.find_best()
        taken = found.tried[best]
        check_found(taken.score, self.scoring)
        if families is not None:
            of_families = np.column_stack(
                [
                    self.cv_results_[f"split{k}_test_score"][families["best_index"]]
                    for k in range(self.n_splits_)
                ]
            )
            self.family_results_ = add_pairs(
                families,
                of_families,
                taken.scores,
                mean_test_score=taken.score,
                candidates=len(found.tried) - 1,
                dropped=found.dropped,
                seconds=time.perf_counter() - begin,
            )
            if best == 0 or taken.score <= winner.score:
                return winner
            self._take(base)
            self.family_ = PAIRS
        self.best_score_ = taken.score
        self.best_params_ |= found.params[best]
        return taken

    def _refit(
        self,
        best: ProperBoostClassifier,
        loss: MarginLoss,
        training: TrainingRows,
        bags: BagPlan | None,
    ) -> None:
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
    def _is_compact(self) -> bool:
        edited = hasattr(self, "ensemble_") and super()._is_compact
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


def _score(
    candidates: Sequence[Candidate],
    split_rows: Sequence[SplitRows],
    caps: Mapping[str, int],
    scores: Sequence[Score],
    *,
    stop: MakePatience | None,
    race: Race | None,
    report: Report | None = None,
) -> CVScores:
    """Return the scores of boosted candidates on all splits, with so many estimators at most."""
    n_splits = sum(len(rows.splits) for rows in split_rows)
    batches = boost_candidates(candidates, split_rows, caps)
    return cross_validate(
        batches, len(candidates), n_splits, scores, stop=stop, report=report, race=race
    )


# -- what is found --------------------------------------------------------------------------------


def _pick(
    candidates: Sequence[Candidate],
    scores: CVScores,
    c: int,
    at: int,
    split_rows: Sequence[SplitRows],
) -> Winner:
    """Return a candidate, with as many estimators as the place `at` has, as what may be taken."""
    curves = scores.values[0, c : c + 1]
    own = candidates[c].with_temperature(scores.temperatures[c, at])
    score = float(mean_scores(curves)[0, at])
    return Winner(c, own, at + 1, split_rows, curves[0, :, at], score)


def _calibrate(winner: Winner, task: CVTask) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Fit a slope and intercepts to what the winner's models predict of rows held out.

    Returns what there is to say of it, and the parameters that the winner gets.
    """
    chosen, split_rows = winner.candidate, winner.split_rows
    rows, raws = predict_held_out(chosen, winner.n_estimators, split_rows)
    link = chosen.link(split_rows[0].training.n_threads)
    found = calibrate(link, rows, raws, task.rows.training_weight)
    kept = found is not None and found.helps
    if found is not None and kept and task.score is not BUILT_IN["neg_log_loss"]:
        # What helps probabilities must not cost what was asked for.
        scaled, shifted = make_scaled(link), raws
        if chosen.options.response == CONDITIONAL:
            shifted = [
                add_intercepts(link, raw, own.codes, own.weight)
                for own, raw in zip(rows, raws, strict=True)
            ]
        before, after = (
            np.mean([task.score(own, by, raw) for own, raw in zip(rows, some, strict=True)])
            for by, some in ((link, shifted), (scaled, [found.apply(raw) for raw in raws]))
        )
        kept = bool(after >= before)
    if found is None:
        return None, {}
    slope, intercepts = found.slope, list(found.intercepts)
    own: dict[str, Any] = {"slope": slope, "intercept": intercepts}
    if chosen.coupling is None:
        own["intercept"] = intercepts[0]
    elif chosen.coupling == "one_vs_rest":  # the slope is 1 / T, and the link divides b, too
        own = {"temperature": float(f"{1.0 / slope:.6g}")}
        own["intercept"] = [b / slope for b in intercepts]
    record = {**own, "gain": found.gain, "error": found.error, "kept": kept}
    return record, own if kept else {}


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


def _describe(candidate: Candidate) -> dict[str, Any]:
    """Return what the results have of a candidate, each in a column of its own."""
    columns = {**candidate.params, "loss": candidate.loss.name}
    del columns["intercept"], columns["slope"]  # nobody has them yet
    alpha = candidate.loss.parameters.get("alpha")
    return columns if alpha is None else {**columns, "alpha": alpha}
