"""A search while it runs: families are compared, then pairs, and the winner is calibrated."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.data.labels import Rows, SortedRows, read_groups
from properboost.engine.protocols import RowSource, TrainingRows
from properboost.fitting.bag_assignment import deal_to_bags, design_for
from properboost.fitting.intercept import add_intercepts
from properboost.fitting.patience import make_patience
from properboost.fitting.plan import BagPlan
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
    find_grid,
    is_auto,
    list_plans,
)
from properboost.model_selection.one_standard_error import regularize
from properboost.model_selection.race import Race
from properboost.model_selection.row_order import OrderEffect, hold_out_by_chance
from properboost.model_selection.search_space import (
    Candidate,
    count_bags,
    list_interactions,
    wants_pairs,
    warn_of_free_gains,
)
from properboost.model_selection.split_rows import SplitRows, arrange, count_models
from properboost.model_selection.through_joblib import has_workers, score_outside
from properboost.notices import warn
from properboost.parameters import checks
from properboost.parameters.kinds import CV
from properboost.parameters.shared import CONDITIONAL, SOLVED, read_binning
from properboost.progress import Report, show_progress
from properboost.scoring import BUILT_IN, Score

__all__ = ["SearchResults", "SearchRun", "WithSearchResults"]

FOLDS_FROM = 3
"""The effort from which "auto" has folds, not one split."""

MOST_ROUNDS, MOST_CYCLES = 1000, 200
"""Estimators at most where ``max_estimators`` is None."""


@dataclass(eq=False)
class SearchResults:
    """The results of a search, which become attributes of the estimator."""

    cv_results: dict[str, Any]
    validation_curves: NDArray[np.float64]
    family_results: dict[str, NDArray[Any]] | None = None
    interaction_results: dict[str, NDArray[Any]] | None = None
    calibration: dict[str, Any] | None = None
    ended: str | None = None
    """Why the search ended before its end."""
    of_winner: dict[str, Any] = field(default_factory=dict)
    best_params: dict[str, Any] = field(default_factory=dict)

    @property
    def n_splits(self) -> int:
        """How many splits of the rows the candidates were compared on."""
        return sum(name.startswith("split") for name in self.cv_results if "test_score" in name)

    def take(self, winner: Winner) -> None:
        """Describe the candidate that is taken."""
        chosen = winner.candidate
        self.best_params = {**chosen.params, "n_estimators": winner.n_estimators}
        self.of_winner = {
            "best_index_": winner.index,
            "best_score_": winner.score,
            "n_estimators_": winner.n_estimators,
            "family_": chosen.family,
            "gain_": chosen.loss.gain,
            "alpha_": chosen.loss.parameters.get("alpha"),
            "smoothing_": chosen.params["smoothing"],
            "prior_": chosen.options.prior,
            "selection_": chosen.selection,
        }

    def describe(self) -> dict[str, Any]:
        """Return the attributes of an estimator with these results."""
        attributes = {
            **self.of_winner,
            "cv_results_": self.cv_results,
            "family_results_": self.family_results,
            "ended_": self.ended,
            "calibration_": self.calibration,
            "best_params_": self.best_params,
            "_validation_curves": self.validation_curves,
        }
        if self.interaction_results is not None:
            attributes["interaction_results_"] = self.interaction_results
        return attributes


class WithSearchResults:
    """The attributes that `SearchResults` describes."""

    best_index_: int
    best_params_: dict[str, Any]
    best_score_: float
    calibration_: dict[str, Any] | None
    cv_results_: dict[str, Any]
    ended_: str | None
    family_: str | None
    gain_: float
    family_results_: dict[str, NDArray[Any]] | None
    interaction_results_: dict[str, NDArray[Any]]
    _validation_curves: NDArray[np.float64] | None


class SearchRun:
    """A search over rows: `search` has the parameters of a `ProperBoostClassifierCV`."""

    def __init__(
        self, search: Any, source: RowSource, rows: Rows, groups: ArrayLike | None
    ) -> None:
        self._search, self._source, self._rows = search, source, rows
        self._groups = read_groups(groups, source.n_rows)
        self._cuts_blocks = (
            is_auto(search, "cv") and groups is None and (search.effort or 0) >= FOLDS_FROM
        )
        cv = self._choose_cv(grouped=groups is not None)
        self._task = read_task(source.source, rows, cv=cv, scoring=search.scoring, groups=groups)
        bins = {"rows_per_bin": ROWS_PER_BIN} if is_auto(search, "rows_per_bin") else {}
        self._plans = list_plans(search, rows.total, len(rows.classes), bins)
        self._by_family = self._plans[0].family is not GRID
        if not self._by_family:
            warn_of_free_gains(find_grid(search), self._plans[0].candidates[0].loss.gain)
        self._wants_means = any(
            c.options.linear_leaves for plan in self._plans for c in plan.candidates
        )
        self.training, self._split_rows = self._encode()
        self._limit = Deadline.after(search.time_limit)
        self._race = self._make_race()

    def choose(self) -> tuple[Winner, SearchResults]:
        """Compare candidates, then pairs; return the winner, and the results."""
        search = self._search
        compared = self._compare()
        winner, results = self._choose(compared)
        interrupted = False
        if results.ended is None and self._cuts_blocks and not self._limit():
            try:
                self._look_at_order(compared, winner)
            except KeyboardInterrupt:
                interrupted = True
        if results.ended is None and wants_pairs(search) and (interrupted or self._limit()):
            results.ended = "interrupted" if interrupted else "time_limit"
            self._warn_if_cut_short(results)
        base = None
        if results.ended is None and wants_pairs(search):
            base = self._find_base(compared, results, winner)
        if base is not None:
            winner = self._search_pairs(base, winner, results)
        if search.calibrate:
            results.calibration, corrections = _calibrate(winner, self._task)
            results.best_params |= corrections
        return winner, results

    def deal_to_bags(self, results: SearchResults) -> tuple[SortedRows, BagPlan] | None:
        """Deal the rows to the bags of the model that was chosen, if it has any."""
        search = self._search
        weak_learner = results.best_params.get("weak_learner", search.weak_learner)
        n_bags = count_bags(search, weak_learner)
        if not n_bags:
            return None
        try:
            design = design_for(weak_learner, n_bags)
            seed = checks.seed(search.random_state)
            order, bags = deal_to_bags(self._rows, design, seed, self._groups)
        except ValueError:
            if is_auto(search, "outer_bags"):
                return None
            raise
        if is_auto(search, "outer_bags"):
            results.best_params["outer_bags"] = len(bags.segments)
        return order, bags

    # -- setting up --------------------------------------------------------------------------------

    def _choose_cv(self, *, grouped: bool) -> CV:
        """Return how rows are split."""
        search = self._search
        if not is_auto(search, "cv"):
            chosen: CV = search.cv
            return chosen
        cheap = (search.effort or FOLDS_FROM) < FOLDS_FROM and not search.one_standard_error
        return (choose_split if cheap else choose_folds)(self._rows, grouped=grouped)

    def _encode(self) -> tuple[TrainingRows, list[SplitRows]]:
        """Return the rows as codes, and in the orders that splits need."""
        first = self._task.split_batches[0]
        order = self._rows.sort(first.part, first.roles.shape[1])
        options = read_binning(find_grid(self._search))
        if self._by_family:
            options = read_binning(self._search, ROWS_PER_BIN, ROWS_PER_BIN)
        training = self._source.encode(options, self._rows, order, wants_means=self._wants_means)
        return training, list(arrange(self._rows, self._task.split_batches, order, training))

    def _make_race(self) -> Race | None:
        """Return what drops candidates, or ends the comparison when the time is up, if any may."""
        if self._by_family and not self._search.one_standard_error:
            return Race(self._limit, in_parts=tell_enough(self._rows))
        return None if self._search.time_limit is None else Race(self._limit, drops=False)

    # -- comparing ---------------------------------------------------------------------------------

    def _compare(self) -> Compared:
        """Return what is known of all candidates of all families."""
        any_number = self._search.n_estimators == "auto"

        def evaluate(candidates: Sequence[Candidate], family: str) -> CVScores:
            what = family if self._by_family else "searching"
            return self._boost(candidates, self._split_rows, what)

        def rate(scores: CVScores) -> NDArray[np.float64]:
            means = mean_scores(scores.values[0])
            best: NDArray[np.float64] = means.max(axis=1)
            return best if any_number else means[:, -1]

        return compare(self._plans, evaluate, rate, self._race, self._search.effort)

    def _boost(
        self, candidates: Sequence[Candidate], split_rows: Sequence[SplitRows], what: str
    ) -> CVScores:
        """Return the scores and log losses of all candidates, splits and numbers of estimators."""
        search, task = self._search, self._task
        caps = self._count_estimators()
        total = count_models(split_rows) * sum(caps[c.selection] for c in candidates)
        scores = (task.score, BUILT_IN["neg_log_loss"])
        stop = None
        if search.n_estimators == "auto":
            stop = make_patience(search)
        if has_workers() and split_rows[0].training.can_be_copied:
            alone = [
                replace(rows, training=replace(rows.training, n_threads=1)) for rows in split_rows
            ]
            score = partial(_score, split_rows=alone, caps=caps, scores=scores, stop=stop)
            return score_outside(candidates, score, self._race)
        with show_progress(search.verbose, total, what, f"best {task.score_name}") as report:
            return _score(
                candidates, split_rows, caps, scores, stop=stop, report=report, race=self._race
            )

    def _count_estimators(self) -> dict[str, int]:
        """Return how many estimators of each selection are tried at most."""
        most = {"greedy": MOST_ROUNDS, "unbiased": MOST_ROUNDS, "cyclic": MOST_CYCLES}
        search = self._search
        limit = search.max_estimators if search.n_estimators == "auto" else search.n_estimators
        return most if limit is None else dict.fromkeys(most, int(limit))

    def _choose(self, compared: Compared) -> tuple[Winner, SearchResults]:
        """Return the candidate that is taken, and the results of all."""
        search, candidates, scores = self._search, compared.candidates, compared.scores
        curves = scores.values[0]
        any_number = search.n_estimators == "auto"
        c, best_at = find_best_numbers(scores, any_number=any_number)
        tuned = [
            candidate.with_temperature(scores.temperatures[k, best_at[k]])
            for k, candidate in enumerate(candidates)
        ]
        at_best = curves[np.arange(len(curves)), :, best_at]
        columns = {"n_estimators": best_at + 1} | (compared.columns if self._by_family else {})
        results = SearchResults(
            describe_results(
                [candidate.params for candidate in tuned], list(map(_describe, tuned)), at_best,
                columns,
            ),
            curves,
            ended=compared.ended,
        )  # fmt: skip
        at = int(best_at[c])
        check_found(mean_scores(curves)[c, at], search.scoring)
        if self._by_family:
            names = [plan.family.name for plan in self._plans]
            results.family_results = describe_families(names, compared, at_best)
        if search.one_standard_error:
            c, at = regularize(candidates, NAMES, curves, best_at, c, any_number=any_number)
        winner = _pick(candidates, scores, c, at, self._split_rows)
        results.take(winner)
        self._warn_if_cut_short(results)
        self._warn_of_the_last_gain(results)
        return winner, results

    def _look_at_order(self, compared: Compared, winner: Winner) -> None:
        """Warn if the chosen candidate would be much better on rows held out by chance."""
        mixed = hold_out_by_chance(winner.split_rows[0], self._source.source)
        if mixed is None:
            return
        blocks = -float(mean_scores(compared.curves(winner.index)[1][None]).max())
        chosen = winner.candidate
        by_chance = self._boost([chosen], [mixed], "rows by chance").values[1, 0, 0]
        at = int(np.nanargmax(by_chance))
        if not OrderEffect.may_be_clear(blocks, -float(by_chance[at])):
            return
        (held_out,), (raw,) = predict_held_out(chosen, at + 1, [mixed])
        link = chosen.link(mixed.training.n_threads)
        effect = OrderEffect.of(blocks, held_out, link, raw)
        if effect.is_clear:
            warn(str(effect))

    def _warn_if_cut_short(self, results: SearchResults) -> None:
        """Warn of a search that was cut short."""
        if results.ended is not None:
            why = {
                "time_limit": f"the time_limit of {self._search.time_limit!r} seconds is over",
                "interrupted": "the search was interrupted",
            }[results.ended]
            warn(
                f"{why}: the best of {len(results.cv_results['params'])} candidates, not all, is "
                "taken"
            )

    def _warn_of_the_last_gain(self, results: SearchResults) -> None:
        """Warn of a chosen gain at an end of the user's list; "auto" ends where it should."""
        gains = np.unique(results.cv_results["param_gain"].astype(np.float64))
        listed = self._search.gains is not None and not isinstance(self._search.gains, str)
        gain = results.of_winner["gain_"]
        if not listed or len(gains) < 3 or gain not in gains[[0, -1]]:
            return
        end, other = ("smallest", "smaller") if gain == gains[0] else ("largest", "larger")
        warn(f"the chosen gain {gain:g} is the {end} of gains: a {other} one may be better")

    # -- pairs -------------------------------------------------------------------------------------

    def _find_base(
        self, compared: Compared, results: SearchResults, winner: Winner
    ) -> Winner | None:
        """Return what pairs are added to: the best additive candidate; None for no pairs.

        Where no families are compared it is the one that was taken.
        """
        if not self._by_family:
            return None if isinstance(self._search.interactions, str) else winner
        additive = {plan.family.name for plan in self._plans if plan.family.additive}
        candidates = compared.candidates
        for k in np.argsort(-np.array(compared.ratings), kind="stable").tolist():
            if candidates[k].family in additive and candidates[k].options.step not in SOLVED:
                at = int(results.cv_results["n_estimators"][k]) - 1
                return _pick(candidates, compared.scores, k, at, winner.split_rows)
        return None

    def _search_pairs(self, base: Winner, winner: Winner, results: SearchResults) -> Winner:
        """Choose how many pairs a candidate gets, and their parameters; return the winner.

        Where families are compared, that is the winner so far unless pairs are better.
        """
        search = self._search

        def evaluate(
            candidates: Sequence[Candidate], rows: Sequence[SplitRows], n: int
        ) -> CVScores:
            return self._boost(candidates, rows, f"{n} pairs")

        begin = time.perf_counter()
        n_features = len(self.training.binning.features)
        numbers, grid = list_interactions(search, len(self._rows.codes), n_features)
        of_splits = split_pairs(base.candidate, base.n_estimators, base.split_rows, max(numbers))
        families = results.family_results
        pairs = compare_pairs(
            base,
            of_splits,
            numbers if families is None else [0, *numbers],
            grid,
            evaluate,
            fixed_number=search.n_estimators != "auto",
            is_over=self._limit,
            race=self._race,
        )
        if self._limit():
            results.ended = "time_limit"
            self._warn_if_cut_short(results)
        results.interaction_results = pairs.columns
        best = pairs.find_best()
        taken = pairs.tried[best]
        check_found(taken.score, search.scoring)
        if families is not None:
            of_families = np.column_stack(
                [
                    results.cv_results[f"split{k}_test_score"][families["best_index"]]
                    for k in range(results.n_splits)
                ]
            )
            results.family_results = add_pairs(
                families,
                of_families,
                taken.scores,
                mean_test_score=taken.score,
                candidates=len(pairs.tried) - 1,
                dropped=pairs.dropped,
                seconds=time.perf_counter() - begin,
            )
            if best == 0 or taken.score <= winner.score:
                return winner
            results.take(base)
            results.of_winner["family_"] = PAIRS
        results.of_winner["best_score_"] = taken.score
        results.best_params |= pairs.params[best]
        return taken


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


def _pick(
    candidates: Sequence[Candidate],
    scores: CVScores,
    c: int,
    at: int,
    split_rows: Sequence[SplitRows],
) -> Winner:
    """Return a candidate, with as many estimators as the place `at` has, as what may be taken."""
    curves = scores.values[0, c : c + 1]
    tuned = candidates[c].with_temperature(scores.temperatures[c, at])
    score = float(mean_scores(curves)[0, at])
    return Winner(c, tuned, at + 1, split_rows, curves[0, :, at], score)


def _calibrate(winner: Winner, task: CVTask) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Fit a slope and intercepts to what the winner's models predict of rows held out.

    Returns the record of the fit, and the parameters that the winner gets.
    """
    chosen, split_rows = winner.candidate, winner.split_rows
    rows, raws = predict_held_out(chosen, winner.n_estimators, split_rows)
    link = chosen.link(split_rows[0].training.n_threads)
    fitted = calibrate(link, rows, raws, task.rows.training_weight)
    helps = fitted is not None and fitted.helps
    if fitted is not None and helps and task.score is not BUILT_IN["neg_log_loss"]:
        # Better probabilities must not cost the score that the user asked for.
        scaled, shifted = make_scaled(link), raws
        if chosen.options.response == CONDITIONAL:
            shifted = [
                add_intercepts(link, raw, held.codes, held.weight)
                for held, raw in zip(rows, raws, strict=True)
            ]
        before, after = (
            np.mean([task.score(held, by, raw) for held, raw in zip(rows, of_splits, strict=True)])
            for by, of_splits in ((link, shifted), (scaled, [fitted.apply(raw) for raw in raws]))
        )
        helps = bool(after >= before)
    if fitted is None:
        return None, {}
    slope, intercepts = fitted.slope, list(fitted.intercepts)
    corrections: dict[str, Any] = {"slope": slope, "intercept": intercepts}
    if chosen.coupling is None:
        corrections["intercept"] = intercepts[0]
    elif chosen.coupling == "one_vs_rest":  # the slope is 1 / T, and the link divides b, too
        corrections = {"temperature": float(f"{1.0 / slope:.6g}")}
        corrections["intercept"] = [b / slope for b in intercepts]
    record = {**corrections, "gain": fitted.gain, "error": fitted.error, "kept": helps}
    return record, corrections if helps else {}


def _describe(candidate: Candidate) -> dict[str, Any]:
    """Return what the results have of a candidate, each in a column of its own."""
    columns = {**candidate.params, "loss": candidate.loss.name}
    del columns["intercept"], columns["slope"]  # nobody has them yet
    alpha = candidate.loss.parameters.get("alpha")
    return columns if alpha is None else {**columns, "alpha": alpha}
